// What a report is printed from, as text, as a page and as JSON, and the words that these share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"
#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/ledger_report.hpp"

namespace epsilog::command {

/// A checkpoint that the ledger contains, and who of those trusted signed it.
struct HeldCheckpoint {
  engine::Checkpoint checkpoint;
  engine::Attestation attestation;
};

/// Tells the decisions of one sort, or all, one after the other; the part that cannot be read further, if
/// any.
using TellDecisions = std::function<std::optional<engine::UnreadPart>(
    std::optional<engine::DecisionSort> sort, const std::function<void(const engine::Answer&)>& visit)>;

struct ReportSheet {
  const engine::LedgerReport& report;
  std::string ledger;                       ///< as it was named
  std::vector<HeldCheckpoint> checkpoints;  ///< that were given
  TellDecisions tell;
  /// Decisions that tell() could not read, once it was called.
  const std::vector<engine::UnreadableDecision>& unreadable;
};

/// "12 decisions", "1 fault".
[[nodiscard]] std::string counted(std::int64_t count, const char* noun);

/// What a reader has to know of the report as a whole: that values are withheld, that the ledger went on
/// meanwhile, that lines were thinned. One sentence each.
[[nodiscard]] std::vector<std::string> remarks(const engine::LedgerReport& report);

/// "epsilon 0.1; delta 0.000001": what it was charged, or keeps reserved.
[[nodiscard]] std::string charged_text(const engine::Answer& answer);
/// The value, or "KEY: VALUE" of each cell; rounded as history shows it. "withheld" where it may not be told.
[[nodiscard]] std::vector<std::string> value_texts(const engine::Answer& answer);
/// "dataset_budget_exceeded: …" of each reason, and how many more there were.
[[nodiscard]] std::vector<std::string> reason_texts(const engine::Answer& answer);
/// What somebody did to a request, or what became of it: "approved", "reserved", …
[[nodiscard]] std::string step_text(const engine::Answer& answer);
/// "2026-01-31 23:59:59".
[[nodiscard]] std::string second_text(const std::string& time);
/// The same with " UTC"; "" of what cannot be read.
[[nodiscard]] std::string utc_text(const std::string& time);
/// "log's key; board.example/witness", or that nobody is held to have signed it.
[[nodiscard]] std::string signers_text(const engine::Attestation& attestation);

}  // namespace epsilog::command
