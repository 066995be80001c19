// A ledger of an older schema is written anew beside itself, record by record, checked there, and then put in
// its own place as one transaction of its log. Before that, what it was is copied beside it.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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
#include "replacement.hpp"
#include "schema.hpp"
#include "schema3.hpp"
#include "schema_comparison.hpp"
#include "written_history.hpp"

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

void vacuum_into(LedgerState& ledger, const std::string& name) {
  try {
    ledger.writer().query("VACUUM INTO ?1").with(name).run();
  } catch (const StorageFailure& failure) {  // the ledger was only read: nothing to poison
    throw_translated(failure, "ledger " + ledger.files().database + ": copying it to " + name);
  }
}

void keep_copy(LedgerState& ledger, const std::string& copy) {
  const PendingCopy pending(copy);
  vacuum_into(ledger, pending.name());
  pending.give_name(copy, ledger.files());
}

/// The copy that is kept, what is made of it, and the log that it goes through.
void require_room(const LedgerFiles& files) {
  constexpr std::uint64_t kTimes = 4;
  struct statvfs disk {};
  if (::statvfs(files.directory.c_str(), &disk) != 0) {
    throw_refused("cannot ask how much room there is in " + files.directory, errno);
  }
  const std::uint64_t needed =
      kTimes * static_cast<std::uint64_t>(size_of(files.database) + size_of(files.wal()));
  const std::uint64_t there = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (there >= needed) return;
  throw LedgerBusy("ledger " + files.database + ": migrating it takes up to " + std::to_string(needed) +
                   " bytes in " + files.directory + ", and " + std::to_string(there) +
                   " are free; nothing was done: make room, then retry");
}

/// Accounts of before schema 3 have none.
void write_checksums(Connection& db) {
  std::vector<std::pair<std::int64_t, std::int64_t>> checksums;  // by account
  schema3::each_account_as_stored(db, [&](const AccountState& account, bool) {
    checksums.emplace_back(account.id, account_checksum(account));
  });
  for (const auto& [account, checksum] : checksums) {
    db.query("UPDATE account SET checksum = ?2 WHERE id = ?1").with(account, checksum).run();
  }
}

/// Brings a copy of schema 1 or 2 to schema 3, whose rows have a place for all that is known of older ones.
void bring_to_schema_3(const LedgerFiles& copy, const Clock& clock) {
  Connection db(copy, Connection::Role::migrator);
  db.execute("BEGIN IMMEDIATE");
  const std::int64_t from = db.schema_version();
  for (auto version = from + 1; version <= kLastAlteredVersion; ++version) {
    db.execute(kSchemaSql.at(static_cast<std::size_t>(version - 1)));
  }
  write_checksums(db);
  Meta meta = schema3::read_meta(db);
  const std::string now = time_text(observe(meta, clock()).now_ms);
  for (auto version = from + 1; version <= kLastAlteredVersion; ++version) {
    db.query("INSERT INTO schema_migration(version, after_decision, at, event) VALUES(?1, ?2, ?3, ?4)")
        .with(version, meta.decisions, now, ++meta.events)
        .run();
  }
  db.query("UPDATE meta SET last_time = ?1, schema_migrations = schema_migrations + ?2, events = ?3")
      .with(now, kLastAlteredVersion - from, meta.events)
      .run();
  db.execute(("PRAGMA user_version=" + std::to_string(kLastAlteredVersion)).c_str());
  db.execute("COMMIT");
  db.move_log_into_file(copy);
}

/// What is on a poisoned disk is unknown, and recovery verifies what only its own program can read.
void require_recovered(LedgerState& ledger) {
  const auto reason = ledger.poisoned();
  if (!reason) return;
  throw LedgerIo("ledger " + ledger.files().database + " is poisoned: " + *reason +
                 ". Reboot and recover it, with the epsilog that wrote it, before it is migrated");
}

}  // namespace

Migration Ledger::migrate(const std::string& path, const Options& options, const MigrationSteps& steps) {
  LedgerState ledger(path, LedgerState::Access::migration, options);
  Migration migration{.from = kSchemaVersion, .to = kSchemaVersion, .copy = "", .faults = {}};
  require_recovered(ledger);
  const Turn turn(ledger);
  try {
    migration.from = ledger.writer().schema_version();  // somebody else may have been first
    if (migration.from == kSchemaVersion) return migration;
    ledger.settle_all();  // programs of that schema left no mark of what they did not finish
    const std::string copy = ledger.files().database + ".schema" + std::to_string(migration.from);
    require_replaceable(ledger, copy);  // before all that takes time
    require_room(ledger.files());
    const Workspace old(ledger.files(), ".migrating-old");
    const Workspace made(ledger.files(), ".migrating");
    vacuum_into(ledger, old.files().database);
    if (migration.from < kLastAlteredVersion) bring_to_schema_3(old.files(), options.clock);
    std::int64_t decisions = 0;
    {
      Connection from(old.files(), Connection::Role::archived);
      migration.faults = schema3::faults(from);
      if (migration.faults.empty()) decisions = write_history(from, made.files(), options.clock, steps);
    }
    if (migration.faults.empty() && steps.verify) migration.faults = steps.verify(made.files().database);
    if (!migration.faults.empty()) {
      migration.to = migration.from;
      return migration;
    }
    keep_copy(ledger, copy);
    migration.copy = copy;
    put_in_place(ledger, made.files(), decisions);
    require_shipped_schema(ledger.writer(), ledger.files().database);
  } catch (const StorageFailure& failure) {
    ledger.fail(failure, "migrating");
  }
  return migration;
}

}  // namespace epsilog::ledger
