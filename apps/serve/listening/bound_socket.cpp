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
  throw Error("socket " + path + ": " + what);
}

[[noreturn]] void fail_by_errno(const std::string& path, const std::string& what) {
  fail(path, what + ": " + std::generic_category().message(errno));
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

/// Held while a socket there is looked at, replaced and listened on: one that is bound but not listened on
/// yet looks like one that was left behind. The lock is the directory's, so that no file is left.
Descriptor locked_directory(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) fail_by_errno(path, "its directory cannot be opened");
  const Deadline due = deadline_after(std::chrono::seconds(5));
  while (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail_by_errno(path, "its directory cannot be locked");
    if (std::chrono::steady_clock::now() >= due) fail(path, "its directory is locked by another process");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return directory;
}

/// Removes a socket on which nobody listens.
void clear(const std::string& path, const sockaddr_un& address) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return;
    fail_by_errno(path, "cannot be examined");
  }
  if (!S_ISSOCK(found.st_mode)) fail(path, "something that is no socket is there");
  const Descriptor probe = new_socket(path);
  if (::connect(probe.get(), generic(address), sizeof address) == 0 || errno == EAGAIN) {
    fail(path, "somebody listens there");
  }
  if (errno != ECONNREFUSED) fail_by_errno(path, "whether somebody listens there cannot be found out");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_by_errno(path, "cannot be replaced");
}

}  // namespace

int bound_socket(const std::string& path, mode_t mode) {
  const sockaddr_un address = address_of(path);
  const Descriptor lock = locked_directory(path);
  clear(path, address);
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
