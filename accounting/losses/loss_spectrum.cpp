#include "loss_spectrum.hpp"

#include <bit>
#include <cmath>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/accounting/stopping.hpp"

namespace epsilog::accounting {
namespace {

/// A disc inside this radius is kept as a disc around 0: its powers would leave the range of doubles.
constexpr double kNegligible = kNegligibleRadius / 4;
/// More than rounding can take from a radius in one product.
constexpr double kRadiusSlack = 1 + 0x1p-46;
/// Of each output of a transform, for each level and a sum of inputs of 1.
constexpr double kLevelError = 11 * kUnit;
/// Of a sum over all masses, in pairs, and for each level of these.
constexpr double kSumError = 16 * kUnit;
/// Where the logarithm of a product is certainly below -145 it is below 2^-200.
constexpr double kDecay = 145.5;
constexpr double kDecayLeft = 145.25;
constexpr double kTwoPiUp = 0x1.921fb54442d19p+2;

/// e^(2 pi i numerator / denominator), each part correctly rounded.
Complex root_of_unity(std::size_t numerator, std::size_t denominator) {
  MpfrNumber angle(128);
  mpfr_const_pi(angle.get(), MPFR_RNDN);
  mpfr_mul_ui(angle.get(), angle.get(), 2 * static_cast<unsigned long>(numerator), MPFR_RNDN);
  mpfr_div_ui(angle.get(), angle.get(), static_cast<unsigned long>(denominator), MPFR_RNDN);
  MpfrNumber sine(80);
  MpfrNumber cosine(80);
  mpfr_sin_cos(sine.get(), cosine.get(), angle.get(), MPFR_RNDN);
  return {cosine.nearest_double(), sine.nearest_double()};
}

double magnitude(const Complex& z) {
  return std::sqrt(z.re * z.re + z.im * z.im);
}

bool negligible(const Disc& d) {
  return d.radius < kNegligible && std::fabs(d.centre.re) + std::fabs(d.centre.im) < kNegligible;
}

Disc product(const Disc& a, const Disc& b) {
  const double size_a = magnitude(a.centre);
  const double size_b = magnitude(b.centre);
  const double spread = size_a * b.radius + a.radius * (size_b + b.radius);
  return {a.centre * b.centre, (spread + 4 * kUnit * size_a * size_b + 0x1p-1000) * kRadiusSlack};
}

/// A disc that holds every product of members of a negligible disc with members of near-unit discs.
constexpr Disc kNothing{{0, 0}, kNegligibleRadius};

bool is_nothing(const Disc& d) {
  return d.centre.re == 0 && d.centre.im == 0 && d.radius == kNegligibleRadius;
}

/// Of the logarithm of the count-th power, with opposite sign: x^k <= e^(-k (1 - x)).
double decay(const Disc& base, std::uint64_t count) {
  return static_cast<double>(count) * (1 - (magnitude(base.centre) + base.radius) * kRadiusSlack);
}

Disc power(const Disc& base, std::uint64_t count) {
  if (decay(base, count) > kDecay) return kNothing;
  Disc result = base;
  for (int bit = static_cast<int>(std::bit_width(count)) - 2; bit >= 0; --bit) {
    result = product(result, result);
    if ((count >> bit & 1U) != 0) result = product(result, base);
    if (negligible(result)) return kNothing;
  }
  return result;
}

/// Decimation in frequency: natural order in, bit-reversed order out; roots e^(2 pi i j / n), j < n / 2.
void transform(std::vector<Complex>& data, const std::vector<Complex>& roots) {
  const std::size_t n = data.size();
  for (std::size_t half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    stop_if_requested();
    for (std::size_t start = 0; start < n; start += 2 * half) {
      Complex* const low = data.data() + start;
      Complex* const high = low + half;
      for (std::size_t j = 0; j < half; ++j) {
        const Complex root = roots[j * stride];
        const Complex a = low[j];
        const Complex b = high[j];
        const Complex difference{a.re - b.re, a.im - b.im};
        low[j] = {a.re + b.re, a.im + b.im};
        high[j] = difference * Complex{root.re, -root.im};
      }
    }
  }
}

std::size_t reversed(std::size_t index, int bits) {
  std::size_t result = 0;
  for (int i = 0; i < bits; ++i, index >>= 1) result = result << 1 | (index & 1);
  return result;
}

/// sum of mass[i] e^(-2 pi i (index + i stride) / n): in pairs, so that the error grows with the logarithm.
Complex wave(const double* mass, std::size_t length, std::size_t index, std::size_t stride,
             const UnitRoots& roots) {
  constexpr std::size_t kAtOnce = 8;
  if (length > kAtOnce) {
    const std::size_t half = length / 2;
    const Complex a = wave(mass, half, index, stride, roots);
    const Complex b = wave(mass + half, length - half, index + half * stride, stride, roots);
    return {a.re + b.re, a.im + b.im};
  }
  Complex sum;
  for (std::size_t i = 0; i < length; ++i, index += stride) {
    const Complex root = roots.at(index & (roots.size() - 1));
    sum.re += mass[i] * root.re;
    sum.im -= mass[i] * root.im;
  }
  return sum;
}

/// The transform of one law at one frequency. Indices are modulo the period, which divides 2^64.
Disc at_frequency(const LossSpectrum::Law& law, std::size_t frequency, const UnitRoots& roots) {
  const std::size_t stride = static_cast<std::size_t>(law.stride) * frequency;
  const std::size_t first = static_cast<std::size_t>(law.lowest) * stride;
  const auto levels = static_cast<double>(std::bit_width(law.mass.size()));
  return {wave(law.mass.data(), law.mass.size(), first, stride, roots), kSumError + levels * kUnit};
}

/// At least the absolute derivative of the absolute transform by 2 pi frequency / n: the mean distance from
/// some loss.
double reach_up(const LossSpectrum::Law& law) {
  double sum = 0;
  double first = 0;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    sum += law.mass[i];
    first += law.mass[i] * static_cast<double>(i);
  }
  const double centre = sum > 0 ? std::floor(first / sum) : 0;
  double distance = 0;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    distance += law.mass[i] * std::fabs(static_cast<double>(i) - centre);
  }
  return distance * static_cast<double>(law.stride) * (1 + 0x1p-20);
}

}  // namespace

