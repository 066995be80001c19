// Requests that nobody waits for, and those who wait for nobody else's bits.
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// What was told of requests that were submitted, by key.
class ToldOnce {
 public:
  [[nodiscard]] engine::OnDone of(const std::string& key) {
    return [this, key](SubmissionOutcome outcome) {
      const std::lock_guard lock(mutex_);
      told_[key].push_back(std::move(outcome));
      changed_.notify_all();
    };
  }
  [[nodiscard]] SubmissionOutcome await(const std::string& key) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return told_.contains(key); });
    return told_.at(key).front();
  }
  [[nodiscard]] std::size_t times(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return told_.contains(key) ? told_.at(key).size() : 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<SubmissionOutcome>> told_;
};

/// Waits to be let go before it gives bits, the first ones or the next.
class Blocking final : public mechanisms::BitSource {
 public:
  explicit Blocking(int fills_before) : left_(fills_before) {}
  void fill(std::span<std::byte> bytes) override {
    system_.fill(bytes);
    if (left_-- > 0) {
      std::fill(bytes.begin(), bytes.end(), std::byte{0});  // more are needed
      return;
    }
    blocked.set_value();
    let_go.get_future().wait();
  }
  std::promise<void> blocked;
  std::promise<void> let_go;

 private:
  mechanisms::SystemBits system_;
  int left_;
};

}  // namespace

TEST_CASE("submit: each is told once, recorded as if it had been waited for", "[engine][groups][submit]") {
  const Clinic clinic("epsilon: 1000");
  ToldOnce told;
  mechanisms::BufferedBits bits;
  std::map<std::string, std::vector<accounting::Rational>> values;
  {
    Engine engine = clinic.open();
    for (int i = 0; i < 200; ++i) {
      const std::string key = std::to_string(i);
      const auto asked = i % 2 == 0 ? supplied("5", "0.01", key) : request("count", "0.01", key);
      engine.submit(asked, bits, {}, told.of(key));
    }
    engine::Request held = request("count", "0.01", "held");
    held.reservation = engine::ReservationKind::reserved;
    engine.submit(held, bits, {}, told.of("held"));
    engine.submit(request("count", "5000", "too much"), bits, {}, told.of("too much"));
    CHECK(told.await("held").answer->recorded.state == engine::RequestState::reserved);
    CHECK(told.await("too much").answer->recorded.state == engine::RequestState::refused);
  }  // tells the rest before it is gone
  for (int i = 0; i < 200; ++i) {
    const std::string key = std::to_string(i);
    CHECK(told.times(key) == 1);
    const SubmissionOutcome outcome = told.await(key);
    REQUIRE(outcome.answer);
    CHECK(outcome.answer->recorded.granted);
    CHECK_FALSE(outcome.answer->recorded.replayed);
    values[key] = outcome.answer->released.values;
  }
  Engine engine = clinic.open();
  for (int i = 0; i < 200; ++i) {
    const std::string key = std::to_string(i);
    engine.submit(i % 2 == 0 ? supplied("5", "0.01", key) : request("count", "0.01", key), bits, {},
                  told.of(key + " again"));
    const SubmissionOutcome again = told.await(key + " again");
    REQUIRE(again.answer);
    CHECK(again.answer->recorded.replayed);
    CHECK(again.answer->released.values == values[key]);
  }
  CHECK(spent(engine) == "2");
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

TEST_CASE("submit: what is wrong is thrown, and nobody is told", "[engine][groups][submit][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  ToldOnce told;
  mechanisms::SystemBits bits;
  auto elsewhere = request("count", "0.1");
  elsewhere.dataset = "clinics";
  CHECK_THROWS_AS(engine.submit(elsewhere, bits, {}, told.of("k")), NotFound);
  CHECK_THROWS_AS(engine.submit(request("count", "0.1"), bits, {}, {}), InvalidParameter);
  class NoBits final : public mechanisms::BitSource {
    void fill(std::span<std::byte>) override { throw EntropyUnavailable("none"); }
  } none;
  CHECK_THROWS_AS(engine.submit(request("count", "0.1"), none, {}, told.of("k")), EntropyUnavailable);
  CHECK(told.times("k") == 0);
  CHECK(spent(engine) == "0");
}

TEST_CASE("submit: what meets another policy, or lacks bits, starts over by itself",
          "[engine][groups][submit]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1000");
  ToldOnce told;
  mechanisms::SystemBits bits;
  REQUIRE(release(engine, supplied("5", "0.5")).recorded.granted);  // known ahead from now on
  clinic.folder.write("policy.yaml", clinic_policy("epsilon: 900"));
  clinic.open().apply_policy(clinic.folder.path("policy.yaml"), "curator", "why");
  engine.submit(supplied("5", "0.5", "outdated"), bits, {}, told.of("outdated"));
  CHECK(told.await("outdated").answer->planned.policy_version == 2);
  Blocking more(1);
  engine.submit(request("count", "0.5", "more"), more, {}, told.of("more"));
  more.blocked.get_future().wait();
  // It waits for its bits, and nobody for it: neither who submits nor who asks.
  engine.submit(supplied("5", "0.5", "meanwhile"), bits, {}, told.of("meanwhile"));
  CHECK(told.await("meanwhile").answer->recorded.granted);
  CHECK(release(engine, request("count", "0.5")).recorded.granted);
  CHECK(told.times("more") == 0);
  more.let_go.set_value();
  CHECK(told.await("more").answer->recorded.granted);
}

