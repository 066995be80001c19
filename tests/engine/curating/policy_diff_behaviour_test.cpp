// What `policy diff` says of two policies, held against what they do.
//
// Both policies are asked the same questions after the same history: whatever both grant becomes part of it,
// whatever one of them refuses, or lets wait, does not. What the later one grants, or grants for less, is
// looser, and so is less consent or less noise; `policy diff` must name a difference that is looser or
// incomparable then. The reverse holds for tighter.
#include "access.hpp"
#include "batch_plan.hpp"
#include "decide.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "plan.hpp"
#include "policy_pairs.hpp"
#include "policy_text.hpp"
#include "policy_values.hpp"
#include "question_checks.hpp"
#include "request_rules.hpp"
#include "scopes.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

struct Asked {
  std::string statistic;
  std::string by;
  std::string where;
};
/// Three counts as one release, with a delta of the whole.
constexpr const char* kBatch = "batch";
const std::vector<Asked>& questions() {
  static const std::vector<Asked> kQuestions = [] {
    std::vector<Asked> result;
    for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/curating/asked_questions.tsv")) {
      result.push_back({row.at(0), row.at(1), row.at(2)});
    }
    return result;
  }();
  return kQuestions;
}
/// Asked more often: whether they can be asked, and what they lose, is decided by several keys together.
constexpr std::size_t kDecidedTogether = 14;
constexpr std::array kAskers = {"alice", "bob", "carol", "dave", "eve"};
constexpr std::array kPurposes = {"", "", "staffing", "quality"};
constexpr std::array kEpsilons = {"1/10", "17/100", "1/4", "2/5"};
constexpr std::array kRhos = {"1/500", "1/200", "1/90", "1/40"};
constexpr std::array kDeltas = {"1/10000000", "1/200000"};

bool gaussian(MechanismChoice mechanism) {
  return mechanism == MechanismChoice::gaussian || mechanism == MechanismChoice::discrete_gaussian;
}

/// What a request comes to: nothing at all, where it cannot be planned.
struct Outcome {
  enum class Rank { refused, waits, granted } rank = Rank::refused;
  std::shared_ptr<const Plan> plan = nullptr;
  std::vector<PlannedCharge> planned_charges = {};
};

/// One policy with what was charged under it.
class Side final {
 public:
  explicit Side(Policy policy) : policy_(std::move(policy)), dataset_(policy_.dataset("clinic")) {}

  [[nodiscard]] const Policy& policy() const { return policy_; }
  [[nodiscard]] const Dataset& dataset() const { return dataset_; }

  /// Requires  the same `number` for the same question and loss.
  [[nodiscard]] Outcome outcome(const Request& request, std::size_t number, const std::string& time) {
    Outcome result{.plan = planned(request, number)};
    if (result.plan == nullptr) return result;
    result.planned_charges = planned_charges(policy_, dataset_, request, *result.plan, time);
    const Decision decision =
        decide(policy_, dataset_, request, *result.plan, owed(result.planned_charges), std::nullopt, 1);
    if (!decision.granted()) return result;
    result.rank = result.plan->approvals_required > 0 ? Outcome::Rank::waits : Outcome::Rank::granted;
    return result;
  }
  void charge(const std::vector<PlannedCharge>& asked) {
    for (const Debit& debit : owed(asked)) {
      ledger::AccountState& account = accounts_[debit.account.name()];
      account = debit.account;
      account.balance.spent += debit.charge.amount;
    }
  }
  void forget() { accounts_.clear(); }
  [[nodiscard]] bool may_approve(const std::string& asker, const std::string& who) const {
    return engine::may_approve(policy_, dataset_, asker, who);
  }

 private:
  std::vector<Debit> owed(const std::vector<PlannedCharge>& asked) {
    std::vector<ledger::AccountState> present;
    for (const PlannedCharge& ask : asked) {
      const auto found = accounts_.find(ask.account);
      if (found != accounts_.end()) present.push_back(found->second);
    }
    return debits(asked, present);
  }
  std::shared_ptr<const Plan> planned(const Request& request, std::size_t number) {
    const auto known = plans_.find(number);
    if (known != plans_.end()) return known->second;
    std::shared_ptr<const Plan> plan;
    try {
      auto made = std::make_shared<const Plan>(plan_request(dataset_, request));
      require_answerable(dataset_, request, *made);
      plan = std::move(made);
    } catch (const InvalidParameter&) {
    } catch (const NotFound&) {
    } catch (const Underivable&) {
    }
    return plans_[number] = plan;
  }

