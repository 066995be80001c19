// Amounts that other systems' doubles let through, lost or minted.
#include <sqlite3.h>

#include "cli/workbench.hpp"
#include "engine/policy_text.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "two_budgets.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Balance;
using accounting::Epsilon;
using accounting::Rational;
using engine::Answer;
using engine::Engine;

namespace {

/// No amounts at all, in the spellings of YAML, JSON, C and Python.
const std::vector<std::string> kNoNumbers = {".nan",     ".NaN",  ".NAN",   "nan",    "NaN",  "-nan",
                                             "nan(1)",   ".inf",  "-.inf",  "+.inf",  "inf",  "-inf",
                                             "Infinity", "1e999", "1e-999", "0x1p-3", "0x10", "1_000",
                                             "1:30",     "+1",    "1,5",    "",       "1/0"};
const std::vector<std::string> kNotPositive = {"-10", "-1e-12", "-1/3", "-0", "-0.0", "0", "0.0", "0/5"};

std::vector<std::string> no_amounts() {
  std::vector<std::string> all = kNoNumbers;
  all.insert(all.end(), kNotPositive.begin(), kNotPositive.end());
  return all;
}

/// A policy in which one amount is `text`.
std::vector<PolicyText> policies_with(const std::string& text) {
  std::vector<PolicyText> policies(9);
  policies[0].budget = "{epsilon: " + text + "}";
  policies[1].budget = "{epsilon: 1, delta: " + text + "}";
  policies[2].budget = "{epsilon: '" + text + "'}";
  policies[3].more = "per_release: {epsilon: " + text + "}";
  policies[4].more = "queries: {score: {bounds: [0, 10], sensitivity: " + text + "}}";
  policies[5].more = "mean_split: " + text;
  policies[6].more = "release: {default: {grid: " + text + ", mechanism: discrete_laplace}}";
  policies[7].unit = "{id: patient_id, max_rows: " + text + "}";
  policies[8].rows = "{max: " + text + "}";
  return policies;
}

/// A statement run as by somebody who has the file and none of our code.
std::string sql_error(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
  char* message = nullptr;
  sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message);
  const std::string result = message == nullptr ? "" : message;
  sqlite3_free(message);
  sqlite3_close(database);
  return result;
}

ledger::DecisionDraft granted_draft() {
  ledger::DecisionDraft draft;
  draft.principal = "alice";
  draft.request = "{}";
  draft.request_digest = ledger::sha256_hex(draft.request);
  draft.dataset = "clinic";
  draft.policy_version = 1;
  draft.outcome = ledger::Outcome::granted;
  draft.reasons = "[]";
  return draft;
}

}  // namespace

// lomas, pdslib, PINQ, and in the same shape behind validators WFA Halo and Privacy on Beam, ask whether
// `remaining < cost` on doubles: a NaN compares false, passes, makes the balance NaN, and then everything
// passes. lomas refuses NaN in requests but not `.nan` in the budgets of its administrator's YAML.
TEST_CASE("A budget that is NaN, infinite, zero or negative is refused in the policy, wherever it stands",
          "[peers][amounts]") {
  REQUIRE(faults_of(PolicyText()).empty());
  for (const std::string& text : no_amounts()) {
    for (const PolicyText& policy : policies_with(text)) {
      CAPTURE(policy.yaml());
      CHECK_FALSE(faults_of(policy).empty());
    }
  }
  // Bounds may be negative and zero, and are still numbers.
  for (const std::string& text : kNoNumbers) {
    PolicyText policy;
    policy.columns = "{age: {type: int, bounds: [" + text + ", 110]}}";
    CAPTURE(policy.yaml());
    CHECK_FALSE(faults_of(policy).empty());
    policy.columns = "{age: {type: int, bounds: [0, " + text + "]}}";
    CHECK_FALSE(faults_of(policy).empty());
  }
}

