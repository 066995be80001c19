#include "snapped_inversion.hpp"

#include <algorithm>
#include <optional>

#include "directed_functions.hpp"
#include "epsilog/accounting/errors.hpp"
#include "error_probability.hpp"
#include "snapping_accuracy.hpp"

namespace epsilog::mechanisms {
namespace {

using accounting::ceil;
using accounting::floor;
using accounting::Integer;

constexpr unsigned kReachBits = 64;
/// Halvings of a stretch between two outputs, until its upper end is taken for the end of the interval.
constexpr int kHalvings = 32;

/// What can be shown: first to last, each at anchor + k*step but for the two ends, which are least and most.
/// Output k or more is shown exactly when the answer plus noise is at least anchor + k*step - shift.
struct Ladder {
  Rational anchor;
  Rational step;
  Rational shift;
  Rational least;
  Rational most;
  Integer first = floor((least - anchor) / step);
  Integer last = ceil((most - anchor) / step);

  [[nodiscard]] Rational output(const Integer& k) const {
    if (k == last) return most;
    return k == first ? least : Rational(anchor + k * step);
  }
  [[nodiscard]] Rational threshold(const Integer& k) const { return anchor + k * step - shift; }
  /// With every sign changed.
  [[nodiscard]] Ladder mirrored() const { return {-anchor, step, step - shift, -most, -least}; }
  /// Of what is shown; nothing of another number.
  [[nodiscard]] std::optional<Integer> index(const Rational& shown) const {
    if (shown >= most) return last;
    if (shown <= least) return first;
    const Rational k = (shown - anchor) / step;
    return k.get_den() == 1 ? std::optional(Integer(k.get_num())) : std::nullopt;
  }
};

Ladder ladder_of(const SnappingParameters& p, const AnswerInterval& range, Shown shown) {
  const Rational low = std::max<Rational>(range.low, p.centre - p.bound);
  const Rational high = std::min<Rational>(range.high, p.centre + p.bound);
  if (shown == Shown::as_released) return {p.centre, p.grid, p.grid / 2, low, high};
  return {0, 1, (1 + p.grid) / 2, ceil(low), floor(high)};
}

/// How far above what is shown an answer can lie.
class UpperEnd final {
 public:
  UpperEnd(Ladder ladder, Rational lambda, Rational alpha, Rational accuracy)
      : ladder_(std::move(ladder)),
        lambda_(std::move(lambda)),
        alpha_(std::move(alpha)),
        accuracy_(std::move(accuracy)) {
    const Rational threshold_at_most = std::max<Rational>(ladder_.shift, ladder_.step - ladder_.shift);
    const Rational reach = threshold_at_most + lambda_ * log_of_inverse_up(alpha_, kReachBits);
    window_ = ceil(2 * reach / ladder_.step) + 2;
    const Integer inner = ladder_.first + 1;
    if (inner + window_ < ladder_.last) from_inner_ = search_answer(inner) - ladder_.output(inner);
  }

  /// The largest plausible answer, or `most` of the ladder, which stands for all beyond it, too.
  [[nodiscard]] Rational of(const Integer& shown) const {
    if (shown == ladder_.last) return ladder_.most;
    // Where no end is within reach, the law looks the same from every output.
    if (shown > ladder_.first && shown + window_ < ladder_.last) return ladder_.output(shown) + *from_inner_;
    return search_answer(shown);
  }

 private:
  /// Whether an answer y above output `shown` is plausible, output `far` being the first at least as far from
  /// it on the other side; beyond `last` there is none.
  [[nodiscard]] bool plausible(const Integer& shown, const Integer& far, const Rational& y) const {
    if (far == shown + 1) return true;  // nothing is nearer to y than what is shown
    TailSum tails{y - ladder_.threshold(shown + 1)};
    if (far <= ladder_.last) tails.second = ladder_.threshold(far) - y;
    return !at_most({.sums = {tails}}, lambda_, alpha_);
  }

