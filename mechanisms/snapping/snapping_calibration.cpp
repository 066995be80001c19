#include "snapping_calibration.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "directed_functions.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "epsilog/mechanisms/snapping_for_scale.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::Integer;
using accounting::power_of_two;
using Options = SnappingOptions;
using Parameters = SnappingParameters;

/// How many times the grid may grow before calibration is called hopeless.
constexpr int kGridGrowthsMax = 64;
/// Digits of figures in messages.
constexpr unsigned kShownDigits = 4;

void check_precision(Arithmetic arithmetic, unsigned bits) {
  if (arithmetic == Arithmetic::exact && bits != 0) {
    throw InvalidParameter("precision: the exact arithmetic has none; leave it out or use arithmetic mpfr");
  }
  if (bits != 0 && bits != kPrecisionBinary64 && (bits < kPrecisionMin || bits > kPrecisionMax)) {
    throw InvalidParameter("precision: " + std::to_string(bits) +
                           " bits; allowed are auto, binary64 (53) and " + std::to_string(kPrecisionMin) +
                           " to " + std::to_string(kPrecisionMax));
  }
}

void check_change(const Rational& sensitivity, std::uint64_t coordinates) {
  if (sensitivity <= 0) throw InvalidParameter("sensitivity: must be positive");
  if (coordinates == 0) throw InvalidParameter("coordinates: must be at least 1");
}

void check(const Options& options) {
  if (options.epsilon.units() == 0) throw InvalidParameter("epsilon: must be positive");
  check_change(options.sensitivity, options.coordinates);
  if (options.lower >= options.upper) {
    throw InvalidParameter("range: the lower end " + accounting::text(options.lower) +
                           " is not below the upper end " + accounting::text(options.upper));
  }
  if (options.bound && *options.bound <= 0) throw InvalidParameter("bound: must be positive");
  if (options.binding_probability &&
      (*options.binding_probability <= 0 || *options.binding_probability >= 1)) {
    throw InvalidParameter("binding_probability: must lie strictly between 0 and 1");
  }
  if (options.bound && options.binding_probability) {
    throw InvalidParameter("bound, binding_probability: give one of the two; both fix the bound");
  }
  check_precision(options.arithmetic, options.precision.bits);
}

Rational multiplicity(const Options& options) {
  return Rational(Integer(static_cast<unsigned long>(options.coordinates)));
}

/// The scale of the ideal mechanism with the same loss.
Rational ideal_scale(const Options& options) {
  return options.sensitivity / options.epsilon.rational();
}

struct Range {
  Rational centre;
  Rational bound;
};

/// The released range for a grid. The centre is a multiple of the grid, so that shifting by it
/// leaves the multiples where they are; the bound is widened to cover the declared range from there.
Range released_range(const Options& options, const Rational& grid) {
  Range range;
  range.centre = round_to_multiple((options.lower + options.upper) / 2, grid);
  const Rational half_width = std::max<Rational>(options.upper - range.centre, range.centre - options.lower);
  range.bound = options.bound.value_or(half_width);
  if (options.binding_probability) {
    // P(the outer clamp binds) <= beta: half a grid step of rounding plus the noise's two-sided
    // quantile. 2^-39 covers a lambda up to 2^-40 above the ideal one.
    const Rational quantile = ideal_scale(options) / grid * (1 + power_of_two(-39)) *
                              log_of_inverse_up(*options.binding_probability, 256);
    range.bound = half_width + grid * accounting::ceil(Rational(1, 2) + quantile);
  }
  return range;
}

/// One precision tried: the numbers, or why there are none.
struct PrecisionAttempt {
  std::string refusal;
  Rational scale;
  Rational grid;
  Range range;
};

/// RU_p((D + 18 m B eta) / (eps - 10 m eta)).
Rational scale_up(const Options& options, const Rational& bound, unsigned precision) {
  const Rational m_eta = multiplicity(options) * power_of_two(-static_cast<long>(precision));
  const Rational scale =
      (options.sensitivity + 18 * bound * m_eta) / (options.epsilon.rational() - 10 * m_eta);
  return MpfrNumber::rounded(scale, precision, MPFR_RNDU).rational();
}

