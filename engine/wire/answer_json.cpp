#include "answer_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "answer_facts.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "epsilog/ledger/digest.hpp"
#include "json_parts.hpp"

namespace epsilog::wire {
namespace {

using accounting::Rational;

Json hex_or_null(const Rational& value) {
  return or_null(accounting::hexfloat_text(value));
}

/// The nearest binary64, as a JSON number of at most 17 digits that reads back as the same one: what data
/// frames take. null beyond its range. The exact value stands beside it.
Json decimal_or_null(const Rational& value) {
  constexpr unsigned kEnough = 40;  // so that the rounding before this one does not show
  const std::string text =
      value < 0 ? accounting::text_down(value, kEnough) : accounting::text_up(value, kEnough);
  double nearest = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nearest);
  return error == std::errc{} ? Json(nearest) : Json(nullptr);
}

/// The binary64 next to it on the outer side, or itself; null where there is none.
Json outward_or_null(const Rational& value, double outer) {
  double number = value.get_d();
  if (!std::isfinite(number)) return nullptr;
  const bool inside = outer < 0 ? Rational(number) > value : Rational(number) < value;
  if (inside) number = std::nextafter(number, outer);
  return std::isfinite(number) ? Json(number) : Json(nullptr);
}
Json decimal_down_or_null(const Rational& value) {
  return outward_or_null(value, -std::numeric_limits<double>::infinity());
}
Json decimal_up_or_null(const Rational& value) {
  return outward_or_null(value, std::numeric_limits<double>::infinity());
}

enum class AccuracyScope { each, together };

/// null where an interval is the whole range, and where no size is enough.
Json holds_from_json(const std::optional<Rational>& size, bool whole) {
  return !size || whole ? Json(nullptr) : Json(accounting::text_up(*size, kDigits));
}

/// Of one cell, for each alpha, rounded outward; null where there is none.
Json intervals_json(const engine::Answer& answer, const std::vector<engine::CellIntervals>& intervals,
                    std::size_t cell, AccuracyScope which) {
  Json list = Json::array();
  for (const engine::CellIntervals& one : intervals) {
    const auto& cells = which == AccuracyScope::each ? one.each : one.together;
    if (cell >= cells.size()) return nullptr;
    const auto& [low, high] = cells[cell];
    const bool days = asks_days(answer), whole = one.is_whole_range(cell, cells[cell]);
    const engine::CellGroup& group = one.group_of(cell);
    const auto& size = which == AccuracyScope::each ? group.each_holds_from : group.together_holds_from;
    list.push_back(ObjectOf(7)
                       .with("alpha", accounting::text(one.alpha))
                       .with("low", days ? exact_text(answer, low) : accounting::text_down(low, kDigits))
                       .with("high", days ? exact_text(answer, high) : accounting::text_up(high, kDigits))
                       .with("low_decimal", days ? Json(nullptr) : decimal_down_or_null(low))
                       .with("high_decimal", days ? Json(nullptr) : decimal_up_or_null(high))
                       .with("whole_range", whole)
                       .with("holds_from", holds_from_json(size, whole))
                       .to_json());
  }
  return list.empty() ? Json(nullptr) : list;
}

/// By one column the group; by several null, and the list of them. null where a column is summed over.
void add_groups(ObjectOf& object, const ledger::CellKeys& keys, std::size_t cell) {
  const std::vector<std::optional<std::string>> of_cell = keys.keys_of(cell);
  const auto key_of = [](const std::optional<std::string>& key) { return key ? Json(*key) : Json(nullptr); };
  object.with("group", of_cell.size() == 1 ? key_of(of_cell.front()) : Json(nullptr));
  if (of_cell.size() < 2) return;
  Json list = Json::array();
  for (const auto& key : of_cell) list.push_back(key_of(key));
  object.with("groups", std::move(list));
}

/// Which cells of an answer some values are of.
struct CellRange {
  std::uint64_t first = 0;
  std::uint64_t cells = 0;
};
CellRange all_of(const ledger::CellKeys& keys) {
  return {0, keys.size()};
}

/// null without --by, and where what was released is withheld; the value null where nothing was released.
/// `intervals`: nullptr where cells do not tell theirs. `suppressing`: that leaves out cells; nullptr of a
/// component.
Json cells_json(const engine::Answer& answer, const CellRange& range, const std::vector<Rational>& values,
                const std::vector<engine::CellIntervals>* intervals, bool withheld,
                const engine::Answer* suppressing) {
  const ledger::CellKeys& keys = answer.planned.record.cells;
  if (keys.empty() || withheld) return nullptr;
  Json list = Json::array();
  for (std::size_t i = 0; i < range.cells; ++i) {
    const bool suppressed = suppressing != nullptr && engine::is_suppressed(*suppressing, i);
    const bool released = i < values.size() && !suppressed;
    ObjectOf cell(8);
    add_groups(cell, keys, range.first + i);
    const bool number = released && !asks_days(answer);
    cell.with("value", released ? Json(exact_text(answer, values[i])) : Json(nullptr))
        .with("value_decimal", number ? decimal_or_null(values[i]) : Json(nullptr))
        .with("value_hex", number ? hex_or_null(values[i]) : Json(nullptr));
    if (suppressed) cell.with("suppressed", true);
    if (intervals != nullptr) {
      cell.with("interval", intervals_json(answer, *intervals, i, AccuracyScope::each))
          .with("simultaneous", intervals_json(answer, *intervals, i, AccuracyScope::together));
    }
    list.push_back(cell.to_json());
  }
  return list;
}

/// Of a proportion, what was drawn: of each cell the rows with the value, then those with another one.
Json pairs_json(const ledger::CellKeys& keys, const std::vector<Rational>& values, bool withheld) {
  if (withheld) return nullptr;
  Json list = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    ObjectOf count(6);
    add_groups(count, keys, i / 2);
    count.with("rows", i % 2 == 0 ? "value" : "other")
        .with("value", accounting::text(values[i]))
        .with("value_decimal", decimal_or_null(values[i]))
        .with("value_hex", hex_or_null(values[i]));
    list.push_back(count.to_json());
  }
  return list;
}

