// The policy: what a curator declares about the data, the questions and the budget.
//
// A Policy is immutable and was read strictly from YAML: unknown or duplicate keys, anchors,
// aliases, tags, several documents, wrong types and wrong units are faults with file:line:column.
// The format is described by schema/policy.schema.json and docs/policy.md.
// Thread-safety: immutable values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/engine/budget_policy.hpp"
#include "epsilog/engine/source_dialect.hpp"

namespace epsilog::engine {

enum class ColumnType { integer, decimal, real, string, boolean, date };

/// The spelling in a policy: int, decimal, double, string, bool, date.
[[nodiscard]] std::string_view name(ColumnType type);
/// int, decimal and double.
[[nodiscard]] bool is_numeric(ColumnType type);

/// A public closed interval.  Invariant  lower < upper.
struct Bounds {
  Rational lower;
  Rational upper;
};

/// Of so many values at most one is selected as a quantile.
inline constexpr std::uint64_t kQuantileCandidatesMax = 1'000'000;

/// What makes a column a function of another: which label each of its cells has. One of bins, per and map is
/// there.
struct LabelRule {
  /// A declared column that is no function of another. Its cell is taken after its `missing`, before
  /// clamping.
  std::string from;
  /// Of a numeric column: the edges, two or more, ascending. Each bin has its lower edge and not its upper
  /// one.
  std::vector<Rational> bins = {};
  /// Of a date column: these periods, from that of first_day to that of last_day, both whole.
  std::optional<CalendarPeriod> per = {};
  std::int64_t first_day = 0;  ///< since 1970-01-01, as in Blocks
  std::int64_t last_day = 0;
  /// Of any other: values of the column, in canonical text and byte order, each once, and their labels.
  std::vector<std::pair<std::string, std::string>> map = {};
  /// Of every other value, beside map; absent: it has no label.
  std::optional<std::string> other = {};
};

struct Column {
  std::string name;
  ColumnType type = ColumnType::string;
  /// Digits after the point of a decimal, 0..18; a cell with finer digits is missing. 0 otherwise.
  unsigned scale = 0;
  /// Only for int, decimal and double, and for date: days since 1970-01-01.
  std::optional<Bounds> bounds;
  /// The declared values in the order declared, canonical text (int "-3", bool "true"/"false", date
  /// "2024-01-31"); for string, int, bool and date. Empty: the column cannot be grouped by. A bool
  /// without `values` has {"false", "true"}.
  std::vector<std::string> values;
  /// Quantiles of the column are multiples of it. > 0, and one that a cell can be; only with bounds and
  /// without `values`. Absent: 1 of int, one in the last digit of decimal, nothing of double.
  std::optional<Rational> step = {};
  /// What stands in for a missing cell; absent: `missing: skip`, the row is left out. In bounds.
  std::optional<Rational> missing;
  /// What the source calls it, any text; "": its name.
  std::string header = {};
  Mark mark{};  ///< of the column's name
  /// Then it is no column of the source; its type is string, its `values` are the labels, each once: bins and
  /// periods in their order, those of a map in byte order, and `other` last, unless it is one of them. A cell
  /// without a label is missing.
  std::optional<LabelRule> derived = {};
};

/// Where rows come from.
struct CsvSource {
  std::string path;  ///< as written; relative to the policy file
  char delimiter = ',';
  char decimal_point = '.';
  std::vector<std::string> null;  ///< texts that mean "missing"; the empty cell always does
  bool multiline = false;         ///< quoted cells may span lines
  Encoding encoding = Encoding::utf_8;
  /// Between groups of three digits before the point, one character; "": none. Neither of the two above.
  std::string thousands = {};
  DateFormat date_format = DateFormat::year_month_day;
};
struct SqliteSource {
  std::string path;
  std::string table;
};

enum class Neighbours { add_remove, replace_one };
[[nodiscard]] std::string_view name(Neighbours neighbours);  ///< "add-remove", "replace-one"

/// Who is protected: everything one unit contributes.
struct UnitOfPrivacy {
  /// What identifies a unit: the name of a declared column, else what the source calls one, any text. "" for
  /// `unit: row`.
  std::string id;
  std::uint64_t max_rows = 1;  ///< k >= 1; 1 for `unit: row`
  [[nodiscard]] bool is_row() const { return id.empty(); }
};

/// The public size of the data: an upper bound, or exact under replace-one.
struct Rows {
  std::uint64_t count = 0;  ///< n >= 1, at most 10^12; 0: not declared, only possible without a source
  bool exact = false;
};

/// A statistic computed elsewhere and handed in with --value.
struct NamedQuery {
  std::string name;
  Bounds bounds;
  Rational sensitivity;  ///< L1, > 0
  Rational undefined;    ///< stands in for nan and infinities; in bounds; default the midpoint
  /// Declared principals, distinct and one at least, who alone hand values in; absent: who asks does.
  std::optional<std::vector<std::string>> supplied_by = {};
  Mark mark{};  ///< of the query's name
};

enum class MechanismChoice { snapping, discrete_laplace, discrete_gaussian, gaussian };
/// The spelling in a policy.
[[nodiscard]] std::string_view name(MechanismChoice mechanism);

/// How a quantile is selected. automatic: the exponential mechanism where an account of the dataset counts in
/// rho or in Renyi divergence, else permute-and-flip.
enum class SelectionChoice { automatic, permute_and_flip, exponential };
/// As a policy spells it, and a record: auto, permute_and_flip, exponential.
[[nodiscard]] std::string_view name(SelectionChoice selection);

enum class ArithmeticChoice { mpfr, exact };
/// Precision in bits; 0 means `auto`. `binary64` is 53.
struct PrecisionChoice {
  unsigned bits = 0;
};

/// How a statistic is released. Every field absent in `release: {NAME: …}` comes from
/// `release: {default: …}`, then from the defaults here; a `bound` in NAME displaces a
/// `binding_probability` of default and the other way round, `arithmetic: exact` an inherited
/// precision, and another mechanism whatever inherited key it does not have.
struct ReleaseSettings {
  MechanismChoice mechanism = MechanismChoice::snapping;
  // Of snapping only.
  ArithmeticChoice arithmetic = ArithmeticChoice::mpfr;
  PrecisionChoice precision;
  /// Half-width of the released range, > 0; absent: derived from the declared bounds.
  std::optional<Rational> bound;
  /// 0 < beta < 1: widen the derived bound so that clamping binds with at most this probability.
  std::optional<Rational> binding_probability;
  /// Of the other mechanisms: releases are multiples of it. A power of two; absent: auto.
  std::optional<Rational> grid;
  Mark mark{};  ///< of the entry under `release`; of the dataset's name when there is none
};

/// What may be asked. An absent list allows everything declared.
struct Allow {
  /// Those of format 1 where the policy names none, so that no policy permits what its curator could not know.
  std::vector<StatisticKind> statistics = default_statistics();
  std::optional<std::vector<std::string>> columns;
  std::optional<std::vector<std::string>> by;
  std::optional<std::vector<std::string>> where;
  // Of declared principals only; with both, being in one of them is enough.
  std::optional<std::vector<std::string>> principals = {};
  std::optional<std::vector<std::string>> roles = {};
};

struct Dataset {
  std::string name;
  std::optional<CsvSource> csv;  ///< at most one of csv and sqlite; neither: values come from outside
  std::optional<SqliteSource> sqlite;
  Mark source_mark{};  ///< of the key `source`; of nothing without one
  UnitOfPrivacy unit;
  Rows rows;
  Neighbours neighbours = Neighbours::add_remove;
  Budget
      budget;  ///< of the dataset; of each block where `blocks` are declared, of each period where it renews
  std::optional<CalendarPeriod> renews = {};  ///< `budget` starts anew with each such period
  bool accepts_unbounded_lifetime = false;    ///< a renewing budget without `lifetime`: said on every report
  std::optional<Budget> lifetime = {};        ///< never renewed, charged in full by every release
  std::optional<Blocks> blocks = {};          ///< then `lifetime` is there and `renews` is not
  std::vector<Limit> limits = {};             ///< distinct in (subject, name, measure)
  std::optional<std::vector<std::string>> purposes = {};  ///< then every request states one of them
  std::vector<Forbid> forbid = {};
  std::optional<Approvals> approvals = {};
  std::int64_t reservation_seconds = 24 * 3600;  ///< until a reservation expires, >= 1
  std::optional<LossCap> per_release;            ///< as written; loss_caps.hpp says what holds without
  std::vector<Column> columns;                   ///< in the order declared
  std::vector<NamedQuery> queries;
  Allow allow;
  std::map<std::string, ReleaseSettings> release;  ///< by statistic or query name, plus "default"; complete
  SelectionChoice quantile_selection = SelectionChoice::automatic;  ///< never inherited
  Rational mean_split = Rational(1, 2);  ///< share of epsilon for the sum of a private-n mean, in (0,1)
  Mark mark{};                           ///< of the dataset's name

