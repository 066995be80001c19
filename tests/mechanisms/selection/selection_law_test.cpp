// Draws of selections, and of whole quantile releases, against their exact law, by Pearson's chi-square.
//
// Statistics  n draws a case, a cell a candidate of expected count at least 1,000, of releases at least 25;
//             alpha = 1e-15 a case by the Chernoff bound of the chi-square tail; 10 cases, so a right sampler
//             fails a fresh seed with probability below 1e-13. Seeds are fixed (ChaCha20). n = 10^5; 10^7
//             under
//             [.long].
// Power       The last case: a rate 10 % off is told apart with 10^5 draws, and 1 % off with 10^7.
#include "mechanisms/selection_law.hpp"
#include "selection_sampler.hpp"
#include "support/catch.hpp"
#include "support/receipt_forge.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::test;

namespace {

constexpr double kCaseFailure = 1e-15;

/// Upper bound of P(chi-square with `freedom` degrees >= statistic): Chernoff.
double chi_square_tail(double statistic, double freedom) {
  if (statistic <= freedom) return 1;
  const double ratio = statistic / freedom;
  return std::exp(-freedom / 2 * (ratio - 1 - std::log(ratio)));
}

/// Upper bound of P(chi-square of these draws is as large).
double chi_square_probability(Selection selection, const std::vector<DistanceRun>& runs, const Rational& rate,
                              const Rational& claimed_rate, int draws, std::uint64_t seed) {
  const std::vector<Between> law =
      epsilog::test::selection_law(selection, epsilog::test::unrolled(runs), claimed_rate);
  std::vector<double> counts(law.size(), 0);
  SeededBits bits(seed);
  RandomWords words(bits, 64);
  for (int i = 0; i < draws; ++i) {
    ++counts[selection == Selection::exponential ? exponential_selection(runs, rate, words)
                                                 : permute_and_flip(runs, rate, words)];
  }
  double statistic = 0;
  for (std::size_t c = 0; c < law.size(); ++c) {
    const double expected = law[c].down.get_d() * draws;
    REQUIRE(expected >= 1000);
    statistic += (counts[c] - expected) * (counts[c] - expected) / expected;
  }
  return chi_square_tail(statistic, static_cast<double>(law.size() - 1));
}

struct Toy {
  std::vector<DistanceRun> runs;
  Rational rate;
};
std::vector<Toy> toys() {
  return {{{{1, 0}, {1, 1}, {1, 2}, {1, 3}}, {1, 2}},
          {{{3, 2}, {1, 0}, {4, 1}}, {3, 4}},
          {{{1, 7}, {2, 9}, {2, 8}, {1, 7}}, {5, 7}},
          {{{10, 0}, {2, 11}}, {1, 7}}};
}

void follows(int draws, std::uint64_t seed) {
  for (const Selection selection : {Selection::permute_and_flip, Selection::exponential}) {
    for (const Toy& toy : toys()) {
      CAPTURE(static_cast<int>(selection), seed);
      CHECK(chi_square_probability(selection, toy.runs, toy.rate, toy.rate, draws, seed++) > kCaseFailure);
    }
  }
}

void told_apart(int draws, const Rational& factor, std::uint64_t seed) {
  const Toy toy = toys().front();
  for (const Selection selection : {Selection::permute_and_flip, Selection::exponential})
    CHECK(chi_square_probability(selection, toy.runs, toy.rate, toy.rate * factor, draws, seed++) <
          kCaseFailure);
}

/// The same of whole releases of three quantiles, by the bits that release() draws.
double chi_square_of_releases(Selection selection, int draws, std::uint64_t seed) {
  QuantileOptions options = quantiles_asked(selection, "0.5", {{1, 4}, {1, 2}, {4, 5}}, 5);
  options.change = RowsChange::replaced;
  const QuantileMechanism mechanism(options);
  const std::vector<std::vector<CandidateRows>> cells = {{{0, 2}, {1, 3}, {3, 4}, {4, 1}}};
  std::map<std::vector<std::uint64_t>, double> counts;
  SeededBits bits(seed);
  for (int i = 0; i < draws; ++i) {
    epsilog::ledger::Transaction transaction;
    const auto release = mechanism.release(cells, transaction.receipt(mechanism.parameters().charged), bits);
    std::vector<std::uint64_t> selected;
    for (const Rational& value : epsilog::ledger::Transaction::opened(release))
      selected.push_back(value.get_num().get_ui());
    ++counts[selected];
  }
  const epsilog::test::JointLaw law = epsilog::test::joint_law(mechanism.parameters(), cells.front());
  double statistic = 0;
  double found = 0;
  for (const auto& [selected, mass] : law) {
    const double expected = mass.down.get_d() * draws;
    REQUIRE(expected >= 25);
    const double count = counts[selected];
    found += count;
    statistic += (count - expected) * (count - expected) / expected;
  }
  REQUIRE(found == draws);  // nothing else came out
  return chi_square_tail(statistic, static_cast<double>(law.size() - 1));
}

}  // namespace

TEST_CASE("law: releases of three quantiles follow theirs", "[mechanisms][quantile][statistical]") {
  for (const Selection selection : {Selection::permute_and_flip, Selection::exponential})
    CHECK(chi_square_of_releases(selection, 20'000, 7500) > kCaseFailure);
}

TEST_CASE("law: a million releases of three quantiles follow theirs",
          "[.long][mechanisms][quantile][statistical]") {
  for (const Selection selection : {Selection::permute_and_flip, Selection::exponential})
    CHECK(chi_square_of_releases(selection, 1'000'000, 7600) > kCaseFailure);
}

TEST_CASE("law: selections follow theirs", "[mechanisms][selection][statistical]") {
  follows(100'000, 7100);
  told_apart(100'000, Rational(11, 10), 7200);
}

TEST_CASE("law: ten million selections follow theirs", "[.long][mechanisms][selection][statistical]") {
  follows(10'000'000, 7300);
  told_apart(10'000'000, Rational(101, 100), 7400);
}
