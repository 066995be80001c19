#include "request_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/predicate.hpp"
#include "scope.hpp"
#include "scopes.hpp"

namespace epsilog::engine {
namespace {

constexpr std::int64_t kSecondsOfDay = 86'400;
constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
constexpr std::size_t kDateSize = 10;

bool contains(const std::vector<std::string>& list, const std::string& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

std::int64_t number(std::string_view digits) {
  std::int64_t value = -1;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec == std::errc() && read.ptr == digits.data() + digits.size() && value >= 0) return value;
  throw LedgerCorrupt("'" + std::string(digits) + "' is not a part of a ledger time");
}

}  // namespace

bool may_approve(const Policy& policy, const Dataset& dataset, const std::string& asker,
                 const std::string& who) {
  const Principal* approver = policy.principal(who);
  if (who == asker || approver == nullptr || !dataset.approvals) return false;
  const Approvals& approvals = *dataset.approvals;
  return contains(approvals.principals, who) ||
         std::any_of(approver->roles.begin(), approver->roles.end(),
                     [&](const std::string& role) { return contains(approvals.roles, role); });
}

bool may_commit(const Policy& policy, const std::string& asker, const std::string& who) {
  return !policy.principals() || who == asker;
}

bool may_cancel(const Policy& policy, const Dataset& dataset, const std::string& asker,
                const std::string& who) {
  return may_commit(policy, asker, who) || may_approve(policy, dataset, asker, who);
}

bool data_may_be_seen(const Request& request, bool token_issued) {
  const bool computed_here = request.question.statistic.kind != StatisticKind::value;
  const bool guarded = request.holding == Holding::reserved_against_token;
  return token_issued || (!computed_here && !guarded);
}

bool period_over(const std::string& scope, const std::string& calendar_time) {
  const auto period = named_period(scope);
  if (!period) return false;
  std::int64_t day = 0;
  EPSILOG_INVARIANT(parse_date(calendar_time.substr(0, kDateSize), day));
  return day < period->first || day > period->last;
}

std::string reservation_deadline(const std::string& now, std::int64_t seconds,
                                 const std::vector<ledger::AccountName>& accounts, bool calendar_held) {
  std::string deadline = instant_after(now, seconds);
  if (calendar_held) return deadline;
  for (const ledger::AccountName& account : accounts) {
    const auto period = named_period(account.scope);
    if (!period) continue;
    const std::string end = date_text(period->last + 1) + "T00:00:00.000Z";
    if (end > now && end < deadline) deadline = end;
  }
  return deadline;
}

std::string instant_after(std::string_view instant, std::int64_t seconds) {
  std::int64_t day = 0;
  if (instant.size() != kForm.size() || !parse_date(instant.substr(0, kDateSize), day)) {
    throw LedgerCorrupt("'" + std::string(instant) + "' is not a ledger time");
  }
  const std::int64_t of_day = (number(instant.substr(11, 2)) * 60 + number(instant.substr(14, 2))) * 60 +
                              number(instant.substr(17, 2));
  std::int64_t last_day = 0;
  EPSILOG_INVARIANT(parse_date("9999-12-31", last_day));
  if (seconds / kSecondsOfDay > last_day - day) return "9999-12-31T23:59:59.999Z";
  const std::int64_t total = of_day + seconds;
  day += total / kSecondsOfDay;
  if (day > last_day) return "9999-12-31T23:59:59.999Z";
  const std::int64_t rest = total % kSecondsOfDay;
  std::array<char, 16> time{};
  std::snprintf(time.data(), time.size(), "T%02d:%02d:%02d", static_cast<int>(rest / 3600),
                static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return date_text(day) + time.data() + std::string(instant.substr(19));
}

}  // namespace epsilog::engine
