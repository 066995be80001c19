#include "row_selection.hpp"

#include <algorithm>
#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

/// The part that is called so, or nullptr.
template <class Parts>
auto* find_part(Parts& parts, const std::string& name) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&name](const auto& part) { return part.first == name; });
  return found == parts.end() ? nullptr : &found->second;
}

std::string condition_text(const Question& question) {
  return question.where ? question.where->text() : "";
}

}  // namespace

RowGrouping::RowGrouping(const Dataset& dataset, const std::vector<std::string>& by, RowReading& reading) {
  for (const std::string& name : by) {
    groups_.push_back({reading.number_of(name), dataset.column(name)->values.size()});
  }
}

std::size_t RowGrouping::find_cell(RowReading& reading) const {
  std::size_t cell = 0;
  for (const Group& group : groups_) {
    const std::size_t place = reading.value_index_of(group.column);
    if (place == kNoIndex) return kNoIndex;
    cell = cell * group.size + place;
  }
  return cell;
}

RowCondition& RowSelections::condition_of(const Question& question) {
  const std::string name = condition_text(question);
  if (RowCondition* known = find_part(conditions_, name)) return *known;
  RowFilter filter;
  std::vector<std::size_t> compared;
  if (question.where) {
    filter = RowFilter(dataset_, *question.where, columns_, CellDialect::of(dataset_));
    for (const Comparison& comparison : question.where->comparisons())
      compared.push_back(reading_.number_of(comparison.column));
  }
  return conditions_.emplace_back(name, RowCondition(std::move(filter), std::move(compared))).second;
}

RowGrouping& RowSelections::grouping_of(const Question& question) {
  const std::string name = by_text(question.by);
  if (RowGrouping* known = find_part(groupings_, name)) return *known;
  return groupings_.emplace_back(name, RowGrouping(dataset_, question.by, reading_)).second;
}

std::size_t RowSelections::number_of(const Question& question) {
  // No name of a column has a line end in it.
  const std::string name = by_text(question.by) + "\n" + condition_text(question);
  for (std::size_t i = 0; i < selections_.size(); ++i) {
    if (selections_[i].first == name) return i;
  }
  selections_.emplace_back(
      std::piecewise_construct, std::forward_as_tuple(name),
      std::forward_as_tuple(dataset_, columns_, condition_of(question), grouping_of(question)));
  return selections_.size() - 1;
}

}  // namespace epsilog::engine
