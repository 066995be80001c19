#include "socket_body.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "response_text.hpp"

namespace epsilog::serve {

const char* BodyFault::what() const noexcept {
  switch (kind_) {
    case Kind::too_slow:
      return "the body did not arrive in time";
    case Kind::broken_off:
      return "the body broke off";
    case Kind::stopped:
      return "the server stopped before the body was there";
  }
  return "";
}

SocketBody::SocketBody(int socket, Inbox& inbox, RequestReader& reader, Deadline due, const Bell& stopping,
                       const Bell& abandoned)
    : socket_(socket),
      inbox_(inbox),
      reader_(reader),
      due_(due),
      stopping_(stopping),
      abandoned_(abandoned) {}

std::size_t SocketBody::read(std::span<char> into) {
  EPSILOG_INVARIANT(!into.empty());
  if (whole()) return 0;
  await();
  const std::size_t count = static_cast<std::size_t>(
      std::min({std::uint64_t{into.size()}, std::uint64_t{inbox_.view().size()}, reader_.body_left()}));
  std::copy_n(inbox_.view().begin(), count, into.begin());
  inbox_.drop(count);
  reader_.consume_body(count);
  return count;
}

bool SocketBody::wait_for_first_byte() {
  if (begun_) return true;
  if (whole()) return false;
  await();
  return true;
}

void SocketBody::await() {
  if (fault_) throw BodyFault(*fault_);
  if (inbox_.empty()) {
    send_continue();
    // Who stops lets a body come in that has begun: what it is for may have to be charged.
    switch (inbox_.fill(due_, begun_ ? abandoned_ : stopping_)) {
      case IoOutcome::ready:
        break;
      case IoOutcome::late:
        fail(BodyFault::Kind::too_slow);
      case IoOutcome::stopped:
        fail(BodyFault::Kind::stopped);
      case IoOutcome::ended:
      case IoOutcome::gone:
        fail(BodyFault::Kind::broken_off);
    }
  }
  begun_ = true;
}

void SocketBody::send_continue() const {
  if (begun_ || reader_.head().header("expect") == nullptr) return;
  // If it cannot be sent, nothing will come, and that is told.
  [[maybe_unused]] const IoOutcome sent = send_all(socket_, kContinue, "", due_, stopping_);
}

void SocketBody::fail(BodyFault::Kind kind) {
  fault_ = kind;
  throw BodyFault(kind);
}

}  // namespace epsilog::serve