TEST_CASE("A policy with a NaN budget makes no ledger and replaces no policy", "[peers][amounts]") {
  const Workbench bench;
  for (const char* budget :
       {"{epsilon: .nan}", "{epsilon: .inf}", "{epsilon: 1, delta: .nan}", "{epsilon: -1}"}) {
    CAPTURE(budget);
    bench.write("bad.yaml", replaced(kClinicPolicy, "{epsilon: 1}", budget));
    CHECK(bench.run({"init", "--policy", "bad.yaml", "--ledger", "N"}).exit == 3);
  }
  bench.init(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  CHECK(bench.with_ledger({"policy", "apply", "bad.yaml", "--why", "test"}).exit == 3);
  CHECK(dump(bench.path("L")) == before);
  const auto files = bench.files();
  CHECK(std::find(files.begin(), files.end(), "N") == files.end());
}

// The same comparison in a request. In PINQ, pdslib and, until 2026, alice-analytics (`try_spend(-10)`: what
// remained rose from 1 to 11) a negative cost minted budget.
TEST_CASE("A cost that is NaN, infinite, zero or negative is no request: nothing passes, nothing is minted",
          "[peers][amounts]") {
  const Workbench bench;
  bench.init(replaced(kClinicPolicy, "{epsilon: 1}", "{epsilon: 1, delta: 1e-6}") +
             "    release: {units: {mechanism: discrete_gaussian}}\n");
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.25"}).exit == 0);
  const std::string before = dump(bench.path("L"));
  for (const std::string& text : no_amounts()) {
    CAPTURE(text);
    CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", text}).exit == 2);
    CHECK(bench.with_ledger({"release", "clinic", "units", "--epsilon", "0.1", "--delta", text}).exit == 2);
  }
  // Not a negative number, but none that could be charged either.
  CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", "9e-13"}).exit == 2);
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("A negative, zero or oversized cost is refused by every layer below the command",
          "[peers][amounts]") {
  Clinic clinic(kTwoBudgets, "    release: {units: {mechanism: discrete_gaussian}}\n");
  Engine engine = clinic.open();
  REQUIRE(release(engine, request("count", "2")).recorded.granted);

  engine::Request asked = request("count", "1");
  for (const Rational& epsilon :
       {Rational(-10), Rational(-1, 1'000'000), Rational(0), Rational(1, 10'000'000'000'000)}) {
    asked.epsilon = epsilon;
    CHECK_THROWS_AS(release(engine, asked), InvalidParameter);
    CHECK_THROWS_AS(engine.plan(asked, {}), InvalidParameter);
    mechanisms::SystemBits bits;
    const std::vector<engine::Request> batch = {request("count", "1"), asked};
    CHECK_THROWS_AS(engine.release_many(batch, bits, {}), InvalidParameter);
  }
  engine::Request gaussian = request("units", "1");
  for (const Rational& delta : {Rational(-1), Rational(0), Rational(1), Rational(2)}) {
    gaussian.delta = delta;
    CHECK_THROWS_AS(release(engine, gaussian), InvalidParameter);
  }

  for (const std::int64_t units :
       {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), accounting::kUnitsMax + 1})
    CHECK_THROWS_AS(Epsilon::from_units(units), InvalidParameter);
  for (const std::string& text : kNoNumbers)
    CHECK_THROWS_AS(accounting::parse_rational(text, "epsilon"), InvalidParameter);

  auto ledger = ledger::Ledger::open(clinic.ledger(), {});
  std::int64_t account = 0;
  for (const auto& state : ledger.snapshot().accounts("clinic"))
    if (state.measure == "epsilon") account = state.id;
  for (const std::int64_t amount : {std::int64_t{-10'000'000'000'000}, std::int64_t{-1}, std::int64_t{0},
                                    std::numeric_limits<std::int64_t>::min(), accounting::kUnitsMax + 1}) {
    auto transaction = ledger.begin();
    const std::vector<ledger::Charge> charges = {{.account = account, .amount = amount}};
    CHECK_THROWS_AS(transaction.charge(granted_draft(), charges, Epsilon::from_units(1)), InvalidParameter);
  }

  // And in the file itself, for whoever writes to it directly.
  CHECK_FALSE(sql_error(clinic.ledger(), "UPDATE account SET spent = spent - 1 WHERE spent > 0").empty());
  CHECK_FALSE(sql_error(clinic.ledger(), "UPDATE account SET reserved = -1").empty());
  CHECK_FALSE(sql_error(clinic.ledger(), "UPDATE account SET \"limit\" = 'NaN'").empty());
  CHECK_FALSE(sql_error(clinic.ledger(), "UPDATE account SET spent = 9e999").empty());
  CHECK_FALSE(sql_error(clinic.ledger(),
                        "INSERT INTO movement SELECT seq, account + 1, 0, -1, 0, 0, 0, 0 FROM movement")
                  .empty());
  CHECK_FALSE(sql_error(clinic.ledger(), "DELETE FROM movement").empty());

  CHECK(spent(engine) == "2");
  CHECK(decision_counts(engine).granted == 1);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("A value handed in as NaN or infinity does not reach the balance", "[peers][amounts]") {
  const Clinic clinic("epsilon: 1");
  Engine engine = clinic.open();
  for (const char* value : {"nan", "-nan", "inf", "-inf", "1e999999"}) {
    CAPTURE(value);
    const Answer answer = release(engine, supplied(value, "0.2"));
    REQUIRE(answer.recorded.granted);
    CHECK(answer.released.values.at(0) >= -20);
    CHECK(answer.released.values.at(0) <= 30);
  }
  CHECK(spent(engine) == "1");
  CHECK_FALSE(release(engine, supplied("nan", "1e-12")).recorded.granted);
}

// WFA Halo keeps rho and theta in a 32-bit `real`: below half an ulp a charge is free, 5e-8 on a balance
// of 1. With doubles the same happens at 1e-12 on a balance of a million.
TEST_CASE("A charge below half an ulp of the balance still counts", "[peers][amounts]") {
  SECTION("5e-8 on a balance of 1, where a 32-bit float stands still") {
    REQUIRE(1.0F + 5e-8F == 1.0F);
    const Clinic clinic("epsilon: 1.0000002");
    Engine engine = clinic.open();
    REQUIRE(release(engine, supplied("5", "1")).recorded.granted);
    for (int i = 0; i < 4; ++i) CHECK(release(engine, supplied("5", "5e-8")).recorded.granted);
    CHECK(spent(engine) == "1.0000002");
    CHECK_FALSE(release(engine, supplied("5", "5e-8")).recorded.granted);
  }
  SECTION("1e-12 on a balance of a million, where a double stands still") {
    REQUIRE(1e6 + 1e-12 == 1e6);
    const Clinic clinic("epsilon: 1000000.000000000002");
    Engine engine = clinic.open();
    mechanisms::SystemBits bits;
    const std::vector<engine::Request> large(1'000, supplied("5", "1000"));
    for (const Answer& answer : engine.release_many(large, bits, {})) REQUIRE(answer.recorded.granted);
    REQUIRE(spent(engine) == "1000000");
    for (int i = 0; i < 2; ++i) CHECK(release(engine, supplied("5", "1e-12")).recorded.granted);
    CHECK(spent(engine) == "1000000.000000000002");
    const Answer refused = release(engine, supplied("5", "1e-12"));
    CHECK_FALSE(refused.recorded.granted);
    CHECK(refused.recorded.reasons.at(0).over_by == "0.000000000001");
  }
}

// PrivateKube grants while budget + 1e-12 >= ask, dpcreator with 1e-14, Privacy on Beam rounds an ask down to
// what is left when it is within 1e-9 of it: each opens a little, as often as one likes.
TEST_CASE("There is no slack: one unit of the last digit too much is refused", "[peers][amounts]") {
  for (const char* too_much : {"0.300000000001", "0.3000000003", "0.300000000001000"}) {
    const Clinic clinic("epsilon: 0.3");
    Engine engine = clinic.open();
    CAPTURE(too_much);
    const Answer refused = release(engine, supplied("5", too_much));
    CHECK_FALSE(refused.recorded.granted);
    REQUIRE(refused.recorded.reasons.size() == 1);
    CHECK(refused.recorded.reasons[0].fits == "0.3");
    CHECK(spent(engine) == "0");
    CHECK(release(engine, supplied("5", refused.recorded.reasons[0].fits)).recorded.granted);
    CHECK_FALSE(release(engine, supplied("5", "1e-12")).recorded.granted);
    CHECK(spent(engine) == "0.3");
  }
  // Finer than the grid there is nothing to pay with: what is charged, and what the noise is made for, is the
  // grid's value below the ask.
  const Clinic clinic("epsilon: 0.3");
  Engine engine = clinic.open();
  const Answer finer = release(engine, supplied("5", "0.3000000000009"));
  REQUIRE(finer.recorded.granted);
  CHECK(finer.planned.record.charged.text() == "0.3");
  CHECK(finer.planned.record.adjusted <= Rational(3, 10));
  // The same at the other end of the range, and for delta.
  const std::int64_t most = accounting::kUnitsMax;
  for (const Balance& balance : {Balance{.limit = most, .spent = most - 5, .reserved = 0},
                                 Balance{.limit = most, .spent = 0, .reserved = most - 5},
                                 Balance{.limit = 5, .spent = 0, .reserved = 0}}) {
    CHECK(accounting::filter(balance, 5).granted);
    CHECK_FALSE(accounting::filter(balance, 6).granted);
    CHECK(accounting::filter(balance, 6).over_by == 1);
    CHECK(accounting::filter(balance, 6).fits == 5);
    CHECK_FALSE(accounting::filter(balance, most).granted);
  }
  const Clinic both("epsilon: 10, delta: 1e-7", kGaussian);
  Engine careful = both.open();
  engine::Request asked = two_part_request();
  asked.delta = accounting::parse_rational("1.00000000001e-7", "delta");  // 10^-18 more
  const Answer refused = release(careful, asked);
  CHECK_FALSE(refused.recorded.granted);
  REQUIRE(refused.recorded.reasons.size() == 1);
  CHECK(refused.recorded.reasons[0].measure == "delta");
  CHECK(refused.recorded.reasons[0].over_by == "0.000000000000000001");
  CHECK(release(careful, two_part_request()).recorded.granted);
}

// Users of opendp, dpcreator and the W3C attribution work could not spend the last drop: in doubles N charges
// of 1/N add up to more than 1 for 59 of the first 150 N.
TEST_CASE("A budget in N equal parts is spent to the last part and not beyond, for every N up to 150",
          "[peers][amounts][exhaustive]") {
  int doubles_fail = 0;
  for (int n = 1; n <= 150; ++n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += 1.0 / n;
    doubles_fail += sum > 1 ? 1 : 0;
  }
  CHECK(doubles_fail == 59);

  for (const char* budget : {"1", "3", "0.1", "1e-6", "1/7", "2000000"}) {
    const Rational whole = accounting::parse_rational(budget, "budget");
    for (int n = 1; n <= 150; ++n) {
      Balance balance{.limit = Epsilon::from_rational_down(whole).units(), .spent = 0, .reserved = 0};
      const std::int64_t part = Epsilon::from_rational_down(whole / n).units();
      int passed = 0;
      for (int i = 0; i < n; ++i) {
        passed += accounting::filter(balance, part).granted ? 1 : 0;
        balance.spent += part;
      }
      CAPTURE(budget, n);
      REQUIRE(passed == n);
      REQUIRE_FALSE(accounting::filter(balance, part).granted);
    }
  }
}

TEST_CASE("The N+1st of N equal requests is refused by the engine, for every N up to 150",
          "[peers][amounts][exhaustive]") {
  const TemporaryFolder folder;
  std::string policy = "version: 1\ndatasets:\n";
  for (int n = 1; n <= 150; ++n) {
    policy += "  d" + std::to_string(n) +
              ":\n    unit: row\n    neighbours: add-remove\n    budget: {epsilon: 1}\n"
              "    queries: {score: {bounds: [0, 10], sensitivity: 1}}\n";
  }
  Engine::init(folder.write("policy.yaml", policy), folder.path("L"), "curator");
  Engine engine = Engine::open(folder.path("L"));
  mechanisms::BufferedBits bits;
  for (int n = 1; n <= 150; ++n) {
    engine::Request asked = supplied("5", "1/" + std::to_string(n));
    asked.dataset = "d" + std::to_string(n);
    const std::vector<engine::Request> batch(static_cast<std::size_t>(n) + 1, asked);
    const auto answers = engine.release_many(batch, bits, {});
    const auto passed =
        std::count_if(answers.begin(), answers.end(), [](const Answer& a) { return a.recorded.granted; });
    CAPTURE(n);
    REQUIRE(passed == n);
    REQUIRE_FALSE(answers.back().recorded.granted);
  }
  CHECK(engine::audit_verify(folder.path("L")).ok);
}
