#include "admission.hpp"

#include "support/catch.hpp"

using namespace std::chrono_literals;
using epsilog::serve::Admission;
using epsilog::serve::AdmissionDenial;
using epsilog::serve::AdmissionLimits;

namespace {

AdmissionLimits few() {
  AdmissionLimits limits;
  limits.running = 2;
  limits.curator_running = 1;
  limits.waiting = 3;
  limits.in_flight = 4;
  limits.long_polls = 2;
  limits.per_second = 1;
  limits.burst = 100;
  limits.body_bytes = 1000;
  limits.wait_max = 20ms;
  return limits;
}

Admission::Entry entered(Admission& admission, const std::string& who, bool curator = false) {
  auto result = admission.enter(who, curator);
  REQUIRE(std::holds_alternative<Admission::Entry>(result));
  return std::get<Admission::Entry>(std::move(result));
}

AdmissionDenial refused(Admission& admission, const std::string& who) {
  auto result = admission.enter(who, false);
  REQUIRE(std::holds_alternative<AdmissionDenial>(result));
  return std::get<AdmissionDenial>(result);
}

}  // namespace

TEST_CASE("a principal has so many requests under way and no more, whatever the others have", "[admission]") {
  Admission admission(few());
  std::vector<Admission::Entry> held;
  for (int i = 0; i < 4; ++i) held.push_back(entered(admission, "alice"));
  CHECK(refused(admission, "alice") == AdmissionDenial::too_many);
  const Admission::Entry other = entered(admission, "bob");
  held.pop_back();
  CHECK_NOTHROW(entered(admission, "alice"));
}

TEST_CASE("who asks faster than it may is told so until time has passed", "[admission]") {
  AdmissionLimits limits = few();
  limits.burst = 2;
  Admission::Clock::time_point now{};
  Admission admission(limits, [&] { return now; });
  for (int i = 0; i < 2; ++i) entered(admission, "alice");
  CHECK(refused(admission, "alice") == AdmissionDenial::too_fast);
  CHECK_NOTHROW(entered(admission, "bob"));
  now += 999ms;
  CHECK(refused(admission, "alice") == AdmissionDenial::too_fast);
  now += 2ms;
  CHECK_NOTHROW(entered(admission, "alice"));
  now += 1h;
  for (int i = 0; i < 2; ++i) entered(admission, "alice");
  CHECK(refused(admission, "alice") == AdmissionDenial::too_fast);
}

TEST_CASE("a batch counts as so many requests, at once and under way", "[admission]") {
  AdmissionLimits limits = few();
  limits.burst = 10;
  Admission::Clock::time_point now{};
  Admission admission(limits, [&] { return now; });
  {
    Admission::Entry batch = entered(admission, "alice");
    CHECK_FALSE(batch.count_requests(6));
    CHECK(refused(admission, "alice") == AdmissionDenial::too_many);  // four may be under way
  }
  for (int i = 0; i < 3; ++i) entered(admission, "alice");  // who was told to wait asked too
  CHECK(refused(admission, "alice") == AdmissionDenial::too_fast);
  // A larger one than may ever be asked at once needs all of that, and is paid off.
  now += 9s;
  CHECK(entered(admission, "alice").count_requests(30) == AdmissionDenial::too_fast);
  now += 10s;
  CHECK_FALSE(entered(admission, "alice").count_requests(30));
  now += 20s;
  CHECK(refused(admission, "alice") == AdmissionDenial::too_fast);
  now += 1s;
  CHECK_NOTHROW(entered(admission, "alice"));
}

TEST_CASE("of two batches at once one waits its turn", "[admission]") {
  AdmissionLimits limits = few();
  Admission admission(limits);
  auto first = std::make_unique<Admission::Entry>(entered(admission, "alice"));
  Admission::Entry second = entered(admission, "alice");
  CHECK_FALSE(first->count_requests(30));
  CHECK(second.count_requests(30) == AdmissionDenial::too_many);
  first.reset();
  CHECK_FALSE(second.count_requests(30));
  // Who came over the curator socket is not counted.
  CHECK_FALSE(entered(admission, "", true).count_requests(1'000'000));
}

TEST_CASE("a place that becomes free goes to the principals in turn, and in the end to everybody",
          "[admission]") {
  AdmissionLimits limits = few();
  limits.running = 1;
  limits.waiting = 10;
  limits.wait_max = 60s;
  Admission admission(limits);
  auto first = std::make_unique<Admission::Entry>(entered(admission, "zoe"));
  REQUIRE_FALSE(first->wait_for_slot());
  std::mutex mutex;
  std::vector<std::string> order;
  std::vector<std::thread> threads;
  std::size_t waiting = 0;
  for (const char* who : {"alice", "alice", "alice", "bob", "carol"}) {
    threads.emplace_back([&, who] {
      Admission::Entry entry = std::get<Admission::Entry>(admission.enter(who, false));
      const bool runs = !entry.wait_for_slot();
      const std::scoped_lock lock(mutex);
      order.emplace_back(runs ? who : "nobody");
    });
    ++waiting;
    while (admission.figures().waiting < waiting) std::this_thread::yield();
  }
  first.reset();
  for (std::thread& thread : threads) thread.join();
  CHECK(order == std::vector<std::string>{"alice", "bob", "carol", "alice", "alice"});
  CHECK(admission.figures().running == 0);
}

