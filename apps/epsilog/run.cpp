#include "run.hpp"

#include <algorithm>

#include "command_line.hpp"
#include "console.hpp"
#include "failure.hpp"
#include "failure_json.hpp"
#include "out_of_memory.hpp"
#include "printable.hpp"
#include "verb_functions.hpp"

namespace epsilog::command {
namespace {

ExitCode run_verb(const Arguments& arguments, Console& console) {
  switch (arguments.verb) {
    case Verb::init:
      return init(arguments, console);
    case Verb::policy_check:
      return policy_check(arguments, console);
    case Verb::policy_show:
      return policy_show(arguments, console);
    case Verb::policy_apply:
      return policy_apply(arguments, console);
    case Verb::policy_diff:
      return policy_diff(arguments, console);
    case Verb::policy_import:
      return policy_import(arguments, console);
    case Verb::policy_draft:
      return policy_draft(arguments, console);
    case Verb::data_check:
      return data_check(arguments, console);
    case Verb::plan:
      return plan(arguments, console);
    case Verb::forecast:
      return forecast(arguments, console);
    case Verb::release:
      return release(arguments, console);
    case Verb::reserve:
      return reserve(arguments, console);
    case Verb::commit:
      return commit(arguments, console);
    case Verb::cancel:
      return cancel(arguments, console);
    case Verb::token:
      return token(arguments, console);
    case Verb::pending:
      return pending(arguments, console);
    case Verb::approve:
      return approve(arguments, console);
    case Verb::reject:
      return reject(arguments, console);
    case Verb::budget:
      return budget(arguments, console);
    case Verb::history:
      return history(arguments, console);
    case Verb::show:
      return show(arguments, console);
    case Verb::audit_replay:
      return audit_replay(arguments, console);
    case Verb::audit_verify:
      return audit_verify(arguments, console);
    case Verb::audit_reaccount:
      return audit_reaccount(arguments, console);
    case Verb::recover:
      return recover(arguments, console);
    case Verb::migrate:
      return migrate(arguments, console);
    case Verb::clock_confirm:
      return clock_confirm(arguments, console);
    case Verb::relocate:
      return relocate(arguments, console);
    case Verb::accuracy_snapping:
    case Verb::accuracy_discrete_gaussian:
    case Verb::accuracy_discrete_laplace:
    case Verb::calibrate_snapping:
    case Verb::calibrate_gaussian:
    case Verb::tolerance_laplace:
    case Verb::tolerance_gaussian:
    case Verb::tolerance_mean:
    case Verb::compose:
      return calculate(arguments, console);
  }
  return ExitCode::internal;
}

/// Whether failures to understand the command line are to be said in JSON too.
bool asks_for_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

/// Says it on standard error and, with --json, as {"error": …} on standard output.
ExitCode report(const Failure& failure, Console& console) {
  console.end_progress();
  if (failure.faults.empty()) {
    console.message(failure.message);
  } else {
    for (const PolicyFault& fault : failure.faults) console.message_line(printable(fault.text()));
  }
  if (console.json() && failure.code != "output") {
    try {
      console.write(error_json(failure));
      console.flush();
    } catch (const OutputError& error) {
      console.message(error.what());
    } catch (const std::bad_alloc&) {
      return failure.exit;  // the message is out, on standard error
    }
  }
  return failure.exit;
}

template <class Work>
ExitCode guarded(Console& console, const Work& work) {
  try {
    const ExitCode exit = work();
    console.flush();
    return exit;
  } catch (const std::exception& error) {
    Failure failure = describe(error);
    // The reader had enough: no more is said than by other commands, unless it lost what was made.
    const bool reader_gone = dynamic_cast<const ReaderGone*>(&error) != nullptr;
    if (reader_gone && console.made().empty()) return failure.exit;
    // What was recorded stays so: whoever lost the line must not lose it.
    if (failure.code == "output" && !console.made().empty()) failure.message += "; " + console.made();
    return report(failure, console);
  }
}

ExitCode run_words(const std::vector<std::string>& words) {
  Console plain(asks_for_json(words), false);
  return guarded(plain, [&] {
    const auto parsed = parse_command_line(words, plain.style().width);
    if (const auto* text = std::get_if<TextRequest>(&parsed)) {
      plain.write(text->text);
      return ExitCode::done;
    }
    const Arguments& arguments = std::get<Arguments>(parsed);
    Console console(arguments.json, arguments.quiet,
                    arguments.verbose ? Console::Detail::verbose : Console::Detail::brief);
    return guarded(console, [&] { return run_verb(arguments, console); });
  });
}

}  // namespace

int run(int argc, char** argv) noexcept {
  secure_standard_streams();
  end_without_memory_where_nothing_else_can();
  const ExitCode exit = run_words(std::vector<std::string>(argv + 1, argv + argc));
  deliver_signals();
  return static_cast<int>(exit);
}

}  // namespace epsilog::command
