// init, policy check, policy implies, policy show, policy apply.
#include <fmt/format.h>

#include "accounts_text.hpp"
#include "csv_option.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/implied_policy.hpp"
#include "epsilog/engine/policy_warnings.hpp"
#include "evidence_arguments.hpp"
#include "ledger_arguments.hpp"
#include "ledger_opening.hpp"
#include "printable.hpp"
#include "report_json.hpp"
#include "report_text.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct PolicyArguments : PolicyFileArguments {
  std::optional<std::string> why;
  std::optional<std::string> forget_ledger;  ///< of init
};

ExitCode init(const PolicyArguments& arguments, Console& console) {
  const std::string ledger = ledger_path(arguments);
  const std::string by = principal_argument(arguments);
  const std::string policy = policy_path(arguments);
  block_signals();  // it waits for nobody
  const engine::InitReport report = engine::Engine::init(
      policy, ledger, by, arguments.forget_ledger.value_or(""), engine_options(arguments, console));
  console.set_recorded_note("the ledger " + report.ledger + " was made, with id " + report.ledger_id);
  if (console.json()) {
    console.write(wire::init_json(report));
  } else if (!console.quiet()) {
    console.write(fmt::format("created {}\n  ledger     {}\n  policy     sha256 {}\n\n",
                              printable(report.ledger), report.ledger_id, report.policy_sha256));
    console.write(budget_text(engine::Engine::open(ledger).budget(""), console.style()));
  }
  return ExitCode::done;
}

/// "FILE:LINE:COLUMN: warning: MESSAGE"
std::string warning_text(PolicyFault warning) {
  warning.message = "warning: " + warning.message;
  return warning.text();
}

ExitCode policy_check(const PolicyArguments& arguments, Console& console) {
  const std::string path = policy_path(arguments);
  try {
    const engine::Policy policy = engine::checked_policy_file(path);
    std::vector<PolicyFault> faults = engine::source_faults(policy, path);
    if (!faults.empty()) throw PolicyError(std::move(faults));
    const std::vector<PolicyFault> warnings = engine::policy_warnings(policy, path);
    if (!console.quiet()) {
      for (const PolicyFault& warning : warnings) console.message_line(printable(warning_text(warning)));
    }
    if (console.json()) {
      console.write(wire::policy_check_json({}, warnings));
    } else if (!console.quiet()) {
      const std::size_t count = policy.datasets().size();
      console.write(fmt::format("{}: valid, {} dataset{}\n", printable(path), count, count == 1 ? "" : "s"));
    }
    return ExitCode::done;
  } catch (const PolicyError& error) {
    for (const PolicyFault& fault : error.faults()) console.message_line(printable(fault.text()));
    if (console.json()) console.write(wire::policy_check_json(error.faults(), {}));
    return ExitCode::invalid;
  }
}

/// One line either way: another program reads it.
ExitCode policy_implies(const PolicyArguments& arguments, Console& console) {
  try {
    const engine::ImpliedPolicy implied = engine::implied_policy_file(policy_path(arguments));
    console.write(wire::policy_implies_json(implied));
    return ExitCode::done;
  } catch (const PolicyError& error) {
    for (const PolicyFault& fault : error.faults()) console.message_line(printable(fault.text()));
    if (console.json()) console.write(wire::policy_check_json(error.faults(), {}));
    return ExitCode::invalid;
  }
}

ExitCode policy_show(const PolicyArguments& arguments, Console& console) {
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);
  const ledger::PolicyVersion version = engine.active_policy_version();
  // Byte for byte for a file; a terminal is shown it and must not obey it.
  console.write(console.json()             ? wire::policy_show_json(version, engine.ledger_id())
                : console.style().terminal ? printable_lines(version.yaml)
                                           : version.yaml);
  return ExitCode::done;
}