/// Adds value, value_decimal and value_hex, or cells, of one released vector. A date is no number.
void add_values(ObjectOf& object, const engine::Answer& answer, const CellRange& range,
                const std::vector<Rational>& values, const std::vector<engine::CellIntervals>* intervals,
                bool withheld, const engine::Answer* suppressing) {
  const bool scalar = answer.planned.record.cells.empty() && !values.empty();
  const bool number = scalar && !asks_days(answer);
  object.with("value", scalar ? Json(exact_text(answer, values[0])) : Json(nullptr))
      .with("value_decimal", number ? decimal_or_null(values[0]) : Json(nullptr))
      .with("value_hex", number ? hex_or_null(values[0]) : Json(nullptr))
      .with("cells", cells_json(answer, range, values, intervals, withheld, suppressing));
}

/// Of the answer to a question, and what it is an interval of.
void add_intervals(ObjectOf& object, const engine::Answer& answer) {
  const std::vector<engine::CellIntervals>& intervals = answer.released.intervals;
  const bool scalar = answer.planned.record.cells.empty();
  const char* rows = asks_ratio(answer) ? "rows that sum to a denominator above 0, at most rows.max"
                     : accounting::is_quotient(answer.planned.post_processing)
                         ? "at least one row and at most rows.max rows"
                         : "at most rows.max rows";
  object.with("interval", scalar ? intervals_json(answer, intervals, 0, AccuracyScope::each) : Json(nullptr))
      .with("interval_of",
            intervals.empty()
                ? Json(nullptr)
                : Json(std::string("the answer after max_rows, clamping and dropping, for a table of ") +
                       rows + "; not a population"));
}

