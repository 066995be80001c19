// Conditions with `or`, `not`, `between`, `is missing` and parentheses on every path of a request; and
// columns of these names in the policies and conditions that programs before them recorded.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "implied_object.hpp"
#include "refused_for.hpp"
#include "replaced_text.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const char* const kTyped = "not (ward = 'A' or age is missing) or age not between 20 and 50";
const char* const kAgain = "((ward!='A')AND age IS NOT MISSING) or not (age>=20 and age <= 50)";
const char* const kCanonical = "ward != 'A' and age is not missing or age < 20 or age > 50";

Request asked(const std::string& epsilon, const std::string& key, const std::string& where) {
  return request("count", epsilon, key, std::nullopt, where);
}

Request reserving(Request request) {
  request.reservation = ReservationKind::reserved;
  return request;
}

/// Everything that reads the history reads all of it, and finds nothing wrong.
void check_history(const WaitingClinic& waiting, std::size_t decisions) {
  CHECK(waiting.audit() == "");
  std::size_t seen = 0;
  Engine::open(waiting.clinic.ledger()).history("", 0, [&](const Answer& answer) {
    ++seen;
    CHECK_FALSE(answer.recorded.decision_id.empty());
  });
  CHECK(seen == decisions);
  ReaccountQuestion question;
  question.accountants = {accounting::kAccountants.begin(), accounting::kAccountants.end()};
  for (const Reaccount& answer : reaccount(waiting.clinic.ledger(), question)) {
    CHECK(answer.unreadable == 0);
    CHECK(answer.charged.has_value());
  }
}

}  // namespace

TEST_CASE(
    "later words: a condition with them is planned, released, replayed, held, committed, approved and "
    "verified",
    "[engine][condition][requests]") {
  WaitingClinic waiting;
  Engine& engine = waiting.engine;
  CHECK(engine.plan(asked("0.1", "", kTyped), {}).asked.where == kCanonical);
  CHECK(engine.plan_sequence().next(asked("0.1", "", kTyped), {}).asked.where == kCanonical);
  CHECK_NOTHROW(engine.forecast_of_count(asked("0.1", "", kTyped), 2, {}));

  const Answer granted = release(engine, asked("0.1", "k", kTyped));
  REQUIRE(granted.recorded.granted);
  CHECK(granted.asked.where == kCanonical);
  for (const char* same : {kTyped, kAgain, kCanonical}) {
    CAPTURE(same);
    const Answer again = release(engine, asked("0.1", "k", same));
    CHECK(again.recorded.replayed);
    CHECK(again.released.values == granted.released.values);
  }
  const Answer other = release(engine, asked("0.1", "k", "ward != 'A' and age is not missing or age < 20"));
  REQUIRE_FALSE(other.recorded.granted);
  CHECK(other.recorded.reasons.at(0).code == RefusalCode::key_conflict);

  const Answer first = engine.reserve(reserving(asked("0.1", "", kTyped)), {});
  const Answer second = engine.reserve(reserving(asked("0.1", "", kTyped)), {});
  const Answer pending = release(engine, asked("0.6", "", kTyped));
  REQUIRE(pending.recorded.state == RequestState::pending);
  waiting.clinic.folder.write("policy.yaml", clinic_policy("epsilon: 4", waiting_rules(kTwoApprovals)));
  REQUIRE(engine.apply_policy(waiting.clinic.folder.path("policy.yaml"), "curator", "more").changed);
  (void)engine.approve(pending.recorded.decision_id, "carol");
  (void)engine.approve(pending.recorded.decision_id, "dave");
  CHECK(waiting.commit(pending.recorded.decision_id).recorded.granted);
  CHECK(waiting.commit(first.recorded.decision_id).recorded.granted);
  CHECK(text(engine.cancel(second.recorded.decision_id, "alice").recorded.state) == "cancelled");
  CHECK(engine.show(first.recorded.decision_id, {}).asked.where == kCanonical);
  check_history(waiting, 13);
}

