#include "ledger_report_json.hpp"

#include "amounts.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "figures_json.hpp"
#include "json_parts.hpp"
#include "reaccount_output.hpp"

namespace epsilog::command {

using wire::Json;

namespace {

using engine::LedgerReport;

Json audit_summary(const engine::AuditReport& audit) {
  const auto list = [](const std::vector<engine::AuditFault>& faults) {
    Json all = Json::array();
    for (const engine::AuditFault& one : faults) {
      all.push_back({{"record", one.record}, {"code", one.code}, {"message", one.message}});
    }
    return all;
  };
  return {{"ok", audit.ok},
          {"records", audit.records},
          {"faults", list(audit.faults)},
          {"notes", list(audit.notes)},
          {"claimed_approvals", wire::claimed_approvals_json(audit)},
          {"ended_credentials", wire::ended_credentials_json(audit)}};
}

Json checkpoints(const std::vector<ContainedCheckpoint>& held) {
  Json list = Json::array();
  for (const auto& [checkpoint, attestation] : held) {
    list.push_back({{"origin", checkpoint.origin},
                    {"size", checkpoint.tree.size},
                    {"root", ledger::hex_text(checkpoint.tree.root)},
                    {"signed", attestation.signed_by_log},
                    {"witnesses", attestation.witnesses}});
  }
  return list;
}

Json account_name(const ledger::AccountName& account) {
  return {{"dataset", account.dataset}, {"scope", account.scope}, {"measure", account.measure}};
}

Json budget(const engine::BurnDown& of) {
  const wire::AccountTexts amounts = wire::texts_or_units(of.account);
  Json object = account_name(of.account.name());
  object.update(Json{{"limit", amounts.limit},
                     {"spent", amounts.spent},
                     {"reserved", amounts.reserved},
                     {"remaining", amounts.remaining},
                     {"active", of.active},
                     {"changes", of.changes - 1}});
  Json points = Json::array();
  for (const engine::BurnPoint& point : of.points) {
    const auto amount = [&of](std::int64_t units) {
      return wire::amount_or_units(of.account.measure, units);
    };
    points.push_back({{"after_decision", point.after_decision},
                      {"at", ledger::time_text(point.at)},
                      {"limit", point.limited ? Json(amount(point.limit)) : Json(nullptr)},
                      {"spent", amount(point.spent)},
                      {"reserved", amount(point.reserved)}});
  }
  object["points"] = std::move(points);
  return object;
}

Json limit_changes(const LedgerReport& report) {
  Json list = Json::array();
  for (const auto& [account, change] : report.limit_changes) {
    Json object = account_name(account);
    object.update(Json{{"old_limit", wire::amount_or_units(account.measure, change.old_limit)},
                       {"new_limit", wire::amount_or_units(account.measure, change.new_limit)},
                       {"at", change.changed_at},
                       {"after_decision", change.after_decision},
                       {"policy_version", change.policy_version},
                       {"by", change.by},
                       {"why", wire::or_null(change.why)}});
    list.push_back(std::move(object));
  }
  return list;
}

Json limit_removals(const LedgerReport& report) {
  Json list = Json::array();
  for (const auto& [account, removal] : report.limit_removals) {
    Json object = account_name(account);
    object.update(Json{{"at", removal.removed_at},
                       {"after_decision", removal.after_decision},
                       {"policy_version", removal.policy_version},
                       {"by", removal.by},
                       {"why", wire::or_null(removal.why)}});
    list.push_back(std::move(object));
  }
  return list;
}

Json versions(const LedgerReport& report) {
  Json list = Json::array();
  for (const engine::AppliedVersion& one : report.versions) {
    list.push_back({{"version", one.version}, {"sha256", one.sha256}, {"at", one.at}, {"by", one.by}});
  }
  return list;
}

Json keys(const LedgerReport& report) {
  Json list = Json::array();
  for (const ledger::KeyEvent& one : report.keys) {
    list.push_back({{"verifier_key", one.verifier_key},
                    {"retired", one.retired},
                    {"at", one.at},
                    {"by", one.by},
                    {"why", wire::or_null(one.why)}});
  }
  return list;
}

Json clock_events(const LedgerReport& report) {
  Json list = Json::array();
  for (const ledger::ClockEvent& one : report.clock) {
    list.push_back({{"after_decision", one.after_decision},
                    {"type", one.kind},
                    {"ledger_time", one.ledger_time},
                    {"wall_clock", one.wall_clock},
                    {"by", wire::or_null(one.by)}});
  }
  return list;
}

Json unread_json(const LedgerReport& report) {
  Json list = Json::array();
  for (const engine::UnreadPart& one : report.unread)
    list.push_back({{"part", one.part}, {"message", one.message}});
  return list;
}

}  // namespace

std::string ledger_report_json(const ReportSheet& sheet, bool ok, const std::optional<std::string>& html) {
  const LedgerReport& report = sheet.report;
  Json budgets = Json::array();
  for (const engine::BurnDown& one : report.budgets) budgets.push_back(budget(one));
  Json accountants = Json::array();
  for (const engine::Reaccount& one : report.accountants)
    accountants.push_back(object_json(reaccount_figures(one)));
  return wire::one_object({{"ok", ok},
                           {"html", html ? Json(*html) : Json(nullptr)},
                           {"ledger_id", wire::or_null(report.ledger_id)},
                           {"dataset", wire::or_null(report.dataset)},
                           {"from", wire::or_null(report.begun_at)},
                           {"to", wire::or_null(report.last_at)},
                           {"size", report.tree ? Json(report.tree->size) : Json(nullptr)},
                           {"root", report.tree ? Json(ledger::hex_text(report.tree->root)) : Json(nullptr)},
                           {"checkpoints", checkpoints(sheet.checkpoints)},
                           {"poisoned", report.poisoned ? Json(*report.poisoned) : Json(nullptr)},
                           {"audit", audit_summary(report.audit)},
                           {"decisions", report.decisions},
                           {"released", report.count(engine::DecisionSort::released)},
                           {"refused", report.count(engine::DecisionSort::refused)},
                           {"waiting", report.count(engine::DecisionSort::waiting)},
                           {"withheld", report.withheld},
                           {"unreadable", sheet.unreadable.size()},
                           {"budgets", std::move(budgets)},
                           {"notes", report.notes},
                           {"policy_versions", versions(report)},
                           {"limit_changes", limit_changes(report)},
                           {"limit_removals", limit_removals(report)},
                           {"relocations", wire::relocations_json(report.relocations)},
                           {"keys", keys(report)},
                           {"clock", clock_events(report)},
                           {"events", wire::events_json(report.events)},
                           {"label", engine::kReaccountLabel},
                           {"accountants", std::move(accountants)},
                           {"unread", unread_json(report)}},
                          -1);
}

}  // namespace epsilog::command
