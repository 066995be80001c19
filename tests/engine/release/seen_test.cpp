// An approval of what was seen: by a tag of the request as it stood, and of the policy that would decide.
#include "copied_ledger.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/conflict_errors.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;

namespace {

struct Seen {
  Seen() {
    const Answer asked = release(waiting.engine, request("count", "0.75", "k"));
    REQUIRE(text(asked.recorded.state) == "pending");
    id = asked.recorded.decision_id;
    tag = shown();
  }
  [[nodiscard]] std::string shown() const { return waiting.engine.show(id, {}).recorded.tag; }
  /// "changed", or the state that the request is in afterwards.
  std::string approve(const std::optional<std::string>& seen, const std::string& by = "carol") {
    const std::int64_t before = waiting.engine.newest_seq();
    try {
      return text(waiting.engine.approve(id, by, {}, seen).recorded.state);
    } catch (const engine::RequestChanged&) {
      CHECK(waiting.engine.newest_seq() == before);
      return "changed";
    }
  }
  void apply(const std::string& approvals, const std::string& budget = "epsilon: 3") {
    (void)waiting.engine.apply_policy(
        engine::PolicyUpload{.yaml = clinic_policy(budget, waiting_rules(approvals))}, "curator", "test");
  }
  WaitingClinic waiting;
  std::string id, tag;
};

}  // namespace

TEST_CASE("seen: who approves what stands as it was seen is counted", "[engine][approvals][seen]") {
  Seen seen;
  CHECK_FALSE(seen.tag.empty());
  CHECK(seen.tag.size() < 64);
  CHECK(seen.tag.find_first_not_of("0123456789.") == std::string::npos);
  seen.waiting.engine.pending("", [&](const Answer& answer) { CHECK(answer.recorded.tag == seen.tag); });
  CHECK(release(seen.waiting.engine, request("count", "0.75", "k")).recorded.tag == seen.tag);  // a replay
  // What is about something else changes nothing.
  REQUIRE(release(seen.waiting.engine, request("count", "0.125")).recorded.granted);
  CHECK(seen.shown() == seen.tag);

  CHECK(seen.approve(seen.tag) == "pending");
  const std::string after = seen.shown();
  CHECK(after != seen.tag);
  // Twice is once, whatever was seen.
  CHECK(seen.approve(seen.tag) == "pending");
  CHECK(seen.approve("x") == "pending");
  CHECK(seen.shown() == after);
  // Who saw it before that vote has not seen that it is the last one.
  CHECK(seen.approve(seen.tag, "dave") == "changed");
  CHECK(seen.approve(after, "dave") == "reserved");
  CHECK(seen.waiting.engine.show(seen.id, {}).recorded.approvals.size() == 2);
  CHECK(seen.waiting.audit().empty());
}

TEST_CASE("seen: another policy is another thing to approve", "[engine][approvals][seen][negative]") {
  Seen seen;
  seen.apply(kTwoApprovals, "epsilon: 2");
  CHECK(seen.approve(seen.tag) == "changed");
  const std::string now = seen.shown();
  CHECK(now != seen.tag);
  CHECK(seen.approve(now) == "pending");
  CHECK(seen.waiting.audit().empty());
}

TEST_CASE("seen: what is no tag of it approves nothing", "[engine][approvals][seen][negative]") {
  Seen seen;
  const Answer other = release(seen.waiting.engine, request("count", "0.75"));
  REQUIRE(text(other.recorded.state) == "pending");
  const std::string of_other = seen.waiting.engine.show(other.recorded.decision_id, {}).recorded.tag;
  for (const std::string& tag : {std::string(), std::string("x"), of_other, seen.tag + "0", seen.tag + " ",
                                 "0" + seen.tag, std::string(5000, '1')}) {
    CAPTURE(tag);
    CHECK(seen.approve(tag) == "changed");
  }
  CHECK(seen.shown() == seen.tag);
  CHECK_THROWS_AS(seen.waiting.engine.approve(seen.id, "eve", {}, seen.tag), engine::NotPermitted);
  CHECK_THROWS_AS(seen.waiting.engine.approve(seen.id, "eve", {}, "x"), engine::NotPermitted);
  CHECK(seen.approve(std::nullopt) == "pending");  // who says nothing of it is counted as ever
}

TEST_CASE("seen: what does not wait any more is told as it stands, by whatever tag",
          "[engine][approvals][seen]") {
  for (const char* end : {"rejected", "cancelled", "expired", "reserved", "granted", "refused"}) {
    for (const bool stale : {false, true}) {
      Seen seen;
      const std::string what = end;
      engine::Engine& engine = seen.waiting.engine;
      CAPTURE(what, stale);
      if (what == "rejected") (void)engine.reject(seen.id, "dave", "no");
      if (what == "cancelled") (void)engine.cancel(seen.id, "alice");
      if (what == "expired") seen.waiting.clock.pass_seconds(3 * 3600);
      if (what == "refused") {
        REQUIRE(seen.approve(seen.tag, "dave") == "pending");
        (void)release(engine, request("count", "0.5"));
        seen.apply(kTwoApprovals, "epsilon: 1");
        REQUIRE(seen.approve(seen.shown()) == "refused");
      }
      if (what == "reserved" || what == "granted") {
        REQUIRE(text(engine.approve(seen.id, "dave").recorded.state) == "pending");
        REQUIRE(text(engine.approve(seen.id, "carol").recorded.state) == "reserved");
      }
      if (what == "granted") (void)seen.waiting.commit(seen.id);
      CHECK(seen.approve(stale ? seen.tag : seen.shown()) == what);
      CHECK(seen.waiting.audit().empty());
    }
  }
}
