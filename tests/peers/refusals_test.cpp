// What a refusal did to other systems' accounts.
#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "two_budgets.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;

namespace {

/// Counts what is drawn.
class CountedBits final : public mechanisms::BitSource {
 public:
  void fill(std::span<std::byte> bytes) override {
    ++fills;
    system_.fill(bytes);
  }
  int fills = 0;

 private:
  mechanisms::SystemBits system_;
};

}  // namespace

// OpenDP's privacy filter evaluated the query, then checked it, and on refusal dropped its state: one ask too
// large ended the filter, even the reading of its loss.
TEST_CASE("An ask too large does not end the account: what fits passes, and the balance can be read",
          "[peers][refusal]") {
  const Clinic clinic("epsilon: 1");
  Engine engine = clinic.open();
  for (const char* ask : {"1.5", "1.000000000001", "2000000"}) {
    const Answer refused = release(engine, supplied("5", ask));
    CHECK_FALSE(refused.recorded.granted);
    CHECK(refused.recorded.reasons.at(0).fits == "1");
    CHECK(spent(engine) == "0");
  }
  CHECK(release(engine, supplied("5", "0.4")).recorded.granted);
  CHECK_FALSE(release(engine, supplied("5", "0.7")).recorded.granted);
  CHECK(release(engine, supplied("5", "0.6")).recorded.granted);
  CHECK(spent(engine) == "1");
  CHECK(decision_counts(engine).refused == 4);
}

TEST_CASE("A question that is refused is never computed: no row is read and no bit is drawn",
          "[peers][refusal]") {
  const Clinic clinic("epsilon: 1");
  Engine engine = clinic.open();
  std::filesystem::remove(clinic.folder.path("visits.csv"));
  CountedBits bits;
  bool read = false;
  const Answer refused =
      engine.release(request("mean:cost", "1.5"), bits, {}, [&read](double) { read = true; });
  CHECK_FALSE(refused.recorded.granted);
  CHECK_FALSE(read);
  CHECK(bits.fills == 0);
  // What would be granted does need the rows.
  CHECK_THROWS_AS(engine.release(request("mean:cost", "1"), bits, {}), SourceError);
  CHECK(bits.fills == 0);
}

// W3C attribution (an early draft) set the budget to zero on an oversized request. Privacy on Beam marked a
// budget as partially consumed also when consuming it had failed, and then refused "take all that is left".
TEST_CASE("After failures of every kind all that is left can still be taken in one piece",
          "[peers][refusal]") {
  const Clinic clinic("epsilon: 1");
  Engine engine = clinic.open();
  CHECK_FALSE(release(engine, supplied("5", "1.5")).recorded.granted);
  CHECK_THROWS_AS(release(engine, request("value:score", "0.5")), InvalidParameter);
  CHECK_THROWS_AS(release(engine, supplied("5", "-1")), InvalidParameter);
  CHECK_THROWS_AS(release(engine, request("value:scores", "0.5")), NotFound);
  std::filesystem::rename(clinic.folder.path("visits.csv"), clinic.folder.path("elsewhere.csv"));
  CHECK_THROWS_AS(release(engine, request("count", "0.5")), SourceError);
  const Answer all = release(engine, supplied("5", "1"));
  CHECK(all.recorded.granted);
  CHECK(spent(engine) == "1");
}

// In lomas the epsilon of a request was debited before its delta was looked at; in WFA and PBS several
// budgets of one request are debited row by row.
TEST_CASE("A request that one of two budgets cannot hold is charged to neither, and both are named",
          "[peers][refusal]") {
  const Clinic clinic("epsilon: 1, delta: 1e-7", kGaussian);
  Engine engine = clinic.open();
  REQUIRE(release(engine, two_part_request()).recorded.granted);
  const Answer delta_only = release(engine, two_part_request());
  CHECK_FALSE(delta_only.recorded.granted);
  REQUIRE(delta_only.recorded.reasons.size() == 1);
  CHECK(delta_only.recorded.reasons[0].measure == "delta");
  engine::Request larger = two_part_request();
  larger.epsilon = 3;
  const Answer both = release(engine, larger);
  REQUIRE(both.recorded.reasons.size() == 2);
  CHECK(both.recorded.reasons[0].measure == "delta");
  CHECK(both.recorded.reasons[1].measure == "epsilon");
  CHECK(both.recorded.reasons[1].fits == "0.5");
  CHECK(spent_units(engine).epsilon == 500'000'000'000);
  CHECK(spent_units(engine).delta == 100'000'000'000);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}
