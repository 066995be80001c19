#include "policy_keys.hpp"

#include <algorithm>

namespace epsilog::engine {

const Key* KeyTable::find(std::string_view name) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> KeyTable::names() const {
  std::vector<std::string> result;
  for (const Key& key : keys) result.emplace_back(key.name);
  return result;
}

namespace keys {

const KeyTable policy{"", {{"version", true, "version: 1"}, {"datasets", true, "datasets: {NAME: {…}}"}}};

const KeyTable dataset{"dataset",
                       {{"source"},
                        {"unit", true, "unit: {id: COLUMN, max_rows: K}, or unit: row"},
                        {"rows"},
                        {"neighbours", true, "neighbours: add-remove or replace-one"},
                        {"budget", true, "budget: {epsilon: E}"},
                        {"per_release"},
                        {"columns"},
                        {"queries"},
                        {"allow"},
                        {"release"},
                        {"mean_split"}}};

const KeyTable csv_source{"csv_source",
                          {{"csv", true, "csv: FILE"}, {"delimiter"}, {"decimal"}, {"null"}, {"multiline"}}};

const KeyTable sqlite_source{"sqlite_source",
                             {{"sqlite", true, "sqlite: FILE"}, {"table", true, "table: NAME"}}};

const KeyTable unit{"unit",
                    {{"id", true, "id: COLUMN, the column that identifies a unit"},
                     {"max_rows", true, "max_rows: K, the most rows of one unit that count"}}};

const KeyTable rows{"rows", {{"max"}, {"exact"}}};

const KeyTable budget{"budget", {{"epsilon", true, "epsilon: E"}, {"delta"}, {"measure"}}};

const KeyTable per_release{"per_release", {{"epsilon", true, "epsilon: E"}}};

const KeyTable column{"column",
                      {{"type", true, "type: int, decimal, double, string, bool or date"},
                       {"scale"},
                       {"bounds"},
                       {"values"},
                       {"missing"}}};

const KeyTable query{"query",
                     {{"bounds", true, "bounds: [LOWER, UPPER]"},
                      {"sensitivity", true, "sensitivity: D, the most one unit can change the value"},
                      {"undefined"}}};

const KeyTable release{
    "release_settings",
    {{"mechanism"}, {"arithmetic"}, {"precision"}, {"bound"}, {"binding_probability"}, {"grid"}}};

const KeyTable allow{"allow", {{"statistics"}, {"columns"}, {"by"}, {"where"}}};

const Vocabulary column_types{"column_type", {"int", "decimal", "double", "string", "bool", "date"}};
const Vocabulary neighbours{"neighbours", {"add-remove", "replace-one"}};
const Vocabulary measures{"measure", {"pure", "approximate"}};
const Vocabulary mechanisms{"mechanism", {"snapping", "discrete_laplace", "discrete_gaussian", "gaussian"}};
const Vocabulary arithmetics{"arithmetic", {"mpfr", "exact"}};
const Vocabulary statistics{"statistic", {"count", "units", "sum", "mean", "variance", "value"}};
const Vocabulary release_names{"release_name", {"default", "count", "units", "sum", "mean", "variance"}};

bool is_of_a_later_version(std::string_view key) {
  static constexpr std::string_view kLater[] = {"lifetime",  "blocks", "principals", "limits",
                                                "approvals", "forbid", "publish",    "bins"};
  return std::find(std::begin(kLater), std::end(kLater), key) != std::end(kLater);
}

std::span<const KeyTable* const> tables() {
  static const KeyTable* const kAll[] = {&policy, &dataset, &csv_source, &sqlite_source,
                                         &unit,   &rows,    &budget,     &per_release,
                                         &column, &query,   &release,    &allow};
  return kAll;
}

std::span<const Vocabulary* const> vocabularies() {
  static const Vocabulary* const kAll[] = {&column_types, &neighbours,  &measures,
                                           &mechanisms,   &arithmetics, &statistics};
  return kAll;
}

}  // namespace keys
}  // namespace epsilog::engine
