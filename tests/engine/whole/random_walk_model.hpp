// What a ledger may say next: the model of the random walk through every joint (random_walk_test.cpp).
//
// It reads the decisions one by one and holds each against the policy that is active, the clock, and what was
// asked. It plans nothing: what an account is debited is known where it is arithmetic on the grid, and lies
// in a range where it is not (several components, Renyi divergences, calibrated noise).
#pragma once

#include <functional>

#include "epsilog/ledger/record.hpp"
#include "random_walk_cost.hpp"
#include "random_walk_policy.hpp"

namespace epsilog::test {

struct WalkAccount {
  Integer spent = 0;
  Integer reserved = 0;
  std::int64_t limit = 0;
};
using WalkAccounts = std::map<std::pair<std::string, std::string>, WalkAccount>;  // (scope, measure)
using WalkCharges = std::map<std::pair<std::string, std::string>, std::int64_t>;

/// A request that waits or waited.
struct WalkPending {
  WalkRequest asked;
  std::size_t asked_under = 0;
  enum class State { pending, reserved, over } state = State::pending;
  std::int64_t deadline = 0;
  std::set<std::string> votes = {};
  bool token = false;
  WalkCharges charges = {};
  std::vector<std::string> periods = {};  ///< "period:…" scopes that it holds

  [[nodiscard]] bool may_be_seen() const {
    return token ||
           (asked.of_value() && asked.request.reservation != engine::ReservationKind::reserved_against_token);
  }
};

/// Who called what when a decision was recorded.
struct WalkCall {
  std::optional<WalkRequest> asked = {};  ///< a new request
  std::string actor = {};                 ///< of an act on one that waits
};

class WalkModel {
 public:
  using Named = std::function<std::pair<std::string, std::string>(std::int64_t)>;

  WalkClock clock;
  std::vector<WalkPolicy> versions;
  WalkAccounts accounts;
  std::vector<WalkPending> waiting;
  std::map<std::string, std::size_t> waiting_of;  ///< by id of the request, and of its reservation
  std::map<std::string, std::int64_t> seen;       ///< decisions by outcome

  [[nodiscard]] const WalkPolicy& active() const { return versions.back(); }

  /// The next decision on record. `named` tells the scope and measure of an account.
  void follow(const ledger::StoredDecision& decision, const WalkCall& call, const Named& named) {
    ++seen[ledger::outcome_name(decision.draft.outcome)];
    require(instant_ms(decision.created_at) == clock.now(), "recorded at " + decision.created_at);
    require(decision.decided_under == static_cast<std::int64_t>(versions.size()), "under another version");
    WalkCharges charged;
    for (const ledger::Charge& charge : decision.charges) charged[named(charge.account)] = charge.amount;
    const bool expiry = decision.draft.request.find("\"verb\":\"expire\"") != std::string::npos;
    if (!expiry) require_none_overdue(decision.draft.parent);
    if (decision.draft.parent.empty()) {
      follow_request(decision, call, charged);
    } else {
      follow_act(decision, call, charged, expiry);
    }
    clock.record();
  }

  [[nodiscard]] bool overdue(const WalkPending& one) const {
    if (one.state == WalkPending::State::over) return false;
    if (one.deadline <= clock.now()) return true;
    return one.state == WalkPending::State::reserved &&
           std::any_of(one.periods.begin(), one.periods.end(),
                       [this](const std::string& scope) { return period_over(scope); });
  }
  /// Balances when what is overdue has ended.
  [[nodiscard]] WalkAccounts after_expiries() const {
    WalkAccounts result = accounts;
    for (const WalkPending& one : waiting) {
      if (!overdue(one)) continue;
      for (const auto& [account, amount] : one.charges) {
        result[account].reserved -= amount;
        if (one.may_be_seen()) result[account].spent += amount;
      }
    }
    return result;
  }
  [[nodiscard]] bool charged() const {
    const WalkAccounts then = after_expiries();
    return std::any_of(then.begin(), then.end(),
                       [](const auto& one) { return one.second.spent > 0 || one.second.reserved > 0; });
  }

  /// Whether the policy may become this one: nothing where it is certain.
  [[nodiscard]] bool may_apply(const WalkPolicy& next) const {
    if (charged() && next.alters(active())) return false;
    const WalkAccounts then = after_expiries();
    return std::none_of(then.begin(), then.end(), [&](const auto& one) {
      const auto limit = next.limit_of(one.first.first, one.first.second, clock.calendar());
      return limit && Integer(one.second.spent + one.second.reserved) > *limit;
    });
  }

