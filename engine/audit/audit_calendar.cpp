#include "audit_calendar.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"

namespace epsilog::engine {
namespace {

/// Where the calendar stands, event by event; "" while it goes on.
class Held {
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

enum class Place { before, either, after };

/// Where a clock event stands to a policy version. A step of the clock is noted by the first that is
/// recorded after the ledger time before it, and dated with that; a confirmation has its own time.
Place place_of(const ledger::ClockEvent& event, const ledger::PolicyVersion& version,
               std::optional<std::int64_t> after_decision) {
  if (version.event > 0) return event.event < version.event ? Place::before : Place::after;
  if (event.event > 0) return Place::after;
  if (after_decision && event.after_decision != *after_decision) {
    return event.after_decision < *after_decision ? Place::before : Place::after;
  }
  if (event.ledger_time != version.applied_at) {
    return event.ledger_time < version.applied_at ? Place::before : Place::after;
  }
  return event.kind == "confirmed" ? Place::either : Place::after;
}

}  // namespace

std::string AuditCalendar::at(const std::string& instant, std::int64_t after_decision) const {
  Held held;
  for (const ledger::ClockEvent& event : events_) {
    if (event.after_decision <= after_decision) held.follow(event);
  }
  return held.time(instant);
}

std::vector<std::string> AuditCalendar::at(const ledger::PolicyVersion& version,
                                           std::optional<std::int64_t> after_decision) const {
  std::vector<std::string> times;
  Held held;
  const auto possible = [&] {
    const std::string& time = held.time(version.applied_at);
    if (std::find(times.begin(), times.end(), time) == times.end()) times.push_back(time);
  };
  for (const ledger::ClockEvent& event : events_) {
    const Place place = place_of(event, version, after_decision);
    if (place == Place::after) break;
    if (place == Place::either) possible();
    held.follow(event);
  }
  possible();
  return times;
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
