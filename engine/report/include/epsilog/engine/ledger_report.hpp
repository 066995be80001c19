// Everything that a ledger says of its history, for people: what `epsilog audit report` prints.
//
// All but what verification and the accountants say is read from one snapshot; LedgerReport says where these
// saw more or less of a ledger that went on meanwhile. Thread-safety: each call reads views of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/audit_report.hpp"
#include "epsilog/engine/burn_down.hpp"
#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/engine_options.hpp"
#include "epsilog/engine/ledger_events.hpp"
#include "epsilog/engine/progress.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "epsilog/ledger/key_event.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

struct ReportQuestion {
  std::string dataset = {};                  ///< "" = all
  std::vector<Checkpoint> checkpoints = {};  ///< the ledger is held to contain each
};

/// A version of the policy, without its text.
struct AppliedVersion {
  std::int64_t version = 0;
  std::string sha256;
  std::string at;
  std::string by;
};

/// Whom the budgets of a dataset protect, by the active policy.
struct ProtectedUnit {
  std::string dataset;
  std::string unit;            ///< what identifies one: "patient_id"; "" = each row is one
  std::uint64_t max_rows = 1;  ///< how many rows of one count
  bool replaced = false;       ///< neighbours replace one; else they add or remove one
};

/// What became of the limit of an account.
struct NamedLimitChange {
  ledger::AccountName account;
  ledger::LimitChange change;
};
struct NamedLimitRemoval {
  ledger::AccountName account;
  ledger::LimitRemoval removal;
};

/// A part of the report that is not whole, because what is stored of it cannot be read.
struct UnreadPart {
  std::string part;  ///< "ledger", "accounts", "changes", "accountants", "decisions", …
  std::string message;
};

/// Kinds in which decisions are told.
enum class DecisionSort : std::uint8_t {
  released,  ///< a value was released and charged
  refused,   ///< with its reasons
  waiting,   ///< reservations, requests for approval, and what became of them: who did what, and why
};

struct LedgerReport {
  std::string dataset;                   ///< as was asked
  AuditReport audit;                     ///< of the whole ledger
  std::string ledger_id;                 ///< "" where it cannot be read
  std::string begun_at;                  ///< when the first policy was applied, ledger time; "" likewise
  std::string last_at;                   ///< of the last decision; begun_at if there is none
  std::optional<ledger::TreeHead> tree;  ///< size and root of the tree of all lines
  std::optional<std::string> poisoned;   ///< why nobody may write, and no value is told

  std::int64_t recorded = 0;  ///< decisions of the whole ledger when the snapshot was made
  std::int64_t decisions =
      0;  ///< of what was asked; each is told by each_reported_decision(), unless it cannot be read
  std::array<std::int64_t, 3> counts{};  ///< of these, by DecisionSort, as far as they can be read
  std::int64_t withheld = 0;  ///< releases without values, because they are not known to be durable

  std::vector<AppliedVersion> versions;  ///< of the policy
  std::vector<ProtectedUnit> units;      ///< of the datasets that were asked for
  std::vector<LedgerEvent> events;       ///< all that happened besides decisions
  BurnSpan span;
  std::vector<BurnDown> budgets;  ///< by dataset, scope, measure
  std::vector<NamedLimitChange> limit_changes;
  std::vector<NamedLimitRemoval> limit_removals;
  std::vector<ledger::Relocation> relocations;
  std::vector<ledger::KeyEvent> keys;
  std::vector<ledger::ClockEvent> clock;  ///< jumps of the clock, and who vouched for it
  std::vector<Reaccount> accountants;     ///< every accountant, of whole datasets
  std::vector<std::string>
      notes;  ///< what every report says about these budgets, each named after its dataset

  std::vector<UnreadPart> unread;

  [[nodiscard]] std::int64_t count(DecisionSort sort) const {
    return counts.at(static_cast<std::size_t>(sort));
  }
};

/// Points of all budgets together, at most so many, of one at most kPointsOfBudget; one has
/// kPointsOfBudgetLeast where that is more.
inline constexpr std::size_t kPointsOfBudget = 400;
inline constexpr std::size_t kPointsOfBudgetLeast = 40;
inline constexpr std::size_t kPointsInAll = 200'000;

/// Verifies the ledger, then reads all but the decisions themselves. What is wrong inside is a fault of the
/// audit, what cannot be read a part that is unread.
/// Throws  NotFound for a dataset that is neither declared nor on record; NotVerified if the ledger does not
///         contain a checkpoint; LedgerUnusable, LedgerBusy, LedgerIo.
[[nodiscard]] LedgerReport ledger_report(const std::string& ledger_path, const ReportQuestion& question,
                                         const EngineOptions& options = {}, const Progress& progress = {});

/// Tells the decisions of the report, oldest first and one at a time, those of one sort or, for nothing, of
/// all, as Engine::history() does. What is recorded since is not among them. EngineOptions::unreadable is
/// told of each that cannot be read. Intervals of what was released are told at `alphas`.
/// Returns  nothing, or the part that cannot be read further.
/// Throws   LedgerUnusable, LedgerBusy, LedgerIo; what `visit` throws.
[[nodiscard]] std::optional<UnreadPart> each_reported_decision(
    const std::string& ledger_path, const LedgerReport& report, std::optional<DecisionSort> sort,
    const EngineOptions& options, accounting::CallbackRef<void(const Answer&)> visit,
    const Alphas& alphas = {});

/// Of an answer that each_reported_decision() tells.
[[nodiscard]] DecisionSort sort_of(const Answer& answer);

}  // namespace epsilog::engine
