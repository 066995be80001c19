// The table of docs/sensitivity.md, row by row. Every entry is proved there.
#include <algorithm>
#include <bit>

#include "blocks.hpp"
#include "column_candidates.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/derivation.hpp"
#include "epsilog/engine/nearest.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;
using accounting::PostProcessing;
using Operator = Comparison::Operator;
using Quantity = Component::Quantity;

Rational rational(std::uint64_t value) {
  Integer result;
  mpz_import(result.get_mpz_t(), 1, 1, sizeof value, 0, 0, &value);
  return Rational(result);
}

/// Which declared column may be meant; "" where none is near. Columns can have other names than in the
/// source.
std::string column_advice(const Dataset& dataset, const std::string& wanted) {
  std::vector<std::string> names;
  std::string renamed;
  for (const Column& column : dataset.columns) {
    names.push_back(column.name);
    if (!column.derived && dataset.header(column.name) == wanted)
      renamed += (renamed.empty() ? "'" : " or '") + column.name + "'";
  }
  if (!renamed.empty()) return " (did you mean " + renamed + ", which reads the column " + wanted + "?)";
  const std::string near = nearest(wanted, names);
  return near.empty() ? "" : " (did you mean '" + near + "'?)";
}

const Column& declared_column(const Dataset& dataset, const std::string& wanted) {
  if (const Column* column = dataset.column(wanted)) return *column;
  if (dataset.query(wanted) != nullptr) {
    throw NotFound("dataset '" + dataset.name + "' declares no column '" + wanted +
                   "', but a query of that name: it is asked as value:" + wanted);
  }
  throw NotFound("dataset '" + dataset.name + "' declares no column '" + wanted + "'" +
                 column_advice(dataset, wanted));
}

const NamedQuery& declared_query(const Dataset& dataset, const std::string& wanted) {
  if (const NamedQuery* query = dataset.query(wanted)) return *query;
  std::vector<std::string> names;
  for (const NamedQuery& query : dataset.queries) names.push_back(query.name);
  const std::string suggestion = nearest(wanted, names);
  throw NotFound("dataset '" + dataset.name + "' declares no query '" + wanted + "'" +
                 (suggestion.empty() ? "" : " (did you mean '" + suggestion + "'?)"));
}

bool constant_fits(ColumnType type, const Comparison::Constant& constant) {
  switch (type) {
    case ColumnType::integer:
    case ColumnType::decimal:
    case ColumnType::real:
      return std::holds_alternative<Rational>(constant);
    case ColumnType::string:
      return std::holds_alternative<std::string>(constant);
    case ColumnType::boolean:
      return std::holds_alternative<bool>(constant);
    case ColumnType::date:
      return std::holds_alternative<Comparison::Date>(constant);
  }
  return false;
}

const char* constant_example(ColumnType type) {
  switch (type) {
    case ColumnType::integer:
    case ColumnType::decimal:
    case ColumnType::real:
      return "a number";
    case ColumnType::string:
      return "text in single quotes";
    case ColumnType::boolean:
      return "true or false";
    case ColumnType::date:
      return "a date such as 2024-01-31";
  }
  return "";
}

bool is_order(Operator op) {
  return op == Operator::less || op == Operator::less_equal || op == Operator::greater ||
         op == Operator::greater_equal;
}

void check_where(const Dataset& dataset, const Predicate& where) {
  for (const Comparison& comparison : where.comparisons()) {
    const Column& column = declared_column(dataset, comparison.column);
    const std::string type(name(column.type));
    if (is_order(comparison.op) &&
        (column.type == ColumnType::string || column.type == ColumnType::boolean)) {
      throw InvalidParameter("where: column '" + column.name + "' has type " + type +
                             ", which has no order: use =, != or in");
    }
    for (const auto& constant : comparison.constants) {
      if (!constant_fits(column.type, constant)) {
        throw InvalidParameter("where: column '" + column.name + "' has type " + type + ": compare it with " +
                               constant_example(column.type));
      }
    }
  }
}

/// What the derivation of one column statistic works with: R = upper - lower, c = centre.
struct Range {
  Rational lower;
  Rational upper;
  Rational width;
  Rational centre;
};

