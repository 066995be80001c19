// Every outcome that a program can be told, reached on a real ledger through epsilog.hpp.
#include <functional>

#include "api_clinic.hpp"
#include "failing_sync.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// A way to an outcome, and how its sentence begins.
struct Way {
  const char* alternative;
  const char* message;
  std::function<std::string(ApiClinic&)> go;  ///< returns an id
};

const std::vector<Way> kWays{
    {"released", "count of clinic is ", [](ApiClinic& at) { return at.count("1/5").release().id(); }},
    {"refused", "count of clinic is refused and nothing was charged: ",
     [](ApiClinic& at) { return at.count(4).release().id(); }},
    {"waiting", "count of clinic waits for 2 approvals as ",
     [](ApiClinic& at) { return at.count(1).release().id(); }},
    {"reserved", "0.2 epsilon for count of clinic is reserved as ",
     [](ApiClinic& at) { return at.count("1/5").reserve().id(); }},
    {"released", "count of clinic is ",
     [](ApiClinic& at) { return at.ledger.commit(at.count("1/5").reserve().id(), "alice").id(); }},
    {"reserved", "1 epsilon for count of clinic is reserved as ",
     [](ApiClinic& at) {
       const std::string id = at.count(1).reserve().id();
       (void)at.ledger.approve(id, "carol");
       return at.ledger.approve(id, "dave", "agreed").id();
     }},
    {"cancelled", "count of clinic was cancelled; nothing was charged",
     [](ApiClinic& at) { return at.ledger.cancel(at.count("1/5").reserve().id(), "alice").id(); }},
    {"rejected", "count of clinic was rejected; nothing was charged: too much",
     [](ApiClinic& at) { return at.ledger.reject(at.count(1).release().id(), "carol", "too much").id(); }},
    {"expired", "count of clinic was not committed or approved in time; nothing was charged",
     [](ApiClinic& at) {
       const std::string id = at.count("1/5").reserve().id();
       at.clock.pass_seconds(3600);
       (void)at.count("1/10").release();  // which ends what is overdue
       return id;
     }},
    {"forfeited",
     "value:score of clinic ended without an answer after the data may have been seen, and 0.2 epsilon",
     [](ApiClinic& at) {
       const auto asked = at.ledger.ask("clinic", "value:score").epsilon("1/5").as("alice");
       return at.ledger.cancel(asked.reserve().id(), "alice").id();
     }},
};

std::string replicated(const std::string& path) {
  return clinic_policy("epsilon: 3", waiting_rules("")) + "replica: {file: " + path + "}\n";
}

}  // namespace

TEST_CASE("outcome: each alternative is reached, told alone and said in one sentence", "[engine][api]") {
  for (const Way& way : kWays) {
    ApiClinic at;
    const std::string id = way.go(at);
    INFO(way.alternative);
    const RequestOutcome status = at.ledger.status(id);
    CHECK(alternative_of(status) == way.alternative);
    CHECK(alternative_of(at.ledger.show(id)) == way.alternative);
    INFO(status.message());
    CHECK(at.ledger.show(id).message().starts_with(way.message));
    CHECK(status.message().find("--") == std::string::npos);
    CHECK(status.message().find('\n') == std::string::npos);
    CHECK(status.key().starts_with("made-"));
    CHECK(audit_faults(at.clinic.ledger()).empty());
  }
}

