#include "replica_tail.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/base64.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/json_writer.hpp"
#include "epsilog/ledger/replica.hpp"
#include "known_features.hpp"
#include "record_log.hpp"
#include "stored_lines.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;
constexpr std::size_t kTrailerMax = 80;
constexpr std::size_t kRootText = 44;

[[noreturn]] void throw_rolled_back(const std::string& path, const std::string& what) {
  throw LedgerRolledBack(
      "replica " + path + ": " + what +
      ": the ledger was put back to an earlier state, or the two are not of one history. "
      "Nothing was written; `epsilog recover --from` puts back what a ledger lost (docs/recovery.md)");
}

[[noreturn]] void throw_damaged(const std::string& path, off_t from, off_t size) {
  throw LedgerCorrupt(
      "replica " + path + ": it was written whole and changed afterwards: of its last " +
      std::to_string(size - from) + " bytes not all are lines of this ledger; nothing was recorded. " +
      "Bring back a better copy of it, or run `epsilog recover --from` with --accept-truncated, "
      "which cuts them off and writes them again");
}

/// The pages of one write reach the disk in any order, and those that did not are NUL.
bool has_nul(const ReplicaFile& file, off_t from, off_t to) {
  while (from < to) {
    const std::string piece = file.read(from, std::min(kChunk, static_cast<std::size_t>(to - from)));
    if (piece.empty()) return false;
    if (piece.find('\0') != std::string::npos) return true;
    from += static_cast<off_t>(piece.size());
  }
  return false;
}

class ReplicaReader final {
 public:
  ReplicaReader(const ReplicaFile& file, const std::string& path, Connection& connection, std::int64_t size)
      : file_(file), path_(path), connection_(connection), size_(size) {}

  /// The first line says of which ledger the file is.
  void require_same_ledger() {
    StoredLines first(connection_, 0);
    if (!first.next()) throw LedgerCorrupt("log: has no line");
    const std::string line = first.text() + "\n";
    const std::string there = file_.read(0, line.size());
    if (there == line) return;
    throw ReplicaUnavailable(
        "replica " + path_ +
        (there.empty() ? " is empty" : " does not begin with the first line of this ledger") +
        ": it is not of this ledger; nothing was recorded. Apply a policy that names another file");
  }

  /// The last trailer that says no more than `known`; where none is, the beginning.
  [[nodiscard]] ReplicaEnd find_known(const ReplicaEnd& known) const {
    if (const auto there = trailer_before(known.end); there && is_same_tree(*there, known.size)) return known;
    // Backwards, in pieces that overlap by the longest trailer.
    for (off_t end = file_.size(); end > 0;) {
      const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(kChunk));
      const std::string piece = file_.read(begin, static_cast<std::size_t>(end - begin));
      for (std::size_t at = piece.size(); at > 0;) {
        const auto feed = piece.rfind('\n', at - 1);
        if (feed == std::string::npos) break;
        at = feed;
        const std::size_t start = feed == 0 ? std::string::npos : piece.rfind('\n', feed - 1);
        if (start == std::string::npos && begin > 0) break;
        const std::size_t from = start == std::string::npos ? 0 : start + 1;
        const auto trailer = parse_trailer(std::string_view(piece).substr(from, feed - from));
        if (!trailer) continue;
        const auto size = static_cast<std::int64_t>(trailer->size);
        require_of_ledger(*trailer);
        if (size <= known.size) return {.size = size, .end = begin + static_cast<off_t>(feed) + 1};
      }
      if (begin == 0) break;
      end = std::max(begin + static_cast<off_t>(kTrailerMax), end - static_cast<off_t>(kChunk / 2));
    }
    return {};
  }

  /// What follows it: the last trailer before which every line is the ledger's.
  [[nodiscard]] ReplicaEnd verify_after(ReplicaEnd from) {
    StoredLines stored(connection_, from.size);
    ReplicaEnd verified = from;
    std::int64_t index = from.size;
    bool whole = true;          // no line so far that nobody wrote
    off_t trailers = from.end;  // the last one ends there
    for (FileLineReader lines(file_, from.end); lines.next();) {
      if (const auto trailer = parse_trailer(lines.line())) {
        require_of_ledger(*trailer);
        trailers = lines.end();
        if (whole && static_cast<std::int64_t>(trailer->size) == index) {
          verified = {.size = index, .end = lines.end()};
        } else {
          whole = false;
        }
        continue;
      }
      if (whole && index < size_ && stored.next() && stored.text() == lines.line()) {
        ++index;
        continue;
      }
      require_not_elsewhere(lines.line());
      whole = false;
    }
    if (!whole) require_torn(verified.end, trailers);
    return verified;
  }

 private:
  [[nodiscard]] std::optional<TreeHead> trailer_before(off_t end) const {
    if (end <= 0 || end > file_.size()) return std::nullopt;
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(kTrailerMax));
    const std::string bytes = file_.read(begin, static_cast<std::size_t>(end - begin));
    if (bytes.empty() || bytes.back() != '\n') return std::nullopt;
    const auto start = bytes.rfind('\n', bytes.size() - 2);
    if (start == std::string::npos) return std::nullopt;
    return parse_trailer(std::string_view(bytes).substr(start + 1, bytes.size() - start - 2));
  }

  [[nodiscard]] bool is_same_tree(const TreeHead& trailer, std::int64_t size) const {
    return static_cast<std::int64_t>(trailer.size) == size && size <= size_ &&
           RecordLog::load(connection_, size).head() == trailer;
  }

  void require_of_ledger(const TreeHead& trailer) const {
    const auto size = static_cast<std::int64_t>(trailer.size);
    if (size > size_) {
      throw_rolled_back(path_, "has " + std::to_string(size) + " lines, the ledger " + std::to_string(size_));
    }
    if (!is_same_tree(trailer, size)) {
      throw_rolled_back(path_, "its first " + std::to_string(size) + " lines are not those of the ledger");
    }
  }

  /// Requires  not all lines after `verified` are those of the ledger; `trailers` is where the last trailer
  /// ends.
  void require_torn(off_t verified, off_t trailers) const {
    const bool changed = trailers > verified && !has_nul(file_, verified, trailers);
    if (changed || tail_from(file_, trailers) == ReplicaTail::written)
      throw_damaged(path_, verified, file_.size());
  }

  /// What is whole and no line of the ledger was recorded elsewhere. A line that broke is no JSON.
  void require_not_elsewhere(const std::string& line) const {
    std::int64_t index = 0;
    try {
      const JsonValue record = parse_canonical(line);
      index = static_cast<std::int64_t>(record.at("index").count());
    } catch (const Error&) {
      return;
    }
    StoredLines stored(connection_, index);
    if (index < size_ && stored.next() && stored.index() == index && stored.text() == line) return;
    throw_rolled_back(path_, "has another line " + std::to_string(index) + " than the ledger");
  }

  const ReplicaFile& file_;
  const std::string& path_;
  Connection& connection_;
  const std::int64_t size_;
};

}  // namespace

