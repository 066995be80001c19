// A ledger with rows in every table.
#pragma once

#include "feature_of_test.hpp"
#include "ledger/support/fixture.hpp"
#include "record_rows.hpp"

namespace epsilog::ledger_tests {

/// Every outcome; shown accounts in another order than theirs; a data token; limits changed and removed, a
/// relocation, a jump of the clock that was confirmed, a credential, a key, a
/// recovery, a seal and its end, a feature; with so many refusals more than 256 lines.
struct FullHistory : LedgerFixture {
  explicit FullHistory(int refusals = 240);
  const ledger::FeatureOfTest known{"of a test"};  // which the ledger announces
};

/// Writes what has no other way in yet, in a transaction of its own; `events` is what meta counts of them.
void write_records(const std::string& path,
                   const std::function<void(ledger::Connection& connection, ledger::Meta& meta,
                                            ledger::Recorder& recorder)>& write);

}  // namespace epsilog::ledger_tests
