// The data token of a reservation, by every path that tells or takes one.
//
// Path                         | a token          | its SHA-256 | in a ledger of lines
// token, again, show, retry,   | 64 digits,       | yes         | "", and the SHA-256
//   pending, commit            |   the same       |             |
// history, show of its own     | ""               | yes         | the same
// not known to be durable      | ""               | no          | -
// show, commit, cancel, token  | taken by its digits, and by the id of the decision that issued it
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// A reservation against a token that was issued.
struct Issued {
  WaitingClinic waiting;
  std::string reserved =
      waiting.reserve("value:score", "0.25", ReservationKind::reserved_against_token, "key")
          .recorded.decision_id;
  std::string token = waiting.engine.issue_token(reserved, "alice").recorded.token;

  [[nodiscard]] engine::Request asked() const {
    engine::Request asked = request("value:score", "0.25", "key");
    asked.reservation = ReservationKind::reserved_against_token;
    return asked;
  }
  /// The decision that issued it.
  [[nodiscard]] std::string decision() const {
    std::string id;
    waiting.engine.history("", 0, [&](const Answer& answer) {
      if (answer.recorded.state == engine::RequestState::data_accessed) id = answer.recorded.decision_id;
    });
    return id;
  }
};

/// By every path that tells it; what they tell of its hash is `hashes`.
std::set<std::string> told(Engine& engine, const Issued& issued, std::set<std::string>& hashes) {
  std::set<std::string> texts;
  const auto tells = [&](const Answer& answer) {
    texts.insert(answer.recorded.token);
    hashes.insert(answer.recorded.token_sha256);
  };
  tells(engine.show(issued.reserved, {}));
  engine.pending("", tells);
  tells(engine.reserve(issued.asked(), {}));
  return texts;
}

std::string hash_of(const std::string& token) {
  std::string bytes;
  for (std::size_t i = 0; i < token.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(token.substr(i, 2), nullptr, 16)));
  }
  return ledger::sha256_hex(bytes);
}

}  // namespace

TEST_CASE("data token: every path that tells it tells the same 64 digits", "[engine][release][token]") {
  Issued issued;
  Engine& engine = issued.waiting.engine;
  CHECK(issued.token.size() == 64);
  CHECK(issued.token.find_first_not_of("0123456789abcdef") == std::string::npos);
  std::set<std::string> hashes;
  std::set<std::string> texts = told(engine, issued, hashes);
  texts.insert(engine.issue_token(issued.reserved, "alice").recorded.token);
  texts.insert(issued.waiting.commit(issued.reserved, "3").recorded.token);
  texts.insert(engine.show(issued.reserved, {}).recorded.token);
  texts.insert(engine.issue_token(issued.reserved, "alice").recorded.token);
  CHECK(texts == std::set{issued.token});
  CHECK(hashes == std::set{hash_of(issued.token)});
  CHECK(issued.waiting.audit() == "");
  const Issued another;
  CHECK(another.token != issued.token);
}

TEST_CASE("data token: a history has its hash only", "[engine][release][token][negative]") {
  const Issued issued;
  int with_hash = 0;
  issued.waiting.engine.history("", 0, [&](const Answer& answer) {
    CHECK(answer.recorded.token.empty());
    with_hash += answer.recorded.token_sha256 == hash_of(issued.token) ? 1 : 0;
    for (const std::string& text :
         {answer.recorded.decision_id, answer.recorded.parent, answer.recorded.why, answer.asked.key}) {
      CHECK(text.find(issued.token) == std::string::npos);
    }
  });
  CHECK(with_hash == 1);
  CHECK(issued.waiting.engine.show(issued.decision(), {}).recorded.token.empty());
}

TEST_CASE("data token: who shows one is answered as who names the decision that issued it",
          "[engine][release][token]") {
  Issued issued;
  Engine& engine = issued.waiting.engine;
  const Answer shown = engine.show(issued.token, {});
  CHECK(shown.recorded.state == engine::RequestState::data_accessed);
  CHECK(shown.recorded.decision_id == issued.decision());
  CHECK(shown.recorded.parent == issued.reserved);
  CHECK(shown.recorded.durable == true);
  CHECK(engine.issue_token(issued.token, "alice").recorded.token == issued.token);
  CHECK(issued.waiting.commit(issued.token, "3").recorded.granted);
  CHECK_THROWS_AS(engine.cancel(issued.token, "bob"), engine::NotPermitted);
  std::string other = issued.token;
  other.back() = other.back() == '0' ? '1' : '0';
  CHECK_THROWS_AS(engine.show(other, {}), NotFound);
  CHECK_THROWS_AS(engine.cancel(other, "alice"), NotFound);
  CHECK_THROWS_AS(engine.show(hash_of(issued.token), {}), NotFound);
}

TEST_CASE("data token: a commit that reads the source hands out none", "[engine][release][token]") {
  WaitingClinic waiting;
  const std::string id = waiting.reserve("count", "0.1").recorded.decision_id;
  const Answer answer = waiting.commit(id);
  CHECK(answer.recorded.granted);
  CHECK(waiting.engine.show(answer.recorded.data_accessed_by, {}).recorded.state ==
        engine::RequestState::data_accessed);
  CHECK(answer.recorded.token.empty());
  CHECK(answer.recorded.token_sha256.empty());
}

TEST_CASE("data token: an issued one of which nothing is recorded is a fault",
          "[engine][release][token][negative]") {
  const Issued issued;
  tamper_with_log(issued.waiting.clinic.ledger(),
                  "UPDATE decision SET data_token = x'', data_token_sha256 = x''");
  CHECK(issued.waiting.audit().find(" token_unfounded: ") != std::string::npos);
}

TEST_CASE("data token: it is withheld while it is not known to be durable",
          "[engine][release][token][negative]") {
  const Issued issued;
  issued.waiting.clinic.folder.write("clinic.ledger.poisoned", "{\"reason\": \"committing\"}");
  Engine engine = Engine::open(issued.waiting.clinic.ledger(), issued.waiting.clock.options());
  std::set<std::string> hashes;
  CHECK(told(engine, issued, hashes) == std::set<std::string>{""});
  CHECK(engine.show(issued.token, {}).recorded.durable == false);
}

TEST_CASE("data token: a ledger of lines tells its hash and knows it", "[engine][release][token]") {
  const Issued issued;
  const std::string copy = issued.waiting.clinic.folder.path("copy.ledger");
  std::vector<std::string> lines;
  ledger::Ledger::open_read_only(issued.waiting.clinic.ledger())
      .snapshot()
      .each_line(0, [&](std::string_view line) { lines.emplace_back(line); });
  ledger::Ledger::import_lines(copy, [&, next = lines.begin()]() mutable -> std::optional<std::string> {
    if (next == lines.end()) return std::nullopt;
    return *next++;
  });
  Engine engine = Engine::open(copy, issued.waiting.clock.options());
  std::set<std::string> hashes;
  CHECK(told(engine, issued, hashes) == std::set<std::string>{""});
  CHECK(hashes == std::set{hash_of(issued.token)});
  CHECK(engine.show(issued.token, {}).recorded.parent == issued.reserved);
  CHECK_THROWS_AS(engine.issue_token(issued.reserved, "alice"), LedgerUnusable);
  CHECK(engine::audit_verify(copy).ok);
}
