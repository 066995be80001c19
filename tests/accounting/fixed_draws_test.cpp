// Draws that are fixed in advance: what is charged for them as one.
#include "epsilog/accounting/fixed_draws.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;
using Kind = ComposedLaw::Kind;

namespace {

KnownLoss pure_of(const Rational& epsilon) {
  ComposedLaw law;
  law.kind = Kind::pure;
  law.epsilon = epsilon;
  return known_loss(law);
}

KnownLoss laplace_of(const Rational& epsilon) {
  ComposedLaw law;
  law.sensitivity = 1;
  law.scale = 1 / epsilon;
  return known_loss(law);
}

/// One draw of each law in the list, charged its epsilon.
FixedDraws of_each(const std::vector<KnownLoss>& laws, const std::vector<std::size_t>& numbers,
                   const char* delta) {
  std::vector<FixedDraw> draws;
  for (const std::size_t law : numbers)
    draws.push_back({Epsilon::from_rational_up(laws[law].guarantee->epsilon), law});
  return {laws, std::move(draws), Delta::parse_down(delta)};
}

FixedDraws equal(const KnownLoss& law, std::size_t count, const char* delta) {
  return of_each({law}, std::vector<std::size_t>(count, 0), delta);
}

std::string charged(const ComposedCharge& charge) {
  return std::string(name(charge.by())) + " " + charge.charge().text() + " of " + charge.sum().text();
}

std::vector<std::size_t> first(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

}  // namespace

// The optimum for mechanisms of which only epsilon is known, by enumeration of all sign vectors at 50 digits
// (Python, decimal), rounded up to six digits: 1.7928412377963578…, 0.93504577220979…, 2.49431213347972…
TEST_CASE("fixed draws: figures computed elsewhere, to the last of six digits",
          "[accounting][fixed][exact]") {
  CHECK(charged(equal(pure_of(1), 2, "0.1").all()) == "pld (1.79285, 0.1) of 2");
  CHECK(charged(equal(pure_of(Rational(1, 10)), 10, "0.0001").all()) == "pld (0.935046, 0.0001) of 1");
  CHECK(charged(of_each({pure_of(Rational(1, 2)), pure_of(1)}, {0, 1, 0, 0}, "0.001").all()) ==
        "pld (2.49432, 0.001) of 2.5");
}

// One draw of 1/2 keeps 0.49999999999839… at 10^-12: its six digits are those of the sum.
TEST_CASE("fixed draws: where delta is too small to help it is the sum, with that delta",
          "[accounting][fixed][exact]") {
  CHECK(charged(equal(pure_of(Rational(1, 2)), 1, "1e-12").all()) == "sum (0.5, 0.000000000001) of 0.5");
  CHECK(charged(equal(pure_of(Rational(1, 2)), 2, "1e-18").all()) == "sum (1, 0.000000000000000001) of 1");
}

TEST_CASE("fixed draws: the charge is above a certified lower bound, and hardly above",
          "[accounting][fixed][privacy]") {
  for (const std::size_t count : {2, 30, 400}) {
    for (const char* const delta : {"1e-3", "1e-9"}) {
      CAPTURE(count, delta);
      FixedDraws draws = equal(laplace_of(Rational(1, 10)), count, delta);
      ComposedLaw law = *laplace_of(Rational(1, 10)).law;
      law.count = count;
      const Rational below = pld_epsilon_down(std::vector{law}, Delta::parse_down(delta).rational()).value();
      const Rational epsilon = draws.all().charge().epsilon.rational();
      CHECK(epsilon >= below);
      CHECK(epsilon <= below * Rational(1001, 1000));
      CHECK(epsilon <= draws.all().sum().epsilon.rational());
    }
  }
}

TEST_CASE("fixed draws: with more different laws than are composed it is zCDP, and that exactly",
          "[accounting][fixed][exact]") {
  std::vector<KnownLoss> laws;
  Rational rho = 0;
  for (std::size_t i = 0; i <= FixedDraws::kPldLawsMax; ++i) {
    const Rational epsilon = Rational(static_cast<unsigned long>(1000 + i), 100'000UL);
    laws.push_back(laplace_of(epsilon));
    rho += epsilon * epsilon / 2;
  }
  FixedDraws draws = of_each(laws, first(laws.size()), "1e-6");
  CHECK(draws.all().by() == ComposedBy::zcdp);
  const Rational epsilon = draws.all().charge().epsilon.rational();
  const Rational least = zcdp_epsilon_up(rho, Rational(1, 1'000'000));
  CHECK(epsilon >= least);
  CHECK(epsilon < least + Rational(1, 100'000));
  // One law less is composed; then nothing is left for its parts.
  laws.pop_back();
  FixedDraws fewer = of_each(laws, first(laws.size()), "1e-6");
  CHECK(fewer.all().by() == ComposedBy::pld);
  CHECK(fewer.all().charge().epsilon < draws.all().charge().epsilon);
  CHECK(fewer.charge_of_part(first(100)).by() == ComposedBy::zcdp);
  CHECK(fewer.charge_of_part(first(laws.size())).charge() == fewer.all().charge());
  // By zCDP all but one would cost more than all do: what holds of all holds of them.
  CHECK(fewer.charge_of_part(first(laws.size() - 1)).charge() == fewer.all().charge());
}

TEST_CASE("fixed draws: a part is charged what it would be alone, and no more than all",
          "[accounting][fixed][exact]") {
  const std::vector<KnownLoss> laws{pure_of(Rational(1, 10)), pure_of(1)};
  FixedDraws all = of_each(laws, {0, 1, 0, 0, 1, 0}, "1e-4");
  const std::vector<std::size_t> tenths{0, 2, 3, 5};
  const ComposedCharge part = all.charge_of_part(tenths);
  CHECK(charged(part) == charged(equal(laws[0], 4, "1e-4").all()));
  CHECK(part.draws() == std::vector<ApproximateLoss>(4, Epsilon::parse_down("0.1")));
  CHECK(all.all().draws().size() == 6);
  for (std::size_t count = 1; count <= 6; ++count) {
    CAPTURE(count);
    const ComposedCharge some = all.charge_of_part(first(count));
    CHECK(some.charge().within(all.all().charge()));
    CHECK(some.charge().delta == Delta::parse_down("1e-4"));
    CHECK(some.charge().epsilon <= some.sum().epsilon);
  }
}

TEST_CASE("fixed draws: Gaussian noise is charged by its law, and its own deltas are within that of all",
          "[accounting][fixed][privacy]") {
  ComposedLaw law;
  law.kind = Kind::discrete_gaussian;
  law.sensitivity = 1;
  law.scale = 40;
  KnownLoss loss = known_loss(law);
  loss.guarantee = KnownLoss::Guarantee{Rational(1, 10), Rational(1, 10'000)};
  const FixedDraw draw{{Epsilon::parse_down("0.1"), Delta::parse_down("1e-4")}, 0};
  FixedDraws draws({loss}, std::vector<FixedDraw>(20, draw), Delta::parse_down("0.002"));
  law.count = 20;
  CHECK(draws.all().by() == ComposedBy::pld);
  const Rational epsilon = draws.all().charge().epsilon.rational();
  const Rational below = pld_epsilon_down(std::vector{law}, Rational(2, 1000)).value();
  CHECK(epsilon >= below);
  CHECK(epsilon <= below * Rational(1001, 1000));
  CHECK(draws.all().sum().text() == "(2, 0.002)");
  CHECK_THROWS_WITH(FixedDraws({loss}, std::vector<FixedDraw>(21, draw), Delta::parse_down("0.002")),
                    test::says("more delta than 0.002"));
  // On a fine grid it is continuous noise, of which no scale takes long.
  loss.law->scale = 9'000;
  loss.law->sensitivity = 225;
  FixedDraws fine({loss}, std::vector<FixedDraw>(20, draw), Delta::parse_down("0.002"));
  CHECK(fine.all().by() == ComposedBy::pld);
  CHECK(fine.all().charge().epsilon.rational() >= below);
  CHECK(fine.all().charge().epsilon.rational() <= below * Rational(101, 100));
}

TEST_CASE("fixed draws: what is none is refused", "[accounting][fixed][negative]") {
  const std::vector<KnownLoss> laws{pure_of(Rational(1, 10))};
  const auto made = [&](std::vector<FixedDraw> draws, Delta delta) {
    return FixedDraws(laws, std::move(draws), delta);
  };
  const Delta delta = Delta::parse_down("1e-6");
  const Epsilon tenth = Epsilon::parse_down("0.1");
  CHECK_THROWS_AS(made({}, delta), InvalidParameter);
  CHECK_THROWS_AS(made({{tenth, 0}}, Delta()), InvalidParameter);
  CHECK_THROWS_AS(made({{tenth, 0}}, Delta::parse_down("1")), InvalidParameter);
  CHECK_THROWS_AS(made({{tenth, 1}}, delta), InvalidParameter);
  CHECK_THROWS_AS(made({{Epsilon::parse_down("0.099"), 0}}, delta), InvalidParameter);
  CHECK_THROWS_AS(made({{Epsilon(), 0}}, delta), InvalidParameter);
  FixedDraws fine = made({{tenth, 0}, {tenth, 0}}, delta);
  CHECK_THROWS_AS(fine.charge_of_part({}), InvalidParameter);
  CHECK_THROWS_AS(fine.charge_of_part(std::vector<std::size_t>{1, 0}), InvalidParameter);
  CHECK_THROWS_AS(fine.charge_of_part(std::vector<std::size_t>{0, 0}), InvalidParameter);
  CHECK_THROWS_AS(fine.charge_of_part(std::vector<std::size_t>{2}), InvalidParameter);
}
