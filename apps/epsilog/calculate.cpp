// Every calculator: chooses the form that was asked, calculates, prints. Opens no ledger.
#include <fmt/format.h>

#include <algorithm>

#include "batch.hpp"
#include "calculation.hpp"
#include "figures_json.hpp"
#include "form_choice.hpp"
#include "verb_functions.hpp"

namespace epsilog::command {
namespace {

/// The figures that are not made of others.
std::vector<Calculation::Line> plain_lines(const Calculation& calculation) {
  std::vector<Calculation::Line> lines;
  for (const Figure& figure : calculation.figures) {
    if (std::holds_alternative<Figures>(figure.value)) continue;
    if (std::holds_alternative<std::vector<Figures>>(figure.value)) continue;
    const std::string text = text_of(calculation.figures, figure.name);
    if (!text.empty()) lines.push_back({figure.name, text});
  }
  return lines;
}

std::string lines_text(const Calculation& calculation) {
  const auto lines = calculation.lines.empty() ? plain_lines(calculation) : calculation.lines;
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.label.size());
  std::string text;
  for (const auto& line : lines) text += fmt::format("  {:<{}}  {}\n", line.label, width, line.text);
  return text;
}

}  // namespace

ExitCode calculate(const Arguments& arguments, Console& console) {
  const VerbSpec& verb = spec_of(arguments.verb);
  if (arguments.batch) return calculate_batch(verb, arguments, console);
  const auto given = given_options(verb, arguments);
  const Form& form = chosen_form(verb, given);
  const Calculation calculation = form.calculate(arguments);
  if (console.json()) {
    console.write(figures_json(calculation.figures));
  } else if (!console.quiet()) {
    console.write(lines_text(calculation));
  } else if (calculation.answers.empty()) {
    console.write(text_of(calculation.figures, form.results.front()) + "\n");
  } else {
    for (const std::string& answer : calculation.answers) console.write(answer + "\n");
  }
  return ExitCode::done;
}

}  // namespace epsilog::command
