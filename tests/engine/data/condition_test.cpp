// Conditions that no row can satisfy are refused before anything is charged, and none that some row can.
#include "condition.hpp"

#include "checked_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/forecast.hpp"
#include "file_text.hpp"
#include "refused_for.hpp"
#include "row_filter.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::string kConditionColumns =
    file_text(EPSILOG_SOURCE_DIR "/tests/engine/data/condition_columns.yaml");

/// What is said of the condition; "" if it is accepted.
std::string said_of(const Dataset& dataset, const std::string& where) {
  const Question question = parse_question("count", std::nullopt, where);
  (void)derive(dataset, question);
  return refused_for<InvalidParameter>([&] { require_satisfiable(dataset, question); });
}

}  // namespace

TEST_CASE("condition: what contradicts itself, or names no declared value, is told, and only that",
          "[engine][condition][negative]") {
  const Policy policy = checked_policy(kConditionColumns, "p.yaml");
  const Dataset& dataset = policy.datasets().front();
  check_rows(EPSILOG_SOURCE_DIR "/tests/engine/data/conditions.tsv", "said",
             [&](const CaseRow& row) { return said_of(dataset, row[1]); });
  CHECK(said_of(dataset, "x > 1e400") != "");
}

TEST_CASE("condition: what some row can satisfy is accepted, whatever the bounds say",
          "[engine][condition]") {
  const Policy policy = checked_policy(kConditionColumns, "p.yaml");
  const Dataset& dataset = policy.datasets().front();
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/data/satisfiable_conditions.tsv")) {
    const std::string& where = row.at(0);
    CAPTURE(where);
    CHECK(said_of(dataset, where) == "");
  }
}

TEST_CASE("condition: an accepted one keeps some cell, a refused one none of many",
          "[engine][condition][property]") {
  // Small whole numbers, where every cell that could matter can be tried.
  const Policy policy = checked_policy(kConditionColumns, "p.yaml");
  const Dataset& dataset = policy.datasets().front();
  constexpr unsigned kSeed = 20261122;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  const auto upto = [&random](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const char* column = std::array{"age", "old", "cost", "x", "flag"}[upto(4)];
    const bool flag = column == std::string("flag");
    const bool halves = column == std::string("cost") || column == std::string("x");
    const auto constant = [&] {
      if (flag) return std::string(upto(1) == 1 ? "true" : "false");
      const std::string whole = std::to_string(upto(4));
      return upto(3) == 0 ? whole + (halves ? ".005" : ".5") : whole;
    };
    std::string where;
    for (unsigned i = upto(3) + 1; i-- > 0;) {
      where += (where.empty() ? "" : " and ") + std::string(column);
      const unsigned form = flag ? upto(2) : upto(6);
      if (form == 0) {
        where += " in (" + constant() + ", " + constant() + ")";
      } else {
        where += std::string(" ") + std::array{"=", "!=", "<", "<=", ">", ">="}[form - 1] + " " + constant();
      }
    }
    const Predicate predicate = Predicate::parse(where);
    const RowFilter filter(dataset, predicate, {column}, CellDialect{});
    std::vector<std::string> cells{"", "true", "false", "-1000000000000", "1000000000000"};
    for (int i = -100; i <= 600; ++i) {
      const std::string digits = std::to_string(std::abs(i % 100));
      cells.push_back(std::to_string(i / 100) +
                      (i % 100 == 0 ? "" : "." + std::string(2 - digits.size(), '0') + digits));
    }
    for (int i = 0; i <= 5; ++i) cells.push_back(std::to_string(i) + ".0050000001");
    const bool some = std::any_of(cells.begin(), cells.end(), [&](const std::string& text) {
      const RawCell cell{text, text.empty()};
      return filter.keeps({&cell, 1});
    });
    CAPTURE(where);
    const bool accepted = said_of(dataset, where).empty();
    refused += accepted ? 0 : 1;
    if (some) CHECK(accepted);
    // Between neighbouring binary64 numbers the cells tried are too few.
    if (!some && column != std::string("x")) CHECK_FALSE(accepted);
  }
  CHECK(refused > 400);
  CHECK(refused < 3600);
}

TEST_CASE("condition: who asks is told before anything is recorded, by every way to ask",
          "[engine][condition][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  for (const char* where : {"age > 5 and age < 3", "ward = 'a'"}) {
    CAPTURE(where);
    const Request asked = request("count", "0.1", "k", std::nullopt, where);
    Request held = asked;
    held.reservation = ReservationKind::reserved;
    const std::vector<Request> batch{request("count", "0.1"), asked};
    CHECK_THROWS_AS(release(engine, asked), InvalidParameter);
    CHECK_THROWS_AS(release_many(engine, batch), InvalidParameter);
    CHECK_THROWS_AS(engine.reserve(held, {}), InvalidParameter);
    CHECK_THROWS_AS(engine.plan(asked, {}), InvalidParameter);
    CHECK_THROWS_AS(engine.plan_sequence().next(asked, {}), InvalidParameter);
    CHECK_THROWS_AS(engine.forecast(asked, {}), InvalidParameter);
    CHECK_THROWS_AS(engine.forecast_of_count(asked, 2, {}), InvalidParameter);
    CHECK_THROWS_AS(engine.forecast_of_accuracy(asked, {accounting::Rational(1, 20), 10}, {}),
                    InvalidParameter);
  }
  CHECK(spent(engine) == "0");
  // The key is free still.
  CHECK(release(engine, request("count", "0.1", "k")).recorded.granted);
}

TEST_CASE("condition: what an older program recorded is replayed, committed and approved",
          "[engine][condition][requests]") {
  WaitingClinic waiting(kTwoApprovals);
  // As if it had been asked without this rule: the text on record is another one of the same form.
  const std::string before = "age > 5 and age < 9";
  const std::string after = "age > 5 and age < 3";
  Request answered = request("count", "0.1", "answered", std::nullopt, before);
  REQUIRE(release(waiting.engine, answered).recorded.granted);
  Request held = request("count", "0.1", "held", std::nullopt, before);
  held.reservation = ReservationKind::reserved;
  const Answer reserved = waiting.engine.reserve(held, {});
  const Answer pending = release(waiting.engine, request("count", "0.6", "pending", std::nullopt, before));
  REQUIRE(pending.recorded.state == RequestState::pending);
  tamper_with_log(waiting.clinic.ledger(),
                  "UPDATE plan SET question = replace(question, '" + before + "', '" + after + "')");
  auto opened = ledger::Ledger::open_read_only(waiting.clinic.ledger());
  opened.snapshot().each_decision("", 0, [&](const ledger::StoredDecision& stored) {
    REQUIRE(stored.draft.request.find(after) != std::string::npos);
  });
  Engine engine = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
  answered.question.where = Predicate::parse(after);
  CHECK(release(engine, answered).recorded.replayed);
  CHECK(engine.show(reserved.recorded.decision_id, {}).recorded.state == RequestState::reserved);
  CHECK(commit(engine, reserved.recorded.decision_id).recorded.granted);
  (void)engine.approve(pending.recorded.decision_id, "carol");
  (void)engine.approve(pending.recorded.decision_id, "dave");
  CHECK(commit(engine, pending.recorded.decision_id).recorded.granted);
  CHECK(waiting.audit() == "");
  // Asked anew it is refused.
  answered.key = "another";
  CHECK_THROWS_AS(release(engine, answered), InvalidParameter);
}
