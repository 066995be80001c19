#include "discrete_inversion.hpp"

#include <algorithm>

#include "epsilog/mechanisms/discrete_gaussian.hpp"
#include "epsilog/mechanisms/discrete_laplace.hpp"

namespace epsilog::mechanisms {

Rational discrete_tail_up(const DiscreteParameters& parameters, const Integer& a) {
  const Rational steps = parameters.scale / parameters.grid;
  return parameters.noise == DiscreteNoise::laplace ? discrete_laplace_tail_up(steps, a)
                                                    : discrete_gaussian_tail_up(steps, a);
}

Integer discrete_accuracy(const DiscreteParameters& parameters, const Rational& alpha) {
  const Rational steps = parameters.scale / parameters.grid;
  return parameters.noise == DiscreteNoise::laplace ? discrete_laplace_accuracy(steps, alpha)
                                                    : discrete_gaussian_accuracy(steps, alpha);
}

namespace {

/// Distances are in steps of the grid, those of whole steps integers.
class InvertedDiscrete final : public InvertedLaw {
 public:
  InvertedDiscrete(const DiscreteParameters& parameters, AnswerInterval range, Integer lowest,
                   Integer highest, const Rational& alpha)
      : parameters_(parameters),
        range_(std::move(range)),
        lowest_(std::move(lowest)),
        highest_(std::move(highest)),
        alpha_(alpha),
        by_two_tails_(discrete_accuracy(parameters, alpha) - 1),
        by_one_tail_(2 * alpha < 1 ? Integer(discrete_accuracy(parameters, 2 * alpha) - 1) : Integer(0)),
        half_by_two_tails_(parameters.on_grid ? false : adds_half(by_two_tails_, true)) {}

  [[nodiscard]] AnswerInterval interval(const Rational& released) const override {
    const Rational steps = released / parameters_.grid;
    if (steps.get_den() != 1) return range_;
    const Integer shown = std::clamp<Integer>(steps.get_num(), lowest_, highest_);
    const Rational low = (shown - reach(shown - lowest_)) * parameters_.grid;
    const Rational high = (shown + reach(highest_ - shown)) * parameters_.grid;
    return {std::clamp(low, range_.low, range_.high), std::clamp(high, range_.low, range_.high)};
  }

 private:
  /// How far from what is shown a plausible answer can be, on the side where so many steps are left.
  [[nodiscard]] Rational reach(const Integer& left) const {
    const Integer both_tails = left / 2;  // up to so far an answer has outputs as far away on its other side
    const bool inside = by_two_tails_ <= both_tails;
    const Integer whole = inside ? by_two_tails_ : std::max(both_tails, by_one_tail_);
    if (parameters_.on_grid) return whole;
    const bool still_both = 2 * whole + 1 <= left;
    const bool half = inside && still_both ? half_by_two_tails_ : adds_half(whole, still_both);
    return half ? Rational(whole + Rational(1, 2)) : Rational(whole);
  }

  /// Whether answers that are rounded towards what is shown, and so are up to half a step farther from it,
  /// are plausible at so many steps.
  [[nodiscard]] bool adds_half(const Integer& whole, bool both_tails) const {
    if (whole == 0) return true;
    Rational doubled = discrete_tail_up(parameters_, whole);
    if (both_tails) doubled += discrete_tail_up(parameters_, whole + 1);
    return doubled > 2 * alpha_;
  }

  DiscreteParameters parameters_;
  AnswerInterval range_;
  Integer lowest_;
  Integer highest_;
  Rational alpha_;
  Integer by_two_tails_;  ///< the largest d with P(|X| >= d) > alpha
  Integer by_one_tail_;   ///< and with P(X >= d) > alpha, d > 0
  bool half_by_two_tails_;
};

}  // namespace

std::shared_ptr<const InvertedLaw> inverted_discrete(const DiscreteParameters& parameters,
                                                     const AnswerInterval& range, const Integer& lowest,
                                                     const Integer& highest, const Rational& alpha) {
  return std::make_shared<InvertedDiscrete>(parameters, range, lowest, highest, alpha);
}

}  // namespace epsilog::mechanisms