TEST_CASE("later words: what an older program recorded of columns of these names is read as it was",
          "[engine][condition][requests][policy]") {
  // As if it had been written before they were words: the names on record are put in place of others.
  const auto renamed = [](std::string text) {
    for (const auto& [from, to] : {std::pair{"c_or", "or"}, {"c_not", "not"}, {"c_missing", "missing"}}) {
      for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
        text.replace(at, std::string(from).size(), to);
      }
    }
    return text;
  };
  std::string yaml =
      clinic_policy("epsilon: 3", "    allow: {where: [c_or, c_not]}\n" + waiting_rules(kTwoApprovals));
  yaml = replaced(yaml, "age:  {type: int,", "c_or:  {type: int, column: age,");
  yaml = replaced(yaml, "ward: {type: string,", "c_not: {type: string, column: ward,");
  yaml = replaced(yaml, "cost: {type: decimal,", "c_missing: {type: decimal, column: cost,");
  WaitingClinic waiting;
  waiting.clinic.folder.write("policy.yaml", yaml);
  REQUIRE(waiting.engine.apply_policy(waiting.clinic.folder.path("policy.yaml"), "curator", "names").changed);
  const std::string where = "c_or > 30 and c_not in ('A', 'B') and c_not != 'C'";
  const Answer granted = release(waiting.engine, asked("0.1", "k", where));
  REQUIRE(granted.recorded.granted);
  const Answer reserved = waiting.engine.reserve(reserving(asked("0.1", "r", where)), {});
  const Answer pending = release(waiting.engine, asked("0.6", "p", where));
  REQUIRE(pending.recorded.state == RequestState::pending);

  const auto quoted = [](const std::string& text) {
    std::string sql = "'";
    for (const char c : text) sql += c == '\'' ? std::string("''") : std::string(1, c);
    return sql + "'";
  };
  ledger::PolicyVersion version;
  version.yaml = renamed(yaml);
  tamper_with_log(waiting.clinic.ledger(),
                  "UPDATE policy_version SET yaml = " + quoted(version.yaml) + ", sha256 = x'" +
                      ledger::sha256_hex(version.yaml) +
                      "', implies = " + quoted(implied_object(Policy::parse_stored(version.yaml, "policy"))) +
                      " WHERE version = 2;"
                      "UPDATE plan SET question = replace(replace(question, 'c_or', 'or'), 'c_not', 'not')");
  waiting.engine = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
  Engine& engine = waiting.engine;
  const std::string before = "or > 30 and not in ('A', 'B') and not != 'C'";
  CHECK(engine.show(granted.recorded.decision_id, {}).asked.where == before);

  // A retry that is typed as it was then is the same request, free; anything new is told to quote.
  CHECK(release(engine, asked("0.1", "k", before)).recorded.replayed);
  CHECK(release(engine, asked("0.1", "k", "\"or\" > 30 and \"not\" in ('A', 'B') and \"not\" != 'C'"))
            .recorded.replayed);
  CHECK(engine.reserve(reserving(asked("0.1", "r", before)), {}).recorded.decision_id ==
        reserved.recorded.decision_id);
  const std::string told = "where: at character 1: expected a column name (quote it as \"or\")";
  CHECK(refused_for<InvalidParameter>([&] { return release(engine, asked("0.1", "new", before)); }) == told);
  CHECK_THROWS_WITH(engine.plan(asked("0.1", "", before), {}), told);
  CHECK_THROWS_WITH(engine.plan_sequence().next(asked("0.1", "", before), {}), told);
  CHECK_THROWS_WITH(engine.reserve(reserving(asked("0.1", "", before)), {}), told);
  CHECK_THROWS_WITH(engine.forecast(asked("0.1", "", before), {}), told);
  CHECK(refused_for<InvalidParameter>([&] {
          return release(engine, asked("0.1", "new", "\"or\" > 1 and missing = 3"));
        }) == "where: at character 14: expected a column name (quote it as \"missing\")");

  CHECK(waiting.commit(reserved.recorded.decision_id).recorded.granted);
  (void)engine.approve(pending.recorded.decision_id, "carol");
  (void)engine.approve(pending.recorded.decision_id, "dave");
  CHECK(waiting.commit(pending.recorded.decision_id).recorded.granted);
  const Answer both = release(engine, asked("0.1", "new", "\"or\" is missing or not \"not\" = 'A'"));
  REQUIRE(both.recorded.granted);
  CHECK(both.asked.where == "\"or\" is missing or not != 'A'");
  CHECK(release(engine, asked("0.1", "new", both.asked.where)).recorded.replayed);
  const Answer forbidden = release(engine, asked("0.1", "", "\"missing\" is missing"));
  REQUIRE_FALSE(forbidden.recorded.granted);
  CHECK(forbidden.recorded.reasons.at(0).code == RefusalCode::column_not_allowed);
  check_history(waiting, 12);

  // A policy that somebody writes now calls them otherwise.
  waiting.clinic.folder.write("policy.yaml", replaced(version.yaml, "epsilon: 3", "epsilon: 4"));
  CHECK_THROWS_AS(engine.apply_policy(waiting.clinic.folder.path("policy.yaml"), "curator", "more"),
                  PolicyError);
  waiting.clinic.folder.write("policy.yaml", replaced(yaml, "epsilon: 3", "epsilon: 4"));
  REQUIRE(engine.apply_policy(waiting.clinic.folder.path("policy.yaml"), "curator", "more").changed);
  CHECK(release(engine, asked("0.1", "k", before)).recorded.replayed);
  CHECK(waiting.audit() == "");
}

TEST_CASE("later words: every way to write one as a column of a policy is refused with its place",
          "[engine][condition][policy][negative]") {
  for (const char* word : {"or", "not", "between", "is", "missing", "OR", "Missing"}) {
    CAPTURE(word);
    const std::string yaml = replaced(clinic_policy("epsilon: 3"), "age:", std::string(word) + ":");
    CHECK(Policy::parse_stored(yaml, "p.yaml").datasets()[0].columns[0].name == word);
    try {
      (void)checked_policy(yaml, "p.yaml");
      FAIL("accepted");
    } catch (const PolicyError& error) {
      REQUIRE(error.faults().size() == 1);
      CHECK(error.faults()[0].line == 10);
      CHECK(error.faults()[0].column == 7);
      CHECK(error.faults()[0].message ==
            "column name '" + std::string(word) + "': this is a word of --where; rename the column");
    }
  }
}
