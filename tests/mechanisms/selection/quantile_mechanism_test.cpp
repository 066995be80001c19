// Quantiles as a release: what is refused, what is drawn, what a draw reads.
#include "epsilog/mechanisms/quantile_mechanism.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/renyi.hpp"
#include "mechanisms/selection_law.hpp"
#include "support/catch.hpp"
#include "support/invention_forge.hpp"
#include "support/receipt_forge.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog;
using epsilog::accounting::Epsilon;
using epsilog::ledger::Transaction;
using namespace epsilog::test;
using Cells = std::vector<std::vector<CandidateRows>>;

namespace {

constexpr std::array<Selection, 2> kSelections = {Selection::permute_and_flip, Selection::exponential};

std::vector<Rational> released(const QuantileMechanism& mechanism, const Cells& cells, BitSource& bits) {
  Transaction transaction;
  return Transaction::opened(
      mechanism.release(cells, transaction.receipt(mechanism.parameters().charged), bits));
}
std::vector<Rational> released(const QuantileMechanism& mechanism, const Cells& cells, std::uint64_t seed) {
  SeededBits bits(seed);
  return released(mechanism, cells, bits);
}

std::string refusal(const std::function<void(QuantileOptions&)>& spoil) {
  QuantileOptions options = quantiles_asked(Selection::exponential, "1", {{1, 4}, {1, 2}}, 10);
  spoil(options);
  try {
    const QuantileMechanism mechanism(options);
    return "accepted";
  } catch (const InvalidParameter& error) {
    return error.what();
  }
}

/// Gives out seeded bytes, so many times.
class EndingBits final : public BitSource {
 public:
  explicit EndingBits(std::size_t fills) : bits_(5), left_(fills) {}
  void fill(std::span<std::byte> bytes) override {
    if (left_ == 0) throw EntropyUnavailable("no bits");
    --left_;
    bits_.fill(bytes);
  }

 private:
  SeededBits bits_;
  std::size_t left_;
};

}  // namespace

TEST_CASE("quantile mechanism: each option that cannot be is refused by its name",
          "[mechanisms][quantile][negative]") {
  using O = QuantileOptions;
  CHECK(refusal([](O&) {}) == "accepted");
  CHECK(refusal([](O& o) { o.epsilon = Epsilon(); }).starts_with("epsilon: "));
  CHECK(refusal([](O& o) { o.quantiles.clear(); }).starts_with("quantiles: "));
  CHECK(refusal([](O& o) { o.quantiles = {0}; }).starts_with("quantiles: "));
  CHECK(refusal([](O& o) { o.quantiles = {1}; }).starts_with("quantiles: "));
  CHECK(refusal([](O& o) { o.quantiles = {{1, 2}, {1, 2}}; }).starts_with("quantiles: "));
  CHECK(refusal([](O& o) { o.quantiles = {{1, 2}, {1, 4}}; }).starts_with("quantiles: "));
  const auto parts_of = [](unsigned long n) {
    std::vector<Rational> quantiles;
    for (unsigned long i = 1; i < n; ++i) quantiles.emplace_back(Integer(i), Integer(n));
    for (Rational& each : quantiles) each.canonicalize();
    return quantiles;
  };
  CHECK(refusal([&](O& o) { o.quantiles = parts_of(100); }) == "accepted");
  CHECK(refusal([&](O& o) { o.quantiles = parts_of(101); }).starts_with("quantiles: "));
  CHECK(refusal([](O& o) { o.candidates = 0; }).starts_with("candidates: "));
  CHECK(refusal([](O& o) { o.candidates = 1'000'001; }).starts_with("candidates: "));
  CHECK(refusal([](O& o) { o.rows_per_unit = 0; }).starts_with("rows_per_unit: "));
  CHECK(refusal([](O& o) { o.cells = 0; }).starts_with("cells: "));
  CHECK(refusal([](O& o) { o.values.step = 0; }).starts_with("values: "));
  CHECK(refusal([](O& o) { o.values.list = {1, 2}; }).starts_with("values: "));
  CHECK(refusal([](O& o) { o.values.list.assign(10, 1); }).starts_with("values: "));
}

