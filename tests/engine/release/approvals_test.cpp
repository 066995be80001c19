// Approvals: who may give them, what the last one decides, and every act on a request in every state.
#include "epsilog/accounting/errors.hpp"
#include "file_text.hpp"
#include "in_threads.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

TEST_CASE("approval: a request above the threshold waits, debits nothing and is not released",
          "[engine][approvals]") {
  WaitingClinic waiting;
  CHECK(release(waiting.engine, request("count", "0.5")).recorded.granted);
  const Answer pending = release(waiting.engine, request("count", "0.50000000001"));
  CHECK(text(pending.recorded.state) == "pending");
  CHECK_FALSE(pending.recorded.granted);
  CHECK(pending.released.values.empty());
  CHECK(pending.planned.approvals_required == 2);
  CHECK(waiting.balance() == "0.5/0");
  // What would be refused now is refused at once.
  CHECK(text(release(waiting.engine, request("count", "2.6")).recorded.state) == "refused");
  const Answer plan = waiting.engine.plan(request("count", "1"), {});
  CHECK(plan.recorded.granted);
  CHECK(text(plan.recorded.state) == "pending");
  CHECK(text(waiting.engine.plan(request("count", "0.25"), {}).recorded.state) == "granted");
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: the reason is recorded with it and told where it is shown", "[engine][approvals]") {
  WaitingClinic waiting;
  const std::string id = release(waiting.engine, request("count", "1")).recorded.decision_id;
  const Answer first = waiting.engine.approve(id, "carol", "agreed with the board");
  CHECK(first.recorded.approvals.at(0).why == "agreed with the board");
  const Answer second = waiting.engine.approve(id, "dave");
  REQUIRE(second.recorded.approvals.size() == 2);
  CHECK(second.recorded.approvals[0].why == "agreed with the board");
  CHECK(second.recorded.approvals[1].why.empty());
  std::vector<std::string> reasons;
  waiting.engine.history("", 0, [&](const Answer& answer) {
    if (answer.recorded.state == RequestState::approved) reasons.push_back(answer.recorded.why);
  });
  CHECK(reasons == std::vector<std::string>{"agreed with the board", ""});
  const std::string other = release(waiting.engine, request("count", "1")).recorded.decision_id;
  CHECK_THROWS_AS(waiting.engine.approve(other, "carol", "  "), InvalidParameter);
  CHECK_THROWS_AS(waiting.engine.approve(other, "carol", "line\nfeed"), InvalidParameter);
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: the second of two distinct approvers reserves, and the asker commits either id",
          "[engine][approvals]") {
  for (const bool by_root : {true, false}) {
    WaitingClinic waiting;
    const Answer pending = release(waiting.engine, request("mean:cost", "1", "k"));
    const Answer first = waiting.engine.approve(pending.recorded.decision_id, "carol");
    CHECK(text(first.recorded.state) == "pending");
    REQUIRE(first.recorded.approvals.size() == 1);
    CHECK(first.recorded.approvals[0].by == "carol");
    // Once more by the same says the same.
    CHECK(waiting.engine.approve(pending.recorded.decision_id, "carol").recorded.approvals ==
          first.recorded.approvals);
    CHECK(text(waiting.commit(pending.recorded.decision_id).recorded.state) == "pending");
    const Answer second = waiting.engine.approve(pending.recorded.decision_id, "dave");
    CHECK(text(second.recorded.state) == "reserved");
    CHECK(second.recorded.parent == pending.recorded.decision_id);
    CHECK(second.recorded.approvals.size() == 2);
    CHECK(waiting.balance() == "0/1");
    const Answer asked_again = release(waiting.engine, request("mean:cost", "1", "k"));
    CHECK(asked_again.recorded.replayed);
    CHECK(text(asked_again.recorded.state) == "reserved");
    CHECK(asked_again.recorded.decision_id == second.recorded.decision_id);
    const Answer granted =
        waiting.commit(by_root ? pending.recorded.decision_id : second.recorded.decision_id);
    CHECK(granted.recorded.granted);
    CHECK(waiting.balance() == "1/0");
    const Answer replayed = release(waiting.engine, request("mean:cost", "1", "k"));
    CHECK(replayed.recorded.granted);
    CHECK(replayed.recorded.replayed);
    CHECK(replayed.released.values == granted.released.values);
    CHECK(waiting.engine.show(pending.recorded.decision_id, {}).released.values == granted.released.values);
    CHECK(waiting.audit().empty());
  }
}