TEST_CASE("outcome: released tells value, interval, accuracy, charge, id and key", "[engine][api]") {
  ApiClinic at;
  const auto outcome = at.count("1/5").key("monday").release();
  const ReleasedValue* released = outcome.released();
  REQUIRE(released != nullptr);
  CHECK(outcome.key() == "monday");
  CHECK_FALSE(released->replayed());
  CHECK(released->charged().text() == "0.2 epsilon");
  CHECK(released->charged().epsilon().text() == "0.2");
  CHECK_FALSE(released->charged().delta());
  CHECK(std::to_string(static_cast<long>(released->value().as_double())) == released->value().text());
  const engine::Answer told = at.ledger.expert().show(outcome.id(), {accounting::Rational(1, 20)});
  CHECK(released->value().text() == accounting::text(told.released.values.front()));
  CHECK(released->accuracy("0.05")->text() == accounting::text(told.planned.accuracy[0][0].a));
  for (const char* alpha : {"0.05", "1/20", "0.01", "1/1000"}) {
    const Interval interval = released->interval(alpha);
    INFO(alpha);
    CHECK(interval.low().is_finite());
    CHECK(interval.high().is_finite());
    CHECK(interval.low().as_double() <= std::max(0.0, released->value().as_double()));
    CHECK(interval.high().as_double() >= released->value().as_double());
    CHECK_FALSE(interval.whole_range());
    CHECK(released->accuracy(alpha));
  }
  CHECK(released->interval("0.05").high().text() ==
        accounting::text(told.released.intervals.front().each.front().high));
  CHECK(released->interval("0.001").high().as_double() >= released->interval("0.05").high().as_double());
  CHECK(released->accuracy("0.001")->as_double() > released->accuracy("0.05")->as_double());
  for (const Exact& none : {Exact(0), Exact(1), Exact("-1"), Exact("x"), Exact(1, 0)}) {
    CHECK_THROWS_AS(released->interval(none), InvalidParameter);
    CHECK_THROWS_AS(released->accuracy(none), InvalidParameter);
  }
}

TEST_CASE("outcome: a mean tells its interval and no single accuracy", "[engine][api]") {
  ApiClinic at("", "epsilon: 3");
  const auto outcome = at.ledger.ask("clinic", "mean:age").epsilon(1).as("alice").release();
  REQUIRE(outcome.released() != nullptr);
  CHECK_FALSE(outcome.released()->accuracy("0.05"));
  const Interval interval = outcome.released()->interval("0.05");
  CHECK(interval.low().is_finite());
  CHECK(interval.low().as_double() >= 0);
  CHECK(interval.high().as_double() <= 110);
}

TEST_CASE("outcome: a double next to a number never tells less loss, or a narrower interval",
          "[engine][api]") {
  const auto exact = [](const Number& number) { return accounting::parse_rational(number.text(), "number"); };
  const auto not_below = [&exact](const Number& number) {
    return accounting::Rational(number.as_double()) >= exact(number);
  };
  const auto not_above = [&exact](const Number& number) {
    return accounting::Rational(number.as_double()) <= exact(number);
  };
  ApiClinic at("", "epsilon: 3");
  int loss_above = 0;  // of those whose exact number is no double
  for (const char* epsilon : {"0.1", "0.2", "0.3", "0.7", "1/3"}) {
    INFO(epsilon);
    const auto outcome = at.ledger.ask("clinic", "mean:age").epsilon(epsilon).as("alice").release();
    REQUIRE(outcome.released() != nullptr);
    const Number charged = outcome.released()->charged().epsilon();
    CHECK(not_below(charged));
    if (accounting::Rational(charged.as_double()) > exact(charged)) ++loss_above;
    for (const char* alpha : {"0.05", "0.3"}) {
      const Interval interval = outcome.released()->interval(alpha);
      CHECK(not_above(interval.low()));
      CHECK(not_below(interval.high()));
    }
    for (const AccountBalance& balance : at.ledger.budget("clinic")) {
      CHECK(not_above(balance.limit));
      CHECK(not_below(balance.spent));
      CHECK(not_below(balance.reserved));
      CHECK(not_above(balance.remaining));
    }
  }
  CHECK(loss_above == 5);
  const auto outcome = at.count("1/7").release();
  REQUIRE(outcome.released() != nullptr);
  for (const char* alpha : {"0.05", "0.3"}) CHECK(not_below(outcome.released()->accuracy(alpha).value()));
}

TEST_CASE("outcome: a retry is told as one, and charges nothing", "[engine][api]") {
  ApiClinic at;
  const auto question = at.count("1/5");
  const auto first = question.release();
  const auto again = question.release();  // the same question object
  const auto other = at.count("1/5").key(first.key()).release();
  REQUIRE(first.released() != nullptr);
  for (const auto* outcome : {&again, &other}) {
    REQUIRE(outcome->released() != nullptr);
    CHECK(outcome->replayed());
    CHECK(outcome->id() == first.id());
    CHECK(outcome->released()->value() == first.released()->value());
    CHECK(outcome->message().ends_with(", from the record: nothing more was charged"));
  }
  CHECK(at.ledger.budget("clinic").at(0).text() == "0.2 of 3 epsilon");
}

