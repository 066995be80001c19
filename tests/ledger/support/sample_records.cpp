#include "ledger/support/sample_records.hpp"

#include <array>

#include "epsilog/accounting/errors.hpp"
#include "support/case_table.hpp"

namespace epsilog::ledger_tests {
namespace {

/// The records of sample_records.tsv, by whether they are minimal or full, in the order of their kinds.
std::vector<SampleRecord> samples(const std::string& amount) {
  std::vector<SampleRecord> records;
  for (const auto& row : test::case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/sample_records.tsv")) {
    if (row.at(0) == amount) records.push_back({row.at(1), ledger::parse_line(row.at(2), sample_decimals)});
  }
  return records;
}

}  // namespace

int sample_decimals(std::int64_t account) {
  constexpr std::array kMeasures{"epsilon", "delta", "rho", "rdp(8)"};
  if (account < 1 || account > std::ssize(kMeasures)) throw LedgerCorrupt("has no line");
  return ledger::grid_decimals(kMeasures.at(static_cast<std::size_t>(account - 1)));
}

std::vector<SampleRecord> minimal_records() {
  return samples("minimal");
}

std::vector<SampleRecord> full_records() {
  return samples("full");
}

}  // namespace epsilog::ledger_tests
