// What is left out of a law of losses is charged, not forgotten.
#include "response_law.hpp"

#include "composition_reference.hpp"
#include "support/catch.hpp"

using namespace epsilog::accounting;
using epsilog::test::number;

TEST_CASE("response law: what the window leaves out is in the rest", "[accounting][composition][optimal]") {
  const ExponentRange range;
  for (const std::uint64_t count : {100U, 1000U, 100'000U}) {
    const LossGroup group{number("0.1"), 0, count};
    const Rational everything = -(group.epsilon * Rational(static_cast<unsigned long>(count))) - 1;
    const EqualResponses law = equal_response_atoms(group, {everything, number("1e-4"), false}, 128);
    Rational least = 0;
    Rational most = law.rest.rational();
    for (const LossLaw::Atom& atom : law.atoms) {
      least += atom.p.low().rational();
      most += atom.p.high().rational();
    }
    CAPTURE(count, least.get_d(), most.get_d());
    CHECK(most >= 1);
    CHECK(least < 1 - number("1e-6"));
    CHECK(law.rest.rational() <= number("2e-4"));
  }
}

TEST_CASE("response law: what leaves the grid counts as lost", "[accounting][composition][optimal]") {
  const ExponentRange range;
  const std::vector<LossGroup> groups{{number("0.1234567"), 0, 400}, {number("0.0718281"), 0, 300}};
  // Formed for epsilon = 0, asked far beyond: nothing of the law is there, but it must not say 0.
  const LossLaw law = grid_law(groups, {0, 0}, 256);
  for (const char* epsilon : {"0", "10", "30", "45"}) {
    const Rational exact = optimal_delta_up(groups, number(epsilon));
    CAPTURE(epsilon, exact.get_d());
    CHECK(law.delta(number(epsilon)).high().rational() >= exact * number("0.999"));
  }
}

TEST_CASE("response law: both ends of the sums agree with the whole", "[accounting][composition][optimal]") {
  const ExponentRange range;
  const std::vector<LossGroup> groups{{number("0.3"), 0, 6}, {number("0.5"), 0, 4}};
  const LossLaw law = sign_class_law(groups, 256);
  // At the lowest loss delta is 1 - e^loss, that of two laws told apart completely.
  const Rational lowest = number("-3.8");
  const Enclosure delta = law.delta(lowest);
  const Enclosure expected = Enclosure(1UL, 256) - exp(Enclosure(lowest, 256));
  CHECK(abs(delta.high().rational() - expected.low().rational()) < power_of_two(-200));
}
