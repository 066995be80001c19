#include "epsilog/engine/decision.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

constexpr std::array<std::pair<RefusalCode, std::string_view>, 15> kNames{{
    {RefusalCode::policy_changed, "policy_changed"},
    {RefusalCode::principal_not_allowed, "principal_not_allowed"},
    {RefusalCode::purpose_not_allowed, "purpose_not_allowed"},
    {RefusalCode::forbidden, "forbidden"},
    {RefusalCode::statistic_not_allowed, "statistic_not_allowed"},
    {RefusalCode::column_not_allowed, "column_not_allowed"},
    {RefusalCode::key_conflict, "key_conflict"},
    {RefusalCode::measure_not_expressible, "measure_not_expressible"},
    {RefusalCode::per_release_limit_exceeded, "per_release_limit_exceeded"},
    {RefusalCode::dataset_budget_exceeded, "dataset_budget_exceeded"},
    {RefusalCode::block_budget_exceeded, "block_budget_exceeded"},
    {RefusalCode::lifetime_budget_exceeded, "lifetime_budget_exceeded"},
    {RefusalCode::principal_limit_exceeded, "principal_limit_exceeded"},
    {RefusalCode::role_limit_exceeded, "role_limit_exceeded"},
    {RefusalCode::purpose_limit_exceeded, "purpose_limit_exceeded"},
}};

}  // namespace

std::string_view name(RefusalCode code) {
  for (const auto& [known, text] : kNames) {
    if (known == code) return text;
  }
  EPSILOG_INVARIANT(false);
}

RefusalCode parse_refusal_code(std::string_view text) {
  for (const auto& [code, known] : kNames) {
    if (known == text) return code;
  }
  throw InvalidParameter("unknown refusal code '" + std::string(text) + "'");
}

std::string changes_at(const Reason& reason) {
  if (reason.limit.empty()) return "";
  const auto period = named_period(reason.scope);
  return period ? ledger::time_text((period->last + 1) * ledger::kMsOfDay) : "";
}

namespace {

nlohmann::json json_of(const std::vector<Reason>& reasons) {
  nlohmann::json array = nlohmann::json::array();
  for (const Reason& reason : reasons) {
    array.push_back({{"code", name(reason.code)},
                     {"scope", reason.scope},
                     {"measure", reason.measure},
                     {"limit", reason.limit},
                     {"spent", reason.spent},
                     {"charge", reason.asked},
                     {"over_by", reason.over_by},
                     {"fits", reason.fits},
                     {"message", reason.message}});
    // Left out when nothing is reserved.
    if (!reason.reserved.empty()) array.back()["reserved"] = reason.reserved;
    if (reason.row != 0) array.back()["row"] = reason.row;
  }
  return array;
}

std::size_t row_of(const nlohmann::json& reason) {
  const auto row = reason.find("row");
  if (row == reason.end()) return 0;
  if (!row->is_number_unsigned() || *row == 0U) throw LedgerCorrupt("stored reasons: a row is no number");
  return row->get<std::size_t>();
}

std::vector<Reason> reasons_of(const nlohmann::json& array) {
  std::vector<Reason> reasons;
  for (const nlohmann::json& json : array) {
    const auto member = [&json](const char* key) { return json.at(key).get<std::string>(); };
    reasons.push_back({.code = parse_refusal_code(member("code")),
                       .scope = member("scope"),
                       .measure = member("measure"),
                       .limit = member("limit"),
                       .spent = member("spent"),
                       .reserved = json.value("reserved", ""),
                       .asked = member("charge"),
                       .over_by = member("over_by"),
                       .fits = member("fits"),
                       .message = member("message"),
                       .row = row_of(json)});
  }
  return reasons;
}

}  // namespace

std::string reasons_json(const std::vector<Reason>& reasons) {
  return json_of(reasons).dump();
}

std::vector<Reason> stored_reasons(const Decision& decision) {
  std::vector<Reason> stored;
  std::size_t bytes = 0;
  for (const Reason& reason : decision.reasons()) {
    bytes += json_of({reason}).dump().size();
    const bool full = stored.size() == kReasonsStored || bytes > kReasonBytesStored;
    if (full && !stored.empty()) break;
    stored.push_back(reason);
  }
  return stored;
}

std::string reasons_text(const Decision& decision) {
  nlohmann::json first = json_of(stored_reasons(decision));
  if (first.size() == decision.count()) return first.dump();
  return nlohmann::json{{"count", decision.count()}, {"first", std::move(first)}}.dump();
}

Decision parse_reasons(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.is_array()) {
      std::vector<Reason> reasons = reasons_of(json);
      const std::size_t count = reasons.size();
      return {std::move(reasons), count};
    }
    std::vector<Reason> first = reasons_of(json.at("first"));
    const nlohmann::json& count = json.at("count");
    if (!count.is_number_unsigned() || first.empty() || count.get<std::size_t>() <= first.size()) {
      throw LedgerCorrupt("stored reasons: not the first of more");
    }
    return {std::move(first), count.get<std::size_t>()};
  } catch (const nlohmann::json::exception& error) {
    throw LedgerCorrupt(std::string("stored reasons: ") + error.what());
  } catch (const InvalidParameter& error) {
    throw LedgerCorrupt(std::string("stored reasons: ") + error.what());
  }
}

}  // namespace epsilog::engine
