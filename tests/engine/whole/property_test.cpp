// Random policies and random requests against a model of a few integers (budget_model.hpp). Every answer is
// compared: granted or not, for which reasons with which figures, the accounts after it, and replays.
//
// A failure prints the seed of its world; worlds are independent, so that seed alone repeats it.
#include "budget_model.hpp"
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "random_budgets.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;
using engine::RefusalCode;

namespace {

constexpr std::uint64_t kFirstSeed = 20'270'000;
constexpr int kStepsOfAWorld = 2'600;

/// A request with what the model has to know of it.
struct Step {
  engine::Request request;
  std::string question;
  ReleaseCost cost;
  std::optional<std::vector<std::string>> wards;
};

struct Tally {
  std::int64_t steps = 0;
  std::int64_t granted = 0;
  std::int64_t refused = 0;
  std::int64_t replayed = 0;
  std::int64_t conflicts = 0;
  std::int64_t exact_fits = 0;  ///< asks of exactly `fits`, and of one unit more
  std::int64_t policies = 0;
  std::int64_t reservations = 0;
  std::map<std::string, std::int64_t> short_of = {};  ///< by the beginning of the scope
};

/// One ledger in memory, its policy, and the model beside it.
class World final {
 public:
  World(std::uint64_t seed, Tally& tally) : random_(seed), bits_(seed), tally_(tally) {
    folder_.write("wards.csv", "ward\nA\nB\nB\nC\n");
    declares_principals_ = chance(2);
    sets_aside_ = chance(2);
    const std::int64_t datasets = between(1, 4);
    for (std::int64_t i = 0; i < datasets; ++i) datasets_.push_back(random_dataset("d" + std::to_string(i)));
    Engine::init(write_policy(), ledger(), "curator");
    reopen();
    for (const DatasetPlan& dataset : datasets_) {
      for (const Debit& listed : dataset.listed()) model_.set_limit(listed.account, listed.limit);
    }
  }

