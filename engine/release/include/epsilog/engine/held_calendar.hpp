// When what refuses a request changes by itself, and that it does not while the calendar is held.
// Thread-safety: pure functions of values.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/engine/answer.hpp"

namespace epsilog::engine {

/// The note of an answer with a reason that would end with a period, were the calendar not held.
inline constexpr std::string_view kCalendarHeld =
    "the clock jumped forwards: no budget renews until somebody confirmed it";

/// Adds kCalendarHeld if the calendar is held now and a reason of the answer would end with a period.
void note_held_calendar(Answer& answer, bool held);

/// changes_at(reason), one of the answer's; "" where the answer has that note.
[[nodiscard]] std::string changes_at(const Answer& answer, const Reason& reason);

}  // namespace epsilog::engine
