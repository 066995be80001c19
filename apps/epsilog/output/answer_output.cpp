#include "answer_output.hpp"

#include "answer_json.hpp"
#include "answer_text.hpp"

namespace epsilog::command {

void print_answer(const engine::Answer& answer, Console& console) {
  const bool waits =
      answer.state == engine::RequestState::pending || answer.state == engine::RequestState::reserved;
  console.made("decision " + answer.decision_id +
               (answer.granted ? " is charged and its value stored: " : " is recorded: ") + "epsilog show " +
               answer.decision_id + " prints it again");
  warn_if_withheld(answer, console);
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

bool withheld(const engine::Answer& answer) {
  return answer.durable.has_value() && !*answer.durable;
}

void warn_if_withheld(const engine::Answer& answer, Console& console) {
  if (!withheld(answer)) return;
  console.message(
      "decision " + answer.decision_id +
      " is on record, but not known to be on the disk, and a power failure may take it back: what "
      "was released is withheld until it is; retry, or see `epsilog recover`");
}

}  // namespace epsilog::command
