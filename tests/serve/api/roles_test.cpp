// Who gets what by which route: the table of docs/api.md, every cell of which is asked for here.
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

struct Column {
  const char* name;
  std::uint32_t uid;
  bool curator_socket;
};
constexpr std::array<Column, 9> kColumns = {{{"asker", kAlice, false},
                                             {"other", kAdam, false},
                                             {"approver", kBob, false},
                                             {"supplier", kSam, false},
                                             {"curate", kCarol, false},
                                             {"audit", kDora, false},
                                             {"operate", kOtto, false},
                                             {"keeper", kRoot, true},
                                             {"nobody", kNobody, false}}};

/// What a cell is asked with. `id` is of a request of alice in the state of the row, made anew for the cell.
struct Asked {
  ServedClinic& clinic;
  const Column& who;
  std::string id;

  Reply send(const std::string& method, const std::string& target, const std::string& text = "",
             std::vector<serve::Header> headers = {}) const {
    return clinic.ask(who.uid, method, target, text,
                      {.headers = std::move(headers), .curator_socket = who.curator_socket});
  }
  /// The ETag as alice sees it, who may not do everything with it.
  [[nodiscard]] std::string tag() const {
    return clinic.ask(kAlice, "GET", "/v1/requests/" + id).header("etag");
  }
};

struct Row {
  const char* route;
  const char* state;  ///< of the request
  std::function<Reply(const Asked&)> ask;
  const char* told = nullptr;  ///< in the table, where that is not the state
};

std::string made(ServedClinic& clinic, const std::string& state) {
  if (state.empty() || state == "begun") return "";
  const auto ask = [&](const char* route, const std::string& text) {
    const Reply reply = clinic.ask(kAlice, "POST", route, text);
    INFO(reply.response.body);
    REQUIRE(reply.body.contains("decision_id"));
    return reply.id();
  };
  if (state == "granted") return ask("/v1/releases", clinic.asks("0.001"));
  if (state == "refused") return ask("/v1/releases", clinic.asks("1000"));
  if (state == "pending") return ask("/v1/releases", clinic.asks("0.6"));
  if (state == "reserved") return ask("/v1/reservations", clinic.asks("0.001"));
  if (state == "reserved value") return ask("/v1/reservations", clinic.asks("0.001", "value:score"));
  if (state == "reserved token") {
    return ask("/v1/reservations", clinic.asks("0.001", "value:score", R"(,"data_token":true)"));
  }
  if (state == "cancelled") {
    const std::string id = ask("/v1/reservations", clinic.asks("0.001"));
    REQUIRE(clinic.ask(kAlice, "POST", "/v1/requests/" + id + "/cancel").status == 200);
    return id;
  }
  return "01ARZ3NDEKTSV4RRFFQ69G5FAV";  // there is none of it
}

Row of_request(const char* route, const char* state, const char* method, const char* verb, const char* text,
               bool tagged = false) {
  return {route, state, [=](const Asked& asked) {
            std::vector<serve::Header> headers;
            if (tagged) headers.push_back({"if-match", asked.tag()});
            return asked.send(method, "/v1/requests/" + asked.id + verb, text, headers);
          }};
}

Row plain(const char* route, const char* method, const char* target, const std::string& text = "") {
  return {route, "", [=](const Asked& asked) { return asked.send(method, target, text); }};
}

Row asking(const char* route, const char* epsilon) {
  return {route, "", [=](const Asked& asked) {
            return asked.send("POST", std::string(route).substr(5), asked.clinic.asks(epsilon));
          }};
}

