// Which members of a request each role is told by each route that tells one: the second table of docs/api.md.
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// The clinic with limits of alice, who asks, and of her role.
std::string policy() {
  std::string text = served_policy();
  const std::string own = "      - {principal: adam, epsilon: 1}\n";
  text.insert(text.find(own) + own.size(),
              "      - {principal: alice, epsilon: 50}\n      - {role: research, epsilon: 60}\n");
  return text;
}

using Step = std::function<Reply(ServedClinic&, const std::string& id)>;

/// Requests that alice asked, and what becomes of each: the last step is what long polls wait for.
struct State {
  const char* name;
  const char* route;  ///< by which it is asked
  const char* epsilon;
  const char* statistic;
  bool data_token;
  Step before;
  Step last;
};

Reply act(ServedClinic& clinic, std::uint32_t who, const std::string& id, const char* verb,
          const std::string& body = "") {
  const std::string route = "/v1/requests/" + id;
  const std::string tag = clinic.ask(who, "GET", route).header("etag");
  return clinic.ask(who, "POST", route + verb, body, {.headers = {{"if-match", tag}}});
}

Step step(std::uint32_t who, const char* verb, const char* body = "") {
  return [=](ServedClinic& clinic, const std::string& id) { return act(clinic, who, id, verb, body); };
}

std::vector<State> states() {
  const char* const reserve = "/v1/reservations";
  const char* const release = "/v1/releases";
  const Step approve = step(kBob, "/approve");
  const Step issue = step(kSam, "/token");
  return {{"granted", reserve, "0.01", "count", false, step(kAlice, "/commit"), nullptr},
          {"refused", release, "1000", "count", false, nullptr, nullptr},
          {"pending", release, "0.6", "count", false, nullptr, nullptr},
          {"approved", release, "0.6", "count", false, nullptr, approve},
          {"rejected", release, "0.6", "count", false, nullptr, step(kBob, "/reject", R"({"why":"no"})")},
          {"cancelled by its approver", release, "0.6", "count", false, approve, step(kBob, "/cancel")},
          {"token issued", reserve, "0.01", "value:score", true, nullptr, issue},
          {"value committed", reserve, "0.01", "value:score", true, issue,
           step(kSam, "/commit", R"({"value":7})")},
          {"cancelled", reserve, "0.01", "value:score", true, nullptr, step(kAlice, "/cancel")}};
}

const State& state_of(const std::vector<State>& all, const char* name) {
  return *std::find_if(all.begin(), all.end(), [&](const State& one) { return one.name == name; });
}

/// A request as it stands at the end of its state, and how it came there.
struct Made {
  std::string id;
  std::string asked;      ///< the body that asked it
  std::string token;      ///< its data token, "" without
  std::string last;       ///< the last decision about it
  std::int64_t from = 0;  ///< seq before it was asked
};

json event_list(ServedClinic& clinic, const Role& role, std::int64_t after) {
  const Reply reply = clinic.ask(role.uid, "GET", "/v1/events?after=" + std::to_string(after), "",
                                 {.curator_socket = role.curator_socket});
  return reply.body.at("decisions");
}

Made asked(ServedClinic& clinic, const State& state) {
  Made made;
  made.from = clinic.engine->newest_seq();
  made.asked =
      clinic.asks(state.epsilon, state.statistic, state.data_token ? R"(,"reservation":"data_token")" : "");
  const Reply reply = clinic.ask(kAlice, "POST", state.route, made.asked);
  INFO(reply.response.body);
  REQUIRE(reply.body.contains("decision_id"));
  made.id = made.last = reply.id();
  if (state.before) REQUIRE(state.before(clinic, made.id).status < 300);
  return made;
}

void finish(ServedClinic& clinic, const State& state, Made& made) {
  if (state.last) {
    const Reply reply = state.last(clinic, made.id);
    INFO(reply.response.body);
    REQUIRE(reply.status < 300);
  }
  if (state.data_token) {
    const json token = clinic.ask(kSam, "GET", "/v1/requests/" + made.id).body.at("data_token");
    if (token.is_string()) made.token = token;
  }
  for (const json& event : event_list(clinic, kRoles[5], made.from)) made.last = event.at("decision_id");
}

bool is_there(const json& object, const char* member) {
  return object.contains(member) && !object.at(member).is_null();
}

bool has_value(const json& object) {
  for (const char* member : {"value", "value_decimal", "value_hex", "interval", "cells"}) {
    if (is_there(object, member)) return true;
  }
  for (const json& component : object.value("components", json::array())) {
    if (is_there(component, "value") || is_there(component, "cells")) return true;
  }
  return false;
}

