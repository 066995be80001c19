// What a ledger of schema 3 says twice, held against each other.
#include <algorithm>
#include <map>
#include <utility>

#include "account_checksum.hpp"
#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "row_codec.hpp"
#include "schema3.hpp"
#include "schema3_faults.hpp"
#include "schema_comparison.hpp"

namespace epsilog::ledger::schema3 {
namespace {

using Fault = std::function<void(const StoredFault&)>;

constexpr int kSchema = 3;

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
      : connection_(connection), faults_(faults), meta_(schema3::read_meta(connection)) {}

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
      Event event{kind + std::to_string(rows.integer(0)), rows.integer(1), rows.integer(2), rows.text(3)};
      const bool unrecorded = event.event == 0;
      if (unrecorded ? before.event != 0 : event.event <= before.event) {
        fault(event.record, "event_order", "does not have a place among the events after " + before.record);
      }
      if (event.time < before.time) {
        fault(event.record, "event_time", "is dated before " + before.record);
      }
      if (!is_time(event.time)) fault(event.record, "event_time", "'" + event.time + "' is no time");
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
    Query row = connection_.query("SELECT created_at FROM decision WHERE seq = ?1");
    row.with(seq);
    return row.step() ? row.text(0) : "";
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
    if (expected != 0 && expected != kSchema + 1) {
      fault("migration to schema " + std::to_string(expected - 1), "migration_gap",
            "is the last one, and the file has schema " + std::to_string(kSchema));
    }
    if (to_this_order) return;
    for (const Event& event : unrecorded_) {
      fault(event.record, "event_order", "has no place among the events, and no migration came after it");
    }
  }

  void check_limits() {
    compare_limits("limit change ", "limit_change", "changed_at");
    compare_limits("limit removal ", "limit_removal", "removed_at");
    faults_of(
        "SELECT 'policy ' || policy_version, 'event_differs',"
        " 'what it did to limits was done for more than one reason' FROM"
        " (SELECT policy_version, why FROM limit_change UNION SELECT policy_version, why FROM limit_removal)"
        " GROUP BY policy_version HAVING count(*) > 1");
  }

  void compare_limits(const std::string& kind, const std::string& table, const std::string& time) {
    faults_of("SELECT '" + kind + "' || l.seq, 'event_differs', CASE WHEN p.version IS NULL" +
              " THEN 'is of a policy version that is not there'" + " WHEN l." + time +
              " <> p.applied_at THEN 'is dated otherwise than its policy version'" +
              " WHEN l.by <> p.applied_by THEN 'is by another than its policy version'" +
              " ELSE 'stands elsewhere than its policy version' END FROM " + table +
              " AS l LEFT JOIN policy_version AS p ON p.version = l.policy_version" +
              " WHERE p.version IS NULL OR l." + time + " <> p.applied_at OR l.by <> p.applied_by" +
              " OR (p.after_decision >= 0 AND l.after_decision <> p.after_decision) ORDER BY l.seq");
  }

