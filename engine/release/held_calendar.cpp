#include "epsilog/engine/held_calendar.hpp"

#include <algorithm>

namespace epsilog::engine {

void note_held_calendar(Answer& answer, bool held) {
  const bool ends = std::any_of(answer.recorded.reasons.begin(), answer.recorded.reasons.end(),
                                [](const Reason& reason) { return !changes_at(reason).empty(); });
  if (held && ends) answer.planned.notes.emplace_back(kCalendarHeld);
}

std::string changes_at(const Answer& answer, const Reason& reason) {
  const bool held = std::find(answer.planned.notes.begin(), answer.planned.notes.end(), kCalendarHeld) !=
                    answer.planned.notes.end();
  return held ? "" : changes_at(reason);
}

}  // namespace epsilog::engine