/// The least grid for this lambda: D/eps rounded up to a power of two, as long as lambda is not
/// inflated beyond 2^-40 of it. Taking it from a lambda a hair above a power of two would double the
/// grid for nothing.
Rational least_grid(const Options& options, const Rational& lambda) {
  const Rational ideal = ideal_scale(options);
  return power_of_two_at_least(lambda * (1 - power_of_two(-40)) <= ideal ? ideal : lambda);
}

/// Why nothing is proved of that bound; "" if something is.
std::string bound_objection(const Rational& bound, const Rational& lambda, unsigned precision) {
  if (bound <= power_of_two(static_cast<long>(precision) - 7) * lambda) return "";
  return "bound: " + accounting::text_up(bound, kShownDigits) + " is above 2^(p-7)" +
         " times the noise scale " + accounting::text_up(lambda, kShownDigits) +
         ", beyond which no loss is proved at " + std::to_string(precision) +
         " bits; use a higher precision, precision auto, arithmetic exact, or a narrower range";
}

PrecisionAttempt attempt_at(const Options& options, unsigned precision) {
  PrecisionAttempt attempt;
  const Rational least = 10 * multiplicity(options) * power_of_two(-static_cast<long>(precision));
  const std::string bits = std::to_string(precision) + " bits";
  if (options.epsilon.rational() <= least) {
    attempt.refusal = "epsilon: " + options.epsilon.text() +
                      " is not above 10*m*2^-p = " + accounting::text_up(least, kShownDigits) +
                      ", the least that " + bits +
                      " can give; use a higher precision, precision auto, or arithmetic exact";
    return attempt;
  }
  // Bound, lambda and grid depend on one another. The grid only grows, so this ends.
  attempt.grid = power_of_two_at_least(ideal_scale(options));
  for (int growth = 0; growth < kGridGrowthsMax; ++growth) {
    attempt.range = released_range(options, attempt.grid);
    attempt.scale = scale_up(options, attempt.range.bound, precision);
    const Rational wanted = least_grid(options, attempt.scale);
    if (wanted <= attempt.grid) {
      attempt.refusal = bound_objection(attempt.range.bound, attempt.scale, precision);
      return attempt;
    }
    attempt.grid = wanted;
  }
  attempt.refusal = "epsilon: " + options.epsilon.text() + " leaves too little above the rounding of " +
                    bits +
                    " for a bound to be found; use a higher precision, precision auto, or arithmetic exact";
  return attempt;
}

/// The largest k with 2^-k >= epsilon.
long binary_magnitude(const Rational& epsilon) {
  return exponent_of_power_of_two(power_of_two_at_least(1 / epsilon), "1/epsilon") -
         (power_of_two_at_least(1 / epsilon) == 1 / epsilon ? 0 : 1);
}

/// Why rounding that costs `ulps` times 2^-p is too much for `precision: auto`; "" if it is not.
std::string rounding_objection(const Rational& ulps, unsigned precision, const Rational& epsilon) {
  const Rational rounding = ulps * power_of_two(-static_cast<long>(precision));
  if (rounding <= power_of_two(-40) * epsilon) return "";
  return "rounding would cost m*(18*B/lambda + 10)*2^-p = " + accounting::text_up(rounding, kShownDigits) +
         ", more than 2^-40 of epsilon";
}

/// Why `precision: auto` cannot choose this precision, in words; "" if it can.
std::string auto_objection(const Options& options, const PrecisionAttempt& attempt, unsigned precision) {
  const Rational epsilon = options.epsilon.rational();
  if (static_cast<long>(precision) < binary_magnitude(epsilon) + 2) {
    return "epsilon would be below 2^(2-p)";
  }
  if (!attempt.refusal.empty()) return attempt.refusal;
  return rounding_objection(multiplicity(options) * (18 * attempt.range.bound / attempt.scale + 10),
                            precision, epsilon);
}

struct CalibrationChoice {
  PrecisionAttempt attempt;
  unsigned precision = 0;
  std::string reason;
};

