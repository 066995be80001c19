// What a replica holds, held against the ledger it is of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connection.hpp"
#include "epsilog/ledger/merkle_proof.hpp"
#include "replica_file.hpp"

namespace epsilog::ledger {

/// "= SIZE ROOT" and a line feed: the root in base64, RFC 4648 section 4, padded.
[[nodiscard]] std::string trailer_text(const TreeHead& tree);
/// Of a line without its line feed; nothing of any other.
[[nodiscard]] std::optional<TreeHead> parse_trailer(std::string_view line);

/// The lines of a file, one after the other, without holding more than one and a piece.
class FileLineReader final {
 public:
  FileLineReader(const ReplicaFile& file, off_t from) : file_(file), next_(from), end_(from) {}

  /// False at the end, and of what has no line feed.
  [[nodiscard]] bool next();
  [[nodiscard]] const std::string& line() const noexcept { return line_; }
  /// After it, and after its line feed.
  [[nodiscard]] off_t end() const noexcept { return end_; }

 private:
  const ReplicaFile& file_;
  off_t next_;
  off_t end_;
  std::string rest_;
  std::size_t begin_ = 0;  // of what follows, in it
  std::string line_;
};

/// What follows the last trailer of a file.
enum class ReplicaTail {
  none,     ///< nothing
  torn,     ///< no line feed at its end, or a NUL: being written when its writer died, and told to nobody
  written,  ///< a line feed at its end and no NUL: written whole, so that what is wrong in it was changed
};
/// Says which of these the bytes from there on are.
/// Throws  ReplicaUnavailable.
[[nodiscard]] ReplicaTail tail_from(const ReplicaFile& file, off_t from);

/// So many lines, and where the trailer after them ends.
struct ReplicaEnd {
  std::int64_t size = 0;
  off_t end = 0;
};

/// What was found of a replica, all of which the ledger has.
struct ReplicaExtent {
  ReplicaEnd known;     ///< no more than was known to be there
  ReplicaEnd verified;  ///< what follows it up to the last trailer of the same history
};

/// Reads a replica back, from its end. `size` is that of the ledger; `known` what the replica was known to
/// hold when somebody last looked, and where that ended, if that was kept: only what comes after it is read
/// line by line.
///
/// A replica that ends in the middle of a group was being written when its writer died: nobody was told of
/// that, and it is not counted. Whole lines of the ledger, and torn bytes (ReplicaTail), may stand there.
/// Anything else is damage.
///
/// Requires  a transaction of the connection.
/// Throws    ReplicaUnavailable if it is none, another ledger's, or cannot be read;
///           LedgerRolledBack if it has a line or a trailer that is not the ledger's;
///           LedgerCorrupt if it is damaged; NeedsFeature in place of both if a line of it announces a feature
///           that this program does not know; StorageFailure.
[[nodiscard]] ReplicaExtent read_replica(const ReplicaFile& file, const std::string& path,
                                         Connection& connection, std::int64_t size, const ReplicaEnd& known);

}  // namespace epsilog::ledger
