// Aligned tables and bars for a terminal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/accounting/rational.hpp"

namespace epsilog::command {

class Table final {
 public:
  enum class Align { left, right };
  struct Heading {
    std::string text;
    Align align = Align::left;
  };
  explicit Table(std::vector<Heading> headings) : headings_(std::move(headings)) {}

  /// Requires  as many cells as headings.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Lines indented by two, the headings faint; control characters in cells are made visible.
  [[nodiscard]] std::string text(const Style& style) const;

 private:
  std::vector<Heading> headings_;
  std::vector<std::vector<std::string>> rows_;
};

/// `part` of `whole` as a bar `width` columns wide, to an eighth of a column in UTF-8, rounded down;
/// parts outside 0..whole show as an empty or a full bar.
/// Requires  whole > 0.
[[nodiscard]] std::string bar(const accounting::Rational& part, const accounting::Rational& whole,
                              unsigned width, const Style& style);

/// The table that `text` makes with bars of a width, which is the largest up to `most` at which no line is
/// wider than the style says; 0 where there is no room for one that tells anything.
[[nodiscard]] std::string with_bars(const std::function<std::string(unsigned, const Style&)>& text,
                                    unsigned most, const Style& style);

/// The exact decimal when it is short, else "~" and about ten digits, rounded up. Never used where a
/// script reads.
[[nodiscard]] std::string short_text(const accounting::Rational& value);
/// The same for the text of a number.
[[nodiscard]] std::string short_text(const std::string& number);

}  // namespace epsilog::command
