// Who waits to be recorded, and who records what waits.
#include "commit_queue.hpp"

#include <list>

#include "support/catch.hpp"

using namespace epsilog;
using engine::CommitQueue;
using QueueEntry = CommitQueue::QueueEntry;
using WaitOutcome = CommitQueue::WaitOutcome;

namespace {

constexpr auto kNever = CommitQueue::Deadline::max();

CommitQueue::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

/// Places that are left in the line, by name.
class Left {
 public:
  explicit Left(CommitQueue& line) : line_(line) {}
  struct Held {
    CommitQueue::Deadline due, arrived;
    int later = 0;  ///< by so many nanoseconds
  };
  void add(const std::string& name, const std::string& principal, std::size_t movements = 1,
           const std::optional<Held>& held = {}) {
    QueueEntry& place = places_.emplace_back(principal, movements);
    if (held) place.set_due(held->due, held->arrived + std::chrono::nanoseconds(held->later));
    names_.emplace(&place, name);
    line_.submit(place);
  }
  [[nodiscard]] std::string names(const std::vector<QueueEntry*>& taken) const {
    std::string text;
    for (std::size_t i = 1; i < taken.size(); ++i) text += names_.at(taken[i]) + " ";
    return text;
  }
  [[nodiscard]] const std::string& name(const QueueEntry* place) const { return names_.at(place); }

 private:
  CommitQueue& line_;
  std::list<QueueEntry> places_;
  std::map<const QueueEntry*, std::string> names_;
};

}  // namespace

TEST_CASE("line: who comes alone leads at once, and again", "[engine][groups]") {
  CommitQueue line;
  for (int i = 0; i < 3; ++i) {
    QueueEntry own("ada", 1);
    CHECK(line.await(own, in(std::chrono::milliseconds(0))) == WaitOutcome::leads);
    auto taken = line.take_group(own);
    CHECK(taken == std::vector<QueueEntry*>{&own});
    line.end(taken);
  }
}