  void check_meta() {
    faults_of(
        "SELECT 'meta', 'event_time', 'says that the ledger is of ' || created_at || ', its first policy is"
        " of ' || applied_at FROM meta, policy_version WHERE version = 1 AND applied_at <> created_at");
    faults_of("SELECT 'meta', 'event_differs', 'its one row is number ' || one FROM meta WHERE one <> 1");
    const std::string last = schema3::last_recorded_time(connection_);
    if (meta_.last_time != last) {
      fault("meta", "event_time",
            "says that ledger time is " + meta_.last_time + ", what was recorded last says " + last);
    }
    if (!meta_.clock.wall_clock.empty() && !is_time(meta_.clock.wall_clock)) {
      fault("meta", "event_time",
            "says that the clock showed '" + meta_.clock.wall_clock + "', which is no time");
    }
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

/// The columns of a release that repeat what stands in its components, and the structured columns as they
/// are written, behind those of a decision.
constexpr const char* kEveryDecision = EPSILOG_SCHEMA3_DECISION_COLUMNS
    ", r.precision, r.sensitivity, r.bound, r.scale, r.grid" EPSILOG_SCHEMA3_FROM_DECISION "ORDER BY d.seq";
constexpr int kReasons = 10;
constexpr int kAccounts = kReasons + 1;
constexpr int kValue = 18;
constexpr int kPrecision = 31;

class Decisions final {
 public:
  Decisions(Connection& connection, const Fault& fault) : connection_(connection), fault_(fault) {
    SQLite::Statement accounts = connection.prepare("SELECT id, dataset, scope, measure FROM account");
    Query account(accounts, connection.handle());
    while (account.step()) {
      accounts_[account.integer(0)] = {account.text(1), account.text(2), account.text(3)};
    }
    SQLite::Statement versions =
        connection.prepare("SELECT version, after_decision FROM policy_version ORDER BY version");
    Query version(versions, connection.handle());
    while (version.step()) policies_.emplace_back(version.integer(1), version.integer(0));
    SQLite::Statement migrations =
        connection.prepare("SELECT after_decision FROM schema_migration WHERE version = 3");
    Query migration(migrations, connection.handle());
    if (migration.step()) under_first_rules_ = migration.integer(0);
  }

  void check(const StoredDecision& stored, const Query& row) {
    check_id(stored);
    check_program(stored);
    check_policy(stored);
    check_accounts(stored);
    check_form(stored);
    // What was written by earlier rules may be written otherwise.
    if (stored.rules >= Rules::joints) check_texts(stored, row);
    if (stored.release) check_single_component(stored, row);
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
      const auto known = accounts_.find(account.id);
      if (known != accounts_.end() && known->second == account.name()) continue;
      return fault(stored, "account_differs",
                   "lists account " + std::to_string(account.id) + " under a name that is not its own");
    }
  }

  void check_form(const StoredDecision& stored) {
    const Outcome outcome = stored.draft.outcome;
    const bool opens = outcome == Outcome::reserved || outcome == Outcome::pending;
    if (opens == stored.draft.deadline.empty()) {
      fault(stored, "deadline_changed", "a reserved or pending decision has a deadline, and no other has");
    }
    if ((outcome == Outcome::refused) == (stored.draft.reasons == "[]")) {
      fault(stored, "decision_differs", "a refusal has reasons, and nothing else has");
    }
  }

  void check_texts(const StoredDecision& stored, const Query& row) {
    const auto rewritten = [&](int column) {
      fault(stored, "text_changed", row.column_name(column) + " is not written as it is recorded");
    };
    const auto compare = [&](int column, const std::string& expected) {
      if (row.text(column) != expected) rewritten(column);
    };
    compare(kAccounts, accounts_json(stored.accounts));
    if (!stored.release) return;
    compare(kValue, rationals_json(stored.values));
    if (!is_components_json(row.text(kValue + 1), stored.release->components, stored.component_values,
                            connection_.numbers())) {
      rewritten(kValue + 1);
    }
    compare(kValue + 2, texts_json(stored.release->cells.empty() ? std::vector<std::string>()
                                                                 : stored.release->cells.lists().front()));
    compare(kValue + 3, post_processing_json(stored.post_processing));
  }

  void check_single_component(const StoredDecision& stored, const Query& row) {
    const SingleComponent recorded{.precision = row.integer(kPrecision),
                                   .sensitivity = row.text(kPrecision + 1),
                                   .bound = row.text(kPrecision + 2),
                                   .scale = row.text(kPrecision + 3),
                                   .grid = row.text(kPrecision + 4)};
    if (recorded != single_component(stored.release->components)) {
      fault(stored, "release_changed", "its parameters are not those of its component");
    }
  }

  Connection& connection_;
  const Fault& fault_;
  std::map<std::int64_t, AccountName> accounts_;
  std::vector<std::pair<std::int64_t, std::int64_t>> policies_;  // after_decision, version; by version
  std::int64_t under_first_rules_ = 0;
  std::string last_id_;
};

/// Each table's numbers, against what meta counts.
void check_counts(Connection& connection, const Meta& meta, std::vector<StoredFault>& faults) {
  const auto check = [&](const char* what, const char* sql, std::int64_t claimed) {
    Query row = connection.query(sql);
    EPSILOG_INVARIANT(row.step());
    const std::int64_t rows = row.integer(0);
    const bool gapless = rows == 0 || (row.integer(1) == 1 && row.integer(2) == rows);
    if (rows == claimed && gapless) return;
    faults.push_back({"meta", "count_differs",
                      std::to_string(claimed) + " " + what + " were recorded, " + std::to_string(rows) +
                          (gapless ? " are there" : " are there, with gaps")});
  };
  check("decisions", "SELECT count(*), min(seq), max(seq) FROM decision", meta.decisions);
  check("policy versions", "SELECT count(*), min(version), max(version) FROM policy_version",
        meta.policy_versions);
  check("limit changes", "SELECT count(*), min(seq), max(seq) FROM limit_change", meta.limit_changes);
  check("limit removals", "SELECT count(*), min(seq), max(seq) FROM limit_removal", meta.limit_removals);
  check("clock events", "SELECT count(*), min(seq), max(seq) FROM clock_event", meta.clock_events);
  check("migrations", "SELECT count(*), 1, count(*) FROM schema_migration", meta.schema_migrations);
  check("relocations", "SELECT count(*), min(seq), max(seq) FROM relocation", meta.relocations);
  check("accounts", "SELECT count(*), min(id), max(id) FROM account", meta.accounts);
}

void check_decisions(Connection& connection, std::vector<StoredFault>& faults) {
  const Fault fault = [&faults](const StoredFault& found) { faults.push_back(found); };
  Decisions decisions(connection, fault);
  SQLite::Statement statement = connection.prepare(kEveryDecision);
  Query rows(statement, connection.handle());
  while (rows.step()) {
    try {
      const StoredDecision decision = read_decision(connection, rows);
      if (sha256_hex(decision.draft.request) != decision.draft.request_digest) {
        faults.push_back({decision.id, "digest_differs", "its request does not have the recorded SHA-256"});
      }
      decisions.check(decision, rows);
    } catch (const LedgerCorrupt& error) {
      faults.push_back({"decision " + std::to_string(rows.integer(0)), "record_unreadable", error.what()});
    }
  }
}

/// What is looked up by an index without a constraint of its own.
void check_open(Connection& connection, std::vector<StoredFault>& faults) {
  const std::string held = schema3::held_by_events(connection);
  const std::string recorded = schema3::read_meta(connection).clock.held_at;
  if (recorded != held) {
    faults.push_back({"meta", "clock_differs",
                      "the calendar is held at '" + recorded + "', by the clock events at '" + held + "'"});
  }
}

}  // namespace

