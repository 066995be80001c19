#include "answer_output.hpp"

#include "answer_json.hpp"
#include "answer_text.hpp"

namespace epsilog::command {

void print_answer(const engine::Answer& answer, Console& console) {
  const bool waits = answer.recorded.state == engine::RequestState::pending ||
                     answer.recorded.state == engine::RequestState::reserved;
  console.set_recorded_note(
      "decision " + answer.recorded.decision_id +
      (answer.recorded.granted ? " is charged and its value stored: " : " is recorded: ") + "epsilog show " +
      answer.recorded.decision_id + " prints it again");
  warn_if_withheld(answer, console);
  if (console.prints_rows() && !answer.recorded.granted) {
    console.message_line("epsilog: " + decision_text(answer, console.message_style()));
  } else if (console.json()) {
    console.write(wire::answer_json(answer, wire::AnswerKind::release));
  } else if (answer.recorded.granted) {
    console.write(console.quiet() ? bare_values(answer) : release_text(answer, console.style()));
  } else if (waits) {
    console.write(console.quiet() ? answer.recorded.decision_id + "\n"
                                  : waiting_text(answer, console.style()));
  } else {
    console.message_line("epsilog: " + decision_text(answer, console.message_style()));
  }
  console.flush();
}

bool is_withheld(const engine::Answer& answer) {
  return answer.recorded.durable.has_value() && !*answer.recorded.durable;
}

void warn_if_withheld(const engine::Answer& answer, Console& console) {
  if (!is_withheld(answer)) return;
  if (answer.recorded.replica_behind) {
    console.message("replica_behind: decision " + answer.recorded.decision_id +
                    " is on record and charged, but the replica does not hold it: what was released is told "
                    "once it does. Ask again, or `epsilog show`, when the replica can be written to");
    return;
  }
  console.message(
      "decision " + answer.recorded.decision_id +
      " is on record, but not known to be on the disk, and a power failure may take it back: what "
      "was released is withheld until it is; retry, or see `epsilog recover`");
}

}  // namespace epsilog::command
