// Opening a ledger for the verbs that only read it.
#pragma once

#include <cstddef>
#include <string>

#include "console.hpp"
#include "epsilog/engine/engine.hpp"
#include "ledger_arguments.hpp"

namespace epsilog::command {

/// Warns on standard error when the ledger is poisoned: what can be read may not be what is on the
/// disk, and nobody can write until `epsilog recover`.
void warn_if_poisoned(const std::string& ledger, Console& console);

/// The id of the decision that is meant: a whole id as it stands, else the only id that begins so. What
/// begins none stays as it is, not to be found.
/// Throws  UsageError when it begins several, or is too short to tell; as Ledger::open_read_only.
[[nodiscard]] std::string decision_id_argument(const std::string& text, const std::string& ledger);
/// The same where a request is meant: what begins the ids of several decisions about one request names that
/// request, whose id is returned. Ids begin with the time, so that those of one request are neighbours.
[[nodiscard]] std::string request_id_argument(const std::string& text, const std::string& ledger);

/// One line on standard error about a decision that cannot be read.
void warn_of_unreadable(const engine::UnreadableDecision& decision, Console& console);

/// --wait, and a line on standard error about each decision that cannot be read.
/// Requires  the console outlives the engine.
/// Throws    UsageError.
[[nodiscard]] engine::EngineOptions options_for_writing(const LedgerArguments& arguments, Console& console);

/// `unreadable` counts the decisions that could not be read, each of which is warned of.
/// Requires  both outlive the engine.
/// Throws    as Engine::open.
[[nodiscard]] engine::Engine open_for_reading(const std::string& ledger, Console& console,
                                              engine::EngineOptions options, std::size_t& unreadable);
[[nodiscard]] engine::Engine open_for_reading(const std::string& ledger, Console& console,
                                              const engine::EngineOptions& options = {});

}  // namespace epsilog::command