Range bounded_range(const Dataset& dataset, const std::string& wanted, StatisticKind kind) {
  const Column& column = declared_column(dataset, wanted);
  if (!is_numeric(column.type)) {
    throw Underivable("column '" + column.name + "' has type " + std::string(name(column.type)) + ": a " +
                      std::string(name(kind)) + " needs a column of type int, decimal or double");
  }
  if (!column.bounds) {
    throw Underivable("column '" + column.name +
                      "' has no bounds: declare `bounds: [LOWER, UPPER]` to bound its " +
                      std::string(name(kind)));
  }
  const auto& [lower, upper] = *column.bounds;
  return {lower, upper, upper - lower, (lower + upper) / 2};
}

Range bounded_range(const Dataset& dataset, const Statistic& statistic) {
  return bounded_range(dataset, statistic.subject, statistic.kind);
}

bool is_whole(const Rational& value) {
  return value.get_den() == 1;
}

/// Whether every value of the column that enters a statistic is a whole number, as its type says.
bool holds_whole_numbers(const Column& column) {
  const bool by_type =
      column.type == ColumnType::integer || (column.type == ColumnType::decimal && column.scale == 0);
  return by_type && column.bounds && is_whole(column.bounds->lower) && is_whole(column.bounds->upper) &&
         (!column.missing || is_whole(*column.missing));
}

/// The least number above 0 that a sum over the column can be; it divides a ratio.
/// Throws  Underivable where there is none, or sums can be below 0.
Rational least_divisor(const Column& column) {
  const Rational& lower = column.bounds->lower;
  if (lower > 0) return lower;
  const bool bare = lower == 0;
  if (!bare || column.type == ColumnType::real) {
    throw Underivable("column '" + column.name + "' is divided by, and " +
                      (bare ? std::string("as a double can be as near to 0 as you like: declare `bounds` "
                                          "that begin above 0")
                            : "its bounds begin below 0: declare `bounds` that begin at 0 or above"));
  }
  return accounting::power_of_ten(-static_cast<long>(column.scale));
}

/// Whether neighbours may differ by a replacement although rows are only added or removed. Under `blocks`
/// they differ in the rows of one unit in one block, and a row that comes there can take the place, among
/// the k that are kept, of a row the unit has in another block.
bool displaces_rows_of_other_blocks(const Dataset& dataset, const Question& question) {
  return dataset.blocks && !dataset.unit.is_row() && covered_blocks(dataset, question.where).size() > 1;
}

/// Derives one question: the public parameters of the dataset and the parts of every component.
class Deriver {
 public:
  Deriver(const Dataset& dataset, const Question& question)
      : dataset_(dataset),
        question_(question),
        replace_one_(dataset.neighbours == Neighbours::replace_one),
        k_(rational(dataset.unit.max_rows)),
        n_(rational(dataset.rows.count)) {}

  Derivation derive() {
    derive_cells();
    if (question_.where) check_where(dataset_, *question_.where);
    replace_one_ = replace_one_ || displaces_rows_of_other_blocks(dataset_, question_);
    derive_components();
    if (question_.totals) derive_totals();
    return std::move(result_);
  }

 private:
  void derive_components() {
    switch (question_.statistic.kind) {
      case StatisticKind::count:
        result_.components = {rows()};
        break;
      case StatisticKind::units:
        result_.components = {units()};
        break;
      case StatisticKind::sum:
        derive_sum();
        break;
      case StatisticKind::mean:
        derive_mean();
        break;
      case StatisticKind::variance:
        derive_variance();
        break;
      case StatisticKind::quantile:
        derive_quantiles();
        break;
      case StatisticKind::count_of:
        (void)declared_column(dataset_, question_.statistic.subject);
        result_.components = {rows()};
        break;
      case StatisticKind::proportion:
        derive_proportion();
        break;
      case StatisticKind::distinct:
        derive_distinct();
        break;
      case StatisticKind::ratio:
        derive_ratio();
        break;
      case StatisticKind::value:
      case StatisticKind::private_variance:
        EPSILOG_INVARIANT(false);
        break;
    }
  }

