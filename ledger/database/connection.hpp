// One SQLite connection to a ledger, opened the only way this library opens one.
//
// Every setting on which a guarantee rests is made and then read back: a build of SQLite, a VFS or
// an environment that ignores one is found at open, not after a power failure.
// Thread-safety: one thread at a time (SQLITE_OPEN_NOMUTEX).
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ledger_files.hpp"
#include "ledger_registration.hpp"
#include "shared_rows.hpp"

struct sqlite3;

namespace epsilog::ledger {

class HeldFiles;

/// SQLite failed. Never leaves this library: whoever knows what was going on translates it.
class StorageFailure final : public std::runtime_error {
 public:
  StorageFailure(int code, const std::string& message, int system_error = 0)
      : std::runtime_error(message), code_(code), system_error_(system_error) {}
  /// Extended result code.
  [[nodiscard]] int code() const noexcept { return code_; }
  /// errno of the call behind it, as far as SQLite kept it; 0 otherwise.
  [[nodiscard]] int system_error() const noexcept { return system_error_; }

 private:
  int code_;
  int system_error_;
};

/// What a failure means for the ledger (docs/recovery.md).
enum class FailureKind {
  transient,   ///< FULL, BUSY, NOMEM, INTERRUPT, and what passes of a file's errors: nothing happened
  forbidden,   ///< READONLY, PERM, and errors for want of rights: nothing happened, nor will it
  storage,     ///< other IOERR*, CORRUPT, NOTADB: the outcome is unknown
  constraint,  ///< a CHECK, key or trigger refused
  too_big,     ///< a text exceeds what SQLite stores
  internal,    ///< anything else: the schema is not the one we ship
};
/// Errors of the system at a file are judged by file_verdict(). Damage (CORRUPT, NOTADB) with an errno is a
/// read that failed, which SQLite tells as damage.
[[nodiscard]] FailureKind kind_of(int code, int system_error = 0);
[[nodiscard]] FailureKind kind_of(const StorageFailure& failure);

/// Throws, with the failure being handled nested inside, what a reader reports: LedgerBusy,
/// LedgerUnusable, LedgerCorrupt or InvalidParameter.
[[noreturn]] void throw_translated(const StorageFailure& failure, const std::string& context);

/// A prepared statement in use; gives it back when destroyed.
class Query final {
 public:
  Query(SQLite::Statement& statement, sqlite3* handle) : statement_(&statement), handle_(handle) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  /// Binds the parameters 1, 2, … in order.
  template <class... Values>
  Query& with(const Values&... values) {
    int place = 0;
    (bind(++place, values), ...);
    return *this;
  }
  /// True: a row is there.
  [[nodiscard]] bool step();
  /// Requires  a statement that returns no row.
  void run();
  [[nodiscard]] int columns() const { return statement_->getColumnCount(); }
  /// Throws  LedgerCorrupt if the column does not hold that type.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;
  /// Of a BLOB.
  [[nodiscard]] std::string bytes(int column) const;
  /// A time as ledger_time.hpp writes it, of milliseconds; "" of 0.
  [[nodiscard]] std::string time(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::string column_name(int column) const;
  /// The same by an enumeration of the columns, which stands beside the SELECT and in its order.
  template <class Column>
  requires std::is_enum_v<Column>
  [[nodiscard]] std::int64_t integer(Column column) const { return integer(static_cast<int>(column)); }
  template <class Column>
  requires std::is_enum_v<Column>
  [[nodiscard]] std::string text(Column column) const { return text(static_cast<int>(column)); }
  template <class Column>
  requires std::is_enum_v<Column>
  [[nodiscard]] std::string bytes(Column column) const { return bytes(static_cast<int>(column)); }
  template <class Column>
  requires std::is_enum_v<Column>
  [[nodiscard]] std::string time(Column column) const { return time(static_cast<int>(column)); }
  template <class Column>
  requires std::is_enum_v<Column>
  [[nodiscard]] bool is_null(Column column) const { return is_null(static_cast<int>(column)); }

 private:
  void bind(int place, std::int64_t value);
  void bind(int place, const std::string& value);
  void bind(int place, std::span<const std::uint8_t> bytes);

  SQLite::Statement* statement_;
  sqlite3* handle_;
};

/// Throws  LedgerUnusable if a program from before the first release made the file: nothing reads it. Says
///         nothing of other files, or where there is none.
void refuse_development_ledger(const LedgerFiles& files);

class Connection final {
 public:
  enum class Role {
    creator,    ///< a new, empty file under its temporary name
    writer,     ///< the one that writes and checkpoints
    reader,     ///< mode=ro
    candidate,  ///< a reader that can become the writer
    immutable,  ///< a ledger that nobody can be writing to: unwritable directory, no WAL
  };

  /// Throws  LedgerUnusable (not a ledger, of a development version, of a later format), LedgerCorrupt,
  ///         LedgerBusy, LedgerIo.
  Connection(const LedgerFiles& files, Role role);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Requires  a candidate, and no transaction.
  /// Throws    as the constructor of a writer.
  void become_writer(const LedgerFiles& files);
  /// Whether it can.
  [[nodiscard]] bool can_become_writer() const noexcept { return candidate_; }

  /// The statement for a text with static storage, prepared once a connection.
  /// Requires  it is not in use.
  [[nodiscard]] Query query(const char* sql);
  /// A statement of its own, for reading while others run.
  [[nodiscard]] SQLite::Statement prepare(const std::string& sql);
  /// Runs one or several statements without results.
  void execute(const char* sql);

  /// Of a file that nobody else knows: all that was committed stands in it, and nothing in its log.
  /// Throws  StorageFailure, LedgerBusy.
  void move_log_into_file(const LedgerFiles& files);

  /// How long SQLite waits for its own locks, from now on.
  void set_busy_timeout(std::chrono::milliseconds wait) noexcept;
  /// Only a foreign program can hold them while we hold ours.
  static constexpr std::chrono::milliseconds kBusyTimeout{1'000};

  /// Some checks of SQLite tell a read that failed as a fault that they found.
  /// Throws  StorageFailure if a read of its files has failed so far.
  void require_no_read_error();

  /// Whether the names of the ledger still lead to the files that are open.
  /// Throws  as HeldFiles::is_in_place().
  [[nodiscard]] bool is_in_place() const;

  [[nodiscard]] sqlite3* handle() { return database_.getHandle(); }
  /// The file's schema version.
  [[nodiscard]] std::int64_t schema_version();
  [[nodiscard]] bool in_transaction();
  /// What SQLite says of the last call, as it is thrown.
  [[nodiscard]] StorageFailure last_failure();
  /// The constant facts that were read from it before.
  [[nodiscard]] SharedRows& shared_rows() noexcept { return shared_; }
  /// Rows changed by the last statement.
  [[nodiscard]] int changes();

 private:
  void apply_settings(Role role);
  void apply_writer_settings();
  void require_log();
  /// SQLite opens for reading what it could not open for writing, whatever the reason was.
  /// Throws  LedgerBusy where this user may write to it; LedgerUnusable otherwise, if it `must` be.
  void require_writable(const LedgerFiles& files, bool must);
  void check_identity(const LedgerFiles& files);
  void require_pragma(const char* name, const std::string& value);

  const LedgerRegistration registered_;    // before the database is opened, until it is closed
  const std::unique_ptr<HeldFiles> held_;  // likewise; null where nobody else can know or change the file
  SQLite::Database database_;
  bool candidate_;
  const bool opens_to_write_;
  SharedRows shared_;
  std::map<const char*, SQLite::Statement> statements_;  // destroyed before the database is closed
};

}  // namespace epsilog::ledger