  Policy policy_;
  const Dataset& dataset_;
  std::map<ledger::AccountName, ledger::AccountState> accounts_;
  std::map<std::size_t, std::shared_ptr<const Plan>> plans_;
};

/// What was seen, in words.
struct Seen {
  std::vector<std::string> looser;
  std::vector<std::string> tighter;
};

class Walk final {
 public:
  Walk(Side& before, Side& after, std::mt19937_64& random)
      : before_(before), after_(after), random_(random) {}

  [[nodiscard]] Seen seen() {
    for (std::size_t& question : questions_) {
      question = random_() % 2 == 0 ? random_() % questions().size()
                                    : questions().size() - 1 - random_() % kDecidedTogether;
    }
    for (int history = 0; history < 3; ++history) {
      before_.forget();
      after_.forget();
      day_ = 1 + static_cast<int>(random_() % 28);
      month_ = 1;
      for (int step = 0; step < 24; ++step) {
        if (random_() % 8 == 0 && month_ < 12) ++month_;
        ask();
      }
    }
    return std::move(seen_);
  }

 private:
  void ask() {
    const std::size_t which = questions_[random_() % questions_.size()];
    const Asked& question = questions()[which];
    const std::size_t loss = random_() % kEpsilons.size();
    const std::size_t number = which * kEpsilons.size() + loss;
    Request request;
    request.dataset = "clinic";
    const bool batch = question.statistic == kBatch;
    request.question =
        parse_question(batch ? "count" : question.statistic, optional(question.by), optional(question.where));
    request.principal = kAskers[random_() % kAskers.size()];
    request.purpose = kPurposes[random_() % kPurposes.size()];
    set_loss(request, loss);
    if (batch) make_batch(request);
    what_ = request.principal + " '" + request.purpose + "' " + question.statistic + " by '" + question.by +
            "' where '" + question.where + "', loss " + std::to_string(loss);
    const Outcome old = before_.outcome(request, number, time());
    const Outcome now = after_.outcome(request, number, time());
    if (old.rank != now.rank) return note(old.rank < now.rank, "it is granted, or waits, where it was not");
    if (old.rank == Outcome::Rank::refused) return;
    compare_debits(old.planned_charges, now.planned_charges);
    compare_noise(request.question, *old.plan, *now.plan);
    if (old.rank == Outcome::Rank::waits) compare_consent(request, *old.plan, *now.plan);
    before_.charge(old.planned_charges);
    after_.charge(now.planned_charges);
  }
  void set_loss(Request& request, std::size_t loss) const {
    const Question& question = request.question;
    const bool value = question.statistic.kind == StatisticKind::value;
    const ReleaseSettings& settings = before_.dataset().settings(
        value ? std::string_view(question.statistic.subject) : name(question.statistic.kind));
    const auto number = [](const char* text) { return accounting::parse_rational(text, "loss"); };
    if (gaussian(settings.mechanism) && loss < 2) {
      request.epsilon = 0;
      request.rho = number(kRhos[2 * loss + (loss == 0 ? 1 : 0)]);
      return;
    }
    request.epsilon = number(kEpsilons[loss]);
    if (gaussian(settings.mechanism)) request.delta = number(kDeltas[loss % kDeltas.size()]);
  }