TEST_CASE("outcome: a refusal says what would fit", "[engine][api]") {
  ApiClinic at;
  const auto outcome = at.count(4).release();
  REQUIRE(outcome.refused() != nullptr);
  const auto reasons = outcome.refused()->reasons();
  REQUIRE(reasons.size() == outcome.refused()->reasons_count());
  CHECK(reasons.at(0).code == "dataset_budget_exceeded");
  CHECK(reasons.at(0).fits == "3");
  CHECK(outcome.message().find(reasons.at(0).message) != std::string::npos);
}

TEST_CASE("outcome: what waits tells its votes, and a rejection its reason", "[engine][api]") {
  ApiClinic at;
  const auto asked = at.count(1).reserve();
  REQUIRE(asked.waiting() != nullptr);
  CHECK(asked.waiting()->approvals_required() == 2);
  CHECK(asked.waiting()->cost().text() == "1 epsilon");
  CHECK_FALSE(asked.waiting()->deadline().empty());
  const auto once = at.ledger.approve(asked.id(), "carol", "fine");
  REQUIRE(once.waiting() != nullptr);
  const auto votes = once.waiting()->approvals();
  REQUIRE(votes.size() == 1);
  CHECK(votes[0].by == "carol");
  CHECK(votes[0].why == "fine");
  CHECK(at.ledger.pending("clinic").size() == 1);
  const auto rejected = at.ledger.reject(asked.id(), "dave", "too much");
  REQUIRE(rejected.rejected() != nullptr);
  CHECK(rejected.rejected()->why() == "too much");
  CHECK(at.ledger.pending().empty());
}

TEST_CASE("outcome: a reservation is charged by its commit, exactly", "[engine][api]") {
  ApiClinic at;
  const auto reserved = at.count("1/4").reserve();
  REQUIRE(reserved.reserved() != nullptr);
  CHECK(reserved.reserved()->cost().text() == "0.25 epsilon");
  AccountBalance balance = at.ledger.budget("clinic").at(0);
  CHECK(balance.text() == "0 of 3 epsilon");
  CHECK(balance.reserved.text() == "0.25");
  CHECK(balance.remaining.text() == "2.75");
  CHECK_THROWS_AS(at.ledger.commit_table(reserved.id(), "alice"), InvalidParameter);
  CHECK(alternative_of(at.ledger.status(reserved.id())) == "reserved");  // the wrong shape charged nothing
  const auto outcome = at.ledger.commit(reserved.id(), "alice");
  REQUIRE(outcome.released() != nullptr);
  CHECK(outcome.released()->charged().text() == "0.25 epsilon");
  CHECK(outcome.key() == reserved.key());
  CHECK(at.ledger.budget("clinic").at(0).text() == "0.25 of 3 epsilon");
  const auto shown = at.ledger.show(outcome.id());
  REQUIRE(shown.released() != nullptr);
  CHECK(shown.released()->value() == outcome.released()->value());
}

TEST_CASE("outcome: what the replica does not hold is withheld, and told later", "[engine][api]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", kVisits);
  const Ledger ledger =
      create(folder.path("clinic.ledger"),
             PolicyText{replicated(folder.path("clinic.replica")), folder.path("")}, "curator");
  const auto question = ledger.ask("clinic", "count").epsilon("1/2").as("alice").key("k");
  {
    const FailingSync failing;
    const auto outcome = question.release();
    CHECK(alternative_of(outcome) == "withheld");
    CHECK(outcome.withheld()->replica_behind());
    CHECK(outcome.message() ==
          "count of clinic is on record, but the replica does not hold it yet: ask again with the key 'k'");
    CHECK(alternative_of(ledger.show(outcome.id())) == "withheld");
    const auto other = ledger.ask("clinic", "count").epsilon("1/2").as("alice");
    try {
      (void)other.release();
      FAIL("it was recorded");
    } catch (const Error& error) {
      CHECK(error.code() == "replica_unavailable");
    }
  }
  CHECK(alternative_of(question.release()) == "released");
  CHECK(ledger.budget("clinic").at(0).text() == "0.5 of 3 epsilon");
}
