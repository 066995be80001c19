// What several snapping releases lose together: the bound from the law of Laplace noise, tried on mechanisms
// small enough to know every output probability.
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "mechanisms/toy_mechanism.hpp"
#include "mechanisms/toy_survey.hpp"
#include "support/catch.hpp"

using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

/// The output probabilities at one answer.
using Masses = std::vector<double>;

struct Neighbours {
  Masses p;
  Masses q;
};

Masses masses_at(const ToyOutputs& outputs, const NoiseTable& noise, double y) {
  Masses masses;
  for (long k = -outputs.last(); k <= outputs.last(); ++k)
    masses.push_back(probability(outputs, noise, k, y));
  return masses;
}

/// Answers at most `distance` apart: over the whole range, and beside the places where probabilities jump.
std::vector<Neighbours> neighbours(const ToyOutputs& outputs, const NoiseTable& noise, double distance) {
  std::vector<double> answers;
  const double bound = outputs.setting().bound;
  for (int i = 0; i <= 24; ++i) answers.push_back(-bound + (2 * bound - distance) * i / 24);
  for (long k = -outputs.last(); k <= outputs.last(); ++k) {
    const std::vector<double> points = breakpoints(outputs, noise, k);
    for (std::size_t i = 0; i < points.size(); i += points.size() / 16 + 1) {
      if (points[i] + distance <= bound) answers.push_back(points[i]);
    }
  }
  std::vector<Neighbours> pairs;
  for (const double y : answers) {
    const Masses low = masses_at(outputs, noise, y);
    const Masses high = masses_at(outputs, noise, y + distance);
    pairs.push_back({low, high});
    pairs.push_back({high, low});
  }
  return pairs;
}

/// The delta of `times` independent releases of the pair, by enumeration of all outcomes.
long double delta_of(const Neighbours& pair, int times, long double growth, long double p = 1,
                     long double q = 1) {
  if (times == 0) return std::max(0.0L, p - growth * q);
  long double sum = 0;
  for (std::size_t o = 0; o < pair.p.size(); ++o)
    sum += delta_of(pair, times - 1, growth, p * pair.p[o], q * pair.q[o]);
  return sum;
}

long double worst_delta(const std::vector<Neighbours>& pairs, int times, const Rational& epsilon) {
  const long double growth = std::exp(static_cast<long double>(epsilon.get_d()));
  long double worst = 0;
  for (const Neighbours& pair : pairs) worst = std::max(worst, delta_of(pair, times, growth));
  return worst;
}

long double moment(const Neighbours& pair, long double order) {
  long double sum = 0;
  for (std::size_t o = 0; o < pair.p.size(); ++o)
    sum += pair.q[o] * std::pow(static_cast<long double>(pair.p[o]) / pair.q[o], order);
  return sum;
}

ComposedLaw law_of(const ToySetting& setting, double distance, int times) {
  ComposedLaw law;
  law.kind = ComposedLaw::Kind::snapping;
  law.scale = setting.scale;
  law.sensitivity = distance;
  law.extra = proved_extra(setting);
  law.count = static_cast<std::uint64_t>(times);
  return law;
}

const std::vector<ToySetting> kSettings = {
    {8, 1, 1, 1.5}, {8, 1.0625, 2, 1.875}, {8, 1.90625, 2, 3.75}, {9, 1.5, 2, 2.9375}};

}  // namespace

TEST_CASE("snapping composed: the bound by Laplace noise is above the delta of every enumerated composition",
          "[mechanisms][snapping][enumerator][composition]") {
  for (const ToySetting& setting : kSettings) {
    const ToyOutputs outputs(setting);
    const NoiseTable noise = noise_of(setting);
    for (const double distance : {setting.scale / 8, setting.scale / 2, setting.scale}) {
      const std::vector<Neighbours> pairs = neighbours(outputs, noise, distance);
      for (const int times : {1, 2, 3}) {
        const ComposedLaw law = law_of(setting, distance, times);
        const Rational most = times * (law.sensitivity / law.scale + law.extra);
        for (const char* part : {"0", "0.01", "0.3", "0.6", "0.9", "0.99"}) {
          const Rational epsilon = most * parse_rational(part, "part");
          CAPTURE(setting.precision, setting.scale, setting.bound, distance, times, part);
          const Rational bound = pld_delta_up({&law, 1}, epsilon);
          CHECK(worst_delta(pairs, times, epsilon) <= bound.get_d() + 1e-16);
          CHECK(bound <= 1);
        }
        CHECK(pld_delta_up({&law, 1}, most) == 0);
      }
    }
  }
}

TEST_CASE("snapping composed: without the loss of its rounding the bound would be broken",
          "[mechanisms][snapping][enumerator][composition]") {
  for (const ToySetting& setting : kSettings) {
    const ToyOutputs outputs(setting);
    const NoiseTable noise = noise_of(setting);
    const double distance = setting.scale / 8;
    const std::vector<Neighbours> pairs = neighbours(outputs, noise, distance);
    for (const int times : {1, 2, 3}) {
      ComposedLaw ideal = law_of(setting, distance, times);
      ideal.extra = 0;
      const Rational epsilon = times * ideal.sensitivity / ideal.scale;
      CAPTURE(setting.precision, setting.scale, setting.bound, times);
      CHECK(pld_delta_up({&ideal, 1}, epsilon) == 0);
      CHECK(worst_delta(pairs, times, epsilon) > 1e-6L);
    }
  }
}

TEST_CASE("snapping composed: Renyi divergences are above the enumerated ones",
          "[mechanisms][snapping][enumerator][composition]") {
  for (const ToySetting& setting : kSettings) {
    const ToyOutputs outputs(setting);
    const NoiseTable noise = noise_of(setting);
    const double distance = setting.scale / 2;
    const RenyiCurve curve = renyi_curve_up(law_of(setting, distance, 1));
    for (const Neighbours& pair : neighbours(outputs, noise, distance)) {
      for (const RenyiPoint& point : curve) {
        if (point.order > 200) break;
        const long double order = point.order.get_d();
        const long double true_divergence = std::log(moment(pair, order)) / (order - 1);
        if (true_divergence > point.divergence.get_d() * (1 + 1e-12)) {
          CAPTURE(setting.scale, order, point.divergence.get_d());
          FAIL_CHECK("loses " << true_divergence);
        }
      }
    }
  }
}
