// The text of a draft, line by line, with the remarks that stand in it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "epsilog/engine/policy_draft.hpp"

namespace epsilog::engine {

class DraftText final {
 public:
  /// A line of YAML, indented by `depth` steps.
  void line(int depth, std::string_view yaml);
  /// An explanation.
  void explain(int depth, std::string_view text);
  void todo(int depth, const std::string& message);
  void note(int depth, const std::string& message);

  /// Ensures  `valid` is what checked_policy says of the text.
  [[nodiscard]] PolicyDraft finish();

 private:
  void append(const std::string& lines);

  PolicyDraft draft_;
  int lines_ = 0;
};

/// How counts are released: as whole numbers, which snapping would move off their grid for nothing.
void write_release(DraftText& out);

/// A name for a column that its source calls otherwise.
[[nodiscard]] std::string column_name_from(std::string_view header);
/// The same with a number behind it if it is taken; then it is.
[[nodiscard]] std::string distinct_name(const std::string& name, std::set<std::string>& taken);
/// Whether a policy can say that a source calls a column so.
[[nodiscard]] bool is_column_header(std::string_view header);

/// What nobody but the curator can say, worded alike whatever the draft was begun from.
inline constexpr const char* kUnitQuestion =
    "unit: whose privacy is protected? {id: COLUMN, max_rows: K} for everything that one value of a column "
    "stands for, with the most rows of one that count; or row, which protects a single row only";
inline constexpr const char* kRowsQuestion =
    "rows: {max: N}, a public upper bound on the number of rows. Rows beyond it are not left out, but "
    "answers are "
    "clamped to what N rows can give, so that large counts are cut: take a number you are sure of";
inline constexpr const char* kBudgetQuestion =
    "budget: what all releases together may lose, {epsilon: E} or {epsilon: E, delta: D}";

}  // namespace epsilog::engine
