// The formulas of the snapping notes, errors included, and the exact law to hold them against.
//
// Source   Christian Covington, "Snapping Mechanism Notes", September 11, 2019, sections 4.2 and 6.2,
//          for what is named notes_*; the rest from the definition of the mechanism.
// Units    As lambda; lambda' = 1/eps' of the notes is lambda here.
// Rounds   Binary64. Probabilities are sums of a few exponentials, good to 1e-13.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace epsilog::test {

/// The public numbers that fix the ideal mechanism's law.
struct Law {
  double scale;
  double grid;
  double bound;
};

inline double laplace_cdf(double x, double lambda) {
  return x < 0 ? std::exp(x / lambda) / 2 : 1 - std::exp(-x / lambda) / 2;
}

struct Outcome {
  double output;
  double probability;
};

/// Every output with its probability for the answer y: the Laplace mass of its cell.
inline std::vector<Outcome> outcomes(const Law& law, double y) {
  std::vector<Outcome> all;
  const int last = static_cast<int>(std::ceil(law.bound / law.grid));
  for (int k = -last; k <= last; ++k) {
    const double below = k == -last ? 0 : laplace_cdf((k - 0.5) * law.grid - y, law.scale);
    const double up_to = k == last ? 1 : laplace_cdf((k + 0.5) * law.grid - y, law.scale);
    all.push_back({std::clamp(k * law.grid, -law.bound, law.bound), up_to - below});
  }
  return all;
}

/// P(|M - y| > a).
inline double error_beyond(const Law& law, double y, double a) {
  double sum = 0;
  for (const Outcome& outcome : outcomes(law, y)) {
    if (std::abs(outcome.output - y) > a) sum += outcome.probability;
  }
  return sum;
}

inline double probability_of(const Law& law, double y, double output) {
  for (const Outcome& outcome : outcomes(law, y)) {
    if (outcome.output == output) return outcome.probability;
  }
  return 0;
}

/// The smallest a with P(|M - y| > a) <= alpha at this y.
inline double smallest_error_at(const Law& law, double y, double alpha) {
  std::vector<double> distances;
  for (const Outcome& outcome : outcomes(law, y)) distances.push_back(std::abs(outcome.output - y));
  std::sort(distances.begin(), distances.end());
  for (const double a : distances) {
    if (error_beyond(law, y, a) <= alpha) return a;
  }
  return distances.back();
}

/// The largest P(|M - y| > a) over 16,001 answers y in [-B, B].
inline double worst_error_beyond(const Law& law, double a) {
  double worst = 0;
  for (int i = -8000; i <= 8000; ++i) {
    worst = std::max(worst, error_beyond(law, law.bound * i / 8000, a));
  }
  return worst;
}

inline double notes_p_l_plus(const Law& law, double f) {
  return laplace_cdf(-law.bound - f + law.scale, law.scale);
}

inline double notes_p_u_minus(const Law& law, double f) {
  return 1 - laplace_cdf(law.bound - f - law.scale, law.scale);
}

inline double notes_f_z_minus(const Law& law, double z) {
  return 1 - std::exp(-z / law.scale + 1);
}

struct NotesAnswer {
  int case_number;
  double a;
};

/// GETACCURACY, for the answer f.
inline NotesAnswer notes_algorithm_1(const Law& law, double f, double alpha) {
  const double low = notes_p_l_plus(law, f);
  const double high = notes_p_u_minus(law, f);
  const double to_bound = notes_f_z_minus(law, law.bound - f);
  if (low >= alpha) return {1, law.bound + f};
  if (to_bound >= 1 + low - alpha) return {2, law.scale * (1 - std::log(alpha - low))};
  if (to_bound + high >= 1 + low - alpha) return {3, law.bound - f};
  return {4, law.scale * (1 - std::log(alpha - low + high))};
}

inline double notes_get_accuracy_2(double bound, double lambda, double alpha) {
  return std::min(2 * bound, lambda * (0.5 - std::log(1 - alpha)));
}

/// Where equation 4.2 looks for a carry into the exponent: all stored bits (printed), or those left of
/// the radix point.
enum class Carry { printed, integral_bits };

/// Section 4.2.2: (1.m)_2 * 2^y, `width` stored bits of m, rounded to an integer.
inline double notes_integer(bool negative, int y, std::uint64_t m, int width, Carry carry) {
  double magnitude = 0;
  if (y >= width) {
    magnitude = std::ldexp(1 + std::ldexp(static_cast<double>(m), -width), y);
  } else if (y == -1) {
    magnitude = 1;
  } else if (y >= 0) {
    const std::uint64_t one = 1;
    const std::uint64_t integral = m >> (width - y);
    const bool all_ones = carry == Carry::printed ? m == (one << width) - 1 : integral == (one << y) - 1;
    std::uint64_t result = (one << y) + integral;
    if (((m >> (width - y - 1)) & 1) != 0) {
      result = all_ones ? one << (y + 1) : (one << y) + ((integral + 1) & ((one << y) - 1));
    }
    magnitude = static_cast<double>(result);
  }
  return negative ? -magnitude : magnitude;
}

inline double notes_integer(double x, Carry carry) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int y = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  return notes_integer(std::signbit(x), y, bits & ((std::uint64_t{1} << 52) - 1), 52, carry);
}

/// x / 2^m by subtracting m from the 11 bits of the exponent.
inline double notes_quotient(double x, int m) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t field = (((bits >> 52) & 0x7ff) - static_cast<std::uint64_t>(m)) & 0x7ff;
  return std::bit_cast<double>((bits & ~(std::uint64_t{0x7ff} << 52)) | (field << 52));
}

}  // namespace epsilog::test
