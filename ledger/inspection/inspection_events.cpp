// What the file says twice of events, held against each other.
#include <algorithm>
#include <utility>

#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "queries.hpp"
#include "snapshot_state.hpp"

namespace epsilog::ledger {
namespace {

/// A policy version, clock event or relocation.
struct Event {
  std::string record;
  std::int64_t event = 0;
  std::int64_t after_decision = 0;
  std::string time;
};

class EventCheck final {
 public:
  EventCheck(Connection& connection, std::vector<StoredFault>& faults)
      : connection_(connection), faults_(faults), meta_(read_meta(connection)) {}

  void check() {
    check_kind("policy ", "SELECT version, event, after_decision, applied_at FROM policy_version ORDER BY 1");
    check_kind("clock event ", "SELECT seq, event, after_decision, ledger_time FROM clock_event ORDER BY 1");
    check_kind("relocation ", "SELECT seq, event, after_decision, at FROM relocation ORDER BY 1");
    check_order();
    check_limits();
    faults_of(
        "SELECT 'relocation ' || seq, 'event_differs', 'names no absolute path' FROM relocation"
        " WHERE path NOT GLOB '/*'");
    faults_of(
        "SELECT 'clock event ' || seq, 'event_differs', 'says who confirmed it, and that is another kind, or"
        " the other way round' FROM clock_event WHERE (type = 'confirmed') <> (by <> '')");
    check_meta();
  }

 private:
  void fault(std::string record, const char* code, std::string message) {
    faults_.push_back({std::move(record), code, std::move(message)});
  }

  /// The rows of one table by their own numbers.
  void check_kind(const std::string& kind, const char* sql) {
    SQLite::Statement statement = connection_.prepare(sql);
    Query rows(statement, connection_.handle());
    Event before;
    while (rows.step()) {
      Event event{kind + std::to_string(rows.integer(0)), rows.integer(1), rows.integer(2), rows.time(3)};
      if (event.event <= before.event) {
        fault(event.record, "event_order", "does not have a place among the events after " + before.record);
      }
      if (event.time < before.time) {
        fault(event.record, "event_time", "is dated before " + before.record);
      }
      if (event.time.empty()) fault(event.record, "event_time", "has no time");
      check_decisions_around(event);
      before = event;
      events_.push_back(std::move(event));
    }
  }

  void check_decisions_around(const Event& event) {
    if (event.after_decision > meta_.decisions) {
      fault(event.record, "event_order",
            "stands after decision " + std::to_string(event.after_decision) + ", which is not there");
    }
    const std::string before = time_of_decision(event.after_decision);
    const std::string after =
        event.after_decision < INT64_MAX ? time_of_decision(event.after_decision + 1) : "";
    if (event.time < before || (!after.empty() && after < event.time)) {
      fault(event.record, "event_time",
            "is dated " + event.time + ", and stands after decision " + std::to_string(event.after_decision) +
                " of " + before + (after.empty() ? "" : " and before one of " + after));
    }
  }

  /// "" if there is none.
  std::string time_of_decision(std::int64_t seq) {
    Query row = connection_.query("SELECT time FROM decision WHERE seq = ?1");
    row.with(seq);
    return row.step() ? row.time(0) : "";
  }

  /// All of them by the number that they share.
  void check_order() {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& first, const Event& second) { return first.event < second.event; });
    std::int64_t number = 0;
    const Event* before = nullptr;
    for (const Event& event : events_) {
      if (event.event != ++number) {
        fault(event.record, "event_order",
              "is event " + std::to_string(event.event) + " where " + std::to_string(number) + " belongs");
      }
      if (before != nullptr && event.after_decision < before->after_decision) {
        fault(event.record, "event_order", "stands after fewer decisions than " + before->record);
      }
      if (before != nullptr && event.time < before->time) {
        fault(event.record, "event_time", "is dated before " + before->record);
      }
      before = &event;
    }
    if (number != meta_.events) {
      fault("meta", "count_differs",
            std::to_string(meta_.events) + " events were recorded, " + std::to_string(number) + " are there");
    }
  }

  void check_limits() {
    compare_limits("limit change ", "limit_change");
    compare_limits("limit removal ", "limit_removal");
  }