  /// Requires  shown < last.
  [[nodiscard]] Rational search_answer(const Integer& shown) const {
    const Rational from = ladder_.output(shown);
    // Halfway to output m: as m grows, both tails that are left there shrink.
    const auto halfway = [&](const Integer& m) { return Rational((from + ladder_.output(m)) / 2); };
    Integer in = shown + 1;
    Integer out = std::min<Integer>(ladder_.last, shown + window_) + 1;
    while (out - in > 1) {
      const Integer m = in + (out - in) / 2;
      (plausible(shown, m, halfway(m)) ? in : out) = m;
    }
    // Beyond that, what is plausible is an initial part of the stretch up to the next such place, or nothing.
    Rational low = halfway(in);
    Rational high = in == ladder_.last ? ladder_.most : halfway(in + 1);
    if (in == ladder_.last && plausible(shown, in + 1, high)) return high;
    if (!plausible(shown, in + 1, low)) return low;
    for (int i = 0; i < kHalvings; ++i) {
      const Rational middle = (low + high) / 2;
      (plausible(shown, in + 1, middle) ? low : high) = middle;
    }
    return std::min<Rational>(high, from + accuracy_);
  }

  Ladder ladder_;
  Rational lambda_;
  Rational alpha_;
  Rational accuracy_;                   ///< no plausible answer is farther from what is shown
  Integer window_;                      ///< outputs farther up than this play no part
  std::optional<Rational> from_inner_;  ///< how far above an output that no end is near to
};

class InvertedSnapping final : public InvertedLaw {
 public:
  InvertedSnapping(const Ladder& ladder, AnswerInterval range, const Rational& lambda, const Rational& alpha,
                   const Rational& accuracy, const Rational& rounding)
      : ladder_(ladder),
        range_(std::move(range)),
        accuracy_(accuracy),
        above_(ladder, lambda, alpha, accuracy + rounding),
        below_(ladder.mirrored(), lambda, alpha, accuracy + rounding) {}

  [[nodiscard]] AnswerInterval interval(const Rational& released) const override {
    const std::optional<Integer> shown = ladder_.index(released);
    if (!shown) return range_;
    const Rational high = above_.of(*shown);
    const Rational low = -below_.of(-*shown);
    // Answers beyond what can be shown are released as the end is.
    return {low == ladder_.least ? range_.low : low, high == ladder_.most ? range_.high : high};
  }
  [[nodiscard]] std::optional<Rational> accuracy_up() const override { return accuracy_; }

 private:
  Ladder ladder_;
  AnswerInterval range_;
  Rational accuracy_;
  UpperEnd above_;
  UpperEnd below_;
};

class WholeRangeLaw final : public InvertedLaw {
 public:
  explicit WholeRangeLaw(AnswerInterval range) : range_(std::move(range)) {}
  [[nodiscard]] AnswerInterval interval(const Rational& /*released*/) const override { return range_; }

 private:
  AnswerInterval range_;
};

}  // namespace

std::shared_ptr<const InvertedLaw> whole_range_law(const AnswerInterval& range) {
  return std::make_shared<WholeRangeLaw>(range);
}

std::shared_ptr<const InvertedLaw> inverted_snapping(const SnappingParameters& parameters,
                                                     const AnswerInterval& range, const Rational& alpha,
                                                     Shown shown) {
  EPSILOG_INVARIANT(shown == Shown::as_released || parameters.grid < 1);
  const Ladder ladder = ladder_of(parameters, range, shown);
  // One value is shown whatever the answer is.
  if (ladder.least >= ladder.most) return whole_range_law(range);
  // Rounding to the nearest whole number adds at most a half to the distance from any answer.
  const Rational rounding = shown == Shown::rounded ? Rational(1, 2) : Rational(0);
  const Rational accuracy = smallest_error_up({parameters.scale, parameters.grid, parameters.bound}, alpha);
  return std::make_shared<InvertedSnapping>(ladder, range, parameters.scale, alpha, accuracy, rounding);
}

}  // namespace epsilog::mechanisms
