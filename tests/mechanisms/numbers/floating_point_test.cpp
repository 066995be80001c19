// Every calculator and mechanism, whatever the process did to floating point.
#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"
#include "epsilog/mechanisms/discrete_mechanism.hpp"
#include "epsilog/mechanisms/gaussian_calibration.hpp"
#include "epsilog/mechanisms/noise_presence.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "epsilog/mechanisms/snapping_for_accuracy.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#include "epsilog/mechanisms/tolerance.hpp"
#include "support/floating_point_settings.hpp"
#include "support/receipt_forge.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;
using epsilog::ledger::Transaction;
using namespace epsilog::test;

namespace {

const Rational kDelta(1, 1'000'000);
const Rational kAlpha(1, 20);
const double kLeast = std::numeric_limits<double>::denorm_min();

std::string shown(const Rational& value) {
  return value.get_str();
}
std::string shown(double value) {
  return MpfrNumber::exactly(value).rational().get_str();
}
std::string shown(const NoiseTolerance& value) {
  return shown(value.tolerance) + " " + shown(value.complementary);
}

/// A hostile source: every fill leaves floating point and MPFR's exponents changed.
class RudeBits final : public BitSource {
 public:
  explicit RudeBits(std::uint64_t seed) : bits_(seed) {}
  void fill(std::span<std::byte> bytes) override {
    bits_.fill(bytes);
    std::fesetround(FE_DOWNWARD);
    mpfr_set_emin(-20);
  }

 private:
  SeededBits bits_;
};

template <class Mechanism, class Bits = SeededBits>
std::string draws(const Mechanism& mechanism) {
  Bits bits(5);
  std::string text;
  const std::vector<Rational> answers{Rational(7, 2), Rational(-100, 3), Rational(40)};
  for (int i = 0; i < 20; ++i) {
    Transaction transaction;
    const auto sealed = mechanism.release(answers, transaction.receipt(mechanism.parameters().charged), bits);
    for (const Rational& value : Transaction::opened(sealed)) text += shown(value) + " ";
  }
  return text;
}

SnappingMechanism snapping(Arithmetic arithmetic) {
  return SnappingMechanism({.epsilon = Epsilon::parse_down("0.3"),
                            .sensitivity = Rational(7, 3),
                            .coordinates = 2,
                            .lower = -50,
                            .upper = 50,
                            .arithmetic = arithmetic});
}

DiscreteMechanism discrete(DiscreteNoise noise) {
  ApproximateLoss loss = Epsilon::parse_down("0.3");
  if (noise == DiscreteNoise::gaussian) loss.delta = Delta::parse_down("1e-6");
  return DiscreteMechanism({.noise = noise,
                            .loss = loss,
                            .sensitivity = Rational(7, 3),
                            .sensitivity_l2_squared = 3,
                            .lower = -50,
                            .upper = 50});
}

}  // namespace

TEST_CASE("floating point: Gaussian noise is calibrated to the same digits in every setting",
          "[mechanisms][fp][gaussian]") {
  check_everywhere("delta", [] { return shown(gaussian_delta_up(5, 1, 1)); });
  check_everywhere("sigma", [] { return shown(gaussian_sigma_up(Rational(1, 3), kDelta, 1)); });
  check_everywhere("discrete delta",
                   [] { return shown(discrete_gaussian_delta_up(Rational(9, 2), 1, Integer(2))); });
  check_everywhere("discrete scale",
                   [] { return shown(discrete_gaussian_scale_up(Rational(1, 3), kDelta, Integer(1))); });
  check_everywhere("wide scale", [] {
    return shown(discrete_gaussian_delta_up(1'000'000, Rational(1, 1000), Integer(3)));
  });
}

