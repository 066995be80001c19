// Values of a granted decision as its row has them: briefer than its line where there are many.
//
// What was drawn of a component is an array of quantities, or of integers, so many steps of its grid. What
// follows from it is an array of quantities, or where that is longer the object {"sha256":HEX} of its text,
// which finds a flipped bit as well as a second copy would (docs/ledger_format.md).
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "queries.hpp"
#include "records.hpp"

namespace epsilog::ledger {

/// The two columns.
struct StoredValues {
  std::string component_values;
  std::string values;

  friend bool operator==(const StoredValues&, const StoredValues&) = default;
};

/// "" and "" of what is not granted; of a single answer as values_at_length().
/// Requires  `release`, `post_processing` are of the record's plan, nullptr if none is known: nothing is made
/// briefer then, nor where the values do not follow.
[[nodiscard]] StoredValues stored_values(const DecisionRecord& record, const ReleaseRecord* release,
                                         const accounting::PostProcessing& post_processing);

/// All of it as quantities: of a single answer, and where no plan is known.
[[nodiscard]] StoredValues values_at_length(const DecisionRecord& record);

/// Whether making them briefer may change anything: then the plan is looked for.
[[nodiscard]] bool may_be_brief(const DecisionRecord& record);

/// Fills `component_values` and `values` of the record.
/// Requires  likewise.
/// Throws    LedgerCorrupt naming the column, also where values are not written out and do not follow.
void read_values(const StoredValues& stored, const ReleaseRecord* release,
                 const accounting::PostProcessing& post_processing, DecisionRecord& record);

}  // namespace epsilog::ledger