TEST_CASE("groups: a generator that does not answer keeps nobody waiting but who asked it",
          "[engine][groups]") {
  for (const int fills_before : {0, 1}) {
    CAPTURE(fills_before);
    auto [clinic, engine] = Open<Clinic>("epsilon: 1000");
    Blocking blocking(fills_before);
    std::atomic<bool> granted = false;
    std::thread waits(
        [&] { granted = engine.release(request("count", "0.5", "blocked"), blocking, {}).recorded.granted; });
    blocking.blocked.get_future().wait();
    Engine other = clinic.open();
    for (int i = 0; i < 3; ++i) {
      CHECK(release(engine, request("count", "0.5")).recorded.granted);
      CHECK(release(other, supplied("5", "0.5")).recorded.granted);
    }
    CHECK(spent(engine) == "3");
    blocking.let_go.set_value();
    waits.join();
    CHECK(granted);
    CHECK(spent(engine) == "3.5");
  }
}

TEST_CASE("groups: a call waits no longer than it was told to", "[engine][groups][lock]") {
  const Clinic clinic;
  engine::EngineOptions options;
  options.wait_ms = 50;
  Engine engine = Engine::open(clinic.ledger(), options);
  auto other = ledger::Ledger::open(clinic.ledger(), {});
  const auto turn = other.begin();
  std::vector<std::thread> threads;
  std::atomic<int> busy_in_time = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto begin = std::chrono::steady_clock::now();
      try {
        (void)release(engine, supplied("5", "0.1"));
      } catch (const LedgerBusy&) {
        if (std::chrono::steady_clock::now() - begin < std::chrono::seconds(5)) ++busy_in_time;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(busy_in_time == 4);
  ToldOnce told;
  mechanisms::SystemBits bits;
  engine.submit(supplied("5", "0.1"), bits, {}, told.of("k"));
  const SubmissionOutcome outcome = told.await("k");
  REQUIRE(outcome.fault);
  CHECK_THROWS_AS(std::rethrow_exception(outcome.fault), LedgerBusy);
}

TEST_CASE("submit: a forked child throws, and ends without waiting for threads it does not have",
          "[engine][groups][submit]") {
  const Clinic clinic;
  auto engine = std::make_unique<Engine>(clinic.open());
  ToldOnce told;
  mechanisms::SystemBits bits;
  engine->submit(supplied("5", "0.1"), bits, {}, told.of("k"));
  CHECK(told.await("k").answer->recorded.granted);
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      engine->submit(supplied("5", "0.1"), bits, {}, told.of("child"));
    } catch (const InvalidParameter&) {
      status = 0;
    }
    engine.reset();
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
