// Errors of the system at the files that SQLite opens: one call of one file, below SQLite's own handling of
// them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "file_verdict.hpp"

namespace epsilog::ledger_tests {

/// A call, and which file it is of by the end of its name: "", "-wal", "-shm", "-journal".
struct FaultyCall {
  ledger::FileCall call = ledger::FileCall::open;
  std::string file;
  bool scratch = false;  ///< of a file that a verb makes for itself

  friend auto operator<=>(const FaultyCall&, const FaultyCall&) = default;
};

/// While one lives, the calls of SQLite are counted, and fail on demand; nothing is really synced. One at a
/// time, and no other storage layer beside it. May be used from several threads.
class FileFaults final {
 public:
  /// `ledger`: every other database is a scratch file.
  explicit FileFaults(std::string ledger);
  FileFaults(const FileFaults&) = delete;
  FileFaults& operator=(const FileFaults&) = delete;
  ~FileFaults();

  /// From now on this is the ledger.
  void watch(std::string ledger);
  /// Counts anew.
  void count();
  [[nodiscard]] std::map<FaultyCall, int> counted() const;
  /// The n-th of these calls from now fails, once.
  void fail(FaultyCall call, int nth, int error);
  [[nodiscard]] bool failed() const;

  // For the functions in the place of the system's.
  /// The error of this call; 0: it goes on.
  [[nodiscard]] int error_of(ledger::FileCall call, const std::string& path);
  [[nodiscard]] int error_of(ledger::FileCall call, int descriptor);
  void opened(int descriptor, const std::string& path);

 private:
  [[nodiscard]] int error_of_locked(ledger::FileCall call, const std::string& path);

  mutable std::mutex mutex_;  // a thread of the engine signs checkpoints meanwhile
  std::string ledger_;
  std::map<int, std::string> paths_;
  std::map<FaultyCall, int> counts_;
  FaultyCall failing_;
  int countdown_ = 0;
  int error_ = 0;
  bool failed_ = false;
};

}  // namespace epsilog::ledger_tests
