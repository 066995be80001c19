#include "epsilog/engine/held_calendar.hpp"

#include <algorithm>

namespace epsilog::engine {

void note_held_calendar(Answer& answer, bool held) {
  const bool ends = std::any_of(answer.reasons.begin(), answer.reasons.end(),
                                [](const Reason& reason) { return !changes_at(reason).empty(); });
  if (held && ends) answer.notes.emplace_back(kCalendarHeld);
}

std::string changes_at(const Answer& answer, const Reason& reason) {
  const bool held = std::find(answer.notes.begin(), answer.notes.end(), kCalendarHeld) != answer.notes.end();
  return held ? "" : changes_at(reason);
}

}  // namespace epsilog::engine
