// What the API does beside who may: keys, values, waits, tags, tokens, limits.
#include <sstream>

#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "served_clinic.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

std::string release(const std::string& key, const std::string& epsilon = "0.01") {
  return R"({"dataset":"clinic","statistic":"count","epsilon":")" + epsilon + R"(","key":")" + key + "\"}";
}

/// The clinic and what its last answers named: {ID} is the decision.
struct Conversation {
  ServedClinic clinic;
  std::string id;

  /// "ASK EPSILON STATISTIC MORE" is a body that asks it with a key of its own; any other body is sent as it is.
  std::string body(const std::string& text) {
    if (!text.starts_with("ASK ")) return text;
    const std::size_t statistic = text.find(' ', 4), more = text.find(' ', statistic + 1);
    return clinic.asks(text.substr(4, statistic - 4), text.substr(statistic + 1, more - statistic - 1),
                       more == std::string::npos ? "" : text.substr(more + 1));
  }
  /// Sends the request of a row: who asks, METHOD PATH, "NAME: VALUE" or "breaks off after N", and the body.
  Reply exchange(const CaseRow& row) {
    std::string target = row.at(2).substr(row.at(2).find(' ') + 1);
    if (const std::size_t at = target.find("{ID}"); at != std::string::npos) target.replace(at, 4, id);
    Sent sent;
    const std::string& more = row.at(3);
    if (const std::size_t at = more.find(": "); at != std::string::npos)
      sent.headers.push_back({more.substr(0, at), more.substr(at + 2)});
    sent.breaks_off = more.starts_with("breaks off after ");
    if (sent.breaks_off) sent.declared = std::stoul(more.substr(17));
    const Reply reply = clinic.ask(uid_of(row.at(1)), row.at(2).substr(0, row.at(2).find(' ')), target,
                                   body(row.at(4)), sent);
    const json::json_pointer decision("/decision_id");
    if (reply.body.contains(decision) && reply.body.at(decision).is_string()) id = reply.id();
    return reply;
  }
};

std::string reserved_value(ServedClinic& clinic) {
  return clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.5", "value:score")).id();
}

}  // namespace

TEST_CASE("exchanges: each request is answered as the table says, and spends what it says", "[api]") {
  std::optional<Conversation> talk;
  std::string name;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/exchanges.tsv")) {
    CAPTURE(name, row);
    if (row.at(0) == "clinic") {
      name = row.at(1);
      talk.emplace();
    } else if (row.at(0) == "spent") {
      CHECK(talk->clinic.spent() == row.at(1));
    } else {
      const Reply reply = talk->exchange(row);
      INFO(reply.response.body);
      CHECK(std::to_string(reply.status) == row.at(5));
      const json members = json::parse(row.at(6));
      for (const auto& [member, value] : members.items()) {
        const json::json_pointer place("/" + member);
        CHECK((reply.body.contains(place) ? reply.body.at(place) : json()) == value);
      }
    }
  }
}

TEST_CASE("metrics: the documentation has each with its type", "[api][metrics]") {
  ServedClinic clinic;
  const std::string page = read_file(EPSILOG_SOURCE_DIR "/docs/daemon.md");
  std::istringstream lines(clinic.ask(kOtto, "GET", "/metrics").response.body);
  int metrics = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    const std::size_t name = 7, type = line.find(' ', name);
    const std::string row = "| `" + line.substr(name, type - name) + "` | " + line.substr(type + 1) + " |";
    CAPTURE(row);
    CHECK(page.find(row) != std::string::npos);
    ++metrics;
  }
  CHECK(metrics == 9);
}