/// What stands in the object, a letter each: Value, data Token, Balances, Own balances of alice, Reasons with
/// figures, and the Codes of reasons. Whatever else names alice's account or the token is found in its text.
std::string members(const json& object, const std::string& token) {
  const std::string text = object.dump();
  std::string found;
  if (has_value(object)) found += "V";
  if (!token.empty() && text.find(token) != std::string::npos) found += "T";
  if (!object.at("accounts").empty()) found += "B";
  const bool own =
      text.find("principal:alice") != std::string::npos || text.find("role:research") != std::string::npos;
  if (own) found += "O";
  bool figures = false;
  for (const json& reason : object.at("reasons")) figures = figures || is_there(reason, "spent");
  if (figures) found += "R";
  if (!object.at("reasons").empty()) found += "C";
  return found.empty() ? "·" : found;
}

/// Of a list what is about the request, all together.
std::string members_of_list(const json& list, const Made& made) {
  std::string found;
  for (const json& one : list) {
    const bool about =
        one.at("decision_id") == made.id || one.at("decision_id") == made.last || one.at("parent") == made.id;
    if (!about) continue;
    for (const char letter : members(one, made.token)) {
      if (found.find(letter) == std::string::npos) found += letter;
    }
  }
  if (found.empty()) return "–";
  std::string ordered;
  for (const char letter : std::string("VTBORC")) {
    if (found.find(letter) != std::string::npos) ordered += letter;
  }
  return ordered.empty() ? "·" : ordered;
}

std::string members_of(const Reply& reply, const Made& made) {
  if (reply.status == 404) return "–";
  INFO(reply.response.body);
  REQUIRE(reply.body.contains("state"));
  return members(reply.body, made.token);
}

struct Reader {
  const char* name;
  std::function<std::string(ServedClinic&, const Role&, const Made&)> read;
};

Reply got(ServedClinic& clinic, const Role& role, const std::string& target) {
  return clinic.ask(role.uid, "GET", target, "", {.curator_socket = role.curator_socket});
}

std::vector<Reader> readers() {
  return {
      {"GET /v1/requests/ID",
       [](ServedClinic& clinic, const Role& role, const Made& made) {
         return members_of(got(clinic, role, "/v1/requests/" + made.id), made);
       }},
      {"GET /v1/decisions/ID",
       [](ServedClinic& clinic, const Role& role, const Made& made) {
         return members_of(got(clinic, role, "/v1/decisions/" + made.last), made);
       }},
      {"GET /v1/decisions",
       [](ServedClinic& clinic, const Role& role, const Made& made) {
         return members_of_list(got(clinic, role, "/v1/decisions?limit=1000").body.at("decisions"), made);
       }},
      {"GET /v1/pending",
       [](ServedClinic& clinic, const Role& role, const Made& made) {
         return members_of_list(got(clinic, role, "/v1/pending").body.at("requests"), made);
       }},
      {"GET /v1/events",
       [](ServedClinic& clinic, const Role& role, const Made& made) {
         return members_of_list(event_list(clinic, role, made.from), made);
       }},
  };
}

/// What each role is told by long polls that wait while the last thing becomes of the request.
struct Polled {
  std::array<Reply, kRoles.size()> request;
  std::array<Reply, kRoles.size()> events;
};

Polled poll(ServedClinic& clinic, const State& state, Made& made) {
  Polled polled;
  std::vector<std::thread> threads;
  const std::string after = std::to_string(clinic.engine->newest_seq());
  std::atomic<int> answered = 0;
  for (std::size_t i = 0; i < kRoles.size(); ++i) {
    threads.emplace_back([&, i] {
      polled.request[i] = got(clinic, kRoles[i], "/v1/requests/" + made.id + "?wait=1");
      ++answered;
    });
    threads.emplace_back([&, i] {
      polled.events[i] = got(clinic, kRoles[i], "/v1/events?wait=1&after=" + after);
      ++answered;
    });
  }
  while (clinic.admission->figures().long_polls + static_cast<std::size_t>(answered) < threads.size())
    std::this_thread::yield();
  finish(clinic, state, made);
  for (std::thread& thread : threads) thread.join();
  return polled;
}

void add_row(std::ostringstream& text, const std::string& reader, const char* state,
             const std::function<std::string(std::size_t)>& cell) {
  text << "| `" << reader << "` | " << state << " |";
  for (std::size_t i = 0; i < kRoles.size(); ++i) text << " " << cell(i) << " |";
  text << "\n";
}

std::string table() {
  ServedClinic clinic(policy());
  std::ostringstream text;
  text << "| route | request |";
  for (const Role& role : kRoles) text << " " << role.name << " |";
  text << "\n|---|---|";
  for (std::size_t i = 0; i < kRoles.size(); ++i) text << "---|";
  text << "\n";
  for (const State& state : states()) {
    Made made = asked(clinic, state);
    const bool waits = state.last != nullptr;
    const Polled polled = waits ? poll(clinic, state, made) : Polled();
    if (!waits) finish(clinic, state, made);
    for (const Reader& reader : readers()) {
      add_row(text, reader.name, state.name,
              [&](std::size_t i) { return reader.read(clinic, kRoles[i], made); });
    }
    if (!waits) continue;
    add_row(text, "GET /v1/requests/ID?wait", state.name,
            [&](std::size_t i) { return members_of(polled.request[i], made); });
    add_row(text, "GET /v1/events?wait", state.name,
            [&](std::size_t i) { return members_of_list(polled.events[i].body.at("decisions"), made); });
  }
  return text.str();
}

}  // namespace

