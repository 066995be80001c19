// Which exact answers a released value leaves plausible: intervals by inverting the law of a mechanism.
//
// Law      y is an answer in its public range [lower, upper], V what the mechanism releases at it (or what is
//          made of that), clamped to the same range; v is the value released, clamped likewise. y is excluded
//          where P_y(|V - y| >= |v - y|) <= alpha, and the interval is the hull of what is left.
// Covers   Whatever y is, the interval of what is released at it contains it with probability at least
//          1 - alpha.
// Proof    mechanisms/proofs/intervals.md.
// Rounds   Outward.
// About    One answer as a mechanism takes it, after clamping. What clamping, or rows that were dropped,
//          changed before that is not in it.
// Thread-safety: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::mechanisms {

using accounting::Rational;

struct AnswerInterval {
  Rational low;
  Rational high;  ///< >= low
};

/// What is made of a value before it is shown; the law of what is shown is then inverted.
enum class Shown {
  as_released,
  rounded,  ///< clamp(floor(x + 1/2)) to the whole numbers that can be released; for snapping to a grid below
            ///< 1
};

/// The law of a mechanism at one alpha, inverted. Thread-safety: immutable.
class InvertedLaw {
 public:
  InvertedLaw() = default;
  InvertedLaw(const InvertedLaw&) = delete;
  InvertedLaw& operator=(const InvertedLaw&) = delete;
  virtual ~InvertedLaw() = default;
  [[nodiscard]] virtual AnswerInterval interval(const Rational& released) const = 0;
  /// accuracy_up() of the mechanism at the same alpha, where inverting the law took it.
  [[nodiscard]] virtual std::optional<Rational> accuracy_up() const { return std::nullopt; }
};

/// The intervals of one mechanism at one alpha. What all values have in common is computed once.
class AnswerIntervals final {
 public:
  explicit AnswerIntervals(std::shared_ptr<const InvertedLaw> law) : law_(std::move(law)) {}

  /// Within [lower, upper], and not empty: v clamped to that range is in it. A value that the mechanism
  /// cannot release has the whole range.
  [[nodiscard]] AnswerInterval of(const Rational& released) const;
  /// Of each of them by itself.
  [[nodiscard]] std::vector<AnswerInterval> of_each(std::span<const Rational> released) const;
  /// accuracy_up() of the mechanism at the same alpha, if it is known already.
  [[nodiscard]] std::optional<Rational> accuracy_up() const { return law_->accuracy_up(); }

 private:
  std::shared_ptr<const InvertedLaw> law_;
};

/// The alpha for each of `values` independent releases so that all intervals together cover with probability
/// at least 1 - alpha: at most 1 - (1 - alpha)^(1/values), rounded down to 128 bits; alpha itself for one
/// value.
/// Requires  0 < alpha < 1, values >= 1.
/// Throws    InvalidParameter.
[[nodiscard]] Rational simultaneous_alpha_down(const Rational& alpha, std::uint64_t values);

}  // namespace epsilog::mechanisms
