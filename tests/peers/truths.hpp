// Figures of tests/reference/peers.csv: each true value between two numbers, and what another rule says
// there.
#pragma once

#include "support/catch.hpp"
#include "support/reference_table.hpp"

namespace epsilog::test {

struct Truth {
  accounting::Rational low;
  accounting::Rational high;
  accounting::Rational elsewhere;  ///< another rule's figure for the same quantity

  static Truth of(const std::string& quantity) {
    for (const ReferenceRow& row :
         reference_table(std::string(EPSILOG_SOURCE_DIR) + "/tests/reference/peers.csv")) {
      if (row.at("quantity") != quantity) continue;
      return {reference_value(row.at("low")), reference_value(row.at("high")),
              reference_value(row.at("bound"))};
    }
    throw std::runtime_error("no reference value of " + quantity);
  }
};

}  // namespace epsilog::test
