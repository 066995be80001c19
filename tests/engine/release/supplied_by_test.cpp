// Values that others than who asks hand in: who may do what in which state under which version, and who is
// told what.
#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

std::string supplying(const std::string& suppliers, const std::string& approvals = "") {
  std::string yaml = clinic_policy("epsilon: 3", waiting_rules(approvals));
  if (suppliers.empty()) return yaml;
  const std::string query = "sensitivity: 1}";
  return yaml.replace(yaml.find(query), query.size(), "sensitivity: 1, supplied_by: " + suppliers + "}");
}

/// alice asks; bob hands values in, unless another version says otherwise.
struct Supplied {
  explicit Supplied(const std::string& suppliers = "[bob]", const std::string& approvals = "")
      : waiting(approvals) {
    apply(suppliers, approvals);
  }
  void apply(const std::string& suppliers, const std::string& approvals = "") {
    (void)waiting.engine.apply_policy(engine::PolicyUpload{.yaml = supplying(suppliers, approvals)},
                                      "curator", "test");
  }
  std::string reserve(ReservationKind reservation = ReservationKind::reserved, const std::string& key = "k") {
    return waiting.reserve("value:score", "0.125", reservation, key).recorded.decision_id;
  }
  /// What `by` is told: the state, the value and the token; "not permitted", of which nothing is recorded.
  template <class Call>
  std::string told(const Call& call) {
    const std::int64_t before = waiting.engine.newest_seq();
    try {
      const Answer answer = call();
      return text(answer.recorded.state) + (answer.recorded.replayed ? " again" : "") +
             (answer.released.values.empty() ? "" : ", value") +
             (answer.recorded.token.empty() ? "" : ", token");
    } catch (const engine::NotPermitted&) {
      CHECK(waiting.engine.newest_seq() == before);
      return "not permitted";
    }
  }
  std::string commit(const std::string& id, const std::string& by) {
    return told([&] { return waiting.commit(id, "7", by); });
  }
  std::string token(const std::string& id, const std::string& by) {
    return told([&] { return waiting.engine.issue_token(id, by); });
  }
  std::string cancel(const std::string& id, const std::string& by) {
    return told([&] { return waiting.engine.cancel(id, by); });
  }
  std::string release_as(const std::string& who, const std::string& key = "") {
    engine::Request asked = supplied("7", "0.125", key);
    asked.principal = who;
    return told([&] { return release(waiting.engine, asked); });
  }
  std::string key_again(ReservationKind reservation = ReservationKind::reserved) {
    return told([&] { return waiting.reserve("value:score", "0.125", reservation, "k"); });
  }
  WaitingClinic waiting;
};

}  // namespace

TEST_CASE("supplied by: only whom the query names hands a value in with a release",
          "[engine][requests][supplied]") {
  Supplied only_bob, both("[bob, alice]");
  CHECK(only_bob.release_as("alice") == "not permitted");
  CHECK(only_bob.release_as("dave") == "not permitted");
  CHECK(only_bob.release_as("bob") == "granted, value");
  CHECK(both.release_as("alice", "k") == "granted, value");
  CHECK(both.release_as("dave") == "not permitted");

  // Also beside others, and without waiting.
  const engine::Request two[] = {request("count", "0.1"), supplied("7", "0.125")};
  mechanisms::SystemBits bits;
  CHECK_THROWS_AS(release_many(only_bob.waiting.engine, two), engine::NotPermitted);
  CHECK_THROWS_AS(
      only_bob.waiting.engine.submit(two[1], bits, {}, [](engine::SubmissionOutcome) { FAIL_CHECK("told"); }),
      engine::NotPermitted);
  CHECK(spent(only_bob.waiting.engine) == "0.125");
  // A retry is answered by what is on record, and another version counts from the next call on.
  both.apply("[bob]");
  CHECK(both.release_as("alice", "k") == "granted again, value");
  CHECK(both.release_as("alice") == "not permitted");
  both.apply("");
  CHECK(both.release_as("alice") == "granted, value");
  for (Supplied* ledger : {&only_bob, &both}) CHECK(ledger->waiting.audit().empty());
}