TEST_CASE("line: a group has one of each principal by turns, from where the one before ended",
          "[engine][groups]") {
  CommitQueue line;
  Left left(line);
  QueueEntry own("zoe", 1);
  REQUIRE(line.await(own, kNever) == WaitOutcome::leads);
  for (const char* name : {"a1", "a2", "a3", "a4"}) left.add(name, "ada");
  for (const char* name : {"b1", "b2"}) left.add(name, "bob");
  left.add("c1", "cy");
  auto taken = line.take_group(own);
  CHECK(left.names(taken) == "a1 b1 c1 a2 b2 a3 a4 ");
  line.end(taken);
  // Three of a thousand movements fit beside one: bob's and cy's before ada's second.
  QueueEntry next("zoe", 1'000);
  REQUIRE(line.await(next, kNever) == WaitOutcome::leads);
  for (const char* name : {"A1", "A2"}) left.add(name, "ada", 1'000);
  left.add("B1", "bob", 1'000);
  left.add("C1", "cy", 1'000);
  taken = line.take_group(next);
  CHECK(left.names(taken) == "B1 C1 A1 ");
  line.end(taken);
  QueueEntry last("zoe", 1);
  REQUIRE(line.await(last, kNever) == WaitOutcome::leads);
  CHECK(left.names(line.take_group(last)) == "A2 ");
}

TEST_CASE("line: a group has no more members than its limit, and a member beyond that of movements is alone",
          "[engine][groups]") {
  CommitQueue line;
  Left left(line);
  QueueEntry own("zoe", 1);
  REQUIRE(line.await(own, kNever) == WaitOutcome::leads);
  for (int i = 0; i < 300; ++i) left.add(std::to_string(i), "ada" + std::to_string(i % 7));
  auto taken = line.take_group(own);
  CHECK(taken.size() == CommitQueue::kMembersMax);
  line.end(taken);
  QueueEntry large("zoe", CommitQueue::kMovementsMax + 1);
  REQUIRE(line.await(large, kNever) == WaitOutcome::leads);
  taken = line.take_group(large);
  CHECK(taken.size() == 1);
  left.add("large", "bob", CommitQueue::kMovementsMax + 1);
  line.end(taken);
  QueueEntry after("zoe", 1);
  REQUIRE(line.await(after, kNever) == WaitOutcome::leads);
  taken = line.take_group(after);
  CHECK(taken.size() == 1 + 300 - 255);
  line.end(taken);
  // It is led with when it is the oldest that is left.
  for (;;) {
    const CommitQueue::Work work = line.next();
    if (work.served != nullptr) continue;
    REQUIRE(work.leads != nullptr);
    CHECK(left.name(work.leads) == "large");
    break;
  }
}

TEST_CASE("line: who is not taken in time leaves, who was taken waits for what becomes of it",
          "[engine][groups]") {
  CommitQueue line;
  QueueEntry own("ada", 1);
  REQUIRE(line.await(own, kNever) == WaitOutcome::leads);
  QueueEntry late("bob", 1);
  CHECK(line.await(late, in(std::chrono::milliseconds(1))) == WaitOutcome::late);
  CHECK(line.take_group(own).size() == 1);
  std::atomic<bool> served = false;
  std::thread waits([&] {
    QueueEntry place("cy", 1);
    served = line.await(place, in(std::chrono::milliseconds(200))) == WaitOutcome::served;
  });
  std::vector<QueueEntry*> taken;
  do taken = line.take_group(own);
  while (taken.size() == 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // beyond its deadline
  line.end(taken);
  waits.join();
  CHECK(served);
}

TEST_CASE("line: a place that is held is neither taken nor leads before it is due", "[engine][groups]") {
  CommitQueue line;
  Left left(line);
  const auto due = in(std::chrono::milliseconds(60));
  QueueEntry held("ada", 1);
  held.set_due(due, CommitQueue::Clock::now());
  std::atomic<bool> early = false;
  std::thread waits([&] {
    const WaitOutcome turn = line.await(held, kNever);
    early = turn != WaitOutcome::leads || CommitQueue::Clock::now() < due;
    line.end({&held});
  });
  do {
    QueueEntry own("zoe", 1);
    if (line.await(own, kNever) != WaitOutcome::leads) break;
    const auto taken = line.take_group(own);
    if (taken.size() != 1 && CommitQueue::Clock::now() < due) early = true;
    line.end({&own});
  } while (CommitQueue::Clock::now() < due - std::chrono::milliseconds(20));
  waits.join();
  CHECK_FALSE(early);
}

TEST_CASE("line: places that are due at one time are taken as they arrived", "[engine][groups]") {
  // However they came into the line.
  std::vector<int> order{0, 1, 2, 3};
  do {
    CommitQueue line;
    Left left(line);
    QueueEntry own("zoe", 1);
    REQUIRE(line.await(own, kNever) == WaitOutcome::leads);
    const auto arrived = CommitQueue::Clock::now();
    const auto due = arrived + std::chrono::milliseconds(1);
    for (const int number : order) {
      left.add(std::to_string(number), number % 2 == 0 ? "ada" : "bob",
               number == 3 ? CommitQueue::kMovementsMax + 1 : 1, Left::Held{due, arrived, number});
    }
    std::this_thread::sleep_until(due);
    // By turns, but for the last, which is too large for a group.
    CHECK(left.names(line.take_group(own)) == "0 1 2 ");
    line.end({&own});
    const CommitQueue::Work work = line.next();
    REQUIRE(work.leads != nullptr);
    CHECK(left.name(work.leads) == "3");
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("line: of places that are due at one time the first that arrived leads, whoever wakes",
          "[engine][groups][threads]") {
  // Where the machine stalls one may come into the line after it is due: not in most rounds.
  constexpr int kRounds = 10;
  int otherwise = 0;
  for (int round = 0; round < kRounds; ++round) {
    CommitQueue line;
    const auto arrived = CommitQueue::Clock::now();
    const auto due = arrived + std::chrono::milliseconds(40);
    QueueEntry first("ada", CommitQueue::kMovementsMax + 1), second("bob", CommitQueue::kMovementsMax + 1);
    first.set_due(due, arrived);
    second.set_due(due, arrived + std::chrono::nanoseconds(1));
    std::atomic<int> next = 0;
    int of_first = 0;
    const auto lead = [&](QueueEntry& place) {
      static_cast<void>(line.await(place, kNever));
      const int turn = ++next;
      line.end({&place});
      return turn;
    };
    // The second is in the line, and waits for its time, long before the first.
    std::thread later([&] { static_cast<void>(lead(second)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    of_first = lead(first);
    later.join();
    otherwise += of_first == 1 ? 0 : 1;
  }
  CHECK(otherwise <= kRounds / 3);
}

TEST_CASE("line: of those that are submitted too, who is due later is led with then", "[engine][groups]") {
  CommitQueue line;
  QueueEntry later("ada", 1);
  const auto due = in(std::chrono::milliseconds(30));
  later.set_due(due, CommitQueue::Clock::now());
  line.submit(later);
  QueueEntry now("bob", 1);
  line.submit(now);
  CommitQueue::Work work = line.next();
  REQUIRE(work.leads == &now);
  CHECK(line.take_group(now).size() == 1);
  line.end({&now});
  work = line.next();
  CHECK(work.leads == &later);
  CHECK(CommitQueue::Clock::now() >= due);
  line.end({&later});
}

TEST_CASE("line: of many threads one leads at a time, and each place is taken once or late",
          "[engine][groups][threads]") {
  CommitQueue line;
  std::atomic<int> leaders = 0;
  std::atomic<int> beside_each_other = 0;
  std::atomic<int> recorded = 0;
  std::atomic<int> late = 0;
  const auto lead = [&](QueueEntry& own) {
    if (leaders.fetch_add(1) != 0) ++beside_each_other;
    auto taken = line.take_group(own);
    recorded += static_cast<int>(taken.size());
    --leaders;
    line.end(std::move(taken));
  };
  constexpr int kThreads = 12;
  constexpr int kRounds = 300;
  std::list<QueueEntry> submitted;
  for (int i = 0; i < kRounds; ++i) submitted.emplace_back("left", 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      for (int n = 0; n < kRounds; ++n) {
        QueueEntry own("p" + std::to_string(i % 5), 1 + random() % 100);
        const auto deadline = random() % 4 == 0 ? in(std::chrono::milliseconds(0)) : kNever;
        switch (line.await(own, deadline)) {
          case WaitOutcome::leads:
            lead(own);
            break;
          case WaitOutcome::late:
            ++late;
            break;
          case WaitOutcome::served:
            break;
        }
      }
    });
  }
  int told = 0;
  std::thread worker([&] {
    while (told < kRounds) {
      const CommitQueue::Work work = line.next();
      if (work.leads != nullptr) lead(*work.leads);
      ++told;
    }
  });
  for (QueueEntry& place : submitted) line.submit(place);
  for (std::thread& thread : threads) thread.join();
  worker.join();
  CHECK(beside_each_other == 0);
  CHECK(told == kRounds);
  CHECK(recorded + late == (kThreads + 1) * kRounds);
  line.close();
  const CommitQueue::Work none = line.next();
  CHECK(none.leads == nullptr);
  CHECK(none.served == nullptr);
}
