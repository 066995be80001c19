// Who waits to be recorded, and who records what waits.
#include "group_line.hpp"

#include <list>

#include "support/catch.hpp"

using namespace epsilog;
using engine::GroupLine;
using Place = GroupLine::Place;
using Turn = GroupLine::Turn;

namespace {

constexpr auto kNever = GroupLine::Deadline::max();

GroupLine::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

/// Places that are left in the line, by name.
class Left {
 public:
  explicit Left(GroupLine& line) : line_(line) {}
  struct Held {
    GroupLine::Deadline due, arrived;
    int later = 0;  ///< by so many nanoseconds
  };
  void add(const std::string& name, const std::string& principal, std::size_t movements = 1,
           const std::optional<Held>& held = {}) {
    Place& place = places_.emplace_back(principal, movements);
    if (held) place.hold(held->due, held->arrived + std::chrono::nanoseconds(held->later));
    names_.emplace(&place, name);
    line_.submit(place);
  }
  [[nodiscard]] std::string names(const std::vector<Place*>& taken) const {
    std::string text;
    for (std::size_t i = 1; i < taken.size(); ++i) text += names_.at(taken[i]) + " ";
    return text;
  }
  [[nodiscard]] const std::string& name(const Place* place) const { return names_.at(place); }

 private:
  GroupLine& line_;
  std::list<Place> places_;
  std::map<const Place*, std::string> names_;
};

}  // namespace

TEST_CASE("line: who comes alone leads at once, and again", "[engine][groups]") {
  GroupLine line;
  for (int i = 0; i < 3; ++i) {
    Place own("ada", 1);
    CHECK(line.await(own, in(std::chrono::milliseconds(0))) == Turn::leads);
    auto taken = line.take(own);
    CHECK(taken == std::vector<Place*>{&own});
    line.end(taken);
  }
}

