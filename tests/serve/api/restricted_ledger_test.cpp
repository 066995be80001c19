// A ledger that may not be written to as it stands: what each route answers.
#include "feature_of_test.hpp"
#include "route.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// What a route is asked for, with an id in its path that names nothing.
Reply ask_route(ServedClinic& clinic, const serve::Route& route) {
  std::string target(route.path);
  const std::size_t id = target.find("{id}");
  if (id != std::string::npos) target.replace(id, 4, "01KE6P8KT0XHXSNR58VBM0Y5TE");
  return clinic.ask(kCarol, std::string(route.method), target, route.takes_body ? "{}" : "",
                    {.curator_socket = true});
}

}  // namespace

TEST_CASE("a ledger that needs a newer program is 503 by every route that reads it, readyz too",
          "[api][feature]") {
  ServedClinic clinic;
  {
    const ledger::FeatureOfTest known("of tomorrow");
    ledger::Ledger newer = ledger::Ledger::open(clinic.ledger(), {});
    ledger::Transaction transaction = newer.begin();
    transaction.announce_feature("of tomorrow");
    static_cast<void>(newer.commit(std::move(transaction)));
  }
  const std::set<std::string_view> without_ledger = {"/healthz", "/openapi.json"};
  for (const serve::Route& route : serve::routes()) {
    CAPTURE(route.method, route.path);
    const Reply reply = ask_route(clinic, route);
    if (without_ledger.contains(route.path)) {
      CHECK(reply.status == 200);
      continue;
    }
    CHECK(reply.status == 503);
    CHECK(reply.body.at("code") == "needs_feature");
    const std::string detail = reply.body.at("detail");
    CHECK(detail.ends_with("needs feature of tomorrow: use a newer Epsilog"));
    CHECK(detail.find(clinic.folder.path("")) == std::string::npos);
  }
}

TEST_CASE("of a sealed ledger every route that reads goes on, and what would be recorded is 503",
          "[api][seal]") {
  ServedClinic clinic;
  const std::string key = R"({"dataset":"clinic","statistic":"count","epsilon":"0.1","key":"k"})";
  const Reply told = clinic.ask(kAlice, "POST", "/v1/releases", key);
  REQUIRE(told.status == 201);
  const Reply waits = clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("1"));
  REQUIRE(waits.status == 202);
  const Reply kept = clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.1"));
  REQUIRE(kept.status == 201);
  CHECK(clinic.ask(kNobody, "GET", "/readyz").status == 200);
  static_cast<void>(ledger::Ledger::seal(clinic.ledger(), "carol", "moves"));
  const auto sealed = [](const Reply& reply) {
    return reply.status == 503 && reply.body.at("code") == "ledger_sealed";
  };
  CHECK(clinic.ask(kNobody, "GET", "/readyz").body.at("code") == "not_ready");
  CHECK(sealed(clinic.ask(kRoot, "GET", "/readyz", "", {.curator_socket = true})));
  CHECK(sealed(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.1"))));
  CHECK(sealed(clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.1"))));
  const Reply seen = clinic.ask(kBob, "GET", "/v1/requests/" + waits.id());
  CHECK(seen.status == 200);
  for (const std::string& verb : {std::string("/approve"), std::string("/reject")}) {
    CAPTURE(verb);
    CHECK(sealed(clinic.ask(kBob, "POST", "/v1/requests/" + waits.id() + verb, R"({"why":"no"})",
                            {.headers = {{"if-match", seen.header("etag")}}})));
  }
  CHECK(sealed(clinic.ask(kAlice, "POST", "/v1/requests/" + kept.id() + "/commit")));
  CHECK(sealed(clinic.ask(kAlice, "POST", "/v1/requests/" + kept.id() + "/cancel")));
  const Reply again = clinic.ask(kAlice, "POST", "/v1/releases", key);
  CHECK(again.status == 200);
  CHECK(again.body.at("value") == told.body.at("value"));
  for (const std::string& route :
       {"/v1/requests/" + waits.id(), "/v1/decisions/" + told.id(), std::string("/v1/decisions"),
        std::string("/v1/pending"), std::string("/v1/budgets"), std::string("/healthz")}) {
    CAPTURE(route);
    CHECK(clinic.ask(kAlice, "GET", route).status == 200);
  }
}
