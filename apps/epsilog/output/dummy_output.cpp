#include "dummy_output.hpp"

#include "answer_json.hpp"
#include "answer_text.hpp"
#include "json_parts.hpp"

namespace epsilog::command {

using wire::Json;

namespace {

std::string bare_dummies(const engine::Answer& would_be) {
  std::string text;
  const std::string values = bare_values(would_be);
  for (std::size_t begin = 0; begin < values.size();) {
    const std::size_t end = values.find('\n', begin) + 1;
    text += "dummy\t" + values.substr(begin, end - begin);
    begin = end;
  }
  return text;
}

}  // namespace

std::string dummy_json(const engine::DummyAnswer& dummy) {
  Json object{{"dummy", true}, {"invented_rows", dummy.rows}};
  object.update(wire::answer_object(dummy.would_be, wire::AnswerKind::dummy));
  return wire::pretty(object);
}

void print_dummy(const engine::DummyAnswer& dummy, Console& console) {
  const engine::Answer& would_be = dummy.would_be;
  const bool refused = !engine::has_values(would_be);
  if (console.json() && !(refused && console.prints_rows())) {
    console.write(dummy_json(dummy));
  } else if (refused) {
    console.message_line("epsilog: dummy run: would be refused: " + question_text(would_be) + "\n\n" +
                         refusal_text(would_be, console.message_style()));
  } else {
    console.write(console.quiet()
                      ? bare_dummies(would_be)
                      : dummy_text(would_be, static_cast<std::int64_t>(dummy.rows), console.style()));
  }
  console.flush();
}

}  // namespace epsilog::command