  /// The same question three times, each with a part of the loss and none with a delta of its own but where
  /// its mechanism has one.
  static void make_batch(Request& request) {
    const Request one = request;
    for (int row = 0; row < 3; ++row) {
      RequestRow& added = request.rows.emplace_back();
      added.question = one.question;
      added.epsilon = Rational(one.epsilon.rational() / 3);
      if (one.delta) added.delta = Rational(one.delta->rational() / 3);
      if (one.rho) added.rho = Rational(one.rho->rational() / 3);
    }
    request.question = {};
    request.epsilon = 0;
    request.rho.reset();
    request.delta = Rational(1, 100'000);
  }

  using Debited = std::map<std::pair<std::string, std::string>, std::int64_t>;
  /// Periods are one scope, and a budget without delta is one with as little of it as there is.
  static Debited debited(const std::vector<PlannedCharge>& planned_charges) {
    Debited result;
    for (const PlannedCharge& ask : planned_charges) {
      if (ask.account.measure == accounting::DeltaMeasure::name) continue;
      const std::string scope = ask.account.scope.starts_with("period:") ? "" : ask.account.scope;
      result[{scope, ask.account.measure}] = ask.amount;
    }
    return result;
  }
  void compare_debits(const std::vector<PlannedCharge>& old_asks,
                      const std::vector<PlannedCharge>& now_asks) {
    const Debited old = debited(old_asks);
    const Debited now = debited(now_asks);
    for (const auto& [account, amount] : old) {
      const auto found = now.find(account);
      if (found == now.end()) {
        note(true, "'" + account.first + "' " + account.second + " is not debited any more");
      } else if (apart(amount, found->second)) {
        note(found->second < amount, "'" + account.first + "' " + account.second + " is debited " +
                                         std::to_string(found->second) + " instead of " +
                                         std::to_string(amount));
      }
    }
    for (const auto& [account, amount] : now) {
      if (!old.contains(account))
        note(false, "'" + account.first + "' " + account.second + " is debited as well");
    }
  }
  /// Gaussian noise is calibrated to a scale on a grid: another range or grid moves what it loses by less.
  static bool apart(std::int64_t one, std::int64_t other) {
    const double difference = std::abs(static_cast<double>(one) - static_cast<double>(other));
    return difference > 1e-2 * static_cast<double>(std::min(one, other));
  }
  /// Of the same answer: the same bounds of one column or query.
  void compare_noise(const Question& question, const Plan& old, const Plan& now) {
    const std::string& subject = question.statistic.subject;
    // Cells that are clamped elsewhere have another sum.
    const Column* column = before_.dataset().column(subject);
    const Column* column_now = after_.dataset().column(subject);
    const auto text = [](const Column* one) {
      return one != nullptr && one->bounds ? value_text(*one->bounds) : "";
    };
    if (text(column) != text(column_now)) return;
    if (!question.by.empty() || old.mechanisms.size() != now.mechanisms.size() ||
        old.mechanisms.size() != 1 || !old.rows.empty())
      return;
    const Component& was = old.derivation.components[0];
    const Component& is = now.derivation.components[0];
    if (subject.empty() || was.lower != is.lower || was.upper != is.upper || was.quantity != is.quantity)
      return;
    if (was.sensitivity != is.sensitivity) note(is.sensitivity < was.sensitivity, "its noise is other");
  }
  void compare_consent(const Request& request, const Plan& old, const Plan& now) {
    if (old.approvals_required != now.approvals_required)
      note(now.approvals_required < old.approvals_required, "as many others must agree");
    for (const char* who : kAskers) {
      const bool could = before_.may_approve(request.principal, who);
      const bool can = after_.may_approve(request.principal, who);
      if (could != can) note(can, std::string(who) + " may agree to it");
    }
  }

  static std::optional<std::string> optional(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  }
  [[nodiscard]] std::string time() const {
    const auto two = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    return "2026-" + two(month_) + "-" + two(day_) + "T12:00:00.000Z";
  }
  void note(bool looser, const std::string& how) {
    (looser ? seen_.looser : seen_.tighter).push_back(what_ + ": " + how);
  }

  Side& before_;
  Side& after_;
  std::mt19937_64& random_;
  std::array<std::size_t, 6> questions_{};  // to plan all of them would take long
  int day_ = 1, month_ = 1;
  std::string what_;
  Seen seen_;
};

std::optional<Policy> parsed(const PolicyParts& parts) {
  try {
    return checked_policy(parts.yaml(), "p.yaml");
  } catch (const PolicyError&) {
    return std::nullopt;  // what was drawn does not go together
  }
}

struct Pair {
  Policy before;
  Policy after;
};
Pair drawn_pair(std::mt19937_64& random) {
  for (;;) {
    const PolicyParts parts = PolicyParts::drawn(random);
    const auto before = parsed(parts);
    if (!before) continue;
    for (int attempt = 0; attempt < 20; ++attempt) {
      PolicyParts other = parts;
      other.change(random);
      if (random() % 3 == 0) other.change(random);
      if (other.yaml() == parts.yaml()) continue;
      if (const auto after = parsed(other)) return {*before, *after};
    }
  }
}

bool reports(const std::vector<PolicyChange>& changes, Direction direction) {
  return std::any_of(changes.begin(), changes.end(), [&](const PolicyChange& change) {
    return change.direction == direction || change.direction == Direction::incomparable;
  });
}

std::string shown_changes(const std::vector<PolicyChange>& changes) {
  std::string text;
  for (const PolicyChange& change : changes)
    text += std::string(name(change.direction)) + ": " + change.path_text() + ": " + change.before + " -> " +
            change.after + "\n";
  return text;
}

/// How many pairs were seen to behave otherwise.
int compare_pairs(std::uint64_t seed, int pairs) {
  std::mt19937_64 random(seed);
  int different = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    Pair policies = drawn_pair(random);
    Side before(std::move(policies.before));
    Side after(std::move(policies.after));
    const std::vector<PolicyChange> changes = diff(before.policy(), after.policy());
    const Seen seen = Walk(before, after, random).seen();
    if (!seen.looser.empty() || !seen.tighter.empty()) ++different;
    const bool looser_told = seen.looser.empty() || reports(changes, Direction::looser);
    const bool tighter_told = seen.tighter.empty() || reports(changes, Direction::tighter);
    if (looser_told && tighter_told) continue;
    CAPTURE(seed, pair, before.policy().yaml(), after.policy().yaml(), shown_changes(changes));
    if (!looser_told) FAIL_CHECK("looser, and not said: " + seen.looser.front());
    if (!tighter_told) FAIL_CHECK("tighter, and not said: " + seen.tighter.front());
  }
  return different;
}

}  // namespace