  /// Each margin is what the statistic is by the columns that it keeps, over the rows of all cells.
  void derive_totals() {
    result_.cells.set_totals(true);
    const accounting::TableMargins margins = result_.cells.margins();
    const Rational& share = *question_.totals;
    std::vector<Component> parts;
    for (const accounting::TableMargins::Margin& margin : margins.all()) {
      groups_ = margin.kept.empty() ? std::nullopt : std::optional(margin.cells);
      derive_components();
      parts.push_back(std::move(result_.components.front()));
      parts.back().share =
          parts.size() == 1 ? Rational(1 - share) : share / rational(margins.all().size() - 1);
    }
    result_.components = std::move(parts);
    result_.post_processing.kind =
        question_.consistent ? PostProcessing::Kind::consistent_totals : PostProcessing::Kind::totals;
  }

  void derive_cells() {
    if (question_.by.empty()) return;
    std::vector<std::vector<std::string>> lists;
    for (const std::string& name : question_.by) lists.push_back(keys_of(declared_column(dataset_, name)));
    const bool table = lists.size() > 1;
    result_.cells = ledger::CellKeys(std::move(lists));
    groups_ = result_.cells.size();
    if (table && result_.cells.size() > ledger::kCellsOfTableMax) {
      throw Underivable("by: '" + by_text(question_.by) + "' has " + std::to_string(result_.cells.size()) +
                        " cells, as many as its columns' values combine to: at most " +
                        std::to_string(ledger::kCellsOfTableMax));
    }
  }

  /// Several quantiles of a cell are one value each, told apart by a key after those of the columns.
  void derive_cells_of_quantiles() {
    const std::vector<Rational>& asked = question_.statistic.quantiles;
    if (asked.size() == 1) return;
    std::vector<std::vector<std::string>> lists = result_.cells.lists();
    std::vector<std::string>& last = lists.emplace_back();
    for (const Rational& quantile : asked) last.push_back(accounting::text(quantile));
    ledger::CellKeys cells(std::move(lists));
    if (grouped() && cells.size() > ledger::kCellsOfTableMax) {
      throw Underivable("by: '" + by_text(question_.by) + "' has " + std::to_string(result_.cells.size()) +
                        " cells, of " + std::to_string(asked.size()) + " quantiles each: at most " +
                        std::to_string(ledger::kCellsOfTableMax) + " values; ask for fewer at once");
    }
    result_.cells = std::move(cells);
  }

  [[nodiscard]] static const std::vector<std::string>& keys_of(const Column& column) {
    if (!column.values.empty()) return column.values;
    const bool can_be_declared = column.type != ColumnType::decimal && column.type != ColumnType::real;
    throw Underivable("column '" + column.name + "' cannot be grouped by: " +
                      (can_be_declared ? std::string("declare its `values: [...]`")
                                       : "its type is " + std::string(name(column.type)) +
                                             ", and groups must be declared values"));
  }

  [[nodiscard]] bool grouped() const { return groups_.has_value(); }

  /// Whether the number of rows that enter the statistic is public: a subset's never is.
  [[nodiscard]] bool exact_form() const {
    return dataset_.rows.exact && question_.by.empty() && !question_.where;
  }

  /// A component whose cells one unit changes by at most `add_remove` in L1 when it comes or goes,
  /// and, without `by`, by at most `replace_one` when its rows are replaced. With `by` the old and
  /// the new rows may lie in different cells, so a replacement costs a removal and an addition. In L2
  /// that is less than their sum: the worst of all rows in one cell before and after, and of all rows
  /// in one cell before and in another after.
  [[nodiscard]] Component component(Quantity quantity, const Rational& add_remove,
                                    const Rational& replace_one, const Rational& lower,
                                    const Rational& upper) const {
    Component result;
    result.quantity = quantity;
    result.lower = lower;
    result.upper = upper;
    if (!grouped()) {
      result.sensitivity = replace_one_ ? replace_one : add_remove;
      result.sensitivity_l2_squared = result.sensitivity * result.sensitivity;
      return result;
    }
    set_sensitivities(result, add_remove, replace_one, *groups_);
    return result;
  }

  /// Of a vector of so many cells, in one of which each row is.
  void set_sensitivities(Component& result, const Rational& add_remove, const Rational& replace_one,
                         std::uint64_t cells) const {
    result.sensitivity = replace_one_ ? Rational(2 * add_remove) : add_remove;
    const Rational removed = add_remove * add_remove;
    const Rational within_a_cell = replace_one * replace_one;
    const Rational between_cells = cells > 1 ? Rational(2 * removed) : Rational(0);
    result.sensitivity_l2_squared = replace_one_ ? std::max(within_a_cell, between_cells) : removed;
    result.coordinates = cells_changed(cells);
  }

