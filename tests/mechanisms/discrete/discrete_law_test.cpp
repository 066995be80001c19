// Draws of the discrete samplers against the exact law, by Pearson's chi-square over cells.
//
// Statistics  n = 200,000 draws a case, at most 64 cells of expected count at least 1,000 each, alpha =
//             1e-15 a case by the chi-square tail; 22 cases, so a correct sampler fails a fresh
//             seed with probability below 1e-13 (the chi-square approximation's own error at these
//             counts is far below the factor left to 1e-12). The seeds are fixed (ChaCha20).
// Power       A cell whose probability is off by 10 % of itself contributes more than 10 at 1,000 counts;
//             the last two cases show that laws 5 % off are caught.
#include "discrete_sampler.hpp"
#include "epsilog/accounting/rational.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using epsilog::accounting::parse_rational;
using epsilog::test::SeededBits;

namespace {

constexpr int kDraws = 200'000;
constexpr std::size_t kCellsMax = 64;
constexpr double kExpectedMin = 1000;
constexpr double kCaseFailure = 1e-15;

/// P(X >= k) of a law on the integers, to double precision; that is far below the test's resolution.
using Tail = double (*)(double scale, double k);

double laplace_tail(double scale, double k) {
  // P(X >= k) = q^k / (1 + q) for k >= 1 and 1 - P(X >= 1 - k) otherwise.
  const double q = std::exp(-1 / scale);
  return k >= 1 ? std::exp(-k / scale) / (1 + q) : 1 - std::exp((k - 1) / scale) / (1 + q);
}

double gaussian_tail(double scale, double k) {
  // Above scale 50 the trapezoidal sum and the integral between half-integers differ by a relative
  // O(1/s^2) < 2e-4 in the tail's edge cell, which Euler-Maclaurin's next term takes to O(1/s^4).
  if (scale < 50) {
    double weight = 0;
    double total = 0;
    for (double x = -std::ceil(40 * scale + 40); x <= std::ceil(40 * scale + 40); ++x) {
      const double each = std::exp(-x * x / (2 * scale * scale));
      total += each;
      if (x >= k) weight += each;
    }
    return weight / total;
  }
  const double u = (k - 0.5) / scale;
  return std::erfc(u / std::sqrt(2.0)) / 2 +
         u * std::exp(-u * u / 2) / (24 * scale * scale * std::sqrt(2 * std::acos(-1.0)));
}

/// Upper bound of P(chi-square with `freedom` degrees >= statistic): Chernoff.
double chi_square_tail(double statistic, double freedom) {
  if (statistic <= freedom) return 1;
  const double ratio = statistic / freedom;
  return std::exp(-freedom / 2 * (ratio - 1 - std::log(ratio)));
}

/// Cell boundaries: cell i holds edges[i] <= X < edges[i + 1], of about equal probability.
std::vector<double> edges_for(double scale, Tail tail) {
  std::vector<double> edges = {-HUGE_VAL};
  const double mass = 1.0 / kCellsMax;
  double left = 1;
  while (left > 2 * mass) {
    double low = std::max(edges.back(), -std::ceil(60 * scale + 60));
    double high = std::ceil(60 * scale + 60);
    for (int i = 0; i < 130 && high - low > 1;
         ++i) {  // the least boundary, up to the last bit, that leaves the cell its mass
      const double middle = std::floor((low + high) / 2);
      (left - tail(scale, middle) >= mass ? high : low) = middle;
    }
    left = tail(scale, high);
    if (left * kDraws < kExpectedMin) break;
    edges.push_back(high);
  }
  edges.push_back(HUGE_VAL);
  return edges;
}

double chi_square_probability(const DiscreteSampler& sampler, double scale, Tail tail, std::uint64_t seed) {
  const std::vector<double> edges = edges_for(scale, tail);
  std::vector<double> counts(edges.size() - 1, 0);
  SeededBits bits(seed);
  RandomWords words(bits, 64);
  for (int i = 0; i < kDraws; ++i) {
    WipedInteger noise;
    sampler.draw(noise, words);
    const double value = mpz_get_d(noise.get());
    const auto cell = std::upper_bound(edges.begin(), edges.end(), value) - edges.begin() - 1;
    ++counts[static_cast<std::size_t>(cell)];
  }
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double reached = i == 0 ? 1 : tail(scale, edges[i]);
    const double passed = i + 1 == counts.size() ? 0 : tail(scale, edges[i + 1]);
    const double expected = (reached - passed) * kDraws;
    REQUIRE(expected >= kExpectedMin);
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  REQUIRE(counts.size() >= 3);
  return chi_square_tail(statistic, static_cast<double>(counts.size() - 1));
}

constexpr std::array<const char*, 10> kScales = {"1/2",    "1",           "13/8", "10/3", "40",
                                                 "1000.1", "1048576.123", "1e12", "9e17", "1e24"};

}  // namespace

TEST_CASE("law: draws of the discrete Laplace follow it", "[mechanisms][discrete][statistical]") {
  std::uint64_t seed = 3000;
  for (const char* text : kScales) {
    CAPTURE(text, seed);
    const Rational scale = parse_rational(text, "scale");
    CHECK(chi_square_probability(DiscreteSampler::laplace(scale), scale.get_d(), &laplace_tail, seed++) >
          kCaseFailure);
  }
}

TEST_CASE("law: draws of the discrete Gaussian follow it", "[mechanisms][discrete][statistical]") {
  std::uint64_t seed = 3100;
  for (const char* text : kScales) {
    CAPTURE(text, seed);
    const Rational scale = parse_rational(text, "scale");
    CHECK(chi_square_probability(DiscreteSampler::gaussian(scale), scale.get_d(), &gaussian_tail, seed++) >
          kCaseFailure);
  }
}

TEST_CASE("law: the GMP tier follows it too", "[mechanisms][discrete][statistical]") {
  const Rational scale(1000, 3);
  CHECK(chi_square_probability(DiscreteSampler::laplace(scale, SamplerTier::general), scale.get_d(),
                               &laplace_tail, 3200) > kCaseFailure);
  CHECK(chi_square_probability(DiscreteSampler::gaussian(scale, SamplerTier::general), scale.get_d(),
                               &gaussian_tail, 3201) > kCaseFailure);
}

TEST_CASE("law: a scale five percent off is told apart", "[mechanisms][discrete][statistical]") {
  CHECK(chi_square_probability(DiscreteSampler::laplace(105), 100, &laplace_tail, 3300) < kCaseFailure);
  CHECK(chi_square_probability(DiscreteSampler::gaussian(105), 100, &gaussian_tail, 3301) < kCaseFailure);
}
