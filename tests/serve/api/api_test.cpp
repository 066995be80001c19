// What the API does beside who may: keys, values, waits, tags, tokens, limits.
#include <map>
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

std::string reserved_value(ServedClinic& clinic) {
  return clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.5", "value:score")).id();
}

}  // namespace

TEST_CASE("a reservation is plain or against a data token, in the request as in the answer", "[api]") {
  ServedClinic clinic;
  const auto reserve = [&clinic](const std::string& word) {
    const std::string more = word.empty() ? "" : ",\"reservation\":" + word;
    return clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.001", "value:score", more));
  };
  for (const auto& [word, answered] : std::map<std::string, std::string>{
           {"", "plain"}, {"null", "plain"}, {"\"plain\"", "plain"}, {"\"data_token\"", "data_token"}}) {
    CAPTURE(word);
    const Reply reply = reserve(word);
    REQUIRE(reply.status == 201);
    CHECK(reply.body.at("reservation") == answered);
    CHECK(reply.body.at("data_token").is_null());
  }
  for (const char* wrong : {"\"token\"", "\"\"", "true"}) {
    CAPTURE(wrong);
    CHECK(reserve(wrong).body.at("code") == "invalid_body");
  }
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.001")).body.at("reservation").is_null());
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

TEST_CASE(
    "a key stands in the body or in the header, must be the same in both, and be there where budget is spent",
    "[api]") {
  ServedClinic clinic;
  const std::string bare = R"({"dataset":"clinic","statistic":"count","epsilon":0.01)";
  const auto with = [](const std::string& key) { return Sent{.headers = {{"idempotency-key", key}}}; };
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", bare + "}").body.at("code") == "key_required");
  const Reply first = clinic.ask(kAlice, "POST", "/v1/releases", bare + "}", with("a"));
  REQUIRE(first.status == 201);
  const Reply again = clinic.ask(kAlice, "POST", "/v1/releases", bare + R"(,"key":"a"})", with("a"));
  CHECK(again.status == 200);
  CHECK(again.body.at("value") == first.body.at("value"));
  CHECK(again.body.at("decision_id") == first.body.at("decision_id"));
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", bare + R"(,"key":"b"})", with("a")).body.at("code") ==
        "invalid_key");
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", bare + "}", with("a b")).body.at("code") == "invalid_key");
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", bare + R"(,"key":""})", with("a")).body.at("code") ==
        "invalid_body");
  const Reply conflict = clinic.ask(kAlice, "POST", "/v1/releases", release("a", "0.02"));
  CHECK(conflict.status == 409);
  CHECK(conflict.body.at("type") == "/docs/refusals#key_conflict");
  // Keys are of a principal.
  CHECK(clinic.ask(kAdam, "POST", "/v1/releases", release("a")).status == 201);
  CHECK(clinic.spent() == "0.02");
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

TEST_CASE("a commit of a value ends with nothing before its first byte, and only there", "[api]") {
  ServedClinic clinic;
  const std::string id = reserved_value(clinic);
  const std::string commit = "/v1/requests/" + id + "/commit";
  CHECK(clinic.ask(kSam, "POST", commit, "").body.at("code") == "value_required");
  CHECK(clinic.ask(kSam, "POST", commit, "", {.breaks_off = true, .declared = 10}).body.at("code") ==
        "body_incomplete");
  CHECK(clinic.ask(kAlice, "POST", commit, R"({"value":1})").status == 403);
  CHECK(clinic.ask(kAdam, "POST", commit, R"({"value":1})").status == 404);
  CHECK(clinic.spent() == "0");
  CHECK(clinic.ask(kSam, "POST", commit, R"({"value":1})").status == 201);
  const Reply again = clinic.ask(kSam, "POST", commit, R"({"value":9})");
  CHECK(again.status == 200);
  CHECK(clinic.spent() == "0.5");
}

TEST_CASE("a value is taken by no other route", "[api]") {
  ServedClinic clinic;
  CHECK(clinic.ask(kSam, "POST", "/v1/releases", clinic.asks("0.1", "value:score")).body.at("code") ==
        "value_not_here");
  CHECK(clinic.ask(kSam, "POST", "/v1/releases", clinic.asks("0.1", "count", R"(,"value":3)"))
            .body.at("code") == "invalid_body");
  const std::string id = clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.1")).id();
  CHECK(clinic.ask(kAlice, "POST", "/v1/requests/" + id + "/commit", R"({"value":3})").body.at("code") ==
        "invalid_body");
  CHECK(clinic.spent() == "0");
}

