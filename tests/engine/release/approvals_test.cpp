// Approvals: who may give them, what the last one decides, and every act on a request in every state.
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;
using engine::Holding;
using engine::RequestState;

TEST_CASE("approval: a request above the threshold waits, debits nothing and is not released",
          "[engine][approvals]") {
  WaitingClinic waiting;
  CHECK(release(waiting.engine, request("count", "0.5")).granted);
  const Answer pending = release(waiting.engine, request("count", "0.50000000001"));
  CHECK(text(pending.state) == "pending");
  CHECK_FALSE(pending.granted);
  CHECK(pending.values.empty());
  CHECK(pending.approvals_required == 2);
  CHECK(waiting.balance() == "0.5/0");
  // What would be refused now is refused at once.
  CHECK(text(release(waiting.engine, request("count", "2.6")).state) == "denied");
  const Answer plan = waiting.engine.plan(request("count", "1"), {});
  CHECK(plan.granted);
  CHECK(text(plan.state) == "pending");
  CHECK(text(waiting.engine.plan(request("count", "0.25"), {}).state) == "granted");
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: the second of two distinct approvers reserves, and the asker commits either id",
          "[engine][approvals]") {
  for (const bool by_root : {true, false}) {
    WaitingClinic waiting;
    const Answer pending = release(waiting.engine, request("mean:cost", "1", "k"));
    const Answer first = waiting.engine.approve(pending.decision_id, "carol");
    CHECK(text(first.state) == "pending");
    REQUIRE(first.approvals.size() == 1);
    CHECK(first.approvals[0].by == "carol");
    // Once more by the same says the same.
    CHECK(waiting.engine.approve(pending.decision_id, "carol").approvals == first.approvals);
    CHECK(text(waiting.commit(pending.decision_id).state) == "pending");
    const Answer second = waiting.engine.approve(pending.decision_id, "dave");
    CHECK(text(second.state) == "reserved");
    CHECK(second.parent == pending.decision_id);
    CHECK(second.approvals.size() == 2);
    CHECK(waiting.balance() == "0/1");
    const Answer asked_again = release(waiting.engine, request("mean:cost", "1", "k"));
    CHECK(asked_again.replayed);
    CHECK(text(asked_again.state) == "reserved");
    CHECK(asked_again.decision_id == second.decision_id);
    const Answer granted = waiting.commit(by_root ? pending.decision_id : second.decision_id);
    CHECK(granted.granted);
    CHECK(waiting.balance() == "1/0");
    const Answer replayed = release(waiting.engine, request("mean:cost", "1", "k"));
    CHECK(replayed.granted);
    CHECK(replayed.replayed);
    CHECK(replayed.values == granted.values);
    CHECK(waiting.engine.show(pending.decision_id, {}).values == granted.values);
    CHECK(waiting.audit().empty());
  }
}