TEST_CASE("supplied by: what is reserved is committed by them, and told to who asked",
          "[engine][requests][supplied]") {
  Supplied named;
  const std::string id = named.reserve();
  CHECK(named.commit(id, "alice") == "not permitted");
  CHECK(named.commit(id, "dave") == "not permitted");
  CHECK_THROWS_AS(named.waiting.commit(id, {}, "bob"), InvalidParameter);  // without a value
  CHECK(named.key_again() == "reserved again");
  CHECK(named.commit(id, "bob") == "granted");
  CHECK(named.waiting.balance() == "0.125/0");
  const Answer told = named.waiting.commit(id, "7", "bob");
  CHECK(told.recorded.granted);
  CHECK(told.recorded.durable == true);
  CHECK(told.recorded.log);
  CHECK(told.released.component_values.empty());
  CHECK(named.commit(id, "bob") == "granted again");
  CHECK(named.commit(id, "alice") == "granted again, value");
  CHECK(named.key_again() == "granted again, value");
  CHECK(named.commit(id, "dave") == "not permitted");
  CHECK(named.cancel(id, "bob") == "not permitted");
  CHECK(named.cancel(id, "alice") == "granted, value");
  CHECK(named.waiting.audit().empty());

  // Who asked and is named is told what she commits.
  Supplied both("[bob, alice]");
  CHECK(both.commit(both.reserve(), "alice") == "granted, value");
  CHECK(both.waiting.audit().empty());
}

TEST_CASE("supplied by: the data token is theirs", "[engine][requests][supplied]") {
  Supplied named;
  const std::string id = named.reserve(ReservationKind::reserved_against_token);
  CHECK(named.token(id, "alice") == "not permitted");
  CHECK(named.token(id, "dave") == "not permitted");
  CHECK(named.token(id, "bob") == "reserved, token");
  CHECK(named.token(id, "bob") == "reserved, token");
  CHECK(named.token(id, "alice") == "not permitted");
  CHECK(named.key_again(ReservationKind::reserved_against_token) == "reserved again");
  CHECK(named.commit(id, "alice") == "not permitted");
  CHECK(named.commit(id, "bob") == "granted, token");
  CHECK(named.key_again(ReservationKind::reserved_against_token) == "granted again, value");
  CHECK(named.waiting.audit().empty());

  const std::string ended = named.reserve(ReservationKind::reserved_against_token, "other");
  CHECK(named.token(ended, "bob") == "reserved, token");
  CHECK(named.cancel(ended, "bob") == "not permitted");
  CHECK(named.cancel(ended, "alice") == "forfeited");
  CHECK(named.commit(ended, "bob") == "forfeited, token");
  CHECK(named.waiting.audit().empty());
}

TEST_CASE("supplied by: what others agreed to is committed by them", "[engine][requests][supplied]") {
  const std::string rule = "{required: 1, by: {principals: [bob, dave]}, expires: 2h}";
  Supplied named("[bob]", rule);
  CHECK(named.release_as("alice") == "not permitted");
  engine::Request asked = request("value:score", "0.125", "k");  // no value: it is handed in later
  const std::string id = release(named.waiting.engine, asked).recorded.decision_id;
  CHECK(named.commit(id, "alice") == "not permitted");
  CHECK(named.commit(id, "bob") == "pending");
  CHECK(named.told([&] { return named.waiting.engine.approve(id, "bob"); }) == "reserved");
  CHECK(named.commit(id, "alice") == "not permitted");
  CHECK(named.commit(id, "bob") == "granted");
  // Who hands it in is told no value by any act.
  CHECK(named.told([&] { return named.waiting.engine.approve(id, "bob"); }) == "granted");
  CHECK(named.told([&] { return named.waiting.engine.reject(id, "bob", "no"); }) == "granted");
  CHECK(named.cancel(id, "bob") == "granted");
  CHECK(named.told([&] { return release(named.waiting.engine, asked); }) == "granted again, value");

  // Where the active version asks nobody any more, their commit decides as a last approval does.
  named.apply("[bob]", rule);
  const std::string second =
      release(named.waiting.engine, request("value:score", "0.125")).recorded.decision_id;
  named.apply("[bob]");
  CHECK(named.commit(second, "alice") == "not permitted");
  CHECK(named.commit(second, "bob") == "granted");
  CHECK(named.waiting.audit().empty());
}

