// The turns of the threads of one Ledger.
#include <sys/resource.h>

#include "support/catch.hpp"
#include "writer_lock.hpp"

using namespace epsilog;
using namespace std::chrono_literals;

namespace {

constexpr int kThreads = 32;

/// How often this thread went to sleep so far.
long sleeps() {
  struct rusage usage {};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

bool take_within(ledger::ThreadQueue& turns, std::chrono::milliseconds wait) {
  return turns.take(ledger::deadline_after(wait));
}

}  // namespace

TEST_CASE("turns: who gives a turn back wakes one thread only", "[ledger][threads][lock]") {
  ledger::ThreadQueue turns;
  REQUIRE(take_within(turns, 0ms));
  std::atomic<int> ready = 0;
  std::atomic<int> served = 0;
  std::atomic<long> slept = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ++ready;
      const long before = sleeps();
      if (!take_within(turns, 60s)) return;
      slept += sleeps() - before;
      ++served;
      turns.give_back();
    });
  }
  while (ready < kThreads) std::this_thread::yield();
  std::this_thread::sleep_for(50ms);  // until all wait; one that does not yet sleeps no more often for it
  turns.give_back();
  for (std::thread& thread : threads) thread.join();
  CHECK(served == kThreads);
  CHECK(slept < 3 * kThreads);  // each its wait, and now and then for the mutex; all of all would be 500
  CHECK(take_within(turns, 0ms));
}

TEST_CASE("turns: a thread that loses patience is passed over, and one that is handed the turn has it",
          "[ledger][threads][lock]") {
  ledger::ThreadQueue turns;
  REQUIRE(take_within(turns, 0ms));
  CHECK_FALSE(take_within(turns, 0ms));
  std::atomic<bool> inside = false;
  std::atomic<int> served = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, wait = std::chrono::milliseconds(i % 2 == 0 ? 20 + i : 60'000)] {
      for (int n = 0; n < 50; ++n) {
        if (!take_within(turns, wait)) continue;
        if (inside.exchange(true)) ++failures;
        ++served;
        inside = false;
        turns.give_back();
      }
    });
  }
  std::this_thread::sleep_for(30ms);  // some have given up by now, some wait, some are about to give up
  turns.give_back();
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(served >= kThreads / 2 * 50);
  CHECK(take_within(turns, 0ms));
}
