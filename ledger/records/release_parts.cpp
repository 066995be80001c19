#include <algorithm>
#include <iterator>
#include <span>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/table_fit.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {
namespace {

using accounting::PostProcessing;
using accounting::Rational;

ReleasePart part_of(const CellKeys& cells, std::size_t components, const PostProcessing& recipe) {
  ReleasePart part;
  part.components = components;
  part.values = std::max<std::uint64_t>(cells.size(), 1);
  part.drawn.assign(components, accounting::values_of_a_cell(recipe.kind) * part.values);
  part.post_processing = recipe;
  if (!cells.has_totals()) return part;
  const accounting::TableMargins margins = cells.margins();
  for (std::size_t i = 0; i < std::min(components, margins.all().size()); ++i)
    part.drawn[i] = margins.all()[i].cells;
  return part;
}

/// What is drawn on a grid below 1, of which every answer is whole, becomes the nearest whole number.
PostProcessing recipe_of_margin(const ComponentRecord& component, PostProcessing::Kind kind) {
  if (kind != PostProcessing::Kind::whole_totals || !component.bound || component.grid >= 1) return {};
  const Rational centre = component.centre.value_or(0);
  PostProcessing recipe{PostProcessing::Kind::rounded, 0, accounting::ceil(centre - *component.bound),
                        accounting::floor(centre + *component.bound)};
  return recipe.lower <= recipe.upper ? recipe : PostProcessing{};
}

/// Of a table with totals.
std::vector<Rational> values_of_table(const CellKeys& cells, std::span<const ComponentRecord> components,
                                      PostProcessing::Kind kind,
                                      const std::vector<std::vector<Rational>>& drawn) {
  if (!cells.has_totals() || drawn.size() != components.size()) {
    throw InvalidParameter("release: it has totals, and not the cells or components of a table with totals");
  }
  if (kind == PostProcessing::Kind::consistent_totals) {
    std::vector<Rational> scales;
    for (const ComponentRecord& component : components) scales.push_back(component.scale);
    return accounting::fitted_table(cells.margins(), scales, drawn);
  }
  std::vector<Rational> values;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const std::vector<Rational> of_margin =
        accounting::post_process(recipe_of_margin(components[i], kind), {drawn[i]});
    values.insert(values.end(), of_margin.begin(), of_margin.end());
  }
  return values;
}

std::vector<Rational> values_of_part(const CellKeys& cells, std::span<const ComponentRecord> components,
                                     const PostProcessing& recipe,
                                     const std::vector<std::vector<Rational>>& drawn) {
  if (!accounting::has_totals(recipe.kind)) return accounting::post_process(recipe, drawn);
  return values_of_table(cells, components, recipe.kind, drawn);
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
  if (record.rows.empty())
    return values_of_part(record.cells, record.components, post_processing, component_values);
  std::vector<Rational> values;
  auto row = record.rows.begin();
  for (const ReleasePart& part : release_parts(record, post_processing)) {
    if (part.component + part.components > std::min(component_values.size(), record.components.size())) {
      throw InvalidParameter("release: its rows have more components than were drawn");
    }
    const auto first = component_values.begin() + static_cast<std::ptrdiff_t>(part.component);
    const std::vector<std::vector<Rational>> drawn(first,
                                                   first + static_cast<std::ptrdiff_t>(part.components));
    const std::span<const ComponentRecord> components(record.components);
    std::vector<Rational> of_row = values_of_part(
        (row++)->cells, components.subspan(part.component, part.components), part.post_processing, drawn);
    if (of_row.size() != part.values)
      throw InvalidParameter("release: a row has another number of values than cells");
    std::move(of_row.begin(), of_row.end(), std::back_inserter(values));
  }
  return values;
}

bool has_unrecorded_values(const ReleaseRecord& record, const PostProcessing& post_processing) {
  const auto fitted = [](const PostProcessing& recipe) {
    return recipe.kind == PostProcessing::Kind::consistent_totals;
  };
  return fitted(post_processing) ||
         std::any_of(record.rows.begin(), record.rows.end(),
                     [&fitted](const ReleaseRow& row) { return fitted(row.post_processing); });
}

std::vector<Rational> recorded_values(const ReleaseRecord& record, const PostProcessing& post_processing,
                                      const std::vector<Rational>& values) {
  std::vector<Rational> recorded;
  for (const ReleasePart& part : release_parts(record, post_processing)) {
    if (part.post_processing.kind == PostProcessing::Kind::consistent_totals) continue;
    const std::size_t first = std::min(part.value, values.size());
    const std::size_t end = std::min(first + part.values, values.size());
    recorded.insert(recorded.end(), values.begin() + static_cast<std::ptrdiff_t>(first),
                    values.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return recorded;
}

}  // namespace epsilog::ledger
