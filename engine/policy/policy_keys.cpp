#include "policy_keys.hpp"

#include <algorithm>

#include "policy_words.hpp"
#include "source_words.hpp"

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

const KeyTable policy{"",
                      {{"version", true, "version: 1"},
                       {"principals"},
                       {"replica"},
                       {"checkpoint"},
                       {"datasets", true, "datasets: {NAME: {…}}"}}};

const KeyTable replica{"replica", {{"file", true, "file: /PATH, on another disk"}, {"sync"}}};

const KeyTable checkpoint{"checkpoint",
                          {{"key", true, "key: /PATH of the ledger's key"},
                           {"file", true, "file: /PATH that checkpoints are appended to"},
                           {"every", true, "every: 1h, or a number of lines"}}};

const KeyTable principal{"principal", {{"roles"}, {"purposes"}, {"duties"}}};

const KeyTable dataset{"dataset",
                       {{"source"},
                        {"unit", true, "unit: {id: COLUMN, max_rows: K}, or unit: row"},
                        {"rows"},
                        {"neighbours", true, "neighbours: add-remove or replace-one"},
                        {"budget", true, "budget: {epsilon: E}"},
                        {"lifetime"},
                        {"blocks"},
                        {"limits"},
                        {"per_release"},
                        {"columns"},
                        {"queries"},
                        {"purposes"},
                        {"allow"},
                        {"forbid"},
                        {"approvals"},
                        {"reservations"},
                        {"release"},
                        {"mean_split"}}};

const KeyTable csv_source{"csv_source",
                          {{"csv", true, "csv: FILE"},
                           {"delimiter"},
                           {"decimal"},
                           {"thousands"},
                           {"null"},
                           {"encoding"},
                           {"date_format"},
                           {"multiline"}}};

const KeyTable sqlite_source{"sqlite_source",
                             {{"sqlite", true, "sqlite: FILE"}, {"table", true, "table: NAME"}}};

const KeyTable unit{"unit",
                    {{"id", true, "id: COLUMN, the column that identifies a unit"},
                     {"max_rows", true, "max_rows: K, the most rows of one unit that count"}}};

const KeyTable rows{"rows", {{"max"}, {"exact"}}};

// Which of the keys of an amount are needed depends on its measure: policy_budget.cpp.
const KeyTable budget{"budget",
                      {{"epsilon"},
                       {"delta"},
                       {"measure"},
                       {"rho"},
                       {"orders"},
                       {"order"},
                       {"renew"},
                       {"accept_unbounded_lifetime"}}};

const KeyTable lifetime{"lifetime", {{"epsilon"}, {"delta"}, {"measure"}, {"rho"}, {"orders"}, {"order"}}};

const KeyTable limit{"limit",
                     {{"each"},
                      {"principal"},
                      {"role"},
                      {"purpose"},
                      {"epsilon"},
                      {"delta"},
                      {"measure"},
                      {"rho"},
                      {"orders"},
                      {"order"}}};

const KeyTable blocks{
    "blocks",
    {{"by", true, "by: COLUMN, a date column or one with declared values"}, {"per"}, {"from"}, {"to"}}};

const KeyTable per_release{"per_release", {{"epsilon"}, {"delta"}, {"rho"}, {"orders"}}};

const KeyTable column{"column",
                      {{"type", true, "type: int, decimal, double, string, bool or date"},
                       {"column"},
                       {"scale"},
                       {"bounds"},
                       {"values"},
                       {"step"},
                       {"missing"}}};

// Which of the rules is needed, and what stands beside it: policy_derived.cpp.
const KeyTable derived_column{"derived_column",
                              {{"from", true, "from: COLUMN, of whose cells it is a function"},
                               {"bins"},
                               {"per"},
                               {"first"},
                               {"last"},
                               {"map"},
                               {"other"}}};

