// The accountants side by side: each the bound of its own theorem, and none where it has nothing to say.
#include "composition_reference.hpp"
#include "epsilog/accounting/accountant.hpp"
#include "epsilog/accounting/advanced_composition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;
using epsilog::test::number;

namespace {

using Kind = ComposedLaw::Kind;

ComposedLaw law(Kind kind, const char* scale, const char* sensitivity, std::uint64_t count) {
  return {kind, number(scale), number(sensitivity), 0, 0, count};
}

KnownLoss guarantee(const char* epsilon, const char* delta, std::uint64_t count) {
  return known_loss({Kind::approximate, 0, 0, number(epsilon), number(delta), count});
}

}  // namespace

TEST_CASE("accountants: each gives the bound of its own theorem", "[accounting][accountant]") {
  const std::vector<KnownLoss> losses{known_loss(law(Kind::laplace, "10", "1", 50)),
                                      known_loss({Kind::pure, 0, 0, number("0.2"), 0, 10})};
  const std::vector<ComposedLaw> laws{*losses[0].law, *losses[1].law};
  const std::vector<LossGroup> groups{{number("0.1"), 0, 50}, {number("0.2"), 0, 10}};
  const Rational delta = number("1e-6");
  const auto epsilon = [&](Accountant accountant) { return composed_epsilon_up(accountant, losses, delta); };
  CHECK(epsilon(Accountant::pure) == Rational(7));
  CHECK(epsilon(Accountant::approximate) == Rational(7));
  CHECK(epsilon(Accountant::advanced) == advanced_epsilon_up(groups, delta));
  CHECK(epsilon(Accountant::optimal) == optimal_epsilon_up(groups, delta));
  CHECK(epsilon(Accountant::zcdp) == zcdp_epsilon_up(number("0.45"), delta));
  CHECK(epsilon(Accountant::pld) == pld_epsilon_up(laws, delta));
  RenyiCurve curve = renyi_curve_up(laws[0]);
  compose_renyi(curve, renyi_curve_up(laws[1]));
  CHECK(abs(epsilon(Accountant::rdp).value() - renyi_epsilon_up(curve, delta)) < number("1e-30"));

  const auto deltas = [&](Accountant accountant) { return composed_delta_up(accountant, losses, 3); };
  CHECK_FALSE(deltas(Accountant::pure));
  CHECK_FALSE(deltas(Accountant::approximate));
  CHECK(composed_delta_up(Accountant::pure, losses, 7) == Rational(0));
  CHECK(deltas(Accountant::advanced) == advanced_delta_up(groups, 3));
  CHECK(deltas(Accountant::optimal) == optimal_delta_up(groups, 3));
  CHECK(deltas(Accountant::zcdp) == zcdp_delta_up(number("0.45"), 3));
  CHECK(deltas(Accountant::pld) == pld_delta_up(laws, 3));
  CHECK(abs(deltas(Accountant::rdp).value() - renyi_delta_up(curve, 3)) < number("1e-30"));
}

TEST_CASE("accountants: pld is never above optimal, where its grid alone is",
          "[accounting][accountant][pld]") {
  const Rational delta = number("1e-6");
  int above = 0;
  for (const char* epsilon : {"0.3", "1/3", "0.0123", "0.777"}) {
    for (const std::uint64_t count : {3U, 7U, 20U, 300U}) {
      CAPTURE(epsilon, count);
      const ComposedLaw pure{Kind::pure, 0, 0, number(epsilon), 0, count};
      const std::vector<KnownLoss> losses{known_loss(pure)};
      const auto optimal = composed_epsilon_up(Accountant::optimal, losses, delta);
      above += pld_epsilon_up(std::vector{pure}, delta) > optimal ? 1 : 0;
      CHECK(composed_epsilon_up(Accountant::pld, losses, delta) <= optimal);
      const Rational asked = optimal.value() * Rational(9, 10);
      CHECK(composed_delta_up(Accountant::pld, losses, asked) <=
            composed_delta_up(Accountant::optimal, losses, asked));
    }
  }
  CHECK(above > 0);
}

