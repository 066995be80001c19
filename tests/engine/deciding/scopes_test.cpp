#include "checked_rows.hpp"
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "first_cells.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

constexpr const char* kDatedVisits =
    "patient_id,visited,cost,ward\n"
    "p1,2024-01-05,120.50,A\n"
    "p1,2024-02-10,80.00,B\n"
    "p2,2024-02-11,4000.25,A\n"
    "p3,2024-03-01,99.99,C\n"
    "p4,2023-12-31,10.00,A\n";

/// `top` stands before `datasets`, `budgets` in the place of a dataset's `budget`.
std::string policy(const std::string& budgets, const std::string& top = "") {
  return "version: 1\n" + top +
         "datasets:\n"
         "  clinic:\n"
         "    source: {csv: visits.csv}\n"
         "    unit: {id: patient_id, max_rows: 3}\n"
         "    rows: {max: 100000}\n"
         "    neighbours: add-remove\n" +
         budgets +
         "    columns:\n"
         "      visited: {type: date}\n"
         "      cost: {type: decimal, scale: 2, bounds: [0, 5000]}\n"
         "      ward: {type: string, values: [A, B, C]}\n"
         "    queries:\n"
         "      score: {bounds: [0, 10], sensitivity: 1}\n";
}

constexpr const char* kRoles =
    "principals:\n"
    "  alice: {roles: [research]}\n"
    "  bob: {roles: [research, audit]}\n"
    "  carol: {}\n";

class Scoped {
 public:
  explicit Scoped(const std::string& text) {
    folder.write("visits.csv", kDatedVisits);
    folder.write("policy.yaml", text);
    static_cast<void>(Engine::init(folder.path("policy.yaml"), ledger(), "curator"));
  }
  [[nodiscard]] std::string ledger() const { return folder.path("clinic.ledger"); }
  [[nodiscard]] Engine open() const { return Engine::open(ledger()); }
  void apply(const std::string& text) {
    folder.write("policy.yaml", text);
    Engine engine = open();
    static_cast<void>(engine.apply_policy(folder.path("policy.yaml"), "curator", "test"));
  }

  TemporaryFolder folder;
};

using Amounts = std::map<std::pair<std::string, std::string>, std::int64_t>;  // (scope, measure)

Amounts spent_by_scope(const Engine& engine) {
  Amounts spent;
  for (const auto& account : engine.budget("clinic")) {
    spent[{account.scope, account.measure}] = account.balance.spent;
  }
  return spent;
}

constexpr std::int64_t kTenth = 100'000'000'000;

engine::Request asked_by(const std::string& who, const std::string& epsilon, const std::string& purpose = "",
                         std::optional<std::string> where = std::nullopt) {
  engine::Request result = request("count", epsilon, "", std::nullopt, std::move(where));
  result.principal = who;
  result.purpose = purpose;
  return result;
}

/// "code scope" of each reason.
std::string codes(const Answer& answer) {
  std::vector<std::string> result;
  for (const Reason& reason : answer.recorded.reasons) {
    result.push_back(std::string(name(reason.code)) + (reason.scope.empty() ? "" : " ") + reason.scope);
  }
  return joined(result);
}

/// "granted", "replayed", or "CODE SCOPE, spent AMOUNT" of each reason.
std::string outcome(const Answer& answer) {
  if (answer.recorded.granted) return answer.recorded.replayed ? "replayed" : "granted";
  std::vector<std::string> reasons;
  for (const Reason& reason : answer.recorded.reasons) {
    reasons.push_back(std::string(name(reason.code)) + (reason.scope.empty() ? "" : " " + reason.scope) +
                      (reason.spent.empty() ? "" : ", spent " + reason.spent));
  }
  return joined(reasons);
}

/// Returns what the accounts have spent, in tenths of epsilon: "SCOPE N" of each.
std::string tenths(const Engine& engine) {
  std::vector<std::string> accounts;
  for (const auto& [account, units] : spent_by_scope(engine))
    accounts.push_back(account.first + " " + std::to_string(units / kTenth));
  return joined(accounts);
}

