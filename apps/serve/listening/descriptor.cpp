#include "descriptor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {
namespace {

/// Milliseconds for poll(), rounded up, so that it does not end before the deadline.
int milliseconds_until(Deadline due) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
  constexpr std::chrono::milliseconds kLongest{60'000};  // asked again then
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds{0}, kLongest).count());
}

/// Waits until the socket may be read or written; `ready` also if it is broken, which the next call of it
/// shows.
IoOutcome wait_for(int socket, short what, Deadline due, const Bell& stop) {
  for (;;) {
    std::array<pollfd, 2> waited = {{{socket, what, 0}, {stop.fd(), POLLIN, 0}}};
    const int count = ::poll(waited.data(), waited.size(), milliseconds_until(due));
    if (count < 0 && errno != EINTR) return IoOutcome::gone;
    if (count > 0 && waited[0].revents != 0) return IoOutcome::ready;
    if (count > 0) return IoOutcome::stopped;
    if (std::chrono::steady_clock::now() >= due) return IoOutcome::late;
  }
}

bool would_wait() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}  // NOLINT(misc-redundant-expression)

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::release() noexcept {
  return std::exchange(fd_, -1);
}

void Descriptor::close() noexcept {
  if (valid()) ::close(release());
}

Bell::Bell() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_.valid()) throw Error("no descriptor is left to serve with");
}

void Bell::ring() noexcept {
  rung_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written =
      ::write(event_.get(), &one, sizeof one);  // fails only if it is rung already
}

void Bell::silence() noexcept {
  rung_ = false;
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto read =
      ::read(event_.get(), &rings, sizeof rings);  // fails only if it is silent already
}

IoOutcome receive(int socket, std::span<char> into, std::size_t& received, Deadline due, const Bell& stop) {
  received = 0;
  for (;;) {
    if (std::chrono::steady_clock::now() >= due) return IoOutcome::late;
    const ssize_t count = ::recv(socket, into.data(), into.size(), MSG_DONTWAIT);
    if (count > 0) {
      received = static_cast<std::size_t>(count);
      return IoOutcome::ready;
    }
    if (count == 0) return IoOutcome::ended;
    if (errno == EINTR) continue;
    if (!would_wait()) return IoOutcome::gone;
    const IoOutcome came = wait_for(socket, POLLIN, due, stop);
    if (came != IoOutcome::ready) return came;
  }
}

IoOutcome send_all(int socket, std::string_view first, std::string_view second, Deadline due,
                   const Bell& stop) {
  while (!first.empty() || !second.empty()) {
    if (std::chrono::steady_clock::now() >= due) return IoOutcome::late;
    // sendmsg() writes to neither.
    std::array<iovec, 2> parts = {
        {{const_cast<char*>(first.data()), first.size()}, {const_cast<char*>(second.data()), second.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t count = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      const std::size_t of_first = std::min(static_cast<std::size_t>(count), first.size());
      first.remove_prefix(of_first);
      second.remove_prefix(static_cast<std::size_t>(count) - of_first);
      continue;
    }
    if (errno == EINTR) continue;
    if (!would_wait()) return IoOutcome::gone;
    const IoOutcome came = wait_for(socket, POLLOUT, due, stop);
    if (came != IoOutcome::ready) return came;
  }
  return IoOutcome::ready;
}

bool hung_up(int socket) noexcept {
  pollfd looked{socket, 0, 0};
  return ::poll(&looked, 1, 0) > 0 && (looked.revents & (POLLHUP | POLLERR)) != 0;
}

void pause(int socket, std::chrono::milliseconds time, const Bell& stop) {
  static_cast<void>(wait_for(socket, 0, deadline_after(time), stop));
}

void send_at_once(int socket, std::string_view text) noexcept {
  [[maybe_unused]] const auto sent = ::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace epsilog::serve
