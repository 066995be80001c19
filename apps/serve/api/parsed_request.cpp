#include "parsed_request.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/rational.hpp"
#include "problem.hpp"
#include "recorded_names.hpp"
#include "visibility.hpp"

namespace epsilog::serve {
namespace {

using accounting::Rational;

Rational number(const std::string& text, std::string_view what) {
  return accounting::parse_rational(text, what);
}

Rational positive(const std::string& text, std::string_view what) {
  Rational value = number(text, what);
  if (value <= 0) throw BadBody(std::string(what) + ": must be greater than 0");
  return value;
}

Rational probability(const std::string& text, std::string_view what) {
  Rational value = positive(text, what);
  if (value >= 1) throw BadBody(std::string(what) + ": must be less than 1");
  return value;
}

/// The amount, which must be one step of its grid at least: less would be asked for nothing.
template <class Quantity>
Rational on_grid(const Rational& value, std::string_view what) {
  if (Quantity::from_rational_down(value).units() == 0) {
    throw BadBody(std::string(what) + ": is smaller than the smallest loss kept");
  }
  return value;
}

std::vector<Rational> alphas(const std::vector<std::string>& texts) {
  if (texts.size() > kAlphasMax) throw BadBody("alpha: at most " + std::to_string(kAlphasMax));
  std::vector<Rational> values;
  for (const std::string& text : texts) values.push_back(probability(text, "alpha"));
  if (values.empty()) values.emplace_back(1, 20);
  return values;
}

Rational delta_of(const std::string& text) {
  return on_grid<accounting::Delta>(probability(text, "delta"), "delta");
}

/// Of a request, or of a row of one.
template <class Target>
void set_loss(BodyObject& body, RequestKind kind, Target& request) {
  const auto epsilon = body.number("epsilon");
  const auto delta = body.number("delta");
  const auto rho = body.number("rho");
  if (rho && (epsilon || delta)) throw BadBody("rho: stands in place of epsilon and delta; give either");
  if (!rho && !epsilon && kind != RequestKind::forecast)
    throw BadBody("epsilon: is required, or rho in its place");
  if (rho) request.rho = on_grid<accounting::Rho>(positive(*rho, "rho"), "rho");
  if (epsilon) request.epsilon = on_grid<accounting::Epsilon>(positive(*epsilon, "epsilon"), "epsilon");
  if (delta) request.delta = delta_of(*delta);
}

/// The member `key` or the header, which must be one if both are there.
std::string key_of(BodyObject& body, const std::string* header) {
  const auto given = body.string("key");
  if (given && given->empty()) throw BadBody("key: is empty");
  const std::string key = given.value_or("");
  engine::check_name(key, "key");
  if (header == nullptr) return key;
  const bool visible =
      std::all_of(header->begin(), header->end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (header->empty() || !visible) {
    throw HttpProblem(400, "invalid_key", "Idempotency-Key: visible ASCII characters are expected");
  }
  if (!key.empty() && key != *header) {
    throw HttpProblem(400, "invalid_key",
                      "Idempotency-Key and the member 'key' differ: give one, or both alike");
  }
  return *header;
}

engine::ReservationKind reservation_kind_of(BodyObject& body) {
  const std::string word = body.string("reservation").value_or("plain");
  if (word == "plain") return engine::ReservationKind::reserved;
  if (word == "data_token") return engine::ReservationKind::reserved_against_token;
  throw BadBody("reservation: plain or data_token is expected");
}

std::optional<std::int64_t> whole_number(BodyObject& body, const std::string& name) {
  const auto text = body.number(name);
  if (!text) return std::nullopt;
  constexpr std::int64_t kMost = 1'000'000'000'000;
  // 3, 3.0 and 3e0 are one number in JSON.
  const Rational count = number(*text, name);
  if (count.get_den() != 1 || count < 1 || count > kMost) {
    throw BadBody(name + ": a whole number from 1 to " + std::to_string(kMost) + " is expected");
  }
  return count.get_num().get_si();
}

void set_goal(BodyObject& body, ParsedRequest& parsed) {
  parsed.count = whole_number(body, "count");
  const auto accuracy = body.number("accuracy");
  if (accuracy && parsed.count) throw BadBody("count and accuracy: give either");
  if (accuracy && parsed.alphas.size() != 1) throw BadBody("accuracy: takes one alpha");
  if (accuracy) parsed.accuracy = engine::Accuracy{parsed.alphas.front(), positive(*accuracy, "accuracy")};
  const bool sought = accuracy || parsed.count;
  const bool given = parsed.request.rho || parsed.request.epsilon.rational() != 0;
  if (sought && given) throw BadBody("epsilon and rho: are what is sought by count and by accuracy");
  if (!sought && !given) throw BadBody("epsilon: is required, or rho, count or accuracy in its place");
}

/// `by` is what the command takes, or a list of the columns' names.
engine::Question question(BodyObject& body) {
  const std::string statistic = body.required_string("statistic");
  if (auto columns = body.strings("by")) {
    return engine::parse_question_by(statistic, std::move(*columns), body.string("where"));
  }
  return engine::parse_question(statistic, body.string("by"), body.string("where"));
}

template <class Target>
void set_question(BodyObject& body, RequestKind kind, Target& parsed) {
  parsed.question = question(body);
  const bool consistent = body.boolean("consistent").value_or(false);
  if (const auto share = body.number("totals")) {
    engine::with_totals(parsed.question, probability(*share, "totals"), consistent);
  } else if (consistent) {
    throw BadBody("consistent: goes with totals, to which cells are made to add up");
  }
  if (kind != RequestKind::forecast) {
    if (const auto least = body.number("suppress_below"))
      engine::suppress_below(parsed.question, positive(*least, "suppress_below"));
  }
  set_loss(body, kind, parsed);
}

engine::RequestRow row_of(BodyValue value, RequestKind kind) {
  if (value.kind != BodyValue::Kind::object) throw BadBody("an object is expected");
  BodyObject body(std::move(value));
  engine::RequestRow row;
  set_question(body, kind, row);
  body.expect_no_more();
  return row;
}

std::vector<engine::RequestRow> rows_of(std::vector<BodyValue> values, RequestKind kind) {
  if (values.empty() || values.size() > engine::kBatchRowsMax) {
    throw BadBody("rows: from 1 to " + std::to_string(engine::kBatchRowsMax) + " of them are expected");
  }
  std::vector<engine::RequestRow> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string place = "rows[" + std::to_string(i) + "]: ";
    try {
      rows.push_back(row_of(std::move(values[i]), kind));
    } catch (const BadBody& fault) {
      throw BadBody(place + fault.what());
    } catch (const InvalidParameter& fault) {
      throw InvalidParameter(place + fault.what());
    }
  }
  return rows;
}

}  // namespace

ParsedRequest parse_request(std::string_view text, const RequestHead& head, const Caller& caller,
                            RequestKind kind) {
  BodyObject body(text);
  return parse_request(body, head.header("idempotency-key"), caller, kind);
}

namespace {

/// All of the body but the dataset, which was read.
ParsedRequest read(BodyObject& body, const std::string* header_key, const Caller& caller, RequestKind kind,
                   std::string dataset) {
  ParsedRequest result;
  engine::Request& request = result.request;
  request.dataset = std::move(dataset);
  auto rows = kind == RequestKind::forecast ? std::nullopt : body.take_list("rows");
  if (rows) {
    request.rows = rows_of(std::move(*rows), kind);
    if (const auto delta = body.number("delta")) request.delta = delta_of(*delta);
  } else {
    set_question(body, kind, request);
  }
  request.purpose = body.string("purpose").value_or("");
  engine::check_name(request.purpose, "purpose");
  request.principal = caller.actor.name;
  request.via = caller.actor.via;
  result.alphas = alphas(body.numbers("alpha"));
  const bool spends = kind == RequestKind::release || kind == RequestKind::reservation;
  if (kind != RequestKind::forecast) request.key = key_of(body, header_key);
  if (spends && request.key.empty()) {
    throw HttpProblem(400, "key_required",
                      "an Idempotency-Key, or the member 'key', is required where budget is spent");
  }
  if (kind == RequestKind::forecast) set_goal(body, result);
  if (kind == RequestKind::forecast || kind == RequestKind::plan)
    result.assumed_count = whole_number(body, "assume_count");
  if (kind == RequestKind::reservation) {
    request.reservation = reservation_kind_of(body);
  }
  if (kind == RequestKind::release && request.question.statistic.kind == engine::StatisticKind::value) {
    throw HttpProblem(
        400, "value_not_here",
        "a value is posted as the body of a commit: reserve first, then POST /v1/requests/ID/commit");
  }
  body.expect_no_more();
  return result;
}

}  // namespace

ParsedRequest parse_request(BodyObject& body, const std::string* header_key, const Caller& caller,
                            RequestKind kind) {
  const std::string dataset = body.required_string("dataset");
  const bool may_be_retry = kind == RequestKind::release || kind == RequestKind::reservation;
  if (!may_be_retry) require_askable(caller, dataset);
  try {
    return read(body, header_key, caller, kind, dataset);
  } catch (const std::exception&) {
    require_askable(caller, dataset);
    throw;
  }
}

}  // namespace epsilog::serve