std::vector<StoredFault> faults(Connection& connection) {
  std::vector<StoredFault> found;
  for (const std::string& message : storage_faults(connection)) found.push_back({"file", "storage", message});
  if (!found.empty()) return found;  // whatever else is read of it may be anything
  for (const std::string& message : reference_faults(connection)) {
    found.push_back({"file", "reference_missing", message});
  }
  for (const std::string& message : schema_differences(shipped_schema(kSchema), read_schema(connection))) {
    found.push_back({"schema", "schema_differs", message});
  }
  check_counts(connection, schema3::read_meta(connection), found);
  const auto add = [&found](const std::vector<OrderFault>& faults, const char* code) {
    for (const OrderFault& fault : faults) {
      found.push_back({"decision " + std::to_string(fault.seq), code, fault.message});
    }
  };
  add(order_faults(connection), "order");
  add(completeness_faults(connection), "incomplete");
  add(lifecycle_faults(connection), "lifecycle");
  check_open(connection, found);
  Events(connection, found).check();
  schema3::each_account_as_stored(connection, [&](const AccountState& account, bool sound) {
    if (sound) return;
    found.push_back({"account " + std::to_string(account.id), "checksum_differs",
                     "its columns do not have the checksum beside them"});
  });
  check_decisions(connection, found);
  return found;
}

}  // namespace epsilog::ledger::schema3
