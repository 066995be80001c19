// The keys and words a policy may use, place by place.
//
// The decoder accepts nothing that is not in these tables, and a test holds them to
// schema/policy.schema.json: each table to the definition of its name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

struct Key {
  std::string_view name;
  bool required = false;
  std::string_view hint = {};  ///< what to write, for the message that it is missing
};

struct KeyTable {
  std::string_view definition;  ///< name under `definitions` of the schema; "" for its root
  std::vector<Key> keys;

  [[nodiscard]] const Key* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
};

/// Words one of which must be written.
struct Vocabulary {
  std::string_view definition;
  std::vector<std::string> words;
};
/// Those of an enumeration, in its order.
template <class Enum>
struct VocabularyOf : Vocabulary {};

namespace keys {
extern const KeyTable policy, principal, dataset, csv_source, sqlite_source, unit, rows, budget, lifetime,
    limit, blocks, per_release, column, derived_column, query, release, quantile_release, allow, forbid,
    approvals, approvers, above, reservations, replica, checkpoint;
extern const VocabularyOf<ReplicaFile::Sync> replica_syncs;
extern const VocabularyOf<ColumnType> column_types;
extern const VocabularyOf<Encoding> encodings;
extern const VocabularyOf<DateFormat> date_formats;
extern const VocabularyOf<Neighbours> neighbours;
extern const VocabularyOf<Measure> measures;
extern const VocabularyOf<CalendarPeriod> periods;
extern const VocabularyOf<Duty> duties;
extern const VocabularyOf<Limit::Subject> limit_subjects;
extern const VocabularyOf<MechanismChoice> mechanisms;
extern const VocabularyOf<SelectionChoice> selections;
extern const VocabularyOf<ArithmeticChoice> arithmetics;
extern const VocabularyOf<StatisticKind> statistics;
extern const Vocabulary release_names;

/// Keys that later versions know; named in the message instead of a wrong suggestion.
[[nodiscard]] bool is_of_a_later_version(std::string_view key);

[[nodiscard]] std::span<const KeyTable* const> tables();
[[nodiscard]] std::span<const Vocabulary* const> vocabularies();
}  // namespace keys

}  // namespace epsilog::engine
