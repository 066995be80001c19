#include "answer_json.hpp"

#include <algorithm>
#include <charconv>

#include "epsilog/ledger/digest.hpp"
#include "json_parts.hpp"

namespace epsilog::command {
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

/// null without --by, and where what was released is withheld; the value null where nothing was released.
Json cells_json(const std::vector<std::string>& keys, const std::vector<Rational>& values, bool withheld) {
  if (keys.empty() || withheld) return nullptr;
  Json list = Json::array();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool released = i < values.size();
    list.push_back({{"key", keys[i]},
                    {"value", released ? Json(accounting::text(values[i])) : Json(nullptr)},
                    {"value_decimal", released ? decimal_or_null(values[i]) : Json(nullptr)},
                    {"value_hex", released ? hex_or_null(values[i]) : Json(nullptr)}});
  }
  return list;
}

/// Adds value, value_decimal and value_hex, or cells, of one released vector.
void add_values(Json& object, const std::vector<std::string>& keys, const std::vector<Rational>& values,
                bool withheld) {
  const bool scalar = keys.empty() && !values.empty();
  object["value"] = scalar ? Json(accounting::text(values[0])) : Json(nullptr);
  object["value_decimal"] = scalar ? decimal_or_null(values[0]) : Json(nullptr);
  object["value_hex"] = scalar ? hex_or_null(values[0]) : Json(nullptr);
  object["cells"] = cells_json(keys, values, withheld);
}

bool one_line(AnswerKind kind) {
  return kind == AnswerKind::history || kind == AnswerKind::pending;
}

/// A plan that would be refused would cost nothing.
bool says_what_it_would_cost(const engine::Answer& answer, AnswerKind kind) {
  if (kind == AnswerKind::plan) return answer.recorded.state != engine::RequestState::refused;
  return kind == AnswerKind::pending;
}

Json precision_json(const ledger::ComponentRecord& component) {
  return component.precision == 0 ? Json(nullptr) : Json(component.precision);
}

Json component_json(const engine::Answer& answer, std::size_t i, AnswerKind kind) {
  const ledger::ComponentRecord& component = answer.planned.record.components[i];
  Json object{
      {"statistic", component.statistic},
      {"epsilon", component.epsilon.text()},
      {"delta", component.delta ? Json(component.delta->text()) : Json(nullptr)},
      {"sensitivity", number_json(component.sensitivity)},
      {"sensitivity_l2_squared", number_json(component.sensitivity_l2_squared)},
      {"inflated", number_json(component.inflated)},
      {"coordinates", component.coordinates},
      {"bound", number_json(component.bound)},
      {"centre", number_json(component.centre)},
      {"lambda", number_json(component.lambda)},
      {"grid", number_json(component.grid)},
      {"precision", precision_json(component)},
      {"precision_reason",
       i < answer.planned.precision_reasons.size() ? or_null(answer.planned.precision_reasons[i]) : Json()},
      {"adjusted", number_json(component.adjusted)},
      {"adjusted_delta", number_json(component.adjusted_delta)},
      {"rho", number_json(component.rho)},
      {"published", number_json(component.published)},
      {"published_note", or_null(component.published_note)}};
  if (!one_line(kind)) {
    object["accuracy"] = accuracy_json(i < answer.planned.accuracy.size() ? answer.planned.accuracy[i]
                                                                          : std::vector<engine::Accuracy>{});
  }
  add_values(object, answer.planned.record.cells,
             i < answer.released.component_values.size() ? answer.released.component_values[i]
                                                         : std::vector<Rational>{},
             answer.recorded.durable.has_value() && !*answer.recorded.durable);
  return object;
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
    given.push_back({{"by", approval.by}, {"at", approval.at}, {"via", approval.via}});
  }
  return {{"required", answer.planned.approvals_required},
          {"given", kind == AnswerKind::history ? Json(nullptr) : std::move(given)}};
}

void add_waiting(Json& object, const engine::Answer& answer, AnswerKind kind) {
  object["parent"] = or_null(answer.recorded.parent);
  object["deadline"] = or_null(answer.recorded.deadline);
  object["data_token"] = answer.asked.holding == engine::Holding::reserved_against_token;
  object["approvals"] = approvals_json(answer, kind);
  object["token"] = or_null(answer.recorded.token);
  if (!answer.recorded.token_sha256.empty()) object["token_sha256"] = answer.recorded.token_sha256;
  object["ended_by"] = or_null(answer.recorded.ended_by);
  object["why"] = or_null(answer.recorded.why);
}

/// A refusal charges nothing and proves no loss, also one that is planned; another plan says what would be
/// charged.
Json epsilon_json(const engine::Answer& answer, AnswerKind kind) {
  const bool nothing_charged = costs_nothing(answer) && !says_what_it_would_cost(answer, kind);
  Json object{{"requested", number_json(answer.planned.record.requested)},
              {"charged", nothing_charged ? "0" : answer.planned.record.charged.text()},
              {"adjusted", nothing_charged ? Json(nullptr) : number_json(answer.planned.record.adjusted)},
              {"published", nothing_charged ? Json(nullptr) : number_json(answer.planned.record.published)}};
  object["published_note"] = nothing_charged ? Json(nullptr) : or_null(published_note(answer));
  return object;
}

/// null for a pure mechanism.
Json delta_json(const engine::Answer& answer, AnswerKind kind) {
  if (!answer.planned.delta) return nullptr;
  const bool nothing_charged = costs_nothing(answer) && !says_what_it_would_cost(answer, kind);
  return {{"requested", answer.planned.delta->requested},
          {"charged", nothing_charged ? "0" : answer.planned.delta->charged},
          {"adjusted", nothing_charged ? Json(nullptr) : Json(answer.planned.delta->adjusted)}};
}

