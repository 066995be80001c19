// policy diff.
#include "epsilog/engine/policy_review.hpp"
#include "ledger_arguments.hpp"
#include "ledger_opening.hpp"
#include "policy_diff_output.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct DiffArguments : LedgerArguments {
  std::optional<std::string> policy_file;
  std::optional<std::string> later_policy_file;
};

PolicyComparison compare(const DiffArguments& arguments, Console& console) {
  PolicyComparison comparison;
  if (arguments.later_policy_file) {
    if (arguments.ledger)
      throw UsageError("policy diff: give two policies, or one and --ledger, not all three");
    comparison.later = *arguments.later_policy_file;
    comparison.changes = engine::diff_of_files(*arguments.policy_file, comparison.later);
    return comparison;
  }
  comparison.later = *arguments.policy_file;
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);
  engine::PolicyReview review = engine.review(comparison.later);
  comparison.changes = std::move(review.changes);
  comparison.refused = std::move(review.refused);
  comparison.removed = std::move(review.removed);
  return comparison;
}

ExitCode policy_diff(const DiffArguments& arguments, Console& console) {
  const PolicyComparison comparison = compare(arguments, console);
  if (console.json()) {
    console.write(policy_diff_json(comparison));
  } else if (!console.quiet()) {
    console.write(policy_diff_text(comparison, console.style()));
  }
  return ExitCode::done;
}

}  // namespace

VerbSpec policy_diff_verb() {
  return Verb<DiffArguments>{
      .words = "policy diff",
      .summary = "what another policy would make looser and what tighter",
      .examples =
          "epsilog policy diff clinic.yaml clinic-2025.yaml\n"
          "epsilog policy diff clinic-2025.yaml --ledger clinic.epsilog",
      .details =
          "One line for each difference: FILE:LINE:COLUMN: DIRECTION: PLACE: BEFORE -> AFTER: WHY. The\n"
          "direction is looser, tighter, neutral or incomparable, everything else being as it is. With\n"
          "one file, the ledger's active policy is compared with it, and what `policy apply` would\n"
          "refuse is said too. Exit code 0 whenever the two could be compared; 3 when one of them is not\n"
          "valid.",
      .positionals = {{"POLICY", &DiffArguments::policy_file, true,
                       "the policy to start from; alone, the one to compare with the ledger's"},
                      {"LATER", &DiffArguments::later_policy_file, false,
                       "the policy that would take its place"}},
      .options = {{"--ledger", &DiffArguments::ledger}},
      .run = &policy_diff};
}

}  // namespace epsilog::command
