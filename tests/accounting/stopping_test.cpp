// Computations that are stopped from outside: at each step, under every accountant, and never without a
// scope.
#include "epsilog/accounting/stopping.hpp"

#include <thread>

#include "epsilog/accounting/accountant.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;

TEST_CASE("stopping: every accountant ends at the step at which it is asked to, and else says what it said",
          "[accounting][stopping]") {
  std::vector<KnownLoss> losses;
  for (unsigned long i = 1; i <= 10; ++i) {
    losses.push_back(known_loss({ComposedLaw::Kind::laplace, Rational(100 * i), 1, 0, 0, 30}));
    losses.push_back(known_loss({ComposedLaw::Kind::discrete_laplace, Rational(50 * i), 1, 0, 0, 7}));
  }
  const auto bound = [&](Accountant by) { return composed_epsilon_up(by, losses, Rational(1, 1'000'000)); };
  for (const Accountant by : kAccountants) {
    CAPTURE(name(by));
    const auto unwatched = bound(by);
    std::size_t asked = 0, last = 0;
    const auto stops = [&] { return ++asked == last; };
    const StopScope scope(stops);
    CHECK(bound(by) == unwatched);
    const std::size_t steps = asked;
    if (by == Accountant::pld || by == Accountant::rdp) CHECK(steps > 100);
    for (const std::size_t at : {std::size_t{1}, steps / 3, steps}) {
      if (at == 0 || at > steps) continue;
      asked = 0;
      last = at;
      CHECK_THROWS_AS(bound(by), Stopped);
      CHECK(asked == at);
    }
  }
}

TEST_CASE("stopping: the innermost scope of a thread is asked, and no other thread",
          "[accounting][stopping]") {
  const auto yes = [] { return true; };
  const auto no = [] { return false; };
  CHECK_NOTHROW(stop_if_requested());
  const StopScope outer(yes);
  CHECK_THROWS_AS(stop_if_requested(), Stopped);
  {
    const StopScope inner(no);
    CHECK_NOTHROW(stop_if_requested());
  }
  CHECK_THROWS_AS(stop_if_requested(), Stopped);
  std::thread(stop_if_requested).join();
}
