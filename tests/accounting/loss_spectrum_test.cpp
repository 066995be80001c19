// The spectrum of composed losses against its definition in long doubles, at every frequency.
#include "loss_spectrum.hpp"

#include <complex>
#include <numbers>

#include "support/catch.hpp"

using namespace epsilog::accounting;

namespace {

using Law = LossSpectrum::Law;
using Number = std::complex<long double>;

Law law(std::vector<double> mass, std::int64_t lowest, std::uint64_t count, std::uint64_t stride = 1) {
  double sum = 0;
  for (const double one : mass) sum += one;
  for (double& one : mass) one /= sum * (1 + 0x1p-50);
  return {std::move(mass), lowest, stride, count};
}

/// ln of the absolute value and the angle, so that powers leave no range.
Number log_of_transform(const Law& law, std::size_t frequency, std::size_t size) {
  Number sum = 0;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    const auto place = static_cast<std::uint64_t>(law.lowest + static_cast<std::int64_t>(i)) * law.stride;
    const std::size_t turn = static_cast<std::size_t>(place) * frequency & (size - 1);
    const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(turn) /
                              static_cast<long double>(size);
    sum += static_cast<long double>(law.mass[i]) * std::polar(1.0L, angle);
  }
  return std::log(sum) * static_cast<long double>(law.count);
}

/// Every value kept holds the true one, and what is left out is as small as said. Returns how many are kept.
std::size_t checked(const std::vector<Law>& laws, std::size_t size) {
  const UnitRoots roots(size);
  const LossSpectrum spectrum(roots, laws);
  std::size_t next = 0;
  std::size_t wrong = 0;
  long double left_out = 0;
  for (std::size_t frequency = 0; frequency <= size / 2; ++frequency) {
    Number exponent = 0;
    for (const Law& one : laws) exponent += log_of_transform(one, frequency, size);
    const Number truth = std::exp(exponent);
    if (next < spectrum.values().size() && spectrum.values()[next].first == frequency) {
      const Disc& disc = spectrum.values()[next++].second;
      const long double distance = std::abs(truth - Number(disc.centre.re, disc.centre.im));
      if (!(distance <= disc.radius + 1e-17L * std::abs(truth))) ++wrong;
      if (!(disc.radius < 1e-4)) ++wrong;
    } else {
      left_out += std::abs(truth);
      if (!(std::abs(truth) <= kNegligibleRadius)) ++wrong;
    }
  }
  CHECK(wrong == 0);
  CHECK(next == spectrum.values().size());
  CHECK(left_out <= spectrum.left_out());
  CHECK(spectrum.left_out() <= static_cast<double>(size) * kNegligibleRadius);
  return next;
}

}  // namespace

TEST_CASE("spectrum: the roots of unity are those", "[accounting][pld][spectrum]") {
  for (const std::size_t size : {4UL, 8UL, 64UL, 2048UL, 4096UL}) {
    const UnitRoots roots(size);
    CHECK(roots.size() == size);
    double worst = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const Number truth = std::polar(1.0L, 2 * std::numbers::pi_v<long double> *
                                                static_cast<long double>(j) / static_cast<long double>(size));
      const Complex root = roots.at(j);
      worst = std::fmax(worst, static_cast<double>(std::abs(truth - Number(root.re, root.im))));
    }
    CHECK(worst <= kRootError);
  }
}

TEST_CASE("spectrum: frequencies passed over have nothing, however often a law is used",
          "[accounting][pld][spectrum]") {
  for (const std::uint64_t count : {200ULL, 5'000ULL, 1'000'000ULL, 1'000'000'000ULL}) {
    CAPTURE(count);
    const std::size_t three = checked({law({0.4, 0.2, 0.4}, -1, count)}, 4096);
    const std::size_t hill = checked({law({1, 4, 9, 4, 1}, -2, count)}, 4096);
    CHECK(three < 2049);
    CHECK(hill < 2049);
    // The largest losses are likely and what is between is not: nearly the period of the ends.
    checked({law({1, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 0.9}, -4, count)}, 4096);
    checked({law({1, 1e-9, 1e-9, 1e-9, 1}, 5, count)}, 2048);
  }
}

TEST_CASE("spectrum: where a lattice repeats, so does the spectrum", "[accounting][pld][spectrum]") {
  const UnitRoots roots(1024);
  const LossSpectrum spectrum(roots, {law({0.6, 0, 0.4}, -1, 1'000'000'000)});
  REQUIRE(spectrum.values().size() >= 2);
  CHECK(spectrum.values().front().first == 0);
  CHECK(spectrum.values().back().first == 512);
  CHECK(std::fabs(std::fabs(spectrum.values().back().second.centre.re) - 1) < 1e-4);
  checked({law({0.6, 0, 0.4}, -1, 1'000'000'000)}, 1024);
  // On every fourth point: a quarter of the spectrum, four times.
  const std::size_t quarter = checked({law({1, 2, 1}, -1, 1'000'000)}, 1024);
  CHECK(checked({law({1, 2, 1}, -1, 1'000'000, 4)}, 4096) == 4 * quarter - 1);
}

TEST_CASE("spectrum: laws together, by transforms and without", "[accounting][pld][spectrum]") {
  std::mt19937_64 random(20261122);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto drawn = [&](std::size_t length, std::int64_t lowest, std::uint64_t count, std::uint64_t stride) {
    std::vector<double> mass(length);
    for (double& one : mass) one = std::pow(uniform(random), 8);
    return law(std::move(mass), lowest, count, stride);
  };
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    // Used a few times only: nothing is negligible, and transforms are quicker.
    CHECK(checked({drawn(300, -150, 1, 1), drawn(200, -40, 2, 1)}, 1024) == 513);
    checked({drawn(40, -20, 3, 16), drawn(12, -6, 4'000, 1)}, 1024);
    checked({drawn(5, -2, 20'000, 3), drawn(12, -6, 4'000, 1), drawn(7, 0, 1, 1)}, 2048);
  }
}

TEST_CASE("spectrum: many laws used once leave nothing between them", "[accounting][pld][spectrum]") {
  std::vector<Law> laws;
  for (int i = 0; i < 400; ++i) laws.push_back(law({1, 1.0 + i / 400.0, 1}, -1, 1));
  CHECK(checked(laws, 4096) < 2049);
}
