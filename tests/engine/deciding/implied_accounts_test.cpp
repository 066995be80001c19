// The accounts of a policy follow from the object it implies, by what docs/record_format.md says and nothing
// else: no reader of YAML, no calendar of the engine.
#include <tuple>

#include "epsilog/ledger/canonical_json.hpp"
#include "implied_object_of_yaml.hpp"
#include "kept_policies.hpp"
#include "scopes.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;
using accounting::Rational;
using ledger::JsonValue;

namespace {

/// Dataset, scope, measure and limit.
using Account = std::tuple<std::string, std::string, std::string, Rational>;

std::string digits(unsigned value, std::size_t count) {
  std::string text = std::to_string(value);
  return std::string(count - text.size(), '0') + text;
}

std::string period_of_day(const std::string& kind, std::chrono::sys_days day) {
  using namespace std::chrono;
  const year_month_day date(day);
  const auto year = [](year_month_day of) {
    return digits(static_cast<unsigned>(static_cast<int>(of.year())), 4);
  };
  const auto month = static_cast<unsigned>(date.month());
  if (kind == "day") {
    return year(date) + "-" + digits(month, 2) + "-" + digits(static_cast<unsigned>(date.day()), 2);
  }
  if (kind == "week") {  // of the year in which its Thursday lies
    const sys_days thursday = day - days(weekday(day).iso_encoding()) + days(4);
    const year_month_day of(thursday);
    const auto before = (thursday - sys_days(of.year() / January / 1)).count();
    return year(of) + "-W" + digits(static_cast<unsigned>(before / 7 + 1), 2);
  }
  if (kind == "month") return year(date) + "-" + digits(month, 2);
  if (kind == "quarter") return year(date) + "-Q" + digits((month + 2) / 3, 1);
  return year(date);
}

std::vector<std::string> texts(const JsonValue* list) {
  std::vector<std::string> result;
  if (list == nullptr) return result;
  for (const JsonValue& item : list->items()) result.push_back(item.bytes());
  return result;
}

std::vector<std::string> blocks_of(const JsonValue& dataset) {
  const JsonValue& blocks = dataset.at("blocks");
  if (blocks.find("per") == nullptr) {
    for (const JsonValue& column : dataset.at("columns").items()) {
      if (column.at("name").text() == blocks.at("by").text()) return texts(&column.at("values"));
    }
    FAIL("the column of the blocks is not there");
  }
  using namespace std::chrono;
  std::set<std::string> names;
  const auto year_of = [&](const char* end) { return year(std::stoi(blocks.at(end).text().substr(0, 4))); };
  const sys_days after = (year_of("last") + years(1)) / January / 15;
  for (sys_days day = (year_of("first") - years(1)) / December / 15; day < after; day += days(1)) {
    std::string name = period_of_day(blocks.at("per").text(), day);
    if (name >= blocks.at("first").text() && name <= blocks.at("last").text()) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

/// The names that an entry of `each` is for; nothing where they cannot be listed.
std::vector<std::string> names_of_each(const std::string& each, const JsonValue& dataset,
                                       const JsonValue& policy) {
  if (each == "block") return blocks_of(dataset);
  if (each == "purpose") return texts(dataset.find("purposes"));
  const JsonValue* principals = policy.find("principals");
  if (each == "period" || principals == nullptr) return {};
  std::set<std::string> names;
  for (const JsonValue& principal : principals->items()) {
    if (each == "principal") names.insert(principal.at("name").bytes());
    if (each != "role") continue;
    for (const std::string& role : texts(&principal.at("roles"))) names.insert(role);
  }
  return {names.begin(), names.end()};
}

std::set<Account> accounts_of(const std::string& object) {
  const JsonValue policy = ledger::parse_canonical(object);
  std::set<Account> accounts;
  for (const JsonValue& dataset : policy.at("datasets").items()) {
    std::set<std::string> own;  // scopes with entries of their own
    for (const JsonValue& entry : dataset.at("accounts").items()) {
      if (const JsonValue* scope = entry.find("scope")) own.insert(scope->bytes());
    }
    const auto add = [&](const std::string& scope, const JsonValue& entry) {
      const bool fresh = accounts
                             .emplace(dataset.at("name").text(), scope, entry.at("measure").text(),
                                      entry.at("limit").quantity())
                             .second;
      CHECK(fresh);
    };
    for (const JsonValue& entry : dataset.at("accounts").items()) {
      CHECK((entry.find("each") == nullptr) != (entry.find("scope") == nullptr));
      if (const JsonValue* scope = entry.find("scope")) {
        add(scope->bytes(), entry);
        continue;
      }
      const std::string each = entry.at("each").text();
      for (const std::string& name : names_of_each(each, dataset, policy)) {
        const std::string scope = each + ":" + name;
        if (!own.contains(scope)) add(scope, entry);
      }
    }
  }
  return accounts;
}

std::set<Account> accounts_wanted_by(const std::string& yaml) {
  std::set<Account> accounts;
  for (const auto& account : declared_accounts(Policy::parse_stored(yaml, "p.yaml"))) {
    accounts.emplace(
        account.dataset, account.scope, account.measure,
        accounting::parse_rational(amount_text(account.measure, account.balance.limit), "limit"));
  }
  return accounts;
}

}  // namespace

TEST_CASE("implied object: the accounts that a policy opens follow from it",
          "[engine][policy][implied][exact]") {
  auto policies = kept_policies(EPSILOG_SOURCE_DIR);
  // One with its own limit beside those of each, in several measures, and without declared principals.
  PolicyText text;
  text.more = "limits: [{each: principal, epsilon: 1}, {principal: a, measure: zcdp, rho: 1}]";
  text.principals = "{a: {roles: [r, s]}, b: {roles: [s]}, c: {}}";
  policies["own limit"] = text.yaml();
  text.more =
      "limits: [{each: role, epsilon: 1, delta: 1e-6}, {role: s, measure: rdp, orders: {2: 1, 8: 2}}]";
  policies["limits of roles"] = text.yaml();
  text.principals.clear();
  text.more = "limits: [{each: principal, epsilon: 1}, {each: principal, measure: zcdp, rho: 1}]";
  policies["undeclared"] = text.yaml();
  text.columns = "{seen: {type: date}}";
  for (const auto& [per, range] : std::map<std::string, std::string>{{"day", "2023-12-30, to: 2024-03-01"},
                                                                     {"week", "2020-W52, to: 2027-W01"},
                                                                     {"month", "1999-11, to: 2001-02"},
                                                                     {"quarter", "2024-Q4, to: 2025-Q1"},
                                                                     {"year", "1950, to: 2050"}}) {
    text.more = "blocks: {by: seen, per: " + per + ", from: " + range + "}\n    lifetime: {epsilon: 9}";
    policies["blocks by " + per] = text.yaml();
  }
  std::size_t accounts = 0;
  for (const auto& [where, yaml] : policies) {
    CAPTURE(where, yaml);
    const auto object = implied_object_of_yaml(yaml);
    REQUIRE(object);
    const auto expected = accounts_wanted_by(yaml);
    CHECK(accounts_of(*object) == expected);
    accounts += expected.size();
  }
  CHECK(accounts > 1000);
}
