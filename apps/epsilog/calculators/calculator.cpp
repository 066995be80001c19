#include "calculator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "batch.hpp"
#include "figures_json.hpp"
#include "form_choice.hpp"

namespace epsilog::command {
namespace {

/// The figures that are not made of others.
std::vector<Calculation::LabelledLine> plain_lines(const Calculation& calculation) {
  std::vector<Calculation::LabelledLine> lines;
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

/// The options of all forms, each once, and --batch.
OptionUses all_uses(const std::vector<OptionUses>& forms) {
  OptionUses uses;
  for (const OptionUses& form : forms) {
    for (const OptionUse& use : form) {
      const bool known = std::any_of(uses.begin(), uses.end(),
                                     [&](const OptionUse& earlier) { return earlier.option == use.option; });
      if (!known) uses.push_back({use.option, false, use.help});
    }
  }
  const OptionSpec* batch = find_option("--batch");
  uses.push_back({batch, false, batch->help});
  return uses;
}

/// Chooses the form that was asked, calculates, prints. Opens no ledger.
ExitCode calculate(const std::vector<CalculatorForm>& forms, const CommandLine& line, Console& console) {
  if (line.has("--batch")) return calculate_batch(forms, line, console);
  const CalculatorForm& form = forms[chosen_form(*line.verb, given_options(line))];
  const Calculation calculation = form.calculate(line);
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

}  // namespace

VerbSpec calculator_verb(VerbSpec spec, std::vector<CalculatorForm> forms) {
  spec.options = all_uses(spec.forms);
  spec.run = [forms = std::move(forms)](const CommandLine& line, Console& console) {
    return calculate(forms, line, console);
  };
  return spec;
}

}  // namespace epsilog::command