std::vector<Row> rows() {
  std::vector<Row> all = {
      asking("POST /v1/plans", "0.001"),
      {"POST /v1/forecasts", "",
       [](const Asked& asked) {
         return asked.send("POST", "/v1/forecasts",
                           R"({"dataset":"clinic","statistic":"count","epsilon":0.1})");
       }},
      asking("POST /v1/releases", "0.001"),
      {"POST /v1/releases", "over budget",
       [](const Asked& asked) { return asked.send("POST", "/v1/releases", asked.clinic.asks("1000")); }},
      {"POST /v1/releases", "to approve",
       [](const Asked& asked) { return asked.send("POST", "/v1/releases", asked.clinic.asks("0.6")); }},
      {"POST /v1/releases", "several",
       [](const Asked& asked) {
         return asked.send(
             "POST", "/v1/releases",
             R"({"requests":[)" + asked.clinic.asks("0.001") + "," + asked.clinic.asks("1000") + "]}");
       }},
      asking("POST /v1/reservations", "0.001"),
  };
  for (const char* state :
       {"granted", "refused", "pending", "reserved", "reserved value", "cancelled", "none"}) {
    all.push_back(of_request("GET /v1/requests/ID", state, "GET", "", ""));
  }
  for (const char* state : {"reserved", "granted", "pending", "refused", "cancelled", "none"}) {
    all.push_back(of_request("POST …/commit", state, "POST", "/commit", ""));
  }
  for (const char* state : {"reserved value", "reserved token"}) {
    all.push_back(of_request("POST …/commit", state, "POST", "/commit", R"({"value":7})"));
  }
  for (const char* state : {"reserved", "pending", "granted", "none"}) {
    all.push_back(of_request("POST …/cancel", state, "POST", "/cancel", ""));
  }
  for (const char* state : {"reserved token", "reserved", "none"}) {
    all.push_back(of_request("POST …/token", state, "POST", "/token", ""));
  }
  for (const char* state : {"pending", "reserved", "granted"}) {
    all.push_back(of_request("POST …/approve", state, "POST", "/approve", "", true));
  }
  for (const char* state : {"pending", "granted", "none"}) {
    all.push_back(of_request("POST …/reject", state, "POST", "/reject", R"({"why":"no"})"));
  }
  all.push_back({"GET /v1/decisions/ID", "granted",
                 [](const Asked& asked) { return asked.send("GET", "/v1/decisions/" + asked.id); }});
  for (const char* target :
       {"/v1/me", "/v1/budgets", "/v1/pending", "/v1/decisions", "/v1/events", "/v1/policy"}) {
    all.push_back({nullptr, "", [=](const Asked& asked) { return asked.send("GET", target); }});
    static std::vector<std::string> kept;
    kept.reserve(16);
    kept.push_back("GET " + std::string(target));
    all.back().route = kept.back().c_str();
  }
  all.push_back(
      {"POST /v1/policy/diff", "", [](const Asked& asked) {
         return asked.send("POST", "/v1/policy/diff", nlohmann::json{{"yaml", served_policy()}}.dump());
       }});
  all.push_back({"PUT /v1/policy", "", [](const Asked& asked) {
                   const std::string tag = asked.clinic.ask(kAlice, "GET", "/v1/policy").header("etag");
                   return asked.send("PUT", "/v1/policy", nlohmann::json{{"yaml", served_policy()}}.dump(),
                                     {{"if-match", tag}});
                 }});
  all.push_back(plain("GET /v1/checkpoints", "GET", "/v1/checkpoints"));
  all.back().state = "none";
  all.push_back(plain("POST /v1/checkpoints", "POST", "/v1/checkpoints"));
  all.back().state = "no key";
  all.push_back({"GET /v1/checkpoints", "signed", [](const Asked& asked) {
                   static_cast<void>(asked.clinic.sign_checkpoints());
                   return asked.send("GET", "/v1/checkpoints");
                 }});
  all.push_back({"POST /v1/checkpoints", "something new", [](const Asked& asked) {
                   static_cast<void>(made(asked.clinic, "granted"));
                   return asked.send("POST", "/v1/checkpoints");
                 }});
  all.push_back({"POST /v1/checkpoints", "nothing new", [](const Asked& asked) {
                   REQUIRE(asked.clinic.ask(kOtto, "POST", "/v1/checkpoints").status < 300);
                   return asked.send("POST", "/v1/checkpoints");
                 }});
  all.push_back({"GET /v1/proofs/ID", "granted",
                 [](const Asked& asked) { return asked.send("GET", "/v1/proofs/" + asked.id); }});
  for (const char* state : {"granted", "refused", "reserved", "none"}) {
    all.push_back({"GET /v1/proofs/ID", state, [](const Asked& asked) {
                     REQUIRE(asked.clinic.ask(kOtto, "POST", "/v1/checkpoints").status < 300);
                     return asked.send("GET", "/v1/proofs/" + asked.id);
                   }});
    static std::vector<std::string> told;
    told.reserve(8);
    told.push_back(std::string(state) == "none" ? "none" : std::string(state) + ", signed");
    all.back().told = told.back().c_str();
  }
  const auto verification = [](const char* route, const char* method, const char* verb) {
    return Row{route, "begun", [=](const Asked& asked) {
                 const Reply begun = asked.clinic.ask(kDora, "POST", "/v1/verifications");
                 const std::string id = begun.body.at("id");
                 Reply reply = asked.send(method, "/v1/verifications/" + id + verb);
                 static_cast<void>(asked.clinic.ask(kDora, "GET", "/v1/verifications/" + id + "?wait=60"));
                 return reply;
               }};
  };
  all.push_back({"POST /v1/verifications", "", [](const Asked& asked) {
                   Reply reply = asked.send("POST", "/v1/verifications");
                   while (!asked.clinic.audits.idle(std::chrono::steady_clock::now())) {
                   }
                   return reply;
                 }});
  all.push_back(verification("GET /v1/verifications/ID", "GET", ""));
  all.push_back(verification("POST /v1/verifications/ID/cancel", "POST", "/cancel"));
  all.push_back(
      plain("GET /v1/verifications/ID", "GET", "/v1/verifications/0123456789abcdef0123456789abcdef"));
  all.back().state = "none";
  all.push_back(plain("POST /v1/reaccounts", "POST", "/v1/reaccounts"));
  for (const char* route : {"GET /healthz", "GET /readyz", "GET /openapi.json", "GET /metrics"}) {
    all.push_back(plain(route, "GET", route + 4));
  }
  return all;
}

