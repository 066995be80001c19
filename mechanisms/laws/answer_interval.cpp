#include "epsilog/mechanisms/answer_interval.hpp"

#include <map>

#include "epsilog/accounting/checked_probability.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/mpfr_number.hpp"
#include "error_probability.hpp"

namespace epsilog::mechanisms {

AnswerInterval AnswerIntervals::of(const Rational& released) const {
  return law_->interval(released);
}

std::vector<AnswerInterval> AnswerIntervals::of_each(std::span<const Rational> released) const {
  // Near the ends of the range an interval costs more, but few values lie there, and often.
  std::map<Rational, AnswerInterval> known;
  std::vector<AnswerInterval> result;
  result.reserve(released.size());
  for (const Rational& value : released) {
    const auto [found, is_new] = known.try_emplace(value);
    if (is_new) found->second = of(value);
    result.push_back(found->second);
  }
  return result;
}

Rational simultaneous_alpha_down(const Rational& alpha, std::uint64_t values) {
  accounting::require_probability(alpha, "alpha");
  if (values < 1) throw InvalidParameter("values: must be at least 1");
  if (values == 1) return alpha;
  const accounting::ExponentRange range;
  // Everything but the sign goes up, so that what is given away of alpha goes down.
  accounting::MpfrNumber kept = accounting::MpfrNumber::rounded(-alpha, kResultBits + 64, MPFR_RNDU);
  mpfr_log1p(kept.get(), kept.get(), MPFR_RNDU);
  mpfr_div_ui(kept.get(), kept.get(), values, MPFR_RNDU);
  mpfr_expm1(kept.get(), kept.get(), MPFR_RNDU);
  mpfr_neg(kept.get(), kept.get(), MPFR_RNDD);
  return accounting::MpfrNumber::rounded(kept.rational(), kResultBits, MPFR_RNDD).rational();
}

}  // namespace epsilog::mechanisms
