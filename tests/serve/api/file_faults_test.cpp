// Errors of the system at the ledger's files under the routes of a daemon: one call fails once. The request
// is answered or is told to come again, never that the ledger is damaged, and the next request succeeds.
#include <cerrno>
#include <cstring>

#include "file_verdict.hpp"
#include "ledger/support/file_faults.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;
using ledger::FileVerdict;
using ledger_tests::FaultyCall;
using ledger_tests::FileFaults;

namespace {

constexpr std::array kErrors = {ENFILE, EMFILE, ENOMEM, ENOSPC, EDQUOT, EFBIG, EIO, EROFS, EACCES};

/// What is there before the fault: a request of alice in the state that the route needs, and what was read of
/// it.
struct Prepared {
  std::string id;
  std::string tag = {};         ///< of the request
  std::string policy_tag = {};  ///< of the active policy
};

/// A request over a route.
struct Route {
  const char* name;
  const char* state;  ///< "" none, else as of made()
  std::function<Reply(ServedClinic& clinic, const Prepared& prepared)> ask;
};

std::string made(ServedClinic& clinic, const std::string& state) {
  if (state.empty()) return "";
  const bool pending = state == "pending";
  const bool granted = state == "granted";
  const std::string more = state == "against a token" ? R"(,"reservation":"data_token")" : "";
  const Reply reply =
      clinic.ask(kAlice, "POST", granted || pending ? "/v1/releases" : "/v1/reservations",
                 clinic.asks(pending ? "0.6" : "0.001", more.empty() ? "count" : "value:score", more));
  REQUIRE(reply.body.contains("decision_id"));
  return reply.id();
}

Prepared prepared_for(ServedClinic& clinic, const Route& route) {
  Prepared prepared{.id = made(clinic, route.state)};
  if (!prepared.id.empty())
    prepared.tag = clinic.ask(kBob, "GET", "/v1/requests/" + prepared.id).header("etag");
  prepared.policy_tag = clinic.ask(kCarol, "GET", "/v1/policy").header("etag");
  return prepared;
}

Route get(const char* name, std::uint32_t uid, const char* target, const char* state = "") {
  return {name, state, [=](ServedClinic& clinic, const Prepared& prepared) {
            return clinic.ask(uid, "GET", target + prepared.id, "", {.curator_socket = uid == kRoot});
          }};
}

Route act(const char* name, std::uint32_t uid, const char* verb, const char* state, const char* text = "") {
  return {name, state, [=](ServedClinic& clinic, const Prepared& prepared) {
            return clinic.ask(uid, "POST", "/v1/requests/" + prepared.id + verb, text);
          }};
}

/// With the same key each time.
Route asks(const char* name, const char* target, const std::string& text) {
  return {name, "",
          [=](ServedClinic& clinic, const Prepared&) { return clinic.ask(kAlice, "POST", target, text); }};
}

const std::string kCount =
    R"({"dataset":"clinic","statistic":"count","epsilon":"0.001","key":"under fault"})";

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = {
      get("GET /readyz", kNobody, "/readyz"),
      get("GET /readyz, curator", kRoot, "/readyz"),
      get("GET /metrics", kOtto, "/metrics"),
      get("GET /v1/me", kAlice, "/v1/me"),
      get("GET /v1/budgets", kAlice, "/v1/budgets"),
      get("GET /v1/pending", kBob, "/v1/pending"),
      get("GET /v1/decisions", kAlice, "/v1/decisions"),
      get("GET /v1/events", kDora, "/v1/events"),
      get("GET /v1/policy", kAlice, "/v1/policy"),
      get("GET /v1/requests/ID", kAlice, "/v1/requests/", "granted"),
      get("GET /v1/decisions/ID", kAlice, "/v1/decisions/", "granted"),
      asks("POST /v1/plans", "/v1/plans", kCount),
      asks("POST /v1/forecasts", "/v1/forecasts",
           R"({"dataset":"clinic","statistic":"count","epsilon":0.1})"),
      asks("POST /v1/releases", "/v1/releases", kCount),
      asks("POST /v1/releases, several", "/v1/releases", R"({"requests":[)" + kCount + "]}"),
      asks("POST /v1/reservations", "/v1/reservations", kCount),
      act("POST …/commit", kAlice, "/commit", "reserved"),
      act("POST …/cancel", kAlice, "/cancel", "reserved"),
      act("POST …/token", kSam, "/token", "against a token"),
      act("POST …/reject", kBob, "/reject", "pending", R"({"why":"no"})"),
      {"POST …/approve", "pending",
       [](ServedClinic& clinic, const Prepared& prepared) {
         return clinic.ask(kBob, "POST", "/v1/requests/" + prepared.id + "/approve", "",
                           {.headers = {{"if-match", prepared.tag}}});
       }},
      {"POST /v1/policy/diff", "",
       [](ServedClinic& clinic, const Prepared&) {
         return clinic.ask(kCarol, "POST", "/v1/policy/diff",
                           nlohmann::json{{"yaml", served_policy()}}.dump());
       }},
      {"PUT /v1/policy", "", [](ServedClinic& clinic, const Prepared& prepared) {
         return clinic.ask(kCarol, "PUT", "/v1/policy",
                           nlohmann::json{{"yaml", served_policy() + "\n# again\n"}}.dump(),
                           {.headers = {{"if-match", prepared.policy_tag}}, .curator_socket = true});
       }}};
  return kRoutes;
}