TEST_CASE("plans and forecasts take a count that is assumed, and nothing else does", "[api]") {
  ServedClinic clinic;
  const std::string assumed = R"(,"assume_count":5000)";
  const Reply planned = clinic.ask(kAlice, "POST", "/v1/plans", clinic.asks("0.4", "mean:cost", assumed));
  REQUIRE(planned.status == 200);
  CHECK(planned.body.at("assumed").at("count") == 5000);
  CHECK(planned.body.at("assumed").at("accuracy").size() == 1);
  const auto forecast = [&](const std::string& more) {
    return clinic.ask(kAlice, "POST", "/v1/forecasts",
                      R"({"dataset":"clinic","statistic":"mean:cost","accuracy":90)" + more + "}");
  };
  const Reply found = forecast(R"(,"assume_count":"5000")");
  REQUIRE(found.status == 200);
  CHECK(found.body.at("assumed").at("count") == 5000);
  CHECK(found.body.at("epsilon").is_string());
  CHECK(forecast("").body.at("code") == "policy_incomplete");
  CHECK(forecast(R"(,"assume_count":100001)").body.at("code") == "invalid_parameter");
  CHECK(forecast(R"(,"assume_count":0)").body.at("code") == "invalid_body");
  CHECK(forecast(R"(,"assume_count":2.5)").body.at("code") == "invalid_body");
  CHECK(clinic.ask(kAlice, "POST", "/v1/plans", clinic.asks("0.4", "count", assumed)).body.at("code") ==
        "policy_incomplete");
  for (const char* path : {"/v1/releases", "/v1/reservations"}) {
    CHECK(clinic.ask(kAlice, "POST", path, clinic.asks("0.4", "mean:cost", assumed)).body.at("code") ==
          "invalid_body");
  }
  CHECK(clinic.spent() == "0");
}

TEST_CASE("columns to group by are a text, as the command takes it, or a list of names", "[api]") {
  ServedClinic clinic;
  const auto by = [&](const std::string& columns) {
    return clinic.ask(kAlice, "POST", "/v1/plans", clinic.asks("0.1", "count", ",\"by\":" + columns));
  };
  CHECK(by("\"ward\"").body.at("by") == json("ward"));
  CHECK(by("[\"ward\"]").body.at("by") == json("ward"));
  CHECK(by("\"ward,age\"").body.at("code") == "policy_incomplete");
  CHECK(by("[\"ward\",\"age\"]").body.at("code") == "policy_incomplete");
  CHECK(by("[\"ward,age\"]").body.at("code") == "not_found");  // a name is what it is
  CHECK(by("[\"ward\",\"ward\"]").body.at("code") == "invalid_parameter");
  const Reply few = by("\"ward\",\"suppress_below\":5");
  CHECK(few.status == 200);
  CHECK(few.body.at("suppress_below") == json("5"));
  CHECK(by("\"ward\",\"suppress_below\":0").status == 400);
  const Reply totals = by("\"ward\",\"totals\":0.2,\"consistent\":true");
  CHECK(totals.status == 200);
  CHECK(totals.body.at("totals") == json("0.2"));
  CHECK(totals.body.at("consistent") == json(true));
  CHECK(totals.body.at("components").size() == 2);
  CHECK(totals.body.at("cells").back().at("group").is_null());
  const Reply both = by("\"ward\",\"totals\":0.2,\"consistent\":true,\"suppress_below\":5");
  CHECK(both.status == 400);
  CHECK(both.body.at("code") == "invalid_parameter");
  CHECK(by("\"ward\",\"totals\":1").body.at("code") == "invalid_body");
  CHECK(by("\"ward\",\"totals\":0.2,\"consistent\":3").body.at("code") == "invalid_body");
  CHECK(by("\"ward\",\"consistent\":true").body.at("code") == "invalid_body");
  CHECK(by("\"ward\",\"totals\":0.2,\"consistent\":false").body.at("consistent") == json(false));
  for (const char* none : {"[]", "[1]", "[[\"ward\"]]", "{}", "3"}) {
    CAPTURE(none);
    CHECK(by(none).status == 400);
    CHECK(by(none).body.at("code") == "invalid_body");
  }
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

TEST_CASE("what no client of ours sends is refused before anybody is asked who they are", "[api]") {
  ServedClinic clinic;
  const auto code = [&](const std::string& method, const std::string& target, const std::string& text,
                        std::vector<serve::Header> headers) -> std::string {
    return clinic.ask(kNobody, method, target, text, {.headers = std::move(headers)})
        .body.value("code", "none");
  };
  CHECK(code("POST", "/v1/releases", "{}", {{"host", "epsilog.example"}}) == "wrong_host");
  CHECK(code("POST", "/v1/releases", "{}", {{"host", "localhost.example"}}) == "wrong_host");
  CHECK(code("POST", "/v1/releases", "{}", {{"host", "localhost:8080"}}) == "unknown_caller");
  CHECK(code("POST", "/v1/releases", "{}", {{"origin", "http://localhost"}}) == "cross_origin");
  CHECK(code("POST", "/v1/releases", "{}", {{"content-type", "text/plain"}}) == "not_json");
  CHECK(code("POST", "/v1/releases", "{}", {{"content-type", "application/json; charset=utf-8"}}) ==
        "unknown_caller");
  CHECK(code("GET", "/v1/me", "{}", {}) == "body_unexpected");
  CHECK(code("GET", "/v1/me?as=alice", "", {}) == "unknown_query_parameter");
  CHECK(code("DELETE", "/v1/me", "", {}) == "method_not_allowed");
  CHECK(code("GET", "/v1/requests/a/b", "", {}) == "no_such_route");
  CHECK(code("GET", "/v1/requests/", "", {}) == "no_such_route");
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
