// Calendar time as the recorded clock events make it (epsilog/ledger/ledger.hpp, invariant 15).
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

  /// What renewals went by at a ledger time, for something that came after `after_decision` decisions.
  [[nodiscard]] std::string at(const std::string& instant, std::int64_t after_decision) const;
  /// Whether the calendar stood still then.
  [[nodiscard]] bool held(std::int64_t after_decision) const;

 private:
  std::vector<ledger::ClockEvent> events_;
};

}  // namespace epsilog::engine
