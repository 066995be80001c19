#include "connection.hpp"

#include <sys/socket.h>

#include <string>

#include "epsilog/accounting/errors.hpp"
#include "response_text.hpp"
#include "socket_body.hpp"

namespace epsilog::serve {
namespace {

HeadLimits head_limits(const ConnectionLimits& limits) {
  HeadLimits head;
  head.head_bytes = limits.head_bytes;
  return head;
}

constexpr std::string_view kStopping = "The server is stopping; ask again.";

}  // namespace

void Connection::serve() {
  while (await_head() && answer_one()) reader_.reset();
}

bool Connection::await_head() {
  using State = RequestReader::State;
  Deadline due = deadline_after(shared_.limits.get().idle);
  for (;;) {
    if (!inbox_.empty()) {
      if (!reader_) {
        limits_ = shared_.limits.get();
        reader_.emplace(head_limits(limits_));
        due = deadline_after(limits_.head);
      }
      inbox_.drop(reader_->read_head(inbox_.view()));
    }
    const State state = reader_ ? reader_->state() : State::idle;
    if (state == State::malformed) {
      const MalformedRequest& fault = reader_->fault();
      refuse(fault.status, fault.code, fault.message);
      return false;
    }
    if (state != State::idle && shared_.stopping.rung()) {
      refuse(503, "stopping", kStopping);
      return false;
    }
    if (state == State::body || state == State::complete) return true;
    const IoOutcome came = inbox_.fill(due, shared_.stopping);
    if (came == IoOutcome::ready) continue;
    if (state == State::head) refuse_incomplete_head(came);
    return false;
  }
}

/// What came instead of the rest of a head.
void Connection::refuse_incomplete_head(IoOutcome came) {
  switch (came) {
    case IoOutcome::ended:
      return refuse(400, "head_broken_off", "The head of the request broke off.");
    case IoOutcome::late:
      return refuse(408, "head_too_slow", "The head of the request did not arrive in time.");
    case IoOutcome::stopped:
      return refuse(503, "stopping", kStopping);
    case IoOutcome::gone:
    case IoOutcome::ready:
      return;
  }
}

bool Connection::answer_one() {
  SocketBody body(socket_, inbox_, *reader_, deadline_after(limits_.body), shared_.stopping,
                  shared_.abandoned);
  const RequestHead& head = reader_->head();
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
  if (response.pause.count() > 0) pause(socket_, response.pause, shared_.stopping);
  if (!send(response_text, sends_body(response, head.method) ? response.body : "")) return false;
  if (!body.whole()) linger();
  return !last;
}

bool Connection::send(std::string_view head, std::string_view body) {
  return send_all(socket_, head, body, deadline_after(limits_.write), shared_.abandoned) == IoOutcome::ready;
}

void Connection::refuse(int status, std::string_view code, std::string_view message) {
  Response response = shared_.service.problem_response(status, code, message);
  response.close = true;
  if (send(response_head(response), response.body)) linger();
}

void Connection::linger() {
  ::shutdown(socket_, SHUT_WR);
  const Deadline due = deadline_after(limits_.linger);
  do {
    inbox_.drop(inbox_.view().size());
  } while (inbox_.fill(due, shared_.stopping) == IoOutcome::ready);
}

}  // namespace epsilog::serve
