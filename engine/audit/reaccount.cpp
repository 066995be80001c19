#include "epsilog/engine/reaccount.hpp"

#include <algorithm>
#include <map>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "recorded_loss.hpp"
#include "schedule_figures.hpp"
#include "scope.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;
using Amounts = std::map<std::string, std::int64_t>;  // grid units by measure
using ChargedUnits = std::map<std::string, Integer>;  // their sums

/// Of the work's progress, what reading takes.
constexpr double kReadingShare = 0.3;
const Rational kUsualDelta(1, 1'000'000);

/// Of one dataset or scope.
struct Tally {
  LawCounts counts;
  ChargedUnits charged;
  std::int64_t releases = 0;
  std::int64_t draws = 0;
  std::int64_t inexpressible = 0;
  std::int64_t unreadable = 0;

  [[nodiscard]] bool has_figures() const { return inexpressible == 0 && unreadable == 0; }
  [[nodiscard]] bool spent_nothing() const { return charged.empty() && releases == 0; }
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
    const std::vector<std::size_t> laws = laws_of_release(stored);
    add(stored, "", whole(by_scope), laws);
    if (!scopes_) return;
    for (const auto& [scope, amounts] : by_scope) {
      if (!scope.empty()) add(stored, scope, amounts, laws);
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

  /// The law of each draw.
  std::vector<std::size_t> laws_of_release(const ledger::StoredDecision& stored) {
    std::vector<std::size_t> numbers;
    if (!stored.release) return numbers;
    const ledger::ReleaseRecord& release = *stored.release;
    const auto parts = ledger::release_parts(release, stored.post_processing);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const std::string& mechanism = release.rows.empty() ? release.mechanism : release.rows[part].mechanism;
      for (std::size_t i = 0; i < parts[part].components; ++i) {
        const ledger::ComponentRecord& component = release.components[parts[part].component + i];
        numbers.push_back(laws_.law_index(loss_key(mechanism, component),
                                          [&] { return recorded_loss(mechanism, component); }));
      }
    }
    return numbers;
  }

  void add(const ledger::StoredDecision& stored, const std::string& scope, const Amounts& amounts,
           const std::vector<std::size_t>& laws) {
    const auto [entry, fresh] = tallies_.try_emplace({stored.draft.dataset, scope});
    Tally& tally = entry->second;
    // What could not be read earlier may be of this scope too.
    if (fresh) tally.unreadable = unreadable_anywhere_ + unreadable_[stored.draft.dataset];
    for (const auto& [measure, amount] : amounts) tally.charged[measure] += Integer(amount);
    if (!stored.release) return add_charge(tally, amounts);
    ++tally.releases;
    if (counts_charge(stored, scope, amounts)) return add_charge(tally, amounts);
    tally.draws += static_cast<std::int64_t>(laws.size());
    for (const std::size_t law : laws) ++tally.counts[law];
  }

  /// Not every row of a batch need cover a block, and its charge there is that of those that do. Where
  /// nothing else says what that is, all of them are counted, which is more.
  static bool counts_charge(const ledger::StoredDecision& stored, const std::string& scope,
                            const Amounts& amounts) {
    const auto parsed = parse_scope(scope);
    return !stored.release->rows.empty() && parsed && parsed->kind == Scope::Kind::block &&
           charged_loss(amounts).has_value();
  }

  void add_charge(Tally& tally, const Amounts& amounts) {
    const auto loss = charged_loss(amounts);
    if (!loss) {
      ++tally.inexpressible;
      return;
    }
    std::string key = "charge";
    for (const auto& [measure, amount] : amounts) key += " " + measure + " " + std::to_string(amount);
    ++tally.counts[laws_.law_index(key, [&] { return *loss; })];
  }

  bool scopes_;
  std::map<std::int64_t, ledger::AccountState> accounts_;
  std::map<std::pair<std::string, std::string>, Tally> tallies_;  // by dataset, scope
  std::map<std::string, std::int64_t> unreadable_;                // by dataset, so far
  std::int64_t unreadable_anywhere_ = 0;
  Laws laws_;
};

accounting::RenyiCurve charged_curve(const ChargedUnits& charges) {
  accounting::RenyiCurve curve;
  for (const auto& [measure, units] : charges) {
    const auto parsed = parse_measure(measure);
    if (parsed && parsed->kind == AccountMeasure::Kind::renyi) {
      curve.push_back(
          {parsed->order, units * accounting::power_of_ten(-accounting::EpsilonMeasure::decimals)});
    }
  }
  return curve;
}

std::optional<Rational> charged_total(const ChargedUnits& charges, const char* measure, int decimals) {
  const auto found = charges.find(measure);
  if (found == charges.end()) return std::nullopt;
  return Rational(found->second * accounting::power_of_ten(-decimals));
}

