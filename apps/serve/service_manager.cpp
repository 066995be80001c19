#include "service_manager.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace epsilog::serve {
namespace {

constexpr int kFirst = 3;  // SD_LISTEN_FDS_START
constexpr int kMost = 16;

int number(const char* text) {
  int value = -1;
  if (text == nullptr) return value;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  return error == std::errc() && stop == end ? value : -1;
}

}  // namespace

std::vector<HandedSocket> handed_sockets() {
  std::vector<HandedSocket> sockets;
  const bool ours = number(std::getenv("LISTEN_PID")) == static_cast<int>(::getpid());
  const int count = ours ? number(std::getenv("LISTEN_FDS")) : 0;
  const char* listed = std::getenv("LISTEN_FDNAMES");
  std::string names = listed == nullptr ? "" : listed;
  for (int i = 0; i < count && i < kMost; ++i) {
    const std::size_t end = names.find(':');
    sockets.push_back({kFirst + i, names.substr(0, end)});
    names = end == std::string::npos ? "" : names.substr(end + 1);
    ::fcntl(kFirst + i, F_SETFD, FD_CLOEXEC);
  }
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  return sockets;
}

void notify(std::string_view state) noexcept {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  sockaddr_un address{};
  const std::size_t size = std::strlen(path);
  if (size >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, size);
  if (path[0] == '@') address.sun_path[0] = '\0';  // of the abstract namespace
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  // Nobody is harmed if nobody listens.
  static_cast<void>(::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length));
  ::close(socket);
}

}  // namespace epsilog::serve
