// The noise of the snapping mechanism at toy precision, every value with its exact probability.
//
// The values come from the shipped noise_magnitude; only the law of U* is written down here, once as
// the mechanism draws it and once for each way of drawing it wrongly.
//
// Doubles hold dyadic numbers exactly: at q bits of U* and tails down to 2^-E every probability here
// has at most q + E significant bits, and every magnitude p <= 24.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "snapping_draw.hpp"

namespace epsilog::test {

/// The value of an MPFR number that is known to fit a double.
inline double exact_double(const mechanisms::MpfrNumber& number) {
  const double value = number.nearest_double();
  if (!(mechanisms::MpfrNumber::exactly(value) == number)) throw std::logic_error("not a double");
  return value;
}

/// Scale and p of the shipped noise_magnitude.
struct NoiseArithmetic {
  double scale;
  unsigned precision;

  [[nodiscard]] double magnitude(double u_star) const {
    return exact_double(mechanisms::noise_magnitude(mechanisms::MpfrNumber::exactly(u_star),
                                                    mechanisms::MpfrNumber::exactly(scale), precision));
  }
};

/// A value of U* and the probability that it is drawn.
struct Atom {
  double u;
  double probability;
};

/// Bands [2^-e, 2^(1-e)) for e = first .. last of a q-bit U*, with the weight of each band given.
template <typename BandWeight>
std::vector<Atom> floating_uniform(unsigned q, int first, int last, BandWeight weight) {
  std::vector<Atom> atoms;
  const int count = 1 << (q - 1);
  for (int e = first; e <= last; ++e)
    for (int i = 0; i < count; ++i)
      atoms.push_back({std::ldexp(count + i, -e - static_cast<int>(q) + 1), weight(e) / count});
  return atoms;
}

/// The U* that the mechanism draws, down to 2^-last; 2^-last of probability is left out below.
inline std::vector<Atom> conforming_uniform(unsigned q, int last) {
  return floating_uniform(q, 1, last, [](int e) { return std::ldexp(1.0, -e); });
}

/// P(Z >= w) and P(Z > w) from a list of values. What is left out lies beyond every threshold asked for.
class NoiseTable {
 public:
  NoiseTable(const NoiseArithmetic& arithmetic, const std::vector<Atom>& atoms, double left_out) {
    std::vector<std::pair<double, double>> values;
    values.reserve(atoms.size());
    for (const Atom& atom : atoms) {
      const double z = atom.u == 1 ? 0 : std::fabs(magnitude_of(arithmetic, atom.u));
      values.emplace_back(z, atom.probability);
    }
    std::sort(values.begin(), values.end());
    double tail = left_out;
    for (auto value = values.rbegin(); value != values.rend(); ++value) {
      tail += value->second;
      if (!magnitudes_.empty() && magnitudes_.back() == value->first) {
        tails_.back() = tail;
      } else {
        magnitudes_.push_back(value->first);
        tails_.push_back(tail);
      }
    }
    std::reverse(magnitudes_.begin(), magnitudes_.end());
    std::reverse(tails_.begin(), tails_.end());
    tails_.push_back(left_out);
  }

  [[nodiscard]] double at_least(double w) const {
    return tails_[index(std::lower_bound(magnitudes_.begin(), magnitudes_.end(), w))];
  }
  [[nodiscard]] double more_than(double w) const {
    return tails_[index(std::upper_bound(magnitudes_.begin(), magnitudes_.end(), w))];
  }
  /// Distinct, ascending.
  [[nodiscard]] const std::vector<double>& magnitudes() const { return magnitudes_; }

 private:
  // |ln u| of the shipped code is only asked for below 1; above 1 (a wrong draw) |ln u| = |ln 1/u|,
  // so its rounding is written out here.
  static double magnitude_of(const NoiseArithmetic& arithmetic, double u) {
    if (u < 1) return arithmetic.magnitude(u);
    mechanisms::MpfrNumber z(arithmetic.precision);
    mpfr_set_d(z.get(), u, MPFR_RNDN);
    mpfr_log(z.get(), z.get(), MPFR_RNDN);
    mpfr_mul_d(z.get(), z.get(), arithmetic.scale, MPFR_RNDN);
    return exact_double(z);
  }
  [[nodiscard]] std::size_t index(std::vector<double>::const_iterator at) const {
    return static_cast<std::size_t>(at - magnitudes_.begin());
  }

  std::vector<double> magnitudes_;
  std::vector<double> tails_;  ///< tails_[i] = P(Z >= magnitudes_[i]); the last is what was left out
};

/// Bands of U* enough to hold every magnitude up to w_max: beyond, the tail needs no values.
inline int bands_for(double w_max, double lambda) {
  return static_cast<int>(std::ceil(w_max / lambda / std::log(2.0) * 1.02)) + 2;
}

inline NoiseTable conforming_noise(const NoiseArithmetic& arithmetic, unsigned q, double w_max) {
  const int last = bands_for(w_max, arithmetic.scale);
  return {arithmetic, conforming_uniform(q, last), std::ldexp(1.0, -last)};
}

/// The same tails found by bisection, for precisions whose list would be too long: Z falls as U* rises.
class BisectedNoise {
 public:
  BisectedNoise(const NoiseArithmetic& arithmetic, unsigned q) : arithmetic_(arithmetic), q_(q) {}

  [[nodiscard]] double at_least(double w) const {
    return tail([w](double z) { return z >= w; }, w);
  }
  [[nodiscard]] double more_than(double w) const {
    return tail([w](double z) { return z > w; }, w);
  }

 private:
  // U* in descending order, counted from the one just below 1.
  [[nodiscard]] double uniform(long i) const {
    const long count = 1L << (q_ - 1);
    return std::ldexp(static_cast<double>(2 * count - 1 - i % count),
                      -static_cast<int>(i / count) - static_cast<int>(q_));
  }
  template <typename Reached>
  [[nodiscard]] double tail(Reached reached, double w) const {
    long low = 0;
    long high = (bands_for(w, arithmetic_.scale) + 1L) << (q_ - 1);
    while (low < high) {
      const long middle = (low + high) / 2;
      if (reached(arithmetic_.magnitude(uniform(middle)))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low == 0 ? 1 : uniform(low - 1);  // P(U* <= u) is the next value above u
  }

  NoiseArithmetic arithmetic_;
  unsigned q_;
};

}  // namespace epsilog::test
