// What the tree of a ledger costs: a million lines of 200 bytes hashed and appended, against SHA-256 of the
// same bytes and nothing else; and a root and a proof from rows in memory.
#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "merkle_tree.hpp"
#include "sha256.hpp"

namespace {

using namespace epsilog::ledger;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLeaves = 1'000'000;
constexpr std::size_t kLineBytes = 200;

/// Line number i, all of one length.
void write_line(std::string& line, std::uint64_t index) {
  line.assign(kLineBytes, 'x');
  const std::string digits = std::to_string(index);
  line.replace(0, digits.size(), digits);
}

double nanoseconds_per_leaf(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / double{kLeaves};
}

/// The leaf of 201 bytes and the node of 65 for each line.
double bare() {
  std::string line;
  Hash hash{};
  std::string leaf(kLineBytes + 1, '\0');
  std::string node(2 * sizeof(Hash) + 1, '\0');
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < kLeaves; ++i) {
    write_line(line, i);
    std::copy(line.begin(), line.end(), leaf.begin() + 1);
    hash = sha256(leaf);
    std::copy(hash.begin(), hash.end(), node.begin() + 1);
    hash = sha256(node);
  }
  benchmark::DoNotOptimize(hash);
  return nanoseconds_per_leaf(begin);
}

void append(benchmark::State& state) {
  double whole = 0;
  double of_bare = 0;
  for (auto _ : state) {
    of_bare += bare();
    std::string line;
    std::uint64_t stored = 0;
    Frontier tree;
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < kLeaves; ++i) {
      write_line(line, i);
      tree.append(leaf_hash(line), [&](unsigned, std::uint64_t, const Hash&) { ++stored; });
    }
    whole += nanoseconds_per_leaf(begin);
    state.counters["stored_nodes"] = static_cast<double>(stored);
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["ns_per_leaf"] = whole / runs;
  state.counters["bare_ns_per_leaf"] = of_bare / runs;
  state.counters["ratio"] = whole / of_bare;
}
BENCHMARK(append)->Iterations(3)->Unit(benchmark::kMillisecond);

/// The rows of that tree.
struct Rows {
  Rows() {
    std::string line;
    Frontier tree;
    for (std::uint64_t i = 0; i < kLeaves; ++i) {
      write_line(line, i);
      by_level[0].push_back(leaf_hash(line));
      tree.append(by_level[0].back(),
                  [&](unsigned level, std::uint64_t, const Hash& hash) { by_level[level].push_back(hash); });
    }
  }
  void operator()(unsigned level, std::uint64_t first, std::span<Hash> hashes) const {
    const auto begin = by_level.at(level).begin() + static_cast<std::ptrdiff_t>(first);
    std::copy_n(begin, hashes.size(), hashes.begin());
  }
  std::map<unsigned, std::vector<Hash>> by_level;
};

void root(benchmark::State& state) {
  const Rows rows;
  std::uint64_t size = kLeaves;
  for (auto _ : state) benchmark::DoNotOptimize(tree_root(size--, rows));
}
BENCHMARK(root)->Iterations(1'000)->Unit(benchmark::kMicrosecond);

void inclusion(benchmark::State& state) {
  const Rows rows;
  std::uint64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(inclusion_proof(index += 997, kLeaves, rows));
}
BENCHMARK(inclusion)->Iterations(1'000)->Unit(benchmark::kMicrosecond);

}  // namespace
