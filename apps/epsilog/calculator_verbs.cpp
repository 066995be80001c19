#include "calculator_verbs.hpp"

#include <algorithm>

namespace epsilog::command {
namespace {

/// The options of all forms, each once, and --batch.
std::vector<OptionUse> all_uses(const std::vector<Form>& forms) {
  std::vector<OptionUse> uses;
  for (const Form& form : forms) {
    for (const OptionUse& use : form.options) {
      const bool known = std::any_of(uses.begin(), uses.end(),
                                     [&](const OptionUse& earlier) { return earlier.name == use.name; });
      if (!known) uses.push_back({use.name, false, use.help});
    }
  }
  uses.push_back({"--batch"});
  return uses;
}

VerbSpec calculator(Verb verb, std::string_view words, std::string_view summary, std::string_view examples,
                    std::string_view details, std::vector<Form> forms) {
  VerbSpec spec{verb, words, summary, examples, details, {}, all_uses(forms)};
  spec.forms = std::move(forms);
  return spec;
}

VerbSpec accuracy_snapping() {
  return calculator(
      Verb::accuracy_snapping, "accuracy snapping",
      "noise scale, grid and accuracy of the snapping mechanism; needs no ledger",
      "epsilog accuracy snapping --epsilon 0.1 --sensitivity 1 --bound 20 --alpha 0.05\n"
      "epsilog accuracy snapping --epsilon 1 --sensitivity 1 --bound 1000 --alpha 0.01 --arithmetic exact",
      "a is the smallest number such that the release is farther than a from the clamped answer with\n"
      "probability at most alpha, whatever the answer is; rounded up.",
      {{{{"--epsilon", true},
         {"--sensitivity", true},
         {"--bound", true},
         {"--alpha"},
         {"--arithmetic"},
         {"--precision"},
         {"--coordinates"}},
        {"lambda", "grid", "a"},
        &snapping_accuracy}});
}

}  // namespace

std::vector<VerbSpec> calculator_verbs() {
  return {accuracy_snapping()};
}

}  // namespace epsilog::command
