// What decisions and movements take of the file; releases of many blocks.
#include <filesystem>

#include "bare_ledger.hpp"
#include "blocks.hpp"
#include "ledgers.hpp"
#include "targets.hpp"

namespace epsilog::bench {
namespace {

double size(const std::string& path) {
  return static_cast<double>(std::filesystem::file_size(path));
}

/// Ensures  the log is in the file: the engine is gone.
template <class Release>
double growth(const std::string& path, Release release) {
  const double before = size(path);
  {
    engine::Engine engine = engine::Engine::open(path);
    release(engine);
  }
  return size(path) - before;
}

double bare_growth(const Ledgers& ledgers, std::int64_t transactions, std::int64_t each) {
  const double before = size(ledgers.bare);
  BareLedger rows(ledgers.bare, ledgers.line);
  for (std::int64_t i = 0; i < transactions; ++i) rows.release(each);
  rows.checkpoint();
  return size(ledgers.bare) - before;
}

Row bytes_row(const std::string& what, double most, double bytes, double floor) {
  return {.what = what,
          .target = text("<= %.0f bytes", most),
          .measured = text("%.1f bytes", bytes),
          .floor = floor == 0 ? "" : text("%.1f bytes", floor),
          .ratio = floor == 0 ? "" : text("%.2f", bytes / floor),
          .met = bytes <= most};
}

std::vector<Row> rows_of(std::int64_t blocks, std::int64_t releases) {
  const Folder folder;
  write_policy_of_blocks(folder, blocks);
  const std::string path = ledger_with(folder, "ledger", score_of_blocks());
  const std::string bare_path = ledger_with(folder, "bare", score_of_blocks());
  std::vector<double> released;
  std::vector<double> bare;
  const double bytes = growth(path, [&](engine::Engine& engine) {
    BareLedger rows(bare_path, last_line(bare_path));
    mechanisms::BufferedBits bits;
    for (std::int64_t i = 0; i < releases; ++i) {
      auto begin = Clock::now();
      release_one(engine, score_of_blocks(), bits);
      released.push_back(microseconds(Clock::now() - begin));
      begin = Clock::now();
      rows.release(1);
      bare.push_back(microseconds(Clock::now() - begin));
    }
  });
  const double ratio = median(released) / median(bare);
  const double movements = static_cast<double>(releases * (blocks + 1));  // the lifetime's
  const auto count = static_cast<int>(blocks);
  return {{.what = text("%d blocks, one release, p50", count),
           .target = "<= 2x",
           .measured = text("%.0f us", median(released)),
           .floor = text("%.0f us", median(bare)),
           .ratio = text("%.2f", ratio),
           .met = ratio <= 2},
          bytes_row(text("%d blocks, file a movement", count), 40, bytes / movements, 0)};
}

}  // namespace

std::vector<Row> rows_of_bytes() {
  constexpr std::int64_t kCalls = 20;
  constexpr std::int64_t kEach = 1'000;
  const Ledgers ledgers;
  mechanisms::BufferedBits bits;
  const auto release_all = [&](engine::Engine& engine, bool own_plan) {
    for (std::int64_t call = 0; call < kCalls; ++call) {
      std::vector<engine::Request> requests;
      for (std::int64_t i = 0; i < kEach; ++i) {
        const std::int64_t number = call * kEach + i;
        requests.push_back(keyed_release(number, own_plan ? "own" : "shared"));
        if (own_plan) requests.back().epsilon = accounting::Rational(1'000'001 + number, 1'000'000'000);
      }
      static_cast<void>(engine.release_many(requests, bits, {}));
    }
  };
  constexpr double kDecisions = kCalls * kEach;
  const double shared = growth(ledgers.path, [&](auto& engine) { release_all(engine, false); }) / kDecisions;
  const double own = growth(ledgers.path, [&](auto& engine) { release_all(engine, true); }) / kDecisions;
  const double bare = bare_growth(ledgers, kCalls, kEach) / kDecisions;
  return {bytes_row("file per decision, shared plan", 500, shared, bare),
          bytes_row("file per decision, its own plan", 1'800, own, 0)};
}

std::vector<Row> rows_of_blocks() {
  std::vector<Row> rows = rows_of(365, 400);
  for (Row& row : rows_of(3'650, 60)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace epsilog::bench
