// Rank errors: the bound that is known before anything is spent, against exact tails.
#include "rank_accuracy.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stopping.hpp"
#include "epsilog/mechanisms/quantile_mechanism.hpp"
#include "mechanisms/selection_law.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog::accounting;
using namespace epsilog::test;
using Data = std::vector<std::uint64_t>;

namespace {

constexpr std::array<Selection, 2> kSelections = {Selection::permute_and_flip, Selection::exponential};

QuantileMechanism mechanism(Selection selection, const char* epsilon, std::vector<Rational> quantiles,
                            std::uint64_t candidates) {
  return QuantileMechanism(quantiles_asked(selection, epsilon, std::move(quantiles), candidates));
}

/// dist(Q n, [#<c, #<=c]).
Rational error_of(const Data& data, std::uint64_t candidate, const Rational& quantile) {
  Rational all = 0;
  Rational below = 0;
  for (std::uint64_t c = 0; c < data.size(); ++c) {
    all += Rational(data[c]);
    if (c < candidate) below += Rational(data[c]);
  }
  const Rational up_to = below + Rational(data[candidate]);
  return std::max<Rational>(0, std::max<Rational>(below - quantile * all, quantile * all - up_to));
}

/// Bounds of P(the rank error of this quantile is above a).
Between tail(const epsilog::test::JointLaw& law, const Data& data, std::size_t of, const Rational& quantile,
             const Rational& a) {
  Between sum{0, 0};
  for (const auto& [selected, mass] : law) {
    if (error_of(data, selected[of], quantile) <= a) continue;
    sum.down += mass.down;
    sum.up += mass.up;
  }
  return sum;
}
Between tail(const QuantileMechanism& m, const Data& data, std::size_t of, const Rational& quantile,
             const Rational& a) {
  return tail(epsilog::test::joint_law(m.parameters(), epsilog::test::rows_of(data)), data, of, quantile, a);
}

/// What 192 bits leave open in a few operations.
const Rational kOpen = power_of_two(-150);

}  // namespace

TEST_CASE("rank accuracy: no toy data set errs by more with more than alpha",
          "[mechanisms][quantile][exhaustive]") {
  for (const Selection selection : kSelections) {
    for (const Rational& quantile : {Rational(1, 2), Rational(1, 3), Rational(9, 10)}) {
      for (const char* epsilon : {"1", "6"}) {
        const QuantileMechanism m = mechanism(selection, epsilon, {quantile}, 4);
        for (const char* text : {"0.7", "0.5", "0.2", "0.05", "0.001"}) {
          const Rational alpha = parse_rational(text, "alpha");
          const RankAccuracy accuracy = m.rank_accuracy_up(0, alpha);
          CHECK(accuracy.ties == 0);
          for (const Data& data : epsilog::test::toy_data(4, 4)) {
            CAPTURE(static_cast<int>(selection), quantile.get_d(), epsilon, text, accuracy.error.get_d());
            REQUIRE(tail(m, data, 0, quantile, accuracy.error).down <= alpha + kOpen);
          }
        }
      }
    }
  }
}

TEST_CASE("rank accuracy: of a median no smaller bound holds", "[mechanisms][quantile][exact]") {
  // All rows at one candidate: every other one errs by half of them.
  for (const Selection selection : kSelections) {
    for (const std::uint64_t candidates : {std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{30}}) {
      for (const char* text : {"0.5", "0.2", "0.05", "0.000001", "1e-30"}) {
        const Rational alpha = parse_rational(text, "alpha");
        const QuantileMechanism m = mechanism(selection, "0.7", {{1, 2}}, candidates);
        const Rational a = m.rank_accuracy_up(0, alpha).error;
        CAPTURE(static_cast<int>(selection), candidates, text, a.get_d());
        Data data(candidates, 0);
        data[0] = Integer(2 * a).get_ui();
        if (a > 0) CHECK(tail(m, data, 0, {1, 2}, a - Rational(1, 2)).up > alpha);
        data[0] += 1;
        CHECK(tail(m, data, 0, {1, 2}, a).down <= alpha);
      }
    }
  }
}