  /// Whether a new request may end with an error of its own and not with an answer.
  [[nodiscard]] bool may_be_error(const WalkRequest& asked) const {
    const engine::Request& request = asked.request;
    if (asked.gaussian() != active().gaussian(asked) || asked.may_be_too_long) return true;
    const bool counted =
        request.question.statistic.kind == engine::StatisticKind::count ||
        (request.question.statistic.kind == engine::StatisticKind::units && active().row_unit);
    const bool of_all = request.question.by.empty() && !request.question.where;
    if (counted && of_all && active().rows_exact) return true;  // the policy states it
    if (asked.zones && active().zones_are_texts) return true;   // the walk writes them as numbers
    if (request.rho) {
      return active().counts_delta() || *request.rho > 2'300 ||
             grid_floor(*request.rho, kRhoUnit) < 1'000'000;
    }
    if (request.delta && grid_floor(*request.delta, kDeltaUnit) < 1'000) return true;
    // The grids of noise end; what is between is answered or refused.
    return request.epsilon < Rational(1, 1'000'000) || request.epsilon > 2'000'000 ||
           (request.delta && request.epsilon > 60);
  }

  /// Every balance and limit on record is what the decisions and the policy make it.
  void compare(const std::vector<ledger::AccountState>& stored) {
    for (const ledger::AccountState& one : stored) {
      const std::pair key(one.scope, one.measure);
      const bool known = accounts.contains(key);
      WalkAccount& account = accounts[key];
      const std::string what = "account '" + one.scope + "' " + one.measure + ": ";
      require(account.spent == one.balance.spent && account.reserved == one.balance.reserved,
              what + std::to_string(one.balance.spent) + " + " + std::to_string(one.balance.reserved) +
                  " instead of " + account.spent.get_str() + " + " + account.reserved.get_str());
      const auto limit = active().limit_of(one.scope, one.measure, clock.calendar());
      if (limit || known) {
        const std::int64_t wanted = limit.value_or(account.limit);
        require(one.balance.limit == wanted, what + "limit " + std::to_string(one.balance.limit) +
                                                 " instead of " + std::to_string(wanted));
      }
      require(limit || known, what + "opened, which no policy declares");
      account.limit = one.balance.limit;
    }
    for (const auto& [key, account] : accounts) {
      require(account.spent + account.reserved <= account.limit || account.spent + account.reserved == 0,
              "account '" + key.first + "' " + key.second + " holds more than its limit");
    }
  }

 private:
  using State = WalkPending::State;

  [[nodiscard]] bool period_over(const std::string& scope) const {
    for (const char* kind : {"day", "week", "month", "quarter", "year"})
      if (scope == "period:" + period_named(kind, clock.calendar())) return false;
    return true;
  }
  void require_none_overdue(const std::string& but) const {
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (!overdue(waiting[i])) continue;
      const auto about = waiting_of.find(but);
      const bool itself = about != waiting_of.end() && about->second == i;
      require(false, std::string(itself ? "this" : "another") +
                         " was overdue and went on: " + waiting[i].asked.text());
    }
  }

  // ---- certain, or not

  using Touched = std::map<std::pair<std::string, std::string>, std::int64_t>;  // account -> limit
  [[nodiscard]] static Touched touched(const WalkPolicy& policy, const WalkRequest& asked,
                                       std::int64_t calendar) {
    Touched result;
    for (const auto& [scope, amounts] : policy.scopes(asked, calendar))
      for (const auto& [measure, limit] : *amounts) result[{scope, measure}] = limit;
    return result;
  }
  [[nodiscard]] Integer used(const std::pair<std::string, std::string>& account) const {
    const auto found = accounts.find(account);
    return found == accounts.end() ? Integer(0) : Integer(found->second.spent + found->second.reserved);
  }
  [[nodiscard]] static bool expressible(const WalkPolicy& policy, const WalkRequest& asked,
                                        std::int64_t calendar) {
    for (const auto& [scope, amounts] : policy.scopes(asked, calendar))
      if (asked.gaussian() && amounts->size() == 1 && amounts->contains("epsilon")) return false;
    return true;
  }
  [[nodiscard]] Amounts cap(const WalkRequest& asked) const {
    Amounts result = active().per_release;
    if (result.contains("delta") || !expressible(active(), asked, clock.calendar())) return result;
    for (const auto& [account, limit] : touched(active(), asked, clock.calendar()))
      if (account.second == "delta") return result;
    result["delta"] = kDeltaUnit / 1'000'000;
    return result;
  }
  enum class Known { no, perhaps, yes };
  [[nodiscard]] static Known above(const Amounts& cap, const WalkRequest& asked) {
    Known known = Known::no;
    for (const auto& [measure, limit] : cap) {
      const CostRange cost = cost_in(measure, asked);
      if (cost.low > limit) return Known::yes;
      if (cost.high > limit) known = Known::perhaps;
    }
    return known;
  }
  /// Whether it fits into everything and nothing forbids it.
  [[nodiscard]] Known grantable(const WalkRequest& asked) const {
    if (!active().allows(asked) || !expressible(active(), asked, clock.calendar())) return Known::no;
    const Known beyond = above(cap(asked), asked);
    if (beyond == Known::yes) return Known::no;
    Known known = beyond == Known::perhaps ? Known::perhaps : Known::yes;
    for (const auto& [account, limit] : touched(active(), asked, clock.calendar())) {
      const CostRange cost = cost_in(account.second, asked);
      const Integer free = limit - used(account);
      if (cost.low > free) return Known::no;
      if (cost.high > free) known = Known::perhaps;
    }
    return known;
  }
  [[nodiscard]] Known waits(const WalkRequest& asked) const {
    if (active().wanted_approvals() == 0) return Known::no;
    return active().above.empty() ? Known::yes : above(active().above, asked);
  }
  /// Whether a version plans a request otherwise than the one it was asked under.
  [[nodiscard]] Known planned_otherwise(const WalkPending& one) const {
    const WalkPolicy& before = versions[one.asked_under - 1];
    const WalkPolicy& now = active();
    const auto where = [&](const WalkPolicy& policy) {
      std::set<std::pair<std::string, std::string>> result;
      for (const auto& [account, limit] : touched(policy, one.asked, clock.calendar())) {
        result.emplace(account.first.starts_with("period:") ? "period" : account.first, account.second);
      }
      return result;
    };
    const bool unit = before.row_unit != now.row_unit || (!now.row_unit && before.max_rows != now.max_rows);
    if (unit || before.replace_one != now.replace_one || where(before) != where(now)) return Known::yes;
    return before.plans_as(now) ? Known::no : Known::perhaps;
  }