TEST_CASE("floating point: accuracies of discrete noise keep their digits in every setting",
          "[mechanisms][fp][accuracy]") {
  for (const Rational& scale : {Rational(1, 2), Rational(40, 3), Rational(100'000)}) {
    check_everywhere("accuracy", [&] { return discrete_gaussian_accuracy(scale, kAlpha).get_str(); });
    check_everywhere("tail", [&] { return shown(discrete_gaussian_tail_up(scale, Integer(7))); });
    check_everywhere("laplace accuracy", [&] { return discrete_laplace_accuracy(scale, kAlpha).get_str(); });
    check_everywhere("laplace tail", [&] { return shown(discrete_laplace_tail_up(scale, Integer(7))); });
  }
  check_everywhere("scale", [] { return shown(discrete_gaussian_scale_down(30, kAlpha)); });
  check_everywhere("laplace scale", [] { return shown(discrete_laplace_scale_down(30, kAlpha)); });
}

TEST_CASE("floating point: tolerances and chances of no noise keep their digits in every setting",
          "[mechanisms][fp][tolerance]") {
  check_everywhere("laplace", [] { return shown(laplace_tolerance(1, 1, 12, false, 3)); });
  check_everywhere("gaussian", [] { return shown(gaussian_tolerance(1, kDelta, 1, 12, false, 3)); });
  check_everywhere("rounded gaussian", [] { return shown(gaussian_tolerance(1, kDelta, 1, 12, true, 3)); });
  check_everywhere("unchanged", [] { return shown(rounded_gaussian_unchanged_up(Rational(7, 3))); });
  check_everywhere("discrete unchanged",
                   [] { return shown(discrete_gaussian_unchanged_up(Rational(7, 3))); });
  check_everywhere("values", [] { return values_to_show_noise(Rational(1, 3), 12).get_str(); });
}

TEST_CASE("floating point: the parts of a snapped draw are the same in every setting",
          "[mechanisms][fp][snapping]") {
  check_everywhere("subnormal", [] { return shown(round_to_multiple(5 * kLeast, 4 * kLeast)); });
  check_everywhere("subnormal kept", [] { return shown(round_to_multiple(5 * kLeast, kLeast)); });
  check_everywhere("tie", [] { return shown(round_to_multiple(-0.75, 0.5)); });
  check_everywhere("grid", [] { return shown(power_of_two_at_least(0x1.8p-1070)); });
  check_everywhere("subnormal grid", [] { return shown(power_of_two_at_least(3 * kLeast)); });
  check_everywhere("logarithm", [] { return shown(log_rounded(kLeast, 53).rational()); });
}

TEST_CASE("floating point: mechanisms are calibrated and draw alike in every setting",
          "[mechanisms][fp][release]") {
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    check_everywhere("snapping", [=] {
      const SnappingMechanism mechanism = snapping(arithmetic);
      return shown(mechanism.parameters().scale) + " " + shown(mechanism.parameters().adjusted) + " " +
             shown(mechanism.accuracy_up(kAlpha)) + " " + draws(mechanism);
    });
  }
  for (const DiscreteNoise noise : {DiscreteNoise::laplace, DiscreteNoise::gaussian}) {
    check_everywhere("discrete", [=] {
      const DiscreteMechanism mechanism = discrete(noise);
      return shown(mechanism.parameters().scale) + " " + shown(mechanism.parameters().adjusted_delta) + " " +
             shown(mechanism.accuracy_up(kAlpha)) + " " + draws(mechanism);
    });
  }
  check_everywhere("epsilon for accuracy", [] {
    return snapping_epsilon_for_accuracy_up({.accuracy = 10, .alpha = kAlpha, .sensitivity = 1}).text();
  });
}

TEST_CASE("floating point: what a bit source does to it reaches neither the draw nor the caller",
          "[mechanisms][fp][bits]") {
  const mpfr_exp_t exponents = mpfr_get_emin();
  const int rounding = std::fegetround();
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    const SnappingMechanism mechanism = snapping(arithmetic);
    CHECK(draws<SnappingMechanism, RudeBits>(mechanism) == draws(mechanism));
  }
  for (const DiscreteNoise noise : {DiscreteNoise::laplace, DiscreteNoise::gaussian}) {
    const DiscreteMechanism mechanism = discrete(noise);
    CHECK(draws<DiscreteMechanism, RudeBits>(mechanism) == draws(mechanism));
  }
  CHECK(mpfr_get_emin() == exponents);
  CHECK(std::fegetround() == rounding);
}