TEST_CASE("quantile mechanism: three quartiles take two levels, each half of epsilon",
          "[mechanisms][quantile][exact]") {
  QuantileOptions options = quantiles_asked(Selection::exponential, "0.3", {{1, 4}, {1, 2}, {4, 5}}, 100);
  options.change = RowsChange::replaced;
  options.rows_per_unit = 3;
  const QuantileParameters p = QuantileMechanism(options).parameters();
  CHECK(p.levels == 2);
  CHECK(p.level_epsilon == Rational(3, 20));
  CHECK(p.adjusted == Rational(3, 10));
  CHECK(p.rho == 2 * p.level_epsilon * p.level_epsilon / 8);
  REQUIRE(p.nodes.size() == 3);
  CHECK((p.nodes[0].quantile == 1 && p.nodes[0].share == Rational(1, 2) && p.nodes[0].sensitivity == 3));
  CHECK((p.nodes[1].quantile == 0 && p.nodes[1].upper == 1U && !p.nodes[1].lower));
  CHECK((p.nodes[1].share == Rational(1, 2) && p.nodes[1].sensitivity == 3));
  CHECK((p.nodes[2].quantile == 2 && p.nodes[2].lower == 1U && !p.nodes[2].upper));
  CHECK((p.nodes[2].share == Rational(3, 5) && p.nodes[2].sensitivity == Rational(18, 5)));

  options.selection = Selection::permute_and_flip;
  CHECK(QuantileMechanism(options).parameters().rho == Rational(9, 200));
  options.cells = 2;
  options.quantiles = {{1, 5}};
  const QuantileParameters by_cells = QuantileMechanism(options).parameters();
  CHECK(by_cells.nodes.front().sensitivity == Rational(24, 5));
  CHECK(by_cells.level_epsilon == Rational(3, 10));
}

TEST_CASE("quantile mechanism: what is recorded of it costs what was proved",
          "[mechanisms][quantile][exact]") {
  using epsilog::accounting::renyi_of_release_up;
  using epsilog::accounting::rho_of_release_up;
  for (const std::size_t quantiles : {std::size_t{1}, std::size_t{3}}) {
    std::vector<Rational> all = {{1, 4}, {1, 2}, {3, 4}};
    all.resize(quantiles);
    const QuantileMechanism flip(quantiles_asked(Selection::permute_and_flip, "0.8", all, 100));
    const QuantileMechanism weigh(quantiles_asked(Selection::exponential, "0.8", all, 100));
    CHECK(rho_of_release_up(flip.loss_facts()) == Rational(8, 25));
    CHECK(rho_of_release_up(flip.loss_facts()) == flip.parameters().rho);
    CHECK(rho_of_release_up(weigh.loss_facts()) == Rational(2, 25) / weigh.parameters().levels);
    CHECK(renyi_of_release_up(weigh.loss_facts(), 2) == 2 * weigh.parameters().rho);
    CHECK(renyi_of_release_up(weigh.loss_facts(), 100) ==
          epsilog::accounting::renyi_of_pure_up(Rational(4, 5), 100));
    CHECK(renyi_of_release_up(flip.loss_facts(), 2) < Rational(16, 25));
  }
}

