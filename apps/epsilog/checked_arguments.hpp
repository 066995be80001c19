// Arguments turned into exact values. Everything here is checked before a ledger is opened.
//
// No number passes through a double on its way from the command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

using accounting::Rational;

/// The path of --ledger, else of EPSILOG_LEDGER.
/// Throws  UsageError when neither names one.
[[nodiscard]] std::string ledger_path(const Arguments& arguments);

/// Throws  UsageError unless the text is a positive number that is at least one step of epsilon's grid.
[[nodiscard]] Rational epsilon_argument(const std::string& text);

/// Throws  UsageError unless the text is a number in (0, 1) that is at least one step of delta's grid.
[[nodiscard]] Rational delta_argument(const std::string& text);

/// Throws  UsageError unless the text is a number, one > 0, one >= 0, one strictly between 0 and 1;
///         `option` names it.
[[nodiscard]] Rational number_argument(const std::string& text, const std::string& option);
[[nodiscard]] Rational positive_argument(const std::string& text, const std::string& option);
[[nodiscard]] Rational non_negative_argument(const std::string& text, const std::string& option);
[[nodiscard]] Rational probability_argument(const std::string& text, const std::string& option);

/// Those of --alpha, or 0.05.
/// Throws  UsageError unless each lies strictly between 0 and 1.
[[nodiscard]] std::vector<Rational> alpha_arguments(const Arguments& arguments);

/// The one --alpha of a calculator that requires it.
/// Throws  UsageError when there are several, and as alpha_arguments.
[[nodiscard]] Rational single_alpha_argument(const Arguments& arguments);

/// With signals held back from each COMMIT on, and warnings on standard error.
/// Throws  UsageError unless --wait is a number of seconds from 0 to 86400.
[[nodiscard]] engine::EngineOptions engine_options(const Arguments& arguments);

/// A whole number from 1 to `most`.
/// Throws  UsageError.
[[nodiscard]] std::int64_t whole_number_argument(const std::string& text, const std::string& option,
                                                 std::int64_t most);

/// How many releases a forecast is about: a whole number from 1.
/// Throws  UsageError.
[[nodiscard]] std::int64_t count_argument(const std::string& text);

/// --as, else the name of the operating system's user (its number when it has no name).
/// Throws  UsageError for an empty, overlong or unprintable name.
[[nodiscard]] std::string principal_argument(const Arguments& arguments);

/// What plan, forecast, release and reserve ask. Epsilon is 0 where none was given. `supplied` comes from
/// --value, whatever it says; "-" reads all of standard input. Throws  UsageError (--value absent or out of
/// place among others), InvalidParameter (statistic, predicate), InputError.
[[nodiscard]] engine::Request request_of(const Arguments& arguments);

/// --value of `commit`, whose question is on record: read as for request_of. Nothing without it.
[[nodiscard]] std::optional<std::string> commit_value(const Arguments& arguments);

/// --why, "" without.
/// Throws  UsageError for an empty, overlong or unprintable text.
[[nodiscard]] std::string why_argument(const Arguments& arguments);

/// The policy file of the verbs that take it as a word or as --policy.
/// Throws  UsageError when there is none or two.
[[nodiscard]] std::string policy_path(const Arguments& arguments);

}  // namespace epsilog::command
