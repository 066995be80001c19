// What a program can ask through epsilog.hpp, and what it gets back: plans, tables, budgets, history, errors.
#include <limits>
#include <sstream>

#include "api_clinic.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// So much that noise cannot be seen.
constexpr int kBeyondDoubt = 10'000;
constexpr const char* kGaussian = "    release: {count: {mechanism: discrete_gaussian}}\n";

std::string cells_text(const TableOutcome& outcome) {
  REQUIRE(outcome.released() != nullptr);
  std::string text;
  for (const Cell& cell : outcome.released()->cells())
    text += cell.name() + "=" + (cell.value ? cell.value->text() : "?") + " ";
  return text;
}

}  // namespace

TEST_CASE("exact: every form denotes the number that was written", "[engine][api]") {
  CHECK(Exact("1/5").text() == "1/5");
  CHECK(Exact(3).text() == "3");
  CHECK(Exact(1, 5).text() == "1/5");
  CHECK(Exact(-1, 5).text() == "-1/5");
  CHECK(Exact(1, -5).text() == "-1/5");
  CHECK(Exact(-1, -5).text() == "1/5");
  CHECK(Exact(0, -5).text() == "0/5");
  CHECK(Exact(std::numeric_limits<std::int64_t>::min(), -1).text() == "9223372036854775808/1");
  CHECK(Exact(std::numeric_limits<std::uint64_t>::max()).text() == "18446744073709551615");
  ApiClinic at;
  for (const Exact& half : {Exact("1/2"), Exact(1, 2), Exact("0.5"), Exact("5e-1"), Exact(-2, -4)})
    CHECK(at.count(half).plan().cost().text() == "0.5 epsilon");
}

TEST_CASE("question: a table has cells with names, intervals and totals", "[engine][api]") {
  ApiClinic at("", "epsilon: 200000");
  const auto by = at.ledger.ask("clinic", "count").by("ward").epsilon(kBeyondDoubt).as("alice");
  CHECK(cells_text(by.release()) == "A=3 B=2 C=1 ");
  CHECK(cells_text(by.suppress_below(2).release()) == "A=3 B=2 C=? ");
  CHECK(cells_text(by.totals("1/2").release()) == "A=3 B=2 C=1 total=6 ");
  CHECK(cells_text(by.where("age > 20").release()) == "A=2 B=2 C=0 ");
  CHECK(cells_text(
            at.ledger.ask_table("clinic", "histogram:ward").epsilon(kBeyondDoubt).as("alice").release()) ==
        "A=3 B=2 C=1 ");
  const auto outcome = by.release();
  const ReleasedTable& table = *outcome.released();
  CHECK(table.charged().text() == "10000 epsilon");
  REQUIRE(table.intervals("0.05").size() == 3);
  REQUIRE(table.intervals_together("0.01").size() == 3);
  CHECK(table.intervals("0.05")[0].holds_from());
  CHECK(outcome.message() ==
        "count of clinic by ward is a table of 3 cells, from the record: nothing more was charged");
  CHECK(cells_text(at.ledger.show_table(outcome.id())) == "A=3 B=2 C=1 ");
  CHECK_THROWS_AS(at.ledger.show(outcome.id()), InvalidParameter);
  const auto reserved = by.key("held").reserve();
  CHECK(alternative_of(reserved) == "reserved");
  CHECK_THROWS_AS(at.ledger.commit(reserved.id(), "alice"), InvalidParameter);
  CHECK(cells_text(at.ledger.commit_table(reserved.id(), "alice")) == "A=3 B=2 C=1 ");
}

TEST_CASE("question: several quantiles are a table, and the median one number", "[engine][api]") {
  ApiClinic at("", "epsilon: 200000", "    allow: {statistics: [count, quantile]}\n");
  const auto several =
      at.ledger.ask_table("clinic", "quantiles:age:0.25,3/4").epsilon(kBeyondDoubt).as("alice");
  const auto outcome = several.release();
  REQUIRE(outcome.released() != nullptr);
  const auto cells = outcome.released()->cells();
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].name() == "0.25");
  CHECK(cells[1].name() == "0.75");
  const auto median = at.ledger.ask("clinic", "median:age").epsilon(kBeyondDoubt).as("alice").release();
  REQUIRE(median.released() != nullptr);
  CHECK_FALSE(median.released()->accuracy("0.05"));
  const Interval interval = median.released()->interval("0.05");
  CHECK(interval.whole_range());
  CHECK(interval.low().text() == "0");
  CHECK(interval.high().text() == "110");
  CHECK_THROWS_AS(at.ledger.ask("clinic", "quantiles:age:0.25,0.75"), InvalidParameter);
  CHECK_THROWS_AS(at.ledger.ask("clinic", "histogram:ward"), InvalidParameter);
  CHECK_THROWS_AS(at.ledger.ask_table("clinic", "count"), InvalidParameter);
  CHECK_THROWS_AS(at.ledger.ask("clinic", "medain:age"), InvalidParameter);
}

