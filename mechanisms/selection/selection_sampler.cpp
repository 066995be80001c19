#include "selection_sampler.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "exponential_trial.hpp"
#include "wiped_bytes.hpp"

namespace epsilog::mechanisms {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr unsigned kWideBits = 128;
/// Coins whose outcomes share a word.
constexpr std::uint64_t kOutcomesPerWord = 64;

/// The exponents x of the runs, and e^-x as near as machine integers have it.
class Exponents final {
 public:
  Exponents(std::span<const DistanceRun> runs, const Rational& rate) : runs_(runs), rate_(rate) {
    EPSILOG_INVARIANT(!runs.empty() && rate > 0);
    const auto least =
        std::min_element(runs.begin(), runs.end(),
                         [](const DistanceRun& a, const DistanceRun& b) { return a.distance < b.distance; });
    least_ = least->distance;
    for (const DistanceRun& run : runs) candidates_ += run.count;
    EPSILOG_INVARIANT(candidates_ >= 1 && candidates_ <= kCandidatesMax);
  }

  [[nodiscard]] std::uint64_t candidates() const noexcept { return candidates_; }

  /// An eighth of a number within kApproximationError of 2^64 e^-x: step 3 of discrete_mechanisms.md, the
  /// exponent known to less than 2^-64.
  [[nodiscard]] std::uint64_t approximation(std::size_t run) {
    set_numerator(run);
    mpz_fdiv_qr(whole_.get(), rest_.get(), numerator_.get(), rate_.get_den_mpz_t());
    if (mpz_cmp_ui(whole_.get(), kExpTableLast) >= 0) return approximate_exp_minus(kExpTableLast, 0);
    mpz_mul_2exp(rest_.get(), rest_.get(), 64);
    mpz_fdiv_q(rest_.get(), rest_.get(), rate_.get_den_mpz_t());
    static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
    return approximate_exp_minus(mpz_get_ui(whole_.get()), mpz_get_ui(rest_.get()));
  }

  /// Whether the uniform real that begins with `word` lies below e^-x.
  [[nodiscard]] bool below(std::size_t run, std::uint64_t word, RandomWords& words) {
    set_numerator(run);
    return below_exp_minus(word, numerator_.get(), rate_.get_den_mpz_t(), words);
  }

 private:
  void set_numerator(std::size_t run) {
    mpz_sub(numerator_.get(), runs_[run].distance.get_mpz_t(), least_.get_mpz_t());
    mpz_mul(numerator_.get(), numerator_.get(), rate_.get_num_mpz_t());
  }

  std::span<const DistanceRun> runs_;
  const Rational& rate_;
  Integer least_;
  std::uint64_t candidates_ = 0;
  WipedInteger numerator_;
  WipedInteger whole_;
  WipedInteger rest_;
};

/// Words drawn below `certain_min` are below 2^bits e^-x, those above `possible_max` are not.
struct Thresholds {
  std::uint64_t certain_min = 0;
  std::uint64_t possible_max = 0;
};

Thresholds thresholds(std::uint64_t approximation, unsigned bits) {
  const unsigned dropped = kWordBits - bits;
  const Wide value = static_cast<Wide>(approximation) << 3;
  const auto error = static_cast<Wide>(kApproximationError);
  const Wide last = ~std::uint64_t{0} >> dropped;
  return {.certain_min = static_cast<std::uint64_t>(value < error ? Wide{0} : (value - error) >> dropped),
          .possible_max = static_cast<std::uint64_t>(std::min((value + error) >> dropped, last))};
}

/// Uniform over 0 .. bound - 1: the numbers of `count` words that reach beyond the last whole multiple of
/// the bound are drawn again.
/// Requires  1 <= bound <= 2^(count words.bits()), count words.bits() <= 128.
Wide uniform_below(Wide bound, unsigned count, RandomWords& words) {
  const Wide last = ~Wide{0} >> (kWideBits - count * words.bits());
  const Wide excess = (last % bound + 1) % bound;
  for (;;) {
    Wide drawn = 0;
    for (unsigned i = 0; i < count; ++i) drawn = (drawn << words.bits()) | words.next();
    if (drawn <= last - excess) return drawn % bound;
  }
}

/// Least number of words that can hold `bound`.
unsigned words_for(Wide bound, unsigned bits) {
  const auto high = static_cast<std::uint64_t>(bound >> 64);
  const unsigned width = high != 0 ? 64 + static_cast<unsigned>(std::bit_width(high))
                                   : static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(bound)));
  const unsigned count = (width + bits - 1) / bits;
  EPSILOG_INVARIANT(count >= 1 && count * bits <= kWideBits);
  return count;
}

