// What the audit says of the credential by which a decision came: was it its principal's then?
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/credentials.hpp"
#include "epsilog/engine/verified_backup.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::NewCredential;

namespace {

/// A ledger by whose credentials people ask, to be forged.
struct Vouched {
  Vouched() {
    pass(1);
    asked("alice", "unix:4711");  // before the ledger has any: a program that knows people by itself
    pass(1);
    add_uid("alice", "u1", 1000);
    add_uid("carol", "u2", 1001);
    add_uid("dave", "u3", 1002);
    NewCredential ends = of("alice", "t1");
    ends.until = ledger::time_text(ledger::parse_time(ledger.snapshot().now()) + 60'000);
    static_cast<void>(engine::new_token(ledger, ends));
    pass(1);
  }
  std::string asked(const std::string& who, const std::string& via, const std::string& epsilon = "0.01") {
    engine::Request asked = request("count", epsilon);
    asked.principal = who;
    asked.via = via;
    return release(waiting.engine, asked).recorded.decision_id;
  }
  [[nodiscard]] static NewCredential of(const std::string& principal, const std::string& id) {
    return {.principal = principal, .id = id, .by = "cleo", .why = "the board"};
  }
  void add_uid(const std::string& principal, const std::string& id, std::uint32_t uid) {
    static_cast<void>(engine::add_uid(ledger, of(principal, id), uid));
  }
  void revoke(const std::string& id) {
    static_cast<void>(engine::revoke_credential(ledger, id, "cleo", "left"));
  }
  void pass(std::int64_t seconds) { waiting.clock.pass_seconds(seconds); }
  [[nodiscard]] std::int64_t last() const { return ledger.snapshot().decision_count(); }  // its number
  [[nodiscard]] engine::AuditReport report() const { return engine::audit_verify(waiting.clinic.ledger()); }
  /// How many are by a credential that had ended, in a ledger that verifies.
  [[nodiscard]] std::int64_t ended() const {
    const engine::AuditReport found = report();
    CHECK(found.ok);
    return found.ended_credentials.value_or(-1);
  }
  /// Of a copy in which who owns the file did that, and made the log anew: "code: message\n" of each fault.
  [[nodiscard]] std::string forged(const std::string& sql) const {
    const TemporaryFolder folder(in_memory());
    const std::string path = folder.path("forged.ledger");
    static_cast<void>(engine::backup(waiting.clinic.ledger(), path));
    tamper_with_log(path, sql);
    std::string faults;
    for (const auto& fault : engine::audit_verify(path).faults)
      faults += fault.code + ": " + fault.message + "\n";
    return faults;
  }
  [[nodiscard]] std::string forged_via(const std::string& via, std::int64_t of) const {
    return forged("UPDATE decision SET via = '" + via + "' WHERE seq = " + std::to_string(of));
  }

  WaitingClinic waiting;
  ledger::Ledger ledger =
      ledger::Ledger::open(waiting.clinic.ledger(), waiting.clock.options().ledger_options());
};

std::string none_of_alice(const std::string& via) {
  return "via_unfounded: is in the name of 'alice' via " + via + ": the ledger had no such credential then\n";
}

}  // namespace

TEST_CASE("audit verify: a decision came by a credential that was its principal's then, or it is a fault",
          "[audit][identity][credentials][negative]") {
  Vouched vouched;
  CHECK(vouched.ended() == 0);
  vouched.asked("alice", "unix:1000");
  const std::int64_t early = vouched.last();
  vouched.pass(1);
  static_cast<void>(engine::new_token(vouched.ledger, Vouched::of("alice", "t2")));
  vouched.pass(1);
  vouched.asked("alice", "token:t2");
  const std::int64_t late = vouched.last();
  vouched.asked("alice", "token:t1", "3");
  const std::int64_t refused = vouched.last();
  vouched.asked("bob", "claimed");
  CHECK(vouched.ended() == 0);

  for (const char* none : {"token:t9", "unix:1003", "unix:01000", "unix:0", "token:u1", "unix:4711"}) {
    CHECK(vouched.forged_via(none, early) == none_of_alice(none));
  }
  CHECK(vouched.forged_via("token:t2", early) == none_of_alice("token:t2"));  // which was hers later
  for (const std::int64_t forged : {early, late, refused}) {
    CAPTURE(forged);
    CHECK(vouched.forged_via("token:t9", forged) == none_of_alice("token:t9"));
    CHECK(vouched.forged_via("unix:1001", forged) ==
          "via_unfounded: is in the name of 'alice' via unix:1001: that was a credential of 'carol' then, "
          "credential u2\n");
    CHECK(vouched.forged_via("token:t1", forged).empty());  // which was hers
  }
  CHECK(vouched.forged_via("unix:1003", 1).empty());  // before there was any
  // It is the credential that is altered.
  CHECK(vouched.forged("UPDATE credential_event SET principal = 'bob' WHERE credential = 't2'") ==
        "via_unfounded: is in the name of 'alice' via token:t2: that was a credential of 'bob' then, "
        "credential t2\n");
  CHECK(vouched.forged("UPDATE credential_event SET value = '1003' WHERE credential = 'u1'") ==
        none_of_alice("unix:1000"));
}

TEST_CASE("audit verify: without a credential nothing is known of who came how, and nothing is said",
          "[audit][identity][credentials]") {
  WaitingClinic waiting;
  engine::Request asked = request("count", "0.01");
  asked.via = "token:t1";
  static_cast<void>(release(waiting.engine, asked));
  const engine::AuditReport report = engine::audit_verify(waiting.clinic.ledger());
  CHECK(report.ok);
  CHECK_FALSE(report.ended_credentials);
}

TEST_CASE("audit verify: a decision by a credential that had ended is no fault, and is counted",
          "[audit][identity][credentials]") {
  Vouched vouched;
  vouched.asked("alice", "token:t1");
  vouched.pass(59);  // its end
  const std::string expired = vouched.asked("alice", "token:t1");
  vouched.revoke("u1");
  vouched.asked("alice", "unix:1000");  // within the millisecond: before it, for all that is known
  CHECK(vouched.ended() == 1);
  const std::string revoked_at = vouched.ledger.snapshot().now();
  vouched.pass(2);
  const std::string revoked = vouched.asked("alice", "unix:1000");
  const engine::AuditReport two = vouched.report();
  CHECK(two.ended_credentials == 2);
  REQUIRE(two.ended.size() == 2);
  CHECK(two.ended[0].decision_id == revoked);  // two seconds late, and the other one at once
  CHECK(two.ended[0].principal == "alice");
  CHECK(two.ended[0].via == "unix:1000");
  CHECK(two.ended[0].ended == revoked_at);
  CHECK(two.ended[0].at > revoked_at);
  CHECK(two.ended[1].decision_id == expired);
  CHECK(two.ended[1].ended == two.ended[1].at);
  // The uid is another's then, and hers again.
  vouched.pass(1);
  vouched.add_uid("bob", "u4", 1000);
  vouched.pass(1);
  vouched.asked("bob", "unix:1000");
  CHECK(vouched.ended() == 2);
  vouched.asked("alice", "unix:1000");
  CHECK(vouched.ended() == 3);
  vouched.pass(1);
  vouched.revoke("u4");
  vouched.add_uid("alice", "u5", 1000);
  vouched.pass(1);
  vouched.asked("alice", "unix:1000");
  CHECK(vouched.ended() == 3);
}

TEST_CASE("audit verify: of many decisions by ended credentials those that came longest after are named",
          "[audit][identity][credentials]") {
  Vouched vouched;
  vouched.revoke("u1");
  std::vector<std::string> ids;
  for (std::size_t i = 0; i <= engine::kEndedCredentialsListed; ++i) {
    vouched.pass(1);
    ids.push_back(vouched.asked("alice", "unix:1000"));
  }
  const engine::AuditReport report = vouched.report();
  CHECK(report.ok);
  CHECK(report.ended_credentials == engine::kEndedCredentialsListed + 1);
  REQUIRE(report.ended.size() == engine::kEndedCredentialsListed);
  for (std::size_t i = 0; i < report.ended.size(); ++i) {
    CHECK(report.ended[i].decision_id == ids.at(ids.size() - 1 - i));
  }
}

TEST_CASE("audit verify: what follows from a request says of who asked what the request says",
          "[audit][identity][credentials][negative]") {
  Vouched vouched;
  engine::Engine& engine = vouched.waiting.engine;
  const std::string decided = vouched.asked("alice", "token:t1", "0.6");
  vouched.asked("alice", "token:t1", "0.6");
  vouched.pass(60);
  // Decided, or ended by its deadline, when her token is no more: she asked before.
  static_cast<void>(engine.approve(decided, {"carol", "unix:1001"}));
  CHECK(engine.approve(decided, {"dave", "unix:1002"}).recorded.state == engine::RequestState::reserved);
  vouched.pass(3 * 3600);
  vouched.asked("alice", "unix:1000");
  CHECK(vouched.ended() == 0);
  constexpr const char* kReserved = "3";
  constexpr const char* kVoided = "8";
  for (const std::string outcome : {kReserved, kVoided}) {
    CAPTURE(outcome);
    const std::string faults =
        vouched.forged("UPDATE decision SET via = 'unix:1000' WHERE parent > 0 AND outcome = " + outcome);
    CHECK_THAT(faults, says("via_unfounded: follows from "));
    CHECK_THAT(faults, says(" via token:t1, and says via unix:1000\n"));
  }
  constexpr const char* kApproved = "5";
  CHECK_THAT(
      vouched.forged(std::string("UPDATE decision SET via = 'unix:1000' WHERE outcome = ") + kApproved),
      says("in the name of 'carol' via unix:1000: that was a credential of 'alice' then"));
}