TEST_CASE(
    "rank accuracy: that of the exponential mechanism is its closed form, that of permute and flip better",
    "[mechanisms][quantile][overlap]") {
  // Sensitivity 1/2: (1/epsilon) ln((m - 1)(1 - alpha)/alpha), down to the half below.
  CHECK(mechanism(Selection::exponential, "0.1", {{1, 2}}, 1'000'000).rank_accuracy_up(0, {1, 20}).error ==
        Rational(335, 2));  // 10 ln(19 (10^6 - 1)) = 167.599…
  CHECK(
      mechanism(Selection::permute_and_flip, "0.1", {{1, 2}}, 1'000'000).rank_accuracy_up(0, {1, 20}).error ==
      Rational(321, 2));  // w m = 0.1034…: 10 ln(10^6/0.1034) = 160.8…
  for (const char* text : {"0.9", "0.5", "0.01", "1e-12", "1e-300"}) {
    const Rational alpha = parse_rational(text, "alpha");
    const Rational flipped =
        mechanism(Selection::permute_and_flip, "0.01", {{1, 3}}, 1000).rank_accuracy_up(0, alpha).error;
    const Rational weighed =
        mechanism(Selection::exponential, "0.01", {{1, 3}}, 1000).rank_accuracy_up(0, alpha).error;
    CAPTURE(text, flipped.get_d(), weighed.get_d());
    CHECK(flipped < weighed);
    CHECK(flipped > 0);
  }
}

TEST_CASE("rank accuracy: of quantiles selected one after the other it holds with the ties counted",
          "[mechanisms][quantile][exhaustive]") {
  for (const Selection selection : kSelections) {
    for (const std::vector<Rational>& quantiles :
         {std::vector<Rational>{{1, 4}, {1, 2}, {3, 4}}, std::vector<Rational>{{1, 10}, {3, 5}}}) {
      const QuantileMechanism m = mechanism(selection, "25", quantiles, 4);
      for (const Data& data : epsilog::test::toy_data(4, 4)) {
        const Rational ties = *std::max_element(data.begin(), data.end());
        const epsilog::test::JointLaw law =
            epsilog::test::joint_law(m.parameters(), epsilog::test::rows_of(data));
        for (const Rational& alpha : {Rational(1, 2), Rational(1, 10)}) {
          for (std::size_t i = 0; i < quantiles.size(); ++i) {
            const RankAccuracy accuracy = m.rank_accuracy_up(i, alpha);
            CAPTURE(static_cast<int>(selection), i, accuracy.error.get_d(), accuracy.ties.get_d());
            REQUIRE(tail(law, data, i, quantiles[i], accuracy.error + accuracy.ties * ties).down <=
                    alpha + kOpen);
          }
        }
      }
    }
  }
}

TEST_CASE("rank accuracy: where many rows have one value, quantiles above it err by more than noise",
          "[mechanisms][quantile][exact]") {
  // Nine rows in ten are 0, so both quartiles and the median are; the upper one is sought among the rows
  // above.
  const QuantileMechanism m = mechanism(Selection::exponential, "1000", {{1, 4}, {1, 2}, {3, 4}}, 3);
  const Data data = {900, 50, 50};
  CHECK(m.rank_accuracy_up(2, {1, 20}).error < 2);
  CHECK(m.rank_accuracy_up(2, {1, 20}).ties == Rational(1, 2));
  CHECK(tail(m, data, 2, {3, 4}, 100).down > Rational(99, 100));
}

TEST_CASE("rank accuracy: 99 quantiles at once are as each by itself, for the work of a few",
          "[mechanisms][quantile]") {
  std::vector<Rational> quantiles;
  for (unsigned long i = 1; i < 100; ++i) quantiles.emplace_back(i, 100);
  for (const Selection selection : kSelections) {
    const QuantileMechanism m = mechanism(selection, "1", quantiles, 111);
    std::size_t steps = 0;
    const auto count = [&] { return ++steps == 0; };
    const StopScope scope(count);
    const std::vector<RankAccuracy> all = m.rank_accuracies_up({1, 20});
    const std::size_t at_once = std::exchange(steps, 0);
    REQUIRE(all.size() == quantiles.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const RankAccuracy one = m.rank_accuracy_up(i, {1, 20});
      CHECK(all[i].error == one.error);
      CHECK(all[i].ties == one.ties);
    }
    CHECK(at_once * 2 < steps);
    CHECK(steps < 99 * 1000);
  }
}

TEST_CASE("rank accuracy: one candidate is always right, and alpha has its range",
          "[mechanisms][quantile][negative]") {
  const QuantileMechanism one = mechanism(Selection::permute_and_flip, "0.1", {{1, 2}}, 1);
  CHECK(one.rank_accuracy_up(0, power_of_two(-1024)).error == 0);
  const QuantileMechanism m = mechanism(Selection::permute_and_flip, "0.1", {{1, 2}}, 10);
  CHECK(m.rank_accuracy_up(0, power_of_two(-1024)).error > 7'000);
  CHECK(m.rank_accuracy_up(0, {9, 10}).error == 0);
  for (const Rational& wrong : {Rational(0), Rational(1), Rational(-1), Rational(power_of_two(-1025))})
    CHECK_THROWS_AS(m.rank_accuracy_up(0, wrong), epsilog::InvalidParameter);
  CHECK_THROWS_AS(m.rank_accuracy_up(1, {1, 2}), epsilog::InvalidParameter);
}
