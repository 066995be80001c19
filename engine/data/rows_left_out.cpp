#include "rows_left_out.hpp"

#include <array>
#include <vector>

#include "condition.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

/// Whether the cells of a column are those that blocks are made by: rows outside the blocks are in no answer.
bool makes_blocks(const Dataset& dataset, const Column& column) {
  return dataset.blocks && !dataset.blocks->per && dataset.blocks->by == column.name;
}

bool can_be_missing(const Dataset& dataset, const Column& column) {
  if (makes_blocks(dataset, column)) return false;
  return why_never_missing(dataset, column.derived ? *dataset.column(column.derived->from) : column).empty();
}

/// Whether a cell that is there can be of no group: another value than those declared, or one without a
/// label.
bool can_be_of_no_group(const Dataset& dataset, const Column& column) {
  if (makes_blocks(dataset, column)) return false;
  // `other` is the label of every cell that is there. Bins never have every number.
  if (column.derived) return !column.derived->other;
  constexpr std::size_t kFalseAndTrue = 2;
  return column.type != ColumnType::boolean || column.values.size() < kFalseAndTrue;
}

/// "ward", "ward or sex", "ward, sex or smoker".
std::string either(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

}  // namespace

std::string rows_left_out(const Dataset& dataset, const Question& question) {
  constexpr std::array<const char*, 4> kWhy{"", " is missing", " is none of these",
                                            " is missing or none of these"};
  std::array<std::vector<std::string>, kWhy.size()> columns;
  for (const std::string& name : question.by) {
    const Column* column = dataset.column(name);
    EPSILOG_INVARIANT(column != nullptr);
    const bool missing = can_be_missing(dataset, *column), of_no_group = can_be_of_no_group(dataset, *column);
    columns.at((missing ? 1 : 0) + (of_no_group ? 2 : 0)).push_back(name);
  }
  std::string text;
  for (std::size_t why = kWhy.size() - 1; why > 0; --why) {
    if (!columns.at(why).empty())
      text += (text.empty() ? "rows whose " : ", or whose ") + either(columns.at(why)) + kWhy.at(why);
  }
  return text;
}

}  // namespace epsilog::engine