TEST_CASE(
    "every role is told by every reader, in every state of a request, those members that the table says",
    "[api][roles][sight]") {
  check_page_table("<!-- sight: made by tests/serve/api/sight_test.cpp, which holds every cell -->\n",
                   "<!-- end of sight -->", table());
}

TEST_CASE("a verb that acts on a request tells whoever acts what reading the request tells them",
          "[api][sight]") {
  struct Act {
    const char* state;
    std::uint32_t who;
    const char* verb;
    const char* body;
    std::string told;
  };
  // The supplier hands the value in and sees neither it nor a balance of the asker; the asker sees no token.
  const std::vector<Act> acts = {
      {"token issued", kSam, "/token", "", "TB"},    {"value committed", kSam, "/commit", "", "TB"},
      {"token issued", kAlice, "/cancel", "", "BO"}, {"cancelled", kAlice, "/cancel", "", "BO"},
      {"pending", kBob, "/approve", "", "B"},        {"pending", kBob, "/reject", R"({"why":"no"})", "B"},
      {"pending", kBob, "/cancel", "", "B"}};
  for (const Act& one : acts) {
    ServedClinic clinic(policy());
    const std::vector<State> all = states();
    const State& state = state_of(all, one.state);
    Made made = asked(clinic, state);
    finish(clinic, state, made);
    CAPTURE(one.state, one.verb, one.who);
    const Reply reply = act(clinic, one.who, made.id, one.verb, one.body);
    CHECK(members_of(reply, made) == one.told);
    CHECK(members_of(clinic.ask(one.who, "GET", "/v1/requests/" + made.id), made) == one.told);
  }
}

TEST_CASE("the key again tells the asker of a value that others hand in no token", "[api][sight]") {
  ServedClinic clinic(policy());
  for (const State& state : states()) {
    if (!state.data_token) continue;
    CAPTURE(state.name);
    Made made = asked(clinic, state);
    finish(clinic, state, made);
    const Reply again = clinic.ask(kAlice, "POST", "/v1/reservations", made.asked);
    CHECK(again.body.at("decision_id").is_string());
    CHECK(has_value(again.body) == (again.body.at("state") == "granted"));
    if (made.token.empty()) continue;
    CHECK(again.response.body.find(made.token) == std::string::npos);
    CHECK(clinic.ask(kAlice, "GET", "/v1/requests/" + made.token).response.body.find("\"data_token\":\"") ==
          std::string::npos);
  }
}

TEST_CASE(
    "a token is the asker's once the policy has nobody hand the value in, and nobody's once the query is "
    "gone",
    "[api][sight]") {
  ServedClinic clinic(policy());
  const std::vector<State> all = states();
  const State& state = state_of(all, "token issued");
  Made made = asked(clinic, state);
  finish(clinic, state, made);
  REQUIRE(made.token.size() == 64);
  const auto told = [&](std::uint32_t who) {
    return clinic.ask(who, "GET", "/v1/requests/" + made.id).response.body.find(made.token) !=
           std::string::npos;
  };
  const auto apply = [&](std::string text) {
    clinic.folder.write("next.yaml", text);
    static_cast<void>(clinic.engine->apply_policy(clinic.folder.path("next.yaml"), "carol", "a test"));
  };
  CHECK_FALSE(told(kAlice));
  CHECK(told(kSam));
  std::string text = policy();
  const std::string query =
      "    queries:\n      score: {bounds: [0, 10], sensitivity: 1, supplied_by: [sam]}\n";
  text.replace(text.find(query), query.size(),
               "    queries:\n      score: {bounds: [0, 10], sensitivity: 1}\n");
  apply(text);
  CHECK(told(kAlice));
  CHECK_FALSE(told(kSam));
  text = policy();
  text.erase(text.find(query), query.size());
  apply(text);
  CHECK_FALSE(told(kAlice));
  CHECK_FALSE(told(kSam));
  CHECK_FALSE(told(kDora));
}

TEST_CASE("a proof of a line is given to those alone who are told all that the line says",
          "[api][sight][evidence]") {
  ServedClinic clinic(policy());
  clinic.sign_checkpoints(policy());
  for (const State& state : states()) {
    Made made = asked(clinic, state);
    finish(clinic, state, made);
    REQUIRE(clinic.ask(kOtto, "POST", "/v1/checkpoints").status < 300);
    const std::string all = members_of(got(clinic, kRoles[5], "/v1/decisions/" + made.last), made);
    for (const Role& role : kRoles) {
      CAPTURE(state.name, role.name);
      const Reply proof = got(clinic, role, "/v1/proofs/" + made.last);
      if (proof.status != 200) continue;
      CHECK(proof.response.body.find(made.token.empty() ? "no token" : made.token) == std::string::npos);
      CHECK(members_of(got(clinic, role, "/v1/decisions/" + made.last), made) == all);
    }
  }
}
