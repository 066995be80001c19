// The declared, public blocks of a dataset: their names, which of them a request covers, and which rows
// lie in none.
//
// Every block has a budget, and a request debits every block it covers. What a request covers is decided by
// the policy and its `--where` alone, so that no charge depends on data: a block without a row is debited as
// any other.
// Thread-safety: pure functions; BlockMembership is immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "column_cell.hpp"
#include "column_reader.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/predicate.hpp"

namespace epsilog::engine {

/// "2024-01", "2024-02", … in the order of the calendar; of a declared partition the values as declared, of a
/// derived column its labels. Empty without `blocks`.
[[nodiscard]] std::vector<std::string> block_names(const Dataset& dataset);

/// The blocks in which a row that satisfies the predicate could lie, in the order of block_names().
///
/// Requires  derive() accepts a question with this predicate.
/// Ensures   a block is covered if and only if one value that puts a row into it satisfies the predicate with
///           every comparison with another column taken as satisfied: of an `or` the blocks of all its parts
///           together. Of a derived column the values are those of the column that it is a function of, and
///           comparisons with either are looked at. None may be covered. Without a predicate all are. Empty
///           without `blocks`.
[[nodiscard]] std::vector<std::string> covered_blocks(const Dataset& dataset,
                                                      const std::optional<Predicate>& where);

/// Tells rows that lie in a block from those that are left out.
class BlockMembership final {
 public:
  /// Requires  dataset.blocks
  explicit BlockMembership(const Dataset& dataset);

  /// Whether a cell of the column that the blocks are read from puts its row into one of them. A missing cell
  /// does so only where the column declares a value that stands in for it.
  [[nodiscard]] bool contains(const RawCell& raw) const;

 private:
  ColumnReader reader_;
  std::optional<DeclaredValues> values_;  ///< of a declared partition
  std::int64_t first_day_;
  std::int64_t last_day_;
};

}  // namespace epsilog::engine
