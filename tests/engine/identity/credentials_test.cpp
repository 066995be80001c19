// Credentials: tokens as texts, whom a uid or a token is of, who may be given one, and what the audit says.
#include "epsilog/engine/credentials.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/verified_backup.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "token_text.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// A clinic with principals whose clock stands until a test moves it, and its ledger open for credentials.
struct Credentials {
  [[nodiscard]] ledger::Ledger open() const {
    return ledger::Ledger::open(waiting.clinic.ledger(), waiting.clock.options().ledger_options());
  }
  [[nodiscard]] CredentialBook book() const {
    ledger::Snapshot view = ledger.snapshot();
    return CredentialBook::of(view);
  }
  [[nodiscard]] std::string now(std::int64_t seconds = 0) const {
    return ledger::time_text(ledger::parse_time(ledger.snapshot().now()) + seconds * 1000);
  }
  [[nodiscard]] NewCredential of(const std::string& principal, const std::string& id = "") const {
    return {.principal = principal, .id = id, .by = "cleo", .why = "the board"};
  }
  /// Why it is refused; nothing is recorded then.
  template <class Fault>
  [[nodiscard]] std::string refused(const std::function<void()>& act) const {
    const std::int64_t before = ledger.snapshot().credential_event_count();
    std::string why = "not refused";
    try {
      act();
    } catch (const Fault& fault) {
      why = fault.what();
    }
    CHECK(ledger.snapshot().credential_event_count() == before);
    return why;
  }
  [[nodiscard]] std::string refused_wish(const NewCredential& wanted, std::uint32_t uid = 7) {
    return refused<Error>([&] { static_cast<void>(engine::add_uid(ledger, wanted, uid)); });
  }

  WaitingClinic waiting;
  ledger::Ledger ledger = open();
};

bool says(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text << "\ndoes not say: " << part);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("token: every character counts, and none may be lost, added or mistyped",
          "[identity][token][exact]") {
  engine::TokenSecret secret{};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<unsigned char>(37 * i + 11);
  const std::string token = engine::token_text("ann-1", secret);
  CHECK(token.size() == std::string("eps_ann-1_").size() + 52 + 6);
  CHECK(engine::credential_in(token) == "ann-1");
  CHECK(engine::is_token_text(token));
  std::size_t taken = 0;
  for (std::size_t at = 0; at < token.size(); ++at) {
    CAPTURE(at);
    CHECK_FALSE(engine::is_token_text(token.substr(0, at)));
    CHECK_FALSE(engine::is_token_text(token.substr(at + 1)));
    CHECK_FALSE(engine::is_token_text(token.substr(0, at) + token.substr(at + 1)));
    for (const char c : std::string("0z-_A \n\xff")) {
      std::string other = token;
      if (other[at] == c) continue;
      other[at] = c;
      taken += engine::is_token_text(other) ? 1U : 0U;
    }
  }
  CHECK(taken == 0);  // of 2^30 such texts one is taken for a token
  CHECK_FALSE(engine::is_token_text(token + "0"));
  CHECK_FALSE(engine::is_token_text(token + "\n"));
  // No bit of the secret is without a place in the text.
  std::set<std::string> texts{token};
  for (std::size_t bit = 0; bit < 8 * secret.size(); ++bit) {
    engine::TokenSecret other = secret;
    other[bit / 8] = static_cast<unsigned char>(other[bit / 8] ^ (1U << (bit % 8)));
    texts.insert(engine::token_text("ann-1", other));
  }
  CHECK(texts.size() == 257);
  for (const char* id : {"", "-a", "a_b", "a b", "ä"}) CHECK_FALSE(engine::is_credential_id(id));
  CHECK(engine::is_credential_id(std::string(64, 'a')));
  CHECK_FALSE(engine::is_credential_id(std::string(65, 'a')));
}

