#include "connection.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "file_verdict.hpp"
#include "held_files.hpp"
#include "schema.hpp"

namespace epsilog::ledger {
namespace {

/// A log that grew beyond that, because of a reader that stayed, is cut down to it when it begins anew.
constexpr const char* kLogStays = "16777216";

std::string percent_encoded(const std::string& path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kHex[byte >> 4U];
      encoded += kHex[byte & 15U];
    }
  }
  return encoded;
}

/// psow=0: a sector torn by a power failure may take its neighbours in the same block with it, so
/// SQLite must pad. The file system cannot promise otherwise.
std::string uri_of(const LedgerFiles& files, Connection::Role role) {
  const std::string uri = "file:" + percent_encoded(files.database) + "?psow=0";
  switch (role) {
    case Connection::Role::creator:
    case Connection::Role::writer:
    case Connection::Role::candidate:
      return uri + "&mode=rw";
    case Connection::Role::reader:
      return uri + "&mode=ro";
    case Connection::Role::immutable:
      return uri + "&mode=ro&immutable=1";
  }
  EPSILOG_INVARIANT(false);
}

bool writes(Connection::Role role) {
  return role == Connection::Role::creator || role == Connection::Role::writer;
}

bool opened_to_write(Connection::Role role) {
  return writes(role) || role == Connection::Role::candidate;
}

int flags_of(Connection::Role role) {
  return (opened_to_write(role) ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_URI |
         SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
}

int last_errno_of(sqlite3_file* file) {
  int error = 0;
  if (file == nullptr || file->pMethods == nullptr ||
      file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error) != SQLITE_OK) {
    return 0;
  }
  return error;
}

sqlite3_file* file_of(sqlite3* handle, int which) {
  sqlite3_file* file = nullptr;
  return sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK ? file : nullptr;
}

/// errno behind the failure just reported. Of a write, and of a read that it tells as damage, SQLite does not
/// keep it, but the file does: the log, else the database. It keeps it for good, so that a connection on
/// which a file failed is not used again.
int errno_of_failure(sqlite3* handle) {
  const int code = sqlite3_extended_errcode(handle);
  const int primary = code & 0xff;
  if (code != SQLITE_IOERR_WRITE && primary != SQLITE_CORRUPT && primary != SQLITE_NOTADB)
    return sqlite3_system_errno(handle);
  const int of_log = last_errno_of(file_of(handle, SQLITE_FCNTL_JOURNAL_POINTER));
  return of_log != 0 ? of_log : last_errno_of(file_of(handle, SQLITE_FCNTL_FILE_POINTER));
}

/// A ledger has a write-ahead log from its first moment on. SQLite would play a rollback journal of its name
/// back into it, whatever that is.
void require_no_rollback_journal(const LedgerFiles& files, Connection::Role role) {
  const bool looks =
      role == Connection::Role::reader || (opened_to_write(role) && role != Connection::Role::creator);
  const std::string journal = files.database + "-journal";
  if (!looks || !exists(journal)) return;
  throw LedgerUnusable(
      "there is a rollback journal at " + journal +
      ", which no ledger has: playing it back would change the ledger. If you know where it comes "
      "from and that it is not of this ledger, move it away");
}

/// Why this user may not; 0 if it may.
int errno_of_access(const std::string& path, int wanted) {
  return ::faccessat(AT_FDCWD, path.c_str(), wanted, AT_EACCESS) == 0 ? 0 : errno;
}

SQLite::Database open_database(const LedgerFiles& files, Connection::Role role) {
  require_no_rollback_journal(files, role);
  try {
    return SQLite::Database(uri_of(files, role), flags_of(role),
                            static_cast<int>(Connection::kBusyTimeout.count()));
  } catch (const SQLite::Exception& error) {
    // A database that could not be opened has no handle that could be asked for the reason.
    throw StorageFailure(error.getExtendedErrorCode(), error.what(),
                         errno_of_access(files.database, writes(role) ? R_OK | W_OK : R_OK));
  }
}

/// A creator's file has a name that nobody knows. An immutable one is not written to, and SQLite takes no
/// locks on it.
std::unique_ptr<HeldFiles> hold(const LedgerFiles& files, Connection::Role role) {
  switch (role) {
    case Connection::Role::creator:
    case Connection::Role::immutable:
      return nullptr;
    case Connection::Role::writer:
    case Connection::Role::reader:
    case Connection::Role::candidate:
      return std::make_unique<HeldFiles>(files);
  }
  EPSILOG_INVARIANT(false);
}

