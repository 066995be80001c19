// How far a history goes at one instant, for who reads it in slices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace epsilog::ledger {

/// Where a history ends at one instant. Nothing before its end changes any more, and nothing is added there:
/// what of a ledger is up to that end can be read in slices, beside a writer, and is what it was at that
/// instant.
struct HistoryEnd {
  /// The highest number of any row, where it can be read, else INT64_MAX.
  std::int64_t decision = INT64_MAX;
  std::int64_t line = INT64_MAX;
  /// The leaf of that line, as it is stored; "" if there is none that can be read. Where it is another one,
  /// so is the history.
  std::string leaf = {};
  /// As meta counts them; nothing if it cannot be read.
  std::optional<std::int64_t> lines = {};
  std::vector<std::int64_t> rows = {};  ///< the highest number in each table that has lines
  /// The levels of nodes, with the highest number in each; nothing if they cannot be read.
  std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> nodes = {};
};

}  // namespace epsilog::ledger
