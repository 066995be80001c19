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

constexpr const char* kPrincipals =
    "principals:\n"
    "  alice: {roles: [research], purposes: [planning, quality]}\n"
    "  bob: {roles: [research, audit], purposes: [planning]}\n"
    "  carol: {}\n";

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

void require_verified(const std::string& ledger) {
  const engine::AuditReport report = engine::audit_verify(ledger);
  for (const auto& fault : report.faults)
    UNSCOPED_INFO(fault.record + " " + fault.code + ": " + fault.message);
  REQUIRE(report.ok);
}

}  // namespace

TEST_CASE("A request debits every block its condition covers, whether a row lies there or not",
          "[engine][scopes][blocks]") {
  const Scoped clinic(
      policy("    budget: {epsilon: 0.2}\n"
             "    lifetime: {epsilon: 1}\n"
             "    blocks: {by: visited, per: month, from: 2024-01, to: 2024-05}\n"));
  Engine engine = clinic.open();
  REQUIRE(release(engine, asked_by("alice", "0.1", "", "visited >= 2024-02-15 and visited < 2024-05-01"))
              .recorded.granted);
  CHECK(spent_by_scope(engine) == Amounts{{{"block:2024-01", "epsilon"}, 0},
                                          {{"block:2024-02", "epsilon"}, kTenth},
                                          {{"block:2024-03", "epsilon"}, kTenth},
                                          {{"block:2024-04", "epsilon"}, kTenth},
                                          {{"block:2024-05", "epsilon"}, 0},
                                          {{"lifetime", "epsilon"}, kTenth}});
  REQUIRE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  const Answer refused = release(engine, asked_by("alice", "0.1"));
  CHECK(codes(refused) ==
        "block_budget_exceeded block:2024-02 | block_budget_exceeded block:2024-03 | block_budget_exceeded "
        "block:2024-04");
  REQUIRE(release(engine, asked_by("alice", "0.1", "", "visited = 2024-01-05")).recorded.granted);
  REQUIRE(refused.planned.notes.size() == 1);
  CHECK(refused.planned.notes[0].find("may lose j") != std::string::npos);
  require_verified(clinic.ledger());
}

TEST_CASE("A request debits the blocks of all parts of an `or`, and all where one part says nothing of them",
          "[engine][scopes][blocks][condition]") {
  const Scoped clinic(
      policy("    budget: {epsilon: 1}\n"
             "    lifetime: {epsilon: 2}\n"
             "    blocks: {by: visited, per: month, from: 2024-01, to: 2024-04}\n"));
  Engine engine = clinic.open();
  const auto spent = [&] {
    std::vector<std::int64_t> tenths;
    for (const auto& [account, units] : spent_by_scope(engine)) {
      if (account.first.starts_with("block:")) tenths.push_back(units / kTenth);
    }
    return tenths;
  };
  const auto granted = [&](const std::string& where) {
    return release(engine, asked_by("alice", "0.1", "", where)).recorded.granted;
  };
  REQUIRE(granted("visited = 2024-01-05 or visited between 2024-03-01 and 2024-03-02 and ward = 'A'"));
  CHECK(spent() == std::vector<std::int64_t>{1, 0, 1, 0});
  REQUIRE(granted("not (visited >= 2024-02-01 or ward = 'A')"));
  CHECK(spent() == std::vector<std::int64_t>{2, 0, 1, 0});
  REQUIRE(granted("visited = 2024-01-05 or ward = 'A'"));
  CHECK(spent() == std::vector<std::int64_t>{3, 1, 2, 1});
  REQUIRE(granted("visited is missing and ward = 'A'"));  // no such row lies in a block
  CHECK(spent() == std::vector<std::int64_t>{3, 1, 2, 1});
  REQUIRE(granted("visited is not missing"));
  CHECK(spent() == std::vector<std::int64_t>{4, 2, 3, 2});
  require_verified(clinic.ledger());
}

