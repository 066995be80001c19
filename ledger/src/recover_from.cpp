// A ledger from its replica: what it lost is put back, or all of it is made again.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "ledger_clock.hpp"
#include "line_import.hpp"
#include "merkle_tree.hpp"
#include "new_ledger_file.hpp"
#include "record_rows.hpp"
#include "replacement.hpp"
#include "replica_tail.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

/// What a replica holds by its own account.
struct HeldByReplica {
  ReplicaEnd end;            ///< after the last trailer that is right
  Hash root_in_common{};     ///< of as many first lines as both have
  std::int64_t dropped = 0;  ///< lines after that
};

[[noreturn]] void broken(const std::string& path, const std::string& what) {
  throw LedgerCorrupt("replica " + path + ": " + what + "; nothing was done");
}

/// Reads all of it. Throws  LedgerCorrupt where a trailer follows what is wrong: somebody was told of that.
HeldByReplica read_all(const ReplicaFile& file, const std::string& path, std::int64_t kept) {
  HeldByReplica held;
  Frontier tree;
  bool whole = true;
  for (LinesOfFile lines(file, 0); lines.next();) {
    if (const auto trailer = parse_trailer(lines.line())) {
      if (!whole || *trailer != tree.head()) {
        broken(path, "the trailer of " + std::to_string(trailer->size) +
                         " lines is not that of the lines before it: they were changed, or some are missing");
      }
      held.end = {.size = static_cast<std::int64_t>(tree.size()), .end = lines.end()};
      held.dropped = 0;
      if (held.end.size <= kept) held.root_in_common = trailer->root;
      continue;
    }
    ++held.dropped;
    if (lines.line().empty() || lines.line().front() != '{') whole = false;
    tree.append(leaf_hash(lines.line()), [](unsigned, std::uint64_t, const Hash&) {});
    if (static_cast<std::int64_t>(tree.size()) == kept) held.root_in_common = tree.root();
  }
  if (held.end.size == 0) broken(path, "it has no trailer: it is no replica");
  return held;
}

/// The first lines of a replica, one after the other.
std::function<std::optional<std::string>()> first_lines(const ReplicaFile& file, std::int64_t size) {
  return
      [lines = std::make_shared<LinesOfFile>(file, 0), left = size]() mutable -> std::optional<std::string> {
        while (left > 0 && lines->next()) {
          if (lines->line().starts_with("= ")) continue;
          --left;
          return lines->line();
        }
        return std::nullopt;
      };
}

/// As the ledger has it, "" where it has not: the line has the hash.
std::string token_in(Connection& ledger, const DecisionRecord& record) {
  Query row = ledger.query("SELECT token FROM decision WHERE id = ?1");
  row.with(id_bytes(record.id));
  if (!row.step()) return "";
  return row.bytes(0);
}

class Rebuilding final {
 public:
  Rebuilding(const ReplicaFile& file, const HeldByReplica& held, const ReplicaRecoverySteps& steps,
             const Options& options)
      : file_(file), held_(held), steps_(steps), options_(options) {}

  /// `ledger`: the one whose first `kept` lines these are; nullptr: there is none.
  void fill(Connection& db, Connection* ledger, std::int64_t kept) {
    const ImportRules rules{
        .read_only = false,
        .token =
            [&](const DecisionRecord& record) {
              return ledger != nullptr ? token_in(*ledger, record) : std::string();
            },
        .at_end =
            [&](Connection& to, Meta& meta, RecordLog& log) {
              const ClockObservation clock = observe(meta, options_.clock());
              meta.last_time = time_text(clock.now_ms);
              // A step of the clock is recorded by whoever writes next, who finds it again.
              if (clock.events.empty()) meta.clock = clock.state;
              meta.log_size = log.size();
              meta.replica_size = held_.end.size;
              Recorder(to, meta, log)
                  .write(RecoveryEvent{.seq = ++meta.recoveries,
                                       .cause = ledger != nullptr ? "behind_replica" : "rebuilt",
                                       .restored = static_cast<std::uint64_t>(held_.end.size - kept),
                                       .dropped = static_cast<std::uint64_t>(held_.dropped),
                                       .at = meta.last_time,
                                       .by = steps_.by,
                                       .why = steps_.why});
            }};
    static_cast<void>(import_all(db, first_lines(file_, held_.end.size), rules));
    Query row = db.query("SELECT ledger_id FROM meta");
    if (!row.step()) throw LedgerCorrupt("meta: its row is missing");
    ledger_id_ = hex_text(row.bytes(0));
  }
  [[nodiscard]] const std::string& ledger_id() const noexcept { return ledger_id_; }

