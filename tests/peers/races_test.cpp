// Checks that other systems made in one step and acted on in another.
#include "child_process.hpp"
#include "support/catch.hpp"
#include "two_budgets.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;

namespace {

/// Four threads of one engine ask, alone and in batches, as different principals; how many were granted.
int granted_to_threads(Engine& engine, const std::string& who) {
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&engine, &granted, who, thread] {
      mechanisms::SystemBits bits;
      engine::Request asked = supplied("5", "0.01");
      asked.principal = who + std::to_string(thread);
      const std::vector<engine::Request> batch(3, asked);
      for (int round = 0; round < 10; ++round) {
        granted += engine.release(asked, bits, {}).recorded.granted ? 1 : 0;
        for (const Answer& answer : engine.release_many(batch, bits, {}))
          granted += answer.recorded.granted ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return granted;
}

}  // namespace

// dpcreator summed the plans of a dataset and then saved a new one, without a lock: two analysts who asked at
// the same moment both saw room. lomas read the remaining budget, computed, and incremented what was spent
// without a condition: only a flag for each user stood between two of their requests.
TEST_CASE("Requests at the same moment never find the same room twice", "[peers][concurrency]") {
  const Clinic clinic("epsilon: 1");
  constexpr int kProcesses = 4;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(start_child([&clinic, process] {
      Engine engine = clinic.open();
      return granted_to_threads(engine, "p" + std::to_string(process) + "t");
    }));
  }
  int granted = 0;
  for (const pid_t child : children) {
    const int status = status_of(child);
    REQUIRE(status <= 100);  // what it was granted, no failure
    granted += status;
  }
  CHECK(granted == 100);
  const Engine engine = clinic.open();
  CHECK(spent(engine) == "1");
  CHECK(decision_counts(engine).granted == 100);
  CHECK(decision_counts(engine).refused == kProcesses * 4 * 40 - 100);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

// The same with two budgets of which one is the scarcer: an unconditional second debit would pass it.
TEST_CASE("A request that fits one budget and not the other is charged to neither, however many ask",
          "[peers][concurrency]") {
  const Clinic clinic("epsilon: 10, delta: 5e-7", kGaussian);
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process) {
    children.push_back(start_child([&clinic] {
      Engine engine = clinic.open();
      int granted = 0;
      for (int i = 0; i < 5; ++i) granted += release(engine, two_part_request()).recorded.granted ? 1 : 0;
      return granted;
    }));
  }
  int granted = 0;
  for (const pid_t child : children) granted += status_of(child);
  CHECK(granted == 5);
  const Spent spent = spent_units(clinic.open());
  CHECK(spent.epsilon == 2'500'000'000'000);
  CHECK(spent.delta == 500'000'000'000);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}
