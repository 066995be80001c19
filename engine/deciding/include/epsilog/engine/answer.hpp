// What an engine says of a request: planned, refused, waiting or released.
//
// Thread-safety: values; const ones may be read by all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/engine/cell_intervals.hpp"
#include "epsilog/engine/decision.hpp"
#include "epsilog/engine/release_cost.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/engine/request_state.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

/// How accurate an answer of so many rows, or that of each cell of so many, would be.
struct AssumedAccuracy {
  std::int64_t rows = 0;
  std::vector<Accuracy> accuracy;                          ///< [alpha]; empty for quantiles
  std::vector<std::vector<QuantileReach>> quantiles = {};  ///< [quantile][alpha]; of quantiles alone
};

/// What an asker loses in one measure by a request and lost shortly before, where `approvals.above` has
/// `within`. Amounts as texts, on the grid of the measure.
struct LossWithinWindow {
  std::string measure;
  std::string limit;   ///< of `above`
  std::string before;  ///< charged in that time, or reserved
  std::string asked;   ///< by the request
  std::int64_t seconds = 0;
  std::string window;  ///< these seconds as a policy writes them: "30d"
  bool above = false;  ///< together they are above the limit: that is why it waits
};

/// What plan, release, show and history report: what was asked, what that means, what became of it, and what
/// left.
struct Answer {
  struct Asked {
    std::string principal;
    std::string asker = {};  ///< of the request; `principal` unless this is an act of another about it
    std::string via = {};    ///< how the principal was known (actor.hpp); "" for plan
    std::string key;
    std::string dataset;
    std::string statistic;                        ///< "mean:cost"; "" where who asked may not ask
    std::vector<std::string> by;                  ///< columns; empty without
    std::string where;                            ///< canonical; "" without
    std::optional<Rational> totals = {};          ///< what its totals have of the loss
    bool consistent = false;                      ///< cells and totals are made to add up
    std::optional<Rational> suppress_below = {};  ///< cells counted below it are not to be shown
    std::string purpose;                          ///< "" without
    ReservationKind reservation = ReservationKind::none;  ///< as asked
    std::string same_question;  ///< for who sets it from Engine::same_question(); "" otherwise
  };

  struct Planned {
    std::int64_t policy_version = 0;       ///< under which it was asked
    ledger::ReleaseRecord record;          ///< refusals included
    std::optional<DeltaCost> delta;        ///< nothing for a pure mechanism
    std::optional<RhoCost> rho = {};       ///< where it was asked; epsilon and delta follow from it then
    std::uint64_t approvals_required = 0;  ///< 0: it needs none
    std::vector<LossWithinWindow> lost_within = {};  ///< of plans and forecasts, where `above` has `within`
    std::vector<std::string> precision_reasons;      ///< per component; which rule of `auto` decided
    /// [component][alpha], of each cell of that component; of quantiles [quantile][alpha], in ranks.
    std::vector<std::vector<Accuracy>> accuracy;
    std::optional<AssumedAccuracy> assumed = {};  ///< of plans and forecasts, where a count was assumed
    /// [alpha], of plans and forecasts; of a batch of each row. Of a release its intervals say it.
    std::vector<PlannedSizes> holds_from = {};
    /// How the answer follows from what is drawn.
    accounting::PostProcessing::Kind post_processing = accounting::PostProcessing::Kind::none;
    std::vector<std::string> notes;  ///< what every report says about these budgets
    /// Of an answer by columns, which rows the policy lets be in no cell of it: "rows whose ward is missing
    /// or none of these". "" otherwise.
    std::string left_out = {};
    std::vector<std::string> advice = {};  ///< of a plan: what the policy could do better for the asker
    /// Of a batch that is charged as one: what its rows would be charged without a delta of the whole.
    std::optional<accounting::ApproximateLoss> sum_of_rows = {};
  };