bool one_line(AnswerKind kind) {
  return kind == AnswerKind::history || kind == AnswerKind::pending;
}

/// A plan, or a dummy run, that would be refused would cost nothing.
bool shows_cost(const engine::Answer& answer, AnswerKind kind) {
  if (kind == AnswerKind::plan || kind == AnswerKind::dummy)
    return answer.recorded.state != engine::RequestState::refused;
  return kind == AnswerKind::pending;
}

Json precision_json(const ledger::ComponentRecord& component) {
  return component.precision == 0 ? Json(nullptr) : Json(component.precision);
}

Json accuracy_of(const engine::Answer& answer, std::size_t i) {
  if (asks_quantiles(answer)) return accuracy_json({});
  return accuracy_json(i < answer.planned.accuracy.size() ? answer.planned.accuracy[i]
                                                          : std::vector<engine::Accuracy>{});
}

Json component_json(const engine::Answer& answer, std::size_t i, AnswerKind kind) {
  const ledger::ComponentRecord& component = answer.planned.record.components[i];
  ObjectOf object(25);
  object.with("statistic", component.statistic)
      .with("epsilon", component.epsilon.text())
      .with("delta", component.delta ? Json(component.delta->text()) : Json(nullptr))
      .with("sensitivity", number_json(component.sensitivity))
      .with("sensitivity_l2_squared", number_json(component.sensitivity_l2_squared))
      .with("grid_sensitivity", number_json(component.grid_sensitivity))
      .with("grid_sensitivity_l2_squared", number_json(component.grid_sensitivity_l2_squared))
      .with("coordinates", component.coordinates)
      .with("bound", number_json(component.bound))
      .with("centre", number_json(component.centre))
      .with("scale", number_json(component.scale))
      .with("grid", number_json(component.grid))
      .with("precision", precision_json(component))
      .with("precision_reason", i < answer.planned.precision_reasons.size()
                                    ? or_null(answer.planned.precision_reasons[i])
                                    : Json())
      .with("adjusted", number_json(component.adjusted))
      .with("adjusted_delta", number_json(component.adjusted_delta))
      .with("rho", number_json(component.rho))
      .with("published", number_json(component.published))
      .with("published_note", or_null(component.published_note));
  if (!one_line(kind)) object.with("accuracy", accuracy_of(answer, i));
  const std::vector<Rational> drawn = i < answer.released.component_values.size()
                                          ? answer.released.component_values[i]
                                          : std::vector<Rational>{};
  const bool withheld = answer.recorded.durable.has_value() && !*answer.recorded.durable;
  if (asks_proportion(answer)) {
    object.with("value", nullptr).with("value_decimal", nullptr).with("value_hex", nullptr);
    object.with("cells", pairs_json(answer.planned.record.cells, drawn, withheld));
  } else {
    const ledger::CellKeys& keys = answer.planned.record.cells;
    CellRange range = all_of(keys);
    if (asks_totals(answer)) {
      const auto margin = keys.margins().all().at(i);
      range = {margin.first, margin.cells};
      object.with("by", columns_drawn(answer, i));
    }
    add_values(object, answer, range, drawn, nullptr, withheld, nullptr);
  }
  return object.to_json();
}

/// The notes of all components, each once.
std::string published_note(const engine::Answer& answer) {
  std::vector<std::string> notes;
  for (const auto& component : answer.planned.record.components) {
    if (component.published_note.empty()) continue;
    if (std::find(notes.begin(), notes.end(), component.published_note) == notes.end()) {
      notes.push_back(component.published_note);
    }
  }
  std::string joined;
  for (const std::string& note : notes) joined += (joined.empty() ? "" : "; ") + note;
  return joined;
}

/// Whether it moves no balance: neither spent nor reserved.
bool costs_nothing(const engine::Answer& answer) {
  return answer.recorded.state != engine::RequestState::granted &&
         answer.recorded.state != engine::RequestState::reserved &&
         answer.recorded.state != engine::RequestState::forfeited;
}

