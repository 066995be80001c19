// POST /v1/plans, /v1/forecasts, /v1/releases, /v1/reservations.
#include "answer_json.hpp"
#include "asked.hpp"
#include "batch.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "forecast_output.hpp"
#include "route.hpp"

namespace epsilog::serve {
namespace {

Asked read_question(Call& call, Asking asking) {
  Asked result = asked(call.read_body(kBody), call.head, call.caller, asking);
  call.about = result.request.dataset;
  return result;
}

Response plan(Call& call) {
  const Asked asks = read_question(call, Asking::plan);
  engine::Answer answer = call.engine().plan(asks.request, asks.alphas);
  answer.asked.same_question = call.engine().same_question(asks.request);
  return json(200, command::answer_object(answer, command::AnswerKind::plan));
}

Response forecast(Call& call) {
  const Asked asks = read_question(call, Asking::forecast);
  const auto found = [&]() -> std::optional<engine::Forecast> {
    if (asks.count) return call.engine().forecast_of_count(asks.request, *asks.count, asks.alphas);
    if (asks.accuracy) return call.engine().forecast_of_accuracy(asks.request, *asks.accuracy, asks.alphas);
    return call.engine().forecast(asks.request, asks.alphas);
  }();
  return json_text(
      200, command::forecast_json(call.parts.ledger_id, asks.request, {asks.count, asks.accuracy}, found));
}

/// One request, or several under `requests`, which a larger body is for.
Response release(Call& call) {
  const std::string text = call.read_body(kBatchBody);
  BodyObject body(text);
  if (auto elements = body.taken_list("requests")) {
    body.expect_no_more();
    return release_batch(call, read_batch(call, std::move(*elements)));
  }
  if (text.size() > kBody) throw too_large(kBody);
  const Asked asks = asked(body, call.head.header("idempotency-key"), call.caller, Asking::release);
  call.about = asks.request.dataset;
  mechanisms::SystemBits bits;
  engine::Answer answer = call.engine().release(asks.request, bits, asks.alphas);
  call.parts.view.recorded();
  return decision(call, std::move(answer), 201);
}

Response reserve(Call& call) {
  const Asked asks = read_question(call, Asking::reservation);
  engine::Answer answer = call.engine().reserve(asks.request, asks.alphas);
  call.parts.view.recorded();
  return decision(call, std::move(answer), 201);
}

}  // namespace

std::vector<Route> asking_routes() {
  return {{"POST", "/v1/plans", Who::asker, true, {}, &plan},
          {"POST", "/v1/forecasts", Who::asker, true, {}, &forecast},
          {"POST", "/v1/releases", Who::asker, true, {}, &release},
          {"POST", "/v1/reservations", Who::asker, true, {}, &reserve}};
}

}  // namespace epsilog::serve
