// The parts that several JSON objects of the contract have in common.
//
// The contract is docs/command.md: one object and a newline; quantities are strings. Everything takes texts
// and exact values; no budget quantity becomes a JSON number.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/engine/audit_report.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/ledger_events.hpp"

namespace epsilog::wire {

using Json = nlohmann::ordered_json;

/// An object whose members are given in order, each name once: what a list of names and values makes, without
/// its copies.
class ObjectOf final {
 public:
  explicit ObjectOf(std::size_t members) { members_.reserve(members); }
  template <class Value>
  ObjectOf& with(const char* name, Value&& value) {
    members_.emplace_back(name, Json(std::forward<Value>(value)));
    return *this;
  }
  [[nodiscard]] Json to_json() { return Json(std::move(members_)); }

 private:
  Json::object_t members_;
};

/// Significant digits of irrational quantities.
inline constexpr unsigned kDigits = 17;

/// With a newline. File names and cells of a broken ledger need not be UTF-8: they are shown, never fatal.
/// Indent -1: one line.
[[nodiscard]] std::string one_object(const Json& object, int indent);
[[nodiscard]] std::string pretty(const Json& object);
/// null for "".
[[nodiscard]] Json or_null(const std::string& text);
/// One as its name, several as an array; null for none.
[[nodiscard]] Json columns_json(const std::vector<std::string>& columns);
/// Exact, as a string; null for nothing.
[[nodiscard]] Json number_json(const std::optional<accounting::Rational>& number);

[[nodiscard]] Json account_json(const ledger::AccountState& account);
[[nodiscard]] Json accounts_json(const std::vector<ledger::AccountState>& accounts);
[[nodiscard]] Json reason_list(const engine::Answer& answer);
/// A bound, at most so many digits, never below it.
[[nodiscard]] Json rounded_up_json(const accounting::Rational& bound);
[[nodiscard]] Json accuracy_json(const std::vector<engine::Accuracy>& accuracy);
[[nodiscard]] Json events_json(const std::vector<engine::LedgerEvent>& events);
/// Each null in a ledger that never had a credential.
[[nodiscard]] Json claimed_approvals_json(const engine::AuditReport& report);
[[nodiscard]] Json ended_credentials_json(const engine::AuditReport& report);
[[nodiscard]] Json relocations_json(const std::vector<ledger::Relocation>& relocations);
[[nodiscard]] Json faults_json(const std::vector<PolicyFault>& faults);

}  // namespace epsilog::wire