TEST_CASE("quantile mechanism: with epsilon beyond all doubt quantiles are those of the rows",
          "[mechanisms][quantile][exact]") {
  std::vector<CandidateRows> rows;
  for (std::uint64_t c = 0; c < 1000; ++c) rows.push_back({c, 1});
  for (const Selection selection : kSelections) {
    const QuantileMechanism mechanism(quantiles_asked(
        selection, "100000", {{1, 100}, {1, 10}, {1, 4}, {1, 2}, {3, 4}, {9, 10}, {99, 100}}, 1000));
    const std::vector<Rational> values = released(mechanism, {rows}, 11);
    const std::vector<Rational> expected = {10, 100, 250, 500, 750, 900, 990};
    REQUIRE(values.size() == expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(abs(values[i] - expected[i]) <= 3);
  }
}

TEST_CASE("quantile mechanism: the same bits select the same, and here is what",
          "[mechanisms][quantile][exact]") {
  Cells cells(2);
  for (std::uint64_t c = 0; c < 200; ++c) cells[0].push_back({c, 1 + c % 3});
  cells[1] = {{150, 40}, {20, 10}};
  const std::array<std::vector<Rational>, 2> expected = {
      {{47, 98, 148, 12, 136, 193}, {53, 102, 155, 66, 78, 150}}};
  for (const Selection selection : kSelections) {
    QuantileOptions options = quantiles_asked(selection, "0.4", {{1, 4}, {1, 2}, {3, 4}}, 200);
    options.cells = 2;
    const QuantileMechanism mechanism(options);
    const std::vector<Rational> values = released(mechanism, cells, 12);
    CHECK(values == released(mechanism, cells, 12));
    CHECK(values != released(mechanism, cells, 13));
    CHECK(values == expected[static_cast<std::size_t>(selection)]);
    REQUIRE(values.size() == 6);
    for (const std::size_t cell : {std::size_t{0}, std::size_t{3}})
      CHECK(std::is_sorted(values.begin() + static_cast<std::ptrdiff_t>(cell),
                           values.begin() + static_cast<std::ptrdiff_t>(cell + 3)));
  }
}

TEST_CASE("quantile mechanism: the order and the parts in which rows come do not matter",
          "[mechanisms][quantile][exact]") {
  const Cells in_order = {{{0, 3}, {4, 5}, {9, 7}}};
  const Cells otherwise = {{{9, 1}, {4, 2}, {0, 3}, {7, 0}, {1'000'000'000, 6}, {4, 3}}};
  for (const Selection selection : kSelections) {
    const QuantileMechanism mechanism(quantiles_asked(selection, "1", {{1, 3}, {2, 3}}, 10));
    for (std::uint64_t seed = 0; seed < 50; ++seed)
      CHECK(released(mechanism, in_order, seed) == released(mechanism, otherwise, seed));
  }
}

TEST_CASE("quantile mechanism: no rows, or one, are answered as any", "[mechanisms][quantile][exact]") {
  for (const Selection selection : kSelections) {
    const QuantileMechanism mechanism(quantiles_asked(selection, "1", {{1, 4}, {1, 2}, {3, 4}}, 5));
    for (const Cells& cells : {Cells{{}}, Cells{{{3, 1}}}, Cells{{{3, 0}}}}) {
      const std::vector<Rational> values = released(mechanism, cells, 14);
      REQUIRE(values.size() == 3);
      CHECK((values.front() >= 0 && values.back() <= 4));
    }
  }
}

TEST_CASE("quantile mechanism: as many random bytes are read whatever the rows",
          "[mechanisms][quantile][timing]") {
  for (const Selection selection : kSelections) {
    const QuantileMechanism mechanism(quantiles_asked(selection, "0.5", {{1, 2}}, 1000));
    const auto bytes_read = [&](const Cells& cells) {
      SeededBits bits(15);
      static_cast<void>(released(mechanism, cells, bits));
      return bits.bytes();
    };
    Cells spread(1);
    for (std::uint64_t c = 0; c < 1000; ++c) spread[0].push_back({c, 1000});
    CHECK(bytes_read({{}}) == bytes_read({{{999, 1'000'000}}}));
    CHECK(bytes_read({{}}) == bytes_read(spread));
  }
}

TEST_CASE("quantile mechanism: a million candidates are quick to select among", "[mechanisms][quantile]") {
  std::vector<CandidateRows> rows;
  for (std::uint64_t c = 0; c < 1'000'000; c += 10) rows.push_back({c, 3});
  for (const Selection selection : kSelections) {
    const QuantileMechanism mechanism(quantiles_asked(selection, "0.1", {{1, 2}}, 1'000'000));
    const Rational median = released(mechanism, {rows}, 16).front();
    // In twice the rank error for 10^-12: three rows for ten candidates.
    CHECK(abs(median - 500'000) <
          10 * mechanism.rank_accuracy_up(0, epsilog::accounting::power_of_ten(-12)).error);
  }
}

TEST_CASE("quantile mechanism: what is not charged is not drawn", "[mechanisms][quantile][negative][G1]") {
  const QuantileMechanism mechanism(quantiles_asked(Selection::permute_and_flip, "0.5", {{1, 2}}, 10));
  Transaction transaction;
  EndingBits none(0);  // nothing is refused after a bit was asked for
  const Cells one(1);
  CHECK_THROWS_AS(mechanism.release(one, transaction.receipt(Epsilon::parse_down("0.4")), none),
                  InvalidParameter);
  CHECK_THROWS_AS(mechanism.release(one, transaction.receipt(Epsilon::parse_down("0.6")), none),
                  InvalidParameter);
  CHECK_THROWS_AS(mechanism.release(Cells(2), transaction.receipt(Epsilon::parse_down("0.5")), none),
                  InvalidParameter);
  CHECK_THROWS_AS(mechanism.release(Cells(), transaction.receipt(Epsilon::parse_down("0.5")), none),
                  InvalidParameter);
  auto late = transaction.receipt(Epsilon::parse_down("0.5"));
  transaction.end();
  CHECK_THROWS_AS(mechanism.release(one, std::move(late), none), InvalidParameter);
}

TEST_CASE("quantile mechanism: randomness that ends is an error at every fill, and nothing else is",
          "[mechanisms][quantile][negative]") {
  for (const Selection selection : kSelections) {
    QuantileOptions options = quantiles_asked(selection, "0.5", {{1, 4}, {1, 2}, {3, 4}}, 100);
    options.cells = 20;
    const QuantileMechanism mechanism(options);
    const Cells cells(20, {{10, 5}, {50, 5}});
    std::size_t fills = 0;
    for (;; ++fills) {
      EndingBits bits(fills);
      Transaction transaction;
      auto receipt = transaction.receipt(mechanism.parameters().charged);
      try {
        static_cast<void>(mechanism.release(cells, std::move(receipt), bits));
        break;
      } catch (const EntropyUnavailable&) {
      }
    }
    CHECK(fills > 1);
  }
}

TEST_CASE(
    "quantile mechanism: what is released of a candidate is its value, found again and nearest to itself",
    "[mechanisms][quantile][exact]") {
  QuantileOptions options = quantiles_asked(Selection::exponential, "1", {{1, 2}}, 4);
  options.values = {.first = Rational(-1, 2), .step = Rational(1, 4)};
  const QuantileMechanism stepped(options);
  options.values = {.list = {-3, 0, Rational(1, 3), 7}};
  const QuantileMechanism listed(options);
  const Cells cells = {{{2, 1000}}};
  for (const QuantileMechanism* mechanism : {&stepped, &listed}) {
    const CandidateValues& values = mechanism->parameters().values;
    const Rational value = released(*mechanism, cells, 7).front();
    CHECK(value == values.at(2));
    for (std::uint64_t i = 0; i < 4; ++i) {
      CHECK(values.find(values.at(i), 4) == std::optional(i));
      CHECK(values.nearest(values.at(i), 4) == i);
    }
    CHECK_FALSE(values.find(values.at(1) + Rational(1, 1000), 4).has_value());
    CHECK_FALSE(values.find(100, 4).has_value());
    CHECK(values.nearest(-100, 4) == 0);
    CHECK(values.nearest(100, 4) == 3);
    CHECK(values.nearest((values.at(1) + values.at(2)) / 2, 4) == 2);  // a tie goes up
  }
}

TEST_CASE("quantile mechanism: rows that nobody has are drawn from as rows are, without a charge",
          "[mechanisms][quantile]") {
  for (const Selection selection : kSelections) {
    const QuantileMechanism mechanism(quantiles_asked(selection, "1", {{1, 4}, {1, 2}, {3, 4}}, 20));
    const Cells cells = {{{3, 4}, {9, 2}, {15, 7}}};
    const auto invented = epsilog::engine::InventedData::of_rows(cells);
    SeededBits bits(11);
    CHECK(mechanism.draw_invented(invented, bits) == released(mechanism, cells, 11));
    CHECK_THROWS_AS(mechanism.draw_invented({}, bits), InvalidParameter);
  }
}

TEST_CASE("quantile mechanism: a release reads no more bytes than it says beforehand",
          "[mechanisms][quantile]") {
  class CountedBits final : public BitSource {
   public:
    void fill(std::span<std::byte> bytes) override {
      read += bytes.size();
      bits_.fill(bytes);
    }
    std::size_t read = 0;

   private:
    SeededBits bits_{3};
  };
  for (const Selection selection : kSelections) {
    for (const std::uint64_t candidates : {1U, 2U, 63U, 64U, 1000U}) {
      for (const std::uint64_t cells : {1U, 5U}) {
        QuantileOptions options =
            quantiles_asked(selection, "1", {{1, 4}, {1, 2}, {3, 4}, {9, 10}}, candidates);
        options.cells = cells;
        const QuantileMechanism mechanism(options);
        CountedBits bits;
        (void)released(mechanism, Cells(cells, {{candidates / 2, 10}}), bits);
        CAPTURE(candidates, cells);
        CHECK(bits.read <= mechanism.bytes_drawn());
      }
    }
  }
}
