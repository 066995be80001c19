// What can be asked of a dataset.
//
// Thread-safety: pure functions over immutable values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/budget_policy.hpp"
#include "epsilog/engine/predicate.hpp"

namespace epsilog::engine {

/// So many quantiles can be asked at once.
inline constexpr std::size_t kQuantilesAskedMax = 99;
/// So many columns an answer can be grouped by.
inline constexpr std::size_t kGroupedByMax = 3;

/// A statistic with its subject: count, units, sum:cost, mean:cost, variance:cost, value:NAME,
/// quantile:cost:0.5, quantiles:cost:0.25,0.75, count:cost, proportion:ward:A, distinct:ward,
/// ratio:cost,days.
struct Statistic {
  StatisticKind kind = StatisticKind::count;
  std::string subject;  ///< column, or query name for value; "" for count and units
  /// Of quantile alone: 1 to kQuantilesAskedMax, strictly ascending, each in (0, 1).
  std::vector<Rational> quantiles = {};
  std::string value = {};    ///< of proportion alone: as the column declares it, any text but ""
  std::string divisor = {};  ///< of ratio alone: the column whose sum is divided by, another than the subject

  /// "sum:cost"; histogram:C is not a statistic of its own but count --by C, nor is median:C but
  /// quantile:C:0.5. Quantiles stand there as decimals, or as fractions where they are none.
  [[nodiscard]] std::string text() const;
};

/// What `release` of a policy calls it: the query of a value computed elsewhere, else its word.
[[nodiscard]] std::string release_key(const Statistic& statistic);
/// Whether it aggregates a column, which then is its subject.
[[nodiscard]] bool is_about_column(StatisticKind kind);
/// Those it aggregates: none, its subject, or of a ratio the subject and the divisor.
[[nodiscard]] std::vector<std::string> aggregated_columns(const Statistic& statistic);
/// Whether it only looks whether a row's cell is there and which value it has: of columns of any type,
/// derived ones too.
[[nodiscard]] bool counts_cells(StatisticKind kind);

/// A parsed question, before a policy was asked about it.
struct Question {
  Statistic statistic;
  std::vector<std::string> by;  ///< columns to group by, each once, at most kGroupedByMax
  std::optional<Predicate> where;
  /// Cells that are counted below it are not shown; set by suppress_below().
  std::optional<Rational> suppress_below;
  /// What its totals have of the loss, in equal parts; set by with_totals(), as is the next.
  std::optional<Rational> totals = {};
  bool consistent = false;  ///< cells and totals are to add up
};

/// What `allow.statistics` has to name: the statistic, or private_variance, which is a variance of one cell
/// over a number of rows that the policy does not publish (`rows: {max: N}`). That came after policies that
/// name `variance`, and was refused of them; a `forbid` of `variance` is one of it too.
/// Ensures  a question that no program before answered is permitted by no policy of before.
[[nodiscard]] StatisticKind required_permission(const Question& question, bool rows_are_exact);

/// Reads STAT[:COLUMN[:QUANTILES]], proportion:COLUMN:VALUE, where VALUE is all that follows, and
/// ratio:COLUMN,COLUMN.
/// `histogram:C` gives {count, by C}, `median:C` {quantile, C, 1/2}, `count:C` {count_of, C}.
/// `by` is as people write it: COLUMN or COLUMN,COLUMN.
/// Throws  InvalidParameter for bad syntax or an unknown statistic (with a suggestion), or when
///         `by` is given with histogram or value.
[[nodiscard]] Question parse_question(std::string_view statistic, const std::optional<std::string>& by,
                                      const std::optional<std::string>& where);
/// The same, grouped by these columns, each being what it is called and no text to be read; by none without.
[[nodiscard]] Question parse_question_by(std::string_view statistic, std::vector<std::string> columns,
                                         const std::optional<std::string>& where);

/// Asks that cells which are counted below that number, as released, are not shown.
/// Throws  InvalidParameter unless it is above 0 and written in 40 characters, the answer has cells, and
///         a count is released of each: of count, count:C, units, mean and variance by columns; and of a
///         consistent table, whose hidden cells would follow from those that are shown.
void suppress_below(Question& question, const Rational& least);

/// Asks that the totals over columns of `by` are released too, each margin by itself: of two columns the
/// totals of either and the grand total, of three all seven. `share` is what they have together, the cells
/// having the rest; `consistent` that what is told is the table that fits all of them best.
/// Throws  InvalidParameter unless the share lies strictly between 0 and 1 and is written in 40 characters,
///         the answer has cells, each is released once and the statistic is count, count:C, units or sum:C,
///         of which units, each in as many cells as it has rows in, add up to no total; and if it is to
///         be consistent and has cells that are not shown, which would follow from those that are.
void with_totals(Question& question, const Rational& share, bool consistent);

/// "ward,sex": what `by` is written as. "" without.
[[nodiscard]] std::string by_text(const std::vector<std::string>& columns);

}  // namespace epsilog::engine
