#include "column_reader.hpp"

#include <algorithm>
#include <limits>

#include "calendar.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

/// Of n + 1 ascending edges the place of the value among the n parts between them.
template <class Value>
std::optional<std::size_t> part_of(const std::vector<Value>& edges, const Value& value) {
  const auto above = std::upper_bound(edges.begin(), edges.end(), value);
  if (above == edges.begin() || above == edges.end()) return std::nullopt;
  return static_cast<std::size_t>(above - edges.begin()) - 1;
}

template <class Value>
std::vector<bool> nonempty_parts(const std::vector<Value>& edges, const Value& least, const Value& most) {
  std::vector<bool> result;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    result.push_back(edges[i - 1] < edges[i] && edges[i] > least && edges[i - 1] <= most);
  }
  return result;
}

std::vector<Int128> period_edges(const LabelRule& rule) {
  std::vector<Int128> edges;
  for (std::int64_t day = rule.first_day; day <= rule.last_day; day = period_of(*rule.per, day).last + 1) {
    edges.push_back(day);
  }
  edges.push_back(rule.last_day + 1);
  return edges;
}

/// The declared values of a column that has those of the map.
DeclaredValues values_of(const LabelRule& rule, const Column& source) {
  Column mapped;
  mapped.type = source.type;
  mapped.scale = source.scale;
  for (const auto& [value, label] : rule.map) mapped.values.push_back(value);
  return DeclaredValues(mapped);
}

std::size_t label_index(const std::vector<std::string>& labels, const std::string& label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  EPSILOG_INVARIANT(found != labels.end());
  return static_cast<std::size_t>(found - labels.begin());
}

}  // namespace

CellLabels::CellLabels(const Column& column, const Column& source)
    : type_(source.type), labels_(column.values) {
  const LabelRule& rule = *column.derived;
  if (rule.per) {
    rule_ = period_edges(rule);
  } else if (!rule.map.empty()) {
    Mapped mapped{values_of(rule, source), {}, {}};
    for (const auto& [value, label] : rule.map) mapped.label_indices.push_back(label_index(labels_, label));
    if (rule.other) mapped.other = label_index(labels_, *rule.other);
    rule_ = std::move(mapped);
  } else if (type_ == ColumnType::real) {
    RealEdges edges;
    for (const Rational& edge : rule.bins) edges.push_back(round_real(edge).up);
    rule_ = std::move(edges);
  } else {
    FixedEdges edges;
    for (const Rational& edge : rule.bins) edges.push_back(round_fixed(edge, source.scale).up);
    rule_ = std::move(edges);
  }
  if (source.missing) stand_in_ = label_of_constant(*source.missing, rule);
}

/// Compared as it is written: it need not be a binary64 number.
std::optional<std::size_t> CellLabels::label_of_constant(const Rational& value, const LabelRule& rule) const {
  if (!rule.bins.empty()) return part_of(rule.bins, value);
  Cell cell;  // only numbers have a constant, and of these only whole ones are mapped
  cell.missing = false;
  cell.fixed = round_fixed(value, 0).up;
  return label_of_value(cell);
}

std::optional<std::size_t> CellLabels::label_of_value(const Cell& cell) const {
  if (const auto* edges = std::get_if<FixedEdges>(&rule_)) return part_of(*edges, cell.fixed);
  if (const auto* edges = std::get_if<RealEdges>(&rule_)) return part_of(*edges, cell.real);
  const auto& mapped = std::get<Mapped>(rule_);
  const std::size_t found = mapped.values.find(cell);
  return found == kNoIndex ? mapped.other : mapped.label_indices[found];
}

std::optional<std::size_t> CellLabels::find(const Cell& cell) const {
  return cell.missing ? stand_in_ : label_of_value(cell);
}

std::vector<bool> CellLabels::reachable_labels() const {
  std::vector<bool> result(labels_.size(), true);
  if (const auto* edges = std::get_if<FixedEdges>(&rule_)) {
    result = nonempty_parts(*edges, -kFixedMax, kFixedMax);
  } else if (const auto* reals = std::get_if<RealEdges>(&rule_)) {
    result =
        nonempty_parts(*reals, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
  } else if (const auto& mapped = std::get<Mapped>(rule_); type_ == ColumnType::boolean && mapped.other) {
    // Where both are mapped nothing else is left, unless a value is mapped to it.
    const bool left = mapped.label_indices.size() < 2;
    const bool named = std::find(mapped.label_indices.begin(), mapped.label_indices.end(), *mapped.other) !=
                       mapped.label_indices.end();
    result[*mapped.other] = left || named;
  }
  if (stand_in_) result[*stand_in_] = true;
  return result;
}

bool CellLabels::has_unlabelled_cell() const {
  if (!stand_in_) return true;
  if (const auto* edges = std::get_if<FixedEdges>(&rule_)) {
    return edges->front() > -kFixedMax || edges->back() <= kFixedMax;
  }
  if (const auto* edges = std::get_if<RealEdges>(&rule_)) {
    return edges->front() > std::numeric_limits<double>::lowest() ||
           edges->back() <= std::numeric_limits<double>::max();
  }
  return !std::get<Mapped>(rule_).other;
}

ColumnReader::ColumnReader(const Dataset& dataset, const Column& column, const CellDialect& dialect)
    : reader_(column.type, column.scale, dialect) {
  if (!column.derived) return;
  const Column* source = dataset.column(column.derived->from);
  EPSILOG_INVARIANT(source != nullptr);
  reader_ = CellReader(source->type, source->scale, dialect);
  labels_ = std::make_shared<const CellLabels>(column, *source);
}

ColumnReader ColumnReader::of(const Dataset& dataset, const Column& column) {
  return {dataset, column, CellDialect::of(dataset)};
}

void ColumnReader::read_label(const RawCell& raw, Cell& cell) const {
  const auto label = labels_->find(reader_.read(raw));
  cell.missing = !label;
  if (label) cell.text = labels_->labels()[*label];
}

}  // namespace epsilog::engine