/// SQLite could not open it for writing.
/// Throws  LedgerBusy where this user may write to it; LedgerUnusable otherwise, if it must be.
void refuse_read_only_opening(const std::string& path, bool must) {
  const int error = errno_of_access(path, W_OK);
  if (error == 0) {
    throw LedgerBusy(path +
                     " could be opened for reading only, for want of descriptors or memory, or because the "
                     "system failed; nothing was done, retry");
  }
  if (must) throw_refused("ledger: cannot write to " + path, error, permission_advice(path, error));
}

[[noreturn]] void throw_setting_refused(const std::string& name, const std::string& wanted,
                                        const std::string& got) {
  throw LedgerIo("ledger: the setting " + name + " must be " + wanted + " but SQLite reports '" + got +
                 "'; without it durability is not assured, so nothing was done");
}

std::string of_development_version(const LedgerFiles& files) {
  return files.database + ": written by a development version of Epsilog; not readable";
}

void require_control(sqlite3* handle, int operation, const char* name, int wanted) {
  int set = wanted;
  int got = -1;  // asks
  sqlite3_file_control(handle, "main", operation, &set);
  const int rc = sqlite3_file_control(handle, "main", operation, &got);
  if (rc != SQLITE_OK || got != wanted) {
    throw_setting_refused(name, std::to_string(wanted),
                          rc == SQLITE_OK ? std::to_string(got) : sqlite3_errstr(rc));
  }
}

void require_config(sqlite3* handle, int operation, const char* name, int wanted) {
  int got = -1;
  const int rc = sqlite3_db_config(handle, operation, wanted, &got);
  if (rc != SQLITE_OK || got != wanted)
    throw_setting_refused(name, std::to_string(wanted), std::to_string(got));
}

}  // namespace

void refuse_development_ledger(const LedgerFiles& files) {
  std::int64_t application = 0;
  try {
    // Through SQLite, as every access to a file that may be a ledger (ledger.hpp, 11).
    SQLite::Database database(uri_of(files, Connection::Role::immutable),
                              flags_of(Connection::Role::immutable));
    SQLite::Statement row(database, "PRAGMA application_id");
    if (row.executeStep()) application = row.getColumn(0).getInt64();
  } catch (const SQLite::Exception&) {  // it is no database, and says nothing of who made it
    return;
  }
  if (application == kDevelopmentApplicationId) throw LedgerUnusable(of_development_version(files));
}

FailureKind kind_of(const StorageFailure& failure) {
  return kind_of(failure.code(), failure.system_error());
}

