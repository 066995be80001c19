#include "response_law.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace epsilog::accounting {
namespace {

/// Terms above the cut times two to this are not asked whether those after them may be left out: it takes as
/// long as the term itself.
constexpr unsigned long kNearCut = 8;

/// ln C(n, k): the gamma function of integers is rounded correctly.
Enclosure log_binomial(std::uint64_t n, std::uint64_t k, unsigned bits) {
  const auto log_factorial = [&](std::uint64_t m) {
    MpfrNumber argument(64);
    mpfr_set_ui(argument.get(), m + 1, MPFR_RNDN);
    MpfrNumber low(bits);
    MpfrNumber high(bits);
    mpfr_lngamma(low.get(), argument.get(), MPFR_RNDD);
    mpfr_lngamma(high.get(), argument.get(), MPFR_RNDU);
    return Enclosure(std::move(low), std::move(high));
  };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/// Terms of C(n, j) p^j (1-p)^(n-j) from one term to the next, either way.
class BinomialTerms final {
 public:
  BinomialTerms(const LossGroup& group, unsigned bits)
      : n_(group.count),
        up_(exp(Enclosure(group.epsilon, bits))),
        down_(exp(Enclosure(-group.epsilon, bits))) {}

  [[nodiscard]] Enclosure ratio_up(std::uint64_t j) const { return up_ * (n_ - j) / (j + 1); }
  [[nodiscard]] Enclosure ratio_down(std::uint64_t j) const { return down_ * j / (n_ - j + 1); }
  /// Both from term j to its neighbour; q of the neighbouring data, for which the signs change places. In
  /// place: of a billion mechanisms there are a quarter of a million terms.
  void step_up(std::uint64_t j, Enclosure& p, Enclosure& q) const {
    ((p *= up_) *= n_ - j) /= j + 1;
    ((q *= down_) *= n_ - j) /= j + 1;
  }
  void step_down(std::uint64_t j, Enclosure& p, Enclosure& q) const {
    ((p *= down_) *= j) /= n_ - j + 1;
    ((q *= up_) *= j) /= n_ - j + 1;
  }

 private:
  std::uint64_t n_;
  Enclosure up_;
  Enclosure down_;
};

Rational loss_of(const LossGroup& group, std::uint64_t j) {
  Integer signs =
      2 * Integer(static_cast<unsigned long>(j)) - Integer(static_cast<unsigned long>(group.count));
  return signs * group.epsilon;
}

/// The first j with a loss above `least`, from 0 to count + 1.
std::uint64_t first_above(const LossGroup& group, const Rational& least) {
  const Rational n(Integer(static_cast<unsigned long>(group.count)));
  if (group.epsilon == 0) return least < 0 ? 0 : group.count + 1;
  const Integer j = floor(Rational((least / group.epsilon + n) / 2)) + 1;
  if (j <= 0) return 0;
  return j > n ? group.count + 1 : j.get_ui();
}

/// The most probable j, nearly: where to begin is no matter of correctness.
std::uint64_t mode(const LossGroup& group) {
  const double epsilon = group.epsilon.get_d();
  const double p = 1 / (1 + std::exp(-epsilon));
  return std::min(group.count, static_cast<std::uint64_t>(p * static_cast<double>(group.count)));
}

/// `term` times ratio/(1 - ratio), above, if the ratio is certainly below 1: the sum of all later terms, of
/// which each is at most that ratio of the one before.
std::optional<MpfrNumber> geometric_rest(const Enclosure& term, const Enclosure& ratio) {
  const Enclosure divisor = Enclosure(1UL, ratio.bits()) - ratio;
  if (mpfr_sgn(divisor.low().get()) <= 0) return std::nullopt;
  return (term * ratio / divisor).high();
}

}  // namespace

EqualResponses equal_response_atoms(const LossGroup& group, const LawWindow& window, unsigned bits) {
  const std::uint64_t n = group.count;
  const std::uint64_t first = first_above(group, window.loss_min);
  EqualResponses law{{}, MpfrNumber(bits)};
  if (first > n) return law;
  const BinomialTerms terms(group, bits);
  const std::uint64_t start = std::max(first, mode(group));
  const Rational all(Integer(static_cast<unsigned long>(n)));
  const Rational lost = Rational(Integer(static_cast<unsigned long>(n - start))) * group.epsilon;
  const Enclosure normaliser = log1p(exp(Enclosure(-group.epsilon, bits))) * n;
  const Enclosure p = exp(log_binomial(n, start, bits) - Enclosure(lost, bits) - normaliser);
  const Enclosure q = p * exp(Enclosure(-loss_of(group, start), bits));
  const MpfrNumber cut = window.cut_is_relative ? (p * Enclosure(window.cut, bits)).low()
                                                : MpfrNumber::rounded(window.cut, bits, MPFR_RNDD);
  MpfrNumber near_cut(cut);
  mpfr_mul_2ui(near_cut.get(), near_cut.get(), kNearCut, MPFR_RNDU);
  const auto left_out = [&](const Enclosure& term, const auto& ratio) {
    if (mpfr_greater_p(term.low().get(), near_cut.get()) != 0) return false;
    const auto rest = geometric_rest(term, ratio());
    if (!rest || mpfr_lessequal_p(rest->get(), cut.get()) == 0) return false;
    mpfr_add(law.rest.get(), law.rest.get(), rest->get(), MPFR_RNDU);
    return true;
  };

  std::vector<LossLaw::Atom> upper;
  Enclosure p_j = p;
  Enclosure q_j = q;
  for (std::uint64_t j = start;; ++j) {
    upper.push_back({loss_of(group, j), p_j, q_j});
    if (j == n) break;
    if (left_out(p_j, [&] { return terms.ratio_up(j); })) break;
    terms.step_up(j, p_j, q_j);
  }
  law.atoms.assign(std::make_move_iterator(upper.rbegin()), std::make_move_iterator(upper.rend()));
  p_j = p;
  q_j = q;
  for (std::uint64_t j = start; j > first; --j) {
    if (left_out(p_j, [&] { return terms.ratio_down(j); })) break;
    terms.step_down(j, p_j, q_j);
    law.atoms.push_back({loss_of(group, j - 1), p_j, q_j});
  }
  return law;
}

LossLaw equal_responses(const LossGroup& group, const LawWindow& window, unsigned bits) {
  EqualResponses law = equal_response_atoms(group, window, bits);
  return {std::move(law.atoms), std::move(law.rest), bits};
}

std::uint64_t sign_classes(std::span<const LossGroup> groups) {
  std::uint64_t classes = 1;
  for (const LossGroup& group : groups) {
    if (group.count >= kSignClassesMax || (classes *= group.count + 1) > kSignClassesMax)
      return kSignClassesMax + 1;
  }
  return classes;
}

LossLaw sign_class_law(std::span<const LossGroup> groups, unsigned bits) {
  std::vector<LossLaw::Atom> atoms{{Rational(0), Enclosure(1UL, bits), Enclosure(1UL, bits)}};
  for (const LossGroup& group : groups) {
    // Nothing is left out: every group has few members.
    const EqualResponses one = equal_response_atoms(group, {loss_of(group, 0) - 1, 0, false}, bits);
    std::vector<LossLaw::Atom> product;
    product.reserve(atoms.size() * one.atoms.size());
    for (const LossLaw::Atom& a : atoms) {
      for (const LossLaw::Atom& b : one.atoms) product.push_back({a.loss + b.loss, a.p * b.p, a.q * b.q});
    }
    atoms = std::move(product);
  }
  std::sort(atoms.begin(), atoms.end(),
            [](const LossLaw::Atom& a, const LossLaw::Atom& b) { return a.loss > b.loss; });
  return {std::move(atoms), MpfrNumber(bits), bits};
}

}  // namespace epsilog::accounting
