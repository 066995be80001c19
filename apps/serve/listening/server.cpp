#include "server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "connection_threads.hpp"
#include "descriptor.hpp"
#include "epsilog/accounting/errors.hpp"
#include "response_text.hpp"

namespace epsilog::serve {

/// A descriptor kept for the moment when there is no other, so that whoever waits can be told, and goes.
class ReserveDescriptor final {
 public:
  ReserveDescriptor() { renew(); }
  /// Returns  whether there was one.
  bool use() {
    const bool had = descriptor_.valid();
    descriptor_.close();
    return had;
  }
  /// A connection that was refused is over, but its descriptor is kept: nobody else takes it meanwhile.
  void keep(Descriptor refused) {
    ::shutdown(refused.get(), SHUT_RDWR);
    descriptor_ = std::move(refused);
  }
  void renew() {
    if (!descriptor_.valid()) descriptor_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }

 private:
  Descriptor descriptor_;
};
namespace {

int option(int socket, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

std::optional<std::uint32_t> uid_of_peer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer)
    return std::nullopt;
  return peer.uid;
}

/// So many connections are accepted of one socket before the others have their turn.
constexpr int kAcceptsMax = 64;
constexpr int kBreathMilliseconds = 20;  // while the system has no descriptor or memory for a connection

}  // namespace

class Server::Implementation final {
 public:
  Implementation(Service& service, const ConnectionLimits& limits)
      : service_(service),
        limits_(limits),
        shared_{service, limits_, stopping_, abandoned_},
        threads_(shared_) {}
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    stopping_.ring();
    abandoned_.ring();
  }

  void listen(int fd, bool curator);
  void run(int stop_fd);
  bool drain(std::chrono::milliseconds at_most);
  void change(const ConnectionLimits& limits) { limits_.set(limits); }

 private:
  struct Listener {
    Descriptor socket;
    bool curator = false;
  };

  enum class AcceptOutcome : std::uint8_t {
    one,
    none,      ///< nobody waits
    short_of,  ///< the system is short of something that only time brings
  };

  /// Takes in who waits, some at a time: of a crowd each costs as little as possible, so that the next in
  /// line waits as short as possible. Returns  false if the system is short of something that only time
  /// brings.
  bool accept_some(const Listener& listener);
  AcceptOutcome accept_one(const Listener& listener);
  AcceptOutcome accept_with_reserve(const Listener& listener);
  void take_in(Descriptor socket, bool curator);
  void refuse(int socket);

  Service& service_;
  CurrentLimits limits_;
  Bell stopping_;
  Bell abandoned_;
  ConnectionContext shared_;
  std::vector<Listener> listeners_;
  ReserveDescriptor reserve_;
  ConnectionThreads threads_;  // last: its threads use what is above
};

void Server::Implementation::listen(int fd, bool curator) {
  if (option(fd, SO_DOMAIN) != AF_UNIX || option(fd, SO_TYPE) != SOCK_STREAM ||
      option(fd, SO_ACCEPTCONN) != 1) {
    throw InvalidParameter("descriptor " + std::to_string(fd) + " is no Unix stream socket that listens");
  }
  const int status = ::fcntl(fd, F_GETFL);
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || status < 0 || ::fcntl(fd, F_SETFL, status | O_NONBLOCK) != 0) {
    throw InvalidParameter("descriptor " + std::to_string(fd) + " cannot be set not to block");
  }
  listeners_.reserve(listeners_.size() + 1);
  listeners_.push_back({Descriptor(fd), curator});
}

void Server::Implementation::run(int stop_fd) {
  std::vector<pollfd> waited = {{stop_fd, POLLIN, 0}, {threads_.ended().fd(), POLLIN, 0}};
  const std::size_t first = waited.size();
  for (const Listener& listener : listeners_) waited.push_back({listener.socket.get(), POLLIN, 0});
  bool short_of = false;
  for (;;) {
    // Without descriptors those who wait cannot be taken in, and poll() would return at once for ever.
    const nfds_t count = short_of ? first : waited.size();
    const int ready = ::poll(waited.data(), count, short_of ? kBreathMilliseconds : -1);
    if (ready < 0 && errno != EINTR && errno != ENOMEM) throw Error("waiting for connections failed");
    short_of = ready < 0 && errno == ENOMEM;
    if (ready < 0) continue;
    if (waited[0].revents != 0) break;
    try {
      reserve_.renew();
      if (waited[1].revents != 0) threads_.reap();
      for (std::size_t i = first; i < count; ++i) {
        if ((waited[i].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
          throw Error("a listening socket is broken");
        if (waited[i].revents != 0 && !accept_some(listeners_[i - first])) short_of = true;
      }
    } catch (const std::bad_alloc&) {
      short_of = true;
    }
  }
  listeners_.clear();
  stopping_.ring();
}

bool Server::Implementation::accept_some(const Listener& listener) {
  for (int i = 0; i < kAcceptsMax; ++i) {
    const AcceptOutcome accepted = accept_one(listener);
    if (accepted != AcceptOutcome::one) return accepted == AcceptOutcome::none;
  }
  return true;
}

Server::Implementation::AcceptOutcome Server::Implementation::accept_one(const Listener& listener) {
  Descriptor socket(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.valid()) {
    take_in(std::move(socket), listener.curator);
    return AcceptOutcome::one;
  }
  switch (errno) {
    case EMFILE:
    case ENFILE:
      return accept_with_reserve(listener);
    case ENOBUFS:
    case ENOMEM:
      return AcceptOutcome::short_of;
    default:
      return AcceptOutcome::none;  // who wanted in is gone already, or another process was quicker
  }
}

Server::Implementation::AcceptOutcome Server::Implementation::accept_with_reserve(const Listener& listener) {
  if (!reserve_.use()) return AcceptOutcome::short_of;
  Descriptor socket(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.valid()) return AcceptOutcome::short_of;  // another thread has taken it
  refuse(socket.get());
  reserve_.keep(std::move(socket));
  return AcceptOutcome::none;  // one at a time
}

void Server::Implementation::take_in(Descriptor socket, bool curator) {
  const std::optional<std::uint32_t> uid = uid_of_peer(socket.get());
  if (!uid) return;
  if (threads_.start(socket, {*uid, curator}) == SlotOutcome::refused) refuse(socket.get());
}

void Server::Implementation::refuse(int socket) {
  Response response = service_.problem_response(503, "too_many_connections",
                                                "There is no place for this connection; ask again.");
  response.close = true;
  send_at_once(socket, response_head(response) + response.body);
}

bool Server::Implementation::drain(std::chrono::milliseconds at_most) {
  const bool all = threads_.wait_for_all(deadline_after(at_most));
  abandoned_.ring();
  return all;
}

Server::Server(Service& service, const ConnectionLimits& limits)
    : implementation_(std::make_unique<Implementation>(service, limits)) {}
Server::~Server() = default;
void Server::listen(int fd, bool curator) {
  implementation_->listen(fd, curator);
}
void Server::run(int stop_fd) {
  implementation_->run(stop_fd);
}
bool Server::drain(std::chrono::milliseconds at_most) {
  return implementation_->drain(at_most);
}
void Server::change(const ConnectionLimits& limits) {
  implementation_->change(limits);
}

}  // namespace epsilog::serve
