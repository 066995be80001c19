#include "loss_law.hpp"

#include <algorithm>
#include <utility>

namespace epsilog::accounting {

LossLaw::LossLaw(std::vector<Atom> atoms, MpfrNumber rest, unsigned bits)
    : rest_(std::move(rest)), bits_(bits) {
  losses_.reserve(atoms.size());
  p_.reserve(atoms.size() + 1);
  q_.reserve(atoms.size() + 1);
  p_.emplace_back(0UL, bits);
  q_.emplace_back(0UL, bits);
  for (Atom& atom : atoms) {
    p_.push_back(std::move(atom.p += p_.back()));
    q_.push_back(std::move(atom.q += q_.back()));
    losses_.push_back(std::move(atom.loss));
  }
}

std::size_t LossLaw::above(const Rational& epsilon) const {
  const auto end = std::partition_point(losses_.begin(), losses_.end(),
                                        [&](const Rational& loss) { return loss > epsilon; });
  return static_cast<std::size_t>(end - losses_.begin());
}

Enclosure LossLaw::delta(const Rational& epsilon) const {
  const std::size_t active = above(epsilon);
  const Enclosure sum = p_[active] - exp(Enclosure(epsilon, bits_)) * q_[active];
  MpfrNumber high(bits_);
  mpfr_add(high.get(), sum.high().get(), rest_.get(), MPFR_RNDU);
  return {sum.low(), std::move(high)};
}

bool LossLaw::is_enough_at(std::size_t k, const Rational& target) const {
  return delta(losses_[k]).certainly_at_most(target);
}

std::optional<Rational> LossLaw::epsilon_up(const Rational& target) const {
  if (delta(0).certainly_at_most(target)) return Rational(0);
  // Of the losses above zero, descending, those at which delta is still small enough.
  std::size_t enough = 0;
  std::size_t not_enough = above(0);
  while (enough < not_enough) {
    const std::size_t middle = enough + (not_enough - enough) / 2;
    if (is_enough_at(middle, target)) {
      enough = middle + 1;
    } else {
      not_enough = middle;
    }
  }
  // Between losses[enough] and losses[enough - 1], delta(e) = P - e^e Q of the first `enough` atoms:
  // section 2.
  if (enough == 0) return std::nullopt;
  const Rational& ceiling = losses_[enough - 1];
  MpfrNumber p(bits_);
  mpfr_add(p.get(), p_[enough].high().get(), rest_.get(), MPFR_RNDU);
  mpfr_sub(p.get(), p.get(), MpfrNumber::rounded(target, bits_, MPFR_RNDD).get(), MPFR_RNDU);
  if (mpfr_sgn(p.get()) <= 0) return ceiling;
  mpfr_div(p.get(), p.get(), q_[enough].low().get(), MPFR_RNDU);
  mpfr_log(p.get(), p.get(), MPFR_RNDU);
  if (mpfr_number_p(p.get()) == 0) return ceiling;
  const Rational floor = enough < losses_.size() ? std::max(losses_[enough], Rational(0)) : Rational(0);
  return std::clamp(MpfrNumber::rounded(p.rational(), 128, MPFR_RNDU).rational(), floor, ceiling);
}

}  // namespace epsilog::accounting
