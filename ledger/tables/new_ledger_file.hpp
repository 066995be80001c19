// Making the file of a ledger.
#pragma once

#include <string>

#include "connection.hpp"
#include "end_mark.hpp"
#include "epsilog/accounting/callback.hpp"
#include "epsilog/ledger/ledger_options.hpp"

namespace epsilog::ledger {

/// A file beside the one that a ledger will be, of mode 0600. Gone with this, and what SQLite put beside it,
/// unless it got the name.
class NewLedgerFile final {
 public:
  /// Throws  LedgerUnusable, LedgerBusy.
  explicit NewLedgerFile(const LedgerFiles& final_files);
  NewLedgerFile(const NewLedgerFile&) = delete;
  NewLedgerFile& operator=(const NewLedgerFile&) = delete;
  ~NewLedgerFile();
  [[nodiscard]] const LedgerFiles& files() const noexcept { return files_; }
  /// Ensures  the name is durable, as the content has to be by then. Nothing is overwritten.
  /// Requires no connection to it.
  /// Throws   LedgerUnusable (something is there), LedgerBusy, LedgerIo.
  void give_name(const LedgerFiles& final_files) const;

 private:
  LedgerFiles files_;
};

/// Passes over a log and an index that hold nothing, which give_name() removes (files/left_log.hpp).
/// Throws  LedgerUnusable if one of the names is taken that a ledger there would have or find, saying so if
///         it is one of a development version.
void require_nothing_there(const LedgerFiles& files);
/// Of mode 0750, if only that is missing.
/// Throws  LedgerUnusable, LedgerBusy.
void make_directory_if_missing(const std::string& path);

/// Where a new ledger gets its name, while this process has the writer lock of that place.
struct NewLedgerTarget {
  LedgerFiles files;
  EndMarkReading remembered;  ///< what L.lock says of the ledger that lay there
  int lock_file = -1;     ///< L.lock
};

/// Makes a file of mode 0600, its directory (0750) too if only that is missing, of what `fill` writes into an
/// empty one in one transaction. Nothing is ever overwritten; whatever `fill` throws, nothing is left but lock
/// files. L.lock remembers the new one once it has its name.
/// `accept`, if there is one, is given the path of what was made and says whether it gets its name: false is
/// returned otherwise, and nothing is left.
/// Throws  LedgerUnusable (something is there), LedgerBusy (also if the writer lock is not to be had within
///         `options.wait`), LedgerIo, NetworkFileSystem, and what `fill` throws, its StorageFailure translated.
bool make_ledger_file(const std::string& path, const Options& options,
                      accounting::CallbackRef<void(Connection&, const NewLedgerTarget&)> fill,
                      accounting::CallbackRef<bool(const std::string&)> accept = {});

/// Writes the end of a ledger that just got its name into L.lock, and warns if that fails: the next writer
/// does it.
/// Requires  the writer lock, of which `lock_file` is the file.
void write_first_end_mark(const LedgerFiles& files, int lock_file, const EndMark& end,
                          const Options& options) noexcept;

}  // namespace epsilog::ledger