/// By the filters under which the charges were made, each of which holds by itself.
std::optional<Rational> promised_figure(const ChargedUnits& charges, const ScheduleQuestion& asked) {
  std::optional<Rational> least;
  const auto offer = [&least](const Rational& bound) { least = least ? std::min(*least, bound) : bound; };
  const auto epsilon = charged_total(charges, "epsilon", accounting::EpsilonMeasure::decimals);
  const auto rho = charged_total(charges, "rho", accounting::RhoMeasure::decimals);
  const Rational delta =
      charged_total(charges, "delta", accounting::DeltaMeasure::decimals).value_or(Rational(0));
  const accounting::RenyiCurve curve = charged_curve(charges);
  if (asked.at_delta) {
    if (epsilon && delta <= asked.at) offer(*epsilon);
    if (rho && asked.at > 0) offer(accounting::zcdp_epsilon_up(*rho, asked.at));
    if (!curve.empty() && asked.at > 0) offer(accounting::renyi_epsilon_up(curve, asked.at));
  } else {
    if (epsilon && *epsilon <= asked.at) offer(std::min(delta, Rational(1)));
    if (rho) offer(accounting::zcdp_delta_up(*rho, asked.at));
    if (!curve.empty()) offer(accounting::renyi_delta_up(curve, asked.at));
  }
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

Reaccount start_reaccount(const ReaccountQuestion& question, const Policy& policy,
                          const std::pair<std::string, std::string>& name, const Tally& tally) {
  Reaccount answer;
  answer.dataset = name.first;
  answer.scope = name.second;
  answer.epsilon = question.epsilon;
  if (!question.epsilon)
    answer.delta = question.delta ? question.delta->rational() : usual_delta(policy, name.first);
  answer.releases = tally.releases;
  answer.draws = tally.draws;
  answer.laws = static_cast<std::int64_t>(tally.counts.size());
  answer.inexpressible = tally.inexpressible;
  answer.unreadable = tally.unreadable;
  return answer;
}

}  // namespace

std::vector<Reaccount> reaccount(const std::string& ledger_path, const ReaccountQuestion& question,
                                 const Progress& progress, const EngineOptions& options) {
  check(question);
  const ledger::Ledger ledger = ledger::Ledger::open_read_only(ledger_path, options.ledger_options());
  std::optional<ledger::Snapshot> view(ledger.snapshot());
  const Policy policy = Policy::parse_stored(view->active_policy().yaml, "the active policy");
  const auto accounts = view->accounts(question.dataset);
  if (accounts.empty() && !question.dataset.empty()) static_cast<void>(policy.dataset(question.dataset));
  History history(accounts, question.scopes);
  const auto total = static_cast<double>(view->decision_count());
  std::int64_t read = 0;
  const auto leave_out = [&](const ledger::MalformedRecord& record) {
    history.unreadable(record.dataset);
    if (options.unreadable) options.unreadable({record.id, record.message});
  };
  view->each_decision(
      question.dataset, 0,
      [&](const ledger::StoredDecision& stored) {
        accounting::stop_if_requested();
        try {
          history.decision(stored);
        } catch (const LedgerCorrupt& fault) {
          leave_out(
              {.seq = stored.seq, .id = stored.id, .dataset = stored.draft.dataset, .message = fault.what()});
        }
        if (!progress || ++read % 1024 != 0) return;
        const accounting::DefaultFloatingPoint floating_point;
        progress(kReadingShare * static_cast<double>(read) / total);
      },
      leave_out);
  view.reset();  // composing may take long, and an open view keeps the log from being recycled
  if (question.laws_max > 0 && history.laws().size() > question.laws_max) {
    throw TooManyLaws(std::to_string(history.laws().size()) + " different laws are on record, and " +
                      std::to_string(question.laws_max) + " are composed at most");
  }

  std::vector<Reaccount> answers;
  ScheduleFigures figures(history.laws());
  Memo<std::pair<ChargedUnits, ScheduleQuestion>, std::optional<Rational>> promises;
  double done = 0;
  const auto work = static_cast<double>(history.tallies().size() * question.accountants.size());
  for (const auto& [name, tally] : history.tallies()) {
    Reaccount& answer = answers.emplace_back(start_reaccount(question, policy, name, tally));
    const ScheduleQuestion asked{answer.delta.has_value(), answer.delta ? *answer.delta : *answer.epsilon};
    if (tally.unreadable == 0) {
      answer.charged = tally.spent_nothing() ? Rational(0) : promises.of({tally.charged, asked}, [&] {
        return promised_figure(tally.charged, asked);
      });
    }
    for (const accounting::Accountant accountant : question.accountants) {
      std::optional<Rational> bound;
      if (tally.has_figures()) bound = figures.bound(accountant, tally.counts, asked);
      answer.figures.push_back({accountant, bound});
      if (!progress) continue;
      const accounting::DefaultFloatingPoint floating_point;
      progress(kReadingShare + (1 - kReadingShare) * ++done / work);
    }
  }
  return answers;
}

}  // namespace epsilog::engine
