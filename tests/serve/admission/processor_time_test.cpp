#include "processor_time.hpp"

#include <thread>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using epsilog::serve::ProcessorTime;

TEST_CASE("processor time: an account pays down to a burst owed, and waits until it has been filled again",
          "[admission][processor]") {
  ProcessorTime::Clock::time_point now{};
  ProcessorTime time({.per_second = 200ms, .burst = 1000ms}, [&] { return now; });
  CHECK(time.time_to_wait("ann") == 0ms);
  CHECK_FALSE(time.spend("ann", 1000ms));
  CHECK(time.time_to_wait("ann") == 1ms);  // nothing is left
  CHECK_FALSE(time.spend("ann", 999ms));
  CHECK(time.spend("ann", 1ms));
  CHECK(time.spend("ann", 1h));  // no more is owed than a burst
  CHECK(time.time_to_wait("ann") == 5001ms);
  CHECK(time.time_to_wait("bob") == 0ms);
  now += 5s;
  CHECK(time.time_to_wait("ann") == 1ms);
  now += 1ms;
  CHECK(time.time_to_wait("ann") == 0ms);
  now += 24h;  // it is full, and no fuller
  CHECK_FALSE(time.spend("ann", 1999ms));
  CHECK(time.spend("ann", 1ms));
  time.change({.per_second = 1000ms, .burst = 500ms});
  CHECK(time.time_to_wait("ann") == 1001ms);
  time.spend("ann", 0ms);
  CHECK(time.time_to_wait("ann") == 501ms);
}

TEST_CASE("processor time: accounts that are full again are forgotten, those that owe are not",
          "[admission][processor]") {
  ProcessorTime::Clock::time_point now{};
  ProcessorTime time({.per_second = 1ms, .burst = 10ms}, [&] { return now; });
  CHECK(time.spend("ann", 20ms));
  for (int i = 0; i < 5000; ++i) CHECK(time.time_to_wait(std::to_string(i)) == 0ms);
  CHECK(time.time_to_wait("ann") > 9s);
}

TEST_CASE("processor time: one computation of a principal has its turn at a time", "[admission][processor]") {
  ProcessorTime time({});
  const auto waits = [] { return false; };
  const auto gives_up = [] { return true; };
  ProcessorTime::ComputeLock first(time, "ann"), second(time, "ann"), of_another(time, "bob");
  CHECK(first.acquire(waits));
  CHECK(first.acquire(gives_up));  // it has it
  CHECK(of_another.acquire(gives_up));
  CHECK_FALSE(second.acquire(gives_up));
  bool had_it = false;
  std::thread waiting([&] { had_it = second.acquire(waits); });
  first.release();
  waiting.join();
  CHECK(had_it);
  CHECK_FALSE(first.acquire(gives_up));
}
