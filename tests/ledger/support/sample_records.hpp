// Records of every kind, with as little and with as much in them as there can be.
#pragma once

#include <string>
#include <vector>

#include "records.hpp"

namespace epsilog::ledger_tests {

struct SampleRecord {
  std::string name;
  ledger::Line line;
};

/// Of accounts 1, 2, 3 and 4 those of "epsilon", "delta", "rho" and "rdp(8)"; of others LedgerCorrupt.
int sample_decimals(std::int64_t account);

/// Nothing is there that may be left out.
std::vector<SampleRecord> minimal_records();
/// Everything is there that can be together.
std::vector<SampleRecord> full_records();

}  // namespace epsilog::ledger_tests
