#include "exponential_trial.hpp"

#include <array>
#include <bit>
#include <utility>

namespace epsilog::mechanisms {
namespace {

__extension__ using Wide = unsigned __int128;

/// Bits below the point of the machine tables.
constexpr unsigned kTableBits = 63;
/// fraction = i/16 + r with r < 1/16, and the Taylor polynomial of e^-r has this degree: what it leaves
/// out is below 16^-11 / 11! < 2^-69.
constexpr unsigned kSixteenthBits = 4;
constexpr unsigned kDegree = 10;

/// Numbers between which a real one lies, as integers over a power of two.
struct IntegerEnclosure {
  WipedInteger below;
  WipedInteger above;
};

/// Encloses 2^precision e^y for 0 <= y < 1/2, y enclosed by floor and floor + 1 of y 2^precision.
void enclose_exp(IntegerEnclosure& sum, mpz_srcptr y_floor, unsigned precision) {
  WipedInteger y_above;
  mpz_add_ui(y_above.get(), y_floor, 1);
  IntegerEnclosure term;
  for (WipedInteger* each : {&term.below, &term.above, &sum.below, &sum.above}) {
    mpz_set_ui(each->get(), 1);
    mpz_mul_2exp(each->get(), each->get(), precision);
  }
  // Ends once a term is at most one unit: each later one is less than half the one before, so all of
  // them together are less than one unit more.
  for (unsigned long i = 1; mpz_cmp_ui(term.above.get(), 1) > 0; ++i) {
    mpz_mul(term.below.get(), term.below.get(), y_floor);
    mpz_fdiv_q_2exp(term.below.get(), term.below.get(), precision);
    mpz_fdiv_q_ui(term.below.get(), term.below.get(), i);
    mpz_mul(term.above.get(), term.above.get(), y_above.get());
    mpz_cdiv_q_2exp(term.above.get(), term.above.get(), precision);
    mpz_cdiv_q_ui(term.above.get(), term.above.get(), i);
    mpz_add(sum.below.get(), sum.below.get(), term.below.get());
    mpz_add(sum.above.get(), sum.above.get(), term.above.get());
  }
  mpz_add_ui(sum.above.get(), sum.above.get(), 1);
}

/// Encloses 2^precision e^(-numerator / denominator) as the 2^halvings-th power of e^(-y), y below 1/16.
void enclose_exp_minus(IntegerEnclosure& result, mpz_srcptr numerator, mpz_srcptr denominator,
                       unsigned halvings, unsigned precision) {
  WipedInteger y_floor;
  EPSILOG_INVARIANT(precision > halvings);
  mpz_mul_2exp(y_floor.get(), numerator, precision - halvings);
  mpz_fdiv_q(y_floor.get(), y_floor.get(), denominator);
  IntegerEnclosure growing;
  enclose_exp(growing, y_floor.get(), precision);
  WipedInteger one_squared;
  mpz_set_ui(one_squared.get(), 1);
  mpz_mul_2exp(one_squared.get(), one_squared.get(), 2UL * precision);
  mpz_fdiv_q(result.below.get(), one_squared.get(), growing.above.get());
  mpz_cdiv_q(result.above.get(), one_squared.get(), growing.below.get());
  for (unsigned i = 0; i < halvings; ++i) {
    mpz_mul(result.below.get(), result.below.get(), result.below.get());
    mpz_fdiv_q_2exp(result.below.get(), result.below.get(), precision);
    mpz_mul(result.above.get(), result.above.get(), result.above.get());
    mpz_cdiv_q_2exp(result.above.get(), result.above.get(), precision);
  }
}

struct Tables {
  std::array<std::uint64_t, kExpTableLast + 1> whole;            ///< floor(2^63 e^-k)
  std::array<std::uint64_t, (1U << kSixteenthBits)> sixteenths;  ///< floor(2^63 e^(-i/16))
};

Tables make_tables() {
  Tables tables{};
  const auto entry = [](unsigned long numerator, unsigned long denominator) {
    const accounting::Integer over(numerator);
    const accounting::Integer under(denominator);
    accounting::Integer value;
    floor_scaled_exp_minus(value.get_mpz_t(), over.get_mpz_t(), under.get_mpz_t(), kTableBits);
    return static_cast<std::uint64_t>(value.get_ui());
  };
  for (std::size_t k = 0; k < tables.whole.size(); ++k) tables.whole[k] = entry(k, 1);
  for (std::size_t i = 0; i < tables.sixteenths.size(); ++i) tables.sixteenths[i] = entry(i, 16);
  EPSILOG_INVARIANT(tables.whole[kExpTableLast] == 0 && tables.whole[kExpTableLast - 1] == 1);
  return tables;
}

const Tables& tables() {
  static const Tables made = make_tables();
  return made;
}

/// floor(2^63 / i!).
constexpr std::array<std::uint64_t, kDegree + 1> kTaylor = [] {
  std::array<std::uint64_t, kDegree + 1> coefficients{};
  std::uint64_t factorial = 1;
  for (unsigned i = 0; i <= kDegree; ++i) {
    if (i > 0) factorial *= i;
    coefficients[i] = (std::uint64_t{1} << kTableBits) / factorial;
  }
  return coefficients;
}();

std::uint64_t high_half(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
}

/// value = (value << bits) | word.
void append(mpz_ptr value, std::uint64_t word, unsigned bits) {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  mpz_mul_2exp(value, value, bits);
  mpz_add_ui(value, value, word);
}

}  // namespace

void floor_scaled_exp_minus(mpz_ptr result, mpz_srcptr numerator, mpz_srcptr denominator, unsigned bits) {
  EPSILOG_INVARIANT(bits >= 1);
  if (mpz_sgn(numerator) == 0) {
    mpz_set_ui(result, 1);
    mpz_mul_2exp(result, result, bits);
    return;
  }
  // e^-x < 2^-x <= 2^-bits.
  WipedInteger limit;
  mpz_mul_ui(limit.get(), denominator, bits);
  if (mpz_cmp(numerator, limit.get()) >= 0) {
    mpz_set_ui(result, 0);
    return;
  }
  const unsigned halvings = static_cast<unsigned>(std::bit_width(bits)) + 4;
  for (unsigned guard = 64;; guard *= 2) {
    IntegerEnclosure power;
    enclose_exp_minus(power, numerator, denominator, halvings, bits + guard);
    mpz_fdiv_q_2exp(power.below.get(), power.below.get(), guard);
    mpz_fdiv_q_2exp(power.above.get(), power.above.get(), guard);
    if (mpz_cmp(power.below.get(), power.above.get()) == 0) {
      mpz_set(result, power.below.get());
      return;
    }
  }
}

std::uint64_t exp_minus_integer(unsigned k) noexcept {
  return tables().whole[std::min(k, kExpTableLast)];
}

std::uint64_t approximate_exp_minus(std::uint64_t whole, std::uint64_t fraction) noexcept {
  const Tables& table = tables();
  const std::uint64_t rest = fraction & (~std::uint64_t{0} >> kSixteenthBits);
  std::uint64_t polynomial = kTaylor[kDegree];
  for (unsigned i = kDegree; i-- > 0;) polynomial = kTaylor[i] - high_half(rest, polynomial);
  const std::uint64_t of_fraction =
      high_half(table.sixteenths[fraction >> (64 - kSixteenthBits)], polynomial);  // 2^62 is one
  return high_half(table.whole[std::min<std::uint64_t>(whole, kExpTableLast)], of_fraction);
}

Comparison compare_with_approximation(std::uint64_t word, unsigned bits, std::uint64_t approximation,
                                      std::int64_t error) noexcept {
  __extension__ using WideSigned = __int128;
  const WideSigned value = static_cast<WideSigned>(approximation) << 3;
  const unsigned dropped = kWordBits - bits;
  // Shifts of negative numbers are arithmetic in C++20, so these are floors.
  const WideSigned threshold_min = (value - error) >> dropped;
  const WideSigned threshold_max = (value + error) >> dropped;
  const auto drawn = static_cast<WideSigned>(word);
  if (drawn < threshold_min) return Comparison::below;
  return drawn > threshold_max ? Comparison::above : Comparison::undecided;
}

bool below_exp_minus(std::uint64_t first_word, mpz_srcptr numerator, mpz_srcptr denominator,
                     RandomWords& words) {
  WipedInteger drawn;
  WipedInteger threshold;
  append(drawn.get(), first_word, words.bits());
  for (unsigned bits = words.bits();; bits += words.bits()) {
    floor_scaled_exp_minus(threshold.get(), numerator, denominator, bits);
    const int order = mpz_cmp(drawn.get(), threshold.get());
    if (order != 0) return order < 0;
    append(drawn.get(), words.next(), words.bits());
  }
}

std::uint64_t geometric_of_e(std::uint64_t first, unsigned first_bits, RandomWords& words) {
  const Tables& table = tables();
  const unsigned dropped = kTableBits - first_bits;
  std::uint64_t passed = 0;
  const std::uint64_t aligned = first << dropped;
  // first < (entry >> dropped) exactly when the entry, its dropped bits cleared, is above `aligned`.
  const std::uint64_t kept = ~std::uint64_t{0} << dropped;
  for (std::size_t k = 1; k <= kExpTableLast; ++k)
    passed += static_cast<std::uint64_t>(aligned < (table.whole[k] & kept));
  if (first > (table.whole[std::min<std::uint64_t>(passed + 1, kExpTableLast)] >> dropped)) return passed;

  // The drawn bits are those of some e^-k themselves: draw on, from that k.
  const accounting::Integer one(1);
  WipedInteger drawn;
  WipedInteger next;
  WipedInteger threshold;
  mpz_set_ui(drawn.get(), first);
  for (unsigned bits = first_bits;;) {
    mpz_set_ui(next.get(), passed + 1);
    floor_scaled_exp_minus(threshold.get(), next.get(), one.get_mpz_t(), bits);
    const int order = mpz_cmp(drawn.get(), threshold.get());
    if (order > 0) return passed;
    if (order < 0) {
      ++passed;
    } else {
      append(drawn.get(), words.next(), words.bits());
      bits += words.bits();
    }
  }
}

}  // namespace epsilog::mechanisms
