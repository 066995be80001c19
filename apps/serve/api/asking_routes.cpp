// POST /v1/plans, /v1/forecasts, /v1/releases, /v1/reservations.
#include <span>

#include "answer_json.hpp"
#include "batch.hpp"
#include "call.hpp"
#include "computing.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "forecast_output.hpp"
#include "parsed_request.hpp"
#include "route.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using engine::PlannedFor;

/// A larger body is for a batch, which counts as so many requests as it has rows.
void count_batch_rows(Call& call, const std::string& text, const ParsedRequest& asks) {
  const std::size_t rows = asks.request.rows.size();
  if (text.size() > kBodyBytesMax && rows == 0) throw body_too_large(kBodyBytesMax);
  if (rows > 1) require_admitted(call.entry.count_requests(rows));
}

ParsedRequest read_question(Call& call, RequestKind kind) {
  // A plan and a forecast bear no key: each is a new question, before its body is read.
  const bool may_be_retry = kind == RequestKind::reservation;
  if (!may_be_retry) call.require_refusals_left(1);
  const std::string text = call.read_body(kind == RequestKind::forecast ? kBodyBytesMax : kBatchBodyBytesMax);
  ParsedRequest result = parse_request(text, call.head, call.caller, kind);
  count_batch_rows(call, text, result);
  if (may_be_retry) require_new_questions(call, std::span(&result.request, 1), result.alphas.size());
  call.dataset = result.request.dataset;
  return result;
}

Response plan(Call& call) {
  const ParsedRequest asks = read_question(call, RequestKind::plan);
  if (auto refused = refused_by_rule(call, asks.request)) return std::move(*refused);
  require_plannable(call, planning_steps_up(call, asks.request, asks.alphas.size(), PlannedFor::once));
  engine::Answer answer = call.engine().plan(asks.request, asks.alphas, asks.assumed_count);
  answer.asked.same_question = call.engine().same_question(asks.request);
  return json_response(200, wire::answer_object(answer, wire::AnswerKind::plan));
}

Response forecast(Call& call) {
  const ParsedRequest asks = read_question(call, RequestKind::forecast);
  if (auto refused = refused_by_rule(call, asks.request)) return std::move(*refused);
  const PlannedFor what = asks.count || asks.accuracy ? PlannedFor::search : PlannedFor::once;
  require_plannable(call, planning_steps_up(call, asks.request, asks.alphas.size(), what));
  const auto found = [&]() -> std::optional<engine::Forecast> {
    const engine::Engine& engine = call.engine();
    if (asks.count)
      return engine.forecast_of_count(asks.request, *asks.count, asks.alphas, asks.assumed_count);
    if (asks.accuracy)
      return engine.forecast_of_accuracy(asks.request, *asks.accuracy, asks.alphas, asks.assumed_count);
    return engine.forecast(asks.request, asks.alphas, asks.assumed_count);
  }();
  return json_text_response(
      200, command::forecast_json(call.context.ledger_id, asks.request, {asks.count, asks.accuracy}, found));
}

/// What the engine decides of the request. That something else is wrong with it is told to those alone who
/// may ask its dataset.
template <class Decide>
engine::Answer decide_request(const Call& call, const engine::Request& request, const Decide& decide) {
  UnchangedRequestCost in_vain(call);
  try {
    engine::Answer answer = decide();
    in_vain.note_outcome(answer);
    return answer;
  } catch (const InvalidParameter&) {
    require_askable(call.caller, request.dataset);
    throw;
  }
}

/// One request, which may be a batch of rows, or several under `requests`; a larger body is for either.
Response release(Call& call) {
  const std::string text = call.read_body(kBatchBodyBytesMax);
  BodyObject body(text);
  if (auto elements = body.take_list("requests")) {
    body.expect_no_more();
    return release_batch(call, read_batch(call, std::move(*elements)));
  }
  const ParsedRequest asks =
      parse_request(body, call.head.header("idempotency-key"), call.caller, RequestKind::release);
  count_batch_rows(call, text, asks);
  require_new_questions(call, std::span(&asks.request, 1), asks.alphas.size());
  call.dataset = asks.request.dataset;
  mechanisms::SystemBits bits;
  engine::Answer answer = decide_request(
      call, asks.request, [&] { return call.engine().release(asks.request, bits, asks.alphas); });
  call.context.view.notify_recorded();
  return decision_response(call, std::move(answer), 201);
}

Response reserve(Call& call) {
  const ParsedRequest asks = read_question(call, RequestKind::reservation);
  engine::Answer answer =
      decide_request(call, asks.request, [&] { return call.engine().reserve(asks.request, asks.alphas); });
  call.context.view.notify_recorded();
  return decision_response(call, std::move(answer), 201);
}

}  // namespace

std::vector<Route> asking_routes() {
  return {{"POST", "/v1/plans", RouteAccess::asker, true, {}, &plan, Effort::computes},
          {"POST", "/v1/forecasts", RouteAccess::asker, true, {}, &forecast, Effort::computes},
          {"POST", "/v1/releases", RouteAccess::asker, true, {}, &release},
          {"POST", "/v1/reservations", RouteAccess::asker, true, {}, &reserve}};
}

}  // namespace epsilog::serve
