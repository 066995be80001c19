// Texts of the command line turned into exact values.
//
// No number passes through a double on its way from the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epsilog/accounting/quantity.hpp"

namespace epsilog::command {

using accounting::Rational;

/// Throws  UsageError unless the text is a number, one > 0, one >= 0, one strictly between 0 and 1;
///         `option` names it.
[[nodiscard]] Rational number_argument(const std::string& text, const std::string& option);
[[nodiscard]] Rational positive_argument(const std::string& text, const std::string& option);
[[nodiscard]] Rational non_negative_argument(const std::string& text, const std::string& option);
[[nodiscard]] Rational probability_argument(const std::string& text, const std::string& option);

/// Throws  UsageError unless the text is a positive number that is at least one step of epsilon's grid.
[[nodiscard]] Rational epsilon_argument(const std::string& text);
/// The value of `text`, if it may be an epsilon.
/// Throws  as epsilon_argument.
[[nodiscard]] Rational checked_epsilon(const Rational& value, const std::string& text);

/// Throws  UsageError unless the text is a number in (0, 1) that is at least one step of delta's grid.
[[nodiscard]] Rational delta_argument(const std::string& text);
/// The value of `text`, if it may be a delta.
/// Throws  as delta_argument.
[[nodiscard]] Rational checked_delta(const Rational& value, const std::string& text);

/// Those of --alpha, or 0.05.
/// Throws  UsageError unless each lies strictly between 0 and 1.
[[nodiscard]] std::vector<Rational> alpha_arguments(const std::vector<std::string>& texts);

/// The one --alpha of a calculator that requires it.
/// Throws  UsageError when there are several, and as alpha_arguments.
[[nodiscard]] Rational single_alpha_argument(const std::vector<std::string>& texts);

/// A whole number from `least`, which is 0 or 1, to `most`.
/// Throws  UsageError.
[[nodiscard]] std::int64_t whole_number_argument(const std::string& text, const std::string& option,
                                                 std::int64_t most, std::int64_t least = 1);

/// How many releases a forecast is about: a whole number from 1.
/// Throws  UsageError.
[[nodiscard]] std::int64_t count_argument(const std::string& text);

/// Names end up in the ledger and on terminals, so they must be text on one line.
/// Throws  UsageError for an empty, overlong or unprintable one.
[[nodiscard]] std::string name_argument(const std::string& text, const std::string& option);

}  // namespace epsilog::command