/// `objection`: what stands against one bit less, "" if nothing was tried.
std::string automatic_reason(const std::string& objection) {
  return objection.empty()
             ? "auto: the least precision on offer, at which rounding costs less than 2^-40 of epsilon"
             : "auto: the least sufficient precision; with one bit less " + objection;
}

CalibrationChoice choose_automatically(const Options& options) {
  std::string objection;
  for (unsigned precision = kPrecisionMin; precision <= kPrecisionMax; ++precision) {
    PrecisionAttempt attempt = attempt_at(options, precision);
    std::string next = auto_objection(options, attempt, precision);
    if (next.empty()) return {std::move(attempt), precision, automatic_reason(objection)};
    objection = std::move(next);
  }
  throw InvalidParameter("precision: auto finds none up to " + std::to_string(kPrecisionMax) + " bits (" +
                         objection + "); use arithmetic exact or a narrower range");
}

CalibrationChoice choose_calibration(const Options& options) {
  if (options.precision.bits == 0) return choose_automatically(options);
  PrecisionAttempt attempt = attempt_at(options, options.precision.bits);
  if (!attempt.refusal.empty()) throw InvalidParameter(attempt.refusal);
  return {std::move(attempt), options.precision.bits, "declared"};
}

/// Whether every shifted, clamped answer is an integer of at most p bits times a power of two, so
/// far as public facts tell.
bool answers_fit(const Options& options, const Parameters& parameters) {
  if (!options.answer_step) return false;
  Integer denominator = 1;
  for (const Rational& value :
       {*options.answer_step, options.lower, options.upper, parameters.centre, parameters.bound}) {
    mpz_lcm(denominator.get_mpz_t(), denominator.get_mpz_t(), value.get_den_mpz_t());
  }
  return mpz_popcount(denominator.get_mpz_t()) == 1 &&
         parameters.bound * denominator <= power_of_two(static_cast<long>(parameters.precision));
}

/// The published form holds only where its theorem does.
std::string published_note(const Options& options, const Parameters& parameters) {
  std::string missing;
  const auto need = [&](bool holds, const char* what) {
    if (!holds) missing += (missing.empty() ? "" : "; ") + std::string(what);
  };
  need(parameters.scale < parameters.bound, "B above lambda");
  need(parameters.bound < power_of_two(static_cast<long>(parameters.precision) - 7) * parameters.scale,
       "B below 2^(p-7) lambda");
  need(parameters.grid >= parameters.scale, "a grid not below lambda");
  need(answers_fit(options, parameters), "answers known to fit p bits");
  return missing.empty() ? "" : "not a bound here: it needs " + missing;
}

Parameters calibrate_exact(const Options& options) {
  Parameters parameters;
  parameters.scale = ideal_scale(options);
  parameters.grid = power_of_two_at_least(parameters.scale);
  const Range range = released_range(options, parameters.grid);
  parameters.centre = range.centre;
  parameters.bound = range.bound;
  parameters.adjusted = options.sensitivity / parameters.scale;
  return parameters;
}

Parameters calibrate_mpfr(const Options& options) {
  const CalibrationChoice choice = choose_calibration(options);
  Parameters parameters;
  parameters.precision = choice.precision;
  parameters.precision_reason = choice.reason;
  parameters.scale = choice.attempt.scale;
  parameters.grid = choice.attempt.grid;
  parameters.centre = choice.attempt.range.centre;
  parameters.bound = choice.attempt.range.bound;
  // What the proof asks of the grid. It holds by construction: a coarser grid never narrows the bound,
  // so lambda does not shrink while the grid grows to the power of two at or above it.
  EPSILOG_INVARIANT(parameters.grid <= 2 * parameters.scale &&
                    parameters.grid * Rational(33, 32) >= parameters.scale);
  parameters.adjusted = proved_loss(options.sensitivity, options.coordinates, parameters.scale,
                                    parameters.bound, parameters.precision);
  parameters.published = published_loss(options.sensitivity, options.coordinates, parameters.scale,
                                        parameters.bound, parameters.precision);
  parameters.published_note = published_note(options, parameters);
  return parameters;
}

