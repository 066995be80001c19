// A calculator beside its code: the forms in which it is asked, and what calculates each.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "calculator_form.hpp"
#include "verb.hpp"

namespace epsilog::command {

/// One way to ask a calculator. Which options are given decides between the forms of a verb.
template <class Arguments>
struct Form {
  std::vector<Option<Arguments>> options;
  std::vector<std::string_view> results;  ///< figures of the calculation that --batch adds as columns
  /// Called with at least the options that the form requires.
  /// Throws  UsageError, InvalidParameter.
  Calculation (*calculate)(const Arguments& arguments) = nullptr;
};

/// The verb that chooses between the forms, calculates and prints. `forms` has the options of each in
/// `spec.forms`.
[[nodiscard]] VerbSpec calculator_verb(VerbSpec spec, std::vector<CalculatorForm> forms);

template <class Arguments>
struct Calculator {
  std::string_view words;  ///< "accuracy snapping"
  std::string_view summary;
  std::string_view examples;  ///< lines
  std::string_view details;   ///< lines
  std::vector<Form<Arguments>> forms;

  operator VerbSpec() const {  // NOLINT(google-explicit-constructor): as Verb
    VerbSpec spec{words, summary, examples, details, {}, {}, {}, {}};
    std::vector<CalculatorForm> calculators;
    for (const Form<Arguments>& form : forms) {
      spec.forms.push_back(option_uses(form.options));
      const auto calculate = [options = form.options, calculate = form.calculate](const CommandLine& line) {
        Arguments arguments;
        read_options(line, options, arguments);
        return calculate(arguments);
      };
      calculators.push_back({form.results, calculate});
    }
    return calculator_verb(std::move(spec), std::move(calculators));
  }
};

}  // namespace epsilog::command
