// The body of a request that comes by a socket.
#pragma once

#include <optional>

#include "descriptor.hpp"
#include "inbox.hpp"
#include "request_reader.hpp"
#include "service.hpp"

namespace epsilog::serve {

class SocketBody final : public Body {
 public:
  /// Who waits until its body is asked for (Expect: 100-continue) is asked when it is first read.
  /// Requires  a reader whose head is whole.
  SocketBody(int socket, Inbox& inbox, RequestReader& reader, Deadline due, const Bell& stopping,
             const Bell& abandoned);

  std::size_t read(std::span<char> into) override;
  bool wait_for_first_byte() override;
  [[nodiscard]] bool gone() const override { return hung_up(socket_); }
  [[nodiscard]] bool stopping() const override { return stopping_.rung(); }
  void extend(std::chrono::steady_clock::duration time) override { due_ += time; }

  /// Whether all of it was read, so that what follows is the next request.
  [[nodiscard]] bool whole() const { return reader_.state() == RequestReader::State::complete; }

 private:
  /// Ensures  something of it is in the inbox.
  void await();
  void send_continue() const;
  [[noreturn]] void fail(BodyFault::Kind kind);

  int socket_;
  Inbox& inbox_;
  RequestReader& reader_;
  Deadline due_;
  const Bell& stopping_;
  const Bell& abandoned_;
  bool begun_ = false;
  std::optional<BodyFault::Kind> fault_;
};

}  // namespace epsilog::serve
