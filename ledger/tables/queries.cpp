#include "queries.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "account_checksum.hpp"
#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kLedgerId = "SELECT ledger_id FROM meta";
constexpr const char* kMeta =
    "SELECT ledger_id, created_at, last_time, decisions, policy_versions, limit_changes, clock_events,"
    " wall_clock, boot_id, boot_offset, held_at, accounts, limit_removals, relocations,"
    " events, names, builds, plans, credential_events, key_events, recoveries, log_size, replica_size,"
    " read_only, seal_events, features FROM meta";
enum class MetaColumn : int {
  ledger_id,
  created_at,
  last_time,
  decisions,
  policy_versions,
  limit_changes,
  clock_events,
  wall_clock,
  boot_id,
  boot_offset,
  held_at,
  accounts,
  limit_removals,
  relocations,
  events,
  names,
  builds,
  plans,
  credential_events,
  key_events,
  recoveries,
  log_size,
  replica_size,
  read_only,
  seal_events,
  features,
};
constexpr const char* kActiveVersion = "SELECT max(version) FROM policy_version";
constexpr const char* kActivePolicy =
    "SELECT " EPSILOG_POLICY_COLUMNS " FROM policy_version ORDER BY version DESC LIMIT 1";
#define EPSILOG_ACCOUNT_COLUMNS "id, dataset, scope, measure, \"limit\", spent, reserved, checksum"
enum class AccountColumn : int { id, dataset, scope, measure, limit, spent, reserved, checksum };
constexpr const char* kAccountsOfDataset = "SELECT " EPSILOG_ACCOUNT_COLUMNS
                                           " FROM account WHERE dataset = ?1"
                                           " ORDER BY dataset, scope, measure";
constexpr const char* kAllAccounts =
    "SELECT " EPSILOG_ACCOUNT_COLUMNS " FROM account ORDER BY dataset, scope, measure";
constexpr const char* kAccountRows =
    "SELECT " EPSILOG_ACCOUNT_COLUMNS " FROM account NOT INDEXED ORDER BY id";
constexpr const char* kAccountByName =
    "SELECT " EPSILOG_ACCOUNT_COLUMNS " FROM account WHERE dataset = ?1 AND scope = ?2 AND measure = ?3";
constexpr const char* kAccountById = "SELECT " EPSILOG_ACCOUNT_COLUMNS " FROM account WHERE id = ?1";
constexpr const char* kOpeningLimit =
    "SELECT old_limit FROM limit_change WHERE account = ?1 ORDER BY seq LIMIT 1";
constexpr const char* kLocation =
    "SELECT path FROM relocation WHERE dataset = ?1"
    " AND event > (SELECT event FROM policy_version ORDER BY version DESC LIMIT 1) ORDER BY seq DESC LIMIT 1";
constexpr const char* kHolds =
    "SELECT type, ledger_time FROM clock_event WHERE type <> 'backwards' ORDER BY seq DESC";
constexpr const char* kLastTimes =
    "SELECT max(coalesce((SELECT time FROM decision ORDER BY seq DESC LIMIT 1), 0),"
    " coalesce((SELECT applied_at FROM policy_version ORDER BY version DESC LIMIT 1), 0),"
    " coalesce((SELECT ledger_time FROM clock_event ORDER BY seq DESC LIMIT 1), 0),"
    " coalesce((SELECT at FROM relocation ORDER BY seq DESC LIMIT 1), 0),"
    " coalesce((SELECT opened_at FROM account ORDER BY id DESC LIMIT 1), 0),"
    " coalesce((SELECT at FROM credential_event ORDER BY seq DESC LIMIT 1), 0),"
    " coalesce((SELECT at FROM key_event ORDER BY seq DESC LIMIT 1), 0),"
    " coalesce((SELECT at FROM recovery ORDER BY seq DESC LIMIT 1), 0),"
    " coalesce((SELECT at FROM seal_event ORDER BY seq DESC LIMIT 1), 0),"
    " coalesce((SELECT at FROM feature ORDER BY number DESC LIMIT 1), 0))";

constexpr const char* kOverdue =
    "SELECT d.id FROM open_decision AS o JOIN decision AS d ON d.seq = o.seq WHERE o.deadline <= ?1"
    " ORDER BY o.deadline, o.seq";

