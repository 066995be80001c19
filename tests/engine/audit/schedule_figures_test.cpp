// Equal schedules are composed once, and only equal ones.
#include "schedule_figures.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace accounting;

namespace {

KnownLoss pure(const char* epsilon) {
  ComposedLaw law;
  law.kind = ComposedLaw::Kind::pure;
  law.epsilon = parse_rational(epsilon, "epsilon");
  return accounting::known_loss(law);
}

}  // namespace

TEST_CASE("schedule figures: equal schedules are composed once, under each accountant and at each delta",
          "[engine][reaccount]") {
  Laws laws;
  int made = 0;
  const auto numbered = [&](const char* epsilon) {
    return laws.law_index(epsilon, [&] { return ++made, pure(epsilon); });
  };
  const std::size_t tenth = numbered("0.1");
  const std::size_t fifth = numbered("0.2");
  CHECK(numbered("0.1") == tenth);
  CHECK(made == 2);

  int composed = 0;
  ScheduleFigures figures(
      laws, [&](Accountant, std::span<const KnownLoss> losses, const ScheduleQuestion& asked) {
        ++composed;
        Rational sum = asked.at + (asked.at_delta ? 0 : 1000);
        for (const KnownLoss& loss : losses) {
          sum += loss.guarantee->epsilon * Rational(static_cast<unsigned long>(loss.count));
        }
        return std::optional<Rational>(sum);
      });
  const ScheduleQuestion at_half{true, Rational(1, 2)};
  for (int scope = 0; scope < 4096; ++scope) {
    CHECK(figures.bound(Accountant::pure, {{tenth, 3}, {fifth, 1}}, at_half) == Rational(1));
  }
  CHECK(composed == 1);

  // One thing differs at a time.
  CHECK(figures.bound(Accountant::pld, {{tenth, 3}, {fifth, 1}}, at_half) == Rational(1));
  CHECK(figures.bound(Accountant::pure, {{tenth, 1}, {fifth, 3}}, at_half) == Rational(6, 5));
  CHECK(figures.bound(Accountant::pure, {{tenth, 3}}, at_half) == Rational(4, 5));
  CHECK(figures.bound(Accountant::pure, {}, at_half) == Rational(1, 2));
  CHECK(figures.bound(Accountant::pure, {{tenth, 3}, {fifth, 1}}, {true, Rational(1, 4)}) == Rational(3, 4));
  CHECK(figures.bound(Accountant::pure, {{tenth, 3}, {fifth, 1}}, {false, Rational(1, 2)}) == Rational(1001));
  CHECK(composed == 7);
}

TEST_CASE("schedule figures: a composition that failed is tried again", "[engine][reaccount][negative]") {
  const Laws laws;
  int composed = 0;
  ScheduleFigures figures(laws, [&](Accountant, std::span<const KnownLoss>, const ScheduleQuestion&) {
    if (++composed == 1) throw InvalidParameter("once");
    return std::optional<Rational>(7);
  });
  const ScheduleQuestion at_zero{true, 0};
  CHECK_THROWS_AS(figures.bound(Accountant::pld, {}, at_zero), InvalidParameter);
  CHECK(figures.bound(Accountant::pld, {}, at_zero) == Rational(7));
  CHECK(composed == 2);
}

TEST_CASE("schedule figures: the figures are those of the accountants", "[engine][reaccount]") {
  Laws laws;
  const LawCounts schedule{{laws.law_index("0.1", [] { return pure("0.1"); }), 30}};
  const std::vector<KnownLoss> losses = laws.losses(schedule);
  REQUIRE(losses.size() == 1);
  CHECK(losses[0].count == 30);
  ScheduleFigures figures(laws);
  const Rational delta(1, 1'000'000);
  CHECK(figures.bound(Accountant::optimal, schedule, {true, delta}) ==
        accounting::composed_epsilon_up(Accountant::optimal, losses, delta));
  CHECK(figures.bound(Accountant::optimal, schedule, {false, 2}) ==
        accounting::composed_delta_up(Accountant::optimal, losses, 2));
}
