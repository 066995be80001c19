#include "epsilon_search.hpp"

#include "epsilog/accounting/quantity.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using accounting::kUnitsMax;

TEST_CASE("epsilon search: the ends of every interval are found from every start",
          "[engine][forecast][exhaustive]") {
  constexpr std::int64_t kMost = 40;
  for (std::int64_t start = 1; start <= kMost; ++start) {
    for (std::int64_t end = 0; end <= kMost; ++end) {
      const auto up_to = largest_passing(start, kMost, [&](std::int64_t units) { return units <= end; });
      CHECK(up_to == (end == 0 ? std::nullopt : std::optional(end)));
      const auto from = least_passing(start, kMost, [&](std::int64_t units) { return units > end; });
      CHECK(from == (end == kMost ? std::nullopt : std::optional(end + 1)));
    }
  }
}

TEST_CASE("epsilon search: what it finds does and its neighbour does not, whatever is asked",
          "[engine][forecast][exact]") {
  // Neither rises nor falls: accuracies of a narrow range do so.
  constexpr std::uint64_t kSeed = 99;
  std::mt19937_64 random(kSeed);
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t pattern = random();
    const auto does = [&](std::int64_t units) { return (pattern >> (units % 64) & 1U) != 0; };
    const std::int64_t most = 1 + static_cast<std::int64_t>(random() % 1000);
    const std::int64_t start = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    if (const auto upper = largest_passing(start, most, does)) {
      ++found;
      REQUIRE((*upper >= 1 && *upper <= most && does(*upper)));
      REQUIRE((*upper == most || !does(*upper + 1)));
    }
    if (const auto lower = least_passing(start, most, does)) {
      ++found;
      REQUIRE((*lower >= 1 && *lower <= most && does(*lower)));
      REQUIRE((*lower == 1 || !does(*lower - 1)));
    }
  }
  CHECK(found > 2000);
}

TEST_CASE("epsilon search: it reaches both ends of the grid in some hundred questions",
          "[engine][forecast][exact]") {
  for (const std::int64_t end :
       {std::int64_t{1}, std::int64_t{1'000'000'000'001}, kUnitsMax - 1, kUnitsMax}) {
    int asked = 0;
    const auto fits = [&](std::int64_t units) {
      ++asked;
      return units <= end;
    };
    CHECK(largest_passing(1'000'000'000'000, kUnitsMax, fits) == end);
    CHECK(asked <= 2 * 62);
    asked = 0;
    const auto meets = [&](std::int64_t units) {
      ++asked;
      return units >= end;
    };
    CHECK(least_passing(1'000'000'000'000, kUnitsMax, meets) == end);
    CHECK(asked <= 2 * 62);
  }
}

TEST_CASE("epsilon search: as many debits fit as pass the filter one after the other",
          "[engine][forecast][exact]") {
  constexpr std::uint64_t kSeed = 12;
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 500; ++i) {
    accounting::Balance balance;
    balance.limit = static_cast<std::int64_t>(random() % 5000);
    balance.spent = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(balance.limit + 1));
    balance.reserved =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(balance.limit - balance.spent + 1));
    const std::int64_t asked = 1 + static_cast<std::int64_t>(random() % 50);
    const std::int64_t forecast = debits_that_fit(balance, asked);
    std::int64_t passed = 0;
    while (accounting::filter(balance, asked).granted) {
      balance.spent += asked;
      ++passed;
    }
    REQUIRE(forecast == passed);
  }
}