TEST_CASE("line: a group has one of each principal by turns, from where the one before ended",
          "[engine][groups]") {
  GroupLine line;
  Left left(line);
  Place own("zoe", 1);
  REQUIRE(line.await(own, kNever) == Turn::leads);
  for (const char* name : {"a1", "a2", "a3", "a4"}) left.add(name, "ada");
  for (const char* name : {"b1", "b2"}) left.add(name, "bob");
  left.add("c1", "cy");
  auto taken = line.take(own);
  CHECK(left.names(taken) == "a1 b1 c1 a2 b2 a3 a4 ");
  line.end(taken);
  // Three of a thousand movements fit beside one: bob's and cy's before ada's second.
  Place next("zoe", 1'000);
  REQUIRE(line.await(next, kNever) == Turn::leads);
  for (const char* name : {"A1", "A2"}) left.add(name, "ada", 1'000);
  left.add("B1", "bob", 1'000);
  left.add("C1", "cy", 1'000);
  taken = line.take(next);
  CHECK(left.names(taken) == "B1 C1 A1 ");
  line.end(taken);
  Place last("zoe", 1);
  REQUIRE(line.await(last, kNever) == Turn::leads);
  CHECK(left.names(line.take(last)) == "A2 ");
}

TEST_CASE("line: a group has no more members than its limit, and a member beyond that of movements is alone",
          "[engine][groups]") {
  GroupLine line;
  Left left(line);
  Place own("zoe", 1);
  REQUIRE(line.await(own, kNever) == Turn::leads);
  for (int i = 0; i < 300; ++i) left.add(std::to_string(i), "ada" + std::to_string(i % 7));
  auto taken = line.take(own);
  CHECK(taken.size() == GroupLine::kMembersMax);
  line.end(taken);
  Place large("zoe", GroupLine::kMovementsMax + 1);
  REQUIRE(line.await(large, kNever) == Turn::leads);
  taken = line.take(large);
  CHECK(taken.size() == 1);
  left.add("large", "bob", GroupLine::kMovementsMax + 1);
  line.end(taken);
  Place after("zoe", 1);
  REQUIRE(line.await(after, kNever) == Turn::leads);
  taken = line.take(after);
  CHECK(taken.size() == 1 + 300 - 255);
  line.end(taken);
  // It is led with when it is the oldest that is left.
  for (;;) {
    const GroupLine::Work work = line.next();
    if (work.served != nullptr) continue;
    REQUIRE(work.leads != nullptr);
    CHECK(left.name(work.leads) == "large");
    break;
  }
}

TEST_CASE("line: who is not taken in time leaves, who was taken waits for what becomes of it",
          "[engine][groups]") {
  GroupLine line;
  Place own("ada", 1);
  REQUIRE(line.await(own, kNever) == Turn::leads);
  Place late("bob", 1);
  CHECK(line.await(late, in(std::chrono::milliseconds(1))) == Turn::late);
  CHECK(line.take(own).size() == 1);
  std::atomic<bool> served = false;
  std::thread waits([&] {
    Place place("cy", 1);
    served = line.await(place, in(std::chrono::milliseconds(200))) == Turn::served;
  });
  std::vector<Place*> taken;
  do taken = line.take(own);
  while (taken.size() == 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // beyond its deadline
  line.end(taken);
  waits.join();
  CHECK(served);
}

TEST_CASE("line: a place that is held is neither taken nor leads before it is due", "[engine][groups]") {
  GroupLine line;
  Left left(line);
  const auto due = in(std::chrono::milliseconds(60));
  Place held("ada", 1);
  held.hold(due, GroupLine::Clock::now());
  std::atomic<bool> early = false;
  std::thread waits([&] {
    const Turn turn = line.await(held, kNever);
    early = turn != Turn::leads || GroupLine::Clock::now() < due;
    line.end({&held});
  });
  do {
    Place own("zoe", 1);
    if (line.await(own, kNever) != Turn::leads) break;
    const auto taken = line.take(own);
    if (taken.size() != 1 && GroupLine::Clock::now() < due) early = true;
    line.end({&own});
  } while (GroupLine::Clock::now() < due - std::chrono::milliseconds(20));
  waits.join();
  CHECK_FALSE(early);
}

TEST_CASE("line: places that are due at one time are taken as they arrived", "[engine][groups]") {
  // However they came into the line.
  std::vector<int> order{0, 1, 2, 3};
  do {
    GroupLine line;
    Left left(line);
    Place own("zoe", 1);
    REQUIRE(line.await(own, kNever) == Turn::leads);
    const auto arrived = GroupLine::Clock::now();
    const auto due = arrived + std::chrono::milliseconds(1);
    for (const int number : order) {
      left.add(std::to_string(number), number % 2 == 0 ? "ada" : "bob",
               number == 3 ? GroupLine::kMovementsMax + 1 : 1, Left::Held{due, arrived, number});
    }
    std::this_thread::sleep_until(due);
    // By turns, but for the last, which is too large for a group.
    CHECK(left.names(line.take(own)) == "0 1 2 ");
    line.end({&own});
    const GroupLine::Work work = line.next();
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
    GroupLine line;
    const auto arrived = GroupLine::Clock::now();
    const auto due = arrived + std::chrono::milliseconds(40);
    Place first("ada", GroupLine::kMovementsMax + 1), second("bob", GroupLine::kMovementsMax + 1);
    first.hold(due, arrived);
    second.hold(due, arrived + std::chrono::nanoseconds(1));
    std::atomic<int> next = 0;
    int of_first = 0;
    const auto lead = [&](Place& place) {
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
  GroupLine line;
  Place later("ada", 1);
  const auto due = in(std::chrono::milliseconds(30));
  later.hold(due, GroupLine::Clock::now());
  line.submit(later);
  Place now("bob", 1);
  line.submit(now);
  GroupLine::Work work = line.next();
  REQUIRE(work.leads == &now);
  CHECK(line.take(now).size() == 1);
  line.end({&now});
  work = line.next();
  CHECK(work.leads == &later);
  CHECK(GroupLine::Clock::now() >= due);
  line.end({&later});
}

TEST_CASE("line: of many threads one leads at a time, and each place is taken once or late",
          "[engine][groups][threads]") {
  GroupLine line;
  std::atomic<int> leaders = 0;
  std::atomic<int> beside_each_other = 0;
  std::atomic<int> recorded = 0;
  std::atomic<int> late = 0;
  const auto lead = [&](Place& own) {
    if (leaders.fetch_add(1) != 0) ++beside_each_other;
    auto taken = line.take(own);
    recorded += static_cast<int>(taken.size());
    --leaders;
    line.end(std::move(taken));
  };
  constexpr int kThreads = 12;
  constexpr int kRounds = 300;
  std::list<Place> submitted;
  for (int i = 0; i < kRounds; ++i) submitted.emplace_back("left", 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      for (int n = 0; n < kRounds; ++n) {
        Place own("p" + std::to_string(i % 5), 1 + random() % 100);
        const auto deadline = random() % 4 == 0 ? in(std::chrono::milliseconds(0)) : kNever;
        switch (line.await(own, deadline)) {
          case Turn::leads:
            lead(own);
            break;
          case Turn::late:
            ++late;
            break;
          case Turn::served:
            break;
        }
      }
    });
  }
  int told = 0;
  std::thread worker([&] {
    while (told < kRounds) {
      const GroupLine::Work work = line.next();
      if (work.leads != nullptr) lead(*work.leads);
      ++told;
    }
  });
  for (Place& place : submitted) line.submit(place);
  for (std::thread& thread : threads) thread.join();
  worker.join();
  CHECK(beside_each_other == 0);
  CHECK(told == kRounds);
  CHECK(recorded + late == (kThreads + 1) * kRounds);
  line.close();
  const GroupLine::Work none = line.next();
  CHECK(none.leads == nullptr);
  CHECK(none.served == nullptr);
}