AccountState account_as_stored(const Query& row) {
  using Column = AccountColumn;
  return {.id = row.integer(Column::id),
          .dataset = row.text(Column::dataset),
          .scope = row.text(Column::scope),
          .measure = row.text(Column::measure),
          .balance = {.limit = row.integer(Column::limit),
                      .spent = row.integer(Column::spent),
                      .reserved = row.integer(Column::reserved)}};
}

AccountState account_of_row(const Query& row) {
  AccountState account = account_as_stored(row);
  if (row.integer(AccountColumn::checksum) != account_checksum(account)) {
    throw LedgerCorrupt("account " + std::to_string(account.id) +
                        ": its columns do not have the checksum beside them; the file is damaged");
  }
  return account;
}

/// Throws  LedgerCorrupt of a word that is not known: what the calendar does by it nobody can say.
std::string clock_kind(std::string word) {
  constexpr std::array<std::string_view, 3> kKinds{"backwards", "forwards", "confirmed"};
  if (std::find(kKinds.begin(), kKinds.end(), word) != kKinds.end()) return word;
  throw LedgerCorrupt("column type of a clock event is '" + word + "'");
}

/// What is no time is for the audit, and stops nobody: a clock showed it, and who writes next looks again.
std::string shown_by_clock(std::int64_t ms) {
  if (ms == 0) return "";
  return ms > 0 && ms <= kLatestMs ? time_text(ms) : std::to_string(ms);
}

}  // namespace

std::string read_ledger_id(Connection& connection) {
  Query row = connection.query(kLedgerId);
  if (!row.step()) throw LedgerCorrupt("meta: its row is missing");
  return hex_text(sized_bytes<16>(row.bytes(0), "column ledger_id"));
}

Meta read_meta(Connection& connection) {
  Query row = connection.query(kMeta);
  if (!row.step()) throw LedgerCorrupt("meta: its row is missing");
  using Column = MetaColumn;
  return {.ledger_id = hex_text(row.bytes(Column::ledger_id)),
          .created_at = row.time(Column::created_at),
          .last_time = row.time(Column::last_time),
          .decisions = row.integer(Column::decisions),
          .policy_versions = row.integer(Column::policy_versions),
          .limit_changes = row.integer(Column::limit_changes),
          .clock_events = row.integer(Column::clock_events),
          .accounts = row.integer(Column::accounts),
          .limit_removals = row.integer(Column::limit_removals),
          .relocations = row.integer(Column::relocations),
          .events = row.integer(Column::events),
          .names = row.integer(Column::names),
          .builds = row.integer(Column::builds),
          .plans = row.integer(Column::plans),
          .credential_events = row.integer(Column::credential_events),
          .key_events = row.integer(Column::key_events),
          .recoveries = row.integer(Column::recoveries),
          .seal_events = row.integer(Column::seal_events),
          .features = row.integer(Column::features),
          .log_size = row.integer(Column::log_size),
          .replica_size = row.integer(Column::replica_size),
          .read_only = row.integer(Column::read_only) != 0,
          .clock = {.wall_clock = shown_by_clock(row.integer(Column::wall_clock)),
                    .boot_id = row.text(Column::boot_id),
                    .boot_offset = row.integer(Column::boot_offset),
                    .held_at = row.time(Column::held_at)}};
}

PolicyVersion policy_of_row(const Query& row) {
  enum class Column : int {
    version,
    yaml,
    sha256,
    base_dir,
    applied_at,
    applied_by,
    why,
    after_decision,
    event,
    implies
  };
  return {.version = row.integer(Column::version),
          .yaml = row.text(Column::yaml),
          .sha256 = hex_text(row.bytes(Column::sha256)),
          .base_dir = row.text(Column::base_dir),
          .applied_at = row.time(Column::applied_at),
          .applied_by = row.text(Column::applied_by),
          .why = row.text(Column::why),
          .after_decision = row.integer(Column::after_decision),
          .event = row.integer(Column::event),
          .implies = row.text(Column::implies)};
}

