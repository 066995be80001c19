#include "from_replica.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "known_features.hpp"
#include "line_import.hpp"
#include "recovery_record.hpp"
#include "seal_rows.hpp"
#include "stale_replicas.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

[[noreturn]] void throw_broken(const std::string& path, const std::string& what) {
  throw LedgerCorrupt("replica " + path + ": " + what + "; nothing was done");
}

std::string dropped_lines_text(const ReplicaContent& held, off_t size) {
  return "; what is right ends with line " + std::to_string(held.end.size - 1) + ", and " +
         std::to_string(held.dropped) + " lines (" + std::to_string(size - held.end.end) +
         " bytes) come after it: --accept-truncated goes on without them";
}

/// The first lines of a replica, one after the other.
std::function<std::optional<std::string>()> first_lines(const ReplicaFile& file, std::int64_t size) {
  return [lines = std::make_shared<FileLineReader>(file, 0),
          left = size]() mutable -> std::optional<std::string> {
    while (left > 0 && lines->next()) {
      if (lines->line().starts_with("= ")) continue;
      --left;
      return lines->line();
    }
    return std::nullopt;
  };
}

/// The bytes of a data token as the ledger has them, "" where it has not: the line has the hash.
std::string kept_token(Connection& ledger, const DecisionRecord& record) {
  Query row = ledger.query("SELECT data_token FROM decision WHERE id = ?1");
  row.with(id_bytes(record.id));
  if (!row.step()) return "";
  return row.bytes(0);
}

bool is_line_of(Connection& ledger, const std::string& line) {
  std::int64_t index = 0;
  try {
    index = static_cast<std::int64_t>(parse_canonical(line).at("index").count());
  } catch (const Error&) {
    return false;
  }
  Query row = ledger.query("SELECT leaf FROM log WHERE line_index = ?1");
  row.with(index);
  if (!row.step()) return false;
  const Hash leaf = leaf_hash(line);
  return row.bytes(0) == std::string(leaf.begin(), leaf.end());
}

/// Whether what follows the last trailer was written whole, and is not just the next lines of the ledger.
bool was_changed(const ReplicaContent& held, const ReplicaFile& file, Connection* ledger) {
  if (tail_from(file, held.end.end) != ReplicaTail::written) return false;
  return ledger == nullptr || lost_line_count(held, file, *ledger) > 0;
}

/// `wrong`: the size that the first wrong trailer says, 0 if there is none.
std::string what_was_changed(std::uint64_t wrong) {
  if (wrong == 0) {
    return "what follows its last trailer was written whole, and is no trailer: it was changed, or the "
           "trailer is "
           "missing";
  }
  return "the trailer of " + std::to_string(wrong) +
         " lines is not that of the lines before it: they were changed, or some are missing";
}

}  // namespace

ReplicaContent read_replica_content(const ReplicaFile& file, const std::string& path, Connection* ledger,
                                    std::int64_t kept, bool accept_truncated) {
  ReplicaContent held;
  Frontier tree;
  bool whole = true;
  std::uint64_t wrong = 0;  // the size that the first wrong trailer says
  Hash root_of_kept{};      // counts once a trailer says that those lines are right
  for (FileLineReader lines(file, 0); lines.next();) {
    if (const auto trailer = parse_trailer(lines.line())) {
      if (wrong > 0) continue;
      if (!whole || *trailer != tree.head()) {
        wrong = trailer->size;
        continue;
      }
      held.end = {.size = static_cast<std::int64_t>(tree.size()), .end = lines.end()};
      held.dropped = 0;
      held.root_in_common = held.end.size <= kept ? trailer->root : root_of_kept;
      continue;
    }
    ++held.dropped;
    if (wrong > 0) continue;
    require_known_line(lines.line(), "replica " + path);
    if (lines.line().empty() || lines.line().front() != '{') whole = false;
    tree.append(leaf_hash(lines.line()), [](unsigned, std::uint64_t, const Hash&) {});
    if (static_cast<std::int64_t>(tree.size()) == kept) root_of_kept = tree.root();
  }
  if (held.end.size == 0 && wrong == 0) throw_broken(path, "it has no trailer: it is no replica");
  held.acknowledged = wrong > 0 || was_changed(held, file, ledger);
  if (held.acknowledged && (held.end.size == 0 || !accept_truncated)) {
    throw_broken(path,
                 what_was_changed(wrong) + (held.end.size == 0 ? "" : dropped_lines_text(held, file.size())));
  }
  return held;
}

std::string line_of_replica(const ReplicaFile& file, std::int64_t index) {
  std::int64_t number = 0;
  for (FileLineReader lines(file, 0); lines.next();) {
    if (lines.line().starts_with("= ")) continue;
    if (number++ == index) return lines.line();
  }
  return "";
}

std::int64_t lost_line_count(const ReplicaContent& held, const ReplicaFile& file, Connection& ledger) {
  std::int64_t lost = 0;
  for (FileLineReader lines(file, held.end.end); lines.next();) {
    if (!parse_trailer(lines.line()) && !is_line_of(ledger, lines.line())) ++lost;
  }
  return lost;
}

void cut_off(ReplicaFile& file, const ReplicaContent& held) {
  if (file.size() <= held.end.end) return;
  file.cut(held.end.end);
  file.sync();
}

void require_one_history(const ReplicaContent& held, const std::string& path, Connection& ledger,
                         std::int64_t kept) {
  const std::int64_t common = std::min(kept, held.end.size);
  if (RecordLog::load(ledger, common).head().root == held.root_in_common) return;
  throw_broken(path, "its first " + std::to_string(common) +
                   " lines are not those of the ledger, which went another way: move the ledger away "
                   "to make it again from the replica");
}

namespace {

/// After a seal nothing can say that lines are lost.
void require_no_loss(const Seal& seal, const ReplicaContent& held, const ClosingLines& closing) {
  const bool accepted = closing.recovery && closing.recovery->remembered > 0;
  if (!held.acknowledged && !accepted) return;
  refuse_sealed("the ledger that the replica holds", seal, "That lines are lost cannot be recorded in it");
}

}  // namespace

void rebuild(Connection& to, const ReplicaFile& file, const ReplicaContent& held, Connection* ledger,
             const ClosingLines& closing, const ClockReading& reading) {
  const LineImportOptions rules{.read_only = false,
                                .token =
                                    [&](const DecisionRecord& record) {
                                      return ledger != nullptr ? kept_token(*ledger, record) : std::string();
                                    },
                                .at_end =
                                    [&](Connection& db, Meta& meta, RecordLog& log) {
                                      const auto seal = closing.unsealed ? std::nullopt : read_seal(db);
                                      if (seal) {
                                        require_no_loss(*seal, held, closing);
                                      } else {
                                        append_closing(db, meta, log, closing, reading);
                                      }
                                      meta.replica_size = held.end.size;
                                    }};
  static_cast<void>(import_all(to, first_lines(file, held.end.size), rules));
  if (ledger != nullptr) copy_stale_replicas(*ledger, to);
}

}  // namespace epsilog::ledger