/// null when none are needed; a history does not look them up.
Json approvals_json(const engine::Answer& answer, AnswerKind kind) {
  if (answer.planned.approvals_required == 0) return nullptr;
  Json given = Json::array();
  for (const engine::Approval& approval : answer.recorded.approvals) {
    given.push_back(
        {{"by", approval.by}, {"at", approval.at}, {"via", approval.via}, {"why", or_null(approval.why)}});
  }
  return {{"required", answer.planned.approvals_required},
          {"given", kind == AnswerKind::history ? Json(nullptr) : std::move(given)}};
}

/// What budget is kept for: a commit, or one after the data were handed out against a token; null for
/// neither.
Json reservation_json(engine::ReservationKind reservation) {
  switch (reservation) {
    case engine::ReservationKind::none:
      return nullptr;
    case engine::ReservationKind::reserved:
      return "plain";
    case engine::ReservationKind::reserved_against_token:
      return "data_token";
  }
  EPSILOG_INVARIANT(false);
}

void add_waiting(ObjectOf& object, const engine::Answer& answer, AnswerKind kind) {
  object.with("parent", or_null(answer.recorded.parent))
      .with("deadline", or_null(answer.recorded.deadline))
      .with("reservation", reservation_json(answer.asked.reservation))
      .with("approvals", approvals_json(answer, kind))
      .with("data_token", or_null(answer.recorded.token))
      .with("data_accessed_by", or_null(answer.recorded.data_accessed_by));
  if (!answer.planned.lost_within.empty()) object.with("lost_within", lost_within_json(answer));
  if (!answer.recorded.token_sha256.empty()) object.with("data_token_sha256", answer.recorded.token_sha256);
  object.with("ended_by", or_null(answer.recorded.ended_by)).with("why", or_null(answer.recorded.why));
}

/// A refusal charges nothing and proves no loss, also one that is planned; another plan says what would be
/// charged.
Json epsilon_json(const engine::Answer& answer, AnswerKind kind) {
  const bool nothing_charged = costs_nothing(answer) && !shows_cost(answer, kind);
  const auto unless_free = [&](Json value) { return nothing_charged ? Json(nullptr) : std::move(value); };
  const auto unless_unread = [&](Json value) {
    return engine::is_unread(answer) ? Json(nullptr) : std::move(value);
  };
  return ObjectOf(5)
      .with("requested", unless_unread(number_json(answer.planned.record.requested)))
      .with("charged", nothing_charged ? "0" : answer.planned.record.charged.text())
      .with("adjusted", unless_free(number_json(answer.planned.record.adjusted)))
      .with("published", unless_free(number_json(answer.planned.record.published)))
      .with("published_note", unless_free(or_null(published_note(answer))))
      .to_json();
}

/// null for a pure mechanism.
Json delta_json(const engine::Answer& answer, AnswerKind kind) {
  if (!answer.planned.delta) return nullptr;
  const bool nothing_charged = costs_nothing(answer) && !shows_cost(answer, kind);
  return {{"requested", answer.planned.delta->requested},
          {"charged", nothing_charged ? "0" : answer.planned.delta->charged},
          {"adjusted", nothing_charged ? Json(nullptr) : Json(answer.planned.delta->adjusted)}};
}

/// Of a batch that is charged as one: by which accountant, and what its rows would be charged by their sums.
Json composed_json(const engine::Answer& answer) {
  const accounting::ApproximateLoss sum = engine::sum_of_rows(answer);
  return ObjectOf(2)
      .with("accountant", accounting::name(answer.planned.record.composed.value().by))
      .with("sum", ObjectOf(2).with("epsilon", sum.epsilon.text()).with("delta", sum.delta.text()).to_json())
      .to_json();
}

