// Noise in doubles for Monte Carlo tests, the same on every run. Good to about 2^-50 of a probability,
// which no test of 10^5 draws can see; nothing is ever released with it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <span>

#include "support/replay_bits.hpp"

namespace epsilog::test {

class SeededNoise final {
 public:
  explicit SeededNoise(std::uint64_t seed) : bits_(seed) {}

  /// In (0, 1), a multiple of 2^-54, never an end.
  double uniform() {
    std::array<std::byte, 8> bytes{};
    bits_.fill(bytes);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53;
  }
  double laplace(double scale) {
    const double magnitude = -scale * std::log(uniform());
    return uniform() < 0.5 ? -magnitude : magnitude;
  }
  double gaussian(double sigma) {
    return sigma * std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  SeededBits bits_;
};

/// Upper bound of the probability that a binomial variable of n trials lies as far from its mean n p as
/// `count` does, on the same side: e^(-n KL(count/n || p)) (Chernoff).
inline double binomial_tail_bound(double count, double n, double p) {
  const auto part = [](double a, double b) { return a == 0 ? 0 : a * std::log(a / b); };
  return std::exp(-n * (part(count / n, p) + part(1 - count / n, 1 - p)));
}

}  // namespace epsilog::test
