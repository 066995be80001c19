// What many accounts cost: a request that touches 365 of them, and a request in a ledger that holds 10^5.
//
// Each iteration also times one fdatasync of 4 KiB overwritten in place, so that both medians come from the
// same moments of the same disk: over_us = p50_us - raw_p50_us. `sync_free_us` is the median without what the
// commit takes, whose flush is the disk's.
#include <benchmark/benchmark.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/mechanisms/discrete_mechanism.hpp"
#include "place.hpp"

namespace {

using namespace epsilog;
using bench::Clock;
using bench::Folder;
using bench::median;
using bench::microseconds;

constexpr std::int64_t kAmount = 1'000'000'000;  // epsilon 0.001
const accounting::Epsilon kEpsilon = accounting::Epsilon::from_units(kAmount);

mechanisms::DiscreteMechanism noise() {
  mechanisms::DiscreteMechanism::Options options;
  options.loss = kEpsilon;
  options.sensitivity = 1;
  options.lower = 0;
  options.upper = 1'000;
  options.grid = 1;
  return mechanisms::DiscreteMechanism(options);
}

ledger::AccountState account(const std::string& dataset, const std::string& scope) {
  ledger::AccountState state;
  state.dataset = dataset;
  state.scope = scope;
  state.measure = "epsilon";
  state.balance.limit = accounting::kUnitsMax;
  return state;
}

ledger::DecisionDraft draft() {
  ledger::DecisionDraft draft;
  draft.principal = "bench";
  draft.request = R"({"dataset":"clinic","epsilon":"0.001","statistic":"value:score"})";
  draft.request_digest = ledger::sha256_hex(draft.request);
  draft.dataset = "clinic";
  draft.policy_version = 1;
  draft.outcome = ledger::Outcome::granted;
  draft.reasons = "[]";
  return draft;
}

ledger::ReleaseRecord record(const mechanisms::DiscreteMechanism::Parameters& parameters) {
  ledger::ComponentRecord component;
  component.statistic = "supplied";
  component.epsilon = kEpsilon;
  component.sensitivity = 1;
  component.scale = parameters.scale;
  component.grid = 1;
  component.centre = component.bound = 500;
  component.adjusted = parameters.adjusted;
  ledger::ReleaseRecord release;
  release.unit = "rows";
  release.neighbours = "add_or_remove_one";
  release.mechanism = "discrete_laplace";
  release.arithmetic = "exact";
  release.requested = kEpsilon.rational();
  release.charged = kEpsilon;
  release.adjusted = component.adjusted;
  release.components = {component};
  return release;
}

/// One dataset with as many blocks as a request touches, and accounts of others to fill the ledger up.
struct Accounts {
  Accounts(const Folder& folder, std::int64_t touched, std::int64_t others) : path(folder.file("L")) {
    std::vector<ledger::AccountState> accounts;
    for (std::int64_t i = 0; i < touched; ++i) {
      accounts.push_back(account("clinic", "block:" + std::to_string(1'000'000 + i)));
      names.push_back({.dataset = "clinic", .scope = accounts.back().scope, .measure = "epsilon"});
    }
    // Half of them in the same dataset, as principals of it would be.
    for (std::int64_t i = 0; i < others; ++i)
      accounts.push_back(account(i % 2 == 0 ? "clinic" : "other", "principal:" + std::to_string(i)));
    ledger::PolicyVersion policy;
    policy.sha256 = ledger::sha256_hex("");
    policy.applied_by = "bench";
    ledger::Ledger::create(path, policy, accounts);
  }
  std::string path;
  std::vector<ledger::AccountName> names;
};

/// What a release does to the ledger: the accounts by name, a filter each, the charge, the value, the commit.
void transaction_of_accounts(benchmark::State& state) {
  Folder folder;
  const Accounts accounts(folder, state.range(0), state.range(1));
  const mechanisms::DiscreteMechanism mechanism = noise();
  const ledger::ReleaseRecord release = record(mechanism.parameters());
  const std::vector<accounting::Rational> answers = {500};
  auto ledger = ledger::Ledger::open(accounts.path, {});
  mechanisms::BufferedBits bits;
  std::vector<double> raw;
  std::vector<double> whole;
  std::vector<double> before_commit;
  for (auto _ : state) {
    raw.push_back(folder.raw_write());
    const auto begin = Clock::now();
    auto transaction = ledger.begin();
    std::vector<ledger::Charge> charges;
    ledger::DecisionDraft granted = draft();
    auto& touched = granted.shown_account_ids.emplace();
    for (const ledger::AccountState& found : transaction.accounts(accounts.names)) {
      if (!accounting::filter(found.balance, kAmount).granted) state.SkipWithError("the budget is spent");
      charges.push_back({.account = found.id, .amount = kAmount});
      touched.push_back(found.id);
    }
    auto receipt = transaction.charge(granted, charges, kEpsilon);
    std::vector<accounting::SealedRelease> sealed;
    sealed.push_back(mechanism.release(answers, std::move(receipt), bits));
    transaction.attach(release, std::move(sealed), {});
    before_commit.push_back(microseconds(Clock::now() - begin));
    benchmark::DoNotOptimize(ledger.commit(std::move(transaction)));
    whole.push_back(microseconds(Clock::now() - begin));
  }
  state.counters["p50_us"] = median(whole);
  state.counters["raw_p50_us"] = median(raw);
  state.counters["over_us"] = median(whole) - median(raw);
  state.counters["sync_free_us"] = median(before_commit);
}
// {accounts touched, other accounts}
BENCHMARK(transaction_of_accounts)
    ->Args({1, 9})
    ->Args({1, 100'000})
    ->Args({5, 5})
    ->Args({5, 100'000})
    ->Args({365, 0})
    ->Args({365, 100'000})
    ->Iterations(500)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

/// The same for a caller of the engine: a value handed in debits each of the blocks and the lifetime, since
/// nobody can tell which rows it used. Arg: how many blocks; 0: a dataset without.
void release_of_blocks(benchmark::State& state) {
  Folder folder;
  bench::write_policy_of_blocks(folder, state.range(0));
  engine::Engine::init(folder.file("policy.yaml"), folder.file("L"), "bench");
  engine::Engine engine = engine::Engine::open(folder.file("L"));
  const engine::Request request = bench::score_of_blocks();
  mechanisms::BufferedBits bits;
  std::vector<double> raw;
  std::vector<double> whole;
  for (auto _ : state) {
    raw.push_back(folder.raw_write());
    const auto begin = Clock::now();
    const engine::Answer answer = engine.release(request, bits, {});
    whole.push_back(microseconds(Clock::now() - begin));
    if (!answer.recorded.granted) state.SkipWithError("refused");
  }
  state.counters["p50_us"] = median(whole);
  state.counters["raw_p50_us"] = median(raw);
  state.counters["over_us"] = median(whole) - median(raw);
}
BENCHMARK(release_of_blocks)
    ->Arg(0)
    ->Arg(12)
    ->Arg(365)
    ->Iterations(500)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

/// audit reaccount --scopes over as many blocks as the Arg says, after 20 releases that covered them all.
void reaccount_of_blocks(benchmark::State& state) {
  Folder folder;
  bench::write_policy_of_blocks(folder, state.range(0));
  engine::Engine::init(folder.file("policy.yaml"), folder.file("L"), "bench");
  {
    engine::Engine engine = engine::Engine::open(folder.file("L"));
    mechanisms::BufferedBits bits;
    for (int i = 0; i < 20; ++i) {
      if (!engine.release(bench::score_of_blocks(), bits, {}).recorded.granted)
        state.SkipWithError("refused");
    }
  }
  engine::ReaccountQuestion question;
  question.accountants = {accounting::kAccountants.begin(), accounting::kAccountants.end()};
  question.scopes = true;
  std::size_t answers = 0;
  for (auto _ : state) answers = engine::reaccount(folder.file("L"), question).size();
  state.counters["answers"] = static_cast<double>(answers);
}
BENCHMARK(reaccount_of_blocks)
    ->Arg(1)
    ->Arg(365)
    ->Arg(4'096)
    ->Iterations(3)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// A request that touches three accounts (dataset, lifetime, its principal) in a ledger that holds as many
/// accounts of other principals as the Arg says.
void release_among_principals(benchmark::State& state) {
  Folder folder;
  std::ofstream(folder.file("policy.yaml"))
      << "version: 1\ndatasets:\n  clinic:\n    unit: row\n    neighbours: add-remove\n"
         "    budget: {epsilon: 1000000}\n    lifetime: {epsilon: 1000000}\n"
         "    limits: [{each: principal, epsilon: 100000}]\n"
         "    queries: {score: {bounds: [0, 1000], sensitivity: 1}}\n"
         "    release: {score: {mechanism: discrete_laplace, grid: 1}}\n";
  engine::Engine::init(folder.file("policy.yaml"), folder.file("L"), "bench");
  {
    auto ledger = ledger::Ledger::open(folder.file("L"), {});
    auto transaction = ledger.begin();
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      ledger::AccountState fresh = account("clinic", "principal:p" + std::to_string(i));
      fresh.balance.limit = 100'000'000'000'000'000;
      (void)transaction.open_account(fresh);
    }
    (void)ledger.commit(std::move(transaction));
  }
  engine::Engine engine = engine::Engine::open(folder.file("L"));
  engine::Request request;
  request.dataset = "clinic";
  request.question = engine::parse_question("value:score", std::nullopt, std::nullopt);
  request.epsilon = accounting::Rational(1, 1000);
  request.supplied = "500";
  mechanisms::BufferedBits bits;
  std::vector<double> raw;
  std::vector<double> whole;
  std::int64_t next = 0;
  for (auto _ : state) {
    request.principal = "p" + std::to_string(next++ * 7919 % state.range(0));
    raw.push_back(folder.raw_write());
    const auto begin = Clock::now();
    benchmark::DoNotOptimize(engine.release(request, bits, {}));
    whole.push_back(microseconds(Clock::now() - begin));
  }
  state.counters["p50_us"] = median(whole);
  state.counters["raw_p50_us"] = median(raw);
  state.counters["over_us"] = median(whole) - median(raw);
}
BENCHMARK(release_among_principals)
    ->Arg(10)
    ->Arg(100'000)
    ->Iterations(1'000)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
