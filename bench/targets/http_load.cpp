#include "http_load.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "place.hpp"

namespace epsilog::bench {

HttpClient::HttpClient(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) throw std::runtime_error("the path of a socket is too long");
  std::memcpy(address.sun_path, socket.c_str(), socket.size());
  descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  ::close(descriptor_);
  throw std::runtime_error("nobody listens at " + socket);
}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      arrived_(std::move(other.arrived_)),
      answer_(std::move(other.answer_)) {}

HttpClient::~HttpClient() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void HttpClient::send(const std::string& request) {
  if (::send(descriptor_, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    throw std::runtime_error("a request could not be sent");
  }
}

bool HttpClient::heard(bool wait) {
  constexpr std::string_view kLength = "ontent-Length: ";
  for (;;) {
    const std::size_t end = arrived_.find("\r\n\r\n");
    if (end != std::string::npos) {
      const std::size_t at = arrived_.find(kLength);
      std::size_t length = 0;
      if (at < end) std::from_chars(&arrived_[at + kLength.size()], &arrived_[end], length);
      const std::size_t size = end + 4 + length;
      if (arrived_.size() >= size) {
        answer_ = arrived_.substr(0, size);
        arrived_.erase(0, size);
        if (answer_.compare(0, 10, "HTTP/1.1 2") != 0) throw std::runtime_error("refused: " + answer_);
        return true;
      }
    }
    std::array<char, 16'384> piece;
    const ssize_t got = ::recv(descriptor_, piece.data(), piece.size(), wait ? 0 : MSG_DONTWAIT);
    if (got < 0 && !wait && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (got <= 0) throw std::runtime_error("a connection ended");
    arrived_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

double rate_of_clients(const std::string& socket, std::size_t clients, std::size_t count,
                       const std::function<std::string(std::size_t)>& request) {
  std::vector<HttpClient> all;
  for (std::size_t i = 0; i < clients; ++i) all.emplace_back(socket);
  const int ready = ::epoll_create1(EPOLL_CLOEXEC);
  for (std::size_t i = 0; i < clients; ++i) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    ::epoll_ctl(ready, EPOLL_CTL_ADD, all[i].descriptor(), &event);
  }
  std::size_t asked = 0;
  std::size_t answered = 0;
  const auto begin = Clock::now();
  for (HttpClient& client : all) client.send(request(asked++));
  while (answered < count) {
    std::array<epoll_event, 64> events{};
    const int some = ::epoll_wait(ready, events.data(), events.size(), 30'000);
    if (some <= 0) throw std::runtime_error("no answer in 30 s");
    for (int i = 0; i < some; ++i) {
      HttpClient& client = all[events[static_cast<std::size_t>(i)].data.u64];
      if (!client.heard(false)) continue;
      ++answered;
      if (asked < count) client.send(request(asked++));
    }
  }
  const double rate = static_cast<double>(count) * 1e6 / microseconds(Clock::now() - begin);
  ::close(ready);
  return rate;
}

}  // namespace epsilog::bench
