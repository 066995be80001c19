// Data tokens: what is drawn, what is kept of it where, and who is told.
//
// Token                     | row                      | line      | told                | found by its text
// issued                    | 32 bytes and SHA-256     | SHA-256   | the bytes           | yes
// issued, in doubt          | 32 bytes and SHA-256     | SHA-256   | the hash            | yes, not durable
// of a row made of a line   | SHA-256                  | SHA-256   | the hash            | yes
// of a commit by itself     | nothing                  | nothing   | nothing             | there is none
// changed in the row        | bytes of another hash    | SHA-256   | the row is damaged  | the row is damaged
#include "data_token.hpp"

#include "commit_mark.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fixture.hpp"
#include "poison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using ledger::Outcome;
using ledger::StoredDecision;

namespace {

/// A reservation against a token, which is issued if `draws`; else as of one whose commit reads the data.
StoredDecision issued(ledger::Ledger& ledger, bool draws = true) {
  auto transaction = ledger.begin();
  const std::string reserved = transaction.reserve(draft_of(Outcome::reserved), charge_of(kTenth));
  ledger::DecisionDraft draft = draft_of(Outcome::data_accessed, reserved);
  draft.issues_token = draws;
  transaction.record_without_movement(draft);
  return ledger.commit(std::move(transaction)).back();
}

std::string text_of(const StoredDecision& decision) {
  return ledger::hex_text(decision.token.value().bytes.value());
}

std::string line_of(ledger::Snapshot view, const StoredDecision& decision) {
  std::string text;
  view.each_line(decision.line, [&](std::string_view line) {
    if (text.empty()) text = line;
  });
  return text;
}

/// Whether a row of a decision cannot be read, or is not what its leaf is of.
bool row_is_faulty(const LedgerFixture& fixture) {
  return !decision_faults(fixture.look()).empty();
}

std::string bytes_of(const std::string& hex) {
  const auto token = ledger::token_of_text(hex).value();
  return {token.bytes->begin(), token.bytes->end()};
}

std::string import(const LedgerFixture& fixture) {
  const std::string copy = fixture.sibling(".copy");
  ledger::Ledger::import_lines(copy, each_of(lines_of(fixture.look())));
  return copy;
}

}  // namespace

TEST_CASE("data token: 32 fresh bytes, which the row has and the line the hash of",
          "[ledger][token][exact]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  std::set<std::string> texts;
  for (int i = 0; i < 3; ++i) {
    const StoredDecision decision = issued(ledger);
    const std::string text = text_of(decision);
    CHECK(text.size() == 64);
    CHECK(texts.insert(text).second);
    CHECK(text != ledger::hex_text(decision.log->leaf));
    const std::string hash = ledger::sha256_hex(bytes_of(text));
    CHECK(ledger::hex_text(decision.token->sha256) == hash);
    CHECK(query_sql(fixture.path, "SELECT lower(hex(data_token)) FROM decision WHERE seq = " +
                                      std::to_string(decision.seq)) == text);
    const std::string line = line_of(fixture.look(), decision);
    CHECK(line.find("\"data_token_sha256\":\"" + hash + "\"") != std::string::npos);
    CHECK(line.find(text) == std::string::npos);

    auto view = fixture.look();
    CHECK(text_of(view.find_by_id(decision.id).value()) == text);
    CHECK(view.find_by_token(text).value().id == decision.id);
    CHECK(text_of(view.children(decision.draft.parent).at(0)) == text);
  }
}

TEST_CASE("data token: nothing else is found by what is no token", "[ledger][token][negative]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const std::string text = text_of(issued(ledger));
  const StoredDecision none = issued(ledger, false);
  CHECK_FALSE(none.token);
  auto view = fixture.look();
  CHECK_FALSE(view.find_by_id(none.id).value().token);
  std::string other = text;
  other.front() = other.front() == '0' ? '1' : '0';
  std::string upper = text;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  for (const std::string& wrong :
       {other, upper == text ? other : upper, text + "0", text.substr(1), none.id, std::string(),
        std::string(64, '0'), ledger::sha256_hex(bytes_of(text)), ledger::sha256_hex("")}) {
    CAPTURE(wrong);
    CHECK_FALSE(view.find_by_token(wrong));
  }
}

