// Where records come from, one at a time: a CSV file, an SQLite table or, in tests, memory.
//
// A source knows nothing of types, units or bounds: it hands on texts, and says of a record that
// cannot be read as a record only that it is malformed. It fails for reasons of shape, told before the
// first record, and of the machine; no cell is either.
// Thread-safety: one owner.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "epsilog/engine/source_io.hpp"

namespace epsilog::engine {

/// A cell as written, with the dialect's quotes removed. An empty text is always missing.
struct RawCell {
  std::string_view text;  ///< valid until the source's next record
  bool missing = true;
  bool unreadable = false;  ///< missing because it is no text at all
};

class RowSource {
 public:
  enum class Record {
    none,       ///< the source is exhausted
    readable,   ///< every wanted cell was filled in
    malformed,  ///< every wanted cell is missing
  };

  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  /// Requires  cells.size() == number of wanted columns; cells are in that order.
  /// Throws    SourceIo if the source cannot be read any further or, at its end, has been changed.
  virtual Record next(std::span<RawCell> cells) = 0;
  /// Where the last record stands, from 1: the line of a file at which it begins, or the number of a row in
  /// the order of its table. 0: unknown.
  [[nodiscard]] virtual std::uint64_t position() const { return 0; }
  /// The part read so far, 0..1; 0 when unknown.
  [[nodiscard]] virtual double fraction_read() const = 0;
};

/// Why a file that belongs to an open ledger is no source: to close it would take away the locks that
/// SQLite holds on it for this process. Asked before it is opened.
inline constexpr const char* kBelongsToLedger =
    "belongs to the ledger: its file, log, shared memory, lock files and marker are no data source";

}  // namespace epsilog::engine