TEST_CASE("policy diff: what a later policy grants or refuses otherwise is said, of random pairs",
          "[engine][diff][behaviour]") {
  const int different = compare_pairs(20261122, 60);
  CHECK(different > 20);  // else they were asked too little
}

TEST_CASE("policy diff: rules under forbid that forbid the same to the same are no difference to anybody",
          "[engine][diff][behaviour]") {
  const auto with = [](const std::string& rules) {
    return checked_policy(PolicyText{.more = "forbid: [" + rules + "]"}.yaml(), "p.yaml");
  };
  const std::string broad = "{principals: [alice, bob]}";
  const std::string other = "{statistics: [mean, units]}";
  // Each of these is covered by one of those.
  const std::vector<std::string> covered = {"{principals: [alice]}",
                                            "{principals: [bob], statistics: [count]}",
                                            "{principals: [alice, carol], statistics: [mean]}",
                                            "{statistics: [units], by: [ward]}",
                                            "{principals: [alice], columns: [age], statistics: [mean]}",
                                            "{principals: [bob], statistics: [units]}"};
  std::mt19937_64 random(7);
  for (int pair = 0; pair < 200; ++pair) {
    const auto rules = [&] {
      std::vector<std::string> list = {broad, other};
      for (const std::string& rule : covered) {
        if (random() % 2 == 0) list.push_back(rule);
      }
      std::shuffle(list.begin(), list.end(), random);
      std::string text;
      for (const std::string& rule : list) text += (text.empty() ? "" : ", ") + rule;
      return text;
    };
    const Policy before = with(rules());
    const Policy after = with(rules());
    const std::vector<PolicyChange> changes = diff(before, after);
    CAPTURE(pair, before.yaml(), after.yaml(), shown_changes(changes));
    CHECK(std::all_of(changes.begin(), changes.end(),
                      [](const PolicyChange& change) { return change.direction == Direction::neutral; }));
  }
}

TEST_CASE("policy diff: what a later policy grants or refuses otherwise is said, of many more random pairs",
          "[engine][diff][behaviour][.long]") {
  CHECK(compare_pairs(std::random_device()(), 10'000) > 2'500);
}
