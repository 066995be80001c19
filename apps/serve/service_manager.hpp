// What the service manager of the system and a daemon say to each other: sockets it opened, and how the
// daemon is.
//
// Source: sd_listen_fds(3) and sd_notify(3), whose protocol is stable and documented to be spoken without the
// library. Thread-safety: confine, before threads are there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epsilog::serve {

/// A socket that was open when the program began.
struct HandedSocket {
  int descriptor = -1;
  std::string name;  ///< FileDescriptorName= of the unit
};

/// Those of LISTEN_FDS, if they are for this process; each is closed in programs that it runs. The variables
/// are taken out of the environment.
[[nodiscard]] std::vector<HandedSocket> handed_sockets();

/// Tells the service manager, if there is one: "READY=1", "STOPPING=1", "RELOADING=1\nMONOTONIC_USEC=…",
/// "STATUS=…".
void notify(std::string_view state) noexcept;

}  // namespace epsilog::serve
