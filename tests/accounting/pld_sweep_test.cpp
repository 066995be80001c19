// How far the figure of pld is above what no figure can be below, on random schedules of all mechanisms.
#include "accounting/pld_sweep.hpp"

#include <cstdio>

#include "support/catch.hpp"

namespace {

using namespace epsilog::accounting;
using namespace epsilog::test;

/// Checks every promise of one schedule; the excess over the lower bound.
double examined(std::uint64_t index) {
  const SweptSchedule schedule = swept(index);
  CAPTURE(index, kSweepKinds[schedule.kind], schedule.uses(), text(schedule.delta));
  const Rational slack = promised_excess(schedule);
  const Rational epsilon = swept_epsilon(Accountant::pld, schedule).value();
  const Rational least = swept_epsilon_down(schedule);
  CHECK(least > 0);
  CHECK(least <= epsilon);
  CHECK(epsilon <= least * (1 + slack));

  for (const Accountant other : {Accountant::optimal, Accountant::rdp}) {
    const auto figure = swept_epsilon(other, schedule);
    if (figure) CHECK(epsilon <= *figure);
  }
  // No grid and no search makes a smaller delta or one use more look cheaper.
  SweptSchedule changed = schedule;
  changed.delta *= 2;
  CHECK(swept_epsilon(Accountant::pld, changed).value() <= epsilon * (1 + slack));
  changed = schedule;
  changed.laws.front().count += 1;
  CHECK(swept_epsilon(Accountant::pld, changed).value() >= epsilon * (1 - slack));
  const Rational before = pld_delta_up(schedule.laws, epsilon * Rational(998, 1000));
  CHECK(before > schedule.delta);
  CHECK(pld_delta_up(schedule.laws, epsilon * Rational(1002, 1000)) < before);
  return least > 0 ? Rational(epsilon / least - 1).get_d() : 1;
}

}  // namespace

TEST_CASE("A sample of the sweep: pld is within its promise of the certified lower bound", "[pld][sweep]") {
  // 73 leaves 1 when divided by 12: every kind.
  for (std::uint64_t i = 0; i < 12; ++i) examined(i * 73);
}

TEST_CASE("The sweep: pld is within its promise of the certified lower bound for 1,200 schedules",
          "[.long][pld][sweep]") {
  std::map<std::pair<std::size_t, std::size_t>, double> worst;
  for (std::uint64_t index = 0; index < kSweepSize; ++index) {
    const SweptSchedule schedule = swept(index);
    double& excess = worst[{schedule.kind, schedule.range}];
    excess = std::max(excess, examined(index));
  }
  std::string table;
  for (const auto& [row, excess] : worst) {
    char line[120];
    std::snprintf(line, sizeof line, "%s, up to %lu uses: %.4f %%\n", kSweepKinds[row.first],
                  static_cast<unsigned long>(kSweepCounts[row.second]), 100 * excess);
    table += line;
  }
  WARN("worst excess of epsilon\n" << table);
}
