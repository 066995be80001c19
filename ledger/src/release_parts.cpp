#include <algorithm>
#include <iterator>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {
namespace {

using accounting::PostProcessing;
using accounting::Rational;

ReleasePart part_of(const CellKeys& cells, std::size_t components, const PostProcessing& recipe) {
  ReleasePart part;
  part.components = components;
  part.values = std::max<std::uint64_t>(cells.size(), 1);
  part.drawn = accounting::values_of_a_cell(recipe.kind) * part.values;
  part.post_processing = recipe;
  return part;
}

}  // namespace

std::vector<ReleasePart> release_parts(const ReleaseRecord& record, const PostProcessing& post_processing) {
  if (record.rows.empty()) return {part_of(record.cells, record.components.size(), post_processing)};
  std::vector<ReleasePart> parts;
  parts.reserve(record.rows.size());
  std::size_t component = 0;
  std::size_t value = 0;
  for (const ReleaseRow& row : record.rows) {
    ReleasePart part = part_of(row.cells, static_cast<std::size_t>(row.components), row.post_processing);
    part.component = component;
    part.value = value;
    component += part.components;
    value += part.values;
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<Rational> released_values(const ReleaseRecord& record, const PostProcessing& post_processing,
                                      const std::vector<std::vector<Rational>>& component_values) {
  if (record.rows.empty()) return accounting::post_process(post_processing, component_values);
  std::vector<Rational> values;
  for (const ReleasePart& part : release_parts(record, post_processing)) {
    if (part.component + part.components > component_values.size()) {
      throw InvalidParameter("release: its rows have more components than were drawn");
    }
    const auto first = component_values.begin() + static_cast<std::ptrdiff_t>(part.component);
    const std::vector<std::vector<Rational>> drawn(first,
                                                   first + static_cast<std::ptrdiff_t>(part.components));
    std::vector<Rational> of_row = accounting::post_process(part.post_processing, drawn);
    if (of_row.size() != part.values)
      throw InvalidParameter("release: a row has another number of values than cells");
    std::move(of_row.begin(), of_row.end(), std::back_inserter(values));
  }
  return values;
}

}  // namespace epsilog::ledger
