#include "dummy_run.hpp"

#include <array>
#include <utility>

#include "batch_table_rows.hpp"
#include "checked_arguments.hpp"
#include "dummy_output.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

struct ExcludedOption {
  const char* option;
  const char* why;
};

constexpr const char* kNoLedger = "a dummy run meets no ledger";
constexpr std::array kExcludedOptions{
    ExcludedOption{"--key", "a dummy run is recorded nowhere, so that no key can be bound to it"},
    ExcludedOption{"--value", "a dummy run takes none, which could be true and would be released uncharged"},
    ExcludedOption{"--ledger", kNoLedger},
    ExcludedOption{"--wait", kNoLedger},
    ExcludedOption{"--checkpoint", kNoLedger},
    ExcludedOption{"--vkey", kNoLedger},
    ExcludedOption{"--witness", kNoLedger},
    ExcludedOption{"--require", kNoLedger},
};

void check_dummy(const CommandLine& line) {
  if (!line.has("--dummy")) {
    if (!line.has("--policy")) return;
    throw UsageError("--policy: goes with --dummy; a release is under the policy of its ledger");
  }
  for (const ExcludedOption& one : kExcludedOptions) {
    if (line.has(one.option)) throw UsageError(std::string(one.option) + ": " + one.why);
  }
  if (!line.has("--policy") || line.text("--policy").empty()) {
    throw UsageError("--dummy: needs the policy from which rows are invented; name it with --policy");
  }
}

}  // namespace

ExitCode dummy_run(const AskArguments& arguments, Console& console) {
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const BatchRequest asked = batch_or_question_request(arguments, AskKind::dummy, console);
  if (!asked.accuracies.empty()) {
    throw UsageError("--accuracy: is found under the policy of a ledger; a dummy run takes epsilons");
  }
  const engine::Request& request = asked.request;
  const engine::Policy policy = engine::checked_policy_file(*arguments.policy);
  mechanisms::SystemBits bits;
  const engine::DummyAnswer dummy = engine::dummy_release(policy, request, bits, alphas);
  print_dummy(dummy, console);
  return engine::has_values(dummy.would_be) ? ExitCode::done : ExitCode::refused;
}

VerbSpec with_dummy_runs(VerbSpec verb) {
  verb.run = [run = std::move(verb.run)](const CommandLine& line, Console& console) {
    check_dummy(line);
    return run(line, console);
  };
  return verb;
}

}  // namespace epsilog::command
