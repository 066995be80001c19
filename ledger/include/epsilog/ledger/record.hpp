// What the ledger stores, as values. All of it is public to whoever may read the ledger; none of it
// is a true answer, a random bit or a property of a source.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/accounting/filter.hpp"
#include "epsilog/accounting/sealed_release.hpp"

namespace epsilog::ledger {

/// One budget of one dataset under one measure.
struct AccountState {
  std::int64_t id = 0;  ///< 0 when not stored yet
  std::string dataset;
  std::string scope;            ///< '' = the dataset as a whole
  std::string measure;          ///< "epsilon", "delta"
  accounting::Balance balance;  ///< grid units of the measure
};

/// One debit.
struct Charge {
  std::int64_t account = 0;  ///< AccountState::id
  std::int64_t amount = 0;   ///< grid units, 1..2^61
};

/// A version of the policy as it was applied.
struct PolicyVersion {
  std::int64_t version = 0;  ///< 1, 2, …
  std::string yaml;          ///< exact bytes
  std::string sha256;        ///< lower-case hex of those bytes
  std::string base_dir;      ///< absolute; relative source paths start here
  std::string applied_at;    ///< ledger time
  std::string applied_by;
};

/// One mechanism call as recorded, values aside. Texts are canonical; "" = not applicable.
struct ComponentRecord {
  std::string statistic;                    ///< "count", "sum", …
  std::string epsilon;                      ///< charged for this component
  std::string delta = {};                   ///< the same; "" for a pure loss
  std::string sensitivity;                  ///< L1
  std::string sensitivity_l2_squared = {};  ///< of Gaussian noise
  std::string inflated = {};  ///< sensitivity after rounding to the grid; L2 squared for Gaussian noise
  std::string lambda;         ///< scale of the noise
  std::string grid;
  std::string centre;
  std::string bound;
  std::int64_t coordinates = 1;
  std::int64_t precision = 0;
  std::string adjusted;
  std::string adjusted_delta = {};  ///< of Gaussian noise
  std::string rho = {};             ///< of Gaussian noise
  std::string published;            ///< "" for exact
  std::string published_note;       ///< "" when `published` is a bound

  friend bool operator==(const ComponentRecord&, const ComponentRecord&) = default;
};

/// The public facts of a release, known before a bit is drawn.
struct ReleaseRecord {
  std::string mechanism;   ///< "snapping", "discrete_laplace", …
  std::string arithmetic;  ///< "mpfr", "exact"
  std::string requested;   ///< epsilon as asked, exact
  std::string charged;     ///< on the grid
  std::string adjusted;    ///< exact sum over the components
  std::string published;   ///< exact sum over the components; "" for exact
  std::vector<ComponentRecord> components;
  std::vector<std::string> cells;  ///< keys of `by`; empty for a scalar

  friend bool operator==(const ReleaseRecord&, const ReleaseRecord&) = default;
};

enum class Outcome { granted, refused };

/// A decision about to be recorded.
struct DecisionDraft {
  std::string principal;
  std::string key;             ///< '' = none
  std::string request_digest;  ///< lower-case hex SHA-256 of `request`
  std::string request;         ///< canonical JSON without --value
  std::string dataset;
  std::int64_t policy_version = 0;
  Outcome outcome = Outcome::refused;
  std::string reasons;  ///< JSON array; "[]" when granted
};

/// A decision as stored. Everything a replay answers with.
struct StoredDecision {
  std::int64_t seq = 0;  ///< 1, 2, … without gaps
  std::string id;        ///< 26 characters, bytewise time-ordered
  std::string created_at;
  DecisionDraft draft;
  std::vector<AccountState> accounts;  ///< of the dataset, as they stood after the decision
  std::vector<Charge> charges;
  std::optional<ReleaseRecord> release;
  std::vector<std::vector<accounting::Rational>> component_values;  ///< [component][cell]
  std::vector<accounting::Rational> values;                         ///< [cell], post-processed
  accounting::PostProcessing post_processing;                       ///< how `values` follow
};

/// A change of an account's limit by `policy apply`.
struct LimitChange {
  std::int64_t seq = 0;             ///< order of application, 1, 2, …
  std::int64_t after_decision = 0;  ///< the last decision seq before the change
  std::int64_t policy_version = 0;
  std::int64_t account = 0;
  std::int64_t old_limit = 0;
  std::int64_t new_limit = 0;
  std::string changed_at;
  std::string by;
  std::string why;
};

}  // namespace epsilog::ledger