/// Of a request that asked for it, and of no other.
Json rho_json(const engine::Answer& answer, AnswerKind kind) {
  const bool nothing_charged = costs_nothing(answer) && !shows_cost(answer, kind);
  return {{"requested", answer.planned.rho->requested},
          {"charged", nothing_charged ? "0" : answer.planned.rho->charged}};
}

/// The parameters of the only mechanism call; null or empty where a release has several.
void add_mechanism(ObjectOf& object, const engine::Answer& answer, AnswerKind kind) {
  const auto& components = answer.planned.record.components;
  const bool single = components.size() == 1;
  const bool same_precision = std::all_of(components.begin(), components.end(), [&](const auto& component) {
    return component.precision == components[0].precision;
  });
  object.with("mechanism", or_null(answer.planned.record.mechanism))
      .with("arithmetic", or_null(answer.planned.record.arithmetic))
      .with("precision",
            !components.empty() && same_precision ? precision_json(components[0]) : Json(nullptr))
      .with("sensitivity", single ? number_json(components[0].sensitivity) : Json(nullptr))
      .with("bound", single ? number_json(components[0].bound) : Json(nullptr))
      .with("scale", single ? number_json(components[0].scale) : Json(nullptr))
      .with("grid", single ? number_json(components[0].grid) : Json(nullptr));
  if (one_line(kind)) return;
  object.with("accuracy", single && !asks_proportion(answer) ? accuracy_of(answer, 0) : accuracy_json({}));
  if (asks_quantiles(answer)) object.with("rank_accuracy", rank_accuracy_json(answer));
  if (answer.planned.assumed) object.with("assumed", assumed_json(answer));
}

/// null where the decision is not known to be durable, or the tree cannot be read.
Json log_json(const std::optional<ledger::LogPosition>& log) {
  if (!log) return nullptr;
  return ObjectOf(4)
      .with("index", log->index)
      .with("leaf", ledger::hex_text(log->leaf))
      .with("size", log->tree.size)
      .with("root", ledger::hex_text(log->tree.root))
      .to_json();
}

/// Those of a batch stand in its rows.
Json components_json(const engine::Answer& answer, AnswerKind kind) {
  Json components = Json::array();
  if (answer.rows_count > 0) return components;
  for (std::size_t i = 0; i < answer.planned.record.components.size(); ++i) {
    components.push_back(component_json(answer, i, kind));
  }
  return components;
}

/// What was released, what it costs and by what it is drawn.
void add_answer(ObjectOf& object, const engine::Answer& answer, AnswerKind kind) {
  add_values(object, answer, all_of(answer.planned.record.cells), answer.released.values,
             one_line(kind) ? nullptr : &answer.released.intervals,
             answer.recorded.durable.has_value() && !*answer.recorded.durable, &answer);
  if (!one_line(kind)) add_intervals(object, answer);
  object.with("epsilon", epsilon_json(answer, kind)).with("delta", delta_json(answer, kind));
  if (answer.planned.record.composed) object.with("composed", composed_json(answer));
  if (answer.planned.rho) object.with("rho", rho_json(answer, kind));
  add_mechanism(object, answer, kind);
}

void add_totals(ObjectOf& object, const engine::Answer& answer) {
  if (!answer.asked.totals) return;
  object.with("totals", accounting::text(*answer.asked.totals)).with("consistent", answer.asked.consistent);
}

/// A row stands as its batch does.
Json row_json(engine::Answer row, std::size_t number, const engine::Answer& batch, AnswerKind kind) {
  row.recorded.state = batch.recorded.state;
  row.recorded.durable = batch.recorded.durable;
  ObjectOf object(30);
  object.with("row", number)
      .with("statistic", row.asked.statistic)
      .with("by", columns_json(row.asked.by))
      .with("where", or_null(row.asked.where));
  add_totals(object, row);
  if (row.asked.suppress_below) object.with("suppress_below", accounting::text(*row.asked.suppress_below));
  add_answer(object, row, kind);
  if (!one_line(kind)) {
    const bool scalar = row.planned.record.cells.empty();
    object.with("simultaneous", scalar
                                    ? intervals_json(row, row.released.intervals, 0, AccuracyScope::together)
                                    : Json(nullptr));
  }
  object.with("components", components_json(row, kind))
      .with("post_processing", accounting::name(row.planned.post_processing));
  if (kind == AnswerKind::plan) object.with("holds_from", planned_sizes_json(row));
  return object.to_json();
}

