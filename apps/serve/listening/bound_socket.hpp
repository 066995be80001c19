// A Unix socket with a name in the file system.
#pragma once

#include <sys/types.h>

#include <string>

namespace epsilog::serve {

/// Binds a stream socket to `path` and listens.
/// Ensures  the name has `mode`, whatever the umask is, and never had more; the descriptor is CLOEXEC. A
/// socket that
///          was there and on which nobody listens is replaced; of two processes that try at once one
///          succeeds.
/// Throws   Error, naming the path: somebody listens there; what is there is no socket (a symbolic link is
/// none); the
///          path is longer than the 107 bytes of a socket's name; the system refuses.
[[nodiscard]] int bound_socket(const std::string& path, mode_t mode);

}  // namespace epsilog::serve
