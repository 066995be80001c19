#include "ledger_opening.hpp"

#include <algorithm>
#include <set>

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
  warn(ledger::Ledger::open_read_only(ledger).poison_reason(), console);
}

namespace {

/// The id of the only request that those decisions are about; "" where they are about several.
std::string sole_request_id(ledger::Snapshot& view, const ledger::IdRange& range) {
  // Nobody types so little of an id on purpose.
  constexpr std::int64_t kMost = 1'000;
  if (range.count > kMost) return "";
  const auto first = view.find_by_id(range.first);
  if (!first) return "";
  std::set<std::string> requests;
  const auto add = [&](const ledger::StoredDecision& stored) {
    std::optional<ledger::StoredDecision> about = stored;
    while (!about->draft.parent.empty()) {
      auto parent = view.find_by_id(about->draft.parent);
      if (!parent || parent->seq >= about->seq) break;  // of a ledger that was changed
      about = std::move(parent);
    }
    requests.insert(about->id);
  };
  // The ids of a ledger ascend with its decisions.
  static_cast<void>(
      view.each_decision({.after = first->seq - 1, .limit = range.count}, add,
                         [&](const ledger::MalformedRecord& record) { requests.insert(record.id); }));
  return requests.size() == 1 ? *requests.begin() : "";
}

enum class IdKind { decision, request };

std::string resolve_id(const std::string& text, const std::string& ledger, IdKind meant) {
  constexpr std::size_t kWhole = 26;
  constexpr std::size_t kLeast = 4;
  if (text.size() >= kWhole) return text;
  if (text.size() < kLeast) {
    throw UsageError("'" + text + "' is too short for an id: give at least its first 4 characters");
  }
  ledger::Snapshot view = ledger::Ledger::open_read_only(ledger).snapshot();
  const ledger::IdRange range = ledger::Inspection(view).ids_with_prefix(text);
  if (range.count == 0) return text;
  if (range.count == 1) return range.first;
  const std::string request = meant == IdKind::request ? sole_request_id(view, range) : "";
  if (!request.empty()) return request;
  throw UsageError("'" + text + "' begins the ids of " + with_digit_groups(range.count) +
                   " decisions: give more of it");
}

}  // namespace

std::string decision_id_argument(const std::string& text, const std::string& ledger) {
  return resolve_id(text, ledger, IdKind::decision);
}

std::string request_id_argument(const std::string& text, const std::string& ledger) {
  return resolve_id(text, ledger, IdKind::request);
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
  warn(engine.poison_reason(), console);
  warn_if_calendar_held(engine, console);
  return engine;
}

}  // namespace epsilog::command
