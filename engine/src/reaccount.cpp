#include "epsilog/engine/reaccount.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "recorded_loss.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;
using accounting::KnownLoss;
using Amounts = std::map<std::string, std::int64_t>;  // grid units by measure

/// Of the work's progress, what reading takes.
constexpr double kReadingShare = 0.3;
const Rational kUsualDelta(1, 1'000'000);

/// Of one dataset or scope.
struct Tally {
  std::map<std::size_t, std::uint64_t> counts;  ///< by the number of the law
  std::map<std::string, Integer> charged;       ///< grid units by measure
  std::int64_t releases = 0;
  std::int64_t draws = 0;
  std::int64_t inexpressible = 0;
  std::int64_t unreadable = 0;

  [[nodiscard]] bool has_figures() const { return inexpressible == 0 && unreadable == 0; }
};

/// Different laws, numbered as they come.
class Laws final {
 public:
  std::size_t numbered(const std::string& key, const auto& make) {
    const auto [entry, fresh] = numbers_.try_emplace(key, losses_.size());
    if (fresh) losses_.push_back(make());
    return entry->second;
  }
  [[nodiscard]] std::vector<KnownLoss> losses(const Tally& tally) const {
    std::vector<KnownLoss> result;
    for (const auto& [number, count] : tally.counts) {
      result.push_back(losses_[number]);
      result.back().count = count;
    }
    return result;
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<KnownLoss> losses_;
};

/// Reads the history into tallies.
class History final {
 public:
  History(const std::vector<ledger::AccountState>& accounts, bool scopes) : scopes_(scopes) {
    for (const ledger::AccountState& account : accounts) {
      accounts_[account.id] = account;
      tallies_[{account.dataset, ""}];
    }
  }

  void decision(const ledger::StoredDecision& stored) {
    if (!spends(stored)) return;
    std::map<std::string, Amounts> by_scope;
    for (const ledger::Charge& charge : stored.charges) {
      const auto account = accounts_.find(charge.account);
      if (account == accounts_.end()) {
        throw LedgerCorrupt("decision " + stored.id + ": a charge names no account");
      }
      by_scope[account->second.scope][account->second.measure] += charge.amount;
    }
    add(stored, "", whole(by_scope));
    if (!scopes_) return;
    for (const auto& [scope, amounts] : by_scope) {
      if (!scope.empty()) add(stored, scope, amounts);
    }
  }

  /// One that cannot be read; `dataset` "" = of any.
  void unreadable(const std::string& dataset) {
    for (auto& [name, tally] : tallies_) {
      if (dataset.empty() || name.first == dataset) ++tally.unreadable;
    }
    if (dataset.empty()) {
      ++unreadable_anywhere_;
    } else {
      ++unreadable_[dataset];
    }
  }

  [[nodiscard]] const std::map<std::pair<std::string, std::string>, Tally>& tallies() const {
    return tallies_;
  }
  [[nodiscard]] const Laws& laws() const { return laws_; }

 private:
  /// A reservation's charges are spent by the decision that posts or forfeits it.
  static bool spends(const ledger::StoredDecision& stored) {
    return stored.draft.outcome == ledger::Outcome::granted ||
           stored.draft.outcome == ledger::Outcome::forfeited;
  }

  /// What every release of the dataset is charged to: the dataset itself, its lifetime, or the period.
  static Amounts whole(const std::map<std::string, Amounts>& by_scope) {
    for (const char* scope : {"", "lifetime"}) {
      if (const auto found = by_scope.find(scope); found != by_scope.end()) return found->second;
    }
    const auto period = by_scope.lower_bound("period:");
    const bool found = period != by_scope.end() && period->first.starts_with("period:");
    return found ? period->second : Amounts();
  }

