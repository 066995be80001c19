// plan and release; of them plan --compare, and release --dummy, for which neither data nor ledger is opened.
#include <algorithm>
#include <array>
#include <utility>

#include "answer_json.hpp"
#include "answer_output.hpp"
#include "answer_text.hpp"
#include "ask_arguments.hpp"
#include "batch_table_rows.hpp"
#include "checked_arguments.hpp"
#include "comparison_output.hpp"
#include "console.hpp"
#include "csv_option.hpp"
#include "dummy_output.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "evidence_arguments.hpp"
#include "exit_codes.hpp"
#include "forecast_output.hpp"
#include "ledger_opening.hpp"
#include "plan_batch.hpp"
#include "usage_error.hpp"
#include "verb_spec.hpp"
#include "verbs.hpp"

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

/// Requires  arguments.dummy.
/// Throws    UsageError without --policy, PolicyError, and what dummy_release() does.
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

/// The verb, which with --dummy refuses what only a ledger or true data could be meant by, before it looks at
/// any of it; and --policy without --dummy.
VerbSpec with_dummy_runs(VerbSpec verb) {
  verb.run = [run = std::move(verb.run)](const CommandLine& line, Console& console) {
    check_dummy(line);
    return run(line, console);
  };
  return verb;
}

bool would_be(const engine::MechanismComparison& comparison, engine::RequestState state) {
  return std::any_of(
      comparison.mechanisms.begin(), comparison.mechanisms.end(),
      [state](const engine::ComparedPlan& one) { return one.plan && one.plan->recorded.state == state; });
}

/// Requires  arguments.compare
/// Throws    UsageError for what does not go with it.
ExitCode plan_compare(const AskArguments& arguments, Console& console) {
  if (arguments.count) throw UsageError("--count: not with --compare");
  const engine::Request request = request_of(arguments, AskKind::plan);
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);

  const engine::MechanismComparison comparison = engine.compare(request, alphas);
  if (console.json()) {
    console.write(comparison_json(request, comparison, alphas));
  } else {
    console.write(console.quiet() ? bare_mechanism(comparison)
                                  : comparison_text(request, comparison, alphas, console.style()));
  }
  if (would_be(comparison, engine::RequestState::granted)) return ExitCode::done;
  return would_be(comparison, engine::RequestState::pending) ? ExitCode::pending : ExitCode::refused;
}

/// What is approved still waits, for its commit.
ExitCode exit_of(const engine::Answer& answer) {
  if (is_withheld(answer)) return ExitCode::try_again;
  if (answer.recorded.state == engine::RequestState::granted) return ExitCode::done;
  const bool waits = answer.recorded.state == engine::RequestState::pending ||
                     answer.recorded.state == engine::RequestState::reserved;
  return waits ? ExitCode::pending : ExitCode::refused;
}

/// The id of an earlier answer to just this, "" if there is none or the request has a key, which says what a
/// retry is. Who asks is told, and nothing else follows from it.
std::string same_question(const engine::Engine& engine, const engine::Request& request) {
  return request.key.empty() ? engine.same_question(request) : "";
}

void print_same_question(const std::string& id, Console& console) {
  if (id.empty() || console.quiet() || (console.json() && !console.prints_rows())) return;
  console.message("note: the same question was answered as " + id + "; 'epsilog show " + id + "' is free");
}

