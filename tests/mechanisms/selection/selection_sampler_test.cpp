// Selections: their law by definition, by the walk over every choice of random words, and their tiers.
#include "selection_sampler.hpp"

#include <numeric>

#include "epsilog/accounting/errors.hpp"
#include "exponential_trial.hpp"
#include "mechanisms/selection_law.hpp"
#include "mechanisms/walked_words.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using epsilog::accounting::parse_rational;
using namespace epsilog::test;

namespace {

std::vector<DistanceRun> runs_of(const std::vector<std::pair<std::uint64_t, const char*>>& given) {
  std::vector<DistanceRun> runs;
  for (const auto& [count, distance] : given) runs.push_back({count, Integer(distance)});
  return runs;
}

std::uint64_t selected(Selection selection, const std::vector<DistanceRun>& runs, const Rational& rate,
                       RandomWords& words, SelectionTrials trials = SelectionTrials::approximate) {
  return selection == Selection::exponential ? exponential_selection(runs, rate, words, trials)
                                             : permute_and_flip(runs, rate, words, trials);
}

constexpr std::array<Selection, 2> kSelections = {Selection::permute_and_flip, Selection::exponential};

/// P(c is the first heads in a random order), over all orders.
std::vector<Rational> first_heads(const std::vector<Rational>& odds) {
  std::vector<std::size_t> order(odds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Rational> law(odds.size());
  unsigned long orders = 0;
  do {
    Rational tails_so_far = 1;
    for (const std::size_t c : order) {
      law[c] += tails_so_far * odds[c];
      tails_so_far *= 1 - odds[c];
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (Rational& each : law) each /= orders;
  return law;
}

/// P(c is taken uniformly among the heads), over all outcomes of all coins.
std::vector<Rational> uniform_of_heads(const std::vector<Rational>& odds) {
  std::vector<Rational> law(odds.size());
  for (unsigned long outcome = 1; outcome < (1UL << odds.size()); ++outcome) {
    Rational mass = 1;
    unsigned long heads = 0;
    for (std::size_t c = 0; c < odds.size(); ++c) {
      const bool head = (outcome >> c & 1) != 0;
      mass *= head ? odds[c] : Rational(1 - odds[c]);
      heads += static_cast<unsigned long>(head);
    }
    for (std::size_t c = 0; c < odds.size(); ++c)
      if ((outcome >> c & 1) != 0) law[c] += mass / heads;
  }
  return law;
}

}  // namespace

TEST_CASE("selection: the first heads of a random order is any of all heads, exactly",
          "[mechanisms][selection][exact]") {
  const std::vector<std::vector<Rational>> settings = {
      {1},
      {1, {1, 2}},
      {{1, 3}, 1, {1, 1000}},
      {1, 1, {2, 7}, {1, 2}},
      {{9, 10}, {1, 7}, 1, {1, 3}, {1, 3}},
      {1, {1, 2}, {1, 4}, {1, 8}, {1, 16}, {1, 32}},
  };
  for (const std::vector<Rational>& odds : settings) {
    const std::vector<Rational> by_order = first_heads(odds);
    CHECK(by_order == uniform_of_heads(odds));
    std::vector<Between> enclosed;
    for (const Rational& each : odds) enclosed.push_back({each, each});
    const std::vector<Between> by_integral = epsilog::test::permute_and_flip_law(enclosed);
    for (std::size_t c = 0; c < odds.size(); ++c) {
      CHECK(by_integral[c].down <= by_order[c]);
      CHECK(by_integral[c].up >= by_order[c]);
      CHECK(by_integral[c].up - by_integral[c].down < epsilog::accounting::power_of_two(-180));
    }
    CHECK(std::accumulate(by_order.begin(), by_order.end(), Rational(0)) == 1);
  }
}

TEST_CASE("selection: every choice of words walked gives each candidate its exact probability",
          "[mechanisms][selection][enumerator][exact]") {
  struct Setting {
    std::vector<std::pair<std::uint64_t, const char*>> runs;
    const char* rate;
    unsigned word_bits;
    std::size_t depth;
  };
  const std::vector<Setting> settings = {
      {{{1, "0"}}, "1", 4, 3},
      {{{1, "0"}, {1, "1"}}, "1/2", 4, 4},
      {{{1, "3"}, {1, "0"}, {1, "1"}}, "1/3", 3, 5},
      {{{2, "1"}, {1, "0"}}, "7/5", 3, 5},
      {{{1, "5"}, {2, "2"}}, "1/10", 3, 5},  // the best is not at distance 0
      {{{1, "0"}, {1, "1000"}}, "1", 4, 4},  // one that is never seen
  };
  for (const Selection selection : kSelections) {
    for (const Setting& s : settings) {
      const std::vector<DistanceRun> runs = runs_of(s.runs);
      const Rational rate = parse_rational(s.rate, "rate");
      for (const SelectionTrials trials : {SelectionTrials::approximate, SelectionTrials::exact}) {
        Masses masses;
        epsilog::test::walk(masses, s.word_bits, s.depth, [&](RandomWords& words) -> std::optional<long> {
          return static_cast<long>(selected(selection, runs, rate, words, trials));
        });
        CAPTURE(static_cast<int>(selection), s.rate, runs.size(), masses.undecided.get_d());
        CHECK(masses.accepted() + masses.undecided == 1);
        CHECK(masses.undecided < Rational(1, 4));
        const std::vector<Between> law = selection_law(selection, epsilog::test::unrolled(runs), rate);
        Rational known = 0;
        for (std::size_t c = 0; c < law.size(); ++c) {
          const Rational mass = masses.outputs[static_cast<long>(c)];
          known += mass;
          CHECK(mass <= law[c].up);
          CHECK(mass + masses.undecided >= law[c].down);
        }
        CHECK(known == masses.accepted());  // and there is no other candidate
      }
    }
  }
}

TEST_CASE("selection: approximate trials take the same candidate from the same words",
          "[mechanisms][selection][overlap]") {
  const std::vector<std::vector<DistanceRun>> settings = {
      runs_of({{3, "0"}, {4, "1"}, {2, "17"}}),
      runs_of({{1, "123456789012345678901234567890"},
               {5, "123456789012345678901234567889"},
               {9, "123456789012345678901234567900"}}),
      runs_of({{1, "44"}, {1, "43"}, {1, "45"}, {1, "0"}, {100, "64"}, {1, "90"}}),
      runs_of({{200, "1"}, {1, "0"}, {300, "2"}, {7, "3"}}),
  };
  std::uint64_t seed = 700;
  for (const Selection selection : kSelections) {
    for (const char* text : {"1", "1/3", "1/1000000", "12345678901/10000000000000000000000", "40"}) {
      const Rational rate = parse_rational(text, "rate");
      for (const std::vector<DistanceRun>& runs : settings) {
        for (const unsigned word_bits : {3U, 8U, 17U, 64U}) {
          SeededBits one(++seed);
          SeededBits other(seed);
          RandomWords words(one, 1, word_bits);
          RandomWords same(other, 1, word_bits);
          for (int i = 0; i < 20; ++i) {
            const std::uint64_t approximate = selected(selection, runs, rate, words);
            REQUIRE(approximate == selected(selection, runs, rate, same, SelectionTrials::exact));
            REQUIRE(one.bytes() == other.bytes());
          }
        }
      }
    }
  }
}

TEST_CASE("selection: a word a candidate and one more is read, or two in all, whatever the distances",
          "[mechanisms][selection][timing]") {
  const std::vector<std::vector<DistanceRun>> settings = {
      runs_of({{1000, "0"}}), runs_of({{1, "0"}, {999, "5"}}), runs_of({{500, "1000000"}, {500, "999000"}})};
  for (const std::vector<DistanceRun>& runs : settings) {
    SeededBits bits(71);
    RandomWords words(bits, 1);
    static_cast<void>(permute_and_flip(runs, Rational(1, 3), words));
    CHECK(bits.bytes() == 1001 * sizeof(std::uint64_t));
    static_cast<void>(exponential_selection(runs, Rational(1, 3), words));
    CHECK(bits.bytes() == 1003 * sizeof(std::uint64_t));
  }
}

TEST_CASE("selection: candidates far beyond 2^-64 are still there, once words say so",
          "[mechanisms][selection][exact]") {
  // e^-50 = 2^-72.1…: the coin is undecided by a first word of zeros, and settled by the second.
  const std::vector<DistanceRun> runs = runs_of({{1, "0"}, {1, "50"}});
  const auto flipped = [&](std::uint64_t second) {
    std::vector<std::byte> bytes(4 *
                                 sizeof(std::uint64_t));  // words: best, far, its second, which of the heads
    for (std::size_t i = 0; i < 8; ++i) bytes[16 + i] = static_cast<std::byte>(second >> (8 * i) & 0xff);
    bytes[24] = std::byte{1};  // the second of two heads, the first of one
    epsilog::test::ReplayBits bits(bytes);
    RandomWords words(bits, 1);
    const std::uint64_t result = permute_and_flip(runs, 1, words);
    CHECK(bits.exhausted());
    return result;
  };
  Integer threshold;
  floor_scaled_exp_minus(threshold.get_mpz_t(), Integer(50).get_mpz_t(), Integer(1).get_mpz_t(), 128);
  REQUIRE(threshold > 1);
  CHECK(flipped(threshold.get_ui() - 1) == 1);
  CHECK(flipped(threshold.get_ui() + 1) == 0);
}

TEST_CASE("selection: no randomness is an error, at whichever word it ends",
          "[mechanisms][selection][negative]") {
  class EndingBits final : public BitSource {
   public:
    explicit EndingBits(std::size_t fills) : left_(fills) {}
    void fill(std::span<std::byte> bytes) override {
      if (left_-- == 0) throw epsilog::EntropyUnavailable("no bits");
      std::fill(bytes.begin(), bytes.end(), std::byte{7});
    }

   private:
    std::size_t left_;
  };
  const std::vector<DistanceRun> runs = runs_of({{1, "0"}, {2, "1"}});
  for (const Selection selection : kSelections) {
    const std::size_t needed = selection == Selection::exponential ? 2 : 4;
    for (std::size_t there = 0; there <= needed; ++there) {
      EndingBits bits(there);
      RandomWords words(bits, 1);
      if (there < needed) {
        CHECK_THROWS_AS(selected(selection, runs, 1, words), epsilog::EntropyUnavailable);
      } else {
        CHECK_NOTHROW(selected(selection, runs, 1, words));
      }
    }
  }
}
