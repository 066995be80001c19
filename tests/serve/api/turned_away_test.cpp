// Who is not let in, by whichever way, is counted by uid, and in the end told to come later: no other is.
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

constexpr std::size_t kBurst = 4;

/// As many as the burst, and never more: time brings none.
serve::AdmissionLimits burst() {
  serve::AdmissionLimits limits;
  limits.burst = kBurst;
  limits.per_second = 0;
  return limits;
}

struct NotLetIn {
  const char* what;
  std::uint32_t uid;
  const char* method;
  const char* target;
  std::vector<serve::Header> headers;
  int status;
};

const std::vector<NotLetIn>& ways() {
  static const std::vector<NotLetIn> all = {
      {"a uid that nothing maps", kNobody, "GET", "/v1/me", {}, 401},
      {"no token", kAlice, "GET", "/v1/me", {{"authorization", "Basic x"}}, 401},
      {"a token of nobody", kAlice, "GET", "/v1/budgets", {{"authorization", "Bearer eps_x"}}, 401},
      {"a path that there is not", kAlice, "GET", "/v2", {}, 404},
      {"a method that there is not", kAlice, "DELETE", "/v1/me", {}, 405},
      {"another host", kAlice, "GET", "/v1/me", {{"host", "elsewhere"}}, 421},
      {"a page of a browser", kAlice, "GET", "/v1/me", {{"origin", "http://localhost"}}, 403},
      {"a parameter that there is not", kAlice, "GET", "/v1/me?x=1", {}, 400}};
  return all;
}

engine::IssuedToken new_token(ServedClinic& clinic) {
  ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
  return engine::new_token(ledger, {.principal = "adam", .by = "carol", .why = "a test"});
}

}  // namespace

TEST_CASE(
    "who is not let in so often as a principal may ask is told to come later, by every way, and no other is",
    "[api][turned-away]") {
  for (const NotLetIn& way : ways()) {
    CAPTURE(way.what);
    ServedClinic clinic(served_policy(), burst());
    const std::string token = new_token(clinic).token.text();
    const auto ask = [&](bool curator_socket = false) {
      return clinic.ask(way.uid, way.method, way.target, "",
                        {.headers = way.headers, .curator_socket = curator_socket});
    };
    for (std::size_t i = 0; i < kBurst; ++i) CHECK(ask().status == way.status);
    for (int i = 0; i < 3; ++i) {
      const Reply later = ask();
      CHECK(later.status == 429);
      CHECK(later.header("retry-after") == "1");
      CHECK(later.response.pause.count() > 0);
    }
    // The same user with a token that is valid, another user, and the curator socket.
    const Sent valid{.headers = {{"authorization", "Bearer " + token}}};
    CHECK(clinic.ask(way.uid, "GET", "/v1/me", "", valid).status == 200);
    CHECK(clinic.ask(kBob, "GET", "/v1/me").status == 200);
    CHECK(ask(true).status == way.status);
    CHECK(ask(true).response.pause.count() == 0);
  }
}

TEST_CASE("what was revoked lets nobody in, also where no look at the ledger is spent on who is unknown",
          "[api][turned-away]") {
  ServedClinic clinic(served_policy(), burst());
  const engine::IssuedToken token = new_token(clinic);
  const auto ask = [&](const std::string& text) {
    return clinic.ask(kNobody, "GET", "/v1/me", "", {.headers = {{"authorization", "Bearer " + text}}})
        .status;
  };
  CHECK(ask(token.token.text()) == 200);
  for (std::size_t i = 0; i < kBurst; ++i) CHECK(ask("eps_x") == 401);
  CHECK(ask("eps_x") == 429);
  CHECK(ask(token.token.text()) == 200);
  {
    ledger::Ledger beside = ledger::Ledger::open(clinic.ledger(), {});
    static_cast<void>(engine::revoke_credential(beside, token.credential.id, "carol", "a test"));
  }
  for (int i = 0; i < 3; ++i) CHECK(ask(token.token.text()) == 429);
  // And what is new is known as soon as anybody has it looked for.
  const std::string next = new_token(clinic).token.text();
  CHECK(ask(next) == 429);
  CHECK(clinic.ask(kBob, "GET", "/v1/me").status == 200);
  CHECK(ask(next) == 200);
}