ExitCode plan(const AskArguments& arguments, Console& console) {
  if (arguments.assume_count && arguments.compare) throw UsageError("--assume-count: not with --compare");
  if (arguments.assume_count && arguments.batch && !arguments.together)
    throw UsageError("--assume-count: of --batch goes with --together");
  if (arguments.accuracy && !arguments.together)
    throw UsageError("--accuracy: goes with --batch --together; for one question, see forecast --accuracy");
  if (arguments.together && !arguments.batch) throw UsageError("--together: goes with --batch");
  if (arguments.batch && !arguments.together) return plan_batch(arguments, console);
  if (arguments.together && arguments.compare) throw UsageError("--compare: not with --batch");
  if (arguments.together && arguments.count) throw UsageError("--count: not with --batch");
  if (arguments.compare) return plan_compare(arguments, console);
  std::optional<std::int64_t> count;
  if (arguments.count) count = count_argument(*arguments.count);
  BatchRequest asked = arguments.together ? batch_request(arguments, AskKind::plan, console)
                                          : BatchRequest{request_of(arguments, AskKind::plan)};
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const std::optional<std::int64_t> assumed = assumed_count(arguments);
  const std::vector<std::optional<std::int64_t>> assumed_of_rows = asked.assumed;
  const engine::Engine engine = open_for_reading(ledger_path(arguments), console);
  const engine::Request request = with_epsilons(std::move(asked), engine, console);

  engine::Answer answer = arguments.together ? engine.plan_batch(request, alphas, assumed_of_rows)
                                             : engine.plan(request, alphas, assumed);
  answer.asked.same_question = same_question(engine, request);
  print_same_question(answer.asked.same_question, console);
  if (count && (console.json() || !console.quiet())) {
    const ForecastPlan forecast{answer, engine.forecast(request, alphas, assumed), *count,
                                engine.forecast_of_count(request, *count, alphas, assumed)};
    console.write(console.json() ? forecast_plan_json(forecast)
                                 : forecast_plan_text(request, forecast, console.style()));
  } else if (console.json()) {
    console.write(wire::answer_json(answer, wire::AnswerKind::plan));
  } else if (!console.quiet()) {
    console.write(plan_text(answer, console.style()));
  }
  return exit_of(answer);
}

ExitCode release(const AskArguments& arguments, Console& console) {
  if (arguments.dummy) return dummy_run(arguments, console);
  const std::string ledger = ledger_path(arguments);
  const std::vector<Rational> alphas = alpha_arguments(arguments.alphas);
  const engine::EngineOptions options = options_for_writing(arguments, console);
  BatchRequest asked = batch_or_question_request(arguments, AskKind::release, console);
  engine::Engine engine = engine::Engine::open(ledger, options);
  const engine::Request request = with_epsilons(std::move(asked), engine, console);

  mechanisms::SystemBits bits;
  const accounting::Callback<void(double)> progress =
      console.progress("reading the source of " + request.dataset);
  const std::string same = same_question(engine, request);
  engine::Answer answer = engine.release(request, bits, alphas, progress);
  console.end_progress();
  answer.asked.same_question = same;
  print_same_question(same, console);
  print_answer(answer, console);
  return exit_of(answer);
}

/// A table of requests is written as CSV in any case.
CsvRows plan_rows(const CommandLine& line) {
  if (line.has("--compare")) return compared_rows();
  if (line.has("--batch") && !line.has("--together")) return {};
  throw UsageError("--format csv: of plan goes with --compare or --batch, which print rows");
}

VerbSpec plan_verb() {
  return Verb<AskArguments>{
      .words = "plan",
      .summary = "what a release would cost and how accurate it would be; spends nothing",
      .examples =
          "epsilog plan clinic count --epsilon 0.1\n"
          "epsilog plan clinic mean:cost --by ward --epsilon 0.2 --alpha 0.05 --alpha 0.01\n"
          "epsilog plan clinic mean:cost --epsilon 0.2 --assume-count 5000\n"
          "epsilog plan clinic count --by ward,sex --totals 0.2 --epsilon 0.5\n"
          "epsilog plan clinic count --epsilon 0.1 --count 52\n"
          "epsilog plan clinic count --by ward --epsilon 0.3 --compare\n"
          "epsilog plan --batch requests.csv --as alice\n"
          "epsilog plan clinic --batch release.csv --together",
      .details =
          "Reads no data and records nothing. Exit code 0: it would be granted; 4: it would be refused;\n"
          "5: it would wait for approvals.\n"
          "  --assume-count   also how accurate a mean, or a proportion, of so many rows would be, or of\n"
          "             each cell if so many are in it. It is about no row of the data.\n"
          "  --count    also how many more of exactly this fit, and what each of K more could have.\n"
          "  --compare  every mechanism and arithmetic at this epsilon (and delta, of those that lose\n"
          "             one), what each loses and how accurate it is; the most accurate at the first alpha\n"
          "             is marked. Exit code 0: one of them would be granted.\n"
          "  --batch    a table of requests, planned in order, each against the balances as those before\n"
          "             it would leave them. Its columns: dataset, statistic, epsilon, delta, rho, by,\n"
          "             where, totals, consistent, suppress_below, as, purpose, key; what it lacks is taken\n"
          "             from the command line. Exit code 0: all would be granted.\n"
          "  --together as what `release --batch` would decide: all rows as one. --delta is then that of\n"
          "             all rows, charged as one where epsilon and delta are counted.",
      .positionals = question_positionals(),
      .options = question_options(
          {{"--alpha", &AskArguments::alphas},
           {"--as", &AskArguments::principal},
           {"--purpose", &AskArguments::purpose},
           {"--assume-count", &AskArguments::assume_count},
           {"--count", &AskArguments::count, false, "also what each of K more releases could have"},
           {"--compare", &AskArguments::compare},
           {"--batch", &AskArguments::batch, false,
            "plan a CSV table of requests in order; - reads standard input"},
           {"--together", &AskArguments::together},
           {"--accuracy", &AskArguments::accuracy, false, "of --together: wanted of each row"},
           {"--ledger", &AskArguments::ledger}}),
      .run = &plan};
}