TEST_CASE("the same key from many connections at once is one decision, and all get its answer", "[api]") {
  ServedClinic clinic;
  std::atomic<int> fresh = 0;
  std::vector<std::string> values(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < values.size(); ++i) {
    threads.emplace_back([&, i] {
      const Reply reply = clinic.ask(kAlice, "POST", "/v1/releases", release("same"));
      fresh += reply.status == 201 ? 1 : 0;
      values[i] = reply.body.value("value", "none");
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(fresh == 1);
  CHECK(std::count(values.begin(), values.end(), values.front()) == 8);
  CHECK(clinic.spent() == "0.01");
}

TEST_CASE("whatever is posted as a value is committed and charged, and says nothing of what it was",
          "[api]") {
  std::vector<CaseRow> all = case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/posted_values.tsv");
  all.push_back({"too long", R"({"value": ")" + std::string(engine::kSuppliedSizeMax + 100, '7'), "0"});
  ServedClinic clinic;
  for (const CaseRow& posted : all) {
    CAPTURE(posted.at(0));
    const std::string before = clinic.spent();
    const std::string id = reserved_value(clinic);
    const Reply reply = clinic.ask(kSam, "POST", "/v1/requests/" + id + "/commit", posted.at(1),
                                   {.breaks_off = posted.at(2) != "0", .declared = std::stoul(posted.at(2))});
    CHECK(reply.status == 201);
    CHECK(reply.body.at("state") == "granted");
    CHECK(reply.body.at("value").is_null());  // who supplies does not see the answer
    CHECK(clinic.spent() != before);
    const Reply seen = clinic.ask(kAlice, "GET", "/v1/requests/" + id);
    CHECK_FALSE(seen.body.at("value").is_null());
    CHECK(seen.body.at("state") == "granted");
  }
  CHECK(clinic.spent() == "7.5");
}

TEST_CASE("an approval is of the request as it was seen", "[api]") {
  ServedClinic clinic;
  const std::string id = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
  const std::string route = "/v1/requests/" + id;
  const std::string tag = clinic.ask(kBob, "GET", route).header("etag");
  REQUIRE_FALSE(tag.empty());
  CHECK(clinic.ask(kBob, "POST", route + "/approve", "").body.at("code") == "if_match_required");
  CHECK(clinic.ask(kBob, "POST", route + "/approve", "", {.headers = {{"if-match", "*"}}}).body.at("code") ==
        "invalid_etag");
  // Another policy: what was seen is not what would be decided.
  clinic.folder.write("policy.yaml", served_policy() + "\n");
  static_cast<void>(clinic.engine->apply_policy(clinic.folder.path("policy.yaml"), "carol", "a blank line"));
  CHECK(clinic.ask(kBob, "POST", route + "/approve", "", {.headers = {{"if-match", tag}}}).body.at("code") ==
        "stale_request");
  const std::string now = clinic.ask(kBob, "GET", route).header("etag");
  const Reply approved = clinic.ask(kBob, "POST", route + "/approve", "", {.headers = {{"if-match", now}}});
  CHECK(approved.status == 200);
  CHECK(approved.body.at("state") == "reserved");
  CHECK(approved.body.at("approvals").at("given").at(0).at("by") == "bob");
}

TEST_CASE("an approval keeps the reason that came with it, and needs none", "[api]") {
  ServedClinic clinic;
  const auto approve = [&](const std::string& body) {
    const std::string route =
        "/v1/requests/" + clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.6")).id();
    const std::string tag = clinic.ask(kBob, "GET", route).header("etag");
    return clinic.ask(kBob, "POST", route + "/approve", body, {.headers = {{"if-match", tag}}});
  };
  const auto given = [](const Reply& reply) {
    return reply.body.at("approvals").at("given").at(0).at("why");
  };
  for (const char* none : {"", "{}", R"({"why":null})"}) {
    CAPTURE(none);
    CHECK(given(approve(none)).is_null());
  }
  CHECK(given(approve(R"({"why":"agreed with the board"})")) == "agreed with the board");
  for (const char* wrong : {R"({"why":1})", R"({"because":"x"})", R"({"why":"x","why":"y"})"}) {
    CAPTURE(wrong);
    CHECK(approve(wrong).body.at("code") == "invalid_body");
  }
  CHECK(approve(R"({"why":" "})").status == 400);
}

TEST_CASE(
    "who waits for decisions is told of their own, what the command recorded too, and at the end of the "
    "daemon",
    "[api]") {
  ServedClinic clinic;
  const std::int64_t from = clinic.engine->newest_seq();
  Reply told;
  std::thread waits(
      [&] { told = clinic.ask(kAlice, "GET", "/v1/events?wait=60&after=" + std::to_string(from)); });
  while (clinic.admission->figures().long_polls == 0) std::this_thread::yield();
  CHECK(clinic.ask(kAdam, "POST", "/v1/releases", release("another's")).status == 201);
  {
    // As another process does.
    engine::Engine beside = engine::Engine::open(clinic.ledger());
    engine::Request request;
    request.dataset = "clinic";
    request.question = engine::parse_question("count", std::nullopt, std::nullopt);
    request.epsilon = accounting::Rational(1, 100);
    request.principal = "alice";
    mechanisms::SystemBits bits;
    static_cast<void>(beside.release(request, bits, {}));
  }
  waits.join();
  REQUIRE(told.body.at("decisions").size() == 1);
  CHECK(told.body.at("decisions")[0].at("principal") == "alice");
  CHECK(told.body.at("next") == from + 2);
  std::thread last([&] { told = clinic.ask(kAlice, "GET", "/v1/events?wait=60&after=1000000"); });
  while (clinic.admission->figures().long_polls == 0) std::this_thread::yield();
  clinic.view->stop();
  last.join();
  CHECK(told.body.at("decisions").empty());
}

TEST_CASE("an analyst sees the balances that bind them and no other's", "[api]") {
  ServedClinic clinic;
  CHECK(clinic.ask(kAdam, "POST", "/v1/releases", release("a")).status == 201);
  const auto scopes = [&](std::uint32_t uid) {
    std::vector<std::string> found;
    const json budgets = clinic.ask(uid, "GET", "/v1/budgets").body;
    for (const json& account : budgets.at("accounts")) {
      found.push_back(account.at("scope"));
    }
    return found;
  };
  CHECK(scopes(kAlice) == std::vector<std::string>{""});
  CHECK(scopes(kAdam) == std::vector<std::string>{"", "principal:adam"});
  CHECK(scopes(kDora) == std::vector<std::string>{"", "principal:adam"});
}

TEST_CASE("what an analyst reads of the policy names nobody else and no place of the data", "[api]") {
  ServedClinic clinic;
  const std::string text = clinic.ask(kAlice, "GET", "/v1/policy").response.body;
  for (const char* hidden : {"adam", "bob", "sam", "carol", "visits.csv", "yaml"}) {
    CAPTURE(hidden);
    CHECK(text.find(hidden) == std::string::npos);
  }
  CHECK(clinic.ask(kDora, "GET", "/v1/policy").body.at("yaml") == served_policy());
}

TEST_CASE(
    "a policy is put in the place of the one that was seen, over the curator socket, and locks nobody out",
    "[api]") {
  ServedClinic clinic;
  const auto put = [&](std::uint32_t uid, const std::string& yaml, const std::string& tag,
                       bool curator_socket = true) {
    return clinic.ask(uid, "PUT", "/v1/policy", json{{"yaml", yaml}, {"why", "a test"}}.dump(),
                      {.headers = {{"if-match", tag}}, .curator_socket = curator_socket});
  };
  const std::string tag = clinic.ask(kCarol, "GET", "/v1/policy").header("etag");
  const std::string next = served_policy() + "# more\n";
  CHECK(put(kCarol, next, tag, false).body.at("code") == "curator_socket_required");
  CHECK(put(kDora, next, tag).body.at("code") == "duty_required");
  CHECK(put(kCarol, next, "\"sha256:" + std::string(64, '0') + "\"").body.at("code") == "stale_policy");
  CHECK(put(kCarol, "version: 1\n", tag).body.at("code") == "policy_error");
  const std::string nobody = served_policy("  alice: {}\n  adam: {}\n  bob: {}\n  sam: {}\n  carol: {}\n");
  CHECK(put(kRoot, nobody, tag).response.body.find("would_lock_out") != std::string::npos);
  const std::string another =
      served_policy("  alice: {duties: [curate]}\n  adam: {}\n  bob: {}\n  sam: {}\n  carol: {}\n");
  CHECK(put(kCarol, another, tag).response.body.find("would_lock_out") != std::string::npos);
  const Reply done = put(kCarol, next, tag);
  INFO(done.response.body);
  CHECK(done.status == 200);
  CHECK(clinic.ask(kCarol, "GET", "/v1/policy").header("etag") == done.header("etag"));
  CHECK(clinic.ask(kAlice, "GET", "/v1/me").body.at("policy_version") == 2);
  CHECK(put(kRoot, served_policy(), done.header("etag")).status == 200);
}

TEST_CASE("what is not there and what is another's is told in the same words, however it is asked for",
          "[api]") {
  ServedClinic clinic;
  const std::string others = clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.01")).id();
  const std::string none = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  for (const char* route : {"/v1/requests/", "/v1/decisions/"}) {
    CHECK(clinic.ask(kAdam, "GET", route + others).response.body ==
          clinic.ask(kAdam, "GET", route + none).response.body);
  }
  for (const char* verb : {"/commit", "/cancel", "/token"}) {
    CHECK(clinic.ask(kAdam, "POST", "/v1/requests/" + others + verb).response.body ==
          clinic.ask(kAdam, "POST", "/v1/requests/" + none + verb).response.body);
  }
}

TEST_CASE("of a poisoned ledger no value is told, and others learn no more than before", "[api]") {
  ServedClinic clinic;
  const std::string id = clinic.ask(kAlice, "POST", "/v1/releases", release("a")).id();
  CHECK(clinic.ask(kNobody, "GET", "/readyz").status == 200);
  clinic.folder.write("clinic.ledger.poisoned", "boot\nwhy\n");
  const Reply own = clinic.ask(kAlice, "GET", "/v1/requests/" + id);
  CHECK(own.status == 503);
  CHECK(own.body.at("code") == "not_durable");
  CHECK(clinic.ask(kAdam, "GET", "/v1/requests/" + id).status == 404);
  const Reply listed = clinic.ask(kAlice, "GET", "/v1/decisions");
  REQUIRE(listed.body.at("decisions").size() == 1);
  CHECK(listed.body.at("decisions")[0].at("value").is_null());
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", release("b")).status == 503);
  CHECK(clinic.ask(kNobody, "GET", "/readyz").status == 503);
}

TEST_CASE("a token is its principal until it is revoked, and whatever is no valid token is nobody",
          "[api][tokens]") {
  ServedClinic clinic;
  ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
  const auto issued = engine::new_token(ledger, {.principal = "adam", .by = "carol", .why = "a test"});
  const std::string token = issued.token.text();
  // Over the socket of somebody who would be known by their uid: a token that is there decides alone.
  const auto as = [&](const std::string& authorization) {
    return clinic.ask(kAlice, "GET", "/v1/me", "", {.headers = {{"authorization", authorization}}});
  };
  const Reply known = as("Bearer " + token);
  REQUIRE(known.status == 200);
  CHECK(known.body.at("principal") == "adam");
  CHECK(known.body.at("via") == "token:" + issued.credential.id);
  CHECK(as("bearer " + token).status == 200);
  std::vector<std::string> forged = {"Bearer ",
                                     "Bearer eps_",
                                     "Basic " + token,
                                     token,
                                     "Bearer  " + token,
                                     "Bearer " + token + "0",
                                     "Bearer " + token.substr(0, token.size() - 1)};
  for (std::size_t at = 0; at < token.size(); ++at) {
    std::string other = token;
    other[at] = other[at] == 'x' ? 'y' : 'x';
    forged.push_back("Bearer " + other);
  }
  const std::string said = as("Bearer eps_forged").response.body;
  for (const std::string& authorization : forged) {
    const Reply reply = as(authorization);
    CHECK(reply.status == 401);
    CHECK_FALSE(reply.header("www-authenticate").empty());
    CHECK(reply.response.body.find("eps_") == std::string::npos);
    if (authorization.starts_with("Bearer ")) CHECK(reply.response.body == said);
  }
  static_cast<void>(engine::revoke_credential(ledger, issued.credential.id, "carol", "a test"));
  CHECK(as("Bearer " + token).response.body == said);
}

TEST_CASE("a token that has ended stays ended when the wall clock is set back", "[api][tokens]") {
  ServedClinic clinic;
  const std::int64_t now = ledger::wall_clock_ms();
  // What the ledger was told it is: a day later than the clock of this machine shows now.
  const std::string later = ledger::time_text(now + ledger::kMsOfDay);
  ledger::Options ahead;
  ahead.clock = [&] {
    ledger::ClockReading reading = ledger::system_clock_reading();
    reading.wall_ms += ledger::kMsOfDay;
    return reading;
  };
  ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), ahead);
  const auto issued = engine::new_token(ledger, {.principal = "adam",
                                                 .until = ledger::time_text(now + ledger::kMsOfDay + 1'000),
                                                 .by = "carol",
                                                 .why = "a test"});
  const auto status = [&] {
    return clinic
        .ask(kAlice, "GET", "/v1/me", "", {.headers = {{"authorization", "Bearer " + issued.token.text()}}})
        .status;
  };
  CHECK(status() == 200);
  ahead.clock = [&] {
    ledger::ClockReading reading = ledger::system_clock_reading();
    reading.wall_ms += 2 * ledger::kMsOfDay;
    return reading;
  };
  ledger::Ledger next = ledger::Ledger::open(clinic.ledger(), ahead);
  static_cast<void>(engine::new_token(next, {.principal = "adam", .by = "carol", .why = "a test"}));
  CHECK(status() == 401);
}

TEST_CASE(
    "a uid that stands for nobody is nobody, and who keeps the machine is that on the curator socket alone",
    "[api][tokens]") {
  ServedClinic clinic;
  for (const std::uint32_t uid : {65534U, 4294967295U, std::uint32_t{kNobody}, std::uint32_t{kRoot}, 1999U}) {
    CHECK(clinic.ask(uid, "GET", "/v1/me").body.at("code") == "unknown_caller");
  }
  for (const std::uint32_t uid : {std::uint32_t{kRoot}, 1999U}) {
    const Reply reply = clinic.ask(uid, "GET", "/v1/me", "", {.curator_socket = true});
    CHECK(reply.body.at("principal").is_null());
    CHECK(reply.body.at("duties").size() == 3);
  }
  CHECK(clinic.ask(kNobody, "GET", "/v1/me", "", {.curator_socket = true}).status == 401);
}

TEST_CASE("a problem names datasets and never a place, also when the source is gone", "[api]") {
  ServedClinic clinic;
  std::filesystem::remove(clinic.folder.path("visits.csv"));
  const Reply reply = clinic.ask(kAlice, "POST", "/v1/releases", release("gone"));
  CHECK(reply.status == 503);
  CHECK(reply.body.at("code") == "source_error");
  CHECK(reply.body.at("detail") ==
        "clinic: the data source is not as the policy says; its curator has to mend it");
  CHECK(reply.response.body.find("visits") == std::string::npos);
}
