#include "bound_socket.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "descriptor.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {
namespace {

constexpr int kBacklog = 1024;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw SocketError(path, what, false);
}

/// Whether another moment may bring another answer: the system has no room now.
bool may_pass(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS || error == ENOSPC ||
         error == EDQUOT || error == EIO;
}

[[noreturn]] void fail_by_errno(const std::string& path, const std::string& what) {
  const int error = errno;
  throw SocketError(path, what + ": " + std::generic_category().message(error), may_pass(error));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path || path.find('\0') != std::string::npos) {
    fail(path, "the name of a socket has 1 to " + std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Descriptor new_socket(const std::string& path) {
  Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) fail_by_errno(path, "cannot be made");
  return made;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);  // as bind() and connect() ask for
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Throws  SocketError unless this user may make and remove names in the folder of the socket.
void check_folder(const std::string& path) {
  struct stat found {};
  const std::string folder = folder_of(path);
  if (::stat(folder.c_str(), &found) != 0) fail_by_errno(path, "its folder cannot be opened");
  if (!S_ISDIR(found.st_mode)) fail(path, "its folder is not a folder");
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    fail_by_errno(path, "in its folder nothing can be made");
  }
}

/// Opens the lock file, and makes it if `make`. Returns none where there is no such file.
/// Throws  SocketError for a file that another user or program may lock, or that is no lock.
Descriptor opened_lock(const std::string& path, bool make) {
  const std::string lock = lock_of_socket(path);
  struct stat found {};
  const bool there = ::lstat(lock.c_str(), &found) == 0;
  if (!there && errno != ENOENT) fail_by_errno(path, "its lock " + lock + " cannot be examined");
  if (!there && !make) return {};
  // It is looked at before it is opened: closing a file of a database would drop that database's locks.
  if (there && (!S_ISREG(found.st_mode) || found.st_size != 0)) {
    fail(path, "its lock " + lock + " is not an empty file: what is there was made by something else");
  }
  if (there && found.st_uid != ::geteuid()) {
    fail(path, "its lock " + lock + " belongs to user " + std::to_string(found.st_uid) +
                   ": remove it once no daemon of that user runs");
  }
  Descriptor opened(
      ::open(lock.c_str(), O_RDWR | (make ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!opened.valid()) fail_by_errno(path, "its lock " + lock + " cannot be opened");
  if (::fstat(opened.get(), &found) != 0) fail_by_errno(path, "its lock " + lock + " cannot be examined");
  // Another user may have made it since it was looked at.
  if (found.st_uid != ::geteuid()) fail(path, "its lock " + lock + " belongs to another user");
  return opened;
}

/// Locks it, waiting until `due`.
void lock(const Descriptor& opened, const std::string& path, Deadline due) {
  while (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    const std::string name = lock_of_socket(path);
    if (errno != EWOULDBLOCK && errno != EINTR) fail_by_errno(path, "its lock " + name + " cannot be taken");
    if (std::chrono::steady_clock::now() >= due) {
      throw SocketError(path, "another process holds its lock " + name, true);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// Returns whether a socket is there on which no program listens. false: nothing is there.
/// Throws  SocketError for everything else that is there.
bool was_left_behind(const std::string& path, const sockaddr_un& address) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return false;
    fail_by_errno(path, "cannot be examined");
  }
  if (!S_ISSOCK(found.st_mode)) fail(path, "what is there is not a socket");
  const Descriptor probe = new_socket(path);
  if (::connect(probe.get(), generic(address), sizeof address) == 0 || errno == EAGAIN) {
    throw SocketError(path, "another program listens there", true);
  }
  if (errno == EACCES || found.st_uid != ::geteuid()) {
    fail(path, "the socket there belongs to user " + std::to_string(found.st_uid) +
                   ": remove it once no program listens there");
  }
  if (errno != ECONNREFUSED) fail_by_errno(path, "whether another program listens there cannot be found out");
  return true;
}

}  // namespace

std::string lock_of_socket(const std::string& path) {
  return path + ".lock";
}

void examine_socket(const std::string& path) {
  const sockaddr_un address = address_of(path);
  check_folder(path);
  if (const Descriptor opened = opened_lock(path, false); opened.valid()) lock(opened, path, Deadline::min());
  static_cast<void>(was_left_behind(path, address));
}

int bound_socket(const std::string& path, mode_t mode) {
  const sockaddr_un address = address_of(path);
  check_folder(path);
  const Descriptor opened = opened_lock(path, true);
  lock(opened, path, deadline_after(std::chrono::seconds(5)));
  if (was_left_behind(path, address) && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
    fail_by_errno(path, "cannot be replaced");
  }
  Descriptor bound = new_socket(path);
  // The name is made with the mode of the socket less the umask (unix(7)), so it is narrow from the first;
  // what the umask took is given back by name. Nobody can connect before listen().
  if (::fchmod(bound.get(), mode) != 0) fail_by_errno(path, "cannot be given its mode");
  if (::bind(bound.get(), generic(address), sizeof address) != 0) fail_by_errno(path, "cannot be bound");
  if (::fchmodat(AT_FDCWD, path.c_str(), mode, AT_SYMLINK_NOFOLLOW) != 0) {
    fail_by_errno(path, "cannot be given its mode");
  }
  if (::listen(bound.get(), kBacklog) != 0) fail_by_errno(path, "cannot be listened on");
  return bound.release();
}

}  // namespace epsilog::serve