  /// How the request stands; of a plan, how it would if it were released now.
  struct Recorded {
    bool granted = false;  ///< and released
    bool replayed = false;
    /// What is recorded of it is known to be on disk; nothing for plan. Where it is not, or the ledger is
    /// poisoned, all values are withheld, and so is the token.
    std::optional<bool> durable = {};
    /// Not durable for that alone that the replica does not have it: it is told once the replica does.
    bool replica_behind = false;
    RequestState state = RequestState::refused;
    std::string decision_id;  ///< "" for plan
    std::int64_t seq = 0;     ///< 0 for plan
    std::string ledger_id;
    std::string created_at;                ///< "" for plan
    std::int64_t decided_under = 0;        ///< the version active then; 0 for plan
    ledger::Rules rules = ledger::kRules;  ///< it was decided under
    ledger::Build build = {};              ///< that recorded it; empty for plan
    std::vector<ledger::AccountState>
        accounts;                     ///< those touched, after the decision; for plan as they stand
    std::vector<Reason> reasons;      ///< of a recorded decision, the first of
    std::size_t reasons_count = 0;    ///< so many
    std::string parent;               ///< the decision this one is about; "" without
    std::string deadline;             ///< until when a reserved or pending one stays; "" otherwise
    std::vector<Approval> approvals;  ///< so far; not in a history
    /// The data token of a reservation that was made against one, once it was issued: 64 hexadecimal digits.
    /// "" where the ledger has only its SHA-256, because the row was made of a line.
    std::string token;
    std::string token_sha256 = {};  ///< of the data token, in hexadecimal digits; "" without one
    /// The decision since which the data of a statistic computed here may have been seen; "" before it.
    std::string data_accessed_by = {};
    std::string ended_by;  ///< the decision that ended it without an answer; "" otherwise
    /// Of a request that waits or waited, as it stands and under the policy that is active: for approve().
    /// Means nothing else, and is another one after whatever was recorded about it, and under another policy.
    std::string tag = {};
    std::string why;  ///< of an approval or rejection, or policy_changed; "" = not said
    /// Where the line of `decision_id` stands, in the tree that this call's COMMIT made durable, or in that
    /// of today if it recorded nothing. Nothing for plan, in a history and in pending, where `durable` is
    /// false, and where what is needed of the tree cannot be read (`audit verify` names that).
    std::optional<ledger::LogPosition> log = {};
  };

  /// Empty unless it was released and that is durable.
  struct Released {
    std::vector<std::vector<Rational>> component_values;  ///< [component][cell]
    std::vector<Rational> values;  ///< [cell]; of quantiles of dates days since 1970-01-01
    /// [alpha], for which accuracy is told.
    std::vector<CellIntervals> intervals = {};
  };

  Asked asked;
  Planned planned;
  Recorded recorded;
  Released released;
  /// Of a batch, each of its rows as an answer of its own, all of which stand as the batch does: what is
  /// asked and planned of it, and what left. What it says above is of all of them; `asked.statistic` is
  /// ledger::kBatch, `planned.accuracy` and `released` are empty. `recorded` of a row says nothing.
  std::vector<Answer> rows = {};
  /// Of a batch, how many rows it has, also where a list leaves `rows` out (HistoryPage::rows); else 0.
  std::size_t rows_count = 0;
};

/// Whether the question was not looked at, because who asked may not ask the dataset: nothing of it is said.
[[nodiscard]] inline bool is_unread(const Answer& answer) {
  return answer.asked.statistic.empty();
}
/// Whether what was released is there: of a batch that of its rows.
[[nodiscard]] bool has_values(const Answer& answer);
/// What the rows of a batch would be charged without a delta of the whole: the sums of what each is.
[[nodiscard]] accounting::ApproximateLoss sum_of_rows(const Answer& batch);
/// Takes out what was released.
void withhold(Answer& answer);
/// Takes out what the policy makes of the question: what is left is what was asked.
void withhold_plan(Answer& answer);

/// Whether that cell is not to be shown: what counts its rows or units is below `asked.suppress_below`, as it
/// was released. Its value stands among `released.values` all the same, and what was drawn among the
/// components. False of a cell that has no value.
[[nodiscard]] bool is_suppressed(const Answer& answer, std::size_t cell);

}  // namespace epsilog::engine