UnitRoots::UnitRoots(std::size_t size)
    : size_(size), fine_bits_(static_cast<int>(std::bit_width(size / 2)) / 2) {
  EPSILOG_INVARIANT(size >= 4 && std::has_single_bit(size));
  const std::size_t fine_count = std::size_t{1} << fine_bits_;
  for (std::size_t j = 0; j < fine_count; ++j) fine_.push_back(root_of_unity(j, size));
  for (std::size_t j = 0; j < size / 2; j += fine_count) coarse_.push_back(root_of_unity(j, size));
}

LossSpectrum::LossSpectrum(const UnitRoots& roots, const std::vector<Law>& laws) : roots_(roots) {
  for (const Law& law : laws) {
    EPSILOG_INVARIANT(law.count >= 1 && (law.mass.size() - 1) * law.stride < roots.size());
  }
  if (!try_scan(laws)) run_transforms(laws);
}

void LossSpectrum::keep(std::size_t frequency, const Disc& value) {
  if (negligible(value) || is_nothing(value)) {
    leave_out(1);
  } else {
    values_.emplace_back(frequency, value);
  }
}

bool LossSpectrum::try_scan(const std::vector<Law>& laws) {
  const std::size_t last = roots_.size() / 2;
  double cells = 0;
  double reach = 0;  // by how much the decay can fall from one frequency to the next
  for (const Law& law : laws) {
    cells += static_cast<double>(law.mass.size());
    reach += static_cast<double>(law.count) * reach_up(law);
  }
  reach *= kTwoPiUp / static_cast<double>(roots_.size()) * (1 + 0x1p-20);
  const auto levels = static_cast<double>(std::bit_width(last));
  double affordable = static_cast<double>(laws.size()) * static_cast<double>(last) * levels / 2;
  std::vector<Disc> ones(laws.size());
  for (std::size_t frequency = 0; frequency <= last;) {
    stop_if_requested();
    affordable -= cells;
    if (affordable < 0) {
      values_.clear();
      left_out_ = 0;
      return false;
    }
    double total = 0;
    for (std::size_t i = 0; i < laws.size(); ++i) {
      ones[i] = at_frequency(laws[i], frequency, roots_);
      total += decay(ones[i], laws[i].count);
    }
    if (total > kDecay) {
      const double further = std::floor(std::fmax(0, total * (1 - 0x1p-20) - kDecayLeft) / reach);
      const auto rest = static_cast<double>(last - frequency);
      const std::size_t over = 1 + static_cast<std::size_t>(std::fmin(further, rest));
      leave_out(over);
      frequency += over;
      continue;
    }
    Disc value{{1, 0}, 0};
    for (std::size_t i = 0; i < laws.size() && !is_nothing(value); ++i) {
      const Disc factor = power(ones[i], laws[i].count);
      value = is_nothing(factor) ? kNothing : product(value, factor);
    }
    keep(frequency, value);
    ++frequency;
  }
  return true;
}