 private:
  const ReplicaFile& file_;
  const HeldByReplica& held_;
  const ReplicaRecoverySteps& steps_;
  const Options& options_;
  std::string ledger_id_;
};

/// What nobody was told of would be another history than the one that goes on from here.
void cut_off(ReplicaFile& file, const HeldByReplica& held) {
  if (file.size() <= held.end.end) return;
  file.cut(held.end.end);
  file.sync();
}

ReplicaRecovery rebuild(const std::string& path, ReplicaFile& file, const std::string& replica,
                        const ReplicaRecoverySteps& steps, const Options& options) {
  const HeldByReplica held = read_all(file, replica, 0);
  ReplicaRecovery recovery{.restored = held.end.size, .dropped = held.dropped};
  Rebuilding rebuilding(file, held, steps, options);
  make_ledger_file(
      path, [&](Connection& db) { rebuilding.fill(db, nullptr, 0); },
      [&](const std::string& made) {
        if (steps.verify) recovery.faults = steps.verify(made);
        if (recovery.faults.empty()) cut_off(file, held);
        return recovery.faults.empty();
      });
  recovery.ledger_id = rebuilding.ledger_id();
  return recovery;
}

ReplicaRecovery put_back(const std::string& path, ReplicaFile& file, const std::string& replica,
                         const ReplicaRecoverySteps& steps, const Options& options) {
  LedgerState ledger(path, LedgerState::Access::read_write, options);
  ReplicaRecovery recovery{.ledger_id = ledger.ledger_id()};
  const Turn turn(ledger);
  try {
    Connection& db = ledger.writer();
    const Meta meta = read_meta(db);
    if (meta.read_only) {
      throw LedgerUnusable("ledger " + path + " was made from exported lines and is read-only: move it away");
    }
    recovery.kept = meta.log_size;
    const HeldByReplica held = read_all(file, replica, meta.log_size);
    const std::int64_t common = std::min(meta.log_size, held.end.size);
    if (RecordLog::load(db, common).head().root != held.root_in_common) {
      broken(replica, "its first " + std::to_string(common) +
                          " lines are not those of the ledger, which went another way: move the ledger away "
                          "to make it again from the replica");
    }
    recovery.restored = held.end.size - common;
    recovery.dropped = held.dropped;
    if (recovery.restored == 0) {
      cut_off(file, held);
      return recovery;
    }
    const Workspace made(ledger.files(), ".recovering");
    Rebuilding rebuilding(file, held, steps, options);
    {
      Connection to(made.files(), Connection::Role::creator);
      to.execute("BEGIN IMMEDIATE");
      rebuilding.fill(to, &db, meta.log_size);
      to.execute("COMMIT");
      to.move_log_into_file(made.files());
    }
    if (steps.verify) recovery.faults = steps.verify(made.files().database);
    if (!recovery.faults.empty()) return recovery;
    cut_off(file, held);
    put_in_place(ledger, made.files(), meta.decisions);
  } catch (const StorageFailure& failure) {
    ledger.fail(failure, "putting back what the replica holds");
  }
  return recovery;
}

/// The replica that the active policy names, which need not be the one that was read.
void write_recovery_to_replica(const std::string& path, const Options& options) {
  try {
    Ledger ledger = Ledger::open(path, options);
    const Transaction transaction = ledger.begin();
  } catch (const Error& error) {
    if (options.warn) options.warn(std::string("the ledger is put right; ") + error.what());
  }
}

}  // namespace

ReplicaRecovery Ledger::recover_from(const std::string& path, const std::string& replica,
                                     const ReplicaRecoverySteps& steps, const Options& options) {
  if (steps.by.empty() || steps.why.empty()) {
    throw InvalidParameter("ledger: a recovery says who makes it, and why");
  }
  const LedgerFiles files = locate(path);
  ReplicaFile file = ReplicaFile::open(replica, files);
  ReplicaRecovery recovery = exists(files.database) ? put_back(path, file, replica, steps, options)
                                                    : rebuild(path, file, replica, steps, options);
  if (recovery.faults.empty()) write_recovery_to_replica(path, options);
  return recovery;
}

}  // namespace epsilog::ledger