Json rows_json(const engine::Answer& batch, AnswerKind kind) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    accounting::stop_if_requested();
    rows.push_back(row_json(batch.rows[i], i + 1, batch, kind));
  }
  return rows;
}

/// What the policy says of the budgets, and which rows are in no cell of a table, each sentence once.
std::vector<std::string> notes_of(const engine::Answer& answer) {
  std::vector<std::string> notes = answer.planned.notes;
  const auto add = [&notes](const engine::Answer& one) {
    if (one.planned.left_out.empty()) return;
    const std::string note = one.planned.left_out + " are in no cell";
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  };
  add(answer);
  for (const engine::Answer& row : answer.rows) add(row);
  return notes;
}

Json build_json(const ledger::Build& build) {
  if (build.version.empty()) return nullptr;
  return {{"version", build.version}, {"revision", build.revision}};
}

}  // namespace

Json rank_accuracy_json(const engine::Answer& answer) {
  Json list = Json::array();
  for (std::size_t i = 0; i < answer.planned.accuracy.size(); ++i) {
    for (const engine::Accuracy& one : answer.planned.accuracy[i]) {
      list.push_back(ObjectOf(5)
                         .with("quantile", quantile_text(answer, i))
                         .with("alpha", accounting::text(one.alpha))
                         .with("within", rounded_up_json(one.a))
                         .with("ties", rounded_up_json(one.ties))
                         .with("any_value_to", any_value_to(answer, i, one).get_str())
                         .to_json());
    }
  }
  return list;
}

Json planned_sizes_json(const engine::Answer& answer) {
  Json list = Json::array();
  for (const engine::PlannedSizes& one : answer.planned.holds_from) {
    list.push_back(ObjectOf(3)
                       .with("alpha", accounting::text(one.alpha))
                       .with("interval", holds_from_json(one.each_holds_from, false))
                       .with("simultaneous", holds_from_json(one.together_holds_from, false))
                       .to_json());
  }
  return list;
}

Json assumed_json(const engine::Answer& answer) {
  const engine::AssumedAccuracy& assumed = answer.planned.assumed.value();
  ObjectOf object(3);
  object.with("count", assumed.rows).with("accuracy", accuracy_json(assumed.accuracy));
  if (assumed.quantiles.empty()) return object.to_json();
  Json list = Json::array();
  for (std::size_t i = 0; i < assumed.quantiles.size(); ++i) {
    for (const engine::QuantileReach& one : assumed.quantiles[i]) {
      const bool whole = one.low <= 0 && one.high >= 1;
      list.push_back(ObjectOf(7)
                         .with("quantile", quantile_text(answer, i))
                         .with("alpha", accounting::text(one.alpha))
                         .with("low", accounting::text_down(one.low, kDigits))
                         .with("high", accounting::text_up(one.high, kDigits))
                         .with("ties", rounded_up_json(one.ties))
                         .with("whole_range", whole)
                         .with("holds_from", holds_from_json(Rational(assumed.rows), whole))
                         .to_json());
    }
  }
  return object.with("quantiles", std::move(list)).to_json();
}

const char* decision_word(const engine::Answer& answer) {
  switch (answer.recorded.state) {
    case engine::RequestState::granted:
    case engine::RequestState::approved:
    case engine::RequestState::data_accessed:
      return "granted";
    case engine::RequestState::reserved:
      return answer.asked.reservation == engine::ReservationKind::none ? "pending" : "granted";
    case engine::RequestState::pending:
      return "pending";
    case engine::RequestState::refused:
    case engine::RequestState::rejected:
    case engine::RequestState::cancelled:
    case engine::RequestState::expired:
    case engine::RequestState::forfeited:
      return "refused";
  }
  EPSILOG_INVARIANT(false);
}