/// Puts lambda on p bits and says what stands against it; "" if nothing does.
std::string scale_objection(const SnappingScale& scale, unsigned precision, Parameters& parameters) {
  parameters.precision = precision;
  parameters.scale = MpfrNumber::rounded(scale.scale, precision, MPFR_RNDU).rational();
  std::string objection = bound_objection(scale.bound, parameters.scale, precision);
  if (!objection.empty() || scale.precision.bits != 0) return objection;
  const Rational m(Integer(static_cast<unsigned long>(scale.coordinates)));
  return rounding_objection(m * (18 * scale.bound / parameters.scale + 10), precision,
                            scale.sensitivity / parameters.scale);
}

void choose_precision(const SnappingScale& scale, Parameters& parameters) {
  parameters.precision_reason = "declared";
  std::string objection;
  if (scale.precision.bits != 0) {
    objection = scale_objection(scale, scale.precision.bits, parameters);
    if (!objection.empty()) throw InvalidParameter(objection);
    return;
  }
  for (unsigned precision = kPrecisionMin; precision <= kPrecisionMax; ++precision) {
    std::string next = scale_objection(scale, precision, parameters);
    if (next.empty()) {
      parameters.precision_reason = automatic_reason(objection);
      return;
    }
    objection = std::move(next);
  }
  throw InvalidParameter("precision: auto finds none up to " + std::to_string(kPrecisionMax) + " bits (" +
                         objection + "); use arithmetic exact or a narrower range");
}

Rational loss(const Rational& sensitivity, std::uint64_t coordinates, const Rational& lambda,
              const Rational& bound, unsigned precision, unsigned per_bound, unsigned constant) {
  const Rational m(Integer(static_cast<unsigned long>(coordinates)));
  return sensitivity / lambda +
         m * (per_bound * bound / lambda + constant) * power_of_two(-static_cast<long>(precision));
}

}  // namespace

Rational proved_loss(const Rational& sensitivity, std::uint64_t coordinates, const Rational& lambda,
                     const Rational& bound, unsigned precision) {
  return loss(sensitivity, coordinates, lambda, bound, precision, 18, 10);
}

Rational published_loss(const Rational& sensitivity, std::uint64_t coordinates, const Rational& lambda,
                        const Rational& bound, unsigned precision) {
  return loss(sensitivity, coordinates, lambda, bound, precision, 12, 2);
}

Parameters snapping_of_scale(const SnappingScale& scale) {
  if (scale.scale <= 0) throw InvalidParameter("lambda: must be positive");
  if (scale.bound <= 0) throw InvalidParameter("bound: must be positive");
  check_change(scale.sensitivity, scale.coordinates);
  check_precision(scale.arithmetic, scale.precision.bits);
  Parameters parameters;
  parameters.arithmetic = scale.arithmetic;
  parameters.sensitivity = scale.sensitivity;
  parameters.coordinates = scale.coordinates;
  parameters.bound = scale.bound;
  parameters.scale = scale.scale;
  parameters.grid = power_of_two_at_least(scale.scale);
  if (scale.arithmetic == Arithmetic::exact) {
    parameters.adjusted = scale.sensitivity / scale.scale;
  } else {
    choose_precision(scale, parameters);
    parameters.adjusted = proved_loss(scale.sensitivity, scale.coordinates, parameters.scale, scale.bound,
                                      parameters.precision);
    parameters.published = published_loss(scale.sensitivity, scale.coordinates, parameters.scale, scale.bound,
                                          parameters.precision);
    Options range;
    range.lower = -scale.bound;
    range.upper = scale.bound;
    parameters.published_note = published_note(range, parameters);
  }
  parameters.charged = Epsilon::from_rational_up(parameters.adjusted);
  return parameters;
}

Parameters calibrate(const Options& options) {
  check(options);
  Parameters parameters =
      options.arithmetic == Arithmetic::exact ? calibrate_exact(options) : calibrate_mpfr(options);
  parameters.arithmetic = options.arithmetic;
  parameters.sensitivity = options.sensitivity;
  parameters.coordinates = options.coordinates;
  parameters.charged = options.epsilon;
  EPSILOG_INVARIANT(parameters.adjusted <= parameters.charged.rational());
  return parameters;
}

}  // namespace epsilog::mechanisms
