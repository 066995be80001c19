// A backup in the place of a ledger that is not there any more.
//
// All of it is made under another name: the copy of the backup, or, where its replica holds more, a ledger of
// the replica's lines; verified; with the recovery as its last line. It gets its name when that is durable.
// So whoever is killed leaves no ledger, or one that says what happened to it.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "file_system.hpp"
#include "from_replica.hpp"
#include "ledger_copy.hpp"
#include "new_ledger_file.hpp"
#include "poison.hpp"
#include "recovery_record.hpp"
#include "replica_handover.hpp"
#include "replica_mark.hpp"
#include "rollback_check.hpp"
#include "seal_rows.hpp"
#include "writer_lock.hpp"

namespace epsilog::ledger {
namespace {

/// What lay there has its own word to say, which would be taken for that of what comes.
void require_unused_location(const LedgerFiles& files, int lock_file) {
  require_nothing_there(files);
  if (read_commit_mark(lock_file).state != CommitMark::State::poisoned) return;
  throw LedgerUnusable(files.lock() +
                       " says that the ledger which lay there is poisoned: move it away with "
                       "that ledger");
}

/// Nothing of the marks of the ledger that lay there.
void clear_marks(const LedgerFiles& files, int lock_file) {
  const int error = write_commit_mark(lock_file, {.boot_id = current_boot_id()});
  if (error != 0) throw_refused("cannot write " + files.lock(), error, "; nothing was done");
  write_replica_mark(lock_file, {});
}

class RestoreRun final {
 public:
  RestoreRun(const LedgerFiles& files, const RestoreOptions& steps, const Options& options,
             EndMarkReading remembered)
      : files_(files), steps_(steps), options_(options), remembered_(std::move(remembered)), copy_(files) {}

  /// False if the backup does not verify.
  bool copy(const std::shared_ptr<LedgerState>& backup) {
    {
      SnapshotState view(backup);
      require_durable(view);
      copy_into_new_file(view, copy_.files());
    }
    return verifies(copy_.files());
  }

  /// Names the replica of which lines may follow, and reads it.
  void look_for_replica() {
    Connection db(copy_.files(), Connection::Role::immutable);
    const Meta meta = read_meta(db);
    if (meta.read_only) {
      throw LedgerUnusable(
          "the backup was made from exported lines and is read-only: it is no ledger that "
          "could go on. `epsilog audit import` makes such a one of its lines");
    }
    result_.ledger_id = meta.ledger_id;
    result_.kept = meta.log_size;
    result_.replica = named_replica(db, meta);
    seal_ = read_seal(db);
    open_replica(meta);
    if (!replica_) {
      require_seal_as_asked(seal_);
      accepted_ = accepted_rollback(remembered_, {.ledger = &db}, files_,
                                    steps_.accept_rollback && !steps_.why.empty());
      return;
    }
    replica_content_ =
        read_replica_content(*replica_, result_.replica, &db, meta.log_size, steps_.accept_truncated);
    require_one_history(replica_content_, result_.replica, db, meta.log_size);
    require_seal_as_asked(replica_content_.end.size > meta.log_size ? last_seal_of_replica() : seal_);
    accepted_ =
        accepted_rollback(remembered_, {.ledger = &db, .replica = &*replica_, .content = &replica_content_},
                          files_, steps_.accept_rollback && !steps_.why.empty());
    result_.restored = std::max<std::int64_t>(0, replica_content_.end.size - meta.log_size);
    result_.replica_lines = replica_content_.end.size;
    result_.replica_end =
        parse_canonical(line_of_replica(*replica_, replica_content_.end.size - 1)).at("time").text();
    result_.dropped = lost_line_count(replica_content_, *replica_, db);
    result_.dropped_from = replica_content_.end.size;
    result_.dropped_bytes = replica_->size() - replica_content_.end.end;
    result_.truncated = replica_content_.acknowledged;
  }

  /// False if what is made does not verify.
  bool make() {
    if (result_.restored == 0) {
      Connection db(copy_.files(), Connection::Role::creator);
      db.execute("BEGIN IMMEDIATE");
      record_closing(db, closing_lines(), options_.clock(),
                     replica_ ? replica_content_.end.size : std::numeric_limits<std::int64_t>::max());
      finish(db, copy_.files());
      return true;
    }
    made_.emplace(files_);
    {
      Connection from(copy_.files(), Connection::Role::immutable);
      Connection db(made_->files(), Connection::Role::creator);
      db.execute("BEGIN IMMEDIATE");
      rebuild(db, *replica_, replica_content_, &from, closing_lines(), options_.clock());
      finish(db, made_->files());
    }
    return verifies(made_->files());
  }

  /// Requires  what was made is closed.
  void install(int lock_file) {
    const NewLedgerFile& made = made_ ? *made_ : copy_;
    if (steps_.check_result) steps_.check_result(made.files().database);
    if (replica_) cut_off(*replica_, replica_content_);
    clear_marks(files_, lock_file);
    made.give_name(files_);
    write_first_end_mark(files_, lock_file, *end_, options_);
  }

  [[nodiscard]] Restoration& result() noexcept { return result_; }

 private:
  [[nodiscard]] std::string named_replica(Connection& db, const Meta& meta) const {
    if (!steps_.replica.empty()) return steps_.replica;
    std::optional<Replica> named;
    if (options_.replica) named = options_.replica(read_active_policy(db, meta.policy_versions));
    return named ? named->path : "";
  }

