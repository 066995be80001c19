#include "loss_spectrum.hpp"

#include <bit>
#include <cmath>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/mpfr_number.hpp"

namespace epsilog::accounting {
namespace {

/// A disc inside this radius is kept as a disc around 0: its powers would leave the range of doubles.
constexpr double kNegligible = kNegligibleRadius / 4;
/// More than rounding can take from a radius in one product.
constexpr double kRadiusSlack = 1 + 0x1p-46;
/// Of each output of a transform, for each level and a sum of inputs of 1.
constexpr double kLevelError = 11 * kUnit;

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

Disc power(const Disc& base, std::uint64_t count) {
  // x^k <= e^(-k (1 - x)), and e^-145 is below 2^-200.
  const double size = (magnitude(base.centre) + base.radius) * kRadiusSlack;
  if (static_cast<double>(count) * (1 - size) > 145.0) return kNothing;
  Disc result = base;
  for (int bit = static_cast<int>(std::bit_width(count)) - 2; bit >= 0; --bit) {
    result = product(result, result);
    if ((count >> bit & 1U) != 0) result = product(result, base);
    if (negligible(result)) return kNothing;
  }
  return result;
}

/// Decimation in frequency: natural order in, bit-reversed order out, roots e^(-2 pi i j / n).
void transform(std::vector<Complex>& data, const UnitRoots& roots) {
  const std::size_t n = data.size();
  for (std::size_t half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    for (std::size_t start = 0; start < n; start += 2 * half) {
      Complex* const low = data.data() + start;
      Complex* const high = low + half;
      for (std::size_t j = 0; j < half; ++j) {
        const Complex root = roots.at(j * stride);
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

}  // namespace

UnitRoots::UnitRoots(std::size_t size) : half_(size / 2) {
  EPSILOG_INVARIANT(size >= 4 && std::has_single_bit(size));
  const std::size_t fine_count = std::size_t{1} << (std::bit_width(half_.size()) / 2);
  std::vector<Complex> fine;
  for (std::size_t j = 0; j < fine_count; ++j) fine.push_back(root_of_unity(j, size));
  for (std::size_t coarse = 0; coarse < half_.size() / fine_count; ++coarse) {
    const Complex base = root_of_unity(coarse * fine_count, size);
    for (std::size_t j = 0; j < fine_count; ++j) half_[coarse * fine_count + j] = base * fine[j];
  }
}

LossSpectrum::LossSpectrum(const UnitRoots& roots)
    : roots_(&roots), values_(roots.size() / 2 + 1, Disc{{1, 0}, 0}), work_(roots.size()) {}

void LossSpectrum::compose(const std::vector<double>& mass, std::int64_t lowest, std::uint64_t count) {
  const std::size_t n = roots_->size();
  EPSILOG_INVARIANT(mass.size() <= n && count >= 1);
  work_.assign(n, Complex{});
  const auto first = static_cast<std::size_t>(lowest) & (n - 1);
  for (std::size_t i = 0; i < mass.size(); ++i) work_[(first + i) & (n - 1)].re = mass[i];
  transform(work_, *roots_);

  const int levels = static_cast<int>(std::bit_width(n)) - 1;
  const double radius = levels * kLevelError;
  for (std::size_t frequency = 0; frequency < values_.size(); ++frequency) {
    Disc& value = values_[frequency];
    if (is_nothing(value)) continue;
    const Disc one_law{work_[reversed(frequency, levels)], radius};
    value = product(value, power(one_law, count));
    if (negligible(value)) value = kNothing;
  }
}

std::vector<double> LossSpectrum::masses_down() const {
  const std::size_t n = roots_->size();
  // The inverse is the conjugate of the transform of conjugates; frequencies above the half are conjugates
  // already.
  std::vector<Complex> data(n);
  double sizes = 0;
  double radii = 0;
  for (std::size_t frequency = 0; frequency < values_.size(); ++frequency) {
    const Disc& value = values_[frequency];
    const double twice = frequency == 0 || frequency == n / 2 ? 1 : 2;
    sizes += twice * (std::fabs(value.centre.re) + std::fabs(value.centre.im));
    radii += twice * value.radius;
    data[frequency] = {value.centre.re, -value.centre.im};
    if (twice == 2) data[n - frequency] = value.centre;
  }
  transform(data, *roots_);
  const int levels = static_cast<int>(std::bit_width(n)) - 1;
  const double error = (radii + sizes * levels * kLevelError) * (1 + 0x1p-20);
  std::vector<double> masses(n);
  for (std::size_t i = 0; i < n; ++i) {
    masses[i] = std::fmax(0, data[reversed(i, levels)].re - error) / static_cast<double>(n) * (1 - 4 * kUnit);
  }
  return masses;
}

}  // namespace epsilog::accounting
