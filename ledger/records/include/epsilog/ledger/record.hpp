// What the ledger stores, as values. All of it is public to whoever may read the ledger; none of it
// is a true answer, a random bit or a property of a source.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/composed_charge.hpp"
#include "epsilog/accounting/filter.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/ledger/cell_keys.hpp"
#include "epsilog/ledger/merkle_proof.hpp"
#include "epsilog/ledger/program.hpp"

namespace epsilog::ledger {

/// Names an account for ever.
struct AccountName {
  std::string dataset;
  std::string scope;    ///< '' = the dataset as a whole
  std::string measure;  ///< "epsilon", "delta", "rho", "rdp(8)"

  friend auto operator<=>(const AccountName&, const AccountName&) = default;
};

/// One budget of one dataset under one measure.
struct AccountState {
  std::int64_t id = 0;  ///< 0 when not stored yet
  std::string dataset;
  std::string scope;            ///< as in AccountName
  std::string measure;          ///< as in AccountName
  accounting::Balance balance;  ///< grid units of the measure

  [[nodiscard]] AccountName name() const { return {dataset, scope, measure}; }
};

/// One debit.
struct Charge {
  std::int64_t account = 0;  ///< AccountState::id
  std::int64_t amount = 0;   ///< grid units, 1..2^61
};

/// What accounts of one scope have to cover of a release, where that is not all: of a batch, what those of
/// its rows lose that touch the scope.
struct ScopeLoss {
  std::string scope;
  accounting::ApproximateLoss loss;  ///< in neither part more than that of the release
  /// Of a release with a composed charge: what those rows are charged as one, likewise; else they are charged
  /// the sum.
  std::optional<accounting::ComposedCharge> composed = {};
};

/// A version of the policy as it was applied.
struct PolicyVersion {
  std::int64_t version = 0;  ///< 1, 2, …
  std::string yaml;          ///< exact bytes
  std::string sha256;        ///< lower-case hex of those bytes
  std::string base_dir;      ///< absolute; relative source paths start here
  std::string applied_at;    ///< ledger time
  std::string applied_by;
  std::string why = {};             ///< the reason that was given; "" = none
  std::int64_t after_decision = 0;  ///< the last decision before it
  std::int64_t event = 0;           ///< its place among the events
  std::string implies = {};         ///< canonical JSON of what the text means, for readers without YAML
};

/// One mechanism call as recorded, values aside.
///
/// Numbers are exact and in canonical form, and stored as the text of that form; an optional one is nothing
/// where it does not apply. Lengths (sensitivity, grid_sensitivity, lambda, grid, centre, bound) are in the
/// unit of the drawn statistic, those squared in its square; losses in nats. In a planned release all but
/// `centre` are positive. The ledger sees to the ranges of epsilon and delta (quantity.hpp); the signs of the
/// others are for who reads them to see.
struct ComponentRecord {
  std::string statistic;                                            ///< "count", "sum", …
  accounting::Epsilon epsilon;                                      ///< charged for this component
  std::optional<accounting::Delta> delta = {};                      ///< the same; nothing for a pure loss
  accounting::Rational sensitivity;                                 ///< L1
  std::optional<accounting::Rational> sensitivity_l2_squared = {};  ///< of Gaussian noise
  /// L1 after rounding to the grid, of discrete Laplace noise.
  std::optional<accounting::Rational> grid_sensitivity = {};
  /// L2 after rounding to the grid, squared, of Gaussian noise.
  std::optional<accounting::Rational> grid_sensitivity_l2_squared = {};
  accounting::Rational scale;                       ///< scale of the noise
  accounting::Rational grid;                        ///< step of what is drawn
  std::optional<accounting::Rational> centre = {};  ///< of the range that snapping clamps to
  std::optional<accounting::Rational> bound = {};   ///< half the length of that range
  std::int64_t coordinates = 1;
  std::int64_t precision = 0;                               ///< bits; 0 for exact
  accounting::Rational adjusted;                            ///< the proved loss, at most `epsilon`
  std::optional<accounting::Rational> adjusted_delta = {};  ///< the same of delta, of Gaussian noise
  std::optional<accounting::Rational> rho = {};             ///< of Gaussian noise, as it is and not on a grid
  std::optional<accounting::Rational> published = {};       ///< by the published formula; nothing for exact
  std::string published_note;                               ///< "" when `published` is a bound

  friend bool operator==(const ComponentRecord&, const ComponentRecord&) = default;
};

/// How one row of a batch is answered: by the components that follow those of the rows before it.
struct ReleaseRow {
  std::string mechanism;
  std::string arithmetic;
  accounting::Rational requested;
  accounting::Epsilon charged;
  accounting::Rational adjusted;
  std::optional<accounting::Rational> published = {};
  std::int64_t components = 1;                 ///< how many, at least 1
  CellKeys cells;                              ///< of its answer, as of a release
  accounting::PostProcessing post_processing;  ///< how its values follow