  // ---- decisions

  void debit(const WalkRequest& asked, const WalkCharges& charged) const {
    const Touched expected = touched(active(), asked, clock.calendar());
    for (const auto& [account, amount] : charged) {
      require(expected.contains(account), "charged '" + account.first + "' " + account.second +
                                              ", which the active policy does not name");
    }
    for (const auto& [account, limit] : expected) {
      const CostRange cost = cost_in(account.second, asked);
      const std::int64_t amount = charged.contains(account) ? charged.at(account) : 0;
      const std::string what = "'" + account.first + "' " + account.second;
      require(amount >= cost.low && amount <= cost.high,
              "charged " + what + " " + std::to_string(amount) + ", not from " + cost.low.get_str());
      require(used(account) + amount <= limit, "charged " + what + " beyond the active limit");
    }
    require(!charged.empty(), "charged nothing");
  }
  void require_allowed(const WalkRequest& asked) const {
    require(active().allows(asked), "the active policy does not allow it");
    require(grantable(asked) != Known::no, "nothing of it fits, or a cap is exceeded");
  }
  void follow_request(const ledger::StoredDecision& decision, const WalkCall& call,
                      const WalkCharges& charged) {
    require(call.asked.has_value(), "nobody asked for that");
    const WalkRequest& asked = *call.asked;
    using ledger::Outcome;
    switch (decision.draft.outcome) {
      case Outcome::refused:
        require(charged.empty(), "refused and charged");
        require(grantable(asked) != Known::yes ||
                    decision.draft.reasons.find("key_conflict") != std::string::npos,
                "refused what fits: " + decision.draft.reasons);
        return;
      case Outcome::pending:
        require_allowed(asked);
        require(waits(asked) != Known::no, "waits for approvals that nobody wants");
        require(charged.empty(), "pending and charged");
        open(decision, asked, State::pending);
        return;
      case Outcome::granted:
      case Outcome::reserved:
        require_allowed(asked);
        require(waits(asked) != Known::yes, "did not wait for approvals");
        debit(asked, charged);
        if (decision.draft.outcome == Outcome::granted) {
          for (const auto& [account, amount] : charged) accounts[account].spent += amount;
        } else {
          open(decision, asked, State::reserved);
          hold(waiting.back(), decision, charged);
        }
        remember_limits(charged);
        return;
      default:
        throw Violated("an act about nothing");
    }
  }
  void open(const ledger::StoredDecision& decision, const WalkRequest& asked, State state) {
    waiting_of[decision.id] = waiting.size();
    waiting.push_back({.asked = asked, .asked_under = versions.size(), .state = state});
    waiting.back().deadline = instant_ms(decision.draft.deadline);
    const std::int64_t two_days = 2 * 86'400'000;
    require(state == State::reserved || waiting.back().deadline == clock.now() + two_days,
            "a request that waits has the deadline " + decision.draft.deadline);
  }
  /// After the time that the policy gives it, and with the first of its periods at the latest.
  [[nodiscard]] std::int64_t deadline_of_reservation() const {
    constexpr std::int64_t kDay = 86'400'000;
    const std::string& expires = active().expires;
    const std::int64_t deadline =
        clock.now() + std::stoll(expires) * (expires.ends_with('h') ? kDay / 24 : kDay);
    if (active().renew.empty() || clock.is_held()) return deadline;
    std::int64_t end = clock.now() - clock.now() % kDay;
    while (period_named(active().renew, end) == period_named(active().renew, clock.now())) end += kDay;
    return std::min(end, deadline);
  }
  void hold(WalkPending& one, const ledger::StoredDecision& decision, const WalkCharges& charged) {
    one.state = State::reserved;
    one.deadline = instant_ms(decision.draft.deadline);
    require(one.deadline == deadline_of_reservation(), "reserved until " + decision.draft.deadline);
    one.charges = charged;
    for (const auto& [account, amount] : charged) {
      accounts[account].reserved += amount;
      if (account.first.starts_with("period:")) one.periods.push_back(account.first);
    }
  }
  void remember_limits(const WalkCharges& charged) {
    for (const auto& [account, amount] : charged) {
      const auto limit = active().limit_of(account.first, account.second, clock.calendar());
      if (limit) accounts[account].limit = *limit;
    }
  }
  [[nodiscard]] std::size_t votes(const WalkPending& one) const {
    return static_cast<std::size_t>(std::count_if(
        one.votes.begin(), one.votes.end(),
        [&](const std::string& who) { return active().may_approve(who, one.asked.request.principal); }));
  }