/// The status, and "-" behind it where a value was released that is not shown.
std::string cell(const Reply& reply, const std::string& state) {
  std::string text = std::to_string(reply.status);
  const bool of_one = reply.body.is_object() && reply.body.contains("value") && state == "granted";
  if (of_one && reply.body.at("state") == "granted" && reply.body.at("value").is_null()) text += " -";
  // An interval says what the value is.
  if (of_one && reply.body.contains("interval") && reply.body.at("value").is_null()) {
    CHECK(reply.body.at("interval").is_null());
  }
  if (reply.status >= 400 && reply.body.is_object()) {
    // A problem says nothing of who else there is, nor where anything lies.
    CHECK(reply.response.body.find("/tmp") == std::string::npos);
    CHECK(reply.body.contains("code"));
  }
  return text;
}

std::string table() {
  ServedClinic clinic;
  std::ostringstream text;
  text << "| route | request |";
  for (const Column& column : kColumns) text << " " << column.name << " |";
  text << "\n|---|---|";
  for (std::size_t i = 0; i < kColumns.size(); ++i) text << "---|";
  text << "\n";
  for (const Row& row : rows()) {
    text << "| `" << row.route << "` | " << (row.told == nullptr ? row.state : row.told) << " |";
    for (const Column& column : kColumns) {
      const std::string state = row.state;
      const bool of_request = std::string(row.route).find("ID") != std::string::npos ||
                              std::string(row.route).find("…") != std::string::npos;
      const Asked asked{clinic, column, of_request ? made(clinic, state) : ""};
      text << " " << cell(row.ask(asked), state) << " |";
    }
    text << "\n";
  }
  return text.str();
}

}  // namespace

TEST_CASE("every role gets by every route, in every state of a request, what the table says",
          "[api][roles]") {
  check_page_table("<!-- roles: made by tests/serve/roles_test.cpp, which holds every cell -->\n",
                   "<!-- end of roles -->", table());
}