/// Asks as a row says, and returns the outcome. Who may not ask is told of no account, by a plan neither.
std::string ask(Engine& engine, const CaseRow& row) {
  const std::string& where = row.at(5);
  engine::Request asked = request(row.at(2), row.at(3), row.at(6), std::nullopt,
                                  where.empty() ? std::nullopt : std::optional(where));
  asked.principal = row.at(1);
  asked.purpose = row.at(4);
  const Answer answer = release(engine, asked);
  const std::string told = outcome(answer);
  if (told == "principal_not_allowed" || told == "purpose_not_allowed") {
    CHECK(answer.recorded.accounts.empty());
    CHECK(engine.plan(asked, {}).recorded.accounts.empty());
    CHECK_FALSE(answer.recorded.replayed);  // it binds no key
  }
  return told;
}

void require_verified(const std::string& ledger) {
  const engine::AuditReport report = engine::audit_verify(ledger);
  for (const auto& fault : report.faults)
    UNSCOPED_INFO(fault.record + " " + fault.code + ": " + fault.message);
  REQUIRE(report.ok);
}

}  // namespace

TEST_CASE("scopes: accounts, rules and purposes decide and are charged as the steps of the table say",
          "[engine][scopes][blocks][access][condition][policy][negative]") {
  std::optional<Scoped> clinic;
  std::optional<Engine> engine;
  std::string scenario;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/deciding/scope_steps.tsv")) {
    CAPTURE(scenario, row);
    if (row.at(0) == "scenario") {
      if (clinic) require_verified(clinic->ledger());
      scenario = row.at(1);
      engine.reset();
      clinic.emplace(policy(row.at(3), row.at(2)));
      engine.emplace(clinic->open());
    } else if (row.at(0) == "apply") {
      clinic->apply(policy(row.at(3), row.at(2)));
    } else if (row.at(0) == "spent") {
      CHECK(tenths(*engine) == row.at(1));
    } else {
      CHECK(ask(*engine, row) == row.at(7));
    }
  }
  require_verified(clinic->ledger());
}

TEST_CASE("scopes: a refusal says of blocks what one of their units may lose in all",
          "[engine][scopes][blocks]") {
  const Scoped clinic(
      policy("    budget: {epsilon: 0.2}\n    lifetime: {epsilon: 1}\n"
             "    blocks: {by: visited, per: month, from: 2024-01, to: 2024-05}\n"));
  Engine engine = clinic.open();
  const Answer refused = release(engine, asked_by("alice", "0.3"));
  REQUIRE(refused.planned.notes.size() == 1);
  CHECK_THAT(refused.planned.notes[0], says("may lose j"));
}

namespace {

constexpr std::int64_t kDayMs = 86'400'000;

/// A machine whose clocks go as the test says.
class Clocks {
 public:
  [[nodiscard]] engine::EngineOptions options() const {
    engine::EngineOptions result;
    result.clock = [this] { return reading; };
    return result;
  }
  /// Time passes.
  void pass(std::int64_t ms) {
    reading.wall_ms += ms;
    reading.boot_ms += ms;
  }
  /// Somebody sets the wall clock.
  void set_forward(std::int64_t ms) { reading.wall_ms += ms; }

  ledger::ClockReading reading = [] {
    ledger::ClockReading now = ledger::system_clock_reading();
    now.wall_ms += kDayMs;  // after the ledger was made, by a clock that is not this one
    now.boot_ms += kDayMs;
    return now;
  }();
};

}  // namespace

TEST_CASE("A budget that renews starts anew with each period and says so on every report",
          "[engine][scopes][renewal]") {
  const Scoped clinic(policy("    budget: {epsilon: 0.1, renew: day, accept_unbounded_lifetime: true}\n"));
  Clocks clocks;
  Engine engine = Engine::open(clinic.ledger(), clocks.options());
  CHECK(engine.budget("clinic").size() == 1);  // of today, though nobody opened it
  REQUIRE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  const Answer refused = release(engine, asked_by("alice", "0.1"));
  REQUIRE(refused.recorded.reasons.size() == 1);
  CHECK(refused.recorded.reasons[0].code == RefusalCode::dataset_budget_exceeded);
  CHECK(refused.recorded.reasons[0].scope.starts_with("period:2"));
  const std::string when = engine::changes_at(refused.recorded.reasons[0]);
  CHECK(when > refused.recorded.created_at);
  CHECK(when.ends_with("T00:00:00.000Z"));
  REQUIRE(refused.planned.notes.size() == 1);
  CHECK(refused.planned.notes[0].find("without limit") != std::string::npos);

  clocks.pass(kDayMs);
  const Answer next = release(engine, asked_by("alice", "0.1"));
  CHECK(next.recorded.granted);
  CHECK(next.recorded.created_at >= when);
  CHECK_FALSE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  CHECK(engine.budget("clinic").size() == 2);
  require_verified(clinic.ledger());
}