  void add(const ledger::StoredDecision& stored, const std::string& scope, const Amounts& amounts) {
    const auto [entry, fresh] = tallies_.try_emplace({stored.draft.dataset, scope});
    Tally& tally = entry->second;
    // What could not be read earlier may be of this scope too.
    if (fresh) tally.unreadable = unreadable_anywhere_ + unreadable_[stored.draft.dataset];
    for (const auto& [measure, amount] : amounts) tally.charged[measure] += Integer(amount);
    if (!stored.release) return add_charge(tally, amounts);
    ++tally.releases;
    const std::string& mechanism = stored.release->mechanism;
    for (const ledger::ComponentRecord& component : stored.release->components) {
      ++tally.draws;
      const std::string key = loss_key(mechanism, component);
      ++tally.counts[laws_.numbered(key, [&] { return recorded_loss(mechanism, component); })];
    }
  }

  void add_charge(Tally& tally, const Amounts& amounts) {
    const auto loss = charged_loss(amounts);
    if (!loss) {
      ++tally.inexpressible;
      return;
    }
    std::string key = "charge";
    for (const auto& [measure, amount] : amounts) key += " " + measure + " " + std::to_string(amount);
    ++tally.counts[laws_.numbered(key, [&] { return *loss; })];
  }

  bool scopes_;
  std::map<std::int64_t, ledger::AccountState> accounts_;
  std::map<std::pair<std::string, std::string>, Tally> tallies_;  // by dataset, scope
  std::map<std::string, std::int64_t> unreadable_;                // by dataset, so far
  std::int64_t unreadable_anywhere_ = 0;
  Laws laws_;
};

accounting::RenyiCurve charged_curve(const Tally& tally) {
  accounting::RenyiCurve curve;
  for (const auto& [measure, units] : tally.charged) {
    if (const auto order = renyi_order(measure)) {
      curve.push_back({*order, units * accounting::power_of_ten(-accounting::EpsilonMeasure::decimals)});
    }
  }
  return curve;
}

std::optional<Rational> charged(const Tally& tally, const char* measure, int decimals) {
  const auto found = tally.charged.find(measure);
  if (found == tally.charged.end()) return std::nullopt;
  return Rational(found->second * accounting::power_of_ten(-decimals));
}

/// By the filters under which the charges were made, each of which holds by itself.
std::optional<Rational> promised(const Tally& tally, const Reaccount& answer) {
  std::optional<Rational> least;
  const auto offer = [&least](const Rational& bound) { least = least ? std::min(*least, bound) : bound; };
  const auto epsilon = charged(tally, "epsilon", accounting::EpsilonMeasure::decimals);
  const auto rho = charged(tally, "rho", accounting::RhoMeasure::decimals);
  const Rational delta = charged(tally, "delta", accounting::DeltaMeasure::decimals).value_or(Rational(0));
  const accounting::RenyiCurve curve = charged_curve(tally);
  if (answer.delta) {
    if (epsilon && delta <= *answer.delta) offer(*epsilon);
    if (rho && *answer.delta > 0) offer(accounting::zcdp_epsilon_up(*rho, *answer.delta));
    if (!curve.empty() && *answer.delta > 0) offer(accounting::renyi_epsilon_up(curve, *answer.delta));
  } else {
    if (epsilon && *epsilon <= *answer.epsilon) offer(std::min(delta, Rational(1)));
    if (rho) offer(accounting::zcdp_delta_up(*rho, *answer.epsilon));
    if (!curve.empty()) offer(accounting::renyi_delta_up(curve, *answer.epsilon));
  }
  if (!least && tally.charged.empty() && tally.releases == 0) return Rational(0);
  return least;
}

std::optional<Rational> declared_delta(const Budget& budget) {
  if (budget.delta > Delta()) return budget.delta.rational();
  if (budget.target && budget.target->delta > Delta()) return budget.target->delta.rational();
  return std::nullopt;
}

/// Of a dataset that the active policy does not have any more too.
Rational usual_delta(const Policy& policy, const std::string& name) {
  for (const Dataset& dataset : policy.datasets()) {
    if (dataset.name != name) continue;
    if (const auto delta = declared_delta(dataset.budget)) return *delta;
    if (!dataset.lifetime) break;
    if (const auto delta = declared_delta(*dataset.lifetime)) return *delta;
  }
  return kUsualDelta;
}

void check(const ReaccountQuestion& question) {
  if (question.delta && question.epsilon) throw InvalidParameter("epsilon: not together with delta");
  if (question.delta && (*question.delta < 0 || *question.delta >= 1)) {
    throw InvalidParameter("delta: " + accounting::text(*question.delta) + " is not in [0, 1)");
  }
  if (question.epsilon && *question.epsilon < 0) {
    throw InvalidParameter("epsilon: " + accounting::text(*question.epsilon) + " is negative");
  }
}

Reaccount begun(const ReaccountQuestion& question, const Policy& policy,
                const std::pair<std::string, std::string>& name, const Tally& tally) {
  Reaccount answer;
  answer.dataset = name.first;
  answer.scope = name.second;
  answer.epsilon = question.epsilon;
  if (!question.epsilon) answer.delta = question.delta ? *question.delta : usual_delta(policy, name.first);
  answer.releases = tally.releases;
  answer.draws = tally.draws;
  answer.laws = static_cast<std::int64_t>(tally.counts.size());
  answer.inexpressible = tally.inexpressible;
  answer.unreadable = tally.unreadable;
  if (tally.unreadable == 0) answer.charged = promised(tally, answer);
  return answer;
}

}  // namespace

