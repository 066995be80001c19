// Random policies and random requests against a model of a few integers (budget_model.hpp). Every answer is
// compared: granted or not, for which reasons with which figures, the accounts after it, and replays.
//
// A failure prints the seed of its world; worlds are independent, so that seed alone repeats it.
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "budget_model.hpp"
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;
using engine::RefusalCode;

namespace {

constexpr std::uint64_t kFirstSeed = 20'270'000;
constexpr int kWorlds = 40;
constexpr int kStepsOfAWorld = 2'600;

constexpr std::int64_t kEpsilonUnit = 1'000'000'000'000;
constexpr std::int64_t kDeltaUnit = 1'000'000'000'000'000'000;

/// A number of grid units as a policy and a request write it.
std::string decimal(std::int64_t units, std::int64_t unit) {
  std::string digits = std::to_string(units % unit);
  digits.insert(0, std::to_string(unit).size() - 1 - digits.size(), '0');
  return std::to_string(units / unit) + "." + digits;
}

/// A file system whose syncs cost nothing, where there is one.
std::filesystem::path in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  return std::filesystem::is_directory(memory) && ::access(memory.c_str(), W_OK) == 0
             ? memory
             : std::filesystem::temp_directory_path();
}

/// What a generated policy says of one dataset.
struct DatasetPlan {
  std::string name;
  std::int64_t epsilon = 0;
  std::int64_t delta = 0;        ///< 0: a pure budget
  std::int64_t per_release = 0;  ///< 0: no cap
  bool allows_values = true;
  bool has_normal = false;  ///< a query released with Gaussian noise

  [[nodiscard]] std::string yaml() const {
    std::string text = "  " + name + ":\n    unit: row\n    neighbours: add-remove\n    budget: {epsilon: " +
                       decimal(epsilon, kEpsilonUnit);
    if (delta > 0) text += ", delta: " + decimal(delta, kDeltaUnit);
    text += "}\n";
    if (per_release > 0) text += "    per_release: {epsilon: " + decimal(per_release, kEpsilonUnit) + "}\n";
    if (!allows_values) text += "    allow: {statistics: [count]}\n";
    const std::string normal = has_normal ? ", normal: {bounds: [0, 8], sensitivity: 1}" : "";
    const std::string gaussian = has_normal ? ", normal: {mechanism: discrete_gaussian, grid: 1}" : "";
    return text + "    queries: {plain: {bounds: [0, 8], sensitivity: 1}" + normal + "}\n" +
           "    release: {plain: {mechanism: discrete_laplace, grid: 1}" + gaussian + "}\n";
  }
  [[nodiscard]] AccountKey account(const char* measure) const { return {name, "", measure}; }
};

/// A request with what the model has to know of it.
struct Step {
  engine::Request request;
  ModelRequest model;
};

struct Tally {
  std::int64_t steps = 0;
  std::int64_t granted = 0;
  std::int64_t refused = 0;
  std::int64_t replayed = 0;
  std::int64_t conflicts = 0;
  std::int64_t exact_fits = 0;  ///< asks of exactly `fits`, and of one unit more
  std::int64_t policies = 0;
};

/// One ledger in memory, its policy, and the model beside it.
class World final {
 public:
  World(std::uint64_t seed, Tally& tally) : random_(seed), bits_(seed), tally_(tally) {
    const std::int64_t datasets = between(1, 4);
    for (std::int64_t i = 0; i < datasets; ++i) datasets_.push_back(random_dataset("d" + std::to_string(i)));
    Engine::init(write_policy(), ledger(), "curator");
    engine_.emplace(Engine::open(ledger()));
    for (const DatasetPlan& dataset : datasets_) model_limits(dataset);
  }