VerbSpec release_verb() {
  return Verb<AskArguments>{
      .words = "release",
      .summary = "charge the budget and release a noisy answer, or refuse",
      .examples =
          "epsilog release clinic count --epsilon 0.1\n"
          "epsilog release clinic mean:cost --by ward --where \"age > 65 and ward in ('A','B')\" --epsilon "
          "0.2\n"
          "epsilog release clinic count --by ward,sex --totals 0.2 --consistent --epsilon 0.5\n"
          "epsilog release clinic sum:cost --epsilon 1/3 --key monthly-report-2024-03\n"
          "epsilog release clinic units --epsilon 0.5 --delta 1e-6\n"
          "epsilog release clinic units --rho 1/100\n"
          "echo 17.25 | epsilog release clinic value:auc --epsilon 0.5 --value -\n"
          "epsilog release clinic --batch release.csv --key monthly-2024-03\n"
          "epsilog release clinic mean:cost --by ward --epsilon 0.2 --dummy --policy clinic.yaml",
      .details =
          "The value is printed only after charge and value are durable together. Exit code 4: refused,\n"
          "with every limit that stands against it; a refusal costs nothing. --delta is what a statistic\n"
          "needs that the policy releases by discrete_gaussian or gaussian, and no other may have; where\n"
          "no budget counts delta, --rho says both. Exit code 5: it waits for approvals; once it has\n"
          "them, `epsilog commit` releases it. --dummy answers from rows that are invented from --policy,\n"
          "with the noise of a release: it opens neither data nor ledger, charges and records nothing, and\n"
          "says `dummy` wherever a value stands. It takes no --key and no --value.\n"
          "  --batch    the rows of a CSV table as one: one decision, one charge, one key, answered from\n"
          "             one state of the source; one row that is refused refuses all. Its columns:\n"
          "             statistic, by, where, totals, consistent, suppress_below, epsilon, delta, rho,\n"
          "             dataset; what it lacks is taken from the command line, of each row; but --delta is\n"
          "             that of all rows, which are charged (epsilon, delta) as one where both are counted,\n"
          "             with the least epsilon that is certified. Without it they cost their sums.\n"
          "  --accuracy, or a column accuracy in place of epsilon: of each row the least epsilon that is so\n"
          "             accurate at --alpha; with --epsilon, all times the least factor at which the\n"
          "             epsilons add to no more than that, or with --delta are charged no more. A mean or\n"
          "             a proportion is so accurate where it is of --assume-count rows, or a column says.",
      .positionals = question_positionals(),
      .options = question_options(
          {{"--value", &AskArguments::value},
           {"--key", &AskArguments::key},
           {"--as", &AskArguments::principal},
           {"--purpose", &AskArguments::purpose},
           {"--alpha", &AskArguments::alphas},
           {"--batch", &AskArguments::batch, false,
            "release the rows of a CSV table as one; - reads standard input"},
           {"--accuracy", &AskArguments::accuracy, false, "of --batch: wanted of each row"},
           {"--assume-count", &AskArguments::assume_count, false,
            "of --accuracy: of how many rows a mean or a proportion is"},
           {"--dummy", &AskArguments::dummy},
           {"--policy", &AskArguments::policy, false, "with --dummy: the policy to invent rows from"},
           {"--ledger", &AskArguments::ledger},
           {"--wait", &AskArguments::wait}}),
      .run = &release};
}

}  // namespace

std::vector<VerbSpec> ask_verbs() {
  std::vector<VerbSpec> verbs =
      with_evidence_options({with_rows(plan_verb(), &plan_rows), with_rows(forecast_verb(), &forecast_rows),
                             with_rows(release_verb(), &value_rows_of)});
  verbs.back() = with_dummy_runs(std::move(verbs.back()));  // around what looks at a ledger
  return verbs;
}

}  // namespace epsilog::command