namespace {

/// At which call a file failed, of SQLITE_IOERR.
FileCall call_of(int code) {
  switch (code) {
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_DELETE:
    case SQLITE_IOERR_SHMSIZE:
      return FileCall::write;
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
    case SQLITE_IOERR_CLOSE:
      return FileCall::sync;
    case SQLITE_IOERR_SHMOPEN:
      return FileCall::open;
    default:
      return FileCall::read;
  }
}

FailureKind kind_of(FileCall call, int error) {
  switch (file_verdict(call, FileRole::ledger, error)) {
    case FileVerdict::transient:
      return FailureKind::transient;
    case FileVerdict::lasting:
      return FailureKind::forbidden;
    case FileVerdict::poison:
      return FailureKind::storage;
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace

FailureKind kind_of(int code, int system_error) {
  const int primary = code & 0xff;
  switch (primary) {
    case SQLITE_FULL:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_PROTOCOL:
      return FailureKind::transient;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return system_error == 0 ? FailureKind::forbidden : kind_of(FileCall::open, system_error);
    case SQLITE_CANTOPEN:
      return kind_of(FileCall::open, system_error);
    case SQLITE_IOERR:
      return code == SQLITE_IOERR_NOMEM ? FailureKind::transient : kind_of(call_of(code), system_error);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return system_error == 0 ? FailureKind::storage : kind_of(FileCall::read, system_error);
    case SQLITE_CONSTRAINT:
      return FailureKind::constraint;
    case SQLITE_TOOBIG:
      return FailureKind::too_big;
    default:
      return FailureKind::internal;
  }
}

namespace {

/// The rest of the sentence: a disk that is full is not mended by trying again alone.
const char* what_helps(const StorageFailure& failure) {
  const int error = failure.system_error();
  const bool no_room = error == ENOSPC || error == EDQUOT || error == EFBIG;
  if (no_room || (failure.code() & 0xff) == SQLITE_FULL) return ": make room, then retry";
  return (failure.code() & 0xff) == SQLITE_CANTOPEN ? "" : ", retry";
}

/// SQLite says "disk I/O error" of nearly all of them, and of some that the file is damaged.
std::string message_with_errno(const StorageFailure& failure) {
  const int primary = failure.code() & 0xff;
  const bool of_file = primary == SQLITE_IOERR || primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB ||
                       primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY;
  if (!of_file || failure.system_error() == 0) return failure.what();
  if (primary == SQLITE_IOERR) return system_message(failure.what(), failure.system_error());
  return system_message("a file could not be read or opened", failure.system_error());
}

}  // namespace

void throw_translated(const StorageFailure& failure, const std::string& context) {
  const std::string message = context + ": " + message_with_errno(failure);
  switch (kind_of(failure)) {
    case FailureKind::transient:
      std::throw_with_nested(LedgerBusy(message + "; nothing was done" + what_helps(failure)));
    case FailureKind::forbidden:
      std::throw_with_nested(
          LedgerUnusable(message +
                         "; nothing was done, because this user may not use its files or their directory so; "
                         "trying again does not help"));
    case FailureKind::storage:
      // Who only read has written nothing; nor does a file that nobody else knows say anything of the ledger.
      if ((failure.code() & 0xff) == SQLITE_IOERR)
        std::throw_with_nested(LedgerBusy(message + "; nothing was recorded, retry"));
      std::throw_with_nested(LedgerCorrupt(message));
    case FailureKind::too_big:
      std::throw_with_nested(InvalidParameter(message));
    case FailureKind::constraint:
    case FailureKind::internal:
      std::throw_with_nested(LedgerCorrupt(message));
  }
  EPSILOG_INVARIANT(false);
}

Query::~Query() {
  statement_->tryReset();
}

void Query::bind(int place, std::int64_t value) {
  try {
    statement_->bind(place, value);
  } catch (const SQLite::Exception& error) {
    throw StorageFailure(error.getErrorCode(), error.what());
  }
}

void Query::bind(int place, const std::string& value) {
  try {
    statement_->bind(place, value);
  } catch (const SQLite::Exception& error) {
    throw StorageFailure(error.getErrorCode(), error.what());
  }
}

void Query::bind(int place, std::span<const std::uint8_t> bytes) {
  try {
    static const char kNothing = 0;  // a null pointer would bind NULL
    const void* const data = bytes.empty() ? static_cast<const void*>(&kNothing) : bytes.data();
    statement_->bind(place, data, static_cast<int>(bytes.size()));
  } catch (const SQLite::Exception& error) {
    throw StorageFailure(error.getErrorCode(), error.what());
  }
}

bool Query::step() {
  const int rc = statement_->tryExecuteStep();
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  throw StorageFailure(sqlite3_extended_errcode(handle_), sqlite3_errmsg(handle_), errno_of_failure(handle_));
}

void Query::run() {
  const bool row = step();
  EPSILOG_INVARIANT(!row);
}

std::int64_t Query::integer(int column) const {
  const SQLite::Column value = statement_->getColumn(column);
  if (!value.isInteger()) throw LedgerCorrupt(column_name(column) + " is not an integer");
  return value.getInt64();
}

std::string Query::text(int column) const {
  const SQLite::Column value = statement_->getColumn(column);
  if (!value.isText()) throw LedgerCorrupt(column_name(column) + " is not a text");
  return value.getString();
}

std::string Query::bytes(int column) const {
  const SQLite::Column value = statement_->getColumn(column);
  if (!value.isBlob()) throw LedgerCorrupt(column_name(column) + " is not bytes");
  return value.getString();
}

std::string Query::time(int column) const {
  const std::int64_t ms = integer(column);
  if (ms == 0) return "";
  if (ms < 0 || ms > kLatestMs) {
    throw LedgerCorrupt(column_name(column) + " is " + std::to_string(ms) + ", which is no time");
  }
  return time_text(ms);
}

bool Query::is_null(int column) const {
  return statement_->getColumn(column).isNull();
}

std::string Query::column_name(int column) const {
  return std::string("column ") + statement_->getColumnName(column);
}

Connection::Connection(const LedgerFiles& files, Role role) try
    : registered_(files),
      held_(hold(files, role)),
      database_(open_database(files, role)),
      candidate_(role == Role::candidate),
      opens_to_write_(opened_to_write(role)) {
  if (opens_to_write_ && sqlite3_db_readonly(handle(), "main") == 1)
    refuse_read_only_opening(files.database, writes(role));
  apply_settings(role);
  if (role == Role::creator) {
    static_cast<void>(schema_version());  // opens log and index
  } else {
    check_identity(files);
  }
  if (held_ != nullptr) held_->hold_index();
  if (held_ != nullptr || role == Role::creator) require_writable(files, writes(role));
} catch (const StorageFailure& failure) {
  // Of the calls at which SQLite failed it keeps the errno of the last one, which may be ENOENT.
  const bool not_opened = (failure.code() & 0xff) == SQLITE_CANTOPEN && opened_to_write(role);
  if (const int error = not_opened ? errno_of_access(files.directory, W_OK) : 0; error != 0) {
    throw_translated(StorageFailure(failure.code(), failure.what(), error), "ledger " + files.database);
  }
  const bool not_a_database = (failure.code() & 0xff) == SQLITE_NOTADB;
  if (not_a_database && !exists(files.lock()) && !exists(files.wal())) {
    // No trace of our own files beside it: it never was a ledger.
    std::throw_with_nested(LedgerUnusable(files.database + " is not an Epsilog ledger: " + failure.what()));
  }
  throw_translated(failure, "ledger " + files.database);
}

Connection::~Connection() = default;

void Connection::apply_settings(Role role) {
  sqlite3* const db = handle();
  require_config(db, SQLITE_DBCONFIG_DEFENSIVE, "DBCONFIG_DEFENSIVE", 1);
  require_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, "DBCONFIG_ENABLE_LOAD_EXTENSION", 0);
  // All checkpoints happen under our lock; closing must not be one.
  require_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, "DBCONFIG_NO_CKPT_ON_CLOSE",
                 role == Role::creator ? 0 : 1);
  require_pragma("trusted_schema", "0");
  require_pragma("cell_size_check", "1");
  require_pragma("mmap_size", "0");
  require_pragma("foreign_keys", "1");
  require_pragma("recursive_triggers", "1");
  require_pragma("synchronous", "2");
  if (role == Role::immutable) return;
  require_control(db, SQLITE_FCNTL_POWERSAFE_OVERWRITE, "FCNTL_POWERSAFE_OVERWRITE", 0);
  // Overwriting a WAL is cheaper than growing a new one; at creation nothing may stay behind.
  if (role != Role::creator) require_control(db, SQLITE_FCNTL_PERSIST_WAL, "FCNTL_PERSIST_WAL", 1);
  if (writes(role)) {
    apply_writer_settings();
  } else {
    require_pragma("query_only", "1");
  }
}

void Connection::apply_writer_settings() {
  require_pragma("wal_autocheckpoint", "0");  // its errors would be swallowed: we checkpoint ourselves
  require_log();
  require_pragma("journal_size_limit", kLogStays);
  // What a SAVEPOINT keeps of the pages before it: a file elsewhere could fail on its own, and hold answers.
  require_pragma("temp_store", "2");
}

/// Only a file that another program made is not in this mode yet.
void Connection::require_log() {
  if (held_ == nullptr) return require_pragma("journal_mode", "wal");
  {
    Query mode = query("PRAGMA journal_mode");
    if (mode.step() && mode.text(0) == "wal") return;
  }
  held_->without_database([this] { require_pragma("journal_mode", "wal"); });
  static_cast<void>(schema_version());  // opens log and index
  held_->hold_index();
}

void Connection::require_writable(const LedgerFiles& files, bool must) {
  if (opens_to_write_ && sqlite3_db_readonly(handle(), "main") == 1)
    refuse_read_only_opening(files.database, must);
  sqlite3_file* const log = file_of(handle(), SQLITE_FCNTL_JOURNAL_POINTER);
  sqlite3_file* const database = file_of(handle(), SQLITE_FCNTL_FILE_POINTER);
  if (log == nullptr || log->pMethods == nullptr || database == nullptr || database->pMethods == nullptr)
    return;
  // Nothing is written, and not even that to what was opened for reading only. Not tried where it must fail:
  // the file would keep the error.
  const bool tries = opens_to_write_ && errno_of_access(files.wal(), W_OK) == 0;
  const bool writes_log = tries ? log->pMethods->xWrite(log, "", 0, 0) == SQLITE_OK : !must;
  if (!writes_log) refuse_read_only_opening(files.wal(), must);
  // The index is shared by all connections of the process. Its first region is there, and is given again.
  constexpr int kRegionBytes = 32'768;
  volatile void* region = nullptr;
  const int mapped = database->pMethods->xShmMap(database, 0, kRegionBytes, 0, &region);
  if ((mapped & 0xff) == SQLITE_READONLY) refuse_read_only_opening(files.shm(), must);
}

void Connection::require_no_read_error() {
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    const int error = last_errno_of(file_of(handle(), which));
    if (error != 0) throw StorageFailure(SQLITE_IOERR_READ, "a file could not be read", error);
  }
}

