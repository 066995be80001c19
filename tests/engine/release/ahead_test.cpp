// An Engine that has released before does not look at the ledger a second time for a question that reads no
// source. Each row of the table is something that happens meanwhile, and what its next release is: as that of
// an Engine that has seen nothing yet.
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "in_threads.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

void apply(const Clinic& clinic, const std::string& budget) {
  clinic.folder.write("policy.yaml", clinic_policy(budget));
  Engine other = clinic.open();
  other.apply_policy(clinic.folder.path("policy.yaml"), "curator", "why");
}

/// What an asker is told of it.
std::string told(Engine& engine, const engine::Request& request) {
  try {
    const Answer answer = release(engine, request);
    std::string text = answer.recorded.granted ? "granted" : "refused";
    if (answer.recorded.replayed) text += ", replayed";
    for (const engine::Reason& reason : answer.recorded.reasons)
      text += ", " + std::string(engine::name(reason.code));
    text += ", version " + std::to_string(answer.planned.policy_version);
    return text;
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

struct Happening {
  const char* what;
  std::function<void(const Clinic&)> happens;
  const char* told;  // the beginning of it
};

const std::vector<Happening>& happenings() {
  static const std::vector<Happening> kHappenings = {
      {"nothing", [](const Clinic&) {}, "granted, version 1"},
      {"another applies a policy with budget enough",
       [](const Clinic& clinic) { apply(clinic, "epsilon: 2"); }, "granted, version 2"},
      {"another applies a policy with a smaller budget",
       [](const Clinic& clinic) { apply(clinic, "epsilon: 0.6"); },
       "refused, dataset_budget_exceeded, version 2"},
      {"another spends what was left",
       [](const Clinic& clinic) {
         Engine other = clinic.open();
         REQUIRE(release(other, supplied("5", "2.2")).recorded.granted);
       },
       "refused, dataset_budget_exceeded, version 1"},
      {"another binds the key to the same question",
       [](const Clinic& clinic) {
         Engine other = clinic.open();
         REQUIRE(release(other, supplied("5", "0.5", "k")).recorded.granted);
       },
       "granted, replayed, version 1"},
      {"another binds the key to another question",
       [](const Clinic& clinic) {
         Engine other = clinic.open();
         REQUIRE(release(other, supplied("5", "0.25", "k")).recorded.granted);
       },
       "refused, key_conflict, version 1"},
  };
  return kHappenings;
}

}  // namespace

TEST_CASE("ahead: an engine that has released decides as one that has not", "[engine][ahead]") {
  for (const Happening& happening : happenings()) {
    CAPTURE(happening.what);
    for (const bool warm : {true, false}) {
      CAPTURE(warm);
      auto [clinic, engine] = Open<Clinic>();
      {
        Engine cold = clinic.open();
        REQUIRE(release(warm ? engine : cold, supplied("5", "0.5")).recorded.granted);
      }
      happening.happens(clinic);
      const std::string answer = told(engine, supplied("5", "0.5", "k"));
      CHECK(answer.substr(0, std::string(happening.told).size()) == happening.told);
      CHECK(engine::audit_verify(clinic.ledger()).ok);
    }
  }
}

TEST_CASE("ahead: who was answered before is answered while another has the turn", "[engine][ahead][lock]") {
  Clinic clinic;
  engine::EngineOptions options;
  options.wait_ms = 0;
  Engine engine = Engine::open(clinic.ledger(), options);
  const Answer first = release(engine, supplied("5", "0.5", "k"));
  auto other = ledger::Ledger::open(clinic.ledger(), {});
  const auto turn = other.begin();
  const Answer again = release(engine, supplied("5", "0.5", "k"));
  CHECK(again.recorded.replayed);
  CHECK(again.released.values == first.released.values);
  CHECK_THROWS_AS(release(engine, supplied("5", "0.5", "another")), LedgerBusy);
}

TEST_CASE("ahead: what is wrong with a request is said as before", "[engine][ahead][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  REQUIRE(release(engine, supplied("5", "0.5")).recorded.granted);
  auto missing = supplied("5", "0.5");
  missing.supplied.reset();
  CHECK_THROWS_AS(release(engine, missing), InvalidParameter);
  auto nobody = supplied("5", "0.5");
  nobody.principal.clear();
  CHECK_THROWS_AS(release(engine, nobody), InvalidParameter);
  auto elsewhere = supplied("5", "0.5");
  elsewhere.dataset = "clinics";
  CHECK_THROWS_AS(release(engine, elsewhere), NotFound);
  CHECK(engine.budget("clinic").at(0).balance.spent == accounting::Epsilon::parse_down("0.5").units());
}

TEST_CASE("ahead: threads of one engine share a budget to the last unit", "[engine][ahead][threads]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1");
  std::atomic<int> granted = 0;
  in_threads(6, [&](int i) {
    for (int n = 0; n < 10; ++n) {
      const std::string key = std::to_string(i / 2) + "." + std::to_string(n);  // two threads each
      if (told(engine, supplied("5", "0.05", key)) == "granted, version 1") ++granted;
    }
  });
  CHECK(granted == 20);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}