  friend bool operator==(const ReleaseRow&, const ReleaseRow&) = default;
};

/// That a batch is charged as one: `charged` is its epsilon, and not the sum of those of its rows.
struct ComposedRecord {
  accounting::ComposedBy by = accounting::ComposedBy::sum;  ///< which bound certified it
  accounting::Delta delta;                                  ///< charged with it, above 0 and below 1

  friend bool operator==(const ComposedRecord&, const ComposedRecord&) = default;
};

/// As ReleaseRecord::mechanism of a batch, whose rows have one each.
inline constexpr std::string_view kBatch = "batch";

/// The public facts of a release, known before a bit is drawn.
struct ReleaseRecord {
  std::string mechanism;                               ///< "snapping", "discrete_laplace", …; kBatch
  std::string arithmetic;                              ///< "mpfr", "exact"; "" of a batch
  accounting::Rational requested;                      ///< epsilon as asked, exact
  accounting::Epsilon charged;                         ///< on the grid
  accounting::Rational adjusted;                       ///< accounting::sum_up over the components
  std::optional<accounting::Rational> published = {};  ///< the same; nothing unless all components have one
  std::vector<ComponentRecord> components;
  CellKeys cells;             ///< by the keys of `by`; empty for a scalar
  std::string unit = {};      ///< of privacy: "patient_id max_rows=3", "row"
  std::string neighbours = {};  ///< of neighbours: "add-remove", "replace-one"
  /// Of a batch, which has no cells of its own and whose components are those of its rows; else empty.
  std::vector<ReleaseRow> rows = {};
  /// Of a batch that is charged as one.
  std::optional<ComposedRecord> composed = {};

  friend bool operator==(const ReleaseRecord&, const ReleaseRecord&) = default;
};

/// What of a release one question is answered by: a run of the components, and of the values they make.
struct ReleasePart {
  std::size_t component = 0;       ///< its first
  std::size_t components = 0;      ///< how many
  std::size_t value = 0;           ///< its first, one a cell
  std::size_t values = 0;          ///< how many
  std::vector<std::size_t> drawn;  ///< [component], so many values of each
  accounting::PostProcessing post_processing;
};

/// Of a batch its rows; of another release itself, answered by `post_processing`.
/// Thread-safety: pure functions.
[[nodiscard]] std::vector<ReleasePart> release_parts(const ReleaseRecord& record,
                                                     const accounting::PostProcessing& post_processing);

/// The answers that follow from what was drawn, [component][cell]: of a batch those of its rows, one after
/// the other; of a table with totals those of each of its margins, the table's own first.
/// Throws  InvalidParameter where there are not as many components and values as the parts have.
[[nodiscard]] std::vector<accounting::Rational> released_values(
    const ReleaseRecord& record, const accounting::PostProcessing& post_processing,
    const std::vector<std::vector<accounting::Rational>>& component_values);

/// Whether recorded_values() leaves any out.
[[nodiscard]] bool has_unrecorded_values(const ReleaseRecord& record,
                                         const accounting::PostProcessing& post_processing);

/// Those of these answers that are recorded: a table made consistent is left out, each of whose fractions
/// takes more than all draws that it follows from.
/// Requires  values.size() is that of released_values(); of fewer, what there is.
[[nodiscard]] std::vector<accounting::Rational> recorded_values(
    const ReleaseRecord& record, const accounting::PostProcessing& post_processing,
    const std::vector<accounting::Rational>& values);

/// What a decision says. `parent` is the decision it is about; one is open from when it is recorded until
/// a child resolves it, and it is resolved once.
enum class Outcome {
  granted,        ///< spends, and has a release; with a parent: posts that reservation, spending its charges
  refused,        ///< costs nothing; with a parent: resolves a pending decision that no longer fits
  reserved,       ///< open; keeps its charges reserved; with a parent: resolves a pending decision
  pending,        ///< open; waits for approvals and debits nothing
  approved,       ///< about a pending decision, which stays open; once a principal
  rejected,       ///< resolves a pending decision
  data_accessed,  ///< about a reservation, which stays open but is no longer given back; at most one
  voided,         ///< resolves a pending decision, or a reservation and gives back what it reserved
  forfeited,      ///< resolves a reservation: what it reserved is spent, without a release
};

/// "granted", "data_accessed", …: as the ledger stores it.
/// Thread-safety: pure function.
[[nodiscard]] const char* outcome_name(Outcome outcome);

/// Whether that says how a principal is known: "claimed", or "unix:", "token:" and which.
/// Thread-safety: pure function.
[[nodiscard]] bool is_valid_via(std::string_view via);

/// A decision about to be recorded.
struct DecisionDraft {
  std::string principal;
  std::string key;                  ///< '' = none
  std::string request_digest;       ///< lower-case hex SHA-256 of `request`
  std::string request;              ///< canonical JSON without --value
  std::string dataset;              ///< with a parent: the parent's
  std::int64_t policy_version = 0;  ///< the active one; with a parent: the parent's
  Outcome outcome = Outcome::refused;
  std::string reasons;        ///< JSON array; "[]" unless refused
  std::string parent = {};    ///< id of the decision this one is about; '' = none
  std::string deadline = {};  ///< ledger time at which a reserved or pending one is overdue; '' otherwise
  /// Ids of the accounts whose balances after the decision are stored with it, in this order. Nothing: those
  /// it moves; of a grant or refusal without a parent, all of the dataset.
  std::optional<std::vector<std::int64_t>> shown_account_ids = {};
  std::string via = "claimed";  ///< how the principal is known
  bool issues_token = false;    ///< of data_accessed: 32 random bytes are drawn, which are its data token
};

/// A data token as it is recorded: 32 random bytes, and their SHA-256, which alone stands in a line.
struct DataToken {
  using Bytes = std::array<unsigned char, 32>;
  std::optional<Bytes> bytes = {};  ///< none in a row made of a line, and where they are withheld
  Bytes sha256{};
};

/// Where the line of a decision stands in the tree of all lines (docs/record_format.md). Whoever keeps it can
/// hold any later state of the ledger to it: merkle_proof.hpp.
struct LogPosition {
  std::uint64_t index = 0;  ///< of the line, from 0; for ever
  Hash leaf{};              ///< of the line; for ever
  TreeHead tree;            ///< durable, and the line is in it