TEST_CASE("question: days are told as days", "[engine][api]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", "who,day\na,2027-01-05\nb,2027-01-06\nc,2027-01-07\n");
  const Ledger ledger = create(folder.path("days.ledger"),
                               PolicyText{"version: 1\n"
                                          "datasets:\n"
                                          "  days:\n"
                                          "    source: {csv: visits.csv}\n"
                                          "    unit: {id: who, max_rows: 1}\n"
                                          "    rows: {max: 10}\n"
                                          "    neighbours: add-remove\n"
                                          "    budget: {epsilon: 10000}\n"
                                          "    allow: {statistics: [quantile]}\n"
                                          "    columns:\n"
                                          "      day: {type: date, bounds: [2027-01-01, 2027-01-31]}\n",
                                          folder.path("")},
                               "curator");
  const auto outcome = ledger.ask("days", "median:day").epsilon(kBeyondDoubt).as("alice").release();
  REQUIRE(outcome.released() != nullptr);
  CHECK(outcome.released()->value().text() == "2027-01-06");
  CHECK(outcome.released()->value().as_double() == 20824);
  CHECK(outcome.released()->interval("0.05").low().text() == "2027-01-01");
}

TEST_CASE("question: a plan says what would become of it, and records nothing", "[engine][api]") {
  ApiClinic at;
  const Plan released = at.count("1/2").plan();
  CHECK(released.outlook() == Plan::Outlook::released);
  CHECK(released.message() == "count of clinic would be released for 0.5 epsilon");
  CHECK(released.accuracy("0.05")->as_double() > 0);
  CHECK(released.accuracy("1/1000")->as_double() > released.accuracy("0.05")->as_double());
  REQUIRE(released.budgets().size() == 1);
  CHECK(released.budgets()[0].remaining.text() == "3");
  const Plan waiting = at.count(1).plan();
  CHECK(waiting.outlook() == Plan::Outlook::waiting);
  CHECK(waiting.reasons().empty());
  const Plan refused = at.count(4).plan();
  CHECK(refused.outlook() == Plan::Outlook::refused);
  CHECK(refused.reasons().at(0).fits == "3");
  CHECK(refused.message().starts_with("count of clinic would be refused: "));
  CHECK(decisions(at.ledger.expert()) == 0);
}

TEST_CASE("question: rho and delta are charged in their own measures", "[engine][api]") {
  ApiClinic rho("", "measure: zcdp, rho: 2", kGaussian);
  const auto by_rho = rho.ledger.ask("clinic", "count").rho("1/4").as("alice").release();
  REQUIRE(by_rho.released() != nullptr);
  CHECK(by_rho.released()->charged().text() == "0.25 rho");
  CHECK(rho.ledger.budget("clinic").at(0).text() == "0.25 of 2 rho");
  ApiClinic both("", "epsilon: 3, delta: 0.00001", kGaussian);
  const auto by_delta = both.count("1/2").delta("0.000001").release();
  REQUIRE(by_delta.released() != nullptr);
  CHECK(by_delta.released()->charged().text() == "0.5 epsilon and 0.000001 delta");
}

