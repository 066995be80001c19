#include "epsilog/mechanisms/quotient_interval.hpp"

#include <algorithm>

#include "difference_quantile.hpp"
#include "epsilog/accounting/errors.hpp"
#include "error_probability.hpp"

namespace epsilog::mechanisms {
namespace {

/// A bound that does not fall over a piece loses what it rises by: 1/64 of its share at the reach, at most.
constexpr long kPieces = 64;

/// Noise much smaller than its grid is hardly like continuous noise.
bool is_law_decisive(const AnswerNoise& first, const AnswerNoise& second, const Rational& alpha) {
  return first.law == second.law &&
         alpha * first.share * second.share >= accounting::power_of_two(-kLeastExponent);
}

/// Numbers from low to high; none if low > high.
struct NumberRange {
  Rational low;
  Rational high;
  [[nodiscard]] bool empty() const { return low > high; }
};

/// The theta of the stretch with |dividend - theta*divisor| <= constant + slope*theta.
NumberRange left_of(const NumberRange& stretch, const Rational& dividend, const Rational& divisor,
                    const Rational& constant, const Rational& slope) {
  NumberRange left = stretch;
  // rate*theta <= most
  const auto require = [&left](const Rational& rate, const Rational& most) {
    if (rate > 0) {
      left.high = std::min<Rational>(left.high, most / rate);
    } else if (rate < 0) {
      left.low = std::max<Rational>(left.low, most / rate);
    } else if (most < 0) {
      left.high = left.low - 1;
    }
  };
  require(divisor - slope, constant + dividend);
  require(-divisor - slope, constant - dividend);
  return left;
}

NumberRange cut(const Rational& from, const Rational& to, const AnswerInterval& within) {
  return {std::max<Rational>(from, within.low), std::min<Rational>(to, within.high)};
}

}  // namespace

QuotientIntervals::QuotientIntervals(const QuotientPart& dividend, const QuotientPart& divisor,
                                     const Rational& reach, const Rational& alpha) {
  EPSILOG_INVARIANT(reach > 0);
  const AnswerNoise &s = dividend.noise, &n = divisor.noise;
  // Noise much smaller than its grid is hardly like continuous noise.
  const bool by_law =
      s.law == n.law && alpha * s.share * n.share >= accounting::power_of_two(-kLeastExponent);
  Rational flat = 0, rate = 0;  // as found last: where to look next
  for (long i = 0; i < kPieces; ++i) {
    Piece piece{
        .from = reach * i / kPieces, .to = reach * (i + 1) / kPieces, .constant = 0, .slope = 0, .most = 0};
    const Rational middle = (piece.from + piece.to) / 2;
    // The noise that is larger is the one whose steps are worth being told apart: S about multiples of N ends
    // where the piece does, N about multiples of S where it begins.
    if (!by_law) {
      piece.constant = dividend.accuracy;
      piece.slope = divisor.accuracy;
    } else if (i == 0 || s.law == AnswerNoise::Law::gaussian || piece.to * n.scale <= s.scale) {
      flat = difference_quantile_up(s, n, piece.to, Multiple::one, alpha, flat);
      piece.constant = flat;
    } else {
      rate = difference_quantile_up(n, s, 1 / piece.from, Multiple::one, alpha, rate * 15 / 16);
      piece.slope = rate;
    }
    // Both errors within accuracies of their own: for noise that is small beside its grid.
    if (dividend.accuracy + divisor.accuracy * middle < piece.constant + piece.slope * middle) {
      piece.constant = dividend.accuracy;
      piece.slope = divisor.accuracy;
    }
    piece.most = piece.constant + piece.slope * piece.to;
    if (!pieces_.empty()) piece.most = std::max(piece.most, pieces_.back().most);
    pieces_.push_back(std::move(piece));
  }
}

std::optional<Rational> QuotientIntervals::search_extreme(std::size_t first, std::size_t last, bool farthest,
                                                          const Rational& dividend, const Rational& divisor,
                                                          const AnswerInterval& within) const {
  const NumberRange all = cut(pieces_[first].from, pieces_[last - 1].to, within);
  if (all.empty()) return std::nullopt;
  const bool one = last - first == 1;
  const NumberRange left =
      one ? left_of(all, dividend, divisor, pieces_[first].constant, pieces_[first].slope)
          : left_of(all, dividend, divisor, pieces_[last - 1].most, 0);
  if (left.empty()) return std::nullopt;
  if (one) return farthest ? left.high : left.low;
  const std::size_t middle = first + (last - first) / 2;
  const auto half = [&](bool upper) {
    return search_extreme(upper ? middle : first, upper ? last : middle, farthest, dividend, divisor, within);
  };
  const std::optional<Rational> found = half(farthest);
  return found ? found : half(!farthest);
}

std::optional<Rational> QuotientIntervals::greatest(const Rational& dividend, const Rational& divisor,
                                                    const AnswerInterval& within) const {
  const std::optional<Rational> above = search_extreme(0, pieces_.size(), true, dividend, divisor, within);
  if (above) return above;
  // Of what lies below 0 the nearest to it, every sign changed.
  const std::optional<Rational> below =
      search_extreme(0, pieces_.size(), false, -dividend, divisor, {-within.high, -within.low});
  return below ? std::optional<Rational>(-*below) : std::nullopt;
}

std::optional<AnswerInterval> QuotientIntervals::of(const Rational& dividend, const Rational& divisor,
                                                    const AnswerInterval& within) const {
  EPSILOG_INVARIANT(abs(within.low) <= pieces_.back().to && abs(within.high) <= pieces_.back().to);
  const std::optional<Rational> high = greatest(dividend, divisor, within);
  if (!high) return std::nullopt;
  const std::optional<Rational> least = greatest(-dividend, divisor, {-within.high, -within.low});
  EPSILOG_INVARIANT(least);
  return AnswerInterval{-*least, *high};
}

Rational quotient_accuracy_up(const QuotientPart& dividend, const QuotientPart& divisor,
                              const Rational& reach, const Rational& rows, const Rational& alpha) {
  EPSILOG_INVARIANT(reach > 0 && rows >= 1);
  const AnswerNoise &s = dividend.noise, &n = divisor.noise;
  Rational error = dividend.accuracy + reach * divisor.accuracy;
  if (is_law_decisive(s, n, alpha)) {
    error = std::min(error, difference_quantile_up(s, n, reach, Multiple::any, alpha, 0));
    if (s.law == AnswerNoise::Law::laplace) {
      error =
          std::min<Rational>(error, reach * difference_quantile_up(n, s, 1 / reach, Multiple::any, alpha, 0));
    }
  }
  return error / rows;
}

}  // namespace epsilog::mechanisms