TEST_CASE("data token: only a decision that issues one has one", "[ledger][token][negative]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  ledger::DecisionDraft draft = refused();
  draft.issues_token = true;
  CHECK_THROWS_AS(transaction.refuse(draft), InvalidParameter);
  CHECK(fixture.look().decision_count() == 0);
}

TEST_CASE("data token: its bytes are withheld until they are known to be durable",
          "[ledger][token][negative]") {
  const LedgerFixture fixture;
  std::string text;
  std::string id;
  {
    auto ledger = fixture.open();
    const StoredDecision decision = issued(ledger);
    text = text_of(decision);
    id = decision.id;
    auto transaction = ledger.begin();
    const std::string reserved = transaction.reserve(draft_of(Outcome::reserved), charge_of(kTenth));
    ledger::DecisionDraft draft = draft_of(Outcome::data_accessed, reserved);
    draft.issues_token = true;
    const std::string second = transaction.record_without_movement(draft);
    CHECK_FALSE(transaction.find_by_id(second).value().token.value().bytes);
    CHECK_FALSE(transaction.children(reserved).at(0).token.value().bytes);
    CHECK(transaction.find_by_id(id).value().token.value().bytes);
  }
  std::ofstream(fixture.sibling(".poisoned")) << "{\"reason\": \"committing\"}";
  auto view = fixture.look();
  for (const auto& found : {view.find_by_id(id), view.find_by_token(text)}) {
    CHECK_FALSE(found.value().durable);
    CHECK_FALSE(found.value().token.value().bytes);
  }
}

TEST_CASE("data token: a ledger of lines has the hash, and knows the token by it", "[ledger][token]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const StoredDecision decision = issued(ledger);
  const StoredDecision none = issued(ledger, false);
  const std::string copy = import(fixture);
  auto view = ledger::Ledger::open_read_only(copy).snapshot();
  const auto found = view.find_by_token(text_of(decision)).value();
  CHECK(found.id == decision.id);
  CHECK_FALSE(found.token.value().bytes);
  CHECK(found.token->sha256 == decision.token->sha256);
  CHECK_FALSE(view.find_by_token(ledger::hex_text(decision.token->sha256)));
  CHECK_FALSE(view.find_by_id(none.id).value().token);
  CHECK(line_of(ledger::Ledger::open_read_only(copy).snapshot(), decision) ==
        line_of(fixture.look(), decision));
  CHECK(decision_faults(std::move(view)).empty());
}

TEST_CASE("data token: a row with another one, half of one or another hash is damaged",
          "[ledger][token][integrity]") {
  for (const char* change : {"data_token = zeroblob(32)", "data_token = substr(data_token, 1, 31)",
                             "data_token = CAST(data_token || x'00' AS BLOB)", "data_token_sha256 = x''"}) {
    CAPTURE(change);
    const LedgerFixture fixture;
    std::string text;
    {
      auto ledger = fixture.open();
      text = text_of(issued(ledger));
    }
    tamper_with(fixture.path, std::string("UPDATE decision SET ") + change + " WHERE outcome = 7");
    auto view = fixture.look();
    CHECK(row_is_faulty(fixture));
    const bool by_its_hash = std::string(change).starts_with("data_token = ");
    if (by_its_hash) CHECK_THROWS_AS(view.find_by_token(text), LedgerCorrupt);
    if (!by_its_hash) CHECK_FALSE(view.find_by_token(text));
  }
  // Another decision has none.
  const LedgerFixture fixture;
  {
    auto ledger = fixture.open();
    static_cast<void>(issued(ledger));
  }
  tamper_with(fixture.path, "UPDATE decision SET data_token_sha256 = zeroblob(32) WHERE outcome <> 7");
  CHECK(row_is_faulty(fixture));
}
