#include "request_rules.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/predicate.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "later_policy.hpp"
#include "scope.hpp"
#include "scopes.hpp"

namespace epsilog::engine {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

/// At most the end of the year 9999.
std::int64_t ms_after(std::int64_t ms, std::int64_t seconds) {
  return seconds > (ledger::kLatestMs - ms) / 1'000 ? ledger::kLatestMs : ms + seconds * 1'000;
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

const std::vector<std::string>* suppliers_of(const Policy& policy, const Request& request) {
  if (request.question.statistic.kind != StatisticKind::value) return nullptr;
  const Dataset* const dataset = find_dataset(policy, request.dataset);
  if (dataset == nullptr) return nullptr;
  const NamedQuery* const query = dataset->query(request.question.statistic.subject);
  return query != nullptr && query->supplied_by ? &*query->supplied_by : nullptr;
}

bool may_post(const Policy& policy, const Request& request, const std::string& who) {
  const std::vector<std::string>* const suppliers = suppliers_of(policy, request);
  return suppliers != nullptr ? contains(*suppliers, who) : may_commit(policy, request.principal, who);
}

bool may_cancel(const Policy& policy, const Dataset& dataset, const std::string& asker,
                const std::string& who) {
  return may_commit(policy, asker, who) || may_approve(policy, dataset, asker, who);
}

bool data_may_be_seen(const Request& request, bool data_accessed) {
  const bool computed_here = request.question.statistic.kind != StatisticKind::value;
  const bool guarded = request.reservation == ReservationKind::reserved_against_token;
  return data_accessed || (!computed_here && !guarded);
}

bool period_over(const std::string& scope, const std::string& calendar_time) {
  const auto period = named_period(scope);
  if (!period) return false;
  const std::int64_t day = ledger::parse_time(calendar_time) / ledger::kMsOfDay;
  return day < period->first || day > period->last;
}

std::string reservation_deadline(const std::string& now, std::int64_t seconds,
                                 const std::vector<ledger::AccountName>& accounts, bool calendar_held) {
  const std::int64_t begin = ledger::parse_time(now);
  std::int64_t deadline = ms_after(begin, seconds);
  for (const ledger::AccountName& account : accounts) {
    const auto period = named_period(account.scope);
    if (!period || calendar_held) continue;
    const std::int64_t end = (period->last + 1) * ledger::kMsOfDay;
    if (end > begin && end < deadline) deadline = end;
  }
  return ledger::time_text(deadline);
}

std::string instant_after(std::string_view instant, std::int64_t seconds) {
  return ledger::time_text(ms_after(ledger::parse_time(instant), seconds));
}

}  // namespace epsilog::engine
