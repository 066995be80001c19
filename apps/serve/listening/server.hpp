// Serves Unix stream sockets: takes connections in, counts them, and gives each a thread of its own.
//
// A thread for each connection, which waits: an engine lets those who wait share one COMMIT, so nothing is
// handed from thread to thread. What slow or idle clients cost is a thread that sleeps, up to a number of
// them for each user and in all; a curator has a socket with places of its own.
//
// No signal is handled and none is raised: threads have the signal mask of whoever calls run().
#pragma once

#include <chrono>
#include <memory>

#include "bound_socket.hpp"
#include "connection_limits.hpp"
#include "service.hpp"

namespace epsilog::serve {

class Server final {
 public:
  /// Requires  a service that outlives it.
  /// Throws    Error if there is no descriptor left.
  Server(Service& service, const ConnectionLimits& limits);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Breaks off what is not finished, but waits for answers that the service is working on.
  /// Requires  run() is not running.
  ~Server();

  /// Takes the descriptor of a socket that listens already; it is set to be CLOEXEC and not to block.
  /// Requires  run() was not called yet.
  /// Throws    InvalidParameter unless it is a Unix stream socket that listens; then it is still the
  /// caller's.
  void listen(int fd, bool curator);

  /// Accepts connections until `stop_fd` is readable; then closes the sockets it listens on and connections
  /// on which nothing was sent since the last answer, and returns. Requests that are being answered go on;
  /// the next one on their connection is refused (503 stopping). A connection for which there is no place,
  /// thread or descriptor is answered by a refusal (503 too_many_connections), if its socket takes it at
  /// once, and ends. Sockets take turns, so no crowd on one delays another.
  /// Requires  called once.
  /// Throws    Error if a listening socket is broken.
  void run(int stop_fd);

  /// After run(): waits until every connection has ended. When time is up, what waits for its other end is
  /// broken off: bodies (BodyFault stopped) and answers that are not taken. Returns  whether all had ended in
  /// time.
  bool drain(std::chrono::milliseconds at_most);

  /// From the next connection, or request of a connection, on. Those that are there stay.
  /// Thread-safety  at any time, by any thread.
  void change(const ConnectionLimits& limits);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace epsilog::serve