  /// The most of so many cells that one unit can change: min(k, cells), or min(2k, cells) without the
  /// overflow that 2k could bring.
  [[nodiscard]] std::uint64_t cells_changed(std::uint64_t cells) const {
    const std::uint64_t k = dataset_.unit.max_rows;
    return replace_one_ && k < cells ? std::min(2 * k, cells) : std::min(k, cells);
  }

  [[nodiscard]] Component rows() const {
    Component result = component(Quantity::rows, k_, k_, 0, n_);
    result.step = 1;
    return result;
  }

  [[nodiscard]] Component units() const {
    Component result = component(Quantity::units, grouped() ? k_ : Rational(1), 1, 0, n_);
    // A unit adds at most 1 to a cell, so no cell changes by more than 1, and at most m of them change.
    if (grouped()) result.sensitivity_l2_squared = rational(result.coordinates);
    result.step = 1;
    return result;
  }

  [[nodiscard]] Component sum_about_centre(const Range& range) const {
    const Rational reach = range.width / 2;
    Component result =
        component(Quantity::sum_about_centre, k_ * reach, k_ * range.width, -n_ * reach, n_ * reach);
    if (of_whole_numbers()) result.step = is_whole(range.centre) ? Rational(1) : Rational(1, 2);
    return result;
  }

  [[nodiscard]] Component squares_about_centre(const Range& range) const {
    const Rational most = range.width * range.width / 4;
    Component result = component(Quantity::squares_about_centre, k_ * most, k_ * most, 0, n_ * most);
    if (of_whole_numbers()) result.step = is_whole(range.centre) ? Rational(1) : Rational(1, 4);
    return result;
  }

  /// Of a column's values, each row's added up.
  [[nodiscard]] Component sum_of(Quantity quantity, const std::string& name, const Range& range) const {
    const Rational zero = 0;
    const Rational above = std::max(range.upper, zero);
    const Rational below = std::min(range.lower, zero);
    const Rational reach = std::max(Rational(abs(range.lower)), Rational(abs(range.upper)));
    Component result = component(quantity, k_ * reach, k_ * (above - below), n_ * below, n_ * above);
    if (holds_whole_numbers(declared_column(dataset_, name))) result.step = 1;
    return result;
  }

  [[nodiscard]] bool of_whole_numbers() const {
    return holds_whole_numbers(declared_column(dataset_, question_.statistic.subject));
  }

  void require_stand_in() const {
    const Column& column = declared_column(dataset_, question_.statistic.subject);
    if (!column.missing) {
      throw Underivable(
          "column '" + column.name +
          "' must declare `missing: CONSTANT`: under `rows: {exact: N}` every row keeps its place");
    }
  }

  void derive_sum() {
    const Range range = bounded_range(dataset_, question_.statistic);
    result_.components = {sum_of(Quantity::sum, question_.statistic.subject, range)};
    if (!exact_form()) return;
    require_stand_in();
    Component& sum = result_.components.front();
    sum.sensitivity = k_ * range.width;
    sum.sensitivity_l2_squared = sum.sensitivity * sum.sensitivity;
  }

  void derive_ratio() {
    const Statistic& asked = question_.statistic;
    const Range of = bounded_range(dataset_, asked.subject, asked.kind);
    const Range over = bounded_range(dataset_, asked.divisor, asked.kind);
    const Rational least = least_divisor(declared_column(dataset_, asked.divisor));
    result_.components = {sum_of(Quantity::numerator, asked.subject, of),
                          sum_of(Quantity::denominator, asked.divisor, over)};
    result_.components[0].share = dataset_.mean_split;
    result_.components[1].share = 1 - dataset_.mean_split;
    result_.post_processing = {PostProcessing::Kind::ratio, 0, lower_ratio(of, over, least),
                               upper_ratio(of, over, least)};
  }

