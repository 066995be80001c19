// A program that no longer waits for another writer, as it meets it through epsilog.hpp.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <stop_token>
#include <thread>
#include <vector>

#include "api_clinic.hpp"
#include "commit_queue.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// The code of the error that a call ends with, "" where it ends without one.
template <class Call>
std::string code_of(const Call& call) {
  try {
    call();
    return "";
  } catch (const LedgerBusy& error) {
    return std::string(error.code());
  }
}

}  // namespace

TEST_CASE("stopped wait: every thread that waits for another process ends, and nothing is charged",
          "[engine][api]") {
  ApiClinic at;
  std::stop_source source;
  const Ledger ledger = open(at.clinic.ledger(), {.wait_ms = 20'000, .stop = source.get_token()});
  const auto ask = [&](const char* key) {
    return ledger.ask("clinic", "count").epsilon("1/10").as("alice").key(key).release();
  };
  const auto before = ask("before");
  CHECK(before.released() != nullptr);
  const int lock = ::open((at.clinic.ledger() + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(lock >= 0);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  const pid_t holder = ::fork();
  while (holder == 0) ::pause();
  ::close(lock);
  // The first waits for the lock, the others behind it in the queue of this process.
  std::vector<std::future<std::string>> waiting;
  for (const char* key : {"a", "b", "c"}) {
    waiting.push_back(
        std::async(std::launch::async, [&ask, key] { return code_of([&] { (void)ask(key); }); }));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // beyond the brief wait of a first look
  for (auto& one : waiting) CHECK(one.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  source.request_stop();
  for (auto& one : waiting) {
    REQUIRE(one.wait_for(std::chrono::seconds(5)) == std::future_status::ready);
    CHECK(one.get() == "wait_stopped");
  }
  CHECK(code_of([&] { (void)ask("after"); }) == "wait_stopped");
  CHECK(code_of([&] {
          (void)open(at.clinic.ledger(), {.wait_ms = 0})
              .ask("clinic", "count")
              .epsilon("1/10")
              .as("alice")
              .release();
        }) == "ledger_busy");
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  CHECK(ledger.history().entries.size() == 1);
  CHECK(ledger.budget("clinic").at(0).text() == "0.1 of 3 epsilon");
  // It need not wait, once the thread that stood in the queue for the others has given the lock back.
  std::string code = "wait_stopped";
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (code == "wait_stopped" && std::chrono::steady_clock::now() < until)
    code = code_of([&] {
      const auto unhindered = ask("a");
      CHECK(unhindered.released() != nullptr);
    });
  CHECK(code.empty());
  CHECK_THROWS_AS(open(at.clinic.ledger(), {.wait_ms = -1}), InvalidParameter);
}

TEST_CASE("stopped wait: who waits in the commit queue leaves it, due or not", "[engine][groups]") {
  using engine::CommitQueue;
  CommitQueue queue;
  CommitQueue::QueueEntry own("ada", 1);
  REQUIRE(queue.await(own, CommitQueue::Deadline::max()) == CommitQueue::WaitOutcome::leads);
  for (const auto due : {std::chrono::seconds(0), std::chrono::seconds(20)}) {
    std::stop_source source;
    CommitQueue::QueueEntry entry("bob", 1);
    if (due.count() > 0) entry.set_due(CommitQueue::Clock::now() + due, CommitQueue::Clock::now());
    auto left = std::async(std::launch::async, [&] {
      return queue.await(entry, CommitQueue::Clock::now() + std::chrono::seconds(21), source.get_token());
    });
    CHECK(left.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    source.request_stop();
    REQUIRE(left.wait_for(std::chrono::seconds(5)) == std::future_status::ready);
    CHECK(left.get() == CommitQueue::WaitOutcome::late);
    CHECK(queue.take_group(own).size() == 1);
  }
}
