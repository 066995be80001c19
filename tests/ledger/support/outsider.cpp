#include "ledger/support/outsider.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace epsilog::ledger_tests {
namespace {

/// The functions of one SQLite library.
struct Library {
  decltype(&sqlite3_open) open = nullptr;
  decltype(&sqlite3_exec) exec = nullptr;
  decltype(&sqlite3_close) close = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("no ") + name);
}

Library second_library() {
  void* const library = ::dlmopen(LM_ID_NEWLM, "libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  Library functions;
  find(library, "sqlite3_open", functions.open);
  find(library, "sqlite3_exec", functions.exec);
  find(library, "sqlite3_close", functions.close);
  return functions;
}

int look_with(const Library& library, const std::string& path) {
  sqlite3* db = nullptr;
  int rc = library.open(path.c_str(), &db);
  if (rc == SQLITE_OK) rc = library.exec(db, "SELECT one FROM meta", nullptr, nullptr, nullptr);
  const int closed = library.close(db);
  return rc != SQLITE_OK ? rc : closed;
}

// What follows runs in the other process.

int told = -1;
int asked = -1;
bool delays = false;

void tell(char what) {
  if (::write(told, &what, 1) != 1) ::_exit(2);
}

char next() {
  char what = 0;
  if (::read(asked, &what, 1) != 1) ::_exit(0);
  return what;
}

/// In the place of unlink(2): waits before the first name that goes.
int delayed_unlink(const char* name) {
  if (std::exchange(delays, false)) {
    tell('r');
    while (next() != 'g') {
    }
  }
  return ::unlink(name);
}

void serve(const std::string& path) {
  const Library mine{sqlite3_open, sqlite3_exec, sqlite3_close};
  sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  vfs->xSetSystemCall(vfs, "unlink", reinterpret_cast<sqlite3_syscall_ptr>(delayed_unlink));
  int held = -1;
  struct flock range {};
  range.l_whence = SEEK_SET;
  range.l_start = 0x40000002;
  range.l_len = 510;
  for (;;) {
    switch (next()) {
      case 'd':
        delays = true;
        static_cast<void>(look_with(mine, path));
        delays = false;
        tell('c');
        break;
      case 'x':
        held = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        range.l_type = F_WRLCK;
        tell(::fcntl(held, F_SETLK, &range) == 0 ? 'l' : 'e');
        break;
      case 'u':
        ::close(held);
        tell('c');
        break;
      case 'l':
        tell(look_with(mine, path) == SQLITE_OK ? 'c' : 'e');
        break;
      default:
        ::_exit(0);
    }
  }
}

}  // namespace

bool has_second_library() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

void look_with_second_library(const std::string& path) {
  static const Library library = second_library();
  if (look_with(library, path) != SQLITE_OK)
    throw std::runtime_error("the second library cannot read " + path);
}

Outsider::Outsider(std::string path) {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (::pipe2(down.data(), O_CLOEXEC) != 0 || ::pipe2(up.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe");
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("no process");
  if (process_ == 0) {
    ::close(down[1]);
    ::close(up[0]);
    asked = down[0];
    told = up[1];
    serve(path);
    ::_exit(0);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_ = down[1];
  from_ = up[0];
}

Outsider::~Outsider() {
  ::close(to_);
  ::close(from_);
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

char Outsider::ask(char what) {
  char answer = 0;
  if (::write(to_, &what, 1) != 1 || ::read(from_, &answer, 1) != 1)
    throw std::runtime_error("the outsider is gone");
  if (answer == 'e') throw std::runtime_error("the outsider could not");
  return answer;
}

void Outsider::look() {
  ask('l');
}

bool Outsider::look_until_removal() {
  return ask('d') == 'r';
}

void Outsider::remove_now() {
  ask('g');
}

void Outsider::lock_out() {
  ask('x');
}

void Outsider::let_in() {
  ask('u');
}

}  // namespace epsilog::ledger_tests