  void compare_limits(const std::string& kind, const std::string& table) {
    faults_of("SELECT '" + kind + "' || l.seq, 'event_differs', CASE WHEN p.version IS NULL" +
              " THEN 'is of a policy version that is not there'" +
              " WHEN l.at <> p.applied_at THEN 'is dated otherwise than its policy version'" +
              " WHEN l.by <> p.applied_by THEN 'is by another than its policy version'" +
              " WHEN l.why <> p.why THEN 'is for another reason than its policy version'" +
              " ELSE 'stands elsewhere than its policy version' END FROM " + table +
              " AS l LEFT JOIN policy_version AS p ON p.version = l.policy_version" +
              " WHERE p.version IS NULL OR l.at <> p.applied_at OR l.by <> p.applied_by OR l.why <> p.why" +
              " OR l.after_decision <> p.after_decision ORDER BY l.seq");
  }

  void check_meta() {
    faults_of(
        "SELECT 'meta', 'event_time', 'says that the ledger is older or younger than its first policy' FROM "
        "meta, policy_version WHERE version = 1 AND applied_at <> created_at");
    faults_of("SELECT 'meta', 'event_differs', 'its one row is number ' || one FROM meta WHERE one <> 1");
    check_count("names", "name", "number", meta_.names);
    check_count("builds", "build", "number", meta_.builds);
    check_count("plans", "plan", "number", meta_.plans);
    check_count("credential events", "credential_event", "seq", meta_.credential_events);
    check_count("key events", "key_event", "seq", meta_.key_events);
    check_count("recoveries", "recovery", "seq", meta_.recoveries);
    check_count("seals and their ends", "seal_event", "seq", meta_.seal_events);
    check_count("features", "feature", "number", meta_.features);
    faults_of(
        "SELECT 'recovery ' || r.seq, 'event_differs', 'has another number of lines than ' ||"
        " coalesce(r.cause || ' of line ' || l.line_index, 'its place') || ' can have, or no reason'"
        " FROM recovery AS r LEFT JOIN log AS l ON l.kind = 12 AND l.row = r.seq"
        " WHERE l.line_index IS NULL OR r.restored_lines > l.line_index"
        " OR (r.cause = 'rebuilt' AND r.restored_lines <> l.line_index)"
        " OR (r.cause IN ('poisoned', 'rolled_back')"
        " AND (r.restored_lines > 0 OR r.dropped_lines > 0 OR r.why = ''))"
        // Both numbers or neither, of lines before this one; and an accepted rollback has a reason.
        " OR (r.remembered_lines > 0) <> (r.found_lines > 0) OR r.found_lines > l.line_index"
        " OR (r.remembered_lines > 0 AND r.why = '')"
        " ORDER BY r.seq");
    if (!meta_.clock.wall_clock.empty() && !is_time(meta_.clock.wall_clock)) {
      fault("meta", "event_differs",
            "says that the clock showed " + meta_.clock.wall_clock + ", which is no time");
    }
    const std::string last = last_recorded_time(connection_);
    if (meta_.last_time != last) {
      fault("meta", "event_time",
            "says that ledger time is " + meta_.last_time + ", what was recorded last says " + last);
    }
  }

  /// Whoever adds a row gives it the number that follows.
  void check_count(const std::string& what, const std::string& table, const std::string& number,
                   std::int64_t claimed) {
    SQLite::Statement statement =
        connection_.prepare("SELECT count(*), coalesce(max(" + number + "), 0) FROM " + table);
    Query row(statement, connection_.handle());
    if (row.step() && row.integer(0) == claimed && row.integer(1) == claimed) return;
    fault("meta", "count_differs",
          std::to_string(claimed) + " " + what + " were recorded, " + std::to_string(row.integer(0)) +
              " are there, the last one with number " + std::to_string(row.integer(1)));
  }

  void faults_of(const std::string& sql) {
    constexpr const char* kLimit = " LIMIT 100";
    SQLite::Statement statement = connection_.prepare(sql + kLimit);
    Query rows(statement, connection_.handle());
    while (rows.step()) faults_.push_back({rows.text(0), rows.text(1), rows.text(2)});
  }

  Connection& connection_;
  std::vector<StoredFault>& faults_;
  const Meta meta_;
  std::vector<Event> events_;
};

}  // namespace

std::vector<StoredFault> Inspection::record_faults() {
  return snapshot_->state_->run_read([](Connection& connection) {
    std::vector<StoredFault> faults;
    EventCheck(connection, faults).check();
    return faults;
  });
}

}  // namespace epsilog::ledger
