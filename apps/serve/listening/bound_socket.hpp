// A Unix socket with a name in the file system.
//
// Beside a socket PATH lies PATH.lock, an empty file with mode 0600. It is locked while what is at PATH is
// looked at, replaced and listened on: a socket that is bound but not listened on yet looks like one that was
// left behind. The lock is not the folder's, which everybody may lock who may read the folder.
#pragma once

#include <sys/types.h>

#include <string>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {

/// A socket that cannot be listened on. The message names its path.
class SocketError final : public Error {
 public:
  SocketError(const std::string& path, const std::string& what, bool may_pass)
      : Error("socket " + path + ": " + what), may_pass_(may_pass) {}
  /// Whether it may end by itself: another program listens there, or the system has no room now.
  [[nodiscard]] bool may_pass() const noexcept { return may_pass_; }

 private:
  bool may_pass_;
};

/// Returns the file that is locked while the socket of that path is bound.
[[nodiscard]] std::string lock_of_socket(const std::string& path);

/// Binds a stream socket to `path` and listens.
/// Ensures  The name has `mode`, whatever the umask is, and never had more. The descriptor is CLOEXEC. A
///          socket of this user on which no program listens is replaced. Of two processes that try at once
///          one succeeds.
/// Throws   SocketError: another program listens there; what is there is no socket (a symbolic link is none),
///          or belongs to another user; the path is longer than the 107 bytes of a socket's name; the system
///          refuses.
[[nodiscard]] int bound_socket(const std::string& path, mode_t mode);

/// Looks whether bound_socket() would succeed now, and changes nothing.
/// Throws  as bound_socket().
void examine_socket(const std::string& path);

}  // namespace epsilog::serve