TEST_CASE("supplied by: the version that is active says who, whatever it was reserved under",
          "[engine][requests][supplied]") {
  const std::map<std::string, std::map<std::string, std::string>> commits{
      {"", {{"alice", "granted, value"}, {"bob", "not permitted"}, {"dave", "not permitted"}}},
      {"[bob]", {{"alice", "not permitted"}, {"bob", "granted"}, {"dave", "not permitted"}}},
      {"[dave]", {{"alice", "not permitted"}, {"bob", "not permitted"}, {"dave", "granted"}}},
      {"[alice, dave]", {{"alice", "granted, value"}, {"bob", "not permitted"}, {"dave", "granted"}}}};
  for (const auto& [asked_under, ignored] : commits) {
    for (const auto& [active, words] : commits) {
      for (const auto& [by, word] : words) {
        CAPTURE(asked_under, active, by);
        Supplied ledger(asked_under);
        const std::string id = ledger.reserve();
        if (active != asked_under) ledger.apply(active);
        CHECK(ledger.commit(id, by) == word);
        CHECK(ledger.waiting.audit().empty());
        // What is on record stays so under every later one.
        if (word == "not permitted") continue;
        ledger.apply(active == "[bob]" ? "" : "[bob]");
        CHECK(ledger.key_again() == "granted again, value");
        CHECK(ledger.commit(id, "alice") == "granted again, value");
        CHECK(ledger.waiting.audit().empty());
      }
    }
  }
}

TEST_CASE("supplied by: a request that is over is told as it ended, and one that is forbidden ends",
          "[engine][requests][supplied]") {
  Supplied named;
  const std::string overdue = named.reserve();
  named.waiting.clock.pass_seconds(2 * 3600);
  CHECK(named.commit(overdue, "alice") == "not permitted");
  CHECK(named.commit(overdue, "bob") == "forfeited");

  const std::string forbidden = named.reserve(ReservationKind::reserved_against_token, "other");
  std::string yaml = supplying("[bob]");
  yaml.insert(yaml.find("    reservations:"), "    forbid: [{statistics: [value]}]\n");
  (void)named.waiting.engine.apply_policy(engine::PolicyUpload{.yaml = yaml}, "curator", "test");
  CHECK(named.token(forbidden, "alice") == "not permitted");
  CHECK(named.token(forbidden, "bob") == "cancelled");
  CHECK(named.waiting.engine.show(forbidden, {}).recorded.why == "policy_changed");
  CHECK(named.waiting.audit().empty());
}

TEST_CASE("supplied by: the audit finds a value that somebody else handed in",
          "[engine][requests][supplied][audit]") {
  Supplied named;
  (void)named.commit(named.reserve(), "bob");
  CHECK(named.release_as("bob") == "granted, value");
  REQUIRE(named.waiting.audit().empty());
  tamper(named.waiting.clinic.ledger(),
         "UPDATE decision SET principal = (SELECT number FROM name WHERE name = 'alice') WHERE outcome = 1");
  const std::string faults = named.waiting.audit();
  CHECK_THAT(faults, test::says("'alice' is not one of those who hand in its value"));
  CHECK_THAT(faults, test::says("was asked with a value by who may not hand one in"));
}
