#include "audit_calendar.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::engine {
namespace {

/// Where the calendar stands, event by event; "" while it goes on.
class CalendarStop {
 public:
  void follow(const ledger::ClockEvent& event) {
    if (event.kind == "confirmed") at_.clear();
    if (event.kind == "forwards" && at_.empty()) at_ = event.ledger_time;
  }
  /// Throws  LedgerCorrupt.
  [[nodiscard]] const std::string& time(const std::string& instant) const {
    const std::string& time = at_.empty() ? instant : at_;
    static_cast<void>(ledger::parse_time(time));
    return time;
  }

 private:
  std::string at_;
};

}  // namespace

std::string AuditCalendar::at(const std::string& instant, std::int64_t after_decision) const {
  CalendarStop held;
  for (const ledger::ClockEvent& event : events_) {
    if (event.after_decision <= after_decision) held.follow(event);
  }
  return held.time(instant);
}

std::string AuditCalendar::at(const ledger::PolicyVersion& version) const {
  CalendarStop held;
  for (const ledger::ClockEvent& event : events_) {
    if (event.event < version.event) held.follow(event);
  }
  return held.time(version.applied_at);
}

bool AuditCalendar::held(std::int64_t after_decision) const {
  bool held = false;
  for (const ledger::ClockEvent& event : events_) {
    if (event.after_decision > after_decision || event.kind == "backwards") continue;
    held = event.kind == "forwards";
  }
  return held;
}

bool AuditCalendar::stands_still() const {
  for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
    if (event->kind != "backwards") return event->kind == "forwards";
  }
  return false;
}

}  // namespace epsilog::engine