TEST_CASE("who waits too long, or as one too many, is told to come back, and leaves no trace",
          "[admission]") {
  Admission admission(few());
  Admission::Entry first = entered(admission, "a"), second = entered(admission, "b");
  REQUIRE_FALSE(first.wait_for_slot());
  REQUIRE_FALSE(second.wait_for_slot());
  {
    Admission::Entry third = entered(admission, "c");
    CHECK(third.wait_for_slot() == AdmissionDenial::full);
  }
  CHECK(admission.figures().waiting == 0);
  CHECK(admission.figures().running == 2);
}

TEST_CASE("a curator never waits for what comes over the other socket", "[admission]") {
  Admission admission(few());
  Admission::Entry first = entered(admission, "a"), second = entered(admission, "b");
  REQUIRE_FALSE(first.wait_for_slot());
  REQUIRE_FALSE(second.wait_for_slot());
  Admission::Entry curator = entered(admission, "", true);
  CHECK_FALSE(curator.wait_for_slot());
  Admission::Entry another = entered(admission, "", true);
  CHECK(another.wait_for_slot() == AdmissionDenial::full);
}

TEST_CASE("a long poll has no place, is counted for itself, and is one too many at some point",
          "[admission]") {
  Admission admission(few());
  std::vector<Admission::Entry> polls;
  for (int i = 0; i < 2; ++i) {
    polls.push_back(entered(admission, "alice"));
    REQUIRE_FALSE(polls.back().wait_for_slot());
    REQUIRE_FALSE(polls.back().become_long_poll());
  }
  CHECK(admission.figures().running == 0);
  CHECK(admission.figures().long_polls == 2);
  Admission::Entry third = entered(admission, "alice");
  CHECK(third.become_long_poll() == AdmissionDenial::too_many_long_polls);
  polls.clear();
  CHECK(admission.figures().long_polls == 0);
}

TEST_CASE(
    "admission: a place that was promised is had in turn, also by one more than may wait, and after a stop",
    "[admission]") {
  AdmissionLimits limits = few();
  limits.running = 1;
  limits.waiting = 1;
  Admission admission(limits);
  auto runs = std::make_unique<Admission::Entry>(entered(admission, "a"));
  REQUIRE_FALSE(runs->wait_for_slot());
  Admission::Entry promised = entered(admission, "b"), waits = entered(admission, "c");
  CHECK_FALSE(promised.promise_slot());
  CHECK(waits.wait_for_slot() == AdmissionDenial::full);  // what is promised waits
  CHECK(entered(admission, "d").promise_slot() == AdmissionDenial::full);
  admission.stop();
  CHECK(waits.promise_slot() == AdmissionDenial::stopping);
  std::thread served([&] { promised.wait_for_promised_slot(); });
  while (admission.figures().waiting == 0) std::this_thread::yield();
  CHECK(admission.figures().running == 1);
  runs.reset();
  served.join();
  CHECK(admission.figures().running == 1);
  CHECK(admission.figures().waiting == 0);
}

TEST_CASE("once it is stopped nobody enters, and who waits is told so at once", "[admission]") {
  AdmissionLimits limits = few();
  limits.running = 1;
  limits.wait_max = 1h;
  Admission admission(limits);
  Admission::Entry running = entered(admission, "a");
  REQUIRE_FALSE(running.wait_for_slot());
  std::optional<AdmissionDenial> told;
  std::thread waits([&] { told = std::get<Admission::Entry>(admission.enter("b", false)).wait_for_slot(); });
  while (admission.figures().waiting == 0) std::this_thread::yield();
  admission.stop();
  waits.join();
  CHECK(told == AdmissionDenial::stopping);
  CHECK(refused(admission, "c") == AdmissionDenial::stopping);
}

TEST_CASE("many threads that enter, wait and leave end with nobody inside", "[admission]") {
  AdmissionLimits limits = few();
  limits.running = 3;
  limits.waiting = 100;
  limits.in_flight = 100;
  limits.burst = 1'000'000;
  limits.wait_max = 60s;
  Admission admission(limits);
  std::atomic<int> inside = 0;
  std::atomic<int> refusals = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        Admission::Entry entry = std::get<Admission::Entry>(admission.enter(std::to_string(t % 3), false));
        refusals += entry.wait_for_slot() ? 1 : 0;
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most <= 3);
  CHECK(refusals == 0);
  const auto figures = admission.figures();
  CHECK(figures.running + figures.waiting + figures.long_polls + figures.body_bytes == 0);
}
