// A new ledger is made under a temporary name and gets its own only when it is complete and durable:
// who finds L finds a ledger, and an existing file is never touched.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <set>
#include <utility>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "schema.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

/// Removes the temporary file, whatever happens; after the rename there is none.
class TemporaryFile final {
 public:
  explicit TemporaryFile(const LedgerFiles& final_files) : files_(final_files) {
    files_.database += ".creating-" + random_hex_128();
    require_short_path(files_.database);
    // Made here and not by SQLite, so that no umask ever opens it to others. The descriptor is closed
    // before SQLite opens the file, hence before there is a lock to lose.
    const Descriptor placeholder(
        ::open(files_.database.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!placeholder.valid() || ::fchmod(placeholder.get(), 0600) != 0) {
      const int error = errno;
      throw_refused("cannot create " + files_.database, error, permission_advice(files_.directory, error));
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    for (const std::string& name : {files_.database, files_.wal(), files_.shm()}) ::unlink(name.c_str());
  }
  [[nodiscard]] const LedgerFiles& files() const noexcept { return files_; }

 private:
  LedgerFiles files_;
};

void make_directory_if_missing(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos || slash == 0) return;
  const std::string directory = path.substr(0, slash);
  if (exists(directory)) return;
  if (::mkdir(directory.c_str(), 0750) == 0) {
    if (::chmod(directory.c_str(), 0750) != 0) throw_refused("cannot set the mode of " + directory, errno);
    return;
  }
  if (errno == EEXIST) return;
  throw_refused("cannot create the directory " + directory, errno);
}

/// A WAL left by a removed ledger would be replayed into the new one.
void require_nothing_there(const LedgerFiles& files) {
  for (const std::string& name :
       {files.database, files.wal(), files.shm(), files.database + "-journal", files.poisoned()}) {
    if (exists(name)) {
      throw LedgerUnusable("there is something at " + name +
                           " already; a ledger is never overwritten. Choose another "
                           "name, or move what is there away");
    }
  }
}

void fill(Connection& db, const std::string& ledger_id, PolicyVersion policy,
          const std::vector<AccountState>& accounts, const ClockObservation& clock) {
  policy.version = 1;
  policy.applied_at = time_text(clock.now_ms);
  policy.after_decision = 0;
  policy.event = 1;
  db.execute("BEGIN IMMEDIATE");
  for (const char* const sql : kSchemaSql) db.execute(sql);
  db.execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
  db.execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str());
  db.query(
        "INSERT INTO meta(one, ledger_id, created_at, last_time, decisions, policy_versions, limit_changes,"
        " clock_events, schema_migrations, wall_clock, boot_id, boot_offset, held_at, accounts,"
        " limit_removals, relocations, events)"
        " VALUES(1, ?1, ?2, ?2, 0, 1, 0, 0, 0, ?3, ?4, ?5, '', ?6, 0, 0, 1)")
      .with(ledger_id, policy.applied_at, clock.state.wall_clock, clock.state.boot_id,
            clock.state.boot_offset, static_cast<std::int64_t>(accounts.size()))
      .run();
  insert_policy_version(db, policy);
  std::int64_t id = 0;
  for (const AccountState& account : accounts) insert_account(db, ++id, account);
  db.execute("COMMIT");
}

/// Nothing of the ledger may stay in a WAL of the temporary name.
void move_into_main_file(Connection& db, const LedgerFiles& files) {
  int in_wal = -1;
  int moved = -1;
  const int rc = sqlite3_wal_checkpoint_v2(db.handle(), "main", SQLITE_CHECKPOINT_TRUNCATE, &in_wal, &moved);
  if (rc != SQLITE_OK) throw StorageFailure(rc, sqlite3_errmsg(db.handle()));
  if (size_of(files.wal()) != 0)
    throw LedgerIo("ledger " + files.database + ": its WAL could not be emptied");
}

void give_final_name(const LedgerFiles& temporary, const LedgerFiles& files) {
  require_nothing_there(files);
  if (::renameat2(AT_FDCWD, temporary.database.c_str(), AT_FDCWD, files.database.c_str(), RENAME_NOREPLACE) !=
      0) {
    if (errno == EEXIST) require_nothing_there(files);
    throw_refused("cannot give the new ledger its name " + files.database, errno);
  }
  sync_directory(files.directory);
}

void require_distinct(const std::vector<AccountState>& accounts) {
  std::set<AccountName> seen;
  for (const AccountState& account : accounts) {
    require_sound_account(account);
    if (!seen.insert({account.dataset, account.scope, account.measure}).second) {
      throw InvalidParameter("ledger: an account is wanted twice");
    }
  }
}

}  // namespace

std::string Ledger::create(const std::string& path, const PolicyVersion& policy,
                           const std::vector<AccountState>& accounts, const Options& options) {
  require_sound_policy(policy);
  require_distinct(accounts);
  make_directory_if_missing(path);
  const LedgerFiles files = locate(path);
  require_nothing_there(files);
  const TemporaryFile temporary(files);
  const std::string ledger_id = random_hex_128();
  try {
    Connection db(temporary.files(), Connection::Role::creator);
    fill(db, ledger_id, policy, accounts, first_observation(options.clock()));
    move_into_main_file(db, temporary.files());
  } catch (const StorageFailure& failure) {
    throw_translated(failure, "creating ledger " + files.database);
  }
  give_final_name(temporary.files(), files);
  return ledger_id;
}

}  // namespace epsilog::ledger
