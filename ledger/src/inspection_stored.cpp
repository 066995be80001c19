// What the file says twice, held against each other.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "account_checksum.hpp"
#include "decision_id.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "log_check.hpp"
#include "request_text.hpp"
#include "schema.hpp"
#include "snapshot_state.hpp"
#include "stored_bytes.hpp"
#include "values_text.hpp"

namespace epsilog::ledger {
namespace {

using Fault = std::function<void(const StoredFault&)>;

// --- events --------------------------------------------------------------------------------------

/// A policy version, clock event, migration or relocation.
struct Event {
  std::string record;
  std::int64_t event = 0;           // 0: not recorded
  std::int64_t after_decision = 0;  // -1: not recorded
  std::string time;
};

class Events final {
 public:
  Events(Connection& connection, std::vector<StoredFault>& faults)
      : connection_(connection), faults_(faults), meta_(read_meta(connection)) {}

  void check() {
    check_kind("policy ", "SELECT version, event, after_decision, applied_at FROM policy_version ORDER BY 1");
    check_kind("clock event ", "SELECT seq, event, after_decision, ledger_time FROM clock_event ORDER BY 1");
    check_kind("migration to schema ",
               "SELECT version, event, after_decision, at FROM schema_migration ORDER BY 1");
    check_kind("relocation ", "SELECT seq, event, after_decision, at FROM relocation ORDER BY 1");
    check_order();
    check_migrations();
    check_limits();
    faults_of(
        "SELECT 'relocation ' || seq, 'event_differs', 'names no absolute path' FROM relocation"
        " WHERE path NOT GLOB '/*'");
    faults_of(
        "SELECT 'clock event ' || seq, 'event_differs', 'says who confirmed it, and that is another kind, or"
        " the other way round' FROM clock_event WHERE (kind = 'confirmed') <> (by <> '')");
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
      const bool unrecorded = event.event == 0;
      if (unrecorded ? before.event != 0 : event.event <= before.event) {
        fault(event.record, "event_order", "does not have a place among the events after " + before.record);
      }
      if (event.time < before.time) {
        fault(event.record, "event_time", "is dated before " + before.record);
      }
      if (event.time.empty()) fault(event.record, "event_time", "has no time");
      check_decisions_around(event);
      before = event;
      (unrecorded ? unrecorded_ : events_).push_back(std::move(event));
    }
  }

