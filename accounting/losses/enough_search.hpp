// The crossing of a bound of delta with the delta asked, between an epsilon that is not enough and one that is.
//
// Proof     accounting/proofs/privacy_loss_distribution.md, section 6: every end has itself been tried, or is one
//           of those given, so that how the points between them were chosen plays no part in why the result
//           holds.
// Thread-safety: distinct objects may be used concurrently. The caller holds an ExponentRange.
#pragma once

#include <functional>
#include <optional>

#include "loss_grid.hpp"

namespace epsilog::accounting {

class EnoughSearch final {
 public:
  /// The bound of the side of delta at an epsilon; nullopt where nothing can be said.
  using Bound = std::function<std::optional<MpfrNumber>(const Rational& epsilon)>;

  /// Requires  delta > 0; `most` > 0 is known to be enough.
  EnoughSearch(Bound bound, const Rational& delta, const Rational& most, Side side);

  /// up: an epsilon that is enough, down: one that is not, or 0; within 2^-32 of itself of a crossing if the
  /// bound can be computed around it. Starts at `guess`, near which ln(delta) falls about as `slope` times
  /// epsilon; both may be any numbers. May be called again: with what is known by then.
  [[nodiscard]] Rational run(double guess, double slope);
  /// Goes on with another bound of the same delta, keeping the end that is the result so far.
  void take(Bound bound);

 private:
  struct End {
    Rational epsilon;
    double excess;  ///< ln of the bound over delta; infinite if it is not known
  };

  void enclose(double guess, double slope);
  void narrow();
  [[nodiscard]] Rational interpolated(double low_excess, double high_excess) const;
  /// Is delta kept at this epsilon, as far as the bound of the side can say? Moves the end of that side.
  bool try_epsilon(const Rational& epsilon);
  [[nodiscard]] bool inside(double epsilon) const;

  Bound bound_;
  Rational delta_;
  Rational most_;
  double log_delta_;
  Side side_;
  End low_;
  End high_;
};

}  // namespace epsilog::accounting
