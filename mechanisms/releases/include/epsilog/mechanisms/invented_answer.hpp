// An answer to a question about rows that were invented from a policy: what a release would look like.
//
// Why it exists  A mechanism draws a value from a true answer only against a charge. Of rows that are a
//                function of the public policy nothing can be lost, and their answers are drawn from without
//                one. Only engine::InventedData makes them, which is given declarations and no source; what
//                was typed or computed from data is none, so that this is no way around a charge.
// Thread-safety: values.
#pragma once

#include <utility>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/mechanisms/quantile_parameters.hpp"

namespace epsilog::engine {
class InventedData;
}

namespace epsilog::mechanisms {

class InventedAnswer final {
 public:
  [[nodiscard]] const accounting::Rational& rational() const noexcept { return value_; }

 private:
  friend class engine::InventedData;
  explicit InventedAnswer(accounting::Rational value) : value_(std::move(value)) {}
  accounting::Rational value_;
};

/// Likewise of a cell whose quantiles are asked for: how many rows were rounded to each candidate.
class InventedCounts final {
 public:
  [[nodiscard]] const std::vector<CandidateRows>& rows() const noexcept { return rows_; }

 private:
  friend class engine::InventedData;
  explicit InventedCounts(std::vector<CandidateRows> rows) : rows_(std::move(rows)) {}
  std::vector<CandidateRows> rows_;
};

}  // namespace epsilog::mechanisms