TEST_CASE("approval: nobody else may give one, and nobody to a request of their own",
          "[engine][approvals][negative]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1"));
  for (const char* who : {"alice", "bob", "eve", "nobody"}) {
    CAPTURE(who);
    CHECK_THROWS_AS(waiting.engine.approve(pending.decision_id, who), engine::NotPermitted);
    CHECK_THROWS_AS(waiting.engine.reject(pending.decision_id, who, ""), engine::NotPermitted);
  }
  // alice is an approver of others.
  engine::Request of_bob = request("count", "1");
  of_bob.principal = "bob";
  const Answer other = release(waiting.engine, of_bob);
  CHECK(waiting.engine.approve(other.decision_id, "alice").approvals.size() == 1);
  CHECK(waiting.engine.show(pending.decision_id, {}).approvals.empty());
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: the last one refuses what no longer fits", "[engine][approvals][negative]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1", "k"));
  (void)waiting.engine.approve(pending.decision_id, "carol");
  for (int i = 0; i < 5; ++i) REQUIRE(release(waiting.engine, request("count", "0.45")).granted);
  const Answer refused = waiting.engine.approve(pending.decision_id, "dave");
  CHECK(text(refused.state) == "denied");
  REQUIRE(refused.reasons.size() == 1);
  CHECK(refused.reasons[0].fits == "0.75");
  CHECK(refused.parent == pending.decision_id);
  CHECK(waiting.balance() == "2.25/0");
  CHECK(text(waiting.commit(pending.decision_id).state) == "denied");
  CHECK(text(release(waiting.engine, request("count", "1", "k")).state) == "denied");
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: one rejection ends it, with its reason", "[engine][approvals]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1", "k"));
  (void)waiting.engine.approve(pending.decision_id, "carol");
  CHECK_THROWS_AS(waiting.engine.reject(pending.decision_id, "carol", ""), InvalidParameter);
  const Answer rejected = waiting.engine.reject(pending.decision_id, "dave", "too fine");
  CHECK(text(rejected.state) == "rejected");
  CHECK(rejected.why == "too fine");
  CHECK(text(release(waiting.engine, request("count", "1", "k")).state) == "rejected");
  CHECK(waiting.balance() == "0/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: the values of a request that waits are kept nowhere and given to its commit",
          "[engine][approvals]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, supplied("7.123456789", "1"));
  const Answer without = release(waiting.engine, request("value:score", "1"));
  CHECK(text(without.state) == "pending");
  // What is no number is undefined, and waits like any other value.
  CHECK(text(release(waiting.engine, supplied("seven", "1")).state) == "pending");
  (void)waiting.engine.approve(pending.decision_id, "carol");
  (void)waiting.engine.approve(pending.decision_id, "dave");
  CHECK_THROWS_AS(waiting.commit(pending.decision_id), InvalidParameter);
  CHECK(waiting.commit(pending.decision_id, "7.123456789").granted);
  for (const char* suffix : {"", "-wal"}) {
    std::ifstream file(waiting.clinic.ledger() + suffix, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CHECK(bytes.size() > 1000);
    CHECK(bytes.find("7.123456789") == std::string::npos);
  }
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: several in one batch wait each", "[engine][approvals]") {
  WaitingClinic waiting;
  mechanisms::SystemBits bits;
  const std::vector<engine::Request> requests = {request("count", "1", "a"), request("count", "0.25"),
                                                 request("count", "1", "a"), request("units", "5")};
  const auto answers = waiting.engine.release_many(requests, bits, {});
  CHECK(text(answers[0].state) == "pending");
  CHECK(text(answers[1].state) == "granted");
  CHECK(answers[2].replayed);
  CHECK(answers[2].decision_id == answers[0].decision_id);
  CHECK(text(answers[3].state) == "denied");
  std::vector<std::string> waits;
  waiting.engine.pending("clinic", [&](const Answer& answer) { waits.push_back(answer.decision_id); });
  CHECK(waits == std::vector{answers[0].decision_id});
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: eight threads that approve as two reserve once", "[engine][approvals][concurrency]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1"));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back(
        [&, i] { (void)waiting.engine.approve(pending.decision_id, i % 2 == 0 ? "carol" : "dave"); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(text(waiting.engine.show(pending.decision_id, {}).state) == "reserved");
  CHECK(waiting.balance() == "0/1");
  CHECK(waiting.audit().empty());
}

// --- every act in every state -----------------------------------------------------------------------------

namespace {

struct State {
  const char* name;  ///< of the request then
  std::function<std::string(WaitingClinic&)> reach;
};

std::string approved(WaitingClinic& waiting, const std::string& id) {
  (void)waiting.engine.approve(id, "carol");
  (void)waiting.engine.approve(id, "dave");
  return id;
}

/// Of a statistic computed here; `reserve` puts it into the state.
std::vector<State> states() {
  const auto pending = [](WaitingClinic& waiting) {
    return waiting.reserve("count", "1", Holding::reserved, "k").decision_id;
  };
  const auto reserved = [pending](WaitingClinic& waiting) { return approved(waiting, pending(waiting)); };
  const auto read = [reserved](WaitingClinic& waiting) {
    // A commit whose process died between its token and its release.
    const std::string id = reserved(waiting);
    class Died final : public mechanisms::BitSource {
      void fill(std::span<std::byte>) override { throw EntropyUnavailable("died"); }
    } died;
    CHECK_THROWS_AS(waiting.engine.commit(id, "alice", std::nullopt, died, {}), EntropyUnavailable);
    return id;
  };
  return {
      {"pending", pending},
      {"reserved", reserved},
      {"reserved and read", read},
      {"granted",
       [reserved](WaitingClinic& waiting) {
         const std::string id = reserved(waiting);
         REQUIRE(waiting.commit(id).granted);
         return id;
       }},
      {"denied",
       [pending](WaitingClinic& waiting) {
         const std::string id = pending(waiting);
         for (int i = 0; i < 5; ++i) REQUIRE(release(waiting.engine, request("count", "0.45")).granted);
         return approved(waiting, id);
       }},
      {"rejected",
       [pending](WaitingClinic& waiting) {
         const std::string id = pending(waiting);
         (void)waiting.engine.reject(id, "carol", "no");
         return id;
       }},
      {"cancelled",
       [reserved](WaitingClinic& waiting) {
         const std::string id = reserved(waiting);
         (void)waiting.engine.cancel(id, "alice");
         return id;
       }},
      {"expired",
       [pending](WaitingClinic& waiting) {
         const std::string id = pending(waiting);
         waiting.clock.pass_seconds(7200);
         return id;
       }},
      {"expired reserved",
       [reserved](WaitingClinic& waiting) {
         const std::string id = reserved(waiting);
         waiting.clock.pass_seconds(3600);
         return id;
       }},
      {"forfeited",
       [read](WaitingClinic& waiting) {
         const std::string id = read(waiting);
         waiting.clock.pass_seconds(3600);
         return id;
       }},
  };
}

struct Verb {
  const char* name;
  std::function<Answer(WaitingClinic&, const std::string&)> act;
};

std::vector<Verb> verbs() {
  return {
      {"commit", [](WaitingClinic& waiting, const std::string& id) { return waiting.commit(id); }},
      {"cancel",
       [](WaitingClinic& waiting, const std::string& id) { return waiting.engine.cancel(id, "alice"); }},
      {"cancel by an approver",
       [](WaitingClinic& waiting, const std::string& id) { return waiting.engine.cancel(id, "carol"); }},
      {"approve",
       [](WaitingClinic& waiting, const std::string& id) { return waiting.engine.approve(id, "carol"); }},
      {"reject",
       [](WaitingClinic& waiting, const std::string& id) { return waiting.engine.reject(id, "dave", "no"); }},
      {"reserve", [](WaitingClinic& waiting,
                     const std::string&) { return waiting.reserve("count", "1", Holding::reserved, "k"); }},
      {"write something else",
       [](WaitingClinic& waiting, const std::string& id) {
         (void)release(waiting.engine, request("units", "0.000001"));
         return waiting.engine.show(id, {});
       }},
  };
}

/// The state a verb leaves, "" for the one that was.
std::string becomes(const std::string& state, const std::string& verb) {
  const bool reserved = state == "reserved" || state == "reserved and read";
  if (state == "pending" && verb == "reject") return "rejected";
  if (verb.starts_with("cancel") && (state == "pending" || state == "reserved")) return "cancelled";
  if (verb.starts_with("cancel") && state == "reserved and read") return "forfeited";
  if (verb == "commit" && reserved) return "granted";
  // A key is looked up without writing, so that nothing ends by it.
  if (verb == "reserve" && state == "expired") return "pending";
  if (verb == "reserve" && (state == "expired reserved" || state == "forfeited")) return "reserved";
  if (state == "expired reserved") return "expired";
  return reserved ? "reserved" : state;
}

}  // namespace

TEST_CASE("requests: every act in every state leaves the state that the table says, and the right charge",
          "[engine][requests][approvals]") {
  for (const State& state : states()) {
    for (const Verb& verb : verbs()) {
      WaitingClinic waiting;
      const std::string id = state.reach(waiting);
      CAPTURE(state.name, verb.name);
      const Answer answer = verb.act(waiting, id);
      const std::string expected = becomes(state.name, verb.name);
      CHECK(text(answer.state) == expected);
      const Answer shown = waiting.engine.show(id, {});
      CHECK(text(shown.state) == expected);
      CHECK(answer.granted == (expected == "granted"));
      CHECK(answer.values.size() == (expected == "granted" ? 1U : 0U));
      const std::string other = verb.name == std::string("write something else") ? ".000001" : "";
      const std::string spent = expected == "denied"                               ? "2.25"
                                : expected == "granted" || expected == "forfeited" ? "1"
                                                                                   : "0";
      const std::string of_other = spent == "2.25" ? "2.250001" : spent + (other.empty() ? "" : other);
      CHECK(waiting.balance() == (other.empty() ? spent : of_other) + (expected == "reserved" ? "/1" : "/0"));
      // Again changes nothing more.
      const std::string balance = waiting.balance();
      if (other.empty() && verb.name != std::string("approve")) {
        CHECK(text(verb.act(waiting, id).state) == expected);
        CHECK(waiting.balance() == balance);
      }
      INFO(waiting.audit());
      CHECK(waiting.audit().empty());
    }
  }
}

TEST_CASE("requests: the token is only for a reservation that was made against one, in every state",
          "[engine][requests][approvals]") {
  for (const State& state : states()) {
    CAPTURE(state.name);
    WaitingClinic waiting;
    const std::string id = state.reach(waiting);
    const std::string stands = becomes(state.name, "token");
    if (stands == "pending" || stands == "reserved" || stands == "granted") {
      CHECK_THROWS_AS(waiting.engine.issue_token(id, "alice"), InvalidParameter);
    } else {  // what has ended, or is overdue, says so whatever else is wrong
      CHECK(text(waiting.engine.issue_token(id, "alice").state) == stands);
    }
  }
  WaitingClinic waiting;
  const Answer pending = waiting.reserve("value:score", "1", Holding::reserved_against_token);
  const auto state = [&] { return text(waiting.engine.issue_token(pending.decision_id, "alice").state); };
  CHECK(state() == "pending");
  CHECK_THROWS_AS(waiting.engine.issue_token(pending.decision_id, "carol"), engine::NotPermitted);
  approved(waiting, pending.decision_id);
  CHECK(state() == "reserved");
  CHECK(waiting.commit(pending.decision_id, "3").granted);
  CHECK(state() == "granted");
  const Answer second = waiting.reserve("value:score", "0.25", Holding::reserved_against_token);
  (void)waiting.engine.cancel(second.decision_id, "alice");
  const Answer late = waiting.engine.issue_token(second.decision_id, "alice");
  CHECK(text(late.state) == "cancelled");
  CHECK(late.token.empty());
  CHECK(waiting.audit().empty());
}
