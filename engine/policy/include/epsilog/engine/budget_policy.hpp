// The part of a policy that says how much may be lost, by whom, and with whose consent.
//
// The format is described by schema/policy.schema.json and docs/policy.md, the theorems by docs/filters.md.
// Thread-safety: immutable values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/engine/calendar_period.hpp"
#include "epsilog/engine/mark.hpp"

namespace epsilog::engine {

using accounting::Delta;
using accounting::Epsilon;
using accounting::Rational;
using accounting::Rho;

/// From quantile on they are later ones. count_of is `count:C`, which no policy permits by naming count.
/// private_variance is a word of policies alone: required_permission() says of which variance.
enum class StatisticKind {
  count,
  units,
  sum,
  mean,
  variance,
  value,
  quantile,
  count_of,
  proportion,
  distinct,
  private_variance,
  ratio
};
[[nodiscard]] std::string_view name(StatisticKind kind);
/// Those that came after the first version: asked only where `allow.statistics` names them, and names in
/// policies from before them.
[[nodiscard]] bool is_later_statistic(StatisticKind kind);
[[nodiscard]] bool is_later_statistic(std::string_view name);
/// Returns the statistics of format 1, for which `default` and an absent `allow.statistics` stand. The list
/// never grows: a policy permits tomorrow what it permits today.
[[nodiscard]] const std::vector<StatisticKind>& default_statistics();
/// Whether `allow.statistics` has it.
[[nodiscard]] bool permits(const std::vector<StatisticKind>& allowed, StatisticKind kind);

/// In which terms a budget counts. Each has a theorem under which its sum may be a filter for releases
/// chosen adaptively (docs/filters.md).
enum class Measure { pure, approximate, zcdp, rdp };
[[nodiscard]] std::string_view name(Measure measure);

/// What may be lost at one order of Renyi differential privacy.
struct RenyiLimit {
  Rational order;      ///< > 1
  Epsilon divergence;  ///< nats, > 0
};

/// A limit of privacy loss. Which fields mean something depends on the measure; the others are zero.
struct Budget {
  Epsilon epsilon;  ///< pure, approximate: > 0
  Delta delta;      ///< approximate: > 0
  Measure measure = Measure::pure;
  Rho rho = {};                         ///< zcdp: > 0
  std::vector<RenyiLimit> orders = {};  ///< rdp: orders ascending, every one of which must hold
  std::optional<accounting::ApproximateLoss> target = {};  ///< the (epsilon, delta) from which rho or the
                                                           ///< divergence was derived, rounded down
};

/// What one release may lose in each measure that is named; all of them hold. One at least is.
struct LossCap {
  std::optional<Epsilon> epsilon = {};
  std::optional<Delta> delta = {};
  std::optional<Rho> rho = {};
  std::vector<RenyiLimit> orders = {};  ///< ascending
};

/// The declared, public partition of the data, each part of which has a budget of its own.
struct Blocks {
  std::string by;                     ///< a date column, or one with declared values
  std::optional<CalendarPeriod> per;  ///< of a date column; absent: one block a declared value
  std::int64_t first_day = 0;         ///< of the first period, days since 1970-01-01; with `per` only
  std::int64_t last_day = 0;          ///< of the last period, inclusive
  Mark mark{};
};

/// What somebody does beside asking. Who has which is for a daemon to ask: no decision depends on it.
enum class Duty {
  curate,   ///< changes the policy
  audit,    ///< sees everything
  operate,  ///< sees whether all is well, and nothing of principals or data
};
[[nodiscard]] std::string_view name(Duty duty);

/// Who may ask, once `principals` are declared.
struct Principal {
  std::string name;
  std::vector<std::string> roles;                    ///< distinct, in the order declared
  std::optional<std::vector<std::string>> purposes;  ///< absent: every purpose of a dataset
  std::vector<Duty> duties = {};                     ///< distinct, in the order declared
  Mark mark{};
};

/// A budget of some of the askers of a dataset, beside that of the dataset.
struct Limit {
  enum class Subject { principal, role, purpose };
  Subject subject = Subject::principal;
  std::string name;  ///< of one principal, role or purpose; "": each has this budget, unless named itself
  Budget budget;
  Mark mark{};
};

/// A request to which every list that is present applies is refused, whatever else would allow it.
struct Forbid {
  std::optional<std::vector<std::string>> principals;
  std::optional<std::vector<std::string>> roles;  ///< of which the asker has at least one
  std::optional<std::vector<std::string>> purposes;
  std::optional<std::vector<StatisticKind>> statistics;
  std::optional<std::vector<std::string>> columns;  ///< one of which is aggregated
  std::optional<std::vector<std::string>> by;
  std::optional<std::vector<std::string>> where;  ///< one of which is used in the condition
  Mark mark{};
};

/// Which requests wait until enough of the others agreed.
struct Approvals {
  std::uint64_t required = 1;           ///< distinct approvers, >= 1; who asks is none of them
  std::vector<std::string> principals;  ///< who may approve,
  std::vector<std::string> roles;       ///< or has one of these roles
  /// Only requests that lose more in one of its measures; absent: every request.
  std::optional<LossCap> above;
  /// Beside `above`: what the asker was charged so long before, or has reserved, is added to what a request
  /// loses. 0: each request counts by itself.
  std::int64_t within_seconds = 0;
  std::int64_t expires_seconds = 7 * 24 * 3600;
  Mark mark{};
};

}  // namespace epsilog::engine
