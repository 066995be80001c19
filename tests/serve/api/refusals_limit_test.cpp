// What a principal may still do who was refused as often as the daemon allows: every route, by a table.
#include <set>

#include "route.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

struct LimitedCase {
  std::string name;  ///< of what is asked while there are refusals left, "" for what is asked afterwards
  std::string route;
  std::string who;
  std::string target;
  std::string tagged;  ///< whose ETag goes with it, "" for none
  std::string body;
  int status = 0;
};

std::vector<LimitedCase> limited_cases() {
  std::vector<LimitedCase> cases;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/refusals_limit.tsv")) {
    cases.push_back({row.at(0), row.at(1), row.at(2), row.at(3), row.at(4), row.at(5), std::stoi(row.at(6))});
  }
  return cases;
}

/// The clinic of the table, and the ids of what was asked before.
class LimitedClinic final {
 public:
  Reply ask(const LimitedCase& one) {
    const std::string role = one.who.substr(0, one.who.find(','));
    const auto at =
        std::find_if(kRoles.begin(), kRoles.end(), [&](const Role& known) { return role == known.name; });
    REQUIRE(at != kRoles.end());
    Sent sent{.curator_socket = role != one.who};
    if (!one.tagged.empty()) {
      const Reply seen = clinic.ask(at->uid, "GET", filled(one.tagged));
      REQUIRE(seen.status == 200);
      sent.headers.push_back({"if-match", seen.header("etag")});
    }
    const std::string method = one.route.substr(0, one.route.find(' '));
    return clinic.ask(at->uid, method, filled(one.target), filled(one.body), sent);
  }
  void ask_before(const LimitedCase& one) {
    const Reply reply = ask(one);
    INFO(reply.response.body);
    REQUIRE(reply.status == one.status);
    for (const char* member : {"decision_id", "id"}) {
      if (reply.body.contains(member)) ids_[one.name] = reply.body.at(member);
    }
  }

  ServedClinic clinic;

 private:
  [[nodiscard]] std::string filled(std::string text) const {
    for (std::size_t at = text.find("ID("); at != std::string::npos; at = text.find("ID(")) {
      const std::size_t end = text.find(')', at);
      text.replace(at, end + 1 - at, ids_.at(text.substr(at + 3, end - at - 3)));
    }
    const std::size_t at = text.find("POLICY");
    return at == std::string::npos ? text : text.replace(at, 6, json(served_policy()).dump());
  }

  std::map<std::string, std::string> ids_;
};

}  // namespace

TEST_CASE("a principal without refusals left is limited in new questions and in nothing else, by every route",
          "[api][refusals]") {
  LimitedClinic limited;
  ServedClinic& clinic = limited.clinic;
  static_cast<void>(clinic.sign_checkpoints());
  const std::vector<LimitedCase> cases = limited_cases();
  for (const LimitedCase& one : cases) {
    CAPTURE(one.name);
    if (!one.name.empty()) limited.ask_before(one);
  }
  clinic.api->change(1);
  std::set<std::string> walked;
  for (const LimitedCase& one : cases) {
    if (!one.name.empty()) continue;
    walked.insert(one.route);
    const std::int64_t before = clinic.engine->newest_seq();
    while (one.route == "POST /v1/verifications" &&
           !clinic.audits.wait_until_idle(std::chrono::steady_clock::now())) {
    }
    const Reply reply = limited.ask(one);
    INFO(one.route << " by " << one.who << ": " << one.target << " " << one.body << "\n"
                   << reply.response.body);
    CHECK(reply.status == one.status);
    if (one.status != 429) continue;
    CHECK(reply.body.at("code") == "too_many_refusals");
    CHECK_FALSE(reply.header("retry-after").empty());
    CHECK(clinic.engine->newest_seq() == before);
  }
  std::set<std::string> known;
  for (const serve::Route& route : serve::routes())
    known.insert(std::string(route.method) + " " + std::string(route.path));
  // A new route needs a row.
  CHECK(walked == known);
}