  [[nodiscard]] bool has_source() const { return csv.has_value() || sqlite.has_value(); }
  /// nullptr when there is none of that name.
  [[nodiscard]] const Column* column(std::string_view wanted) const;
  [[nodiscard]] const NamedQuery* query(std::string_view wanted) const;
  /// The column of the source that a declared one, or the unit id, is read from: itself, or what it is a
  /// function of.
  [[nodiscard]] const std::string& read_from(const std::string& column_or_id) const;
  /// What the source calls a declared column that is not derived, or what is none: the unit id.
  [[nodiscard]] const std::string& header(const std::string& column_or_id) const;
  /// `quantile_selection`, where that is automatic what it comes to.
  [[nodiscard]] SelectionChoice selection() const;
  /// The settings for a statistic ("sum") or a named query ("NAME"), else the default's. Quantiles have none.
  [[nodiscard]] const ReleaseSettings& settings(std::string_view statistic_or_query) const;
};

/// Where the ledger writes every line a second time (epsilog/ledger/replica.hpp).
struct ReplicaFile {
  enum class Sync { commit, none };
  std::string path;          ///< absolute
  Sync sync = Sync::commit;  ///< commit: before a value leaves
  Mark mark{};               ///< of the key `replica`
};

/// Checkpoints that the engine signs and appends to a file by itself (docs/evidence.md).
struct AutomaticCheckpoint {
  std::string key;   ///< absolute: the file of the ledger's key
  std::string path;  ///< absolute: of the file that notes are appended to; neither key nor its state
  // Of these one is 0, the other says when the next one is due.
  std::int64_t lines = 0;    ///< so many after the one before
  std::int64_t seconds = 0;  ///< so long after the newest line that is signed
  Mark mark{};               ///< of the key `checkpoint`
};

class Policy final {
 public:
  /// Decodes one YAML document that became a version of a ledger, by whichever program. A new policy is read
  /// by checked_policy() (checked_policy.hpp), which asks more of it; nothing is calibrated here.
  ///
  /// Requires  `file` is the name to show in faults.
  /// Ensures   everything in the model's comments above.
  /// Throws    PolicyError with every fault found, ordered by line and column.
  [[nodiscard]] static Policy parse_stored(std::string_view yaml, const std::string& file);

