// Columns that are functions of others: `from` with `bins`, `per` or `map`.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "policy_decoder.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

constexpr std::string_view kRules[] = {"bins", "per", "map"};

/// What may be written of a column of that type instead of another rule.
std::string rule_of(ColumnType type) {
  if (is_numeric(type) && type != ColumnType::integer) return "bins: [LOWER, …, UPPER]";
  if (type == ColumnType::integer) return "bins: [LOWER, …, UPPER], or map: {VALUE: LABEL}";
  if (type == ColumnType::date) return "per: month with first and last, or map: {VALUE: LABEL}";
  return "map: {VALUE: LABEL}";
}

/// One map of a derived column, and the column that it is a function of.
class DerivedDecoder final {
 public:
  DerivedDecoder(const Fields& fields, const Column& source, Column& column, Faults& faults)
      : fields_(fields), source_(source), column_(column), rule_(*column.derived), faults_(faults) {}

  void decode() {
    refuse_what_stands_alone();
    const auto written = std::count_if(std::begin(kRules), std::end(kRules),
                                       [&](std::string_view key) { return fields_.has(key); });
    if (written > 1) {
      faults_.add(fields_.owner(), fields_.path("") + ": one of bins, per and map, not several");
    } else if (written == 0) {
      const bool slipped = std::any_of(std::begin(kRules), std::end(kRules),
                                       [&](std::string_view key) { return !fields_.lacks(key); });
      if (!slipped) {
        faults_.add(fields_.owner(), fields_.path("") + ": which label has which cell of " +
                                         quoted_excerpt(source_.name) + "? Write " + rule_of(source_.type));
      }
    } else if (fields_.has("bins")) {
      if (takes("bins", is_numeric(source_.type), "only int, decimal and double columns are cut into bins")) {
        decode_bins();
      }
    } else if (fields_.has("per")) {
      if (takes("per", source_.type == ColumnType::date, "only a date column is cut into periods")) {
        decode_periods();
      }
    } else if (takes("map", source_.type != ColumnType::decimal && source_.type != ColumnType::real,
                     "only values of int, string, bool and date columns are mapped one by one")) {
      decode_map();
    }
  }

 private:
  bool takes(std::string_view key, bool fits, const std::string& only) {
    if (fits) return true;
    faults_.add(fields_.mark_of(key),
                fields_.path(key) + ": " + only + ", and " + quoted_excerpt(source_.name) + " is " +
                    std::string(name(source_.type)) + "; write " + rule_of(source_.type));
    return false;
  }

  void refuse_what_stands_alone() {
    const auto refuse = [&](std::string_view key, std::string_view beside, const std::string& why) {
      if (!fields_.has(key) || !fields_.lacks(beside)) return;
      faults_.add(fields_.mark_of(key), fields_.path(key) + ": " + why);
    };
    for (const std::string_view key : {"first", "last"}) {
      refuse(key, "per", "only periods have a first and a last one; add per: month, or remove it");
    }
    refuse("other", "map",
           "it is the label of what a map does not list; add map: {VALUE: LABEL}, or remove it");
  }

  void decode_bins() {
    const std::string what = fields_.path("bins");
    const Node* node = fields_["bins"];
    if (node == nullptr || !expect(*node, Node::Kind::sequence, what, "a list of edges", faults_)) return;
    if (node->items.size() < 2) {
      faults_.add(node->mark,
                  what + ": list two edges at least, where the first bin begins and the last one ends");
      return;
    }
    const std::string* text_before = nullptr;
    for (const Node& item : node->items) {
      const std::optional<Rational> edge = number_of(item, what, faults_);
      if (!edge || !expect_on_grid(*edge, item, source_, what, faults_)) continue;
      if (!rule_.bins.empty() && *edge <= rule_.bins.back()) {
        faults_.add(item.mark, what + ": " + quoted_excerpt(item.text) + " is not above " +
                                   quoted_excerpt(*text_before) + ", the edge before it");
        continue;
      }
      rule_.bins.push_back(*edge);
      text_before = &item.text;
    }
    for (std::size_t i = 1; i < rule_.bins.size(); ++i) {
      column_.values.push_back("[" + accounting::text(rule_.bins[i - 1]) + "," +
                               accounting::text(rule_.bins[i]) + ")");
    }
  }

