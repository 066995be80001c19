#include "audit_calendar.hpp"

namespace epsilog::engine {

std::string AuditCalendar::at(const std::string& instant, std::int64_t after_decision) const {
  std::string held;
  for (const ledger::ClockEvent& event : events_) {
    // A step is noticed by the first that comes after it, which is dated later than what was before it.
    if (event.after_decision > after_decision || instant <= event.ledger_time) continue;
    if (event.kind == "confirmed") held.clear();
    if (event.kind == "forwards" && held.empty()) held = event.ledger_time;
  }
  return held.empty() ? instant : held;
}

bool AuditCalendar::held(std::int64_t after_decision) const {
  bool held = false;
  for (const ledger::ClockEvent& event : events_) {
    if (event.after_decision > after_decision || event.kind == "backwards") continue;
    held = event.kind == "forwards";
  }
  return held;
}

}  // namespace epsilog::engine