void LossSpectrum::run_transforms(const std::vector<Law>& laws) {
  const std::size_t n = roots_.size();
  const int levels = static_cast<int>(std::bit_width(n)) - 1;
  const double radius = levels * kLevelError;
  std::vector<Complex> table;
  table.reserve(n / 2);
  for (std::size_t j = 0; j < n / 2; ++j) table.push_back(roots_.at(j));
  std::vector<Disc> values(n / 2 + 1, Disc{{1, 0}, 0});
  std::vector<Complex> work;
  for (const Law& law : laws) {
    work.assign(n, Complex{});
    for (std::size_t i = 0; i < law.mass.size(); ++i) {
      const std::size_t index =
          (static_cast<std::size_t>(law.lowest) + i) * static_cast<std::size_t>(law.stride);
      work[index & (n - 1)].re = law.mass[i];
    }
    transform(work, table);
    stop_if_requested();
    for (std::size_t frequency = 0; frequency < values.size(); ++frequency) {
      Disc& value = values[frequency];
      if (is_nothing(value)) continue;
      const Disc one_law{work[reversed(frequency, levels)], radius};
      value = product(value, power(one_law, law.count));
      if (negligible(value)) value = kNothing;
    }
  }
  for (std::size_t frequency = 0; frequency < values.size(); ++frequency) keep(frequency, values[frequency]);
}

std::vector<double> LossSpectrum::masses_down() const {
  const std::size_t n = roots_.size();
  // The inverse is the conjugate of the transform of conjugates; frequencies above the half are conjugates
  // already, and those left out are 0 but for what they are known to be below.
  std::vector<Complex> data(n);
  double sizes = 0;
  double radii = 2 * left_out_;
  for (const auto& [frequency, value] : values_) {
    const double twice = frequency == 0 || frequency == n / 2 ? 1 : 2;
    sizes += twice * (std::fabs(value.centre.re) + std::fabs(value.centre.im));
    radii += twice * value.radius;
    data[frequency] = {value.centre.re, -value.centre.im};
    if (twice == 2) data[n - frequency] = value.centre;
  }
  std::vector<Complex> table;
  table.reserve(n / 2);
  for (std::size_t j = 0; j < n / 2; ++j) table.push_back(roots_.at(j));
  transform(data, table);
  const int levels = static_cast<int>(std::bit_width(n)) - 1;
  const double error = (radii + sizes * levels * kLevelError) * (1 + 0x1p-20);
  std::vector<double> masses(n);
  for (std::size_t i = 0; i < n; ++i) {
    masses[i] = std::fmax(0, data[reversed(i, levels)].re - error) / static_cast<double>(n) * (1 - 4 * kUnit);
  }
  return masses;
}

}  // namespace epsilog::accounting
