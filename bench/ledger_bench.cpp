// What durability costs, against what the disk alone costs in the same run: an fdatasync of 4 KiB overwritten
// in place, which no durable release can beat. Empty ledgers and full ones; bare rows are in targets/.
// Compare medians: `--benchmark_repetitions=9 --benchmark_report_aggregates_only=true`.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "place.hpp"

namespace epsilog::mechanisms {

/// A drawn value without the cost of drawing it: this bench is about storing. Only for an executable
/// that does not link the mechanisms.
class ReleaseSealer {
 public:
  static accounting::SealedRelease seal(accounting::ChargeReceipt receipt,
                                        const accounting::ApproximateLoss& loss) {
    const std::int64_t decision = receipt.consume(loss);
    return {decision, loss, {accounting::Rational(48)}};
  }
};

}  // namespace epsilog::mechanisms

namespace {

using namespace epsilog;

// SHA-256 of the empty text, which is what these ledgers have for a policy.
constexpr const char* kDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const accounting::Epsilon kUnit = accounting::Epsilon::from_units(1);

ledger::DecisionDraft draft_with(const std::string& key) {
  ledger::DecisionDraft draft;
  draft.principal = "bench";
  draft.key = key;
  draft.request_digest = kDigest;
  draft.request = R"({"dataset":"clinic","epsilon":"0.000000000001","statistic":"count"})";
  draft.dataset = "clinic";
  draft.policy_version = 1;
  draft.outcome = ledger::Outcome::granted;
  draft.reasons = "[]";
  return draft;
}

ledger::ReleaseRecord record() {
  ledger::ComponentRecord component;
  component.statistic = "count";
  component.epsilon = kUnit;
  component.sensitivity = 1;
  component.scale = accounting::Rational(10) + accounting::power_of_ten(-35);
  component.grid = 16;
  component.centre = 50000;
  component.bound = 50000;
  component.precision = 118;
  component.adjusted = kUnit.rational();
  component.published = accounting::Rational(11) * accounting::power_of_ten(-13);
  ledger::ReleaseRecord release;
  release.unit = "rows";
  release.neighbours = "add_or_remove_one";
  release.mechanism = "snapping";
  release.arithmetic = "mpfr";
  release.requested = release.adjusted = kUnit.rational();
  release.charged = kUnit;
  release.components = {component};
  return release;
}

void record_one(ledger::Transaction& transaction, const std::string& key) {
  static const ledger::ReleaseRecord kRecord = record();
  const std::vector<ledger::Charge> charges = {{.account = 1, .amount = 1}};
  if (transaction.find_by_key("bench", key)) throw std::runtime_error("key taken");
  std::vector<accounting::SealedRelease> sealed;
  sealed.push_back(
      mechanisms::ReleaseSealer::seal(transaction.charge(draft_with(key), charges, kUnit), kUnit));
  transaction.attach(kRecord, std::move(sealed), {});
}

/// A ledger with that many releases in it, made once a run.
struct Filled {
  explicit Filled(std::int64_t rows) : path(folder.file("L")) {
    ledger::PolicyVersion policy;
    policy.sha256 = kDigest;
    policy.applied_by = "bench";
    ledger::AccountState account;
    account.dataset = "clinic";
    account.measure = "epsilon";
    account.balance.limit = accounting::kUnitsMax;
    ledger::Ledger::create(path, policy, {account});
    auto ledger = ledger::Ledger::open(path, {});
    constexpr std::int64_t kBatch = 5'000;
    while (next < rows) {
      auto transaction = ledger.begin();
      for (std::int64_t i = 0; i < kBatch && next < rows; ++i)
        record_one(transaction, std::to_string(next++));
      benchmark::DoNotOptimize(ledger.commit(std::move(transaction)));
    }
  }
  bench::Folder folder;
  std::string path;
  std::int64_t next = 0;
};

Filled& filled(std::int64_t rows) {
  static std::map<std::int64_t, std::unique_ptr<Filled>> ledgers;
  auto& found = ledgers[rows];
  if (found == nullptr) found = std::make_unique<Filled>(rows);
  return *found;
}

void raw_fdatasync_4k(benchmark::State& state) {
  bench::Folder folder;
  for (auto _ : state) benchmark::DoNotOptimize(folder.raw_write());
}
BENCHMARK(raw_fdatasync_4k)->UseRealTime()->Unit(benchmark::kMicrosecond);

void durable_release(benchmark::State& state) {
  Filled& ledger_file = filled(state.range(0));
  auto ledger = ledger::Ledger::open(ledger_file.path, {});
  for (auto _ : state) {
    auto transaction = ledger.begin();
    record_one(transaction, std::to_string(ledger_file.next++));
    benchmark::DoNotOptimize(ledger.commit(std::move(transaction)));
  }
}
BENCHMARK(durable_release)->Arg(0)->Arg(1'000)->Arg(1'000'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

void durable_releases_in_one_transaction(benchmark::State& state) {
  constexpr std::int64_t kReleases = 1'000;
  Filled& ledger_file = filled(state.range(0));
  auto ledger = ledger::Ledger::open(ledger_file.path, {});
  for (auto _ : state) {
    auto transaction = ledger.begin();
    for (std::int64_t i = 0; i < kReleases; ++i) record_one(transaction, std::to_string(ledger_file.next++));
    benchmark::DoNotOptimize(ledger.commit(std::move(transaction)));
  }
  state.SetItemsProcessed(state.iterations() * kReleases);
}
BENCHMARK(durable_releases_in_one_transaction)
    ->Arg(0)
    ->Arg(1'000'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void open_for_writing(benchmark::State& state) {
  const Filled& ledger_file = filled(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(ledger::Ledger::open(ledger_file.path, {}).ledger_id());
}
BENCHMARK(open_for_writing)->Arg(0)->Arg(1'000'000)->UseRealTime()->Unit(benchmark::kMillisecond);

void read_every_decision(benchmark::State& state) {
  const Filled& ledger_file = filled(state.range(0));
  std::int64_t read = 0;
  for (auto _ : state) {
    auto snapshot = ledger::Ledger::open_read_only(ledger_file.path).snapshot();
    snapshot.each_decision("", 0, [&](const ledger::StoredDecision&) { ++read; });
  }
  state.SetItemsProcessed(read);
}
BENCHMARK(read_every_decision)->Arg(1'000'000)->UseRealTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