  void run(int steps) {
    for (int done = 0; done < steps;) {
      std::vector<Step> batch(static_cast<std::size_t>(between(1, 250)));
      for (Step& step : batch) step = random_step();
      carry_out(batch);
      probe_fits();
      done += static_cast<int>(batch.size());
      if (chance(8)) change_policy();
      if (chance(25)) reopen();
      if (chance(3)) pass_time();
      if (sets_aside_ && chance(4)) set_aside();
      if (chance(4)) resolve();
    }
    check_history();
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int one_in) { return between(1, one_in) == 1; }
  template <class T>
  const T& any(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(list.size()) - 1))];
  }
  [[nodiscard]] std::string ledger() const { return folder_.path("L"); }
  /// Two clocks that agree, so that no jump holds the calendar unless only one of them is moved.
  [[nodiscard]] ledger::Clock clock() const {
    return [this] { return ledger::ClockReading{.wall_ms = wall_ms_, .boot_ms = boot_ms_, .boot_id = "w"}; };
  }
  void reopen() { engine_.emplace(Engine::open(ledger(), {.wait_ms = 30'000, .clock = clock()})); }

  // ---- policies

  Amounts random_budget(std::int64_t scale) {
    switch (between(0, 5)) {
      case 0:
        return {{"epsilon", random_amount(scale)},
                {"delta", between(kDeltaUnit / 10'000'000, kDeltaUnit / 500'000)}};
      case 1:
        return {{"rho", between(1, scale * 2'000)}};
      case 2:
        return {{"rdp(2)", random_amount(scale)}, {"rdp(2.5)", random_amount(scale)}};
      case 3:
        return {{"rdp(" + std::string(chance(2) ? "8" : "64") + ")", random_amount(scale)}};
      default:
        return {{"epsilon", random_amount(scale)}};
    }
  }
  std::int64_t random_amount(std::int64_t scale) {
    return chance(8) ? between(1, 20) : between(scale / 100 + 1, scale);
  }

  DatasetPlan random_dataset(const std::string& name) {
    DatasetPlan dataset;
    dataset.name = name;
    dataset.declares_principals = declares_principals_;
    const std::int64_t scale = 40 * kEpsilonUnit;
    dataset.budget = random_budget(scale);
    if (chance(3)) {
      dataset.kind = chance(2) ? DatasetPlan::Kind::renewing : DatasetPlan::Kind::blocks;
      if (dataset.kind == DatasetPlan::Kind::blocks || chance(2)) dataset.lifetime = random_budget(2 * scale);
    } else if (chance(4)) {
      dataset.lifetime = random_budget(2 * scale);
    }
    dataset.purposes = chance(4);
    if (chance(3)) dataset.limits.push_back({"principal", "", random_budget(scale / 2)});
    if (chance(3) && declares_principals_)
      dataset.limits.push_back({"principal", "alice", random_budget(scale)});
    if (chance(3) && declares_principals_) dataset.limits.push_back({"role", "", random_budget(scale)});
    if (chance(2) && dataset.purposes)
      dataset.limits.push_back({"purpose", "planning", random_budget(scale)});
    if (chance(4)) dataset.per_release = std::max<std::int64_t>(1, scale / between(1, 500));
    dataset.allows_values = !chance(20) || dataset.kind == DatasetPlan::Kind::blocks;
    dataset.forbids_bob = declares_principals_ && chance(8);
    // What Gaussian noise costs as rho is not for integers to say.
    dataset.has_normal = !dataset.counts_in("r") && chance(2);
    return dataset;
  }

  std::string write_policy() const {
    std::string text = "version: 1\n";
    if (declares_principals_)
      text += "principals:\n  alice: {roles: [research]}\n  bob: {roles: [research, audit]}\n  carol: {}\n";
    text += "datasets:\n";
    for (const DatasetPlan& dataset : datasets_) text += dataset.yaml();
    return folder_.write("policy.yaml", text);
  }

  const DatasetPlan& plan_of(const std::string& dataset) const {
    return *std::find_if(datasets_.begin(), datasets_.end(),
                         [&](const auto& d) { return d.name == dataset; });
  }

  // ---- requests

  Step random_step() {
    if (!earlier_.empty() && chance(6)) return any(earlier_);
    const DatasetPlan& dataset = any(datasets_);
    Step step;
    step.request.dataset = dataset.name;
    step.request.principal = any(std::vector<std::string>{"alice", "alice", "alice", "bob", "carol", "eve"});
    if (dataset.purposes ? !chance(20) : chance(40))
      step.request.purpose = chance(3) ? "quality" : "planning";
    if (chance(60)) step.request.purpose = "curiosity";
    if (chance(3)) step.request.key = "k" + std::to_string(between(0, 400));
    std::string statistic = "value:plain";
    std::optional<std::string> where;
    if (dataset.has_normal &&
        chance(4)) {  // one only: calibrating Gaussian noise takes a thousand times a draw
      statistic = "value:normal";
      step.cost = {.epsilon = kEpsilonUnit / 2, .delta = kDeltaUnit / 10'000'000, .renyi = {}};
      step.request.delta = accounting::parse_rational("1e-7", "delta");
    } else {
      step.cost = random_cost(dataset);
      if (dataset.kind == DatasetPlan::Kind::blocks && chance(2)) {
        statistic = "count";
        step.wards = any(std::vector<std::vector<std::string>>{{"A"}, {"B", "C"}, {"C", "A"}, {"B"}});
        where = "ward in (";
        for (const std::string& ward : *step.wards)
          *where += (*where == "ward in (" ? "'" : ", '") + ward + "'";
        *where += ")";
      }
    }
    step.request.question = engine::parse_question(statistic, std::nullopt, where);
    if (step.request.epsilon == 0)
      step.request.epsilon = accounting::parse_rational(decimal(step.cost.epsilon, kEpsilonUnit), "epsilon");
    if (statistic != "count") step.request.supplied = std::to_string(between(0, 8));
    return finished(step);
  }
  ReleaseCost random_cost(const DatasetPlan& dataset) {
    if (dataset.counts_in("rdp")) {
      const RenyiCost& cost = any(renyi_costs());
      return {.epsilon = cost.epsilon, .delta = 0, .renyi = cost.renyi};
    }
    const std::int64_t most = std::max<std::int64_t>(1, 20 * kEpsilonUnit >> between(0, 24));
    if (chance(4)) return {.epsilon = kEpsilonUnit / between(1, 150), .delta = 0, .renyi = {}};
    return {.epsilon = chance(3) ? between(1, most) : most, .delta = 0, .renyi = {}};
  }
  /// With its question, and remembered if it has a key.
  Step finished(Step step) {
    const engine::Request& request = step.request;
    step.question = request.dataset + " " + request.question.statistic.text() + " " + request.purpose + " " +
                    std::to_string(step.cost.epsilon) + " " + std::to_string(step.cost.delta) +
                    (request.question.where ? " " + request.question.where->text() : "");
    if (!request.key.empty()) earlier_.push_back(step);
    return step;
  }
  Asker asker_of(const Step& step) const {
    return {step.request.principal, step.request.purpose, step.wards, period()};
  }
  ModelRequest modelled(const Step& step) const {
    const DatasetPlan& dataset = plan_of(step.request.dataset);
    const Asker asker = asker_of(step);
    const auto [rules, shut_out] =
        dataset.broken_rules(asker, step.request.supplied.has_value(), step.cost.delta > 0);
    ModelRequest model{.principal = step.request.principal,
                       .key = step.request.key,
                       .question = step.question,
                       .debits = dataset.debits(asker, step.cost),
                       .broken_rules = rules,
                       .cap = std::nullopt,
                       .shut_out = shut_out};
    if (dataset.per_release > 0)
      model.cap = Debit{{dataset.name, "per_release", "epsilon"}, step.cost.epsilon, dataset.per_release};
    return model;
  }

  void carry_out(const std::vector<Step>& batch) {
    std::vector<engine::Request> requests;
    for (const Step& step : batch) requests.push_back(step.request);
    std::vector<Answer> answers;
    if (requests.size() == 1) {
      answers.push_back(engine_->release(requests[0], bits_, {}));
    } else {
      answers = engine_->release_many(requests, bits_, {});
    }
    REQUIRE(answers.size() == batch.size());
    ledger_ms_ = wall_ms_;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const ModelRequest request = modelled(batch[i]);
      compare(answers[i], model_.asked(request), request);
    }
    check_all_accounts();
  }

  /// Where only epsilons count: exactly what all its accounts have left passes, one unit more does not.
  void probe_fits() {
    for (const DatasetPlan& dataset : datasets_) {
      if (dataset.counts_in("r") || dataset.per_release > 0 || chance(2)) continue;
      Step all;
      all.request.dataset = dataset.name;
      all.request.principal = "alice";
      all.request.purpose = dataset.purposes ? "quality" : "";
      all.request.question = engine::parse_question("value:plain", std::nullopt, std::nullopt);
      all.request.supplied = "4";
      std::int64_t left = accounting::kUnitsMax;
      for (const Debit& debit : dataset.debits(asker_of(all), {})) {
        if (std::get<2>(debit.account) != "epsilon") continue;
        const auto found = model_.accounts().find(debit.account);
        left = std::min(left, found == model_.accounts().end() ? debit.limit : found->second.free());
      }
      if (left == 0 || !dataset.allows_values) continue;
      Step more = all;
      all.cost.epsilon = left;
      more.cost.epsilon = left + 1;
      for (Step* step : {&all, &more}) {
        step->request.epsilon =
            accounting::parse_rational(decimal(step->cost.epsilon, kEpsilonUnit), "epsilon");
        *step = finished(*step);
      }
      if (model_.judged(modelled(more)).granted || !model_.judged(modelled(all)).granted)
        FAIL("the model is wrong about what is left of '" << dataset.name << "'");
      const std::string fits = accounting::Epsilon::from_units(left).text();
      const Answer refused = engine_->plan(more.request, {});
      CHECK_FALSE(refused.recorded.granted);
      CHECK(std::any_of(refused.recorded.reasons.begin(), refused.recorded.reasons.end(),
                        [&fits](const engine::Reason& reason) { return reason.fits == fits; }));
      carry_out({more, all});
      tally_.exact_fits += 2;
    }
  }

  // ---- comparison

  void compare(const Answer& answer, const ModelAnswer& expected, const ModelRequest& request) {
    ++tally_.steps;
    (expected.replayed ? tally_.replayed : expected.decision.granted ? tally_.granted : tally_.refused) += 1;
    tally_.conflicts += expected.decision.key_conflict ? 1 : 0;
    const ModelDecision& decision = expected.decision;
    bool same = answer.recorded.granted == decision.granted &&
                answer.recorded.replayed == expected.replayed && answer.recorded.seq == decision.number &&
                answer.released.values.size() == (decision.granted ? 1U : 0U);
    std::vector<std::string> rules;
    std::vector<ModelShortfall> shortfalls;
    bool conflict = false;
    for (const engine::Reason& reason : answer.recorded.reasons) {
      if (reason.code == RefusalCode::key_conflict) {
        conflict = true;
      } else if (reason.limit.empty()) {
        rules.emplace_back(name(reason.code));
      } else {
        shortfalls.push_back(
            {.account = {answer.asked.dataset, reason.scope, reason.measure},
             .limit = units(reason.measure, reason.limit),
             .spent = units(reason.measure, reason.spent),
             .reserved = reason.reserved.empty() ? 0 : units(reason.measure, reason.reserved),
             .asked = units(reason.measure, reason.asked),
             .over_by = units(reason.measure, reason.over_by),
             .fits = reason.fits.empty() ? kNothingFits : units(reason.measure, reason.fits)});
      }
    }
    const auto sorted = [](auto list) {
      std::sort(list.begin(), list.end());
      return list;
    };
    same = same && conflict == decision.key_conflict && sorted(rules) == sorted(decision.broken_rules) &&
           sorted(shortfalls) == sorted(decision.shortfalls);
    if (!same) {
      FAIL("answer " << answer.recorded.seq << " to '" << request.question << "' of " << request.principal
                     << " (key '" << request.key << "') granted " << answer.recorded.granted << ", replayed "
                     << answer.recorded.replayed << ", reasons "
                     << engine::reasons_json(answer.recorded.reasons) << "; the model says number "
                     << decision.number << ", granted " << decision.granted << ", replayed "
                     << expected.replayed << ", conflict " << decision.key_conflict << ", "
                     << decision.shortfalls.size() << " shortfalls, " << decision.broken_rules.size()
                     << " rules");
    }
    if (expected.replayed) return;
    for (const ModelShortfall& shortfall : decision.shortfalls) {
      const std::string& scope = std::get<1>(shortfall.account);
      ++tally_.short_of[scope.substr(0, scope.find(':'))];
    }
    check_touched(answer, request);
  }

  static std::int64_t units(const std::string& measure, const std::string& text) {
    return accounting::Integer(accounting::parse_rational(text, "amount") * unit_of(measure)).get_si();
  }
  static ModelAccount model_account(const ledger::AccountState& state) {
    return {.limit = state.balance.limit, .spent = state.balance.spent, .reserved = state.balance.reserved};
  }

  static std::string text_of(const std::map<AccountKey, ModelAccount>& accounts) {
    std::string text;
    for (const auto& [key, account] : accounts) {
      text += "(" + std::get<0>(key) + " " + std::get<1>(key) + " " + std::get<2>(key) + ": " +
              std::to_string(account.spent) + " + " + std::to_string(account.reserved) + " of " +
              std::to_string(account.limit) + ") ";
    }
    return text;
  }

  /// An answer shows every account the request touches that is there, as it stood after it, which is now; to
  /// whoever may not ask, none.
  void check_touched(const Answer& answer, const ModelRequest& request) {
    std::map<AccountKey, ModelAccount> expected;
    for (const Debit& debit : request.debits) {
      const auto found = model_.accounts().find(debit.account);
      if (found != model_.accounts().end()) expected.insert(*found);
    }
    const bool closed =
        std::any_of(answer.recorded.reasons.begin(), answer.recorded.reasons.end(), [](const auto& reason) {
          return reason.code == engine::RefusalCode::principal_not_allowed ||
                 reason.code == engine::RefusalCode::purpose_not_allowed;
        });
    if (closed) expected.clear();
    std::map<AccountKey, ModelAccount> shown;
    for (const ledger::AccountState& state : answer.recorded.accounts)
      shown[{state.dataset, state.scope, state.measure}] = model_account(state);
    if (shown != expected) {
      FAIL("answer " << answer.recorded.seq << " to '" << request.question << "' shows accounts "
                     << text_of(shown) << ", and it touches " << text_of(expected));
    }
  }

  /// All accounts of the ledger, and that none has more out than in.
  void check_all_accounts() {
    std::map<AccountKey, ModelAccount> shown;
    for (const ledger::AccountState& state : engine_->budget("")) {
      if (!state.balance.valid()) FAIL("spent and reserved are above the limit of account " << state.id);
      if (state.id != 0) shown[{state.dataset, state.scope, state.measure}] = model_account(state);
    }
    if (shown != model_.accounts()) {
      FAIL("the accounts are " << text_of(shown) << ", and the charges make them "
                               << text_of(model_.accounts()));
    }
  }

  // ---- what happens to the world

  /// Other limits, above or below what is spent; below is refused and changes nothing.
  void change_policy() {
    ++tally_.policies;
    const std::vector<DatasetPlan> before = datasets_;
    for (DatasetPlan& dataset : datasets_) {
      for (auto& [measure, limit] : dataset.budget) {
        if (chance(2)) limit += between(0, 5 * kEpsilonUnit);
        if (chance(10)) limit = std::max<std::int64_t>(1, limit / 2);
      }
      if (dataset.lifetime) {
        for (auto& [measure, limit] : *dataset.lifetime)
          if (chance(2)) limit += between(0, 5 * kEpsilonUnit);
      }
      for (LimitPlan& limit : dataset.limits) {
        for (auto& [measure, units] : limit.budget)
          if (chance(2)) units += between(0, 2 * kEpsilonUnit);
      }
      if (dataset.per_release > 0 && chance(2)) dataset.per_release = between(1, 5 * kEpsilonUnit);
    }
    std::map<AccountKey, std::int64_t> limits;
    bool acceptable = true;
    for (const auto& [key, account] : model_.accounts()) {
      const auto& [dataset, scope, measure] = key;
      const auto limit = plan_of(dataset).limit_of(scope, measure, period());
      limits[key] = limit.value_or(account.limit);  // of a period that is over
      acceptable = acceptable && limits[key] >= account.spent + account.reserved;
    }
    const std::string path = write_policy();
    if (acceptable) {
      engine_->apply_policy(path, "curator", "test");
      for (const auto& [key, limit] : limits) model_.set_limit(key, limit);
    } else {
      CHECK_THROWS_AS(engine_->apply_policy(path, "curator", "test"), PolicyError);
      datasets_ = before;
    }
    ledger_ms_ = wall_ms_;
    check_all_accounts();
  }

  /// Days go by; or the wall clock alone is set forwards, which holds the calendar where it stood.
  void pass_time() {
    const std::int64_t days = between(0, 3) * 86'400'000;
    wall_ms_ += days;
    if (chance(8)) {
      if (days > 0 && held_ms_ == 0) held_ms_ = ledger_ms_;
    } else {
      boot_ms_ += days;
    }
  }
  /// The day on which the ledger's calendar stands.
  [[nodiscard]] std::string period() const {
    return engine::date_text((held_ms_ != 0 ? held_ms_ : wall_ms_) / 86'400'000);
  }

  /// A reservation of a random share of some accounts of a dataset, and what becomes of it.
  void set_aside() {
    const DatasetPlan& dataset = any(datasets_);
    std::vector<Debit> debits;
    bool beside_delta = false;
    for (const auto& [key, account] : model_.accounts()) {
      if (std::get<0>(key) != dataset.name || account.free() == 0 || chance(2)) continue;
      debits.push_back({key, between(1, account.free()), account.limit});
      beside_delta |= std::get<2>(key) != "delta";
    }
    if (!beside_delta) return;
    ledger::Ledger ledger = ledger::Ledger::open(this->ledger(), {.clock = clock()});
    auto transaction = ledger.begin();
    std::vector<ledger::AccountName> names;
    for (const Debit& debit : debits)
      names.push_back({std::get<0>(debit.account), std::get<1>(debit.account), std::get<2>(debit.account)});
    const auto accounts = transaction.accounts(names);
    std::vector<ledger::Charge> charges;
    for (std::size_t i = 0; i < debits.size(); ++i)
      charges.push_back({.account = accounts.at(i).id, .amount = debits[i].amount});
    const std::string id =
        transaction.reserve(draft(transaction, ledger::Outcome::reserved, dataset.name, ""), charges);
    (void)ledger.commit(std::move(transaction));
    REQUIRE(model_.reserved(debits));
    set_aside_.push_back({id, debits});
    ledger_ms_ = wall_ms_;
    ++tally_.reservations;
    check_all_accounts();
  }
  void resolve() {
    if (set_aside_.empty()) return;
    const auto [id, debits] = set_aside_.back();
    set_aside_.pop_back();
    const bool spent = chance(3);
    ledger::Ledger ledger = ledger::Ledger::open(this->ledger(), {.clock = clock()});
    auto transaction = ledger.begin();
    const auto parent = transaction.find_by_id(id);
    ledger::DecisionDraft last =
        draft(transaction, spent ? ledger::Outcome::forfeited : ledger::Outcome::voided,
              std::get<0>(debits[0].account), id);
    last.policy_version = parent->draft.policy_version;
    transaction.resolve(last);
    (void)ledger.commit(std::move(transaction));
    model_.resolved(debits, spent);
    ledger_ms_ = wall_ms_;
    check_all_accounts();
  }
  static ledger::DecisionDraft draft(ledger::Transaction& transaction, ledger::Outcome outcome,
                                     const std::string& dataset, const std::string& parent) {
    ledger::DecisionDraft result;
    result.principal = "alice";
    result.request = "{}";
    result.request_digest = ledger::sha256_hex(result.request);
    result.dataset = dataset;
    result.policy_version = transaction.active_policy_version();
    result.outcome = outcome;
    result.reasons = "[]";
    result.parent = parent;
    if (parent.empty()) result.deadline = "9999-01-01T00:00:00.000Z";
    return result;
  }

  /// The rows themselves, read without any of our code: balances are the fold of the charges.
  void check_history() {
    const auto count = [this](const std::string& sql) { return std::stoll(sql_value(ledger(), sql)); };
    CHECK(count("SELECT count(*) FROM decision") == model_.decisions());
    CHECK(
        count(
            "SELECT count(*) FROM account WHERE spent + reserved > \"limit\" OR spent < 0 OR reserved < 0") ==
        0);
    CHECK(count("SELECT count(*) FROM account WHERE spent <> (SELECT coalesce(sum(spent_change), 0) FROM "
                "movement JOIN decision USING (seq) WHERE account = account.id AND outcome IN (1, 9))") == 0);
    CHECK(count("SELECT count(*) FROM account WHERE reserved <> (SELECT coalesce(sum(reserved_change), 0) "
                "FROM movement JOIN open_decision USING (seq) WHERE account = account.id)") == 0);
    CHECK(count("SELECT count(*) FROM account WHERE reserved <> (SELECT coalesce(sum(reserved_change), 0) "
                "FROM movement WHERE account = account.id)") == 0);
    // A line for each of them, and a leaf of the tree for each line.
    CHECK(count("SELECT count(*) FROM log AS l JOIN decision AS d ON d.line_index = l.line_index AND row = "
                "seq WHERE kind = 8") == model_.decisions());
    CHECK(count("SELECT log_size - (SELECT count(*) FROM log) FROM meta") == 0);
    // What was set aside here was set aside by no request that an audit could decide again.
    if (!sets_aside_ && chance(4)) {
      const engine::AuditReport report = engine::audit_verify(ledger());
      for (const engine::AuditFault& fault : report.faults)
        FAIL_CHECK(fault.record << " " << fault.code << ": " << fault.message);
      CHECK(report.ok);
    }
  }

  std::mt19937_64 random_;
  SeededBits bits_;
  Tally& tally_;
  TemporaryFolder folder_{in_memory()};
  bool declares_principals_ = false;
  bool sets_aside_ = false;  ///< some budget for requests that are not made here
  std::vector<DatasetPlan> datasets_;
  BudgetModel model_;
  std::int64_t wall_ms_ = 4'102'444'800'000;  ///< 2100-01-01
  std::int64_t boot_ms_ = 1'000'000;
  std::int64_t ledger_ms_ = wall_ms_;  ///< of the last transaction
  std::int64_t held_ms_ = 0;           ///< where the calendar is held; 0: it is not
  std::optional<Engine> engine_;
  std::vector<Step> earlier_;  ///< asked under a key, to be asked again
  std::vector<std::pair<std::string, std::vector<Debit>>> set_aside_;
};

void check_worlds(int worlds) {
  Tally tally;
  for (int world = 0; world < worlds; ++world) {
    const std::uint64_t seed = kFirstSeed + static_cast<std::uint64_t>(world);
    INFO("seed " << seed);
    World(seed, tally).run(kStepsOfAWorld);
  }
  // Nothing of it was idle.
  CHECK(tally.steps >= 2'500 * worlds);
  CHECK(tally.granted > tally.steps / 10);
  CHECK(tally.refused > tally.steps / 10);
  CHECK(tally.replayed > tally.steps / 50);
  CHECK(tally.conflicts > tally.steps / 100);
  CHECK(tally.exact_fits > worlds / 4);
  CHECK(tally.policies > worlds);
  CHECK(tally.reservations > worlds);
  for (const char* scope :
       {"", "period", "lifetime", "block", "principal", "role", "purpose", "per_release"}) {
    CAPTURE(scope);
    CHECK(tally.short_of[scope] > worlds / 2);
  }
}

}  // namespace

TEST_CASE("Random policies and requests: every decision, reason and balance is the model's",
          "[engine][property]") {
  check_worlds(8);
}

TEST_CASE("Random policies and requests: a hundred thousand decisions are the model's",
          "[engine][property][.long]") {
  check_worlds(40);
}
