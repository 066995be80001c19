#include "discrete_calibration.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/mpfr_number.hpp"
#include "epsilog/mechanisms/gaussian_calibration.hpp"
#include "epsilog/mechanisms/snapping.hpp"

namespace epsilog::mechanisms {

using accounting::ExponentRange;
using accounting::MpfrNumber;
using accounting::Rational;

namespace {

using accounting::power_of_two;
using Options = DiscreteOptions;
using Parameters = DiscreteParameters;

/// `auto` keeps the grid 2^-21 below the sensitivity per changed coordinate and below the noise.
constexpr long kGridDepth = 21;
constexpr unsigned kRootPrecision = 128;

void check(const Options& options) {
  if (options.loss.epsilon.units() == 0) throw InvalidParameter("epsilon: must be positive");
  if (options.noise == DiscreteNoise::laplace) {
    if (!options.loss.pure())
      throw InvalidParameter("delta: discrete Laplace noise has a pure loss, so delta must be 0");
  } else {
    if (options.loss.delta.units() == 0 || options.loss.delta.rational() >= 1)
      throw InvalidParameter("delta: discrete Gaussian noise needs delta strictly between 0 and 1");
    if (options.sensitivity_l2_squared <= 0)
      throw InvalidParameter("sensitivity_l2_squared: must be positive");
  }
  if (options.rho) {
    if (options.noise != DiscreteNoise::gaussian)
      throw InvalidParameter("rho: discrete Laplace noise is calibrated to its epsilon");
    if (*options.rho <= 0) throw InvalidParameter("rho: must be positive");
    if (zcdp_delta_up(*options.rho, options.loss.epsilon.rational()) > options.loss.delta.rational())
      throw InvalidParameter("rho: does not imply the loss that is charged");
  }
  if (options.sensitivity <= 0) throw InvalidParameter("sensitivity: must be positive");
  if (options.coordinates == 0) throw InvalidParameter("coordinates: must be at least 1");
  if (options.lower >= options.upper) {
    throw InvalidParameter("range: the lower end " + accounting::text(options.lower) +
                           " is not below the upper end " + accounting::text(options.upper));
  }
  if (options.answer_step && *options.answer_step <= 0)
    throw InvalidParameter("answer_step: must be positive");
  if (options.grid) static_cast<void>(exponent_of_power_of_two(*options.grid, "grid"));
}

bool is_power_of_two(const Rational& value) {
  return mpz_popcount(value.get_num_mpz_t()) == 1 && mpz_popcount(value.get_den_mpz_t()) == 1;
}

bool is_multiple(const Rational& value, const Rational& step) {
  return Rational(value / step).get_den() == 1;
}

/// Whether clamping keeps multiples of answer_step multiples of `grid`, whichever of the two the promise
/// is about.
bool answers_stay_on(const Options& options, const Rational& grid) {
  return options.answer_step && is_multiple(*options.answer_step, grid) && is_multiple(options.lower, grid) &&
         is_multiple(options.upper, grid);
}

Rational multiplicity(std::uint64_t coordinates) {
  return Rational(Integer(static_cast<unsigned long>(coordinates)));
}

/// floor(log2(value)) for value > 0.
long floor_log2(const Rational& value) {
  const Rational above = power_of_two_at_least(value);
  const long exponent = exponent_of_power_of_two(above, "power of two");
  return above == value ? exponent : exponent - 1;
}

Rational chosen_grid(const Options& options) {
  if (options.grid) return *options.grid;
  if (options.answer_step && is_power_of_two(*options.answer_step) &&
      answers_stay_on(options, *options.answer_step))
    return *options.answer_step;
  const Rational epsilon = options.loss.epsilon.rational();
  const Rational m = multiplicity(options.coordinates);
  if (options.noise == DiscreteNoise::laplace)
    return power_of_two(floor_log2(options.sensitivity / std::max(m, epsilon)) - kGridDepth);
  // The largest power of two at most a root: half the exponent of its square, rounded down.
  const Rational squared = options.sensitivity_l2_squared / std::max<Rational>(m, epsilon * epsilon);
  const long exponent = floor_log2(squared);
  return power_of_two((exponent >= 0 ? exponent : exponent - 1) / 2 - kGridDepth);
}

Rational root_up(const Rational& value) {
  const ExponentRange range;
  MpfrNumber root = MpfrNumber::rounded(value, kRootPrecision, MPFR_RNDU);
  mpfr_sqrt(root.get(), root.get(), MPFR_RNDU);
  return root.rational();
}

/// The least integer n with n^2 >= value.
Integer ceil_of_root(const Rational& value) {
  const Integer least_square = accounting::ceil(value);
  Integer root = sqrt(least_square);
  if (root * root < least_square) root += 1;
  return root;
}

Rational inflated_l1(const Options& options, const Rational& grid, bool on_grid) {
  if (options.coordinates == 1) return grid * accounting::ceil(options.sensitivity / grid);
  return on_grid ? options.sensitivity
                 : Rational(options.sensitivity + multiplicity(options.coordinates) * grid);
}

void calibrate_laplace(Parameters& p) {
  p.scale = p.inflated / p.charged.epsilon.rational();
  p.adjusted = p.inflated / p.scale;
  p.adjusted_delta = 0;
  p.rho = 0;
}

/// Scales and deltas that a search found are kept to this many bits. Where a search ends in its last bits
/// depends on where floating-point guesses let it start; rounded so far short of its 2^-100 the result does
/// not, and an auditor with another mathematical library recomputes the same one.
constexpr unsigned kReproducibleBits = 64;

Rational reproducible_up(const Rational& value) {
  return MpfrNumber::rounded(value, kReproducibleBits, MPFR_RNDU).rational();
}

/// A scale in grid steps that keeps delta.
Rational verified_steps(const Rational& epsilon, const Rational& delta, const Integer& distance) {
  Rational steps = reproducible_up(discrete_gaussian_scale_up(epsilon, delta, distance));
  // More noise can cost more (gaussian_calibration.md, section 2), so the rounded scale is asked again.
  for (long stride = -40; discrete_gaussian_delta_up(steps, epsilon, distance) > delta; ++stride) {
    steps = reproducible_up(steps * (1 + accounting::power_of_two(stride)));
  }
  return steps;
}

void calibrate_gaussian(Parameters& p, const std::optional<Rational>& rho) {
  const Rational epsilon = p.charged.epsilon.rational();
  const Rational delta = p.charged.delta.rational();
  Rational certified;
  if (p.coordinates == 1 && !rho) {
    const Integer distance = ceil_of_root(p.inflated / (p.grid * p.grid));
    const Rational steps = verified_steps(epsilon, delta, distance);
    p.scale = p.grid * steps;
    certified = discrete_gaussian_delta_up(steps, epsilon, distance);
  } else {
    p.scale = reproducible_up(root_up(p.inflated / (2 * (rho ? *rho : zcdp_rho_down(epsilon, delta)))));
    certified = zcdp_delta_up(p.inflated / (2 * p.scale * p.scale), epsilon);
  }
  p.rho = p.inflated / (2 * p.scale * p.scale);
  p.adjusted = epsilon;
  // The scale is certified for `delta`; rounding what it costs up must not say otherwise.
  p.adjusted_delta = std::min(reproducible_up(certified), delta);
}

}  // namespace

Parameters calibrate(const Options& options) {
  check(options);
  const bool laplace = options.noise == DiscreteNoise::laplace;
  Parameters p;
  p.noise = options.noise;
  p.sensitivity = options.sensitivity;
  p.sensitivity_l2_squared = options.sensitivity_l2_squared;
  p.coordinates = options.coordinates;
  p.charged = options.loss;
  p.grid = chosen_grid(options);
  const bool stay = answers_stay_on(options, p.grid);
  if (laplace) {
    p.inflated = inflated_l1(options, p.grid, stay);
  } else if (stay && options.coordinates > 1) {
    p.inflated = options.sensitivity_l2_squared;
  } else {
    p.inflated = inflated_l2_squared(options.sensitivity_l2_squared, options.coordinates, p.grid);
  }
  p.on_grid = stay && p.inflated == (laplace ? p.sensitivity : p.sensitivity_l2_squared);
  if (laplace) {
    calibrate_laplace(p);
  } else {
    calibrate_gaussian(p, options.rho);
  }
  EPSILOG_INVARIANT(p.adjusted <= p.charged.epsilon.rational() &&
                    p.adjusted_delta <= p.charged.delta.rational() &&
                    (!options.rho || p.rho <= *options.rho));
  return p;
}

Rational inflated_l2_squared(const Rational& l2_squared, std::uint64_t coordinates, const Rational& grid) {
  if (coordinates == 1) {
    const Rational inflated = grid * ceil_of_root(l2_squared / (grid * grid));
    return inflated * inflated;
  }
  const Rational m = multiplicity(coordinates);
  return l2_squared + 2 * grid * root_up(m * l2_squared) + m * grid * grid;
}

void set_nearest_multiple_index(mpz_ptr index, const Rational& value, long exponent) {
  const auto finer = static_cast<mp_bitcnt_t>(std::max(-exponent, 0L));
  if (exponent <= 0 && mpz_cmp_ui(value.get_den_mpz_t(), 1) == 0) {
    mpz_mul_2exp(index, value.get_num_mpz_t(), finer);
    return;
  }
  // floor((2 n + d) / (2 d)) for value / 2^exponent = n / d.
  Integer denominator(value.get_den());
  mpz_mul_2exp(index, value.get_num_mpz_t(), 1 + finer);
  if (exponent > 0)
    mpz_mul_2exp(denominator.get_mpz_t(), denominator.get_mpz_t(), static_cast<mp_bitcnt_t>(exponent));
  mpz_add(index, index, denominator.get_mpz_t());
  mpz_mul_2exp(denominator.get_mpz_t(), denominator.get_mpz_t(), 1);
  mpz_fdiv_q(index, index, denominator.get_mpz_t());
}

}  // namespace epsilog::mechanisms