  void open_replica(const Meta& meta) {
    std::string why = "its policy names no replica";
    if (result_.replica.empty() && meta.replica_size > 0) why = "nobody here knows where its replica is";
    if (!result_.replica.empty()) {
      try {
        replica_.emplace(ReplicaFile::open(result_.replica, files_));
        return;
      } catch (const ReplicaUnavailable& error) {
        const bool all_there = seal_ && steps_.replica.empty();
        if (!steps_.accept_rollback && !all_there) throw;
        if (options_.warn) options_.warn(error.what());
        result_.replica.clear();
      }
    }
    if (seal_ || steps_.sealed) require_seal_as_asked(seal_);
    if (seal_) return;  // nothing was recorded after it
    if (steps_.accept_rollback && !steps_.why.empty()) return;
    throw InvalidParameter("restore: " + why +
                           ", so that nothing shows what was spent after the backup: it would be forgotten. "
                           "Only with --accept-rollback and a reason, --why");
  }

  /// The seal that is the last line of the replica, if that is one.
  [[nodiscard]] std::optional<Seal> last_seal_of_replica() const {
    const JsonValue line = parse_canonical(line_of_replica(*replica_, replica_content_.end.size - 1));
    if (line.at("kind").text() != "sealed") return std::nullopt;
    return Seal{.at = line.at("time").text(), .by = line.at("by").bytes(), .why = line.at("why").bytes()};
  }

  /// `last`: the seal that what is made would end with. A ledger goes on from its seal only where that is
  /// asked.
  void require_seal_as_asked(const std::optional<Seal>& last) const {
    if (last && !steps_.sealed) {
      refuse_sealed("the ledger that is to be restored", *last,
                    "It may go on elsewhere. If it is to go on here and nowhere else: --sealed");
    }
    if (last || !steps_.sealed) return;
    throw InvalidParameter(
        seal_ ? "restore: the replica " + result_.replica +
                    " shows that the ledger goes on already, "
                    "with lines after its seal. If it is lost there: restore without --sealed"
              : "restore: the ledger is not sealed. Restore it without --sealed");
  }

  bool verifies(const LedgerFiles& made) {
    if (steps_.verify) result_.faults = steps_.verify(made.database);
    return result_.faults.empty();
  }

  [[nodiscard]] RecoveryEvent event() const {
    return {.seq = 0,
            .cause = replica_ ? "restored" : "rolled_back",
            .restored = static_cast<std::uint64_t>(result_.restored),
            .dropped = static_cast<std::uint64_t>(result_.dropped),
            .remembered = static_cast<std::uint64_t>(accepted_.remembered),
            .found = static_cast<std::uint64_t>(accepted_.found),
            .at = "",
            .by = steps_.by,
            .why = steps_.why};
  }

  /// A seal that is ended says all there is to say, unless lines are lost.
  [[nodiscard]] ClosingLines closing_lines() {
    result_.unsealed = steps_.sealed;
    if (!steps_.sealed) return {.recovery = event()};
    ClosingLines lines{
        .unsealed = SealEvent{.seq = 0, .unsealed = true, .at = "", .by = steps_.by, .why = steps_.why}};
    if (replica_content_.acknowledged || accepted_.remembered > 0) lines.recovery = event();
    return lines;
  }

  void finish(Connection& db, const LedgerFiles& made) {
    if (replica_) require_not_replaced(db);
    result_.tree = RecordLog::load(db, read_meta(db).log_size).head();
    end_ = end_mark_of(db);
    db.execute("COMMIT");
    db.move_log_into_file(made);
  }

  /// What was recorded after a replica was replaced is not in it.
  void require_not_replaced(Connection& db) const {
    const std::string replaced = replacement_notice(db, result_.replica, options_);
    if (replaced.empty() || (steps_.accept_rollback && !steps_.why.empty())) return;
    throw InvalidParameter("restore: " + replaced +
                           ". Restore with the replica that has it, --from; or, if that is lost, with "
                           "--accept-rollback and a reason, --why");
  }

  const LedgerFiles& files_;
  const RestoreOptions& steps_;
  const Options& options_;
  const EndMarkReading remembered_;
  AcceptedRollback accepted_;
  std::optional<Seal> seal_;          // that the backup ends with
  std::optional<EndMark> end_;        // of what was made
  NewLedgerFile copy_;
  std::optional<NewLedgerFile> made_;
  std::optional<ReplicaFile> replica_;
  ReplicaContent replica_content_;
  Restoration result_;
};

/// Whoever writes first would do it.
void update_replica(const std::string& path, const Options& options) {
  try {
    Ledger ledger = Ledger::open(path, options);
    const Transaction transaction = ledger.begin();
  } catch (const Error& error) {
    if (options.warn) options.warn(std::string("the ledger is restored; ") + error.what());
  }
}

}  // namespace

Restoration Ledger::restore(const std::string& path, const std::string& backup, const RestoreOptions& steps,
                            const Options& options) {
  if (steps.by.empty()) throw InvalidParameter("ledger: a recovery says who makes it");
  const auto source = std::make_shared<LedgerState>(backup, LedgerState::Access::read_only, options);
  make_directory_if_missing(path);
  const LedgerFiles files = locate(path);
  require_no_network(files, options);
  require_nothing_there(files);
  ProcessLock lock(files);
  lock.take(deadline_after(options.wait), options.report_wait, options.stop);
  require_unused_location(files, lock.file());
  RestoreRun restoring(files, steps, options, read_end_mark(lock.file()));
  try {
    if (!restoring.copy(source)) return restoring.result();
    restoring.look_for_replica();
    if (!restoring.make()) return restoring.result();
    restoring.install(lock.file());
  } catch (const StorageFailure& failure) {
    throw_translated(failure, "restoring " + files.database);
  }
  lock.give_back();
  update_replica(path, options);
  return restoring.result();
}

}  // namespace epsilog::ledger