TEST_CASE("question: what it lacks is told before anything is recorded", "[engine][api][negative]") {
  ApiClinic at;
  const auto count = at.ledger.ask("clinic", "count");
  CHECK_THROWS_AS(count.epsilon(1).release(), InvalidParameter);  // nobody asks
  CHECK_THROWS_AS(count.as("alice").release(), InvalidParameter);
  CHECK_THROWS_AS(count.as("alice").epsilon(1).rho(1).release(), InvalidParameter);
  CHECK_THROWS_AS(count.as("alice").rho(1).delta("0.1").release(), InvalidParameter);
  CHECK_THROWS_AS(count.as("alice").epsilon("nothing").release(), InvalidParameter);
  CHECK_THROWS_AS(count.as("alice").epsilon(Exact(1, 0)).plan(), InvalidParameter);
  CHECK_THROWS_AS(count.as("alice").epsilon(-1).release(), InvalidParameter);
  CHECK_THROWS_AS(count.key(""), InvalidParameter);
  CHECK_THROWS_AS(count.by_columns({}), InvalidParameter);
  CHECK_THROWS_AS(at.ledger.ask("nowhere", "count").as("alice").epsilon(1).release(), NotFound);
  CHECK(decisions(at.ledger.expert()) == 0);
}

TEST_CASE("question: each has a key of its own, until one is named", "[engine][api]") {
  ApiClinic at;
  const auto asked = at.ledger.ask("clinic", "count").as("alice");
  const auto less = asked.epsilon("1/10");
  const auto more = asked.epsilon("1/5");
  CHECK(less.key() != more.key());
  CHECK(ValueQuestion(less).key() == less.key());
  const auto first = less.release();
  CHECK(first.key() == less.key());
  CHECK(alternative_of(more.release()) == "released");
  CHECK(at.ledger.budget("clinic").at(0).text() == "0.3 of 3 epsilon");
  const auto named = more.key("k").where("age > 20");
  CHECK(named.key() == "k");
  CHECK(alternative_of(named.release()) == "released");
  const auto conflict = named.where("age > 30").release();
  REQUIRE(conflict.refused() != nullptr);
  CHECK(conflict.refused()->reasons().at(0).code == "key_conflict");
}

// NOLINTBEGIN(bugprone-use-after-move): that is what is tested
TEST_CASE("ledger: what was moved from goes on", "[engine][api]") {
  ApiClinic at;
  auto question = at.count("1/10");
  auto outcome = question.release();
  const auto taken = std::move(outcome);
  CHECK(outcome.message() == taken.message());
  REQUIRE(outcome.released() != nullptr);
  CHECK(outcome.released()->value() == taken.released()->value());
  const auto kept = std::move(question);
  CHECK(question.key() == kept.key());
  auto plan = kept.plan();
  const Plan same = std::move(plan);
  CHECK(plan.message() == same.message());
  const Ledger moved = std::move(at.ledger);
  CHECK(at.ledger.budget().size() == moved.budget().size());
}
// NOLINTEND(bugprone-use-after-move)

TEST_CASE("ledger: is created of a policy as text, whose faults are told", "[engine][api]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", kVisits);
  const std::string path = folder.path("clinic.ledger");
  try {
    (void)create(path, PolicyText{"version: 1\nnonsense: 2\n"}, "curator");
    FAIL("it was created");
  } catch (const Error& error) {
    CHECK(error.code() == "policy_error");
    CHECK(std::string(error.what()).find("policy:2:1: ") != std::string::npos);
  }
  {
    const Ledger ledger = create(path, PolicyText{clinic_policy("epsilon: 3"), folder.path("")}, "curator");
    const auto outcome = ledger.ask("clinic", "units").epsilon(1).as("alice").release();
    CHECK(outcome.released() != nullptr);
  }
  folder.write("policy.yaml", clinic_policy("epsilon: 3"));
  CHECK_THROWS_AS(create(path, PolicyFile{folder.path("policy.yaml")}, "curator"), LedgerUnusable);
  const Ledger ledger = open(path);
  CHECK(ledger.budget("clinic").at(0).text() == "1 of 3 epsilon");
  CHECK(audit_faults(path).empty());
}

TEST_CASE("ledger: its history is told by pages", "[engine][api]") {
  ApiClinic at;
  for (const char* key : {"a", "b", "c"}) (void)at.count("1/10").key(key).release();
  (void)at.count(4).key("d").release();
  const History first = at.ledger.history("clinic", "", 3);
  REQUIRE(first.entries.size() == 3);
  CHECK(first.more);
  CHECK(first.entries[0].key == "a");
  CHECK(first.entries[0].principal == "alice");
  CHECK(first.entries[0].statistic == "count");
  CHECK(first.entries[0].state == "granted");
  const History rest = at.ledger.history("clinic", first.cursor, 3);
  REQUIRE(rest.entries.size() == 1);
  CHECK_FALSE(rest.more);
  CHECK(rest.entries[0].state == "refused");
}