std::vector<Reaccount> reaccount(const std::string& ledger_path, const ReaccountQuestion& question,
                                 const Progress& progress,
                                 const std::function<void(const UnreadableDecision&)>& unreadable) {
  check(question);
  const ledger::Ledger ledger = ledger::Ledger::open_read_only(ledger_path);
  std::optional<ledger::Snapshot> view(ledger.snapshot());
  const Policy policy = Policy::parse(view->active_policy().yaml, "the active policy");
  const auto accounts = view->accounts(question.dataset);
  if (accounts.empty() && !question.dataset.empty()) static_cast<void>(policy.dataset(question.dataset));
  History history(accounts, question.scopes);
  const auto total = static_cast<double>(view->decisions());
  std::int64_t read = 0;
  const auto leave_out = [&](const ledger::MalformedRecord& record) {
    history.unreadable(record.dataset);
    if (unreadable) unreadable({record.id, record.message});
  };
  view->each_decision(
      question.dataset, 0,
      [&](const ledger::StoredDecision& stored) {
        try {
          history.decision(stored);
        } catch (const LedgerCorrupt& fault) {
          leave_out(
              {.seq = stored.seq, .id = stored.id, .dataset = stored.draft.dataset, .message = fault.what()});
        }
        if (progress && ++read % 1024 == 0) progress(kReadingShare * static_cast<double>(read) / total);
      },
      leave_out);
  view.reset();  // composing may take long, and an open view keeps the log from being recycled

  std::vector<Reaccount> answers;
  double done = 0;
  const auto work = static_cast<double>(history.tallies().size() * question.accountants.size());
  for (const auto& [name, tally] : history.tallies()) {
    Reaccount& answer = answers.emplace_back(begun(question, policy, name, tally));
    const std::vector<KnownLoss> losses = history.laws().losses(tally);
    for (const accounting::Accountant accountant : question.accountants) {
      std::optional<Rational> bound;
      if (tally.has_figures()) {
        bound = answer.delta ? accounting::composed_epsilon_up(accountant, losses, *answer.delta)
                             : accounting::composed_delta_up(accountant, losses, *answer.epsilon);
      }
      answer.figures.push_back({accountant, bound});
      if (progress) progress(kReadingShare + (1 - kReadingShare) * ++done / work);
    }
  }
  return answers;
}

}  // namespace epsilog::engine
