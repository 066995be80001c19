#include "schedule_figures.hpp"

namespace epsilog::engine {

using accounting::Accountant;
using accounting::KnownLoss;

std::vector<KnownLoss> Laws::losses(const LawCounts& counts) const {
  std::vector<KnownLoss> result;
  result.reserve(counts.size());
  for (const auto& [number, count] : counts) {
    result.push_back(losses_[number]);
    result.back().count = count;
  }
  return result;
}

ScheduleFigures::ScheduleFigures(const Laws& laws)
    : ScheduleFigures(laws, [](Accountant accountant, std::span<const KnownLoss> losses,
                               const ScheduleQuestion& asked) {
        return asked.at_delta ? accounting::composed_epsilon_up(accountant, losses, asked.at)
                              : accounting::composed_delta_up(accountant, losses, asked.at);
      }) {}

ScheduleFigures::ScheduleFigures(const Laws& laws, Compose compose)
    : laws_(laws), compose_(std::move(compose)) {}

ScheduleFigures::Bound ScheduleFigures::bound(Accountant accountant, const LawCounts& schedule,
                                              const ScheduleQuestion& asked) {
  return bounds_.of({accountant, asked, schedule},
                    [&] { return compose_(accountant, laws_.losses(schedule), asked); });
}

}  // namespace epsilog::engine
