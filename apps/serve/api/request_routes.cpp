// /v1/requests/{id}: how a request stands, and what is done about it.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "body_object.hpp"
#include "call.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/request_state.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "problem.hpp"
#include "route.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using engine::Answer;
using engine::RequestState;

bool waits(const Answer& answer) {
  return answer.recorded.state == RequestState::pending || answer.recorded.state == RequestState::reserved;
}

Response read_request(Call& call) {
  call.wait_for_slot();
  const std::int64_t seconds = call.number("wait", kLongPollSecondsMax, 0);
  Answer answer = call.visible_answer();
  if (seconds > 0 && waits(answer)) {
    const std::string* seen_tag = call.head.header("if-none-match");
    const std::string tag = seen_tag == nullptr ? '"' + answer.recorded.tag + '"' : *seen_tag;
    call.poll(
        seconds, [&] { return PollCondition{.asker = answer.asked.asker}; },
        [&] {
          answer = call.visible_answer();
          return !waits(answer) || '"' + answer.recorded.tag + '"' != tag;
        });
  }
  return request_state_response(call, std::move(answer));
}

/// Requires  the request is there for the caller; whether they may act on it the engine says.
template <class Act>
Response act(Call& call, const Act& action) {
  Answer answer = action();
  call.context.view.notify_recorded();
  return request_state_response(call, std::move(answer));
}

/// The body of a request that is there for the caller, and is read for what it says only then.
std::string body_for_visible_request(Call& call) {
  std::string text = call.read_body(kBodyBytesMax);
  static_cast<void>(call.visible_answer());
  return text;
}

Response cancel(Call& call) {
  expect_empty(body_for_visible_request(call));
  return act(call, [&] { return call.engine().cancel(call.id, call.caller.actor); });
}

Response token(Call& call) {
  expect_empty(body_for_visible_request(call));
  return act(call, [&] { return call.engine().issue_token(call.id, call.caller.actor); });
}

/// The tag of what was seen.
/// Throws  HttpProblem (428) without it.
std::string seen_tag(const Call& call) {
  const std::string* tag = call.head.header("if-match");
  if (tag == nullptr) {
    throw HttpProblem(428, "if_match_required",
                      "If-Match: the ETag of the request, as it was read, is required");
  }
  if (tag->size() < 3 || tag->front() != '"' || tag->back() != '"') {
    throw HttpProblem(400, "invalid_etag", "If-Match: one ETag in quotes is expected");
  }
  return tag->substr(1, tag->size() - 2);
}

Response approve(Call& call) {
  const std::string body = body_for_visible_request(call);
  const std::string seen = seen_tag(call);
  BodyObject object(body);
  const std::string why = object.string("why").value_or("");
  object.expect_no_more();
  return act(call, [&] { return call.engine().approve(call.id, call.caller.actor, why, seen); });
}

Response reject(Call& call) {
  BodyObject body(body_for_visible_request(call));
  const std::string why = body.required_string("why");
  body.expect_no_more();
  return act(call, [&] { return call.engine().reject(call.id, call.caller.actor, why); });
}

/// What is posted is a value whatever it is: {"value": STRING|NUMBER} is its text, anything else is
/// undefined.
std::string value_of(std::string_view text) {
  constexpr std::string_view kUndefined = "undefined";
  try {
    const BodyValue body = parse_body(text);
    using Kind = BodyValue::Kind;
    const bool one = body.kind == Kind::object && body.names.size() == 1 && body.names[0] == "value";
    if (one && (body.items[0].kind == Kind::string || body.items[0].kind == Kind::number))
      return body.items[0].text;
  } catch (const BadBody&) {  // says nothing: what is wrong with it may follow from the data
  }
  return std::string(kUndefined);
}

/// All of the body, whatever becomes of it; "" if it is no value by its size or did not arrive whole. Of one
/// that is longer than a value may be nothing is kept.
std::string receive_value(Call& call) {
  constexpr std::size_t kRoom = 64;  // for the member's name and its quotes
  const std::uint64_t size = *call.head.content_length;
  try {
    if (size <= engine::kSuppliedSizeMax + kRoom) {
      std::string text = call.receive_body(static_cast<std::size_t>(size), false);
      return text.size() < size ? "" : text;
    }
    std::array<char, 4096> unread{};
    while (call.body.read(unread) > 0) {
    }
  } catch (const BodyFault&) {  // too slow, or broken off: undefined, as everything else that is no value
  }
  return "";
}

Response commit_value(Call& call) {
  if (call.head.content_length.value_or(0) == 0) {
    throw HttpProblem(400, "value_required",
                      "the body {\"value\": …} is required: the value is computed elsewhere");
  }
  bool begun = false;
  try {
    begun = call.body.wait_for_first_byte();
  } catch (const BodyFault& fault) {
    if (fault.kind() == BodyFault::Kind::stopped) throw admission_problem(AdmissionDenial::stopping);
  }
  if (!begun) throw HttpProblem(408, "body_incomplete", "no byte of the body arrived; nothing was asked");
  // From here on nothing is refused any more: what the value is, and so how long it is and how fast it comes,
  // may follow from the data. So a place is promised now, and taken when the value is there.
  call.reidentify_if_stale();
  require_admitted(call.entry.promise_slot());
  const std::string value = value_of(receive_value(call));
  call.entry.wait_for_promised_slot();
  mechanisms::SystemBits bits;
  Answer answer = call.engine().commit(call.id, call.caller.actor, value, bits, {});
  call.context.view.notify_recorded();
  return decision_response(call, std::move(answer), 201);
}

Response commit(Call& call) {
  const Answer answer = call.visible_answer();
  if (!may_commit(call.caller, answer))
    throw HttpProblem(403, "not_permitted", "you may not commit this request");
  const bool value = answer.asked.statistic.starts_with("value:");
  if (value && answer.recorded.state == RequestState::reserved) {
    if (answer.asked.reservation == engine::ReservationKind::reserved_against_token &&
        answer.recorded.token.empty()) {
      throw HttpProblem(409, "token_required",
                        "the data are handed out against a token: have it issued first");
    }
    return commit_value(call);
  }
  if (!value) expect_empty(call.read_body(kBodyBytesMax));
  call.wait_for_slot();
  if (!value && answer.recorded.state == RequestState::reserved) {
    mechanisms::SystemBits bits;
    Answer committed = call.engine().commit(call.id, call.caller.actor, std::nullopt, bits, {});
    call.context.view.notify_recorded();
    return decision_response(call, std::move(committed), 201);
  }
  if (answer.recorded.state == RequestState::pending) {
    throw HttpProblem(409, "not_reserved", "the request waits for approvals: there is nothing to commit yet");
  }
  return decision_response(call, answer, 200);
}

}  // namespace

std::vector<Route> request_routes() {
  return {{"GET", "/v1/requests/{id}", RouteAccess::known, false, {"wait"}, &read_request},
          {"POST", "/v1/requests/{id}/commit", RouteAccess::asker, true, {}, &commit},
          {"POST", "/v1/requests/{id}/cancel", RouteAccess::asker, true, {}, &cancel},
          {"POST", "/v1/requests/{id}/token", RouteAccess::asker, true, {}, &token},
          {"POST", "/v1/requests/{id}/approve", RouteAccess::asker, true, {}, &approve},
          {"POST", "/v1/requests/{id}/reject", RouteAccess::asker, true, {}, &reject}};
}

}  // namespace epsilog::serve
