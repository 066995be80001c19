// Callbacks that are handed in: for one call, and to be kept.
#include "epsilog/accounting/callback.hpp"

#include "support/catch.hpp"

using namespace epsilog::accounting;

namespace {

int doubled(int x) {
  return 2 * x;
}

int told(CallbackRef<int(int)> callback = {}) {
  return callback ? callback(21) : -1;
}

}  // namespace

TEST_CASE("callback: whatever can be called is, and nobody is told nothing", "[accounting][callback]") {
  CHECK(told() == -1);
  CHECK(told(doubled) == 42);
  CHECK(told(&doubled) == 42);
  CHECK(told([](int x) { return x; }) == 21);
  const std::string text = "abc";
  CHECK(told([&text](int x) { return x + static_cast<int>(text.size()); }) == 24);
  int (*null)(int) = nullptr;
  CHECK(told(null) == -1);
  CHECK(told(std::function<int(int)>()) == -1);
  CHECK(told(Callback<int(int)>()) == -1);
  CHECK(told(Callback<int(int)>(std::function<int(int)>())) == -1);
  CHECK(told(Callback<int(int)>(doubled)) == 42);
}

TEST_CASE("callback: an empty one that is called says so", "[accounting][callback][negative]") {
  CHECK_THROWS_AS(CallbackRef<int(int)>()(1), epsilog::InvalidParameter);
  CHECK_THROWS_AS(Callback<int(int)>()(1), epsilog::InvalidParameter);
}

TEST_CASE("callback: a reference calls the callable itself, not a copy", "[accounting][callback]") {
  auto counting = [calls = 0](int) mutable { return ++calls; };
  CHECK(told(counting) == 1);
  CHECK(told(counting) == 2);
  Callback<int(int)> kept = counting;
  CHECK(kept(0) == 3);
  CHECK(told(counting) == 3);
}

TEST_CASE("callback: one that is kept owns what it calls, and copies do not share it",
          "[accounting][callback]") {
  auto alive = std::make_shared<int>(0);
  {
    Callback<int()> kept = [alive] { return ++*alive; };
    CHECK(alive.use_count() == 2);
    Callback<int()> copy = kept;
    CHECK(alive.use_count() == 3);
    CHECK(copy() == 1);
    const Callback<int()> moved = std::move(kept);
    CHECK_FALSE(static_cast<bool>(kept));  // NOLINT(bugprone-use-after-move)
    CHECK(alive.use_count() == 3);
    CHECK(moved() == 2);
    copy = moved;
    CHECK(alive.use_count() == 3);
    copy = {};
    CHECK(alive.use_count() == 2);
  }
  CHECK(alive.use_count() == 1);
  Callback<int()> counting = [calls = 0]() mutable { return ++calls; };
  Callback<int()> copied = counting;
  CHECK(counting() == 1);
  CHECK(counting() == 2);
  CHECK(copied() == 1);
}