  friend bool operator==(const LogPosition&, const LogPosition&) = default;
};

/// A decision as stored. Everything a replay answers with.
struct StoredDecision {
  std::int64_t seq = 0;   ///< 1, 2, … without gaps
  std::int64_t line = 0;  ///< index of its line (docs/record_format.md)
  std::string id;         ///< 26 characters, bytewise time-ordered
  std::string created_at;
  /// How the principal was known: "claimed", "unix:UID", "token:ID". draft.via says the same.
  std::string via = "claimed";
  Rules rules = kRules;
  Build build = {};
  std::int64_t decided_under = 0;  ///< the policy version active then
  DecisionDraft draft;
  std::vector<AccountState> accounts;  ///< draft.shown_account_ids, as they stood after the decision
  std::vector<Charge> charges;
  std::optional<ReleaseRecord> release;
  std::vector<std::vector<accounting::Rational>> component_values;  ///< [component][cell]
  std::vector<accounting::Rational> values;    ///< [cell], post-processed; of a batch row after row
  accounting::PostProcessing post_processing;  ///< how `values` follow; of a batch its rows say that
  /// Of data_accessed with DecisionDraft::issues_token.
  std::optional<DataToken> token = {};
  bool durable = true;  ///< false: not known to be on disk, and values of both kinds and token are withheld
  bool in_replica =
      true;  ///< false: durable in the ledger alone, whose replica does not have it; not `durable`
  /// Of what Ledger::commit() returns, with the tree that it made durable; of others Snapshot::log_position().
  std::optional<LogPosition> log = {};
};

/// What became of a request or of an act on one, and nothing else.
struct DecisionOutcome {
  std::int64_t seq = 0;
  std::string time;       ///< ledger time
  std::string principal;  ///< whose decision it is, as DecisionDraft has it
  Outcome outcome = Outcome::refused;
  std::int64_t rows = 1;  ///< of a batch that was refused, how many it has
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

/// Something the clocks of the machine did that ledger time does not follow (ledger.hpp), or its end.
struct ClockEvent {
  std::int64_t seq = 0;             ///< 1, 2, …
  std::int64_t after_decision = 0;  ///< the last decision seq before it was noticed
  std::string kind;                 ///< "backwards", "forwards", "confirmed"
  std::string ledger_time;          ///< before a step of the clock; of a confirmation, its own
  std::string wall_clock;           ///< what it showed then
  std::string by;                   ///< who confirmed; "" otherwise
  std::int64_t event = 0;           ///< its place among the events
};

/// Where the source of a dataset is found from then on, until a policy version or another relocation.
struct Relocation {
  std::int64_t seq = 0;             ///< 1, 2, …
  std::int64_t event = 0;           ///< its place among the events
  std::int64_t after_decision = 0;  ///< the last decision seq before it
  std::string dataset;
  std::string path;  ///< absolute
  std::string at;
  std::string by;
  std::string why;
};

/// An account whose limit a policy version declares no more. It stays, and limits nothing from then on.
struct LimitRemoval {
  std::int64_t seq = 0;             ///< 1, 2, …
  std::int64_t after_decision = 0;  ///< the last decision seq before it
  std::int64_t policy_version = 0;
  std::int64_t account = 0;
  std::string removed_at;
  std::string by;
  std::string why;
};

}  // namespace epsilog::ledger