TEST_CASE("A smaller budget counts for the present period and rewrites none of the past",
          "[engine][scopes][renewal][policy]") {
  const auto daily = [](const std::string& epsilon) {
    return policy("    budget: {epsilon: " + epsilon + ", renew: day, accept_unbounded_lifetime: true}\n");
  };
  const Scoped clinic(daily("0.1"));
  Clocks clocks;
  Engine engine = Engine::open(clinic.ledger(), clocks.options());
  REQUIRE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  clinic.folder.write("smaller.yaml", daily("0.05"));
  const std::string smaller = clinic.folder.path("smaller.yaml");
  CHECK_THROWS_AS(engine.apply_policy(smaller, "curator", "test"), PolicyError);  // of today, spent
  clocks.pass(kDayMs);
  REQUIRE(engine.apply_policy(smaller, "curator", "test").changed);
  CHECK_FALSE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  CHECK(release(engine, asked_by("alice", "0.05")).recorded.granted);
  std::vector<std::int64_t> limits;
  for (const auto& account : engine.budget("clinic")) limits.push_back(account.balance.limit);
  CHECK(limits == std::vector<std::int64_t>{kTenth, kTenth / 2});
  require_verified(clinic.ledger());
}

TEST_CASE("A clock that somebody sets forward opens no new period", "[engine][scopes][renewal][negative]") {
  const Scoped clinic(policy("    budget: {epsilon: 0.1, renew: day, accept_unbounded_lifetime: true}\n"));
  Clocks clocks;
  Engine engine = Engine::open(clinic.ledger(), clocks.options());
  REQUIRE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  clocks.set_forward(3 * kDayMs);
  CHECK_FALSE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  clocks.set_forward(-3 * kDayMs);
  CHECK_FALSE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  require_verified(clinic.ledger());
}

TEST_CASE("A zCDP budget is charged epsilon squared halves of a pure release and rho of a Gaussian one",
          "[engine][scopes][measures]") {
  const Scoped clinic(
      policy("    budget: {measure: zcdp, rho: 0.03}\n"
             "    release: {units: {mechanism: discrete_gaussian}}\n"));
  Engine engine = clinic.open();
  const Answer pure = release(engine, asked_by("alice", "0.1"));
  REQUIRE(pure.recorded.granted);
  CHECK(spent_by_scope(engine) == Amounts{{{"", "rho"}, 5'000'000'000'000}});
  engine::Request gaussian = request("units", "0.5");
  gaussian.delta = Rational(1, 1'000'000);
  const Answer answer = release(engine, gaussian);
  REQUIRE(answer.recorded.granted);
  const Rational rho = answer.planned.record.components.at(0).rho.value();
  const auto charged = accounting::Rho::from_rational_up(rho).units();
  CHECK(spent_by_scope(engine) == Amounts{{{"", "rho"}, 5'000'000'000'000 + charged}});
  const std::int64_t left = 30'000'000'000'000 - 5'000'000'000'000 - charged;
  for (std::int64_t i = 0; i < left / 5'000'000'000'000; ++i) {
    REQUIRE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  }
  const Answer refused = release(engine, asked_by("alice", "0.1"));
  CHECK_FALSE(refused.recorded.granted);
  CHECK(refused.recorded.reasons.at(0).fits == accounting::Rho::from_units(left % 5'000'000'000'000).text());
  require_verified(clinic.ledger());
}

