// Answers to a question about invented rows: the only ones that a mechanism draws from without a charge.
// Thread-safety: pure function.
#pragma once

#include <vector>

#include "epsilog/engine/derivation.hpp"
#include "epsilog/mechanisms/invented_answer.hpp"

namespace epsilog::engine {

/// A class because mechanisms::InventedAnswer befriends one. What it is given has no data, and it opens none.
class InventedData final {
 public:
  struct Answers {
    std::vector<std::vector<mechanisms::InventedAnswer>> values;  ///< [component][cell]
    std::vector<mechanisms::InventedCounts> counts;               ///< [cell], of quantiles in place of values
  };

  /// Of invented_rows(dataset) rows, by the rules of rows (docs/rows.md) that hold for all.
  /// Requires  derivation = derive(dataset, question); no value:NAME.
  [[nodiscard]] static Answers answers(const Dataset& dataset, const Question& question,
                                       const Derivation& derivation);
};

}  // namespace epsilog::engine
