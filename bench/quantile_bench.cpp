// What a median over a million candidates costs, beside what it cannot do without: a random word a candidate
// for permute-and-flip; and as yardstick the same rows sorted once. The ratio of two lines of one run is
// the figure that travels between machines; milliseconds do not.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/mechanisms/quantile_mechanism.hpp"

// Stands in for the ledger's transaction, the only class that may make a receipt.
namespace epsilog::ledger {
class Transaction {
 public:
  static accounting::ChargeReceipt receipt(const accounting::ApproximateLoss& amount,
                                           std::shared_ptr<const accounting::TransactionLiveness> liveness) {
    return {1, amount, std::move(liveness)};
  }
};
}  // namespace epsilog::ledger

namespace {

using namespace epsilog::mechanisms;

/// The candidates that have rows: one in `apart`, a row or three each.
std::vector<CandidateRows> rows_of(std::uint64_t apart) {
  std::vector<CandidateRows> rows;
  for (std::uint64_t c = 0; c < kCandidatesMax; c += apart) rows.push_back({c, 1 + c % 3});
  return rows;
}

void median(benchmark::State& state, Selection selection, std::uint64_t apart) {
  QuantileOptions options;
  options.selection = selection;
  options.epsilon = epsilog::accounting::Epsilon::parse_down("0.1");
  options.quantiles = {{1, 2}};
  options.candidates = kCandidatesMax;
  const QuantileMechanism mechanism(options);
  const std::vector<std::vector<CandidateRows>> cells = {rows_of(apart)};
  const auto transaction = std::make_shared<epsilog::accounting::TransactionLiveness>();
  BufferedBits bits;
  for (auto _ : state) {
    auto receipt = epsilog::ledger::Transaction::receipt(mechanism.parameters().charged, transaction);
    benchmark::DoNotOptimize(mechanism.release(cells, std::move(receipt), bits));
  }
  state.counters["values_with_rows"] = static_cast<double>(cells.front().size());
}
BENCHMARK_CAPTURE(median, permute_and_flip_1000_values, Selection::permute_and_flip, 1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(median, permute_and_flip_1000000_values, Selection::permute_and_flip, 1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(median, exponential_1000_values, Selection::exponential, 1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(median, exponential_1000000_values, Selection::exponential, 1)
    ->Unit(benchmark::kMillisecond);

void random_word_a_candidate(benchmark::State& state) {
  BufferedBits bits;
  std::vector<std::byte> block(512);
  for (auto _ : state) {
    for (std::size_t read = 0; read < kCandidatesMax * sizeof(std::uint64_t); read += block.size())
      bits.fill(block);
    benchmark::DoNotOptimize(block.data());
  }
}
BENCHMARK(random_word_a_candidate)->Unit(benchmark::kMillisecond);

/// A median without any noise, of rows that are in no order.
void a_million_rows_sorted(benchmark::State& state) {
  std::vector<std::uint64_t> shuffled(kCandidatesMax);
  for (std::uint64_t i = 0; i < kCandidatesMax; ++i) shuffled[i] = i * 271'828'183 % 999'983;
  for (auto _ : state) {
    std::vector<std::uint64_t> rows = shuffled;
    std::sort(rows.begin(), rows.end());
    benchmark::DoNotOptimize(rows.data());
  }
}
BENCHMARK(a_million_rows_sorted)->Unit(benchmark::kMillisecond);

}  // namespace
