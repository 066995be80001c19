#include "json_parts.hpp"

#include "amounts.hpp"
#include "epsilog/engine/held_calendar.hpp"
#include "epsilog/engine/measure.hpp"

namespace epsilog::wire {

/// File names and cells of a broken ledger need not be UTF-8: they are shown, never fatal.
std::string one_object(const Json& object, int indent) {
  return object.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string pretty(const Json& object) {
  return one_object(object, 2);
}

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json columns_json(const std::vector<std::string>& columns) {
  if (columns.empty()) return nullptr;
  return columns.size() == 1 ? Json(columns.front()) : Json(columns);
}

Json number_json(const std::optional<accounting::Rational>& number) {
  return number ? Json(accounting::text(*number)) : Json(nullptr);
}

Json events_json(const std::vector<engine::LedgerEvent>& events) {
  Json list = Json::array();
  for (const engine::LedgerEvent& event : events) {
    list.push_back({{"line", event.line},
                    {"after_decision", event.after_decision},
                    {"kind", or_null(event.kind)},
                    {"at", or_null(event.at)},
                    {"dataset", or_null(event.dataset)},
                    {"what", event.what},
                    {"by", or_null(event.by)},
                    {"why", or_null(event.why)},
                    {"looser", event.looser},
                    {"limits", event.limits}});
  }
  return list;
}

Json account_json(const ledger::AccountState& account) {
  const AccountTexts amounts = texts(account);
  return ObjectOf(9)
      .with("dataset", account.dataset)
      .with("scope", account.scope)
      .with("measure", account.measure)
      .with("limit", amounts.limit)
      .with("spent", amounts.spent)
      .with("reserved", amounts.reserved)
      .with("remaining", amounts.remaining)
      .with("kind", "filter")
      .with("theorem", engine::filter_theorem(account.measure))
      .to_json();
}

Json accounts_json(const std::vector<ledger::AccountState>& accounts) {
  Json list = Json::array();
  for (const auto& account : accounts) list.push_back(account_json(account));
  return list;
}

Json reason_list(const engine::Answer& answer) {
  Json list = Json::array();
  for (const engine::Reason& reason : answer.recorded.reasons) {
    const std::string reserved = reason.reserved.empty() && !reason.limit.empty() ? "0" : reason.reserved;
    list.push_back({{"code", engine::name(reason.code)},
                    {"number", static_cast<int>(reason.code)},
                    {"scope", reason.scope},
                    {"measure", or_null(reason.measure)},
                    {"limit", or_null(reason.limit)},
                    {"spent", or_null(reason.spent)},
                    {"reserved", or_null(reserved)},
                    {"charge", or_null(reason.asked)},
                    {"over_by", or_null(reason.over_by)},
                    {"fits", or_null(reason.fits)},
                    {"changes_at", or_null(engine::changes_at(answer, reason))},
                    {"message", reason.message}});
    if (reason.row != 0) list.back()["row"] = reason.row;
  }
  return list;
}

Json rounded_up_json(const accounting::Rational& bound) {
  return accounting::text_up(bound, kDigits);
}

Json accuracy_json(const std::vector<engine::Accuracy>& accuracy) {
  Json list = Json::array();
  for (const engine::Accuracy& one : accuracy) {
    list.push_back(ObjectOf(2)
                       .with("alpha", accounting::text(one.alpha))
                       .with("within", rounded_up_json(one.a))
                       .to_json());
  }
  return list;
}

Json relocations_json(const std::vector<ledger::Relocation>& relocations) {
  Json list = Json::array();
  for (const ledger::Relocation& one : relocations) {
    list.push_back({{"after_decision", one.after_decision},
                    {"at", one.at},
                    {"dataset", one.dataset},
                    {"source", one.path},
                    {"by", one.by},
                    {"why", or_null(one.why)}});
  }
  return list;
}

Json faults_json(const std::vector<PolicyFault>& faults) {
  Json list = Json::array();
  for (const PolicyFault& fault : faults) {
    list.push_back(
        {{"file", fault.file}, {"line", fault.line}, {"column", fault.column}, {"message", fault.message}});
  }
  return list;
}

Json claimed_approvals_json(const engine::AuditReport& report) {
  if (!report.claimed_approvals) return nullptr;
  Json first = Json::array();
  for (const engine::ClaimedApproval& one : report.claimed) {
    first.push_back({{"decision_id", one.decision_id}, {"by", one.principal}, {"at", one.at}});
  }
  return {{"count", *report.claimed_approvals}, {"first", std::move(first)}};
}

Json ended_credentials_json(const engine::AuditReport& report) {
  if (!report.ended_credentials) return nullptr;
  Json longest = Json::array();
  for (const engine::EndedCredential& one : report.ended) {
    longest.push_back({{"decision_id", one.decision_id},
                       {"by", one.principal},
                       {"via", one.via},
                       {"at", one.at},
                       {"ended", one.ended}});
  }
  return {{"count", *report.ended_credentials}, {"longest", std::move(longest)}};
}

}  // namespace epsilog::wire
