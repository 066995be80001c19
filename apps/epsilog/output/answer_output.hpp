// Answers of the verbs that ask, on the stream where they belong.
#pragma once

#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

/// An answer, or what waits, is data; a refusal and what ended without an answer are messages. With --quiet
/// nothing but the value is printed, or the id of what waits. Where rows are printed, what waits is a
/// message. Says on standard error what is on record when standard output fails, and that an answer is
/// withheld.
/// Throws  OutputError.
void print_answer(const engine::Answer& answer, Console& console);

/// Whether it is recorded, but not known to be durable: then no value of it is told, and the verb that was
/// asked for it ends with ExitCode::try_again.
[[nodiscard]] bool is_withheld(const engine::Answer& answer);
/// Says so on standard error.
void warn_if_withheld(const engine::Answer& answer, Console& console);

}  // namespace epsilog::command
