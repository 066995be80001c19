// Records of every kind made up by a seeded generator, within all ranges and up to their ends.
#pragma once

#include <cstdint>

#include "records.hpp"

namespace epsilog::ledger_tests {

/// Of accounts of sample_decimals(). The same seed gives the same line.
ledger::Line random_line(std::uint64_t seed);

/// Whether all that a record holds is equal.
bool same_record(const ledger::Record& a, const ledger::Record& b);

}  // namespace epsilog::ledger_tests