  [[nodiscard]] const std::vector<Dataset>& datasets() const noexcept { return datasets_; }
  /// Throws  NotFound, with the nearest declared name as a suggestion.
  [[nodiscard]] const Dataset& dataset(std::string_view name) const;
  /// Who may ask; nothing: everybody.
  [[nodiscard]] const std::optional<std::vector<Principal>>& principals() const noexcept {
    return principals_;
  }
  /// Of the key; 1:1 without it.
  [[nodiscard]] const Mark& principals_mark() const noexcept { return principals_mark_; }
  [[nodiscard]] const std::optional<ReplicaFile>& replica() const noexcept { return replica_; }
  [[nodiscard]] const std::optional<AutomaticCheckpoint>& checkpoint() const noexcept { return checkpoint_; }
  /// nullptr when none of that name is declared.
  [[nodiscard]] const Principal* principal(std::string_view name) const;
  /// The exact bytes that were parsed.
  [[nodiscard]] const std::string& yaml() const noexcept { return yaml_; }

 private:
  std::string yaml_;
  std::vector<Dataset> datasets_;
  std::optional<std::vector<Principal>> principals_;
  Mark principals_mark_{};
  std::optional<ReplicaFile> replica_;
  std::optional<AutomaticCheckpoint> checkpoint_;
};

}  // namespace epsilog::engine