struct Fault {
  const Route* route = nullptr;
  FaultyCall call;
  int nth = 0;
  int error = 0;
};

/// Every error at the first, a middle and the last of each call that a route makes.
std::vector<Fault> all_faults() {
  std::vector<Fault> all;
  for (const Route& route : routes()) {
    FileFaults faults("");
    ServedClinic clinic;
    faults.watch(clinic.ledger());
    const Prepared prepared = prepared_for(clinic, route);
    faults.count();
    const Reply reply = route.ask(clinic, prepared);
    INFO(route.name << ": " << reply.response.body);
    REQUIRE(reply.status / 100 == 2);
    for (const auto& [call, count] : faults.counted()) {
      std::vector<int> places = {1, (count + 1) / 2, count};
      places.erase(std::unique(places.begin(), places.end()), places.end());
      for (const int nth : places) {
        for (const int error : kErrors) all.push_back({&route, call, nth, error});
      }
    }
  }
  return all;
}

std::string code_of(const Reply& reply) {
  return reply.body.is_object() && reply.body.contains("code") ? reply.body.at("code").get<std::string>()
                                                               : "";
}

/// Whether the fault was reached.
bool try_fault(const Fault& fault) {
  CAPTURE(fault.route->name, static_cast<int>(fault.call.call), fault.call.file, fault.nth,
          ::strerrorname_np(fault.error));
  FileFaults faults("");
  ServedClinic clinic;
  faults.watch(clinic.ledger());
  const Prepared prepared = prepared_for(clinic, *fault.route);
  faults.fail(fault.call, fault.nth, fault.error);
  const Reply reply = fault.route->ask(clinic, prepared);
  if (!faults.failed()) return false;
  CAPTURE(reply.status, reply.response.body);
  CHECK((reply.status / 100 == 2 || reply.status == 503));
  CHECK(code_of(reply) != "ledger_corrupt");
  const bool poisoned = std::filesystem::exists(clinic.ledger() + ".poisoned");
  const auto owner = fault.call.scratch ? ledger::FileRole::beside : ledger::FileRole::ledger;
  const FileVerdict verdict = ledger::file_verdict(fault.call.call, owner, fault.error);
  if (verdict != FileVerdict::poison) CHECK_FALSE(poisoned);
  if (verdict == FileVerdict::transient) CHECK(code_of(reply) != "ledger_unusable");
  if (poisoned) {
    CHECK(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.001")).status == 503);
    return true;
  }
  // What was answered may be over; what was told to come again, comes again.
  const Reply again = reply.status / 100 == 2 ? clinic.ask(kAlice, "GET", "/v1/decisions")
                                              : fault.route->ask(clinic, prepared);
  CAPTURE(again.status, again.response.body);
  if (code_of(again) == "stale_policy") {  // the fault came after COMMIT (docs/api.md)
    CHECK(clinic.ask(kCarol, "GET", "/v1/policy").response.body.find("# again") != std::string::npos);
  } else {
    CHECK(again.status / 100 == 2);
  }
  CHECK(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.001")).status == 201);
  return true;
}

}  // namespace

TEST_CASE("file faults: after a sample of all errors under all routes of a daemon the next request succeeds",
          "[api][fault][files]") {
  constexpr std::size_t kSample = 60;
  std::vector<Fault> all = all_faults();
  REQUIRE(all.size() > 900);
  std::mt19937_64 random(36);
  std::shuffle(all.begin(), all.end(), random);
  std::size_t reached = 0;
  for (std::size_t i = 0; i < kSample; ++i) reached += try_fault(all[i]) ? 1U : 0U;
  CHECK(reached > kSample / 2);
}

TEST_CASE("file faults: after any error under any route of a daemon the next request succeeds",
          "[api][fault][files][.long]") {
  std::size_t reached = 0;
  const std::vector<Fault> all = all_faults();
  for (const Fault& fault : all) reached += try_fault(fault) ? 1U : 0U;
  CHECK(reached > all.size() / 2);
}
