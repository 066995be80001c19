#include "batch.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "computing.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/concealed_dataset.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "problem.hpp"
#include "recorded_names.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using accounting::Rational;
using engine::Answer;
using wire::Json;

std::string index_prefix(std::size_t index) {
  return "requests[" + std::to_string(index) + "]: ";
}

/// What is thrown about one of them names which it is.
template <class Part>
void name_index_in_errors(std::size_t index, const Part& part) {
  try {
    part();
  } catch (const BadBody& error) {
    throw BadBody(index_prefix(index) + error.what());
  } catch (const HttpProblem& refused) {
    throw HttpProblem(refused.status(), refused.code(), index_prefix(index) + refused.detail());
  } catch (const InvalidParameter& error) {
    throw InvalidParameter(index_prefix(index) + error.what());
  } catch (const engine::ConcealedDataset& none) {
    throw engine::ConcealedDataset(none.dataset(), index_prefix(index));
  } catch (const NotFound& error) {
    throw NotFound(index_prefix(index) + error.what());
  } catch (const Underivable& error) {
    throw Underivable(index_prefix(index) + error.what());
  }
}

/// Each of them once. The engine tells the accuracy of all its answers at the same ones.
std::vector<Rational> all_alphas(const Batch& batch) {
  std::vector<Rational> all;
  for (const std::vector<Rational>& of_one : batch.alphas) {
    for (const Rational& alpha : of_one) {
      if (std::find(all.begin(), all.end(), alpha) != all.end()) continue;
      if (all.size() == kAlphasMax) {
        throw BadBody("alpha: at most " + std::to_string(kAlphasMax) + " different ones in all requests");
      }
      all.push_back(alpha);
    }
  }
  return all;
}

/// What that one asked for, in its order: accuracies, or intervals.
template <class AtAlpha>
void keep_requested_alphas(std::vector<AtAlpha>& told, const std::vector<Rational>& alphas) {
  std::vector<AtAlpha> kept;
  for (const Rational& alpha : alphas) {
    const auto at =
        std::find_if(told.begin(), told.end(), [&](const AtAlpha& one) { return one.alpha == alpha; });
    if (at != told.end()) kept.push_back(*at);
  }
  told = std::move(kept);
}

/// Of all that it was asked to decide the engine says what is wrong with the first, not which that is.
void name_undecidable(const Call& call, const Batch& batch) {
  ledger::Snapshot view = call.context.view.snapshot();
  for (std::size_t i = 0; i < batch.requests.size(); ++i) {
    if (is_retry(view, batch.requests[i])) continue;
    name_index_in_errors(i, [&] { static_cast<void>(call.engine().plan(batch.requests[i], {})); });
  }
}

std::vector<Answer> decide_batch(const Call& call, const Batch& batch, const std::vector<Rational>& alphas) {
  mechanisms::SystemBits bits;
  UnchangedRequestCost in_vain(call);
  try {
    std::vector<Answer> answers = call.engine().release_many(batch.requests, bits, alphas);
    for (const Answer& answer : answers) in_vain.note_outcome(answer);
    return answers;
  } catch (const NotFound&) {
    name_undecidable(call, batch);
    throw;
  } catch (const Underivable&) {
    name_undecidable(call, batch);
    throw;
  } catch (const InvalidParameter&) {
    name_undecidable(call, batch);
    throw;
  }
}

/// What a plan does not look at.
void check_element(const Call& call, const engine::Request& request) {
  try {
    if (!request.rows.empty()) throw BadBody("rows: a batch is asked by itself, not among others");
    engine::check_name(request.key, "key");
    engine::check_name(request.purpose, "purpose");
  } catch (const std::exception&) {
    require_askable(call.caller, request.dataset);
    throw;
  }
}

}  // namespace

Batch read_batch(Call& call, std::vector<BodyValue> elements) {
  if (elements.empty() || elements.size() > kBatchRequestsMax) {
    throw BadBody("requests: from 1 to " + std::to_string(kBatchRequestsMax) + " of them are expected");
  }
  if (call.head.header("idempotency-key") != nullptr) {
    throw HttpProblem(400, "invalid_key",
                      "Idempotency-Key is of one request: each of several has the member 'key' of its own");
  }
  Batch batch;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    name_index_in_errors(i, [&] {
      if (elements[i].kind != BodyValue::Kind::object) throw BadBody("an object is expected");
      BodyObject body(std::move(elements[i]));
      ParsedRequest one = parse_request(body, nullptr, call.caller, RequestKind::release);
      check_element(call, one.request);
      batch.requests.push_back(std::move(one.request));
      batch.alphas.push_back(std::move(one.alphas));
    });
  }
  // Only what can be asked counts as so much.
  require_admitted(call.entry.count_requests(elements.size()));
  require_new_questions(call, batch.requests, all_alphas(batch).size());
  return batch;
}

Response release_batch(Call& call, const Batch& batch) {
  const std::string& first = batch.requests.front().dataset;
  const bool one_dataset = std::all_of(batch.requests.begin(), batch.requests.end(),
                                       [&](const engine::Request& one) { return one.dataset == first; });
  if (one_dataset) call.dataset = first;
  std::vector<Answer> answers = decide_batch(call, batch, all_alphas(batch));
  call.context.view.notify_recorded();
  Json decisions = Json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (std::vector<engine::Accuracy>& accuracy : answers[i].planned.accuracy) {
      keep_requested_alphas(accuracy, batch.alphas[i]);
    }
    keep_requested_alphas(answers[i].released.intervals, batch.alphas[i]);
    decisions.push_back(decision_object(call, std::move(answers[i]), 201));
  }
  return json_response(200, {{"ledger_id", call.context.ledger_id}, {"decisions", std::move(decisions)}});
}

}  // namespace epsilog::serve