ReplicaTail tail_from(const ReplicaFile& file, off_t from) {
  const off_t size = file.size();
  if (size <= from) return ReplicaTail::none;
  return file.read(size - 1, 1) == "\n" && !has_nul(file, from, size) ? ReplicaTail::written
                                                                      : ReplicaTail::torn;
}

bool FileLineReader::next() {
  for (std::size_t searched = begin_;;) {
    const auto feed = rest_.find('\n', searched);
    if (feed != std::string::npos) {
      line_.assign(rest_, begin_, feed - begin_);
      end_ += static_cast<off_t>(feed + 1 - begin_);
      begin_ = feed + 1;
      return true;
    }
    // What is longer than any line is none; its end is looked for, and it is not kept.
    if (rest_.size() - begin_ > kLineBytesMax) {
      end_ += static_cast<off_t>(rest_.size() - begin_);
      begin_ = rest_.size();
    }
    rest_.erase(0, begin_);
    begin_ = 0;
    searched = rest_.size();
    const std::string more = file_.read(next_, kChunk);
    if (more.empty()) return false;
    next_ += static_cast<off_t>(more.size());
    rest_ += more;
  }
}

std::string trailer_text(const TreeHead& tree) {
  return "= " + std::to_string(tree.size) + " " + base64_text(tree.root) + "\n";
}

std::optional<TreeHead> parse_trailer(std::string_view line) {
  if (!line.starts_with("= ") || line.size() < 2 + 1 + 1 + kRootText) return std::nullopt;
  const std::string_view digits = line.substr(2, line.size() - 2 - 1 - kRootText);
  TreeHead tree;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), tree.size);
  const std::string_view root = line.substr(line.size() - kRootText);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (tree.size == 0 || digits.front() == '0' || tree.size > kJsonCountMax) return std::nullopt;
  const auto bytes = base64_bytes(root);
  if (!bytes || bytes->size() != tree.root.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), tree.root.begin());
  // One text each: no stray bit in the last digit, one blank in between.
  if (trailer_text(tree) != std::string(line) + "\n") return std::nullopt;
  return tree;
}

ReplicaExtent read_replica(const ReplicaFile& file, const std::string& path, Connection& connection,
                           std::int64_t size, const ReplicaEnd& known) {
  ReplicaReader reader(file, path, connection, size);
  reader.require_same_ledger();
  try {
    const ReplicaEnd found = reader.find_known(known);
    return {.known = found, .verified = reader.verify_after(found)};
  } catch (const LedgerCorrupt&) {
    // A newer program may have written what this one takes for another history, or for damage.
    for (FileLineReader lines(file, 0); lines.next();) require_known_line(lines.line(), "replica " + path);
    throw;
  }
}

}  // namespace epsilog::ledger