void Connection::become_writer(const LedgerFiles& files) {
  EPSILOG_INVARIANT(candidate_ && !in_transaction());
  try {
    require_writable(files, true);
    require_pragma("query_only", "0");
    apply_writer_settings();
  } catch (const StorageFailure& failure) {
    throw_translated(failure, "ledger " + files.database);
  }
  candidate_ = false;
}

void Connection::check_identity(const LedgerFiles& files) {
  Query identity =
      query("SELECT application_id, user_version FROM pragma_application_id, pragma_user_version");
  EPSILOG_INVARIANT(identity.step());
  const std::int64_t application = identity.integer(0);
  const std::int64_t version = identity.integer(1);
  if (application == kDevelopmentApplicationId) throw LedgerUnusable(of_development_version(files));
  if (application != kApplicationId) {
    throw LedgerUnusable(files.database + " is not an Epsilog ledger: its application_id is " +
                         std::to_string(application) + ", a ledger's is " + std::to_string(kApplicationId));
  }
  if (version > kSchemaVersion) {
    throw LedgerUnusable("ledger " + files.database + " has schema version " + std::to_string(version) +
                         "; this epsilog knows versions up to " + std::to_string(kSchemaVersion) +
                         ". Use the newer epsilog that wrote it");
  }
  if (version < 1) throw LedgerCorrupt("ledger " + files.database + " has no schema version");
}

