// The snapping mechanism as a release: calibrated parameters, a proved loss, one receipt a release.
//
// Source   Mironov, "On Significance of the Least Significant Bits for Differential Privacy", CCS
//          2012, section 5.2.
// Proof    mechanisms/proofs/snapping.md.
// Measure  Pure differential privacy, for the unit over which `sensitivity` was bounded.
// Rounds   Privacy loss up, noise scale up, accuracy up; never to nearest.
// Answers  An answer y is first clamped to [lower, upper], silently, then shifted by the centre and
//          clamped to [-B, B], all exactly; none of the three can raise its sensitivity. Released is
//          centre + clamp_B(round_Lambda(y + noise)).
// Range    Without `bound` and `binding_probability`, B = max(upper - centre, centre - lower), centre
//          being the midpoint of the range rounded to a multiple of Lambda. `bound` replaces B, also by
//          less. `binding_probability` beta gives B = R0 + Lambda * ceil(1/2 + (D/eps)/Lambda *
//          (1 + 2^-39) * ln(1/beta)), R0 that maximum: an answer in the range then reaches the outer
//          clamp with probability at most beta.
// Thread-safety: a constructed mechanism is immutable; release() may run concurrently if the bit
//          sources may.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::mechanisms {

using accounting::Epsilon;
using accounting::Rational;

class SnappingSampler;

enum class Arithmetic { mpfr, exact };

/// Significand bits of the mpfr arithmetic.
struct Precision {
  unsigned bits = 0;  ///< 0: auto; 53: binary64; else >= 118
};

class SnappingMechanism final {
 public:
  struct Options {                  // no defaults where a field is a privacy decision
    Epsilon epsilon;                ///< loss granted to one release of all coordinates, nats, > 0
    Rational sensitivity;           ///< largest L1 change of the answer by one unit, > 0
    std::uint64_t coordinates = 1;  ///< m: how many coordinates one unit can change, >= 1
    Rational lower;                 ///< public range of each coordinate, lower < upper;
    Rational upper;                 ///<   answers outside are clamped silently
    Arithmetic arithmetic = Arithmetic::mpfr;
    Precision precision = {};
    std::optional<Rational> bound = std::nullopt;  ///< half-width instead of the derived one, > 0
    /// 0 < beta < 1: widen the derived bound. Not together with `bound`.
    std::optional<Rational> binding_probability = std::nullopt;
    /// Public fact, if known: every answer is a multiple of this (1 for counts). It decides nothing
    /// but whether the published loss is a bound here, since that one supposes answers of p bits.
    std::optional<Rational> answer_step = std::nullopt;
  };

  /// Everything an outsider needs to check the claim. All public.
  struct Parameters {
    Arithmetic arithmetic = Arithmetic::mpfr;
    unsigned precision = 0;        ///< bits; 0 for exact
    std::string precision_reason;  ///< which condition of `auto` decided, or "declared"; "" for exact
    Rational sensitivity;
    std::uint64_t coordinates = 1;
    Rational lambda;  ///< noise scale; dyadic for mpfr, D/eps for exact
    Rational grid;    ///< Lambda, a power of two
    Rational centre;  ///< public shift, a multiple of grid
    Rational bound;   ///< B: releases lie in [centre - B, centre + B]
    Epsilon charged;
    Rational adjusted;                  ///< proved loss, exact; <= charged
    std::optional<Rational> published;  ///< eps'(1 + 12(B/D)eta) + 2 eta per coordinate; none for exact
    std::string published_note;  ///< "" if `published` is a bound here, else why it is "not a bound here"
  };

  /// Calibrates lambda, grid, centre and bound:
  ///   mpfr   lambda = RU_p((D + 18 m B eta) / (eps - 10 m eta)), eta = 2^-p;
  ///          adjusted = D/lambda + m (18 B/lambda + 10) eta, proved for B <= 2^(p-7) lambda;
  ///          published = D/lambda + m (12 B/lambda + 2) eta;
  ///          auto: the least p >= 118 with p >= k + 2 for the largest k such that 2^-k >= eps, with
  ///          m (18 B/lambda + 10) eta <= 2^-40 eps, and with B <= 2^(p-7) lambda;
  ///   exact  lambda = D/eps, adjusted = eps; B is not limited;
  ///   grid   the smallest power of two >= D/eps while lambda (1 - 2^-40) <= D/eps, else >= lambda.
  /// Ensures   parameters().adjusted <= options.epsilon, compared exactly.
  /// Throws    InvalidParameter before any bit is drawn (epsilon too small for the precision, B
  ///           beyond 2^(p-7) lambda, a precision between 54 and 117, …).
  explicit SnappingMechanism(const Options& options);

  [[nodiscard]] const Parameters& parameters() const noexcept { return parameters_; }

  /// Draws one value per coordinate; the charge covers them all together.
  ///
  /// Requires  receipt.live(), receipt.amount() == parameters().charged; answers not empty. They may
  ///           be more or fewer than `coordinates`, which only says how many one unit can change.
  /// Ensures   the proved distribution; every value is centre + a multiple of grid, or an end of the
  ///           range.
  /// Throws    InvalidParameter (receipt, no answer), EntropyUnavailable. The charge is then not
  ///           refunded here. Random bits held here are overwritten before it returns or throws.
  [[nodiscard]] accounting::SealedRelease release(std::span<const Rational> answers,
                                                  accounting::ChargeReceipt receipt, BitSource& bits) const;

  /// Smallest a, rounded up, such that P(|release - y| > a) <= alpha for every clamped answer y in
  /// [centre - B, centre + B], each coordinate by itself. Exact for the ideal law; in the mpfr
  /// arithmetic alpha is first lowered by the factor 1 - (18 B/lambda + 10) 2^-p, which covers its
  /// distance from that law. Known before anything is spent: no answer enters.
  /// Requires  0 < alpha < 1.
  /// Throws    InvalidParameter.
  [[nodiscard]] Rational accuracy_up(const Rational& alpha) const;

 private:
  Parameters parameters_;
  std::shared_ptr<const SnappingSampler> sampler_;
};

}  // namespace epsilog::mechanisms
