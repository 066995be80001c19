#include "number_readings.hpp"

#include <algorithm>

#include "epsilog/accounting/rational.hpp"
#include "policy_faults.hpp"
#include "yaml_tree.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

/// Whether the digits stand in groups as thousands do: -1.234, 5.000, not 0.125 nor 1.5.
bool has_groups(std::string_view number) {
  constexpr std::size_t kGroup = 3;
  if (number.starts_with('-')) number.remove_prefix(1);
  const std::size_t point = number.find('.');
  if (point == std::string_view::npos || point == 0 || point > kGroup || number.front() == '0') return false;
  const std::string_view digits = "0123456789";
  const std::string_view behind = number.substr(point + 1);
  return behind.size() == kGroup &&
         number.substr(0, point).find_first_not_of(digits) == std::string_view::npos &&
         behind.find_first_not_of(digits) == std::string_view::npos;
}

/// Calls visit(key, number, mark) for every scalar that can be a number of the column's cells.
template <class Visit>
void each_number(const Node& column, const Visit& visit) {
  for (const std::string_view key : {"bounds", "values", "bins"}) {
    const Node* list = column.find(key);
    if (list == nullptr) continue;
    for (const Node& item : list->items) visit(key, item.text, item.mark);
  }
  for (const std::string_view key : {"step", "missing"}) {
    const Node* one = column.find(key);
    if (one != nullptr) visit(key, one->text, one->mark);
  }
  if (const Node* map = column.find("map")) {
    for (const yaml::Entry& entry : map->entries) visit("map", entry.key, entry.mark);
  }
}

/// Calls visit(dataset, type, subject, number, mark) for every number that has groups, beside a numeric
/// column of a CSV file or one that is derived from it, or beside what is released of them.
template <class Visit>
void each_grouped_number(const Policy& policy, std::string_view yaml, const Visit& visit) {
  Faults none("");
  const Node root = yaml::read(yaml, none);
  const Node* datasets = root.find("datasets");
  if (datasets == nullptr) return;
  for (const Dataset& dataset : policy.datasets()) {
    const Node* declared = datasets->find(dataset.name);
    const Node* columns = declared != nullptr ? declared->find("columns") : nullptr;
    if (!dataset.csv || columns == nullptr) continue;
    if (const Node* release = declared->find("release")) {
      for (const yaml::Entry& entry : release->entries) {
        for (const std::string_view key : {"bound", "grid"}) {
          const Node* number = entry.value.find(key);
          if (number == nullptr || dataset.query(entry.key) != nullptr || !has_groups(number->text)) continue;
          visit(dataset, ColumnType::real, "release." + entry.key + "." + std::string(key), number->text,
                number->mark);
        }
      }
    }
    for (const Column& column : dataset.columns) {
      const Column* read = dataset.column(dataset.read_from(column.name));
      const Node* node = columns->find(column.name);
      if (node == nullptr || read == nullptr || !is_numeric(read->type)) continue;
      each_number(*node, [&](std::string_view key, const std::string& number, Mark mark) {
        if (!has_groups(number)) return;
        visit(dataset, read->type, "columns." + column.name + "." + std::string(key), number, mark);
      });
    }
  }
}

std::string without_point(std::string number) {
  number.erase(std::remove(number.begin(), number.end(), '.'), number.end());
  return number;
}

/// "5.000 is 5 here": and how to write each of both.
std::string both_ways(const std::string& number) {
  return "write " + number + "0 for " + accounting::text(accounting::parse_rational(number, "number")) +
         ", or " + without_point(number) + " for " + without_point(number);
}

}  // namespace

std::vector<PolicyFault> number_reading_faults(const Policy& policy, std::string_view yaml,
                                               const std::string& file) {
  std::vector<PolicyFault> faults;
  each_grouped_number(policy, yaml,
                      [&](const Dataset& dataset, ColumnType, const std::string& subject,
                          const std::string& number, Mark mark) {
                        if (dataset.csv->thousands != ".") return;
                        faults.push_back({file, mark.line, mark.column,
                                          subject + ": which number is '" + number +
                                              "'? The point of a policy stands before a fraction, and "
                                              "`thousands: '.'` says that it parts thousands in the file; " +
                                              both_ways(number)});
                      });
  return faults;
}

std::vector<PolicyFault> number_reading_warnings(const Policy& policy, std::string_view yaml,
                                                 const std::string& file) {
  std::vector<PolicyFault> warnings;
  each_grouped_number(
      policy, yaml,
      [&](const Dataset& dataset, ColumnType type, const std::string& subject, const std::string& number,
          Mark mark) {
        const CsvSource& csv = *dataset.csv;
        if (csv.thousands == "." || (type != ColumnType::integer && csv.decimal_point == '.')) return;
        warnings.push_back({file, mark.line, mark.column,
                            "dataset '" + dataset.name + "': " + subject + ": the point of '" + number +
                                "' stands before a fraction, as in every policy; " + both_ways(number)});
      });
  return warnings;
}

}  // namespace epsilog::engine
