// POST /v1/plans, /v1/forecasts, /v1/releases, /v1/reservations.
#include <span>

#include "answer_json.hpp"
#include "asked.hpp"
#include "batch.hpp"
#include "call.hpp"
#include "computing.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "forecast_output.hpp"
#include "new_questions.hpp"
#include "route.hpp"
#include "sight.hpp"

namespace epsilog::serve {
namespace {

using engine::PlannedFor;

/// A larger body is for a batch, which counts as so many requests as it has rows.
void admit(Call& call, const std::string& text, const Asked& asks) {
  const std::size_t rows = asks.request.rows.size();
  if (text.size() > kBody && rows == 0) throw too_large(kBody);
  if (rows > 1) require(call.entry.count(rows));
}

Asked read_question(Call& call, Asking asking) {
  // A plan and a forecast bear no key: each is a new question, before its body is read.
  const bool may_be_retry = asking == Asking::reservation;
  if (!may_be_retry) call.require_refusals_left(1);
  const std::string text = call.read_body(asking == Asking::forecast ? kBody : kBatchBody);
  Asked result = asked(text, call.head, call.caller, asking);
  admit(call, text, result);
  if (may_be_retry) require_new_questions(call, std::span(&result.request, 1), result.alphas.size());
  call.about = result.request.dataset;
  return result;
}

Response plan(Call& call) {
  const Asked asks = read_question(call, Asking::plan);
  if (auto refused = refused_by_rule(call, asks.request)) return std::move(*refused);
  require_plannable(call, planning_steps_up(call, asks.request, asks.alphas.size(), PlannedFor::once));
  engine::Answer answer = call.engine().plan(asks.request, asks.alphas, asks.assumed);
  answer.asked.same_question = call.engine().same_question(asks.request);
  return json(200, command::answer_object(answer, command::AnswerKind::plan));
}

Response forecast(Call& call) {
  const Asked asks = read_question(call, Asking::forecast);
  if (auto refused = refused_by_rule(call, asks.request)) return std::move(*refused);
  const PlannedFor what = asks.count || asks.accuracy ? PlannedFor::search : PlannedFor::once;
  require_plannable(call, planning_steps_up(call, asks.request, asks.alphas.size(), what));
  const auto found = [&]() -> std::optional<engine::Forecast> {
    const engine::Engine& engine = call.engine();
    if (asks.count) return engine.forecast_of_count(asks.request, *asks.count, asks.alphas, asks.assumed);
    if (asks.accuracy)
      return engine.forecast_of_accuracy(asks.request, *asks.accuracy, asks.alphas, asks.assumed);
    return engine.forecast(asks.request, asks.alphas, asks.assumed);
  }();
  return json_text(
      200, command::forecast_json(call.parts.ledger_id, asks.request, {asks.count, asks.accuracy}, found));
}

/// What the engine decides of the request. That something else is wrong with it is told to those alone who
/// may ask its dataset.
template <class Decide>
engine::Answer decided(const Call& call, const engine::Request& request, const Decide& decide) {
  InVain in_vain(call);
  try {
    engine::Answer answer = decide();
    in_vain.became(answer);
    return answer;
  } catch (const InvalidParameter&) {
    require_askable(call.caller, request.dataset);
    throw;
  }
}

/// One request, which may be a batch of rows, or several under `requests`; a larger body is for either.
Response release(Call& call) {
  const std::string text = call.read_body(kBatchBody);
  BodyObject body(text);
  if (auto elements = body.taken_list("requests")) {
    body.expect_no_more();
    return release_batch(call, read_batch(call, std::move(*elements)));
  }
  const Asked asks = asked(body, call.head.header("idempotency-key"), call.caller, Asking::release);
  admit(call, text, asks);
  require_new_questions(call, std::span(&asks.request, 1), asks.alphas.size());
  call.about = asks.request.dataset;
  mechanisms::SystemBits bits;
  engine::Answer answer =
      decided(call, asks.request, [&] { return call.engine().release(asks.request, bits, asks.alphas); });
  call.parts.view.recorded();
  return decision(call, std::move(answer), 201);
}

Response reserve(Call& call) {
  const Asked asks = read_question(call, Asking::reservation);
  engine::Answer answer =
      decided(call, asks.request, [&] { return call.engine().reserve(asks.request, asks.alphas); });
  call.parts.view.recorded();
  return decision(call, std::move(answer), 201);
}

}  // namespace

std::vector<Route> asking_routes() {
  return {{"POST", "/v1/plans", Who::asker, true, {}, &plan, Effort::computes},
          {"POST", "/v1/forecasts", Who::asker, true, {}, &forecast, Effort::computes},
          {"POST", "/v1/releases", Who::asker, true, {}, &release},
          {"POST", "/v1/reservations", Who::asker, true, {}, &reserve}};
}

}  // namespace epsilog::serve
