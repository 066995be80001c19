#include "call.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

#include "answer_json.hpp"
#include "answer_output.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "problem.hpp"
#include "route.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using engine::Answer;
using engine::RequestState;
using wire::AnswerKind;
using wire::Json;

constexpr std::string_view kJson = "application/json";

Answer disclosable_answer(const Call& call, Answer answer) {
  auto seen_part = answer_as_seen(call.caller, std::move(answer));
  if (!seen_part) throw request_not_found();
  if (command::is_withheld(*seen_part)) {
    const char* why = seen_part->recorded.replica_behind ? "replica_behind" : "not_durable";
    throw HttpProblem(503, why,
                      "decision " + seen_part->recorded.decision_id +
                          " is on record and told once it is durable everywhere: ask again")
        .with_retry_after(1);
  }
  return std::move(*seen_part);
}

std::string etag_of(const Answer& answer) {
  return answer.recorded.tag.empty() ? "" : '"' + answer.recorded.tag + '"';
}

Response tagged(Response response, const std::string& etag) {
  if (!etag.empty()) response.headers.push_back({"etag", etag});
  return response;
}

/// A refusal is a problem too, whose type is the section on its first reason.
Json refusal(const Answer& answer, int status) {
  const std::string code = answer.recorded.reasons.empty()
                               ? "refused"
                               : std::string(engine::name(answer.recorded.reasons.front().code));
  Json object{{"type", "/docs/refusals#" + code}, {"title", "refused"}, {"status", status}, {"code", code}};
  object.update(wire::answer_object(answer, wire::AnswerKind::release));
  return object;
}

bool conflicts(const Answer& answer) {
  return !answer.recorded.reasons.empty() &&
         answer.recorded.reasons.front().code == engine::RefusalCode::key_conflict;
}

/// How a decision is told: the status of the answer, its object, and its ETag, "" without.
struct DecisionReply {
  int status = 200;
  Json object;
  std::string etag = {};
};

/// Throws  NotFound; HttpProblem (503).
DecisionReply decision_reply(const Call& call, Answer answer, int fresh) {
  answer = disclosable_answer(call, std::move(answer));
  const auto with = [&](int status) {
    return DecisionReply{status, wire::answer_object(answer, wire::AnswerKind::release), etag_of(answer)};
  };
  switch (answer.recorded.state) {
    case RequestState::refused: {
      const int status = conflicts(answer) ? 409 : 403;
      return {status, refusal(answer, status)};
    }
    case RequestState::pending:
      return with(202);
    case RequestState::reserved:
      if (answer.asked.reservation == engine::ReservationKind::none) return with(202);
      break;
    default:
      break;
  }
  return with(answer.recorded.replayed ? 200 : fresh);
}

}  // namespace

void Call::wait_for_slot() {
  if (acquire_compute_lock) acquire_compute_lock();
  require_admitted(entry.wait_for_slot());
  reidentify_if_stale();
}

void Call::reidentify_if_stale() {
  /// A shorter wait is as long as what others recorded goes unnoticed anyway.
  constexpr std::chrono::milliseconds kNoticed{100};
  if (std::chrono::steady_clock::now() - identified_at > kNoticed) reidentify_caller();
}

void Call::reidentify_caller() {
  if (route.access == RouteAccess::everybody) return;
  const std::string was = caller.actor.name;
  const bool kept = caller.is_keeper();
  caller = identify_caller(head, peer, context.view.current(context.refusals), context.own_uid);
  identified_at = std::chrono::steady_clock::now();
  if (caller.actor.name != was || caller.is_keeper() != kept) {
    throw HttpProblem(401, "unknown_caller", "the credential belongs to another principal by now: ask again");
  }
  require_access(route, caller);
}

void Call::poll(std::int64_t seconds, const std::function<PollCondition()>& awaited,
                const std::function<bool()>& found) {
  require_admitted(entry.become_long_poll());
  if (release_compute_lock) release_compute_lock();
  // When the daemon ends, a poll tells the state as it is: its looks are short, and are not stopped.
  const auto goes_on = [] { return false; };
  const accounting::StopScope looks(goes_on);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  PollWatch::WaitingPoll waiting(context.view.polls(), peer.socket);
  do {
    reidentify_caller();
    waiting.await(awaited());
  } while (!found() && waiting.wait(until));
  reidentify_caller();
}

std::size_t Call::refusals_left() const {
  if (caller.is_keeper()) return std::numeric_limits<std::size_t>::max();
  const std::size_t had =
      context.refusals.last_hour(caller.actor.name, ledger::wall_clock_ms(), refusals_of(SIZE_MAX));
  return refusals_per_hour - std::min(refusals_per_hour, had);
}

std::size_t Call::refusals_of(std::size_t rows) const {
  constexpr std::size_t kPartOfLimit = 10;
  return std::clamp<std::size_t>(rows, 1, std::max<std::size_t>(refusals_per_hour / kPartOfLimit, 1));
}

