// A ledger of an older schema is brought to this one's in one transaction. Before that, what it was is
// copied beside it: the migration is the one thing that rewrites history's table.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "account_checksum.hpp"
#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "ledger_clock.hpp"
#include "ledger_state.hpp"
#include "queries.hpp"
#include "schema.hpp"
#include "schema_comparison.hpp"

namespace epsilog::ledger {
namespace {

/// Makes an empty file of our own, which SQLite then fills; gone unless it got its final name.
class PendingCopy final {
 public:
  explicit PendingCopy(const std::string& final_name) : name_(final_name + ".creating-" + random_hex_128()) {
    const Descriptor placeholder(::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!placeholder.valid() || ::fchmod(placeholder.get(), 0600) != 0) {
      throw_refused("cannot create " + name_, errno);
    }
  }
  PendingCopy(const PendingCopy&) = delete;
  PendingCopy& operator=(const PendingCopy&) = delete;
  ~PendingCopy() { ::unlink(name_.c_str()); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Ensures  the content and the name are durable, and nobody writes to it by accident.
  void give_name(const std::string& final_name, const LedgerFiles& files) const {
    const Descriptor file(::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.valid()) share_as_database(files, file, 0400);
    if (!file.valid() || ::fchmod(file.get(), 0400) != 0 || ::fsync(file.get()) != 0) {
      throw LedgerIo(system_message("cannot make " + name_ + " durable; the ledger is untouched", errno));
    }
    if (::rename(name_.c_str(), final_name.c_str()) != 0) {
      throw_refused("cannot give the copy its name " + final_name, errno);
    }
    sync_directory(files.directory);
  }

 private:
  std::string name_;
};

/// What a copy holds: rows are only ever added, and no two decisions have the same id.
struct Extent {
  std::int64_t decisions = 0;
  std::int64_t policy_versions = 0;
  std::string last_id;
};

Extent extent_of(Connection& db) {
  Query row = db.query(
      "SELECT (SELECT coalesce(max(seq), 0) FROM decision), (SELECT count(*) FROM policy_version),"
      " coalesce((SELECT id FROM decision ORDER BY seq DESC LIMIT 1), '')");
  if (!row.step()) return {};
  return {.decisions = row.integer(0), .policy_versions = row.integer(1), .last_id = row.text(2)};
}

bool holds(Connection& ledger, const Extent& copy) {
  const Extent mine = extent_of(ledger);
  if (copy.decisions > mine.decisions || copy.policy_versions > mine.policy_versions) return false;
  if (copy.decisions == 0) return true;
  Query row = ledger.query("SELECT id FROM decision WHERE seq = ?1");
  row.with(copy.decisions);
  return row.step() && row.text(0) == copy.last_id;
}

/// A copy left by a migration that crashed may be replaced as long as the ledger holds all of it. A ledger
/// that was restored from an older copy does not, and then the copy is all that is left of the rest.
void require_replaceable(LedgerState& ledger, const std::string& copy) {
  if (!exists(copy)) return;
  LedgerFiles earlier = ledger.files();
  earlier.database = copy;
  bool ours = false;
  try {
    static_cast<void>(require_single_regular_file(earlier));
    Connection connection(earlier, Connection::Role::archived);
    ours = read_ledger_id(connection) == ledger.ledger_id() && connection.schema_version() < kSchemaVersion;
    if (ours && holds(ledger.writer(), extent_of(connection))) return;
  } catch (const Error&) {
  } catch (const StorageFailure&) {
  }
  if (ours) {
    throw LedgerUnusable("the copy at " + copy +
                         " holds decisions or policies that the ledger lacks: it was migrated before, and an "
                         "older copy was put in its place since. Move it away if that was meant. Nothing was "
                         "migrated");
  }
  throw LedgerUnusable("there is something at " + copy +
                       " that is no copy of this ledger; move it away. Nothing was migrated");
}

void keep_copy(LedgerState& ledger, const std::string& copy) {
  require_replaceable(ledger, copy);
  const PendingCopy pending(copy);
  try {
    ledger.writer().query("VACUUM INTO ?1").with(pending.name()).run();
  } catch (const StorageFailure& failure) {  // the ledger was only read: nothing to poison
    throw_translated(failure, "ledger " + ledger.files().database + ": copying it to " + copy);
  }
  pending.give_name(copy, ledger.files());
}

void require_references(Connection& db) {
  SQLite::Statement statement = db.prepare("PRAGMA foreign_key_check");
  Query broken(statement, db.handle());
  if (!broken.step()) return;
  throw LedgerCorrupt("ledger: a row of " + broken.text(0) + " refers to a missing row of " + broken.text(2) +
                      "; nothing was migrated");
}

/// Accounts of before schema 3 have none.
void write_checksums(Connection& db) {
  std::vector<std::pair<std::int64_t, std::int64_t>> checksums;  // by account
  each_account_as_stored(db, [&](const AccountState& account, bool) {
    checksums.emplace_back(account.id, account_checksum(account));
  });
  for (const auto& [account, checksum] : checksums) {
    db.query("UPDATE account SET checksum = ?2 WHERE id = ?1").with(account, checksum).run();
  }
}

/// Requires  the turn is held.
void apply_later_schemas(LedgerState& ledger) {
  Connection& db = ledger.writer();
  const std::string& database = ledger.files().database;
  db.execute("BEGIN IMMEDIATE");
  const std::int64_t from = db.schema_version();
  for (auto version = from + 1; version <= kSchemaVersion; ++version) {
    db.execute(kSchemaSql.at(static_cast<std::size_t>(version - 1)));
  }
  if (from < 3) write_checksums(db);
  Meta meta = read_meta(db);
  const ClockObservation now = observe(meta, ledger.clock()());
  for (auto version = from + 1; version <= kSchemaVersion; ++version) {
    db.query("INSERT INTO schema_migration(version, after_decision, at, event) VALUES(?1, ?2, ?3, ?4)")
        .with(version, meta.decisions, time_text(now.now_ms), ++meta.events)
        .run();
  }
  db.query("UPDATE meta SET last_time = ?1, schema_migrations = schema_migrations + ?2, events = ?3")
      .with(time_text(now.now_ms), kSchemaVersion - from, meta.events)
      .run();
  require_references(db);
  require_shipped_schema(db, database);
  db.execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
  ledger.committing(meta.decisions + 1);
  db.execute("COMMIT");
  ledger.settled();
}

/// What is on a poisoned disk is unknown, and recovery verifies what only its own program can read.
void require_recovered(LedgerState& ledger) {
  const auto reason = ledger.poisoned();
  if (!reason) return;
  throw LedgerIo("ledger " + ledger.files().database + " is poisoned: " + *reason +
                 ". Reboot and recover it, with the epsilog that wrote it, before it is migrated");
}

/// Ends the turn and whatever is not committed.
class Turn final {
 public:
  explicit Turn(LedgerState& ledger) : ledger_(&ledger) { ledger.take_turn(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    ledger_->roll_back();
    ledger_->end_turn();
  }

 private:
  LedgerState* ledger_;
};

}  // namespace

Migration Ledger::migrate(const std::string& path, const Options& options) {
  LedgerState ledger(path, LedgerState::Access::migration, options);
  Migration migration{.from = kSchemaVersion, .to = kSchemaVersion, .copy = ""};
  require_recovered(ledger);
  const Turn turn(ledger);
  try {
    migration.from = ledger.writer().schema_version();  // somebody else may have been first
    if (migration.from == kSchemaVersion) return migration;
    ledger.settle_all();  // programs of that schema left no mark of what they did not finish
    migration.copy = ledger.files().database + ".schema" + std::to_string(migration.from);
    keep_copy(ledger, migration.copy);
    apply_later_schemas(ledger);
  } catch (const StorageFailure& failure) {
    ledger.fail(failure, "migrating");
  }
  return migration;
}

}  // namespace epsilog::ledger