  void follow_act(const ledger::StoredDecision& decision, const WalkCall& call, const WalkCharges& charged,
                  bool expiry) {
    const auto found = waiting_of.find(decision.draft.parent);
    require(found != waiting_of.end(), "about a request that never waited");
    WalkPending& one = waiting[found->second];
    const std::string& asker = one.asked.request.principal;
    require(one.state != State::over, "about a request that is over");
    using ledger::Outcome;
    switch (decision.draft.outcome) {
      case Outcome::approved:
        require(one.state == State::pending && active().may_approve(decision.draft.principal, asker),
                decision.draft.principal + " may not approve");
        require(one.votes.insert(decision.draft.principal).second, "approved twice");
        return;
      case Outcome::rejected:
        require(one.state == State::pending && active().may_approve(decision.draft.principal, asker),
                decision.draft.principal + " may not reject");
        one.state = State::over;
        return;
      case Outcome::data_accessed:
        require(one.state == State::reserved && !one.token && call.actor == asker, "no token is due");
        require(active().allows(one.asked), "a token for what the active policy does not allow");
        one.token = true;
        return;
      case Outcome::reserved:
        require(one.state == State::pending, "reserved twice");
        require(planned_otherwise(one) != Known::yes,
                "decided as it was asked, not as the active policy plans it");
        require(waits(one.asked) != Known::yes || votes(one) >= active().wanted_approvals(),
                "decided before enough agreed who may");
        require_allowed(one.asked);
        debit(one.asked, charged);
        hold(one, decision, charged);
        waiting_of[decision.id] = found->second;
        remember_limits(charged);
        return;
      case Outcome::refused:
        require(one.state == State::pending && charged.empty(), "refused what was reserved");
        if (decision.draft.reasons.find("policy_changed") != std::string::npos) {
          require(planned_otherwise(one) != Known::no, "nothing that matters changed");
        } else {
          require(planned_otherwise(one) != Known::yes, "refused for something else than what changed");
          require(grantable(one.asked) != Known::yes, "refused what fits: " + decision.draft.reasons);
        }
        one.state = State::over;
        return;
      case Outcome::granted:
        require(one.state == State::reserved && decision.draft.principal == asker && call.actor == asker,
                "committed by somebody else");
        require(active().allows(one.asked), "committed what the active policy does not allow");
        require(charged == one.charges, "committed other charges than were reserved");
        settle(one, true);
        return;
      case Outcome::voided:
      case Outcome::forfeited:
        require(!expiry || overdue(one), "ended before it was overdue");
        require(expiry || call.actor == asker || active().may_approve(call.actor, asker),
                "cancelled by another");
        if (one.state == State::reserved) {
          require((decision.draft.outcome == Outcome::forfeited) == one.may_be_seen(),
                  "given back what may have been seen, or the reverse");
          settle(one, one.may_be_seen());
        }
        one.state = State::over;
        return;
      default:
        throw Violated("no outcome of an act");
    }
  }
  void settle(WalkPending& one, bool spends) {
    for (const auto& [account, amount] : one.charges) {
      accounts[account].reserved -= amount;
      if (spends) accounts[account].spent += amount;
    }
    one.state = State::over;
  }
};

}  // namespace epsilog::test
