#include "opened_ledger.hpp"

#include <algorithm>

#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "ledger_arguments.hpp"
#include "released_text.hpp"
#include "usage_error.hpp"

namespace epsilog::command {

namespace {

void warn(const std::optional<std::string>& poisoned, Console& console) {
  if (!poisoned) return;
  console.message("warning: the ledger is poisoned: " + *poisoned +
                  "; nobody can write to it until `epsilog recover`");
}

/// Only where a budget renews does it matter that none does.
void warn_if_calendar_held(const engine::Engine& engine, Console& console) {
  const engine::Policy policy = engine.active_policy();
  if (std::none_of(policy.datasets().begin(), policy.datasets().end(),
                   [](const engine::Dataset& dataset) { return dataset.renews.has_value(); })) {
    return;
  }
  if (const auto held_at = engine.calendar_held_at()) {
    console.message("warning: the clock jumped forwards; budgets stand as of " + *held_at +
                    " until `epsilog clock confirm`");
  }
}

}  // namespace

void warn_if_poisoned(const std::string& ledger, Console& console) {
  warn(ledger::Ledger::open_read_only(ledger).poisoned(), console);
}

std::string decision_id_argument(const std::string& text, const std::string& ledger) {
  constexpr std::size_t kWhole = 26;
  constexpr std::size_t kLeast = 4;
  if (text.size() >= kWhole) return text;
  if (text.size() < kLeast) {
    throw UsageError("'" + text + "' is too short for an id: give at least its first 4 characters");
  }
  ledger::Snapshot view = ledger::Ledger::open_read_only(ledger).snapshot();
  const ledger::IdRange range = ledger::Inspection(view).ids_beginning(text);
  if (range.count > 1) {
    throw UsageError("'" + text + "' begins the ids of " + grouped(range.count) +
                     " decisions: give more of it");
  }
  return range.count == 1 ? range.first : text;
}

void warn_of_unreadable(const engine::UnreadableDecision& decision, Console& console) {
  console.message(
      "warning: " + (decision.decision_id.empty() ? "a decision" : "decision " + decision.decision_id) +
      " cannot be read and stays as it is: " + decision.message +
      "; `epsilog audit verify` names all there are");
}

engine::EngineOptions options_for_writing(const LedgerArguments& arguments, Console& console) {
  engine::EngineOptions options = engine_options(arguments, console);
  options.unreadable = [&console](const engine::UnreadableDecision& decision) {
    warn_of_unreadable(decision, console);
  };
  return options;
}

engine::Engine open_for_reading(const std::string& ledger, Console& console, engine::EngineOptions options,
                                std::size_t& unreadable) {
  options.unreadable = [&console, &unreadable](const engine::UnreadableDecision& decision) {
    ++unreadable;
    warn_of_unreadable(decision, console);
  };
  return open_for_reading(ledger, console, options);
}

engine::Engine open_for_reading(const std::string& ledger, Console& console,
                                const engine::EngineOptions& options) {
  engine::EngineOptions heard = options;
  if (!heard.warn) heard.warn = warn_of_ledger;
  engine::Engine engine = engine::Engine::open(ledger, heard);
  warn(engine.poisoned(), console);
  warn_if_calendar_held(engine, console);
  return engine;
}

}  // namespace epsilog::command
