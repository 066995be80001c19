// Programs that know nothing of Epsilog and open a ledger with SQLite.
#pragma once

#include <sys/types.h>

#include <string>

namespace epsilog::ledger_tests {

/// False under sanitizers, which take no second library.
[[nodiscard]] bool has_second_library();
/// Opens a database by a SQLite library of its own within this process, reads one row and closes it again.
/// Its locks and this process's other SQLite library's are the same to the kernel, and neither knows of the
/// other.
void look_with_second_library(const std::string& path);

/// Another process, forked when this is made. It opens the database only when it is told to.
/// Requires  this process has no ledger open when one is made: a forked SQLite goes by its parent's locks.
class Outsider final {
 public:
  explicit Outsider(std::string path);
  Outsider(const Outsider&) = delete;
  Outsider& operator=(const Outsider&) = delete;
  ~Outsider();

  /// Opens, reads one row, closes.
  void look();
  /// The same, and whoever closes last removes the log: this returns when it is about to, or when it closed
  /// without. Returns whether it is about to.
  bool look_until_removal();
  /// The removal goes on.
  void remove_now();
  /// Has the whole shared range to itself, until the next call.
  void lock_out();
  void let_in();

 private:
  char ask(char what);

  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
};

}  // namespace epsilog::ledger_tests
