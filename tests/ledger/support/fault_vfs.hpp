// A storage layer between SQLite and the operating system that fails on demand and remembers what was
// written and what was synced, so that a power failure can be replayed at any point.
//
// While one lives it is SQLite's default. One thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace epsilog::ledger_tests {

/// Exit status of a process that die_at() ended.
inline constexpr int kKilled = 77;

/// What SQLite did to a file.
struct StorageEvent {
  enum class Kind { write, truncate, sync, failed_sync, acknowledged };
  Kind kind = Kind::write;
  std::string file;         ///< full path
  std::int64_t offset = 0;  ///< of a write; the new size of a truncate
  std::string bytes;
};

class FaultVfs final {
 public:
  FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;
  ~FaultVfs();

  /// The n-th operation from now (1, 2, …; reads, writes, truncates, syncs, opens and deletes count)
  /// fails with `code`, once or it and all later ones.
  void fail_at(std::int64_t nth, int code, bool from_then_on);
  /// Only operations of that kind fail from now on: "read", "write", "sync", …
  void fail_kind(const std::string& kind, int code);
  /// What errno says of the failures of SQLITE_IOERR; EIO unless told.
  void fail_with_errno(int error) { errno_ = error; }
  /// The process ends at once, as by kill -9, in place of the n-th operation from now.
  void die_at(std::int64_t nth);
  void stop_failing();
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::int64_t operations() const { return operations_; }

  /// The file control `operation` is acknowledged and has no effect; asked, it says 77.
  void ignore_control(int operation) { ignored_controls_.insert(operation); }
  /// PRAGMA name answers `value` whatever is set.
  void answer_pragma(const std::string& name, const std::string& value) { pragmas_[name] = value; }

  void start_recording() { recording_ = true; }
  /// What is recorded goes to that file too, so that it outlives the process.
  void stream_to(int descriptor) { stream_ = descriptor; }
  /// Adds what another process streamed to it.
  void add_events_of(int descriptor);
  /// Notes that a caller was told of a commit.
  void acknowledge();
  [[nodiscard]] const std::vector<StorageEvent>& events() const { return events_; }

  // For the C functions of the implementation.
  [[nodiscard]] int step(const char* kind, bool write_like, const std::string* synced = nullptr);
  void record(StorageEvent event);
  int control(int operation, void* argument, bool& handled);
  [[nodiscard]] sqlite3_vfs* real() const { return real_; }

 private:
  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  std::string name_;
  std::int64_t operations_ = 0;
  std::int64_t fail_at_ = 0;
  std::int64_t die_at_ = 0;
  int code_ = 0;
  int errno_ = 5;  // EIO
  int stream_ = -1;
  bool from_then_on_ = false;
  bool failed_ = false;
  std::string failing_kind_;
  bool recording_ = false;
  std::set<int> ignored_controls_;
  std::map<std::string, std::string> pragmas_;
  std::vector<StorageEvent> events_;
};

/// What a disk may hold if the power fails right after `events[0, until)`: everything synced, and of
/// what was written since, any subset of 512-byte sectors. `files` is what it held before. What a sync that
/// failed was to cover is not covered by a later one either: the kernel has marked it clean.
[[nodiscard]] std::map<std::string, std::string> image_after_power_failure(
    std::map<std::string, std::string> files, const std::vector<StorageEvent>& events, std::size_t until,
    std::mt19937_64& random);

}  // namespace epsilog::ledger_tests
