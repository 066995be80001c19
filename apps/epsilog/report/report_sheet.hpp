// What a report is printed from, as text, as a page and as JSON, and the words that these share.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/decision_filter.hpp"
#include "epsilog/engine/ledger_report.hpp"

namespace epsilog::command {

/// A checkpoint that the ledger contains, and who of those trusted signed it.
struct ContainedCheckpoint {
  engine::Checkpoint checkpoint;
  engine::Attestation attestation;
};

/// Tells the decisions of one sort, or all, one after the other; the part that cannot be read further, if
/// any.
using VisitDecisions = std::function<std::optional<engine::UnreadPart>(
    std::optional<engine::DecisionSort> sort, const std::function<void(const engine::Answer&)>& visit)>;

struct ReportSheet {
  const engine::LedgerReport& report;
  std::string ledger;                       ///< as it was named
  std::vector<ContainedCheckpoint> checkpoints;  ///< that were given
  VisitDecisions visit_decisions;
  /// Decisions that visit_decisions() could not read, once it was called.
  const std::vector<engine::UnreadableDecision>& unreadable;
  engine::DecisionFilter filter = {};              ///< which decisions visit_decisions() tells
  std::array<std::int64_t, 3> listed_counts = {};  ///< how many these are, by sort

  [[nodiscard]] std::int64_t count(engine::DecisionSort sort) const {
    return listed_counts.at(static_cast<std::size_t>(sort));
  }
};

/// "Listed are only decisions that ann asked for, since …"; "" where all are.
[[nodiscard]] std::string filter_text(const engine::DecisionFilter& filter);

/// "12 decisions", "1 fault".
[[nodiscard]] std::string count_text(std::int64_t count, const char* noun);

/// What a reader has to know of the report as a whole: that values are withheld, that the ledger went on
/// meanwhile, that lines were thinned. One sentence each.
[[nodiscard]] std::vector<std::string> remarks(const engine::LedgerReport& report);

/// "epsilon 0.1; delta 0.000001": what it was charged, or keeps reserved.
[[nodiscard]] std::string charged_text(const engine::Answer& answer);
/// A value that was released, rounded as history shows it, and its 95 % interval.
struct ValueLine {
  std::string cell;      ///< its keys, "A, 2024"; "" of an answer without cells
  std::string value;     ///< "withheld" where it may not be told
  std::string interval;  ///< "± 12" or "[0, 36]"; "" where none is told
};
/// Those of an answer, or of a row of a batch. A batch itself has none.
[[nodiscard]] std::vector<ValueLine> value_lines(const engine::Answer& answer, const Style& style);
/// "dataset_budget_exceeded: …" of each reason, and how many more there were.
[[nodiscard]] std::vector<std::string> reason_texts(const engine::Answer& answer);
/// What somebody did to a request, or what became of it: "approved", "reserved", …
[[nodiscard]] std::string step_text(const engine::Answer& answer);
/// Who did it: "" where nobody acts, because a request waits, is reserved or expired.
[[nodiscard]] std::string actor_text(const engine::Answer& answer);
/// Who asked for what a decision is about, and what for: "ann, for audit".
[[nodiscard]] std::string asker_text(const engine::Answer& answer);
/// Whom the budgets protect and what an epsilon means: a paragraph for each dataset.
[[nodiscard]] std::vector<std::string> protection_texts(const engine::LedgerReport& report);
/// Those events that the report tells in no other section: neither policy versions nor recoveries, and no
/// source, key or clock.
[[nodiscard]] std::vector<engine::LedgerEvent> other_events(const engine::LedgerReport& report);
/// What was taken back or put together again.
[[nodiscard]] std::vector<engine::LedgerEvent> recoveries(const engine::LedgerReport& report);
/// The event of a policy version; nothing if its line cannot be read.
[[nodiscard]] const engine::LedgerEvent* event_of_version(const engine::LedgerReport& report,
                                                          std::int64_t version);

/// How many lines of the ledger come after the last checkpoint, so that none covers them.
[[nodiscard]] std::string uncovered_text(const ReportSheet& sheet);
/// "2026-01-31 23:59:59".
[[nodiscard]] std::string second_text(const std::string& time);
/// The same with " UTC"; "" of what cannot be read.
[[nodiscard]] std::string utc_text(const std::string& time);
/// "log's key; board.example/witness", or that nobody is held to have signed it.
[[nodiscard]] std::string signers_text(const engine::Attestation& attestation);

}  // namespace epsilog::command
