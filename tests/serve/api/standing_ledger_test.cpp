// A ledger that may not be written to as it stands: what each route answers.
#include <set>
#include <string>
#include <utility>

#include "feature_of_test.hpp"
#include "route.hpp"
#include "served_clinic.hpp"
#include "support/catch.hpp"

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