const KeyTable query{"query",
                     {{"bounds", true, "bounds: [LOWER, UPPER]"},
                      {"sensitivity", true, "sensitivity: D, the most one unit can change the value"},
                      {"undefined"},
                      {"supplied_by"}}};

const KeyTable release{
    "release_settings",
    {{"mechanism"}, {"arithmetic"}, {"precision"}, {"bound"}, {"binding_probability"}, {"grid"}}};

const KeyTable quantile_release{"quantile_settings", {{"mechanism"}}};

const KeyTable allow{"allow", {{"statistics"}, {"columns"}, {"by"}, {"where"}, {"principals"}, {"roles"}}};

const KeyTable forbid{
    "forbid", {{"principals"}, {"roles"}, {"purposes"}, {"statistics"}, {"columns"}, {"by"}, {"where"}}};

const KeyTable approvals{"approvals",
                         {{"required", true, "required: N, how many others must agree"},
                          {"by", true, "by: {principals: […]} or {roles: […]}, who may approve"},
                          {"above"},
                          {"expires"}}};

const KeyTable approvers{"approvers", {{"principals"}, {"roles"}}};

const KeyTable above{"above", {{"epsilon"}, {"delta"}, {"rho"}, {"orders"}, {"within"}}};

const KeyTable reservations{"reservations", {{"expires", true, "expires: 24h"}}};

const VocabularyOf<ReplicaFile::Sync> replica_syncs{{"replica_sync", kReplicaSyncWords.list()}};
const VocabularyOf<ColumnType> column_types{{"column_type", kColumnTypeWords.list()}};
const VocabularyOf<Encoding> encodings{{"encoding", kEncodingWords.list()}};
const VocabularyOf<DateFormat> date_formats{{"date_format", kDateFormatWords.list()}};
const VocabularyOf<Neighbours> neighbours{{"neighbours", kNeighboursWords.list()}};
const VocabularyOf<Measure> measures{{"measure", kMeasureWords.list()}};
const VocabularyOf<CalendarPeriod> periods{{"period", kPeriodWords.list()}};
const VocabularyOf<Duty> duties{{"duty", kDutyWords.list()}};
const VocabularyOf<Limit::Subject> limit_subjects{{"limit_subject", kLimitSubjectWords.list()}};
const VocabularyOf<MechanismChoice> mechanisms{{"mechanism", kMechanismWords.list()}};
const VocabularyOf<SelectionChoice> selections{{"selection", kSelectionWords.list()}};
const VocabularyOf<ArithmeticChoice> arithmetics{{"arithmetic", kArithmeticWords.list()}};
const VocabularyOf<StatisticKind> statistics{{"statistic", kStatisticWords.list()}};
const Vocabulary release_names{"release_name",
                               {"default", "count", "units", "sum", "mean", "variance", "quantile",
                                "count_of", "proportion", "distinct", "ratio"}};

bool is_of_a_later_version(std::string_view key) {
  static constexpr std::string_view kLater[] = {"publish"};
  return std::find(std::begin(kLater), std::end(kLater), key) != std::end(kLater);
}

std::span<const KeyTable* const> tables() {
  static const KeyTable* const kAll[] = {
      &policy,    &principal,      &dataset,   &csv_source, &sqlite_source,    &unit,
      &rows,      &budget,         &lifetime,  &limit,      &blocks,           &per_release,
      &column,    &derived_column, &query,     &release,    &quantile_release, &allow,
      &forbid,    &approvals,      &approvers, &above,      &reservations,     &replica,
      &checkpoint};
  return kAll;
}

std::span<const Vocabulary* const> vocabularies() {
  static const Vocabulary* const kAll[] = {
      &column_types, &encodings,  &date_formats, &neighbours, &measures,      &periods, &limit_subjects,
      &mechanisms,   &selections, &arithmetics,  &statistics, &replica_syncs, &duties};
  return kAll;
}

}  // namespace keys
}  // namespace epsilog::engine
