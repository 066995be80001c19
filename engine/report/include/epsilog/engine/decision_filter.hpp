// Which decisions of a history are asked for: one person's, of some days, or about one value of a column.
//
// Thread-safety: values; pure functions.
#pragma once

#include <string>

#include "epsilog/engine/answer.hpp"

namespace epsilog::engine {

/// What is "" lets every decision through.
struct DecisionFilter {
  std::string asker = {};   ///< who asked: that request and all that was decided or done about it
  std::string since = {};   ///< ledger time: decisions of that time or later
  std::string until = {};   ///< ledger time: decisions before that time
  std::string column = {};  ///< with `value`: what can tell rows with that value from others
  std::string value = {};

  [[nodiscard]] bool empty() const {
    return asker.empty() && since.empty() && until.empty() && column.empty() && value.empty();
  }
};

/// Returns the ledger time of a day, 2027-01-31, which is its first moment, or of a time,
/// 2027-01-31T18:00:00Z, in UTC.
/// Throws  InvalidParameter naming `what`.
[[nodiscard]] std::string filter_time(const std::string& text, const std::string& what);

/// Whether the filter lets a decision through.
///
/// A column's value is told apart by a table that has a cell of it, by a proportion of it, and by a condition
/// that names it, whether it demands or excludes it, or that compares the column with something else and
/// holds for it. Of a batch one row is enough. A number is compared as a number: 5 is 5.0.
[[nodiscard]] bool lets_through(const DecisionFilter& filter, const Answer& answer);

}  // namespace epsilog::engine
