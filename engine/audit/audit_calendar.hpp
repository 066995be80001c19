// Calendar time as the recorded clock events make it (epsilog/ledger/ledger.hpp, invariant 15).
//
// What stands before what is read from the stored order, never from equal times: a clock that was put back
// dates everything at one instant until it has caught up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

class AuditCalendar final {
 public:
  /// In order of seq.
  void clock_event(const ledger::ClockEvent& event) { events_.push_back(event); }

  /// What renewals went by for a decision of that ledger time which came after `after_decision` decisions.
  /// Throws  LedgerCorrupt if a time is none.
  [[nodiscard]] std::string at(const std::string& instant, std::int64_t after_decision) const;
  /// Whether the calendar stood still then.
  [[nodiscard]] bool held(std::int64_t after_decision) const;

  /// Whether the calendar stands still after all events so far: a step forwards was not confirmed yet.
  [[nodiscard]] bool stands_still() const;

  /// The same for a policy version.
  /// Throws  likewise.
  [[nodiscard]] std::string at(const ledger::PolicyVersion& version) const;

 private:
  std::vector<ledger::ClockEvent> events_;
};

}  // namespace epsilog::engine