  void check_decisions_around(const Event& event) {
    if (event.after_decision < 0) return;
    if (event.after_decision > meta_.decisions) {
      fault(event.record, "event_order",
            "stands after decision " + std::to_string(event.after_decision) + ", which is not there");
    }
    const std::string before = time_of_decision(event.after_decision);
    const std::string after = time_of_decision(event.after_decision + 1);
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

  void check_migrations() {
    std::int64_t expected = 0;
    bool to_this_order = false;
    for (const auto& list : {unrecorded_, events_}) {
      for (const Event& event : list) {
        constexpr std::string_view kKind = "migration to schema ";
        if (!event.record.starts_with(kKind)) continue;
        const std::int64_t version = std::stoll(event.record.substr(kKind.size()));
        if (expected != 0 && version != expected) {
          fault(event.record, "migration_gap", "follows that to schema " + std::to_string(expected - 1));
        }
        expected = version + 1;
        to_this_order = to_this_order || version == 3;
      }
    }
    if (expected != 0 && expected != kSchemaVersion + 1) {
      fault("migration to schema " + std::to_string(expected - 1), "migration_gap",
            "is the last one, and the file has schema " + std::to_string(kSchemaVersion));
    }
    if (to_this_order) return;
    for (const Event& event : unrecorded_) {
      fault(event.record, "event_order", "has no place among the events, and no migration came after it");
    }
  }

  void check_limits() {
    compare_limits("limit change ", "limit_change");
    compare_limits("limit removal ", "limit_removal");
    faults_of(
        "SELECT 'policy ' || policy_version, 'event_differs',"
        " 'what it did to limits was done for more than one reason' FROM"
        " (SELECT policy_version, why FROM limit_change UNION SELECT policy_version, why FROM limit_removal)"
        " GROUP BY policy_version HAVING count(*) > 1");
  }

  void compare_limits(const std::string& kind, const std::string& table) {
    faults_of("SELECT '" + kind + "' || l.seq, 'event_differs', CASE WHEN p.version IS NULL" +
              " THEN 'is of a policy version that is not there'" +
              " WHEN l.at <> p.applied_at THEN 'is dated otherwise than its policy version'" +
              " WHEN l.by <> p.applied_by THEN 'is by another than its policy version'" +
              " ELSE 'stands elsewhere than its policy version' END FROM " + table +
              " AS l LEFT JOIN policy_version AS p ON p.version = l.policy_version" +
              " WHERE p.version IS NULL OR l.at <> p.applied_at OR l.by <> p.applied_by" +
              " OR (p.after_decision >= 0 AND l.after_decision <> p.after_decision) ORDER BY l.seq");
  }

  void check_meta() {
    faults_of(
        "SELECT 'meta', 'event_time', 'says that the ledger is older or younger than its first policy' FROM "
        "meta, policy_version WHERE version = 1 AND applied_at <> created_at");
    faults_of("SELECT 'meta', 'event_differs', 'its one row is number ' || one FROM meta WHERE one <> 1");
    check_count("names", "name", "no", meta_.names);
    check_count("builds", "build", "no", meta_.builds);
    check_count("plans", "plan", "no", meta_.plans);
    check_count("credential events", "credential_event", "seq", meta_.credential_events);
    check_count("key events", "key_event", "seq", meta_.key_events);
    check_count("recoveries", "recovery", "seq", meta_.recoveries);
    faults_of(
        "SELECT 'recovery ' || r.seq, 'event_differs', 'has another number of lines than ' ||"
        " coalesce(r.cause || ' of line ' || l.idx, 'its place') || ' can have, or no reason'"
        " FROM recovery AS r LEFT JOIN log AS l ON l.kind = 13 AND l.row = r.seq"
        " WHERE l.idx IS NULL OR r.restored > l.idx OR (r.cause = 'rebuilt' AND r.restored <> l.idx)"
        " OR (r.cause IN ('poisoned', 'rolled_back') AND (r.restored > 0 OR r.dropped > 0 OR r.why = ''))"
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
  std::vector<Event> unrecorded_;
  std::vector<Event> events_;
};

// --- decisions -----------------------------------------------------------------------------------

constexpr const char* kEveryDecision = EPSILOG_DECISION_COLUMNS "ORDER BY d.seq";

class Decisions final {
 public:
  Decisions(Connection& connection, const Fault& fault) : connection_(connection), fault_(fault) {
    SQLite::Statement versions =
        connection.prepare("SELECT version, after_decision FROM policy_version ORDER BY version");
    Query version(versions, connection.handle());
    while (version.step()) policies_.emplace_back(version.integer(1), version.integer(0));
    SQLite::Statement migrations =
        connection.prepare("SELECT after_decision FROM schema_migration WHERE version = 3");
    Query migration(migrations, connection.handle());
    if (migration.step()) under_first_rules_ = migration.integer(0);
  }

  void check(const StoredDecision& stored, const DecisionRecord& record, const Query& row) {
    check_id(stored);
    check_program(stored);
    check_policy(stored);
    check_accounts(stored);
    check_movements(stored, record);
    check_form(stored, record);
    check_texts(stored, record, row);
  }

 private:
  void fault(const StoredDecision& stored, const char* code, std::string message) {
    fault_({stored.id, code, std::move(message)});
  }

  void check_id(const StoredDecision& stored) {
    const std::string before = std::exchange(last_id_, stored.id);
    if (!is_id(stored.id) || !is_time(stored.created_at)) {
      return fault(stored, "id_time", "its id or its time is malformed");
    }
    if (!before.empty() && (!is_id(before) || stored.id <= before))
      return;  // named by who looks at the order
    if (!may_be_next_id(before, stored.id, parse_time(stored.created_at))) {
      fault(stored, "id_time", "its id is not of the time it is dated");
    }
  }

  void check_program(const StoredDecision& stored) {
    const bool first = stored.rules == Rules::first;
    if (first != (stored.seq <= under_first_rules_)) {
      fault(stored, "rules_order",
            "was made under other rules than there were before or after the migration");
    }
    if (first != stored.program.version.empty() || first != stored.program.commit.empty()) {
      fault(stored, "program_changed", "says of its program what its rules do not");
    }
  }

  void check_policy(const StoredDecision& stored) {
    std::int64_t active = 0;
    if (stored.rules >= Rules::joints) {
      for (const auto& [after, version] : policies_) {
        if (after < stored.seq) active = version;
      }
      if (stored.draft.parent.empty() && stored.draft.policy_version != stored.decided_under) {
        fault(stored, "policy_order", "was asked under another policy version than it was decided under");
      }
    }
    if (stored.decided_under != active) {
      fault(stored, "policy_order",
            "was decided under policy version " + std::to_string(stored.decided_under) + ", active was " +
                std::to_string(active));
    }
  }

  void check_accounts(const StoredDecision& stored) {
    for (const AccountState& account : stored.accounts) {
      if (account.dataset == stored.draft.dataset) continue;
      return fault(stored, "account_differs",
                   "lists account " + std::to_string(account.id) + ", which is of another dataset");
    }
  }

  /// What an outcome does to an account it does to each that it moves.
  void check_movements(const StoredDecision& stored, const DecisionRecord& record) {
    const Outcome outcome = record.outcome;
    const bool posts =
        outcome == Outcome::forfeited || (outcome == Outcome::granted && !record.parent.empty());
    const bool gives_back = outcome == Outcome::voided && !record.movements.empty();
    for (const Movement& movement : record.movements) {
      const std::int64_t spent = movement.spent_change;
      const std::int64_t reserved = movement.reserved_change;
      bool fits = spent == 0 && reserved == 0;
      if (!fits && posts) fits = spent > 0 && reserved == -spent;
      if (!fits && outcome == Outcome::granted && !posts) fits = spent > 0 && reserved == 0;
      if (!fits && outcome == Outcome::reserved) fits = spent == 0 && reserved > 0;
      if (!fits && gives_back) fits = spent == 0 && reserved < 0;
      const bool silent = movement.position == 0 && spent == 0 && reserved == 0;
      if (fits && !silent) continue;
      return fault(stored, "movement_differs",
                   "moves account " + std::to_string(movement.account) + " as its outcome does not");
    }
  }

  void check_form(const StoredDecision& stored, const DecisionRecord& record) {
    const Outcome outcome = stored.draft.outcome;
    const bool opens = outcome == Outcome::reserved || outcome == Outcome::pending;
    if (opens == stored.draft.deadline.empty()) {
      fault(stored, "deadline_changed", "a reserved or pending decision has a deadline, and no other has");
    }
    if ((outcome == Outcome::refused) == (stored.draft.reasons == "[]")) {
      fault(stored, "decision_differs", "a refusal has reasons, and nothing else has");
    }
    const bool act = !record.verb.empty();
    if (act && (record.plan != 0 || !record.purpose.empty() || record.holding != RecordedHolding::none ||
                !record.conflicting_key.empty())) {
      fault(stored, "decision_differs", "is an act, and says what only a request says");
    }
    if (outcome != Outcome::token_issued && record.token_sha256) {
      fault(stored, "decision_differs", "has a data token, and issued none");
    }
    if (!act && !record.why.empty()) fault(stored, "decision_differs", "is no act, and says why");
    if (!record.legacy_request.empty() && request_parts(record.legacy_request, record.parent)) {
      fault(stored, "text_changed", "has a request that follows from its columns, and keeps it as a text");
    }
    if (outcome != Outcome::granted && record.plan != 0 &&
        connection_.shared().plan(connection_, record.plan)->release) {
      fault(stored, "decision_differs", "has no release, and a plan that has one");
    }
  }

  /// That columns are written as they are recorded.
  void check_texts(const StoredDecision& stored, const DecisionRecord& record, const Query& row) {
    const auto compare = [&](DecisionColumn column, const std::string& expected) {
      if (row.text(column) == expected) return;
      fault(stored, "text_changed",
            row.column_name(static_cast<int>(column)) + " is not written as it is recorded");
    };
    const bool granted = stored.draft.outcome == Outcome::granted;
    compare(DecisionColumn::values, granted ? values_text(stored.values) : "");
    compare(DecisionColumn::component_values, granted ? nested_values_text(stored.component_values) : "");
    if (record.legacy_request.empty() && record.verb.empty() &&
        !asks_the_question_of_its_plan(stored, record)) {
      fault(stored, "text_changed", "its request is not written as it is recorded");
    }
  }

  bool asks_the_question_of_its_plan(const StoredDecision& stored, const DecisionRecord& record) {
    const auto plan = connection_.shared().plan(connection_, record.plan);
    const bool nothing_else = record.parent.empty() && stored.draft.request == plan->question;
    if (nothing_else && questions_.contains(record.plan)) return true;
    const auto parts = request_parts(stored.draft.request, record.parent);
    if (!parts || parts->question != plan->question) return false;
    if (questions_.size() == kQuestionsKept) questions_.clear();
    if (nothing_else) questions_.insert(record.plan);
    return true;
  }

  Connection& connection_;
  const Fault& fault_;
  std::vector<std::pair<std::int64_t, std::int64_t>> policies_;  // after_decision, version; by version
  std::int64_t under_first_rules_ = 0;
  static constexpr std::size_t kQuestionsKept = 4'096;
  std::unordered_set<std::int64_t> questions_;  // of plans, found to be whole requests
  std::string last_id_;
};

}  // namespace

std::vector<StoredFault> Inspection::record_faults() {
  return snapshot_->state_->reading([](Connection& connection) {
    std::vector<StoredFault> faults;
    Events(connection, faults).check();
    return faults;
  });
}

void Inspection::each_account(const std::function<void(const AccountState&)>& visit, const Fault& fault) {
  snapshot_->state_->reading([&](Connection& connection) {
    each_account_as_stored(connection, [&](const AccountState& account, bool sound) {
      if (!sound) {
        fault({"account " + std::to_string(account.id), "checksum_differs",
               "its columns do not have the checksum beside them"});
      }
      visit(account);
    });
  });
}

IdRange Inspection::ids_beginning(const std::string& text) {
  // The least and the greatest id that begin so.
  constexpr std::size_t kLength = 26;
  if (text.size() > kLength) return {};
  const std::string least = text + std::string(kLength - text.size(), '0');
  std::string greatest = text + std::string(kLength - text.size(), 'Z');
  if (text.empty()) greatest.front() = '7';
  if (!is_id(least)) return {};
  return snapshot_->state_->reading([&](Connection& connection) {
    SQLite::Statement statement =
        connection.prepare("SELECT count(*), min(id) FROM decision WHERE id >= ?1 AND id <= ?2");
    Query range(statement, connection.handle());
    range.with(id_bytes(least), id_bytes(greatest));
    static_cast<void>(range.step());
    IdRange found{.count = range.integer(0), .first = ""};
    if (found.count > 0) found.first = id_text(sized_bytes<16>(range.bytes(1), "column id"));
    return found;
  });
}

namespace {

/// Nothing for a row without a key, or with one that is no text.
std::optional<DecisionKey> key_of_row(Connection& connection, const Query& row) {
  try {
    DecisionKey found{.seq = row.integer(0),
                      .id = id_text(sized_bytes<16>(row.bytes(1), "column id")),
                      .principal = connection.shared().name(connection, row.integer(2)),
                      .key = row.text(3)};
    if (!found.key.empty()) return found;
  } catch (const LedgerCorrupt&) {  // named where the row is read
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> Inspection::decisions_with_key(const std::string& principal,
                                                         const std::string& key) {
  return snapshot_->state_->reading([&](Connection& connection) {
    std::vector<std::int64_t> found;
    const auto who = connection.shared().number_of_name(connection, principal);
    if (!who) return found;
    Query rows = connection.query(
        "SELECT seq FROM decision INDEXED BY decision_by_key WHERE principal = ?1 AND key = ?2 AND key <> ''"
        " ORDER BY seq");
    rows.with(*who, key);
    while (rows.step()) found.push_back(rows.integer(0));
    return found;
  });
}

std::optional<DecisionKey> Inspection::key_of(std::int64_t seq) {
  return snapshot_->state_->reading([&](Connection& connection) -> std::optional<DecisionKey> {
    Query row = connection.query("SELECT seq, id, principal, key FROM decision NOT INDEXED WHERE seq = ?1");
    row.with(seq);
    if (!row.step()) return std::nullopt;
    return key_of_row(connection, row);
  });
}

void Inspection::each_key(std::int64_t below, const std::function<void(const DecisionKey&)>& visit) {
  snapshot_->state_->reading([&](Connection& connection) {
    SQLite::Statement statement = connection.prepare(
        "SELECT seq, id, principal, key FROM decision NOT INDEXED WHERE seq < ?1 ORDER BY seq");
    Query rows(statement, connection.handle());
    rows.with(below);
    while (rows.step()) {
      if (const auto found = key_of_row(connection, rows)) visit(*found);
    }
  });
}

std::vector<std::string> Inspection::open_ids() {
  return snapshot_->state_->reading([](Connection& connection) {
    std::vector<std::string> ids;
    Query rows = connection.query(
        "SELECT d.id FROM open_decision AS o JOIN decision AS d ON d.seq = o.seq ORDER BY o.seq");
    while (rows.step()) ids.push_back(id_text(sized_bytes<16>(rows.bytes(0), "column id")));
    return ids;
  });
}

void Inspection::each_decision(const std::function<void(const StoredDecision&)>& visit,
                               const std::function<void(const MalformedRecord&)>& malformed,
                               const Fault& fault) {
  snapshot_->state_->reading([&](Connection& connection) {
    Decisions decisions(connection, fault);
    LogCheck log(connection, fault);
    SQLite::Statement statement = connection.prepare(kEveryDecision);
    Query rows(statement, connection.handle());
    while (rows.step()) {
      std::optional<StoredDecision> decision;
      try {
        RecordedDecision recorded = record_of_row(connection, rows);
        log.decision(recorded);
        decision = decision_of(connection, recorded, Reading::as_stored);
        decisions.check(*decision, recorded.record, rows);
      } catch (const LedgerCorrupt& error) {
        if (decision) {
          fault({decision->id, "record_unreadable", error.what()});
        } else {
          malformed({.seq = rows.integer(0), .message = error.what()});
        }
      }
      if (decision) visit(*decision);
    }
    log.finish();
  });
}

}  // namespace epsilog::ledger