TEST_CASE("accountants: the Renyi order found by search is the best of the grid",
          "[accounting][accountant]") {
  for (const ComposedLaw& one :
       {law(Kind::laplace, "1", "1", 1), law(Kind::laplace, "300", "1", 100'000),
        law(Kind::gaussian, "5", "1", 7), law(Kind::discrete_laplace, "20", "3", 40)}) {
    const RenyiCurve curve = renyi_curve_up(one);
    const RenyiDivergence divergence = [&](const Rational& order) { return renyi_of_law_up(one, order); };
    for (const char* delta : {"0.5", "1e-3", "1e-9", "1e-100"}) {
      CAPTURE(one.scale.get_d(), delta);
      CHECK(renyi_epsilon_by_search_up(divergence, number(delta)) == renyi_epsilon_up(curve, number(delta)));
    }
    for (const char* epsilon : {"0", "0.01", "1", "20"}) {
      CAPTURE(one.scale.get_d(), epsilon);
      CHECK(renyi_delta_by_search_up(divergence, number(epsilon)) == renyi_delta_up(curve, number(epsilon)));
    }
  }
}

TEST_CASE("accountants: a loss with a rho and a guarantee is what each can use of it",
          "[accounting][accountant]") {
  KnownLoss both = guarantee("0.3", "1e-6", 5);
  both.rho = number("0.002");
  const std::vector<KnownLoss> losses{both, guarantee("0.1", "1e-8", 2)};
  const Rational delta = number("1e-4");
  CHECK(composed_epsilon_up(Accountant::approximate, losses, delta) == number("1.7"));
  // rho stands for the first, so that only the delta of the second is lost beside it.
  CHECK(composed_epsilon_up(Accountant::zcdp, losses, delta) ==
        zcdp_epsilon_up(number("0.02"), delta - number("2e-8")));
  CHECK(composed_delta_up(Accountant::zcdp, losses, 1) == zcdp_delta_up(number("0.02"), 1) + number("2e-8"));
  CHECK_FALSE(composed_epsilon_up(Accountant::zcdp, losses, number("2e-8")));
}

TEST_CASE("accountants: a rho alone is nothing to those that need a law or an epsilon",
          "[accounting][accountant]") {
  KnownLoss alone;
  alone.rho = number("0.1");
  alone.count = 3;
  const std::vector<KnownLoss> losses{alone};
  for (const Accountant accountant : kAccountants) {
    CAPTURE(name(accountant));
    const bool known = accountant == Accountant::zcdp || accountant == Accountant::rdp;
    CHECK(composed_epsilon_up(accountant, losses, number("1e-6")).has_value() == known);
    CHECK(composed_delta_up(accountant, losses, 1).has_value() == known);
  }
  CHECK(composed_epsilon_up(Accountant::zcdp, losses, number("1e-6")) ==
        zcdp_epsilon_up(number("0.3"), number("1e-6")));
}

TEST_CASE("accountants: nothing composed costs nothing, and nonsense is refused",
          "[accounting][accountant][negative]") {
  for (const Accountant accountant : kAccountants) {
    CHECK(composed_epsilon_up(accountant, {}, 0) == Rational(0));
    CHECK(composed_delta_up(accountant, {}, 0) == Rational(0));
    CHECK_FALSE(name(accountant).empty());
  }
  const std::vector<KnownLoss> losses{guarantee("1", "0", 1)};
  CHECK_THROWS_AS(composed_epsilon_up(Accountant::pure, losses, 1), InvalidParameter);
  CHECK_THROWS_AS(composed_epsilon_up(Accountant::pure, losses, -1), InvalidParameter);
  CHECK_THROWS_AS(composed_delta_up(Accountant::pure, losses, -1), InvalidParameter);
  const std::vector<KnownLoss> unknown{KnownLoss{}};
  CHECK_THROWS_WITH(composed_epsilon_up(Accountant::pure, unknown, 0),
                    "loss 1: has neither a guarantee nor a rho");
}