ExitCode policy_apply(const PolicyArguments& arguments, Console& console) {
  const std::string path = policy_path(arguments);
  const std::string ledger = ledger_path(arguments);
  const std::string by = principal_argument(arguments);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  const std::string why = arguments.why.value_or("");
  if (!is_printable(why)) throw UsageError("--why: must be UTF-8 without control characters");

  engine::Engine engine = engine::Engine::open(ledger, options);
  const engine::ApplyReport report = engine.apply_policy(path, by, why);
  console.set_recorded_note("version " + std::to_string(report.policy_version) + " of the policy is active");
  const std::vector<engine::BudgetAccount> accounts = engine.budget("");
  if (console.json()) {
    console.write(wire::policy_apply_json(report, engine.ledger_id(), accounts));
  } else if (!console.quiet()) {
    console.write(policy_apply_text(report, accounts, console.style()));
  }
  console.flush();  // what goes on beside the calls ends with the engine
  return ExitCode::done;
}

const Positional<PolicyArguments> kPolicyFile{"POLICY", &PolicyArguments::policy_file, false,
                                              "the policy file (or --policy POLICY)"};

VerbSpec init_verb() {
  return Verb<PolicyArguments>{
      .words = "init",
      .summary = "create a ledger from a policy",
      .examples = "epsilog init --policy clinic.yaml --ledger clinic.epsilog",
      .details =
          "Never overwrites anything. Sources named in the policy are taken relative to the policy file. If\n"
          "the lock file remembers another ledger at that place, exit code 3: a new one would give its budget\n"
          "again. Recover it, or name it with --forget-ledger.",
      .options = {{"--policy", &PolicyArguments::policy, true},
                  {"--ledger", &PolicyArguments::ledger},
                  {"--forget-ledger", &PolicyArguments::forget_ledger},
                  {"--as", &PolicyArguments::principal}},
      .run = &init};
}

VerbSpec policy_check_verb() {
  return Verb<PolicyArguments>{
      .words = "policy check",
      .summary = "find every fault of a policy file",
      .examples = "epsilog policy check clinic.yaml",
      .details = "Each fault is one line FILE:LINE:COLUMN: MESSAGE on standard error; exit code 3.",
      .positionals = {kPolicyFile},
      .options = {{"--policy", &PolicyArguments::policy}},
      .run = &policy_check};
}

VerbSpec policy_implies_verb() {
  return Verb<PolicyArguments>{
      .words = "policy implies",
      .summary = "print what a policy file implies, for the independent verifier",
      .examples =
          "epsilog policy implies clinic.yaml > clinic.implies\n"
          "python3 epsilog_verify.py clinic.lines --implies clinic.implies",
      .details =
          "One line of JSON: the object that decides who may ask what at which cost, and the SHA-256 of the\n"
          "file. An auditor makes it of the policy that was published, not of the ledger, and the verifier\n"
          "compares. Needs no ledger and no data.",
      .positionals = {kPolicyFile},
      .options = {{"--policy", &PolicyArguments::policy}},
      .run = &policy_implies};
}

VerbSpec policy_show_verb() {
  return Verb<PolicyArguments>{.words = "policy show",
                               .summary = "print the ledger's active policy",
                               .examples = "epsilog policy show --ledger clinic.epsilog",
                               .options = {{"--ledger", &PolicyArguments::ledger}},
                               .run = &policy_show};
}

VerbSpec policy_apply_verb() {
  return Verb<PolicyArguments>{
      .words = "policy apply",
      .summary = "make a new version of the policy active",
      .examples = "epsilog policy apply clinic.yaml --why 'ethics board, 12 March'",
      .details =
          "Refuses a change that would rewrite what was promised once a dataset was charged: another\n"
          "unit, neighbours, measure or source, a dataset left out, or a budget below what is spent. A\n"
          "source that is written as before stays where it is found, from whichever folder the policy is\n"
          "applied. Exit code 2: it makes something looser, and no --why says why.",
      .positionals = {kPolicyFile},
      .options = {{"--policy", &PolicyArguments::policy},
                  {"--ledger", &PolicyArguments::ledger},
                  {"--as", &PolicyArguments::principal},
                  {"--why", &PolicyArguments::why},
                  {"--wait", &PolicyArguments::wait}},
      .run = &policy_apply};
}

}  // namespace

std::vector<VerbSpec> policy_verbs() {
  return with_evidence_options({init_verb(), policy_check_verb(), policy_implies_verb(), policy_show_verb(),
                                policy_apply_verb(), with_rows(policy_diff_verb(), &change_rows)});
}

}  // namespace epsilog::command