  /// A quotient of sums of as many numbers above 0 lies between the least and the largest of two numbers;
  /// else n rows are divided by the least that is not 0.
  [[nodiscard]] Rational lower_ratio(const Range& of, const Range& over, const Rational& least) const {
    if (over.lower > 0) return of.lower / (of.lower < 0 ? over.lower : over.upper);
    return n_ * std::min<Rational>(of.lower, 0) / least;
  }
  [[nodiscard]] Rational upper_ratio(const Range& of, const Range& over, const Rational& least) const {
    if (over.lower > 0) return of.upper / (of.upper < 0 ? over.upper : over.lower);
    return n_ * std::max<Rational>(of.upper, 0) / least;
  }

  void derive_mean() {
    const Range range = bounded_range(dataset_, question_.statistic);
    result_.centre = range.centre;
    if (exact_form()) {
      require_stand_in();
      const Rational changed = k_ * range.width / n_;
      result_.components = {component(Quantity::mean, changed, changed, range.lower, range.upper)};
      return;
    }
    result_.components = {sum_about_centre(range), rows()};
    result_.components[0].share = dataset_.mean_split;
    result_.components[1].share = 1 - dataset_.mean_split;
    result_.post_processing = {PostProcessing::Kind::mean_about, range.centre, range.lower, range.upper};
  }

  void derive_variance() {
    const Range range = bounded_range(dataset_, question_.statistic);
    result_.centre = range.centre;
    const Rational most = range.width * range.width / 4;
    if (exact_form()) {
      require_stand_in();
      const Rational changed =
          2 * k_ <= n_ ? Rational(range.width * range.width * k_ * (n_ - k_) / (n_ * n_)) : most;
      result_.components = {component(Quantity::variance, changed, changed, 0, most)};
      return;
    }
    result_.components = {squares_about_centre(range), sum_about_centre(range), rows()};
    for (Component& part : result_.components) part.share = Rational(1, 3);
    result_.post_processing = {PostProcessing::Kind::variance_about, range.centre, 0, most};
  }

  void derive_quantiles() {
    const Column& column = declared_column(dataset_, question_.statistic.subject);
    ColumnCandidates candidates = candidates_of(column);
    const std::vector<Rational>& asked = question_.statistic.quantiles;
    mechanisms::QuantileOptions options;
    options.quantiles = asked;
    options.candidates = candidates.count;
    options.values = std::move(candidates.values);
    options.change =
        replace_one_ ? mechanisms::RowsChange::replaced : mechanisms::RowsChange::added_or_removed;
    options.rows_per_unit = dataset_.unit.max_rows;
    options.cells = std::max<std::uint64_t>(1, result_.cells.size());
    // Each may be looked at once for each cell and level.
    const std::uint64_t levels = std::bit_width(asked.size());
    if (options.candidates * levels > kCandidatesOfReleaseMax / options.cells) {
      throw Underivable("'" + question_.statistic.text() + "' selects among " +
                        std::to_string(options.candidates) + " values, " +
                        std::to_string(levels * options.cells) + " times: at most " +
                        std::to_string(kCandidatesOfReleaseMax) + " in all; declare " +
                        (column.type == ColumnType::date ? "narrower bounds" : "a greater `step: S`"));
    }
    Component component;
    component.quantity = Quantity::quantile;
    component.lower = options.values.at(0);
    component.upper = options.values.at(options.candidates - 1);
    component.sensitivity = mechanisms::largest_sensitivity(options);
    component.sensitivity_l2_squared = component.sensitivity * component.sensitivity;
    component.coordinates = cells_changed(options.cells);
    derive_cells_of_quantiles();
    component.quantiles = std::move(options);
    result_.components = {std::move(component)};
  }

  /// The column asked about, whose values have to be declared.
  [[nodiscard]] const Column& column_of_values() const {
    const Column& column = declared_column(dataset_, question_.statistic.subject);
    if (!column.values.empty()) return column;
    const bool can_be_declared = column.type != ColumnType::decimal && column.type != ColumnType::real;
    throw Underivable("column '" + column.name + "' has no declared values, and " +
                      std::string(name(question_.statistic.kind)) + " looks for those: " +
                      (can_be_declared ? std::string("declare its `values: [...]`")
                                       : "its type is " + std::string(name(column.type))));
  }