/// Of a request that asked for it, and of no other.
Json rho_json(const engine::Answer& answer, AnswerKind kind) {
  const bool nothing_charged = costs_nothing(answer) && !says_what_it_would_cost(answer, kind);
  return {{"requested", answer.planned.rho->requested},
          {"charged", nothing_charged ? "0" : answer.planned.rho->charged}};
}

/// The parameters of the only mechanism call; null or empty where a release has several.
void add_mechanism(Json& object, const engine::Answer& answer, AnswerKind kind) {
  const auto& components = answer.planned.record.components;
  const bool single = components.size() == 1;
  const bool same_precision = std::all_of(components.begin(), components.end(), [&](const auto& component) {
    return component.precision == components[0].precision;
  });
  object["mechanism"] = or_null(answer.planned.record.mechanism);
  object["arithmetic"] = or_null(answer.planned.record.arithmetic);
  object["precision"] = !components.empty() && same_precision ? precision_json(components[0]) : Json(nullptr);
  object["sensitivity"] = single ? number_json(components[0].sensitivity) : Json(nullptr);
  object["bound"] = single ? number_json(components[0].bound) : Json(nullptr);
  object["lambda"] = single ? number_json(components[0].lambda) : Json(nullptr);
  object["grid"] = single ? number_json(components[0].grid) : Json(nullptr);
  if (!one_line(kind)) {
    object["accuracy"] =
        accuracy_json(single && !answer.planned.accuracy.empty() ? answer.planned.accuracy[0]
                                                                 : std::vector<engine::Accuracy>{});
  }
}

/// null where the decision is not known to be durable, or the tree cannot be read.
Json log_json(const std::optional<ledger::LogPlace>& log) {
  if (!log) return nullptr;
  return {{"index", log->index},
          {"leaf", ledger::hex_text(log->leaf)},
          {"size", log->tree.size},
          {"root", ledger::hex_text(log->tree.root)}};
}

Json program_json(const ledger::Program& program) {
  if (program.version.empty()) return nullptr;
  return {{"version", program.version}, {"commit", program.commit}};
}

}  // namespace

const char* decision_word(const engine::Answer& answer) {
  switch (answer.recorded.state) {
    case engine::RequestState::granted:
    case engine::RequestState::approved:
    case engine::RequestState::token_issued:
      return "granted";
    case engine::RequestState::reserved:
      return answer.asked.holding == engine::Holding::none ? "pending" : "granted";
    case engine::RequestState::pending:
      return "pending";
    case engine::RequestState::refused:
    case engine::RequestState::rejected:
    case engine::RequestState::cancelled:
    case engine::RequestState::expired:
    case engine::RequestState::forfeited:
      return "denied";
  }
  EPSILOG_INVARIANT(false);
}

Json answer_object(const engine::Answer& answer, AnswerKind kind) {
  Json object{{"decision", decision_word(answer)},
              {"state", engine::name(answer.recorded.state)},
              {"decision_id", or_null(answer.recorded.decision_id)},
              {"seq", answer.recorded.seq == 0 ? Json(nullptr) : Json(answer.recorded.seq)},
              {"ledger_id", answer.recorded.ledger_id},
              {"created_at", or_null(answer.recorded.created_at)},
              {"replayed", answer.recorded.replayed},
              {"durable", answer.recorded.durable ? Json(*answer.recorded.durable) : Json(nullptr)},
              {"principal", answer.asked.principal},
              {"via", or_null(answer.asked.via)},
              {"key", or_null(answer.asked.key)},
              {"policy_version", answer.planned.policy_version},
              {"decided_under",
               answer.recorded.decided_under == 0 ? Json(nullptr) : Json(answer.recorded.decided_under)},
              {"rules", answer.recorded.seq == 0 ? Json(nullptr)
                                                 : Json(static_cast<std::int64_t>(answer.recorded.rules))},
              {"program", program_json(answer.recorded.program)},
              {"dataset", answer.asked.dataset},
              {"statistic", answer.asked.statistic},
              {"by", or_null(answer.asked.by)},
              {"where", or_null(answer.asked.where)},
              {"purpose", or_null(answer.asked.purpose)}};
  if (answer.recorded.replica_behind) object["replica_behind"] = true;
  add_values(object, answer.planned.record.cells, answer.released.values,
             answer.recorded.durable.has_value() && !*answer.recorded.durable);
  object["epsilon"] = epsilon_json(answer, kind);
  object["delta"] = delta_json(answer, kind);
  if (answer.planned.rho) object["rho"] = rho_json(answer, kind);
  add_mechanism(object, answer, kind);
  object["components"] = Json::array();
  for (std::size_t i = 0; i < answer.planned.record.components.size(); ++i) {
    object["components"].push_back(component_json(answer, i, kind));
  }
  object["unit"] = or_null(answer.planned.record.unit);
  object["relation"] = or_null(answer.planned.record.relation);
  object["accounts"] = accounts_json(answer.recorded.accounts);
  object["post_processing"] = accounting::name(answer.planned.post_processing);
  object["notes"] = answer.planned.notes;
  if (kind == AnswerKind::plan) object["advice"] = answer.planned.advice;
  object["reasons"] = reason_list(answer);
  if (!one_line(kind)) object["same_question"] = or_null(answer.asked.same_question);
  if (answer.recorded.reasons_count > answer.recorded.reasons.size())
    object["reasons_count"] = answer.recorded.reasons_count;
  add_waiting(object, answer, kind);
  if (!one_line(kind) && kind != AnswerKind::plan) object["log"] = log_json(answer.recorded.log);
  return object;
}

std::string answer_json(const engine::Answer& answer, AnswerKind kind) {
  return one_object(answer_object(answer, kind), one_line(kind) ? -1 : 2);
}

}  // namespace epsilog::command
