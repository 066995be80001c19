// What a program may hand to the engine, and what the engine does when the machine gives it nothing.
#include <list>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "in_threads.hpp"
#include "support/catch.hpp"
#include "support/no_randomness.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

constexpr const char* kNotUtf8 =
    "ali\xff"
    "ce";

}  // namespace

TEST_CASE("embedding: an epsilon of any form is the number it denotes", "[engine][embedding]") {
  auto [clinic, engine] = Open<Clinic>();
  engine::Request asked = request("count", "0.1", "k");
  asked.epsilon = Rational(2, 20);
  const engine::Answer first = release(engine, asked);
  REQUIRE(first.recorded.granted);
  CHECK(first.planned.record.requested == Rational(1, 10));
  asked.epsilon = Rational(-1, -10);
  CHECK(release(engine, asked).recorded.decision_id == first.recorded.decision_id);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("embedding: numbers that are none, or out of their range, are refused before anything happens",
          "[engine][embedding][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  engine::Request asked = request("count", "0.1");
  asked.epsilon = Rational(1, -10);
  CHECK_THROWS_AS(release(engine, asked), InvalidParameter);
  CHECK_THROWS_AS(engine.plan(asked, {}), InvalidParameter);
  CHECK_THROWS_AS(engine.forecast(asked, {}), InvalidParameter);
  CHECK_THROWS_AS(asked.epsilon = Rational(1, 0), InvalidParameter);
  CHECK_THROWS_AS(asked.delta = Rational(1, 0), InvalidParameter);
  asked.epsilon = Rational(1, 10);
  for (const Rational& delta : {Rational(1, -10), Rational(3, 2), Rational(0)}) {
    asked.delta = delta;
    CHECK_THROWS_AS(release(engine, asked), InvalidParameter);
  }
  asked.delta.reset();
  CHECK_THROWS_AS(engine.forecast_of_accuracy(asked, {Rational(1, -20), 3}, {}), InvalidParameter);
  CHECK_THROWS_AS(engine.forecast_of_accuracy(asked, {Rational(1, 20), Rational(3, -1)}, {}),
                  InvalidParameter);
  CHECK(decisions(engine) == 0);
}

TEST_CASE("embedding: an engine is moved by construction and by assignment, and one moved from says so",
          "[engine][embedding]") {
  Clinic clinic;
  Clinic other("epsilon: 5");
  Engine engine = clinic.open();
  const std::string id = engine.ledger_id();
  Engine built(std::move(engine));
  CHECK(built.ledger_id() == id);
  Engine assigned = other.open();
  engine::PlanSequence sequence = assigned.plan_sequence();
  assigned = std::move(built);
  CHECK(assigned.ledger_id() == id);
  CHECK(release(assigned, request("count", "0.1")).recorded.granted);
  // What was begun with the engine that was there before goes on.
  CHECK(sequence.next(request("count", "4"), {}).recorded.granted);

  mechanisms::SystemBits bits;
  const engine::Request asked = request("count", "0.1");
  const auto ignore = [](const engine::Answer&) {};
  const std::string policy = clinic.folder.path("policy.yaml");
  const std::vector<std::function<void(Engine&)>> calls{
      [&](Engine& gone) { static_cast<void>(gone.plan(asked, {})); },
      [&](Engine& gone) { static_cast<void>(gone.forecast(asked, {})); },
      [&](Engine& gone) { static_cast<void>(gone.forecast_of_count(asked, 1, {})); },
      [&](Engine& gone) {
        static_cast<void>(gone.forecast_of_accuracy(asked, {Rational(1, 20), 3}, {}));
      },
      [&](Engine& gone) { static_cast<void>(gone.plan_sequence()); },
      [&](Engine& gone) { static_cast<void>(gone.release(asked, bits, {})); },
      [&](Engine& gone) {
        static_cast<void>(release_many(gone, {&asked, 1}));
      },
      [&](Engine& gone) {
        engine::Request held = asked;
        held.reservation = engine::ReservationKind::reserved;
        static_cast<void>(gone.reserve(held, {}));
      },
      [&](Engine& gone) { static_cast<void>(commit(gone, "id")); },
      [&](Engine& gone) { gone.cancel("id", "alice"); },
      [&](Engine& gone) { gone.issue_token("id", "alice"); },
      [&](Engine& gone) { gone.approve("id", "alice"); },
      [&](Engine& gone) { gone.reject("id", "alice", "why"); },
      [&](Engine& gone) { gone.pending("", ignore); },
      [&](Engine& gone) { static_cast<void>(gone.budget("")); },
      [&](Engine& gone) { static_cast<void>(gone.notes("")); },
      [&](Engine& gone) { gone.history("", 0, ignore); },
      [&](Engine& gone) { static_cast<void>(gone.show("id", {})); },
      [&](Engine& gone) { static_cast<void>(gone.active_policy()); },
      [&](Engine& gone) { static_cast<void>(gone.active_policy_version()); },
      [&](Engine& gone) { static_cast<void>(gone.ledger_id()); },
      [&](Engine& gone) { gone.apply_policy(policy, "curator", ""); },
      [&](Engine& gone) { static_cast<void>(gone.review(policy)); },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CAPTURE(i);
    for (Engine* gone : {&engine, &built}) {
      std::string said;
      try {
        calls[i](*gone);
      } catch (const InvalidParameter& error) {
        said = error.what();
      }
      CHECK(said.find("moved from") != std::string::npos);
    }
  }
  engine = clinic.open();
  CHECK(engine.ledger_id() == id);
  CHECK(decisions(engine) == 1);
}

TEST_CASE("embedding: an alpha no accuracy can be told at is refused before anything is charged",
          "[engine][embedding][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  mechanisms::SystemBits bits;
  for (const Rational& alpha :
       {Rational(0), Rational(1), Rational(7, 2), Rational(1, -20), accounting::power_of_two(-16'385)}) {
    CHECK_THROWS_AS(engine.release(request("count", "0.1"), bits, {alpha}), InvalidParameter);
  }
  CHECK_THROWS_AS(Alphas({Rational(1, 0)}), InvalidParameter);
  CHECK(spent(engine) == "0");
  const auto least = engine.release(request("count", "0.1"), bits, {accounting::power_of_two(-16'384)});
  CHECK(least.planned.accuracy.at(0).at(0).a > 0);
}

TEST_CASE("embedding: alphas are taken from any range of exact numbers, in canonical form",
          "[engine][embedding]") {
  auto [clinic, engine] = Open<Clinic>();
  const auto told = [&](const Alphas& alphas) {
    std::vector<Rational> result;
    const engine::Answer plan = engine.plan(request("count", "0.1"), alphas);
    for (const Accuracy& accuracy : plan.planned.accuracy.at(0)) {
      result.push_back(accuracy.alpha);
    }
    return result;
  };
  const std::vector<Rational> expected{Rational(1, 20), Rational(1, 100)};
  const std::vector<Rational> vector{Rational(5, 100), Rational(2, 200)};
  const Rational raw[] = {Rational(1, 20), Rational(1, 100)};
  CHECK(told(vector) == expected);
  CHECK(told(raw) == expected);
  CHECK(told(std::list<accounting::Exact>{expected[0], expected[1]}) == expected);
  CHECK(told({Rational(5, 100), Rational(1, 100)}) == expected);
  CHECK(told({Rational(1, 100)}) == std::vector{Rational(1, 100)});  // whatever was told of the plan before
  CHECK(told({}).empty());
}

TEST_CASE("embedding: what is not UTF-8 is refused before anything happens",
          "[engine][embedding][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  const std::vector<std::function<void(engine::Request&)>> faults{
      [](engine::Request& asked) { asked.principal = kNotUtf8; },
      [](engine::Request& asked) { asked.key = kNotUtf8; },
      [](engine::Request& asked) { asked.purpose = kNotUtf8; },
      [](engine::Request& asked) { asked.dataset = kNotUtf8; },
      [](engine::Request& asked) { asked.question.statistic.subject = kNotUtf8; },
      [](engine::Request& asked) { asked.question.by = {kNotUtf8}; },
      [](engine::Request& asked) {
        asked.question.where = engine::Predicate::parse("ward = 'A'");
        asked.question.by = {kNotUtf8};
      },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    CAPTURE(i);
    engine::Request asked = request("sum:cost", "0.1");
    faults[i](asked);
    CHECK_THROWS_AS(release(engine, asked), InvalidParameter);
  }
  CHECK(decisions(engine) == 0);
}

TEST_CASE("embedding: a name or a reason that is not UTF-8 changes nothing of what waits",
          "[engine][embedding][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  engine::Request asked = held(request("count", "0.1"));
  const std::string id = engine.reserve(asked, {}).recorded.decision_id;
  mechanisms::SystemBits bits;
  CHECK_THROWS_AS(engine.reject(id, "curator", kNotUtf8), InvalidParameter);
  CHECK_THROWS_AS(engine.reject(id, kNotUtf8, ""), InvalidParameter);
  CHECK_THROWS_AS(engine.approve(id, kNotUtf8), InvalidParameter);
  CHECK_THROWS_AS(engine.cancel(id, kNotUtf8), InvalidParameter);
  CHECK_THROWS_AS(engine.issue_token(id, kNotUtf8), InvalidParameter);
  CHECK_THROWS_AS(engine.commit(id, kNotUtf8, std::nullopt, bits, {}), InvalidParameter);
  CHECK_THROWS_AS(engine.apply_policy(clinic.folder.path("policy.yaml"), kNotUtf8, ""), InvalidParameter);
  CHECK_THROWS_AS(engine.apply_policy(clinic.folder.path("policy.yaml"), "curator", kNotUtf8),
                  InvalidParameter);
  CHECK_THROWS_AS(Engine::init(clinic.folder.path("policy.yaml"), clinic.folder.path("new"), kNotUtf8),
                  InvalidParameter);
  CHECK(decisions(engine) == 1);
  CHECK(engine.show(id, {}).recorded.state == engine::RequestState::reserved);
}

TEST_CASE("embedding: a stored policy that cannot be parsed is said each time it is asked for",
          "[engine][embedding][negative]") {
  Clinic clinic;
  std::string id;
  {
    Engine engine = clinic.open();
    id = release(engine, request("count", "0.1")).recorded.decision_id;
  }
  tamper(clinic.ledger(), "UPDATE policy_version SET yaml = 'version: 1\ndatasets: none\n'");
  const Engine engine = clinic.open();
  for (int time = 0; time < 3; ++time) {
    CHECK_THROWS_AS(engine.show(id, {}), LedgerCorrupt);
    CHECK_THROWS_AS(engine.active_policy(), LedgerCorrupt);
    CHECK_THROWS_AS(decisions(engine), LedgerCorrupt);
  }
}

TEST_CASE("embedding: threads that parse the same policy at once plan the same", "[engine][embedding]") {
  Clinic clinic;
  for (int round = 0; round < 5; ++round) {
    const Engine engine = clinic.open();
    std::array<Rational, 4> adjusted;
    in_threads(static_cast<int>(adjusted.size()), [&](int i) {
      Rational& own = adjusted[static_cast<std::size_t>(i)];
      own = engine.plan(request("mean:cost", "0.5"), {Rational(1, 20)}).planned.record.adjusted;
    });
    for (const Rational& own : adjusted) CHECK(own == adjusted[0]);
    CHECK(adjusted[0] > 0);
  }
}

TEST_CASE("embedding: a machine without randomness refuses to draw, and nothing is charged",
          "[engine][embedding][negative]") {
  Clinic clinic;
  const int status = without_randomness([] {
    try {
      mechanisms::SystemBits bits;
      return 1;
    } catch (const EntropyUnavailable&) {
      return 0;
    }
  });
  if (status == kCannotRefuse) return;
  CHECK(status == 0);

  // The same while a release draws: the first bytes came, the others do not.
  const int in_release = without_randomness([&clinic] {
    class Unseeded final : public mechanisms::BitSource {
      void fill(std::span<std::byte> bytes) override { mechanisms::SystemBits().fill(bytes); }
    };
    try {
      Engine engine = clinic.open();
      Unseeded bits;
      (void)engine.release(request("count", "0.5"), bits, {});
      return 1;
    } catch (const EntropyUnavailable&) {
      return 0;
    }
  });
  CHECK(in_release == 0);
  const Engine engine = clinic.open();
  CHECK(spent(engine) == "0");
  CHECK(decisions(engine) == 0);
}

TEST_CASE("embedding: a ledger is not made without randomness", "[engine][embedding][negative]") {
  Clinic clinic;
  const std::string path = clinic.folder.path("another.ledger");
  const int status = without_randomness([&] {
    try {
      (void)Engine::init(clinic.folder.path("policy.yaml"), path, "curator");
      return 1;
    } catch (const EntropyUnavailable&) {
      return 0;
    }
  });
  if (status == kCannotRefuse) return;
  CHECK(status == 0);
  CHECK_NOTHROW(Engine::init(clinic.folder.path("policy.yaml"), path, "curator"));
}
