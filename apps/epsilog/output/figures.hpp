// What was calculated, as named figures, before it is known how they are printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "epsilog/accounting/rational.hpp"

namespace epsilog::command {

struct Figure;
using Figures = std::vector<Figure>;

/// What does not apply, a number as canonical text or another word, a count, yes or no, or figures in turn.
struct Figure {
  std::string name;
  std::variant<std::monostate, std::string, std::uint64_t, bool, Figures, std::vector<Figures>> value;
};

/// The figure of that name as text: "" where it does not apply; an object of one figure is that figure.
/// Requires  there is one, and it is neither a larger object nor a list.
[[nodiscard]] std::string text_of(const Figures& figures, std::string_view name);

/// Canonical text of an irrational number's certified bound: at least 17 digits, never below, never above
/// it. `name` is the figure's.
/// Throws  InvalidParameter for a number beyond 10^5000 or below 10^-5000, as there is no exponent.
[[nodiscard]] std::string digits_up(const accounting::Rational& bound, const std::string& name);
[[nodiscard]] std::string digits_down(const accounting::Rational& bound, const std::string& name);
[[nodiscard]] bool is_writable(const accounting::Rational& bound);

/// The smallest binary64 that is not below, the largest that is not above `value`, as hexadecimal
/// floating-point text; "" when no finite positive one is.
/// Requires  value > 0.
[[nodiscard]] std::string binary64_up(const accounting::Rational& value);
[[nodiscard]] std::string binary64_down(const accounting::Rational& value);

/// {`measure`: a decimal of at least 17 digits, never below the bound, or exact}; a figure that does not
/// apply where there is no bound.
/// Throws  as digits_up.
[[nodiscard]] Figure bound_figure(const std::string& name, const std::string& measure,
                                  const std::optional<accounting::Rational>& bound);

/// A figure that does not apply when the text is empty.
[[nodiscard]] Figure text_or_nothing(std::string name, std::string text);

}  // namespace epsilog::command