TEST_CASE("credentials: a uid or a token is somebody's until it ends or is revoked, and never again",
          "[identity][credentials]") {
  Credentials kept;
  CHECK(kept.ledger.snapshot().credential_event_count() == 0);
  NewCredential of_alice = kept.of("alice", "t1");
  of_alice.until = kept.now(60);
  const engine::IssuedToken token = engine::new_token(kept.ledger, of_alice);
  const engine::IssuedToken other = engine::new_token(kept.ledger, kept.of("carol"));
  CHECK(other.credential.id.size() == 10);
  const engine::Credential uid = engine::add_uid(kept.ledger, kept.of("bob"), 1000);
  CHECK(kept.ledger.snapshot().credential_event_count() == 3);
  const std::string& text = token.token.text();
  CHECK(text.starts_with("eps_t1_"));
  CHECK(token.credential.value == ledger::sha256_hex(text));

  const CredentialBook book = kept.book();
  const std::string now = kept.now();
  CHECK(book.by_token(text, now) == CredentialOwner{"alice", "t1"});
  CHECK(book.by_token(text, kept.now(59)) == CredentialOwner{"alice", "t1"});
  CHECK_FALSE(book.by_token(text, kept.now(60)));  // it ends at that moment
  CHECK(book.by_token(other.token.text(), kept.now(86'400)) == CredentialOwner{"carol", other.credential.id});
  CHECK(book.by_uid(1000, now) == CredentialOwner{"bob", uid.id});
  for (const std::uint32_t nobody : {0U, 1001U, 65534U, 4294967295U}) CHECK_FALSE(book.by_uid(nobody, now));
  // A token of that id which was made for another ledger, and one without an id here.
  engine::TokenSecret secret{};
  CHECK_FALSE(book.by_token(engine::token_text("t1", secret), now));
  CHECK_FALSE(book.by_token(engine::token_text(uid.id, secret), now));
  CHECK_FALSE(book.by_token(engine::token_text("t2", secret), now));
  CHECK_FALSE(book.by_token("", now));

  const engine::Credential revoked =
      engine::revoke_credential(kept.ledger, other.credential.id, "dave", "lost");
  CHECK(revoked.revoked_by == "dave");
  static_cast<void>(engine::revoke_credential(kept.ledger, uid.id, "dave", "left"));
  CHECK(book.by_token(other.token.text(), now));  // whoever holds the old book still says so
  CHECK_FALSE(kept.book().by_token(other.token.text(), now));
  CHECK_FALSE(kept.book().by_uid(1000, now));
  // The uid may become somebody else, by another credential.
  const engine::Credential again = engine::add_uid(kept.ledger, kept.of("dave"), 1000);
  CHECK(kept.book().by_uid(1000, now) == CredentialOwner{"dave", again.id});
  CHECK(kept.book().find("t1")->principal == "alice");
  const std::vector<engine::Credential> all = kept.book().list();
  REQUIRE(all.size() == 4);
  CHECK(state_of(all[0], now) == CredentialState::valid);
  CHECK(state_of(all[0], kept.now(60)) == CredentialState::expired);
  CHECK(state_of(all[1], now) == CredentialState::revoked);
  CHECK(all[1] == revoked);
  CHECK(all[3] == again);
  // One that ended may be revoked, and its uid be given to somebody else before.
  NewCredential brief = kept.of("bob", "brief");
  brief.until = kept.now(60);
  static_cast<void>(engine::add_uid(kept.ledger, brief, 1001));
  kept.waiting.clock.pass_seconds(61);
  CHECK(kept.refused_wish(kept.of("eve", "t1")) != "not refused");
  static_cast<void>(engine::add_uid(kept.ledger, kept.of("eve"), 1001));
  CHECK(kept.book().by_uid(1001, kept.now())->principal == "eve");
  static_cast<void>(engine::revoke_credential(kept.ledger, "brief", "dave", "tidy"));
  CHECK(kept.book().by_uid(1001, kept.now())->principal == "eve");
  CHECK(kept.waiting.audit().empty());
  // No byte of a token is in the file, but for its id.
  for (const char* suffix : {"", "-wal"}) {
    std::ifstream file(kept.waiting.clinic.ledger() + suffix, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CHECK(bytes.find(text.substr(7, 12)) == std::string::npos);
  }
}

TEST_CASE("credentials: what does not belong is refused, and nothing is recorded",
          "[identity][credentials][negative]") {
  Credentials kept;
  static_cast<void>(engine::add_uid(kept.ledger, kept.of("bob", "u1"), 1000));
  CHECK(says(kept.refused_wish(kept.of("alicia")),
             "principal 'alicia' is not declared in the active policy. Did you mean 'alice'?"));
  CHECK(says(kept.refused_wish(kept.of("alice", "u1")), "no id is used again"));
  CHECK(says(kept.refused_wish(kept.of("alice"), 1000), "1000 is 'bob' by credential u1"));
  for (const std::uint32_t nobody : {65534U, 4294967295U}) {
    CHECK(says(kept.refused_wish(kept.of("alice"), nobody), "not known"));
  }
  for (const char* id : {"a_b", "-", "a b", "\xff"})
    CHECK(says(kept.refused_wish(kept.of("alice", id)), "id: use"));
  NewCredential wrong = kept.of("alice");
  wrong.until = kept.now();
  CHECK(says(kept.refused_wish(wrong), "has passed"));
  wrong.until = "tomorrow";
  CHECK(says(kept.refused_wish(wrong), "is no ledger time"));
  wrong = kept.of("alice");
  wrong.by = "";
  CHECK(says(kept.refused_wish(wrong), "by: who says so"));
  wrong = kept.of("alice");
  wrong.why = "";
  CHECK(says(kept.refused_wish(wrong), "why: a reason is needed"));
  const auto revoking = [&](const std::string& id, const std::string& why = "left") {
    return kept.refused<Error>(
        [&] { static_cast<void>(engine::revoke_credential(kept.ledger, id, "cleo", why)); });
  };
  CHECK(says(revoking("u2"), "no credential 'u2' in this ledger. Did you mean 'u1'?"));
  CHECK(says(revoking("u1", ""), "why: a reason is needed"));
  static_cast<void>(engine::revoke_credential(kept.ledger, "u1", "cleo", "left"));
  CHECK(says(revoking("u1"), "credential u1 was revoked at "));
  CHECK(says(kept.refused_wish(kept.of("alice", "u1")), "no id is used again"));
  // The ledger itself keeps to it, whoever asks.
  using ledger::CredentialEvent;
  const CredentialEvent sound{
      .credential = "x", .type = "uid", .principal = "a", .value = "1", .at = {}, .by = "b"};
  const auto with = [&sound](const std::function<void(CredentialEvent&)>& change) {
    CredentialEvent event = sound;
    change(event);
    return event;
  };
  const std::vector<CredentialEvent> impossible = {
      with([](auto& e) { e.credential = "u1"; }),
      with([](auto& e) { e.credential = ""; }),
      with([](auto& e) { e.principal = ""; }),
      with([](auto& e) { e.by = ""; }),
      with([](auto& e) { e.type = "cert"; }),
      with([](auto& e) { e.type = "token"; }),
      with([](auto& e) { e.value = "4294967296"; }),
      with([](auto& e) { e.value = ""; }),
      with([](auto& e) { e.until = "2001-01-01T00:00:00.000Z"; }),
      with([](auto& e) { e.revoked = true; }),
      with([](auto& e) { e.revoked = true, e.value = "", e.credential = "u1", e.principal = "bob"; })};
  for (const CredentialEvent& event : impossible) {
    CAPTURE(event.credential, event.type, event.value, event.revoked);
    ledger::Transaction transaction = kept.ledger.begin();
    CHECK_THROWS_AS(transaction.record_credential(event), InvalidParameter);
    CHECK_FALSE(transaction.is_open());
  }
  CHECK(kept.ledger.snapshot().credential_event_count() == 2);
  // Without principals in the policy a credential would be nobody's.
  const Clinic open_to_all;
  ledger::Ledger ledger = ledger::Ledger::open(open_to_all.ledger(), {});
  CHECK_THROWS_AS(engine::new_token(ledger, kept.of("alice")), InvalidParameter);
}

TEST_CASE("audit verify: a credential event that cannot be is named, though the log was made anew",
          "[identity][credentials][negative]") {
  const auto faults_after = [](const std::string& sql) {
    Credentials kept;
    static_cast<void>(engine::add_uid(kept.ledger, kept.of("bob", "u1"), 1000));
    static_cast<void>(engine::revoke_credential(kept.ledger, "u1", "cleo", "left"));
    static_cast<void>(engine::add_uid(kept.ledger, kept.of("carol", "u2"), 1001));
    const std::string path = kept.waiting.clinic.folder.path("forged.ledger");
    static_cast<void>(engine::backup(kept.waiting.clinic.ledger(), path));
    tamper_with_log(path, sql);
    std::string faults;
    for (const auto& fault : engine::audit_verify(path).faults) {
      faults += fault.record + " " + fault.code + ": " + fault.message + "\n";
    }
    return faults;
  };
  const std::string set = "UPDATE credential_event SET ";
  CHECK(says(faults_after(set + "credential = 'u1' WHERE seq = 3"),
             "credential event 3 credential_unfounded: uses the id of another credential again"));
  CHECK(says(faults_after(set + "principal = 'eve' WHERE seq = 1"),
             "credential event 2 credential_unfounded: revokes a credential that is not one of this ledger"));
  CHECK(says(faults_after(set + "value = '65536000000' WHERE seq = 3"), "is neither a uid nor the SHA-256"));
  CHECK(says(faults_after(set + "until = 1 WHERE seq = 3"), "ended before it was added"));
}

TEST_CASE("audit verify: approvals by a claim are listed from the first credential on",
          "[identity][credentials]") {
  Credentials kept;
  engine::Engine& engine = kept.waiting.engine;
  const auto pending = [&] { return release(engine, request("count", "0.6")).recorded.decision_id; };
  static_cast<void>(engine.approve(pending(), "carol"));
  CHECK_FALSE(engine::audit_verify(kept.waiting.clinic.ledger()).claimed_approvals);
  kept.waiting.clock.pass_seconds(1);
  static_cast<void>(engine::add_uid(kept.ledger, kept.of("carol"), 1000));
  CHECK(engine::audit_verify(kept.waiting.clinic.ledger()).claimed_approvals == 0);
  static_cast<void>(engine.approve(pending(), {"carol", "unix:1000"}));
  CHECK(engine::audit_verify(kept.waiting.clinic.ledger()).claimed_approvals == 0);
  for (std::size_t i = 0; i <= engine::kClaimedApprovalsListed; ++i) {
    static_cast<void>(engine.approve(pending(), "dave"));
  }
  const engine::AuditReport report = engine::audit_verify(kept.waiting.clinic.ledger());
  CHECK(report.ok);
  CHECK(report.claimed_approvals == engine::kClaimedApprovalsListed + 1);
  REQUIRE(report.claimed.size() == engine::kClaimedApprovalsListed);
  CHECK(report.claimed[0].principal == "dave");
}

TEST_CASE("audit verify: an approval by a credential of which the ledger knows nothing is listed or a fault",
          "[identity][credentials]") {
  Credentials kept;
  engine::Engine& engine = kept.waiting.engine;
  const std::string path = kept.waiting.clinic.ledger();
  const auto pending = [&] { return release(engine, request("count", "0.6")).recorded.decision_id; };
  // Before the first credential nothing could have vouched: they are listed.
  static_cast<void>(engine.approve(pending(), {"carol", "token:c9"}));
  static_cast<void>(engine.approve(pending(), {"carol", "unix:1000"}));
  const engine::AuditReport before = engine::audit_verify(path);
  CHECK(before.ok);
  CHECK(before.claimed_approvals == 2);
  REQUIRE(before.claimed.size() == 2);
  CHECK(before.claimed[0].principal == "carol");
  kept.waiting.clock.pass_seconds(1);
  static_cast<void>(engine::add_uid(kept.ledger, kept.of("carol"), 1000));
  kept.waiting.clock.pass_seconds(1);
  static_cast<void>(engine.approve(pending(), {"carol", "unix:1000"}));
  CHECK(engine::audit_verify(path).ok);
  CHECK(engine::audit_verify(path).claimed_approvals == 2);
  // From then on one that names none is a fault.
  static_cast<void>(engine.approve(pending(), {"carol", "token:c9"}));
  const engine::AuditReport after = engine::audit_verify(path);
  CHECK_FALSE(after.ok);
  REQUIRE(after.faults.size() >= 1);
  CHECK(after.faults[0].code == "via_unfounded");
  CHECK(after.claimed_approvals == 2);
}