Json lost_within_json(const engine::Answer& answer) {
  Json sums = Json::array();
  for (const engine::LossWithinWindow& sum : answer.planned.lost_within) {
    sums.push_back({{"measure", sum.measure},
                    {"limit", sum.limit},
                    {"before", sum.before},
                    {"charge", sum.asked},
                    {"within_seconds", sum.seconds},
                    {"above", sum.above}});
  }
  return sums;
}

Json answer_object(const engine::Answer& answer, AnswerKind kind) {
  constexpr std::size_t kMembersMax = 63;
  const auto unless_zero = [](std::int64_t number) { return number == 0 ? Json(nullptr) : Json(number); };
  ObjectOf object(kMembersMax);
  object.with("decision", decision_word(answer))
      .with("state", engine::name(answer.recorded.state))
      .with("decision_id", or_null(answer.recorded.decision_id))
      .with("seq", unless_zero(answer.recorded.seq))
      .with("ledger_id", or_null(answer.recorded.ledger_id))
      .with("created_at", or_null(answer.recorded.created_at))
      .with("replayed", answer.recorded.replayed)
      .with("durable", answer.recorded.durable ? Json(*answer.recorded.durable) : Json(nullptr))
      .with("principal", answer.asked.principal)
      .with("via", or_null(answer.asked.via))
      .with("key", or_null(answer.asked.key))
      .with("policy_version", unless_zero(answer.planned.policy_version))
      .with("decided_under", unless_zero(answer.recorded.decided_under))
      .with("rules",
            answer.recorded.seq == 0 ? Json(nullptr) : Json(static_cast<std::int64_t>(answer.recorded.rules)))
      .with("build", build_json(answer.recorded.build))
      .with("dataset", answer.asked.dataset)
      .with("statistic", or_null(answer.asked.statistic))
      .with("by", columns_json(answer.asked.by))
      .with("where", or_null(answer.asked.where))
      .with("purpose", or_null(answer.asked.purpose));
  add_totals(object, answer);
  if (answer.asked.suppress_below)
    object.with("suppress_below", accounting::text(*answer.asked.suppress_below));
  if (answer.recorded.replica_behind) object.with("replica_behind", true);
  add_answer(object, answer, kind);
  object.with("components", components_json(answer, kind))
      .with("unit", or_null(answer.planned.record.unit))
      .with("neighbours", or_null(answer.planned.record.neighbours))
      .with("accounts", accounts_json(answer.recorded.accounts))
      .with("post_processing", accounting::name(answer.planned.post_processing))
      .with("notes", notes_of(answer));
  if (kind == AnswerKind::plan) {
    if (answer.rows_count == 0) object.with("holds_from", planned_sizes_json(answer));
    object.with("advice", answer.planned.advice);
  }
  object.with("reasons", reason_list(answer));
  if (!answer.rows.empty()) object.with("rows", rows_json(answer, kind));
  if (answer.rows.empty() && answer.rows_count > 0) object.with("rows_count", answer.rows_count);
  if (!one_line(kind)) object.with("same_question", or_null(answer.asked.same_question));
  if (answer.recorded.reasons_count > answer.recorded.reasons.size())
    object.with("reasons_count", answer.recorded.reasons_count);
  add_waiting(object, answer, kind);
  if (!one_line(kind) && kind != AnswerKind::plan) object.with("log", log_json(answer.recorded.log));
  return object.to_json();
}

std::string answer_json(const engine::Answer& answer, AnswerKind kind) {
  return one_object(answer_object(answer, kind), one_line(kind) ? -1 : 2);
}

}  // namespace epsilog::wire