TEST_CASE("To ask whether a cell is missing is to compare its column, wherever that stands in a condition",
          "[engine][scopes][access][condition][negative]") {
  const Scoped clinic(
      policy("    budget: {epsilon: 3}\n"
             "    allow: {where: [ward, visited]}\n"
             "    forbid: [{where: [visited], statistics: [count]}]\n"));
  Engine engine = clinic.open();
  const auto code = [&](const std::string& where) {
    return codes(release(engine, asked_by("alice", "0.1", "", where)));
  };
  for (const char* where :
       {"cost is missing", "ward = 'A' or cost is not missing", "not (ward = 'A' and cost is missing)",
        "ward = 'A' or (ward = 'B' and (ward = 'C' or cost not in (1)))"}) {
    CAPTURE(where);
    CHECK(code(where) == "column_not_allowed");
  }
  for (const char* where : {"visited is missing", "ward = 'A' or not visited is missing",
                            "not (ward = 'A' or visited between 2024-01-01 and 2024-02-01)"}) {
    CAPTURE(where);
    CHECK(code(where) == "forbidden");
  }
  CHECK(release(engine, asked_by("alice", "0.1", "", "ward is missing or not ward = 'A'")).recorded.granted);
  require_verified(clinic.ledger());
}

TEST_CASE("A lifetime budget is never renewed by new blocks", "[engine][scopes][blocks][negative]") {
  const std::string range =
      "    budget: {epsilon: 0.2}\n    lifetime: {epsilon: 0.3}\n    blocks: {by: visited, per: month, from: "
      "2024-01, to: ";
  Scoped clinic(policy(range + "2024-01}\n"));
  {
    Engine engine = clinic.open();
    REQUIRE(release(engine, asked_by("alice", "0.2")).recorded.granted);
    CHECK_FALSE(release(engine, asked_by("alice", "0.1")).recorded.granted);
  }
  clinic.apply(policy(range + "2024-02}\n"));
  Engine engine = clinic.open();
  const std::string february = "visited >= 2024-02-01";
  REQUIRE(release(engine, asked_by("alice", "0.1", "", february)).recorded.granted);
  const Answer refused = release(engine, asked_by("alice", "0.1", "", february));
  CHECK(codes(refused) == "lifetime_budget_exceeded lifetime");
  require_verified(clinic.ledger());
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

TEST_CASE("Who is not declared, not admitted, or states no admitted purpose learns nothing of the budget",
          "[engine][scopes][access][negative]") {
  const Scoped clinic(
      policy("    budget: {epsilon: 0.1}\n"
             "    purposes: [planning, quality]\n"
             "    allow: {roles: [research]}\n",
             kPrincipals));
  Engine engine = clinic.open();
  CHECK(codes(release(engine, asked_by("mallory", "5", "planning"))) == "principal_not_allowed");
  CHECK(codes(release(engine, asked_by("carol", "5", "planning"))) == "principal_not_allowed");
  CHECK(codes(release(engine, asked_by("bob", "5", "quality"))) == "purpose_not_allowed");
  CHECK(codes(release(engine, asked_by("bob", "5"))) == "purpose_not_allowed");
  CHECK(codes(release(engine, asked_by("bob", "5", "gossip"))) == "purpose_not_allowed");
  const auto closed = {asked_by("mallory", "5", "planning"), asked_by("bob", "5", "quality")};
  for (const engine::Request& asked : closed) {
    CHECK(release(engine, asked).recorded.accounts.empty());
    CHECK(engine.plan(asked, {}).recorded.accounts.empty());
  }
  CHECK(codes(release(engine, asked_by("bob", "5", "planning"))) == "dataset_budget_exceeded");
  CHECK(release(engine, asked_by("bob", "0.1", "planning")).recorded.granted);
  require_verified(clinic.ledger());
}

TEST_CASE("What is forbidden stays forbidden though everything else allows it",
          "[engine][scopes][access][negative]") {
  const Scoped clinic(
      policy("    budget: {epsilon: 3}\n"
             "    forbid:\n"
             "      - {roles: [audit], columns: [cost]}\n"
             "      - {principals: [alice], where: [ward], statistics: [count]}\n",
             kRoles));
  Engine engine = clinic.open();
  const auto by = [](const std::string& who, engine::Request asked) {
    asked.principal = who;
    return asked;
  };
  CHECK(reason_codes(release(engine, by("bob", request("sum:cost", "0.1"))))[0] == RefusalCode::forbidden);
  CHECK(release(engine, by("alice", request("sum:cost", "0.1"))).recorded.granted);
  CHECK(release(engine, by("bob", request("count", "0.1"))).recorded.granted);
  const std::string in_a = "ward = 'A'";
  CHECK(reason_codes(release(engine, by("alice", request("count", "0.1", "", std::nullopt, in_a))))[0] ==
        RefusalCode::forbidden);
  CHECK(release(engine, by("bob", request("count", "0.1", "", std::nullopt, in_a))).recorded.granted);
  CHECK(release(engine, by("alice", request("units", "0.1", "", std::nullopt, in_a))).recorded.granted);
  require_verified(clinic.ledger());
}

TEST_CASE("Who may not ask learns nothing of a key either, and the key stays what it was",
          "[engine][scopes][access][negative]") {
  const Scoped clinic(policy("    budget: {epsilon: 3}\n    purposes: [planning, quality]\n"));
  Engine engine = clinic.open();
  const auto keyed = [](const std::string& epsilon, const std::string& purpose) {
    engine::Request request = asked_by("alice", epsilon, purpose);
    request.key = "k";
    return request;
  };
  const Answer first = release(engine, keyed("0.1", "planning"));
  REQUIRE(first.recorded.granted);
  for (const char* purpose : {"", "gossip"}) {
    CAPTURE(purpose);
    const Answer refused = release(engine, keyed("0.2", purpose));
    REQUIRE(refused.recorded.reasons.size() == 1);
    CHECK(refused.recorded.reasons[0].code == RefusalCode::purpose_not_allowed);
    CHECK_FALSE(release(engine, keyed("0.2", purpose)).recorded.replayed);  // it is bound to the first
  }
  CHECK(reason_codes(release(engine, keyed("0.1", "quality")))[0] == RefusalCode::key_conflict);
  CHECK(release(engine, keyed("0.1", "planning")).recorded.decision_id == first.recorded.decision_id);
  require_verified(clinic.ledger());
}

TEST_CASE("A purpose stated where none are declared is refused", "[engine][scopes][access][negative]") {
  const Scoped clinic(policy("    budget: {epsilon: 3}\n"));
  Engine engine = clinic.open();
  CHECK(reason_codes(release(engine, asked_by("alice", "0.1", "planning")))[0] ==
        RefusalCode::purpose_not_allowed);
}

TEST_CASE("A limit that is taken away keeps what was spent under it, for when it comes back",
          "[engine][scopes][policy]") {
  const std::string with =
      policy("    budget: {epsilon: 3}\n    limits: [{principal: alice, epsilon: 0.5}]\n", kRoles);
  Scoped clinic(with);
  {
    Engine engine = clinic.open();
    REQUIRE(release(engine, asked_by("alice", "0.4")).recorded.granted);
  }
  clinic.apply(policy("    budget: {epsilon: 3}\n", kRoles));
  {
    Engine engine = clinic.open();
    REQUIRE(release(engine, asked_by("alice", "1")).recorded.granted);
  }
  clinic.apply(with);
  Engine engine = clinic.open();
  const Answer refused = release(engine, asked_by("alice", "0.2"));
  REQUIRE(codes(refused) == "principal_limit_exceeded principal:alice");
  CHECK(refused.recorded.reasons[0].spent == "0.4");
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