TEST_CASE("Every listed order of a Renyi budget must hold", "[engine][scopes][measures]") {
  // At order 2 a 0.1-DP release loses ln((e^0.2 + e^-0.1)/(1 + e^0.1)) = 0.00997…, at order 32 far more.
  const Scoped clinic(policy("    budget: {measure: rdp, orders: {2: 1, 32: 0.15}}\n"));
  Engine engine = clinic.open();
  int granted = 0;
  Answer last;
  while ((last = release(engine, asked_by("alice", "0.1"))).recorded.granted) ++granted;
  CHECK(granted >= 1);
  CHECK(codes(last) == "dataset_budget_exceeded");
  CHECK(last.recorded.reasons[0].measure == "rdp(32)");
  const Amounts spent = spent_by_scope(engine);
  CHECK(spent.at({"", "rdp(2)"}) > 0);
  CHECK(spent.at({"", "rdp(32)"}) % granted == 0);
  require_verified(clinic.ledger());
}

TEST_CASE("A budget that cannot express a release refuses it by name, whichever scope it belongs to",
          "[engine][scopes][measures][negative]") {
  const Scoped clinic(
      policy("    budget: {measure: zcdp, rho: 5}\n"
             "    lifetime: {epsilon: 10}\n"
             "    release: {units: {mechanism: discrete_gaussian}}\n"));
  Engine engine = clinic.open();
  engine::Request gaussian = request("units", "0.5");
  gaussian.delta = Rational(1, 1'000'000);
  const Answer refused = release(engine, gaussian);
  REQUIRE(codes(refused) == "measure_not_expressible lifetime");
  CHECK(refused.recorded.reasons[0].message.find("discrete_gaussian") != std::string::npos);
  CHECK(refused.recorded.reasons[0].message.find("pure") != std::string::npos);
  CHECK(release(engine, asked_by("alice", "0.1")).recorded.granted);
  require_verified(clinic.ledger());
}

TEST_CASE("A charged dataset keeps its periods, blocks and the beginning of its lifetime",
          "[engine][scopes][policy][negative]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/deciding/kept_once_charged.tsv")) {
    CAPTURE(row);
    Scoped clinic(policy(row.at(0)));
    {
      Engine engine = clinic.open();
      REQUIRE(release(engine, asked_by("alice", "0.1")).recorded.granted);
    }
    try {
      clinic.apply(policy(row.at(1)));
      FAIL_CHECK("it was applied");
    } catch (const PolicyError& error) {
      CHECK(std::string(error.what()).find(row.at(2)) != std::string::npos);
    }
    require_verified(clinic.ledger());
  }
}

TEST_CASE("audit: a charge of one scope that is missing, wrong or of another's is found",
          "[engine][scopes][audit][negative]") {
  for (const std::string& tampering :
       first_cells(EPSILOG_SOURCE_DIR "/tests/engine/deciding/scope_tamperings.tsv")) {
    CAPTURE(tampering);
    const Scoped clinic(
        policy("    budget: {epsilon: 3}\n    lifetime: {epsilon: 9}\n"
               "    limits: [{each: principal, epsilon: 1}, {each: role, epsilon: 1}]\n",
               kRoles));
    {
      Engine engine = clinic.open();
      REQUIRE(release(engine, asked_by("alice", "0.1")).recorded.granted);
    }
    require_verified(clinic.ledger());
    tamper_with_log(clinic.ledger(), tampering);
    CHECK_FALSE(engine::audit_verify(clinic.ledger()).ok);
  }
}

TEST_CASE("audit: a jump of the clock that is no longer on record is found",
          "[engine][scopes][audit][negative]") {
  for (const char* tampering : {"DELETE FROM clock_event", "UPDATE meta SET held_at = 0",
                                "UPDATE clock_event SET ledger_time = 1577836800000"}) {
    CAPTURE(tampering);
    const Scoped clinic(policy("    budget: {epsilon: 0.1, renew: day, accept_unbounded_lifetime: true}\n"));
    Clocks clocks;
    {
      Engine engine = Engine::open(clinic.ledger(), clocks.options());
      REQUIRE(release(engine, asked_by("alice", "0.1")).recorded.granted);
      clocks.set_forward(3 * kDayMs);
      REQUIRE_FALSE(release(engine, asked_by("alice", "0.1")).recorded.granted);
    }
    require_verified(clinic.ledger());
    tamper_with_log(clinic.ledger(), tampering);
    CHECK_FALSE(engine::audit_verify(clinic.ledger()).ok);
  }
}
