// Every calculator, whatever the process did to floating point.
#include "epsilog/accounting/floating_point.hpp"

#include "epsilog/accounting/accountant.hpp"
#include "epsilog/accounting/advanced_composition.hpp"
#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/failure_probability.hpp"
#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/accounting/optimal_composition.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "support/floating_point_settings.hpp"

using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

std::string shown(const Rational& value) {
  return value.get_str();
}
std::string shown(const std::optional<Rational>& value) {
  return value ? value->get_str() : "none";
}

const Rational kDelta(1, 1'000'000);
const std::vector<LossGroup> kGroups{{Rational(1, 10), 0, 40}, {Rational(1, 3), Rational(1, 10'000'000), 7}};

ComposedLaw gaussian(const Rational& sigma, std::uint64_t count) {
  ComposedLaw law;
  law.kind = ComposedLaw::Kind::gaussian;
  law.scale = sigma;
  law.sensitivity = 1;
  law.count = count;
  return law;
}

ComposedLaw laplace(const Rational& scale, std::uint64_t count) {
  ComposedLaw law;
  law.scale = scale;
  law.sensitivity = 1;
  law.count = count;
  return law;
}

}  // namespace

TEST_CASE("floating point: an inner guard does not end what an outer one promises", "[accounting][fp]") {
  for (const FloatingPointSetting& setting : epsilog::test::floating_point_settings()) {
    CAPTURE(setting.name);
    const auto [inside, again] = with_floating_point(setting, [] {
      const DefaultFloatingPoint outer;
      const FloatingPointState first;
      { const DefaultFloatingPoint inner; }
      return std::pair(first, FloatingPointState());
    });
    const auto expected = with_floating_point({"as at the start"}, [] {
      const DefaultFloatingPoint guard;
      return FloatingPointState().rounding;
    });
    CHECK(inside.rounding == expected);
    CHECK(inside == again);
  }
}

TEST_CASE("floating point: what a guarded caller's function sets does not stay", "[accounting][fp]") {
  for (const FloatingPointSetting& setting : epsilog::test::floating_point_settings()) {
    CAPTURE(setting.name);
    for (const int rounding : {FE_UPWARD, FE_TONEAREST}) {
      const bool same = with_floating_point(setting, [rounding] {
        const DefaultFloatingPoint outer;
        const FloatingPointState before;
        {
          const DefaultFloatingPoint inner;
          std::fesetround(rounding);
          std::feraiseexcept(FE_OVERFLOW);
        }
        return FloatingPointState() == before;
      });
      CHECK(same);
    }
  }
}

TEST_CASE("floating point: doubles become the same numbers and texts in every setting", "[accounting][fp]") {
  const double tiny = 3 * std::numeric_limits<double>::denorm_min();
  check_everywhere("exactly", [&] { return shown(MpfrNumber::exactly(tiny).rational()); });
  check_everywhere("hexfloat", [] { return hexfloat_text(5 * power_of_two(-1074)); });
  check_everywhere("nearest", [] {
    const MpfrNumber least = MpfrNumber::exactly(Rational(5 * power_of_two(-1070)));
    const double nearest = least.nearest_double();
    return shown(MpfrNumber::exactly(nearest).rational());
  });
  check_everywhere("nearest of a third", [] {
    return shown(
        MpfrNumber::exactly(MpfrNumber::rounded(Rational(1, 3), 200, MPFR_RNDN).nearest_double()).rational());
  });
}

TEST_CASE("floating point: compositions are certified to the same digits in every setting",
          "[accounting][fp][composition]") {
  check_everywhere("drv", [] { return shown(dwork_rothblum_vadhan_epsilon_up(kGroups, kDelta)); });
  check_everywhere("advanced epsilon", [] { return shown(advanced_epsilon_up(kGroups, kDelta)); });
  check_everywhere("advanced delta", [] { return shown(advanced_delta_up(kGroups, 3)); });
  check_everywhere("fully adaptive", [] { return shown(fully_adaptive_epsilon_up(kGroups, kDelta)); });
  check_everywhere("failure", [] { return shown(failure_probability_up(kGroups, kDelta)); });
  for (const OptimalMethod method : {OptimalMethod::automatic, OptimalMethod::grid}) {
    check_everywhere("optimal delta", [=] { return shown(optimal_delta_up(kGroups, 3, method)); });
    check_everywhere("optimal epsilon", [=] { return shown(optimal_epsilon_up(kGroups, kDelta, method)); });
  }
}

TEST_CASE("floating point: conversions of zCDP and Renyi divergences keep their digits in every setting",
          "[accounting][fp][conversion]") {
  for (const Rational& rho : {Rational(1, 100), Rational(3, 7), Rational(1, 1'000'000'000)}) {
    check_everywhere("zcdp epsilon", [&] { return shown(zcdp_epsilon_up(rho, kDelta)); });
    check_everywhere("zcdp delta", [&] { return shown(zcdp_delta_up(rho, 2)); });
  }
  check_everywhere("zcdp rho", [] { return shown(zcdp_rho_down(2, kDelta)); });
  const RenyiCurve curve = renyi_curve_up(laplace(3, 20));
  check_everywhere("renyi curve", [] { return shown(renyi_curve_up(laplace(3, 20)).at(40).divergence); });
  check_everywhere("renyi epsilon", [&] { return shown(renyi_epsilon_up(curve, kDelta)); });
  check_everywhere("renyi delta", [&] { return shown(renyi_delta_up(curve, 2)); });
  check_everywhere("renyi divergence", [] { return shown(renyi_divergence_down(8, 2, kDelta)); });
}

TEST_CASE("floating point: privacy loss distributions are certified to the same digits in every setting",
          "[accounting][fp][pld]") {
  const std::vector<ComposedLaw> mixed{gaussian(8, 20), laplace(5, 10)};
  const std::vector<ComposedLaw> equal{laplace(10, 100)};
  check_everywhere("mixed epsilon", [&] { return shown(pld_epsilon_up(mixed, kDelta)); });
  check_everywhere("mixed delta", [&] { return shown(pld_delta_up(mixed, 3)); });
  check_everywhere("epsilon", [&] { return shown(pld_epsilon_up(equal, kDelta)); });
  check_everywhere("epsilon below", [&] { return shown(pld_epsilon_down(equal, kDelta)); });
  check_everywhere("delta below", [&] { return shown(pld_delta_down(equal, 1)); });
}
