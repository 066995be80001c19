// Who gets what by which route: the table of docs/api.md, every cell of which is asked for here.
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// Makes a request of alice in this state, "none": there is none of it.
std::string made(ServedClinic& clinic, const std::string& state) {
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
    return ask("/v1/reservations", clinic.asks("0.001", "value:score", R"(,"reservation":"data_token")"));
  }
  if (state == "cancelled") {
    const std::string id = ask("/v1/reservations", clinic.asks("0.001"));
    REQUIRE(clinic.ask(kAlice, "POST", "/v1/requests/" + id + "/cancel").status == 200);
    return id;
  }
  return "01ARZ3NDEKTSV4RRFFQ69G5FAV";  // there is none of it
}

std::string with(std::string text, const std::string& word, const std::string& other) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + other.size()))
    text.replace(at, word.size(), other);
  return text;
}

/// What a role gets by a row of role_routes.tsv, of a request of alice in this state, made anew.
Reply ask(ServedClinic& clinic, const Role& role, const CaseRow& row, const std::string& state) {
  const auto [route, target, extra] = std::array{row.at(0), row.at(2), row.at(4)};
  std::string id = target.find("ID") == std::string::npos || extra == "begin" ? "" : made(clinic, state);
  std::vector<serve::Header> headers;
  // The ETag as alice sees it, who may not do everything with it.
  const std::string tagged = extra == "tag"          ? "/v1/requests/" + id
                             : extra == "policy tag" ? "/v1/policy"
                                                     : "";
  if (!tagged.empty()) headers.push_back({"if-match", clinic.ask(kAlice, "GET", tagged).header("etag")});
  if (extra == "sign") static_cast<void>(clinic.sign_checkpoints());
  if (extra == "release") static_cast<void>(made(clinic, "granted"));
  if (extra == "checkpoint") REQUIRE(clinic.ask(kOtto, "POST", "/v1/checkpoints").status < 300);
  if (extra == "begin") id = clinic.ask(kDora, "POST", "/v1/verifications").body.at("id");
  std::string body = with(row.at(3), "POLICY", nlohmann::json(served_policy()).dump());
  for (const char* epsilon : {"0.001", "0.6", "1000"})
    body = with(body, std::string("ASK(") + epsilon + ")", clinic.asks(epsilon));
  Reply reply = clinic.ask(role.uid, route.substr(0, route.find(' ')), with(target, "ID", id), body,
                           {.headers = std::move(headers), .curator_socket = role.curator_socket});
  if (extra == "begin") static_cast<void>(clinic.ask(kDora, "GET", "/v1/verifications/" + id + "?wait=60"));
  while (extra == "idle" && !clinic.audits.wait_until_idle(std::chrono::steady_clock::now())) {
  }
  return reply;
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
  std::vector<Role> roles(kRoles.begin(), kRoles.end());
  roles.push_back({"nobody", kNobody});
  for (const Role& role : roles) text << " " << role.name << " |";
  text << "\n|---|---|";
  for (std::size_t i = 0; i < roles.size(); ++i) text << "---|";
  text << "\n";
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/role_routes.tsv")) {
    std::istringstream states(row.at(1).empty() ? ";" : row.at(1));
    for (std::string told; std::getline(states, told, ';');) {
      text << "| `" << row.at(0) << "` | " << told << " |";
      const std::string state = told.substr(0, told.find(','));
      for (const Role& role : roles) text << " " << cell(ask(clinic, role, row, state), state) << " |";
      text << "\n";
    }
  }
  return text.str();
}

}  // namespace

TEST_CASE("every role gets by every route, in every state of a request, what the table says",
          "[api][roles]") {
  check_page_table("<!-- roles: made by tests/serve/roles_test.cpp, which holds every cell -->\n",
                   "<!-- end of roles -->", table());
}
