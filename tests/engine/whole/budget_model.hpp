// What a ledger of privacy budgets must do, said a second time: integers, maps and no code of the engine's.
//
// Whoever drives both says which accounts a request touches and how much it would debit of each; the model
// says what must come of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace epsilog::test {

/// Dataset, scope, measure.
using AccountKey = std::tuple<std::string, std::string, std::string>;

struct ModelAccount {
  std::int64_t limit = 0;
  std::int64_t spent = 0;
  std::int64_t reserved = 0;
  [[nodiscard]] std::int64_t free() const { return limit - spent - reserved; }
  friend bool operator==(const ModelAccount&, const ModelAccount&) = default;
};

/// What a request would take from one account; `limit` is that of an account which is not there yet.
struct Debit {
  AccountKey account;
  std::int64_t amount = 0;
  std::int64_t limit = 0;
};

/// A request as far as budgets are concerned.
struct ModelRequest {
  std::string principal;
  std::string key;       ///< "" = none
  std::string question;  ///< the same text: the same question
  std::vector<Debit> debits;
  std::vector<std::string> broken_rules;  ///< that refuse it whatever is left
  std::optional<Debit> cap;               ///< a limit on one release that keeps no account
  bool shut_out = false;                  ///< the rules broken are all there is to say
};

/// Where no amount would do, however small.
inline constexpr std::int64_t kNothingFits = -1;

/// An account, or a cap, that did not hold the request.
struct ModelShortfall {
  AccountKey account;
  std::int64_t limit = 0, spent = 0, reserved = 0;
  std::int64_t asked = 0, over_by = 0, fits = 0;
  friend auto operator<=>(const ModelShortfall&, const ModelShortfall&) = default;
};

struct ModelDecision {
  std::int64_t number = 0;  ///< in the ledger, 1, 2, …
  std::string question = {};
  bool granted = false;
  bool key_conflict = false;
  std::vector<std::string> broken_rules;
  std::vector<ModelShortfall> shortfalls;
};

struct ModelAnswer {
  bool replayed = false;
  ModelDecision decision;
};

class BudgetModel final {
 public:
  /// Makes the account, or gives it another limit.
  void set_limit(const AccountKey& account, std::int64_t limit) { accounts_[account].limit = limit; }

  /// What would come of the request now.
  [[nodiscard]] ModelDecision judged(const ModelRequest& request) const {
    ModelDecision decision;
    decision.question = request.question;
    decision.broken_rules = request.broken_rules;
    const auto bound = keys_.find({request.principal, request.key});
    if (request.shut_out) return decision;
    decision.key_conflict = !request.key.empty() && bound != keys_.end();
    if (request.cap && request.cap->amount > request.cap->limit) {
      decision.shortfalls.push_back(shortfall(*request.cap, {.limit = request.cap->limit}));
    }
    for (const Debit& debit : request.debits) {
      const ModelAccount account = account_of(debit);
      if (debit.amount > account.free()) decision.shortfalls.push_back(shortfall(debit, account));
    }
    const std::vector<std::string>& broken = decision.broken_rules;
    if (std::find(broken.begin(), broken.end(), "measure_not_expressible") != broken.end()) {
      for (ModelShortfall& one : decision.shortfalls) one.fits = kNothingFits;
    }
    decision.granted = !decision.key_conflict && decision.broken_rules.empty() && decision.shortfalls.empty();
    return decision;
  }

  /// The request is made.
  ModelAnswer asked(const ModelRequest& request) {
    const std::pair name(request.principal, request.key);
    if (const auto bound = keys_.find(name); !request.key.empty() && bound != keys_.end()) {
      const ModelDecision& earlier = decisions_.at(bound->second);
      if (earlier.question == request.question) return {.replayed = true, .decision = earlier};
    }
    ModelDecision decision = judged(request);
    decision.number = decisions() + 1;
    if (decision.granted) {
      for (const Debit& debit : request.debits) {
        accounts_.try_emplace(debit.account, ModelAccount{.limit = debit.limit});
        accounts_[debit.account].spent += debit.amount;
      }
    }
    const bool unread = decision.broken_rules == std::vector<std::string>{"principal_not_allowed"};
    if (!request.key.empty() && !unread) keys_.try_emplace(name, decision.number);  // the first stays
    decisions_[decision.number] = decision;
    return {.replayed = false, .decision = decision};
  }

  /// Sets aside what fits, or nothing; and what becomes of it once.
  bool reserved(const std::vector<Debit>& debits) {
    for (const Debit& debit : debits)
      if (debit.amount > account_of(debit).free()) return false;
    for (const Debit& debit : debits) accounts_[debit.account].reserved += debit.amount;
    decisions_[decisions() + 1];
    return true;
  }
  void resolved(const std::vector<Debit>& debits, bool spent) {
    for (const Debit& debit : debits) {
      accounts_[debit.account].reserved -= debit.amount;
      accounts_[debit.account].spent += spent ? debit.amount : 0;
    }
    decisions_[decisions() + 1];
  }

  [[nodiscard]] const std::map<AccountKey, ModelAccount>& accounts() const { return accounts_; }
  [[nodiscard]] std::int64_t decisions() const { return static_cast<std::int64_t>(decisions_.size()); }

 private:
  [[nodiscard]] ModelAccount account_of(const Debit& debit) const {
    const auto found = accounts_.find(debit.account);
    return found == accounts_.end() ? ModelAccount{.limit = debit.limit} : found->second;
  }
  static ModelShortfall shortfall(const Debit& debit, const ModelAccount& account) {
    return {.account = debit.account,
            .limit = account.limit,
            .spent = account.spent,
            .reserved = account.reserved,
            .asked = debit.amount,
            .over_by = debit.amount - account.free(),
            .fits = account.free()};
  }

  std::map<AccountKey, ModelAccount> accounts_;
  std::map<std::int64_t, ModelDecision> decisions_;
  std::map<std::pair<std::string, std::string>, std::int64_t> keys_;
};

}  // namespace epsilog::test
