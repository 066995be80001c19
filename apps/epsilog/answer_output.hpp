// Answers of the verbs that ask, on the stream where they belong.
#pragma once

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// An answer, or what waits, is data; a refusal and what ended without an answer are messages. With --quiet
/// nothing but the value is printed, or the id of what waits.
/// Throws  OutputError.
void print_answer(const engine::Answer& answer, Console& console);

}  // namespace epsilog::command