void Connection::require_pragma(const char* name, const std::string& value) {
  const std::string pragma = std::string("PRAGMA ") + name;
  execute((pragma + "=" + value).c_str());
  SQLite::Statement statement = prepare(pragma);
  Query read(statement, handle());
  std::string got;
  if (read.step()) got = statement.getColumn(0).getString();
  if (got != value) throw_setting_refused(name, value, got);
}

Query Connection::query(const char* sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) found = statements_.emplace(sql, prepare(sql)).first;
  return {found->second, handle()};
}

SQLite::Statement Connection::prepare(const std::string& sql) {
  try {
    return SQLite::Statement(database_, sql);
  } catch (const SQLite::Exception& error) {
    throw StorageFailure(sqlite3_extended_errcode(handle()), error.what(), errno_of_failure(handle()));
  }
}

void Connection::execute(const char* sql) {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw last_failure();
  }
}

void Connection::move_log_into_file(const LedgerFiles& files) {
  const int rc = sqlite3_wal_checkpoint_v2(handle(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (rc != SQLITE_OK) throw last_failure();
  if (size_of(files.wal()) != 0)
    throw LedgerBusy("ledger " + files.database + ": its WAL could not be emptied; nothing was done, retry");
}

void Connection::set_busy_timeout(std::chrono::milliseconds wait) noexcept {
  sqlite3_busy_timeout(handle(), static_cast<int>(wait.count()));
}

bool Connection::is_in_place() const {
  return held_ == nullptr || held_->is_in_place();
}

StorageFailure Connection::last_failure() {
  return {sqlite3_extended_errcode(handle()), sqlite3_errmsg(handle()), errno_of_failure(handle())};
}

std::int64_t Connection::schema_version() {
  Query row = query("PRAGMA user_version");
  EPSILOG_INVARIANT(row.step());
  return row.integer(0);
}

bool Connection::in_transaction() {
  return sqlite3_get_autocommit(handle()) == 0;
}

int Connection::changes() {
  return sqlite3_changes(handle());
}

}  // namespace epsilog::ledger
