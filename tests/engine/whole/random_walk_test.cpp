// A random walk through every joint: requests with hostile numbers, retries, reservations and approvals,
// changes of the policy of every kind while they wait, deadlines and ends of periods, clocks that
// jump, are confirmed and put back, processes killed anywhere, reopened engines, audits. Whatever is recorded
// is held against random_walk_model.hpp.
//
// A failure prints the seed of its walk and the step; walks are independent, so that seed alone repeats it,
// except for how far a process came that was killed at a random moment.
#include "random_walk.hpp"
#include "epsilog/accounting/errors.hpp"
#include "first_cells.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

constexpr std::uint64_t kFirstSeed = 20'401'000;

void walk(std::uint64_t walks, int steps) {
  WalkCounts counts;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + walks; ++seed) {
    int step = 0;
    std::optional<RandomWalk> one;
    try {
      one.emplace(seed, counts);
      for (; step < steps; ++step) one->step();
      one->end();
    } catch (const std::exception& error) {
      FAIL_CHECK("seed " << seed << ", step " << step << ": " << error.what() << "\nafter\n"
                         << (one ? one->trail() : ""));
      return;
    }
  }
  std::string text = std::to_string(walks) + " walks of " + std::to_string(steps) + " steps from seed " +
                     std::to_string(kFirstSeed) + ":";
  for (const auto& [what, count] : counts) text += " " + what + " " + std::to_string(count) + ",";
  WARN(text.substr(0, text.size() - 1));
  for (const std::string& what :
       first_cells(EPSILOG_SOURCE_DIR "/tests/engine/whole/random_walk_counts.tsv")) {
    CAPTURE(what);
    CHECK(counts[what] > 0);
  }
}

}  // namespace

TEST_CASE("random walk: after any sequence of events the ledger says only what the active policy allows",
          "[engine][random_walk][property]") {
  walk(7, 300);
}

TEST_CASE("random walk: a hundred thousand steps say only what the active policy allows", "[.long][engine][random_walk][property]") {
  walk(300, 400);
}