ClockEvent clock_event_of_row(const Query& row) {
  enum class Column : int { seq, after_decision, type, ledger_time, wall_clock, by, event };
  return {.seq = row.integer(Column::seq),
          .after_decision = row.integer(Column::after_decision),
          .kind = clock_kind(row.text(Column::type)),
          .ledger_time = row.time(Column::ledger_time),
          .wall_clock = row.time(Column::wall_clock),
          .by = row.text(Column::by),
          .event = row.integer(Column::event)};
}

namespace {

void require_counted(std::int64_t version, std::int64_t expected) {
  if (version == expected) return;
  throw LedgerCorrupt("policy version " + std::to_string(version) + ": is the last one there, where " +
                      std::to_string(expected) + " are counted");
}

}  // namespace

std::int64_t read_active_version(Connection& connection, std::int64_t expected) {
  Query row = connection.query(kActiveVersion);
  if (!row.step() || row.is_null(0)) throw LedgerCorrupt("policy_version: there is none");
  require_counted(row.integer(0), expected);
  return expected;
}

PolicyVersion read_active_policy(Connection& connection, std::int64_t expected) {
  Query row = connection.query(kActivePolicy);
  if (!row.step()) throw LedgerCorrupt("policy_version: there is none");
  PolicyVersion active = policy_of_row(row);
  require_counted(active.version, expected);
  if (sha256_hex(active.yaml) != active.sha256) {
    throw LedgerCorrupt("policy version " + std::to_string(active.version) +
                        ": its text does not have the recorded SHA-256");
  }
  return active;
}

std::optional<std::string> read_location(Connection& connection, const std::string& dataset) {
  Query row = connection.query(kLocation);
  row.with(dataset);
  if (!row.step()) return std::nullopt;
  return row.text(0);
}

std::string held_by_events(Connection& connection) {
  std::string held;
  Query rows = connection.query(kHolds);
  while (rows.step()) {
    if (clock_kind(rows.text(0)) == "confirmed") break;
    held = rows.time(1);
  }
  return held;
}

std::string last_recorded_time(Connection& connection) {
  Query row = connection.query(kLastTimes);
  return row.step() ? row.time(0) : "";
}

std::int64_t opening_limit(Connection& connection, std::int64_t account, std::int64_t limit) {
  Query row = connection.query(kOpeningLimit);
  row.with(account);
  return row.step() ? row.integer(0) : limit;
}

std::vector<AccountState> read_accounts(Connection& connection, const std::string& dataset) {
  std::vector<AccountState> accounts;
  Query rows = connection.query(dataset.empty() ? kAllAccounts : kAccountsOfDataset);
  if (!dataset.empty()) rows.with(dataset);
  while (rows.step()) accounts.push_back(account_of_row(rows));
  return accounts;
}

void each_account_as_stored(Connection& connection,
                            const std::function<void(const AccountState& account, bool sound)>& visit) {
  Query rows = connection.query(kAccountRows);
  while (rows.step()) {
    const AccountState account = account_as_stored(rows);
    visit(account, rows.integer(AccountColumn::checksum) == account_checksum(account));
  }
}

std::optional<AccountState> find_account(Connection& connection, const AccountName& name) {
  Query row = connection.query(kAccountByName);
  row.with(name.dataset, name.scope, name.measure);
  if (!row.step()) return std::nullopt;
  return account_of_row(row);
}

std::optional<AccountState> find_account(Connection& connection, std::int64_t id) {
  Query row = connection.query(kAccountById);
  row.with(id);
  if (!row.step()) return std::nullopt;
  return account_of_row(row);
}

std::vector<AccountState> find_accounts(Connection& connection, std::span<const AccountName> names) {
  std::vector<AccountState> accounts;
  accounts.reserve(names.size());
  for (const AccountName& name : names) {
    if (auto account = find_account(connection, name)) accounts.push_back(std::move(*account));
  }
  return accounts;
}

std::vector<std::string> read_overdue(Connection& connection, const std::string& now) {
  std::vector<std::string> ids;
  Query rows = connection.query(kOverdue);
  rows.with(stored_time(now));
  while (rows.step()) ids.push_back(id_text(sized_bytes<16>(rows.bytes(0), "column id")));
  return ids;
}

}  // namespace epsilog::ledger
