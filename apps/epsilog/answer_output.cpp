#include "answer_output.hpp"

#include "answer_text.hpp"
#include "json_output.hpp"

namespace epsilog::command {

void print_answer(const engine::Answer& answer, Console& console) {
  const bool waits =
      answer.state == engine::RequestState::pending || answer.state == engine::RequestState::reserved;
  if (console.json()) {
    console.write(answer_json(answer, AnswerKind::release));
  } else if (answer.granted) {
    console.write(console.quiet() ? bare_values(answer) : release_text(answer, console.style()));
  } else if (waits) {
    console.write(console.quiet() ? answer.decision_id + "\n" : waiting_text(answer, console.style()));
  } else {
    console.message_line("epsilog: " + decision_text(answer, console.message_style()));
  }
  console.flush();
}

}  // namespace epsilog::command
