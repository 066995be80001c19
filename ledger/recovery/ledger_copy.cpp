#include "ledger_copy.hpp"

#include <sqlite3.h>

#include "epsilog/accounting/errors.hpp"
#include "queries.hpp"

namespace epsilog::ledger {
namespace {

constexpr int kPagesAtOnce = 1'024;  // 4 MiB, after which whoever waits is told

/// Ends the copy, and with it what of it is not committed.
class PageCopy final {
 public:
  PageCopy(Connection& from, Connection& to)
      : to_(to), copy_(sqlite3_backup_init(to.handle(), "main", from.handle(), "main")) {
    if (copy_ == nullptr) throw to.last_failure();
  }
  PageCopy(const PageCopy&) = delete;
  PageCopy& operator=(const PageCopy&) = delete;
  ~PageCopy() { static_cast<void>(finish()); }

  /// False once all is there.
  [[nodiscard]] bool step(int pages) {
    const int code = sqlite3_backup_step(copy_, pages);
    if (code == SQLITE_OK) return true;
    if (code == SQLITE_DONE) {
      require_ok(finish());
      return false;
    }
    static_cast<void>(finish());
    require_ok(code);
    return false;
  }
  [[nodiscard]] double done() const {
    const int all = sqlite3_backup_pagecount(copy_);
    return all == 0 ? 1 : 1 - static_cast<double>(sqlite3_backup_remaining(copy_)) / all;
  }

 private:
  void require_ok(int code) {
    if (code != SQLITE_OK)
      throw StorageFailure(code, sqlite3_errstr(code), sqlite3_system_errno(to_.handle()));
  }
  int finish() {
    const int code = copy_ == nullptr ? SQLITE_OK : sqlite3_backup_finish(copy_);
    copy_ = nullptr;
    return code;
  }

  Connection& to_;
  sqlite3_backup* copy_;
};

}  // namespace

void copy_pages(Connection& from, Connection& to, accounting::CallbackRef<void(double)> progress) {
  PageCopy copy(from, to);
  while (copy.step(progress ? kPagesAtOnce : -1)) {
    if (progress) progress(copy.done());
  }
}

void copy_into_new_file(SnapshotState& view, const LedgerFiles& files,
                        accounting::CallbackRef<void(double)> progress) {
  Connection to(files, Connection::Role::creator);
  copy_pages(*view.connection, to, progress);
  to.move_log_into_file(files);
}

void require_durable(SnapshotState& view) {
  const std::string name = "ledger " + view.ledger->files().database;
  if (const auto reason = view.ledger->poison_reason()) {
    throw LedgerIo(name + " is poisoned: " + *reason + ". What it holds is unknown; reboot, then run " +
                   "`epsilog recover`");
  }
  const Meta meta = view.run_read([](Connection& db) { return read_meta(db); });
  // The number of the next one tells of what was committed without a decision, too.
  if (view.ledger->durable_below(meta.decisions + 1) <= meta.decisions + 1) {
    throw LedgerBusy(name +
                     ": what an interrupted commit left is not known to be on the disk, and somebody "
                     "else has the turn; nothing was done, retry");
  }
}

}  // namespace epsilog::ledger