TEST_CASE("approval: nobody else may give one, and nobody to a request of their own",
          "[engine][approvals][negative]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1"));
  for (const char* who : {"alice", "bob", "eve", "nobody"}) {
    CAPTURE(who);
    CHECK_THROWS_AS(waiting.engine.approve(pending.recorded.decision_id, who), engine::NotPermitted);
    CHECK_THROWS_AS(waiting.engine.reject(pending.recorded.decision_id, who, ""), engine::NotPermitted);
  }
  // alice is an approver of others.
  engine::Request of_bob = request("count", "1");
  of_bob.principal = "bob";
  const Answer other = release(waiting.engine, of_bob);
  CHECK(waiting.engine.approve(other.recorded.decision_id, "alice").recorded.approvals.size() == 1);
  CHECK(waiting.engine.show(pending.recorded.decision_id, {}).recorded.approvals.empty());
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: one rejection ends it, with its reason", "[engine][approvals]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1", "k"));
  (void)waiting.engine.approve(pending.recorded.decision_id, "carol");
  CHECK_THROWS_AS(waiting.engine.reject(pending.recorded.decision_id, "carol", ""), InvalidParameter);
  const Answer rejected = waiting.engine.reject(pending.recorded.decision_id, "dave", "too fine");
  CHECK(text(rejected.recorded.state) == "rejected");
  CHECK(rejected.recorded.why == "too fine");
  CHECK(text(release(waiting.engine, request("count", "1", "k")).recorded.state) == "rejected");
  CHECK(waiting.balance() == "0/0");
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: the values of a request that waits are kept nowhere and given to its commit",
          "[engine][approvals]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, supplied("7.123456789", "1"));
  const Answer without = release(waiting.engine, request("value:score", "1"));
  CHECK(text(without.recorded.state) == "pending");
  // What is no number is undefined, and waits like any other value.
  CHECK(text(release(waiting.engine, supplied("seven", "1")).recorded.state) == "pending");
  (void)waiting.engine.approve(pending.recorded.decision_id, "carol");
  (void)waiting.engine.approve(pending.recorded.decision_id, "dave");
  CHECK_THROWS_AS(waiting.commit(pending.recorded.decision_id), InvalidParameter);
  CHECK(waiting.commit(pending.recorded.decision_id, "7.123456789").recorded.granted);
  for (const char* suffix : {"", "-wal"}) {
    const std::string bytes = file_text(waiting.clinic.ledger() + suffix);
    CHECK(bytes.size() > 1000);
    CHECK(bytes.find("7.123456789") == std::string::npos);
  }
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: several in one batch wait each", "[engine][approvals]") {
  WaitingClinic waiting;
  const std::vector<engine::Request> requests = {request("count", "1", "a"), request("count", "0.25"),
                                                 request("count", "1", "a"), request("units", "5")};
  const auto answers = release_many(waiting.engine, requests);
  CHECK(text(answers[0].recorded.state) == "pending");
  CHECK(text(answers[1].recorded.state) == "granted");
  CHECK(answers[2].recorded.replayed);
  CHECK(answers[2].recorded.decision_id == answers[0].recorded.decision_id);
  CHECK(text(answers[3].recorded.state) == "refused");
  std::vector<std::string> waits;
  waiting.engine.pending("clinic",
                         [&](const Answer& answer) { waits.push_back(answer.recorded.decision_id); });
  CHECK(waits == std::vector{answers[0].recorded.decision_id});
  CHECK(waiting.audit().empty());
}

TEST_CASE("approval: eight threads that approve as two reserve once", "[engine][approvals][concurrency]") {
  WaitingClinic waiting;
  const Answer pending = release(waiting.engine, request("count", "1"));
  in_threads(8, [&](int i) {
    (void)waiting.engine.approve(pending.recorded.decision_id, i % 2 == 0 ? "carol" : "dave");
  });
  CHECK(text(waiting.engine.show(pending.recorded.decision_id, {}).recorded.state) == "reserved");
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
    return waiting.reserve("count", "1", ReservationKind::reserved, "k").recorded.decision_id;
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
         REQUIRE(waiting.commit(id).recorded.granted);
         return id;
       }},
      {"refused",
       [pending](WaitingClinic& waiting) {
         const std::string id = pending(waiting);
         for (int i = 0; i < 5; ++i)
           REQUIRE(release(waiting.engine, request("count", "0.45")).recorded.granted);
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
      {"reserve",
       [](WaitingClinic& waiting, const std::string&) {
         return waiting.reserve("count", "1", ReservationKind::reserved, "k");
       }},
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
      CHECK(text(answer.recorded.state) == expected);
      const Answer shown = waiting.engine.show(id, {});
      CHECK(text(shown.recorded.state) == expected);
      CHECK(answer.recorded.granted == (expected == "granted"));
      // Who may approve it is told what became of it, and no value.
      const std::string act = verb.name;
      const bool by_approver = act == "cancel by an approver" || act == "approve" || act == "reject";
      CHECK(answer.released.values.size() == (expected == "granted" && !by_approver ? 1U : 0U));
      const std::string other = verb.name == std::string("write something else") ? ".000001" : "";
      const std::string spent = expected == "refused"                              ? "2.25"
                                : expected == "granted" || expected == "forfeited" ? "1"
                                                                                   : "0";
      const std::string of_other = spent == "2.25" ? "2.250001" : spent + (other.empty() ? "" : other);
      CHECK(waiting.balance() == (other.empty() ? spent : of_other) + (expected == "reserved" ? "/1" : "/0"));
      // Again changes nothing more.
      const std::string balance = waiting.balance();
      if (other.empty() && verb.name != std::string("approve")) {
        CHECK(text(verb.act(waiting, id).recorded.state) == expected);
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
      CHECK(text(waiting.engine.issue_token(id, "alice").recorded.state) == stands);
    }
  }
  WaitingClinic waiting;
  const Answer pending = waiting.reserve("value:score", "1", ReservationKind::reserved_against_token);
  const auto state = [&] {
    return text(waiting.engine.issue_token(pending.recorded.decision_id, "alice").recorded.state);
  };
  CHECK(state() == "pending");
  CHECK_THROWS_AS(waiting.engine.issue_token(pending.recorded.decision_id, "carol"), engine::NotPermitted);
  approved(waiting, pending.recorded.decision_id);
  CHECK(state() == "reserved");
  CHECK(waiting.commit(pending.recorded.decision_id, "3").recorded.granted);
  CHECK(state() == "granted");
  const Answer second = waiting.reserve("value:score", "0.25", ReservationKind::reserved_against_token);
  (void)waiting.engine.cancel(second.recorded.decision_id, "alice");
  const Answer late = waiting.engine.issue_token(second.recorded.decision_id, "alice");
  CHECK(text(late.recorded.state) == "cancelled");
  CHECK(late.recorded.token.empty());
  CHECK(waiting.audit().empty());
}