  void run(int steps) {
    for (int done = 0; done < steps;) {
      std::vector<Step> batch(static_cast<std::size_t>(between(1, 250)));
      for (Step& step : batch) step = random_step();
      carry_out(batch);
      probe_fits();
      done += static_cast<int>(batch.size());
      if (chance(5)) change_policy();
      if (chance(15)) engine_.emplace(Engine::open(ledger()));
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

  DatasetPlan random_dataset(const std::string& name) {
    DatasetPlan dataset{.name = name};
    dataset.epsilon = chance(5) ? between(1, 20) : between(kEpsilonUnit / 10, 40 * kEpsilonUnit);
    if (chance(2)) dataset.delta = between(kDeltaUnit / 1'000'000, kDeltaUnit / 10'000);
    if (chance(3)) dataset.per_release = std::max<std::int64_t>(1, dataset.epsilon / between(1, 50));
    dataset.allows_values = !chance(20);
    dataset.has_normal = chance(2);
    return dataset;
  }

  std::string write_policy() const {
    std::string text = "version: 1\ndatasets:\n";
    for (const DatasetPlan& dataset : datasets_) text += dataset.yaml();
    return folder_.write("policy.yaml", text);
  }
  void model_limits(const DatasetPlan& dataset) {
    model_.set_limit(dataset.account("epsilon"), dataset.epsilon);
    if (dataset.delta > 0) model_.set_limit(dataset.account("delta"), dataset.delta);
  }

  /// Asks for `epsilon`, of which `units` is the part on the grid.
  Step step_of(const DatasetPlan& dataset, const accounting::Rational& epsilon, std::int64_t units,
               std::int64_t delta_units) {
    Step step;
    engine::Request& request = step.request;
    request.dataset = dataset.name;
    request.question = engine::parse_question(delta_units > 0 ? "value:normal" : "value:plain", {}, {});
    request.epsilon = epsilon;
    if (delta_units > 0)
      request.delta = accounting::parse_rational(decimal(delta_units, kDeltaUnit), "delta");
    request.principal = chance(2) ? "alice" : "bob";
    if (chance(3)) request.key = "k" + std::to_string(between(0, 400));
    request.supplied = std::to_string(between(0, 8));
    step.model = {
        .principal = request.principal,
        .key = request.key,
        .question = dataset.name + " " + accounting::text(epsilon) + " " + std::to_string(delta_units),
        .debits = {{dataset.account("epsilon"), units, dataset.epsilon}},
        .broken_rules = {},
        .cap = std::nullopt};
    if (dataset.delta > 0 && delta_units > 0) {
      step.model.debits.push_back({dataset.account("delta"), delta_units, dataset.delta});
    } else if (delta_units > 0) {
      step.model.broken_rules.emplace_back("measure_not_expressible");
    }
    if (!dataset.allows_values) step.model.broken_rules.emplace_back("statistic_not_allowed");
    if (dataset.per_release > 0)
      step.model.cap = Debit{{dataset.name, "per_release", "epsilon"}, units, dataset.per_release};
    return step;
  }

  Step random_step() {
    if (!earlier_.empty() && chance(6)) return any(earlier_);
    const DatasetPlan& dataset = any(datasets_);
    if (dataset.has_normal &&
        chance(5)) {  // few different ones: calibrating Gaussian noise takes a thousand times a draw
      const std::int64_t delta = kDeltaUnit / 10'000'000;
      return remembered(step_of(dataset, accounting::Rational(1, 2), kEpsilonUnit / 2, delta));
    }
    if (chance(5)) {  // fractions that no grid holds
      const std::int64_t parts = between(1, 150);
      return remembered(step_of(dataset, accounting::Rational(1, static_cast<unsigned long>(parts)),
                                kEpsilonUnit / parts, 0));
    }
    const std::int64_t of =
        chance(2) ? dataset.epsilon : model_.accounts().at(dataset.account("epsilon")).free();
    const std::int64_t most = std::max<std::int64_t>(1, of >> between(0, 16));
    return remembered(units_step(dataset, chance(3) ? between(1, most) : most));
  }
  Step units_step(const DatasetPlan& dataset, std::int64_t units) {
    return step_of(dataset, accounting::parse_rational(decimal(units, kEpsilonUnit), "epsilon"), units, 0);
  }
  Step remembered(Step step) {
    if (!step.model.key.empty()) earlier_.push_back(step);
    return step;
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
    for (std::size_t i = 0; i < batch.size(); ++i)
      compare(answers[i], model_.asked(batch[i].model), batch[i]);
    check_accounts(engine_->budget(""), "");
  }

  /// Of the account of every dataset: exactly what is left passes, one unit more does not.
  void probe_fits() {
    for (const DatasetPlan& dataset : datasets_) {
      const std::int64_t left = model_.accounts().at(dataset.account("epsilon")).free();
      if (!dataset.allows_values || dataset.per_release > 0 || left == 0 || chance(2)) continue;
      Step more = units_step(dataset, left + 1);
      Step all = units_step(dataset, left);
      more.request.key = more.model.key = all.request.key = all.model.key = "";
      if (model_.judged(more.model).granted || !model_.judged(all.model).granted) FAIL("the model is wrong");
      const Answer refused = engine_->plan(more.request, {});
      REQUIRE(refused.reasons.size() == 1);
      CHECK(refused.reasons[0].fits == accounting::Epsilon::from_units(left).text());
      carry_out({more, all});
      tally_.exact_fits += 2;
    }
  }

  void compare(const Answer& answer, const ModelAnswer& expected, const Step& step) {
    ++tally_.steps;
    (expected.replayed ? tally_.replayed : expected.decision.granted ? tally_.granted : tally_.refused) += 1;
    tally_.conflicts += expected.decision.key_conflict ? 1 : 0;
    const ModelDecision& decision = expected.decision;
    bool same = answer.granted == decision.granted && answer.replayed == expected.replayed &&
                answer.seq == decision.number && answer.values.size() == (decision.granted ? 1U : 0U);
    std::vector<std::string> rules;
    std::vector<ModelShortfall> shortfalls;
    bool conflict = false;
    for (const engine::Reason& reason : answer.reasons) {
      if (reason.code == RefusalCode::key_conflict) {
        conflict = true;
      } else if (reason.limit.empty()) {
        rules.emplace_back(name(reason.code));
      } else {
        shortfalls.push_back({.account = {step.request.dataset, reason.scope, reason.measure},
                              .limit = units(reason.measure, reason.limit),
                              .spent = units(reason.measure, reason.spent),
                              .asked = units(reason.measure, reason.asked),
                              .over_by = units(reason.measure, reason.over_by),
                              .fits = units(reason.measure, reason.fits)});
      }
    }
    const auto sorted = [](auto list) {
      std::sort(list.begin(), list.end());
      return list;
    };
    same = same && conflict == decision.key_conflict && sorted(rules) == sorted(decision.broken_rules) &&
           sorted(shortfalls) == sorted(decision.shortfalls);
    if (!same) {
      FAIL("answer " << answer.seq << " to '" << step.model.question << "' (key '" << step.model.key
                     << "') granted " << answer.granted << ", replayed " << answer.replayed << ", "
                     << answer.reasons.size() << " reasons; the model says number " << decision.number
                     << ", granted " << decision.granted << ", replayed " << expected.replayed << ", "
                     << decision.shortfalls.size() << " shortfalls");
    }
    // An answer shows the accounts as they stood after it, which is now unless it is a replay.
    if (!expected.replayed) check_accounts(answer.accounts, step.request.dataset);
  }

  static std::int64_t units(const std::string& measure, const std::string& text) {
    return measure == "delta" ? accounting::Delta::parse_down(text).units()
                              : accounting::Epsilon::parse_down(text).units();
  }

  /// `dataset` "" = all.
  void check_accounts(const std::vector<ledger::AccountState>& accounts, const std::string& dataset) {
    std::size_t expected = 0;
    for (const auto& [key, account] : model_.accounts())
      expected += dataset.empty() || std::get<0>(key) == dataset ? 1 : 0;
    bool same = accounts.size() == expected;
    for (const ledger::AccountState& state : accounts) {
      const auto found = model_.accounts().find({state.dataset, state.scope, state.measure});
      const accounting::Balance& balance = state.balance;
      same = same && found != model_.accounts().end() && found->second == model_account(balance) &&
             balance.valid();
    }
    if (!same) FAIL("the accounts of '" << dataset << "' are not what the charges make them");
  }
  static ModelAccount model_account(const accounting::Balance& balance) {
    return {.limit = balance.limit, .spent = balance.spent, .reserved = balance.reserved};
  }

  /// Other limits, above or below what is spent; below is refused and changes nothing.
  void change_policy() {
    ++tally_.policies;
    const std::vector<DatasetPlan> before = datasets_;
    bool acceptable = true;
    for (DatasetPlan& dataset : datasets_) {
      const ModelAccount& epsilon = model_.accounts().at(dataset.account("epsilon"));
      if (chance(2)) dataset.epsilon = std::max<std::int64_t>(1, epsilon.spent + between(-1, 1));
      if (chance(2)) dataset.epsilon += between(0, 5 * kEpsilonUnit);
      if (dataset.per_release > 0 && chance(2)) dataset.per_release = between(1, dataset.epsilon);
      acceptable = acceptable && dataset.epsilon >= epsilon.spent;
    }
    const std::string path = write_policy();
    if (acceptable) {
      engine_->apply_policy(path, "curator", "");
      for (const DatasetPlan& dataset : datasets_) model_limits(dataset);
      earlier_.clear();  // their figures name the old limits
    } else {
      CHECK_THROWS_AS(engine_->apply_policy(path, "curator", ""), PolicyError);
      datasets_ = before;
    }
    check_accounts(engine_->budget(""), "");
  }

  /// The rows themselves, read without any of our code: balances are the fold of the charges.
  void check_history() {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open_v2(ledger().c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
    const auto count = [database](const std::string& sql) {
      sqlite3_stmt* statement = nullptr;
      REQUIRE(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
      REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
      const std::int64_t value = sqlite3_column_int64(statement, 0);
      sqlite3_finalize(statement);
      return value;
    };
    CHECK(count("SELECT count(*) FROM decision") == model_.decisions());
    CHECK(
        count("SELECT count(*) FROM account WHERE spent + reserved > budget OR spent < 0 OR reserved < 0") ==
        0);
    CHECK(count("SELECT count(*) FROM account WHERE spent <> (SELECT coalesce(sum(amount), 0) FROM charge "
                "WHERE account_id = account.id)") == 0);
    CHECK(count("SELECT (SELECT count(*) FROM release) - (SELECT count(*) FROM decision "
                "WHERE outcome = 'granted')") == 0);
    sqlite3_close(database);
    if (chance(8)) CHECK(engine::audit_verify(ledger()).ok);
  }

  std::mt19937_64 random_;
  SeededBits bits_;
  Tally& tally_;
  TemporaryFolder folder_{in_memory()};
  std::vector<DatasetPlan> datasets_;
  BudgetModel model_;
  std::optional<Engine> engine_;
  std::vector<Step> earlier_;  ///< asked under a key, to be asked again
};

}  // namespace

TEST_CASE("Random policies and requests: every decision, reason and balance is the model's",
          "[engine][property]") {
  Tally tally;
  for (int world = 0; world < kWorlds; ++world) {
    const std::uint64_t seed = kFirstSeed + static_cast<std::uint64_t>(world);
    INFO("seed " << seed);
    World(seed, tally).run(kStepsOfAWorld);
  }
  // Nothing of it was idle.
  CHECK(tally.steps >= 100'000);
  CHECK(tally.granted > tally.steps / 10);
  CHECK(tally.refused > tally.steps / 10);
  CHECK(tally.replayed > tally.steps / 50);
  CHECK(tally.conflicts > tally.steps / 100);
  CHECK(tally.exact_fits > 200);
  CHECK(tally.policies > 100);
}