/// The outcomes of all coins, one bit each, and how many showed heads. Overwritten when it goes.
class Outcomes final {
 public:
  explicit Outcomes(std::uint64_t coins) : words_((coins + kOutcomesPerWord - 1) / kOutcomesPerWord) {}
  ~Outcomes() { sodium_memzero(words_.data(), words_.size() * sizeof words_[0]); }
  Outcomes(const Outcomes&) = delete;
  Outcomes& operator=(const Outcomes&) = delete;

  void note(std::uint64_t coin, bool heads) noexcept {
    words_[coin / kOutcomesPerWord] |= static_cast<std::uint64_t>(heads) << (coin % kOutcomesPerWord);
    heads_ += static_cast<std::uint64_t>(heads);
  }
  [[nodiscard]] std::uint64_t heads() const noexcept { return heads_; }

  /// The coin that showed heads after `before` others. Looks at every word, whichever it is in.
  /// Requires  before < heads().
  [[nodiscard]] std::uint64_t coin_of(std::uint64_t before) const noexcept {
    std::uint64_t passed = 0;
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto here = static_cast<std::uint64_t>(std::popcount(words_[i]));
      if (passed <= before && before < passed + here) {
        std::uint64_t left = words_[i];
        for (std::uint64_t skip = before - passed; skip > 0; --skip) left &= left - 1;
        found = i * kOutcomesPerWord + static_cast<std::uint64_t>(std::countr_zero(left));
      }
      passed += here;
    }
    return found;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t heads_ = 0;
};

}  // namespace

std::uint64_t permute_and_flip(std::span<const DistanceRun> runs, const Rational& rate, RandomWords& words,
                               SelectionTrials trials) {
  Exponents exponents(runs, rate);
  Outcomes outcomes(exponents.candidates());
  const std::uint64_t last_word = ~std::uint64_t{0} >> (kWordBits - words.bits());
  std::uint64_t coin = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Thresholds limits = trials == SelectionTrials::exact
                                  ? Thresholds{.certain_min = 0, .possible_max = last_word}
                                  : thresholds(exponents.approximation(run), words.bits());
    for (std::uint64_t i = 0; i < runs[run].count; ++i, ++coin) {
      const std::uint64_t word = words.next();
      bool heads = word < limits.certain_min;
      if (!heads && word <= limits.possible_max) heads = exponents.below(run, word, words);
      outcomes.note(coin, heads);
    }
  }
  // The best candidates' e^-0 is no less than any uniform, so there are heads.
  EPSILOG_INVARIANT(outcomes.heads() >= 1);
  const unsigned count = words_for(exponents.candidates(), words.bits());
  return outcomes.coin_of(static_cast<std::uint64_t>(uniform_below(outcomes.heads(), count, words)));
}

std::uint64_t exponential_selection(std::span<const DistanceRun> runs, const Rational& rate,
                                    RandomWords& words, SelectionTrials trials) {
  Exponents exponents(runs, rate);
  const Wide one = Wide{1} << words.bits();
  const unsigned dropped = kWordBits - words.bits();
  // A whole number no less than 2^bits e^-x for each run, and for every candidate of it as many tickets.
  std::vector<std::uint64_t> approximations(runs.size());
  const auto tickets_each = [&](std::size_t run) {
    const Wide above = (static_cast<Wide>(approximations[run]) << 3) + static_cast<Wide>(kApproximationError);
    return std::min((above >> dropped) + 1, one);
  };
  Wide tickets = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    approximations[run] = exponents.approximation(run);
    tickets += tickets_each(run) * runs[run].count;
  }

  const unsigned count = words_for(exponents.candidates() * one, words.bits());
  for (;;) {
    Wide ticket = uniform_below(tickets, count, words);
    std::uint64_t before = 0;
    std::uint64_t first = 0;
    std::size_t drawn = runs.size();
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const Wide here = tickets_each(run) * runs[run].count;
      if (drawn == runs.size()) {
        if (ticket < here) {
          drawn = run;
          first = before;
        } else {
          ticket -= here;
        }
      }
      before += runs[run].count;
    }
    // A ticket's place among those of its candidate is the beginning of a uniform real below their number.
    const Wide each = tickets_each(drawn);
    const auto begun = static_cast<std::uint64_t>(ticket % each);
    const Thresholds limits = thresholds(approximations[drawn], words.bits());
    const bool certain = trials == SelectionTrials::approximate && begun < limits.certain_min;
    if (certain || exponents.below(drawn, begun, words))
      return first + static_cast<std::uint64_t>(ticket / each);
  }
}

}  // namespace epsilog::mechanisms