void Call::require_refusals_left(std::size_t new_questions) const {
  const std::size_t left = refusals_left();
  if (new_questions <= left) return;
  throw HttpProblem(429, "too_many_refusals",
                    left == 0
                        ? "you were refused as often in the last hour as a principal may be: new questions "
                          "wait, and what you asked before can be read, sent again and acted upon"
                        : "were each new one of them refused, you would be so more often than a principal "
                          "may be in an hour: " +
                              std::to_string(left) + " may be asked now")
      .with_retry_after(60);
}

Answer Call::visible_answer() {
  std::optional<Answer> answer;
  try {
    answer = engine().show(id, {});
  } catch (const NotFound&) {
    throw request_not_found();
  }
  dataset = answer->asked.dataset;
  if (!may_see(caller, *answer)) throw request_not_found();
  return std::move(*answer);
}

NotFound request_not_found() {
  return NotFound("no request or decision of that id is yours");
}

std::string Call::receive_body(std::size_t size, bool refusable) {
  constexpr std::size_t kFirst = 4096;
  std::string text;
  std::size_t got = 0;
  while (got < size && body.wait_for_first_byte()) {
    if (got == text.size()) {
      const std::size_t grown = std::min(size, std::max(kFirst, 2 * got));
      const auto since = std::chrono::steady_clock::now();
      if (refusable) {
        require_admitted(entry.try_take_memory(grown - got));
      } else {
        entry.take_memory(grown - got);
      }
      body.extend(std::chrono::steady_clock::now() - since);
      text.resize(grown);
    }
    const std::size_t piece = body.read(std::span(text).subspan(got));
    if (piece == 0) break;
    got += piece;
  }
  text.resize(got);
  return text;
}

std::string Call::read_body(std::size_t most) {
  const std::uint64_t size = head.content_length.value_or(0);
  if (size > most) throw body_too_large(most);
  std::string text;
  try {
    text = receive_body(static_cast<std::size_t>(size), true);
  } catch (const BodyFault& fault) {
    if (fault.kind() == BodyFault::Kind::stopped) throw admission_problem(AdmissionDenial::stopping);
    throw HttpProblem(408, "body_incomplete",
                      "the body did not arrive whole, or not in time; nothing was asked");
  }
  if (text.size() < size) {
    throw HttpProblem(400, "body_incomplete", "the body did not arrive whole; nothing was asked");
  }
  wait_for_slot();
  return text;
}

std::int64_t Call::number(std::string_view parameter, std::int64_t most, std::int64_t absent,
                          std::int64_t least) const {
  const std::string* given = head.parameter(parameter);
  if (given == nullptr) return absent;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), value);
  if (error == std::errc() && end == given->data() + given->size() && value >= least && value <= most)
    return value;
  throw HttpProblem(400, "invalid_query",
                    std::string(parameter) + ": a whole number from " + std::to_string(least) + " to " +
                        std::to_string(most) + " is expected");
}

std::string Call::text(std::string_view parameter) const {
  const std::string* given = head.parameter(parameter);
  if (given == nullptr) return "";
  if (given->empty()) throw HttpProblem(400, "invalid_query", std::string(parameter) + ": is empty");
  return *given;
}

HttpProblem body_too_large(std::size_t most) {
  return {413, "body_too_large", "the body: at most " + std::to_string(most) + " bytes are taken here"};
}

HttpProblem admission_problem(AdmissionDenial why) {
  switch (why) {
    case AdmissionDenial::too_fast:
      return HttpProblem(429, "rate_limited", "more requests than you may make in a second")
          .with_retry_after(1);
    case AdmissionDenial::too_many:
      return HttpProblem(429, "too_many_requests", "you have as many requests under way as you may")
          .with_retry_after(1);
    case AdmissionDenial::too_many_long_polls:
      return HttpProblem(429, "too_many_long_polls", "you wait for as many things as you may")
          .with_retry_after(1);
    case AdmissionDenial::full:
      return HttpProblem(503, "overloaded", "too much waits already; nothing was recorded")
          .with_retry_after(2);
    case AdmissionDenial::stopping:
      break;
  }
  return HttpProblem(503, "stopping", "the daemon ends; nothing was recorded").with_retry_after(5);
}

void require_admitted(const std::optional<AdmissionDenial>& none) {
  if (none) throw admission_problem(*none);
}

Response json_text_response(int status, std::string text) {
  Response response;
  response.status = status;
  response.content_type = kJson;
  response.body = std::move(text);
  return response;
}

Response json_response(int status, const Json& object) {
  return json_text_response(status, wire::one_object(object, -1));
}

Json decision_object(const Call& call, Answer answer, int fresh) {
  try {
    const DecisionReply one = decision_reply(call, std::move(answer), fresh);
    Json object{{"status", one.status}};
    object.update(one.object);
    return object;
  } catch (const HttpProblem& refused) {
    return problem_object(refused);
  }
}

Response decision_response(const Call& call, Answer answer, int fresh) {
  const DecisionReply one = decision_reply(call, std::move(answer), fresh);
  Response response = json_response(one.status, one.object);
  if (one.status >= 400) response.content_type = kProblem;
  return tagged(std::move(response), one.etag);
}

Response request_state_response(const Call& call, Answer answer) {
  answer = disclosable_answer(call, std::move(answer));
  return tagged(json_response(200, wire::answer_object(answer, wire::AnswerKind::show)), etag_of(answer));
}

}  // namespace epsilog::serve
