#include "json_output.hpp"

#include <algorithm>

#include "amounts.hpp"
#include "epsilog/engine/measure.hpp"
#include "json_parts.hpp"
#include "printable.hpp"

namespace epsilog::command {
namespace {

using accounting::Rational;

Json hex_or_null(const Rational& value) {
  return or_null(accounting::hexfloat_text(value));
}

/// null without --by, and where what was released is withheld; the value null where nothing was released.
Json cells_json(const std::vector<std::string>& keys, const std::vector<Rational>& values, bool withheld) {
  if (keys.empty() || withheld) return nullptr;
  Json list = Json::array();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool released = i < values.size();
    list.push_back({{"key", keys[i]},
                    {"value", released ? Json(accounting::text(values[i])) : Json(nullptr)},
                    {"value_hex", released ? hex_or_null(values[i]) : Json(nullptr)}});
  }
  return list;
}

/// Adds value and value_hex, or cells, of one released vector.
void add_values(Json& object, const std::vector<std::string>& keys, const std::vector<Rational>& values,
                bool withheld) {
  const bool scalar = keys.empty() && !values.empty();
  object["value"] = scalar ? Json(accounting::text(values[0])) : Json(nullptr);
  object["value_hex"] = scalar ? hex_or_null(values[0]) : Json(nullptr);
  object["cells"] = cells_json(keys, values, withheld);
}

bool one_line(AnswerKind kind) {
  return kind == AnswerKind::history || kind == AnswerKind::pending;
}

bool says_what_it_would_cost(AnswerKind kind) {
  return kind == AnswerKind::plan || kind == AnswerKind::pending;
}

Json precision_json(const ledger::ComponentRecord& component) {
  return component.precision == 0 ? Json(nullptr) : Json(component.precision);
}

Json component_json(const engine::Answer& answer, std::size_t i, AnswerKind kind) {
  const ledger::ComponentRecord& component = answer.record.components[i];
  Json object{{"statistic", component.statistic},
              {"epsilon", or_null(component.epsilon)},
              {"delta", or_null(component.delta)},
              {"sensitivity", or_null(component.sensitivity)},
              {"sensitivity_l2_squared", or_null(component.sensitivity_l2_squared)},
              {"inflated", or_null(component.inflated)},
              {"coordinates", component.coordinates},
              {"bound", or_null(component.bound)},
              {"centre", or_null(component.centre)},
              {"lambda", or_null(component.lambda)},
              {"grid", or_null(component.grid)},
              {"precision", precision_json(component)},
              {"precision_reason",
               i < answer.precision_reasons.size() ? or_null(answer.precision_reasons[i]) : Json()},
              {"adjusted", or_null(component.adjusted)},
              {"adjusted_delta", or_null(component.adjusted_delta)},
              {"rho", or_null(component.rho)},
              {"published", or_null(component.published)},
              {"published_note", or_null(component.published_note)}};
  if (!one_line(kind)) {
    object["accuracy"] =
        accuracy_json(i < answer.accuracy.size() ? answer.accuracy[i] : std::vector<engine::Accuracy>{});
  }
  add_values(object, answer.record.cells,
             i < answer.component_values.size() ? answer.component_values[i] : std::vector<Rational>{},
             answer.durable.has_value() && !*answer.durable);
  return object;
}

/// The notes of all components, each once.
std::string published_note(const engine::Answer& answer) {
  std::vector<std::string> notes;
  for (const auto& component : answer.record.components) {
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
  return answer.state != engine::RequestState::granted && answer.state != engine::RequestState::reserved &&
         answer.state != engine::RequestState::forfeited;
}

/// null when none are needed; a history does not look them up.
Json approvals_json(const engine::Answer& answer, AnswerKind kind) {
  if (answer.approvals_required == 0) return nullptr;
  Json given = Json::array();
  for (const engine::Approval& approval : answer.approvals) {
    given.push_back({{"by", approval.by}, {"at", approval.at}});
  }
  return {{"required", answer.approvals_required},
          {"given", kind == AnswerKind::history ? Json(nullptr) : std::move(given)}};
}

void add_waiting(Json& object, const engine::Answer& answer, AnswerKind kind) {
  object["parent"] = or_null(answer.parent);
  object["deadline"] = or_null(answer.deadline);
  object["data_token"] = answer.holding == engine::Holding::reserved_against_token;
  object["approvals"] = approvals_json(answer, kind);
  object["token"] = or_null(answer.token);
  object["ended_by"] = or_null(answer.ended_by);
  object["why"] = or_null(answer.why);
}

/// A refusal charges nothing and proves no loss; a plan says what would be charged.
Json epsilon_json(const engine::Answer& answer, AnswerKind kind) {
  const bool nothing_charged = costs_nothing(answer) && !says_what_it_would_cost(kind);
  Json object{{"requested", or_null(answer.record.requested)},
              {"charged", nothing_charged ? Json("0") : or_null(answer.record.charged)},
              {"adjusted", nothing_charged ? Json(nullptr) : or_null(answer.record.adjusted)},
              {"published", nothing_charged ? Json(nullptr) : or_null(answer.record.published)}};
  object["published_note"] = nothing_charged ? Json(nullptr) : or_null(published_note(answer));
  return object;
}

/// null for a pure mechanism.
Json delta_json(const engine::Answer& answer, AnswerKind kind) {
  if (!answer.delta) return nullptr;
  const bool nothing_charged = costs_nothing(answer) && !says_what_it_would_cost(kind);
  return {{"requested", answer.delta->requested},
          {"charged", nothing_charged ? "0" : answer.delta->charged},
          {"adjusted", nothing_charged ? Json(nullptr) : Json(answer.delta->adjusted)}};
}

/// Of a request that asked for it, and of no other.
Json rho_json(const engine::Answer& answer, AnswerKind kind) {
  const bool nothing_charged = costs_nothing(answer) && !says_what_it_would_cost(kind);
  return {{"requested", answer.rho->requested}, {"charged", nothing_charged ? "0" : answer.rho->charged}};
}

/// The parameters of the only mechanism call; null or empty where a release has several.
void add_mechanism(Json& object, const engine::Answer& answer, AnswerKind kind) {
  const auto& components = answer.record.components;
  const bool single = components.size() == 1;
  const ledger::ComponentRecord none;
  const ledger::ComponentRecord& only = single ? components[0] : none;
  const bool same_precision = std::all_of(components.begin(), components.end(), [&](const auto& component) {
    return component.precision == components[0].precision;
  });
  object["mechanism"] = or_null(answer.record.mechanism);
  object["arithmetic"] = or_null(answer.record.arithmetic);
  object["precision"] = !components.empty() && same_precision ? precision_json(components[0]) : Json(nullptr);
  object["sensitivity"] = or_null(only.sensitivity);
  object["bound"] = or_null(only.bound);
  object["lambda"] = or_null(only.lambda);
  object["grid"] = or_null(only.grid);
  if (!one_line(kind)) {
    object["accuracy"] = accuracy_json(single && !answer.accuracy.empty() ? answer.accuracy[0]
                                                                          : std::vector<engine::Accuracy>{});
  }
}

}  // namespace

const char* decision_word(const engine::Answer& answer) {
  switch (answer.state) {
    case engine::RequestState::granted:
    case engine::RequestState::approved:
    case engine::RequestState::token_issued:
      return "granted";
    case engine::RequestState::reserved:
      return answer.holding == engine::Holding::none ? "pending" : "granted";
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

namespace {
Json rules_json(ledger::Rules rules) {
  return static_cast<std::int64_t>(rules);
}

Json program_json(const ledger::Program& program) {
  if (program.version.empty()) return nullptr;
  return {{"version", program.version}, {"commit", program.commit}};
}
}  // namespace

Json answer_object(const engine::Answer& answer, AnswerKind kind) {
  Json object{{"decision", decision_word(answer)},
              {"state", engine::name(answer.state)},
              {"decision_id", or_null(answer.decision_id)},
              {"seq", answer.seq == 0 ? Json(nullptr) : Json(answer.seq)},
              {"ledger_id", answer.ledger_id},
              {"created_at", or_null(answer.created_at)},
              {"replayed", answer.replayed},
              {"durable", answer.durable ? Json(*answer.durable) : Json(nullptr)},
              {"principal", answer.principal},
              {"key", or_null(answer.key)},
              {"policy_version", answer.policy_version},
              {"decided_under", answer.decided_under == 0 ? Json(nullptr) : Json(answer.decided_under)},
              {"rules", answer.seq == 0 ? Json(nullptr) : rules_json(answer.rules)},
              {"program", program_json(answer.program)},
              {"dataset", answer.dataset},
              {"statistic", answer.statistic},
              {"by", or_null(answer.by)},
              {"where", or_null(answer.where)},
              {"purpose", or_null(answer.purpose)}};
  add_values(object, answer.record.cells, answer.values, answer.durable.has_value() && !*answer.durable);
  object["epsilon"] = epsilon_json(answer, kind);
  object["delta"] = delta_json(answer, kind);
  if (answer.rho) object["rho"] = rho_json(answer, kind);
  add_mechanism(object, answer, kind);
  object["components"] = Json::array();
  for (std::size_t i = 0; i < answer.record.components.size(); ++i) {
    object["components"].push_back(component_json(answer, i, kind));
  }
  object["unit"] = or_null(answer.record.unit);
  object["relation"] = or_null(answer.record.relation);
  object["accounts"] = accounts_json(answer.accounts);
  object["notes"] = answer.notes;
  object["reasons"] = reason_list(answer);
  if (answer.reasons_count > answer.reasons.size()) object["reasons_count"] = answer.reasons_count;
  add_waiting(object, answer, kind);
  return object;
}

std::string answer_json(const engine::Answer& answer, AnswerKind kind) {
  return one_object(answer_object(answer, kind), one_line(kind) ? -1 : 2);
}

std::string init_json(const engine::InitReport& report) {
  return pretty(
      {{"ledger", report.ledger}, {"ledger_id", report.ledger_id}, {"policy_sha256", report.policy_sha256}});
}

namespace {
Json faults_json(const std::vector<PolicyFault>& faults) {
  Json list = Json::array();
  for (const PolicyFault& fault : faults) {
    list.push_back(
        {{"file", fault.file}, {"line", fault.line}, {"column", fault.column}, {"message", fault.message}});
  }
  return list;
}
}  // namespace

std::string policy_check_json(const std::vector<PolicyFault>& faults) {
  return pretty({{"ok", faults.empty()}, {"faults", faults_json(faults)}});
}

std::string policy_show_json(const ledger::PolicyVersion& version, const std::string& ledger_id) {
  return pretty({{"ledger_id", ledger_id},
                 {"policy_version", version.version},
                 {"policy_sha256", version.sha256},
                 {"base_dir", version.base_dir},
                 {"applied_at", version.applied_at},
                 {"applied_by", version.applied_by},
                 {"yaml", version.yaml}});
}

std::string policy_apply_json(const engine::ApplyReport& report, const std::string& ledger_id,
                              const std::vector<engine::BudgetAccount>& accounts) {
  const auto find = [&accounts](std::int64_t id) {
    const auto account = std::find_if(accounts.begin(), accounts.end(),
                                      [id](const auto& candidate) { return candidate.id == id; });
    EPSILOG_INVARIANT(account != accounts.end());
    return account;
  };
  Json changes = Json::array();
  for (const ledger::LimitChange& change : report.limit_changes) {
    const auto account = find(change.account);
    changes.push_back({{"dataset", account->dataset},
                       {"scope", account->scope},
                       {"measure", account->measure},
                       {"old_limit", engine::amount_text(account->measure, change.old_limit)},
                       {"new_limit", engine::amount_text(account->measure, change.new_limit)},
                       {"by", change.by},
                       {"why", change.why}});
  }
  Json removals = Json::array();
  for (const ledger::LimitRemoval& removal : report.limit_removals) {
    const auto account = find(removal.account);
    removals.push_back({{"dataset", account->dataset},
                        {"scope", account->scope},
                        {"measure", account->measure},
                        {"limit", engine::amount_text(account->measure, account->balance.limit)},
                        {"spent", engine::amount_text(account->measure, account->balance.spent)},
                        {"by", removal.by},
                        {"why", removal.why}});
  }
  return pretty({{"ledger_id", ledger_id},
                 {"policy_version", report.policy_version},
                 {"policy_sha256", report.policy_sha256},
                 {"changed", report.changed},
                 {"limit_changes", changes},
                 {"limit_removals", removals}});
}

std::string data_check_json(const std::vector<DatasetReport>& reports,
                            const std::vector<std::string>& without_source) {
  Json datasets = Json::array();
  for (const DatasetReport& report : reports) {
    Json columns = Json::array();
    for (const auto& column : report.data.columns) {
      columns.push_back({{"column", column.column},
                         {"missing", column.missing},
                         {"nulls", column.nulls},
                         {"unreadable", column.unreadable},
                         {"unreadable_at", column.unreadable_at},
                         {"out_of_bounds", column.out_of_bounds},
                         {"undeclared", column.undeclared}});
    }
    datasets.push_back(
        {{"dataset", report.dataset},
         {"source", report.source},
         {"rows", report.data.rows},
         {"malformed", report.data.malformed},
         {"malformed_at", report.data.malformed_at},
         {"outside_blocks", report.data.outside_blocks ? Json(*report.data.outside_blocks) : Json()},
         {"without_unit", report.data.without_unit},
         {"over_max_rows", report.data.over_max_rows},
         {"units", report.data.units},
         {"kept", report.data.kept},
         {"rows_declared", report.data.declared.count},
         {"rows_exact", report.data.declared.exact},
         {"beyond_rows_max", report.data.beyond_rows_max},
         {"columns", columns}});
  }
  return pretty({{"ok", true}, {"datasets", datasets}, {"without_source", without_source}});
}

std::string budget_json(const std::string& ledger_id, const std::vector<engine::BudgetAccount>& accounts,
                        const std::vector<std::string>& notes) {
  Json list = Json::array();
  for (const engine::BudgetAccount& account : accounts) {
    Json object = account_json(account);
    object["active"] = account.active;
    list.push_back(std::move(object));
  }
  return pretty({{"ledger_id", ledger_id}, {"accounts", list}, {"notes", notes}});
}

namespace {
Json audit_faults(const std::vector<engine::AuditFault>& faults) {
  Json list = Json::array();
  for (const engine::AuditFault& fault : faults) {
    list.push_back({{"record", fault.record}, {"code", fault.code}, {"message", fault.message}});
  }
  return list;
}
}  // namespace

std::string audit_json(const engine::AuditReport& report) {
  return pretty({{"ok", report.ok},
                 {"records", report.records},
                 {"faults", audit_faults(report.faults)},
                 {"notes", audit_faults(report.notes)}});
}

std::string replayed_json(const engine::ReplayedDecision& decision) {
  return one_object({{"decision_id", decision.decision_id},
                     {"seq", decision.seq},
                     {"created_at", decision.created_at},
                     {"outcome", decision.outcome},
                     {"rules", rules_json(decision.rules)},
                     {"policy_version", decision.policy_version},
                     {"policy_sha256", or_null(decision.policy_sha256)},
                     {"same", decision.faults.empty()},
                     {"faults", audit_faults(decision.faults)}},
                    -1);
}

std::string replay_summary_json(const engine::AuditReport& report, std::int64_t same) {
  return one_object({{"ok", report.ok},
                     {"records", report.records},
                     {"same", same},
                     {"faults", audit_faults(report.faults)}},
                    -1);
}

std::string migrate_json(const std::string& ledger, const ledger::Migration& migration) {
  return pretty({{"ledger", ledger},
                 {"from", migration.from},
                 {"to", migration.to},
                 {"copy", or_null(migration.copy)}});
}

std::string clock_confirm_json(const std::string& ledger, const std::string& held_at,
                               const std::string& now) {
  return pretty({{"ledger", ledger},
                 {"was_held", !held_at.empty()},
                 {"held_at", or_null(held_at)},
                 {"calendar_time", now}});
}

std::string recover_json(const std::string& ledger, const engine::RecoverReport& report) {
  return pretty(
      {{"ledger", ledger}, {"was_poisoned", report.was_poisoned}, {"reason", or_null(report.reason)}});
}

namespace {
Json failure_json(const Failure& failure) {
  Json error{{"code", failure.code}, {"message", failure.message}};
  if (!failure.faults.empty()) error["faults"] = faults_json(failure.faults);
  return error;
}

Json object_json(const Figures& figures) {
  struct Value {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(std::uint64_t count) const { return count; }
    Json operator()(bool yes) const { return yes; }
    Json operator()(const Figures& inner) const { return object_json(inner); }
    Json operator()(const std::vector<Figures>& list) const {
      Json array = Json::array();
      for (const Figures& one : list) array.push_back(object_json(one));
      return array;
    }
  };
  Json object = Json::object();
  for (const Figure& figure : figures) object[figure.name] = std::visit(Value{}, figure.value);
  return object;
}
}  // namespace

std::string error_json(const Failure& failure) {
  return pretty({{"error", failure_json(failure)}});
}

std::string figures_json(const Figures& figures) {
  return pretty(object_json(figures));
}

std::string row_json(std::size_t line, const Figures& figures) {
  Json object{{"line", line}};
  object.update(object_json(figures));
  return one_object(object, -1);
}

std::string row_error_json(std::size_t line, const Failure& failure) {
  return one_object({{"line", line}, {"error", failure_json(failure)}}, -1);
}

}  // namespace epsilog::command
