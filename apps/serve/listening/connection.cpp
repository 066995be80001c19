#include "connection.hpp"

#include <sys/socket.h>

#include <string>

#include "epsilog/accounting/errors.hpp"
#include "response_text.hpp"
#include "socket_body.hpp"

namespace epsilog::serve {
namespace {

HeadLimits head_limits(const Limits& limits) {
  HeadLimits head;
  head.head_bytes = limits.head_bytes;
  return head;
}

constexpr std::string_view kStopping = "The server is stopping; ask again.";

}  // namespace

void Connection::serve() {
  do {
    limits_ = shared_.limits.get();
    reader_ = RequestReader(head_limits(limits_));
  } while (await_head() && answer_one());
}

bool Connection::await_head() {
  using State = RequestReader::State;
  Deadline due = deadline_after(limits_.idle);
  for (;;) {
    if (!inbox_.empty()) {
      if (reader_.state() == State::idle) due = deadline_after(limits_.head);
      inbox_.drop(reader_.read_head(inbox_.view()));
    }
    if (reader_.state() == State::malformed) {
      const Malformed& fault = reader_.fault();
      refuse(fault.status, fault.code, fault.message);
      return false;
    }
    const bool whole = reader_.state() == State::body || reader_.state() == State::complete;
    const bool begun = reader_.state() == State::head;
    if ((whole || begun) && shared_.stopping.rung()) {
      refuse(503, "stopping", kStopping);
      return false;
    }
    if (whole) return true;
    switch (inbox_.fill(due, shared_.stopping)) {
      case Came::ready:
        break;
      case Came::gone:
        return false;
      case Came::ended:
        if (begun) refuse(400, "head_broken_off", "The head of the request broke off.");
        return false;
      case Came::late:
        if (begun) refuse(408, "head_too_slow", "The head of the request did not arrive in time.");
        return false;
      case Came::stopped:
        if (begun) refuse(503, "stopping", kStopping);
        return false;
    }
  }
}

bool Connection::answer_one() {
  SocketBody body(socket_, inbox_, reader_, deadline_after(limits_.body), shared_.stopping,
                  shared_.abandoned);
  const RequestHead& head = reader_.head();
  Response response = shared_.service.answer(head, peer_, body);
  const bool last = response.close || !head.keep_alive || !body.whole() || shared_.stopping.rung();
  response.close = last;
  std::string response_text;
  try {
    response_text = response_head(response);
  } catch (const InvalidParameter&) {  // would split: what it says is not worth that
    refuse(500, "internal_error", "The answer cannot be written.");
    return false;
  }
  if (!send(response_text, sends_body(response, head.method) ? response.body : "")) return false;
  if (!body.whole()) linger();
  return !last;
}

bool Connection::send(std::string_view head, std::string_view body) {
  return send_all(socket_, head, body, deadline_after(limits_.write), shared_.abandoned) == Came::ready;
}

void Connection::refuse(int status, std::string_view code, std::string_view message) {
  Response response = shared_.service.refusal(status, code, message);
  response.close = true;
  if (send(response_head(response), response.body)) linger();
}

void Connection::linger() {
  ::shutdown(socket_, SHUT_WR);
  const Deadline due = deadline_after(limits_.linger);
  do {
    inbox_.drop(inbox_.view().size());
  } while (inbox_.fill(due, shared_.stopping) == Came::ready);
}

}  // namespace epsilog::serve