  void decode_periods() {
    const Node* per = fields_["per"];
    if (per != nullptr) rule_.per = period_kind_of(*per, fields_.path("per"), faults_);
    if (!rule_.per) return;
    for (const std::string_view key : {"first", "last"}) {
      if (!fields_.lacks(key)) continue;
      faults_.add(fields_.owner(), fields_.path("") + ": the key '" + std::string(key) +
                                       "' is missing; write " + std::string(key) + ": " +
                                       std::string(example(*rule_.per)) +
                                       ", as labels come from a declared range and not from the data");
    }
    const auto first = decode_period(fields_, "first", *rule_.per, faults_);
    const auto last = decode_period(fields_, "last", *rule_.per, faults_);
    if (!first || !last) return;
    if (first->first > last->first) {
      faults_.add(fields_["first"]->mark, fields_.path("first") + ": " + fields_["first"]->text +
                                              " is after " + fields_["last"]->text +
                                              ", where the range ends");
      return;
    }
    rule_.first_day = first->first;
    rule_.last_day = last->last;
    if (too_many_periods(*rule_.per, rule_.first_day, rule_.last_day)) {
      faults_.add(fields_["first"]->mark, fields_.path("first") + ": the " + std::string(name(*rule_.per)) +
                                              "s from " + fields_["first"]->text + " to " +
                                              fields_["last"]->text + " are more than " +
                                              std::to_string(kPeriodsMax) + " labels");
      return;
    }
    for (std::int64_t day = rule_.first_day; day <= rule_.last_day;) {
      column_.values.push_back(period_name(*rule_.per, day));
      day = period_of(*rule_.per, day).last + 1;
    }
  }

  void decode_map() {
    const std::string what = fields_.path("map");
    const Node* node = fields_["map"];
    if (node == nullptr || !expect(*node, Node::Kind::map, what, "a map of values to labels", faults_))
      return;
    if (node->entries.empty()) faults_.add(node->mark, what + ": map at least one value");
    Column any = source_;
    any.bounds.reset();                         // cells are mapped before they are clamped
    std::map<std::string, std::string> labels;  // by value: in which order a map is written says nothing
    std::set<std::string> distinct;
    for (const yaml::Entry& entry : node->entries) {
      Node written;
      written.kind = Node::Kind::scalar;
      written.mark = entry.mark;
      written.text = entry.key;
      const std::optional<std::string> value = decode_value(written, any, what, faults_);
      const std::optional<std::string> label = text_of(entry.value, what + "." + entry.key, faults_);
      if (!value || !label) continue;
      distinct.insert(*label);
      if (!labels.emplace(*value, *label).second) {
        faults_.add(entry.mark, what + ": " + quoted_excerpt(entry.key) + " is listed twice");
      }
    }
    rule_.map.assign(labels.begin(), labels.end());
    column_.values.assign(distinct.begin(), distinct.end());
    if (const Node* other = fields_["other"]) {
      rule_.other = text_of(*other, fields_.path("other"), faults_);
      if (rule_.other && !distinct.contains(*rule_.other)) column_.values.push_back(*rule_.other);
    }
  }

  const Fields& fields_;
  const Column& source_;
  Column& column_;
  LabelRule& rule_;
  Faults& faults_;
};

}  // namespace

bool is_derived(const Node& node) {
  if (node.kind != Node::Kind::map) return false;
  if (node.find("from") != nullptr) return true;
  return node.find("type") == nullptr &&
         std::any_of(std::begin(kRules), std::end(kRules),
                     [&](std::string_view key) { return node.find(key) != nullptr; });
}

void decode_derived(const yaml::Entry& entry, const std::vector<Column>& columns, const DistinctNames& broken,
                    Column& column, Faults& faults) {
  const Fields fields(entry.value, keys::derived_column, "columns." + entry.key, entry.mark, faults);
  const Node* from = fields["from"];
  const auto wanted = from != nullptr ? text_of(*from, fields.path("from"), faults) : std::nullopt;
  if (!wanted) return;
  column.derived->from = *wanted;
  const auto source = std::find_if(columns.begin(), columns.end(),
                                   [&](const Column& candidate) { return candidate.name == *wanted; });
  if (source == columns.end()) {
    std::vector<std::string> names;
    for (const Column& candidate : columns) {
      if (!candidate.derived) names.push_back(candidate.name);
    }
    faults.add(from->mark, fields.path("from") + ": " + quoted_excerpt(*wanted) +
                               " is not a declared column." + faults.suggestion(*wanted, names));
    return;
  }
  if (source->derived) {
    faults.add(from->mark, fields.path("from") + ": " + quoted_excerpt(*wanted) +
                               " is derived itself; name a column of the source");
    return;
  }
  // What may be written depends on its type.
  if (!broken.contains(source->name)) DerivedDecoder(fields, *source, column, faults).decode();
}

}  // namespace epsilog::engine
