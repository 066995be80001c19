// The log of a ledger: every event a line, every line a leaf of one tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "connection.hpp"
#include "epsilog/ledger/merkle_proof.hpp"
#include "merkle_tree.hpp"
#include "records.hpp"

namespace epsilog::ledger {

/// What is needed to append: the right edge of the tree. A value: a transaction appends to a copy.
/// Thread-safety: distinct objects may be used concurrently.
class RecordLog final {
 public:
  /// Of a ledger without lines.
  RecordLog() = default;
  /// Throws  StorageFailure, LedgerCorrupt if a leaf or node is missing.
  [[nodiscard]] static RecordLog load(Connection& connection, std::int64_t size);
  /// load(), which reads only what was appended since where that follows what is known: whether it does, and
  /// all lines that were known are therefore as they were.
  [[nodiscard]] bool follow(Connection& connection, std::int64_t size);

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(tree_.size()); }
  [[nodiscard]] TreeHead head() const { return tree_.head(); }
  /// Requires  a line.
  [[nodiscard]] const Hash& last_leaf() const { return last_leaf_.value(); }

  /// From here on what is appended can be had as text.
  void keep_lines() {
    kept_ = std::make_shared<std::string>();
    kept_size_ = 0;
  }
  /// Each with its line feed; "" unless they are kept. A copy has those of the original and what it appended:
  /// of copies that share what was kept, the one that was appended to last.
  [[nodiscard]] std::string_view kept_lines() const {
    return kept_ ? std::string_view(*kept_).substr(0, kept_size_) : std::string_view();
  }
  void drop_lines() noexcept { kept_.reset(); }

  /// Writes the line of a row that was just written, and what the tree keeps of it. Returns its index.
  /// Requires  a transaction.
  /// Throws    StorageFailure, EntropyUnavailable, InvalidParameter as line_text().
  std::int64_t append(Connection& connection, std::int64_t row, Record record);
  /// The same for a line whose random bytes are given.
  std::int64_t append(Connection& connection, std::int64_t row, const Line& line);

 private:
  Frontier tree_;
  [[nodiscard]] bool is_prefix_of(Connection& connection, std::int64_t size) const;

  std::optional<Hash> last_leaf_;
  std::shared_ptr<std::string> kept_;
  std::size_t kept_size_ = 0;  // of it, what this log appended
};

/// The number that `log` has for it.
[[nodiscard]] std::int64_t kind_number(const Record& record);

/// Leaves and nodes as they are stored.
/// Throws  LedgerCorrupt naming what is missing.
void read_nodes(Connection& connection, unsigned level, std::uint64_t first, std::span<Hash> hashes);

/// line_text() with the measures of the accounts that the connection has.
[[nodiscard]] std::string line_text(Connection& connection, const Line& line);

}  // namespace epsilog::ledger