  void derive_proportion() {
    const Column& column = column_of_values();
    const std::string& value = question_.statistic.value;
    if (std::find(column.values.begin(), column.values.end(), value) == column.values.end()) {
      const std::string near = nearest(value, column.values);
      throw InvalidParameter("statistic: '" + value.substr(0, 60) + "' is not among the values of column '" +
                             column.name + "'" + (near.empty() ? "" : " (did you mean '" + near + "'?)"));
    }
    Component component;
    component.quantity = Quantity::rows_of_value;
    component.upper = n_;
    component.step = 1;
    set_sensitivities(component, k_, k_, 2 * std::max<std::uint64_t>(1, result_.cells.size()));
    result_.components = {std::move(component)};
    result_.post_processing = {PostProcessing::Kind::proportion, 0, 0, 1};
  }

  void derive_distinct() {
    const Column& column = column_of_values();
    const Rational values = rational(column.values.size());
    const Rational groups = rational(std::max<std::uint64_t>(1, result_.cells.size()));
    Component component;
    component.quantity = Quantity::distinct;
    component.upper = std::min(values, n_);
    component.step = 1;
    // No cell changes by more than what its rows of one unit can hold of the values.
    const Rational of_a_cell = std::min(k_, values);
    component.sensitivity =
        groups == 1 ? of_a_cell : std::min<Rational>(replace_one_ ? Rational(2 * k_) : k_, values * groups);
    component.sensitivity_l2_squared = of_a_cell * component.sensitivity;
    component.coordinates = cells_changed(std::max<std::uint64_t>(1, result_.cells.size()));
    component.counted = column.values;
    result_.components = {std::move(component)};
  }

  const Dataset& dataset_;
  const Question& question_;
  bool replace_one_;
  const Rational k_;
  const Rational n_;
  std::optional<std::uint64_t> groups_;  ///< cells of what is derived; none where it has none
  Derivation result_;
};

Derivation derive_supplied(const Dataset& dataset, const Question& question) {
  if (!question.by.empty()) throw InvalidParameter("by: a value computed elsewhere cannot be grouped");
  if (question.where) throw InvalidParameter("where: a value computed elsewhere cannot be filtered");
  const NamedQuery& query = declared_query(dataset, question.statistic.subject);
  Component component;
  component.quantity = Quantity::supplied;
  component.sensitivity = query.sensitivity;
  component.sensitivity_l2_squared = query.sensitivity * query.sensitivity;
  component.lower = query.bounds.lower;
  component.upper = query.bounds.upper;
  Derivation result;
  result.components.push_back(std::move(component));
  return result;
}

}  // namespace

Derivation derive(const Dataset& dataset, const Question& question) {
  if (question.statistic.kind == StatisticKind::value) return derive_supplied(dataset, question);
  if (!dataset.has_source()) {
    throw Underivable("dataset '" + dataset.name +
                      "' declares no source: only value:NAME can be asked of it");
  }
  // The exact forms are proved for replaced rows only; an added row would change N itself.
  EPSILOG_INVARIANT(!dataset.rows.exact || dataset.neighbours == Neighbours::replace_one);
  // Rows outside the blocks are dropped, so the number of those left is never public.
  EPSILOG_INVARIANT(!dataset.rows.exact || !dataset.blocks);
  EPSILOG_INVARIANT(dataset.unit.max_rows >= 1 && dataset.rows.count >= 1);
  return Deriver(dataset, question).derive();
}

std::string_view name(Component::Quantity quantity) {
  switch (quantity) {
    case Component::Quantity::rows:
      return "count";
    case Component::Quantity::units:
      return "units";
    case Component::Quantity::sum:
      return "sum";
    case Component::Quantity::sum_about_centre:
      return "sum_about_centre";
    case Component::Quantity::squares_about_centre:
      return "squares_about_centre";
    case Component::Quantity::mean:
      return "mean";
    case Component::Quantity::variance:
      return "variance";
    case Component::Quantity::supplied:
      return "value";
    case Component::Quantity::quantile:
      return "quantile";
    case Component::Quantity::rows_of_value:
      return "rows_of_value";
    case Component::Quantity::distinct:
      return "distinct";
    case Component::Quantity::numerator:
      return "numerator";
    case Component::Quantity::denominator:
      return "denominator";
  }
  EPSILOG_INVARIANT(false);
  return "";
}

}  // namespace epsilog::engine
