#include "queries.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "account_checksum.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "row_codec.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kLedgerId = "SELECT ledger_id FROM meta";
constexpr const char* kMeta =
    "SELECT ledger_id, created_at, last_time, decisions, policy_versions, limit_changes, clock_events,"
    " schema_migrations, wall_clock, boot_id, boot_offset, held_at, accounts, limit_removals, relocations,"
    " events FROM meta";
enum class MetaColumn : int {
  ledger_id,
  created_at,
  last_time,
  decisions,
  policy_versions,
  limit_changes,
  clock_events,
  schema_migrations,
  wall_clock,
  boot_id,
  boot_offset,
  held_at,
  accounts,
  limit_removals,
  relocations,
  events,
};
constexpr const char* kActiveVersion = "SELECT max(version) FROM policy_version";
constexpr const char* kActivePolicy =
    "SELECT " EPSILOG_POLICY_COLUMNS " FROM policy_version ORDER BY version DESC LIMIT 1";
#define EPSILOG_ACCOUNT_COLUMNS "id, dataset, scope, measure, budget, spent, reserved, checksum"
enum class AccountColumn : int { id, dataset, scope, measure, budget, spent, reserved, checksum };
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
constexpr const char* kCharges =
    "SELECT account_id, amount FROM charge WHERE decision_id = ?1 ORDER BY account_id";
constexpr const char* kSeqByKey =
    "SELECT seq FROM decision INDEXED BY decision_by_key WHERE principal = ?1 AND key = ?2 AND key <> ''";
constexpr const char* kSeqByKeyFirst =
    "SELECT seq FROM decision INDEXED BY decision_by_key_first"
    " WHERE key = ?2 AND principal = ?1 AND key <> ''";
constexpr const char* kSeqById = "SELECT seq FROM decision WHERE id = ?1";
constexpr const char* kSeqsOfChildren =
    "SELECT seq FROM decision WHERE parent = ?1 AND parent <> '' ORDER BY seq";
constexpr const char* kDecisionBySeq = EPSILOG_SELECT_DECISION "WHERE d.seq = ?1";
constexpr const char* kLocation =
    "SELECT path FROM relocation WHERE dataset = ?1"
    " AND event > (SELECT event FROM policy_version ORDER BY version DESC LIMIT 1) ORDER BY seq DESC LIMIT 1";
constexpr const char* kHolds =
    "SELECT kind, ledger_time FROM clock_event WHERE kind <> 'backwards' ORDER BY seq DESC";
constexpr const char* kLastTimes =
    "SELECT coalesce((SELECT created_at FROM decision ORDER BY seq DESC LIMIT 1), ''),"
    " coalesce((SELECT applied_at FROM policy_version ORDER BY version DESC LIMIT 1), ''),"
    " coalesce((SELECT ledger_time FROM clock_event ORDER BY seq DESC LIMIT 1), ''),"
    " coalesce((SELECT at FROM schema_migration ORDER BY version DESC LIMIT 1), ''),"
    " coalesce((SELECT at FROM relocation ORDER BY seq DESC LIMIT 1), '')";

constexpr const char* kOverdue =
    "SELECT decision_id FROM open_decision WHERE deadline <= ?1 ORDER BY deadline, decision_id";

constexpr std::array<std::pair<Outcome, const char*>, 9> kOutcomes{{
    {Outcome::granted, "granted"},
    {Outcome::refused, "refused"},
    {Outcome::reserved, "reserved"},
    {Outcome::pending, "pending"},
    {Outcome::approved, "approved"},
    {Outcome::rejected, "rejected"},
    {Outcome::token_issued, "token_issued"},
    {Outcome::voided, "voided"},
    {Outcome::forfeited, "forfeited"},
}};

AccountState account_as_stored(const Query& row) {
  using Column = AccountColumn;
  return {.id = row.integer(Column::id),
          .dataset = row.text(Column::dataset),
          .scope = row.text(Column::scope),
          .measure = row.text(Column::measure),
          .balance = {.limit = row.integer(Column::budget),
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

std::vector<Charge> read_charges(Connection& connection, const std::string& decision_id) {
  std::vector<Charge> charges;
  Query rows = connection.query(kCharges);
  rows.with(decision_id);
  while (rows.step()) {
    charges.push_back({.account = rows.integer(0), .amount = rows.integer(1)});
    if (charges.back().amount < 1 || charges.back().amount > accounting::kUnitsMax) {
      throw LedgerCorrupt("column amount of a charge is " + std::to_string(charges.back().amount));
    }
  }
  return charges;
}

Outcome outcome_of(const std::string& text) {
  for (const auto& [outcome, name] : kOutcomes) {
    if (text == name) return outcome;
  }
  throw LedgerCorrupt("column outcome is '" + text + "'");
}

/// Of a program that knows more rules the history cannot be judged here.
Rules rules_of(std::int64_t number) {
  if (number >= static_cast<std::int64_t>(Rules::first) && number <= static_cast<std::int64_t>(kRules)) {
    return static_cast<Rules>(number);
  }
  throw LedgerCorrupt("column rules is " + std::to_string(number) + "; this program knows them up to " +
                      std::to_string(static_cast<std::int64_t>(kRules)));
}

void read_release(const Query& row, RecordedNumbers& numbers, StoredDecision& decision) {
  using Column = DecisionColumn;
  if (row.null(Column::mechanism)) return;
  if (row.text(Column::release_of) != decision.id) {
    throw LedgerCorrupt("its release is stored as that of another decision");
  }
  ReleaseRecord record;
  record.mechanism = row.text(Column::mechanism);
  record.arithmetic = row.text(Column::arithmetic);
  record.requested = numbers.rational(row.text(Column::requested), "column requested");
  record.charged = accounting::parse_canonical_quantity<accounting::EpsilonMeasure>(row.text(Column::charged),
                                                                                    "column charged");
  record.adjusted = numbers.rational(row.text(Column::adjusted), "column adjusted");
  record.published = parse_number(row.text(Column::published), "column published", numbers);
  decision.values = parse_rationals(row.text(Column::value));
  Components components = parse_components(row.text(Column::components), numbers);
  record.components = std::move(components.records);
  decision.component_values = std::move(components.values);
  record.cells = parse_texts(row.text(Column::cells));
  decision.post_processing = parse_post_processing(row.text(Column::post_processing));
  record.unit = row.text(Column::unit);
  record.relation = row.text(Column::relation);
  decision.release = std::move(record);
}

void require_values_follow(const StoredDecision& decision) {
  if (!decision.release) return;
  bool follow = false;
  try {
    follow = decision.values == accounting::post_process(decision.post_processing, decision.component_values);
  } catch (const InvalidParameter&) {  // not as many components as the recipe takes
  }
  if (!follow) throw LedgerCorrupt("its value does not follow from its components");
}

std::optional<std::int64_t> single_seq(Query& query) {
  if (!query.step()) return std::nullopt;
  return query.integer(0);
}

/// The row that an index says has `seq`.
StoredDecision decision_at(Connection& connection, std::int64_t seq) {
  Query query = connection.query(kDecisionBySeq);
  query.with(seq);
  if (!query.step()) {
    throw LedgerCorrupt("decision " + std::to_string(seq) + ": an index has it, and it is not there");
  }
  return read_decision(connection, query);
}

[[noreturn]] void index_differs(const StoredDecision& decision, const std::string& column) {
  throw LedgerCorrupt("decision " + std::to_string(decision.seq) + ": an index has another " + column +
                      " of it; the file is damaged");
}

}  // namespace

const char* outcome_name(Outcome outcome) {
  for (const auto& [known, name] : kOutcomes) {
    if (known == outcome) return name;
  }
  EPSILOG_INVARIANT(false);
}

std::string read_ledger_id(Connection& connection) {
  Query row = connection.query(kLedgerId);
  if (!row.step()) throw LedgerCorrupt("meta: its row is missing");
  return row.text(0);
}

Meta read_meta(Connection& connection) {
  Query row = connection.query(kMeta);
  if (!row.step()) throw LedgerCorrupt("meta: its row is missing");
  using Column = MetaColumn;
  return {.ledger_id = row.text(Column::ledger_id),
          .created_at = row.text(Column::created_at),
          .last_time = row.text(Column::last_time),
          .decisions = row.integer(Column::decisions),
          .policy_versions = row.integer(Column::policy_versions),
          .limit_changes = row.integer(Column::limit_changes),
          .clock_events = row.integer(Column::clock_events),
          .schema_migrations = row.integer(Column::schema_migrations),
          .accounts = row.integer(Column::accounts),
          .limit_removals = row.integer(Column::limit_removals),
          .relocations = row.integer(Column::relocations),
          .events = row.integer(Column::events),
          .clock = {.wall_clock = row.text(Column::wall_clock),
                    .boot_id = row.text(Column::boot_id),
                    .boot_offset = row.integer(Column::boot_offset),
                    .held_at = row.text(Column::held_at)}};
}

PolicyVersion policy_of_row(const Query& row) {
  enum class Column : int { version, yaml, sha256, base_dir, applied_at, applied_by, after_decision, event };
  return {.version = row.integer(Column::version),
          .yaml = row.text(Column::yaml),
          .sha256 = row.text(Column::sha256),
          .base_dir = row.text(Column::base_dir),
          .applied_at = row.text(Column::applied_at),
          .applied_by = row.text(Column::applied_by),
          .after_decision = row.integer(Column::after_decision),
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
  if (!row.step() || row.null(0)) throw LedgerCorrupt("policy_version: there is none");
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
  while (rows.step() && rows.text(0) != "confirmed") held = rows.text(1);
  return held;
}

std::string last_recorded_time(Connection& connection) {
  Query row = connection.query(kLastTimes);
  std::string last;
  if (!row.step()) return last;
  for (int column = 0; column < row.columns(); ++column) last = std::max(last, row.text(column));
  return last;
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

StoredDecision read_decision(Connection& connection, const Query& row, Reading reading) {
  using Column = DecisionColumn;
  StoredDecision decision;
  decision.seq = row.integer(Column::seq);
  try {
    decision.id = row.text(Column::id);
    decision.created_at = row.text(Column::created_at);
    decision.draft = {.principal = row.text(Column::principal),
                      .key = row.text(Column::key),
                      .request_digest = row.text(Column::request_digest),
                      .request = row.text(Column::request),
                      .dataset = row.text(Column::dataset),
                      .policy_version = row.integer(Column::policy_version),
                      .outcome = outcome_of(row.text(Column::outcome)),
                      .reasons = row.text(Column::reasons),
                      .parent = row.text(Column::parent),
                      .deadline = row.text(Column::deadline)};
    decision.rules = rules_of(row.integer(Column::rules));
    decision.program = {.version = row.text(Column::program_version),
                        .commit = row.text(Column::program_commit)};
    decision.decided_under = row.integer(Column::decided_under);
    decision.accounts = parse_accounts(row.text(Column::accounts), decision.draft.dataset);
    auto& touched = decision.draft.touched.emplace();
    for (const AccountState& account : decision.accounts) touched.push_back(account.id);
    decision.charges = read_charges(connection, decision.id);
    read_release(row, connection.numbers(), decision);
    if (reading == Reading::checked) require_values_follow(decision);
  } catch (const LedgerCorrupt& fault) {
    throw UnreadableRow("decision " + std::to_string(decision.seq) +
                        (decision.id.empty() ? "" : " (" + decision.id + ")") + ": " + fault.what());
  }
  return decision;
}

std::optional<StoredDecision> find_decision_by_key(Connection& connection, const std::string& principal,
                                                   const std::string& key) {
  if (key.empty()) return std::nullopt;
  const auto by = [&](const char* sql) {
    Query query = connection.query(sql);
    query.with(principal, key);
    return single_seq(query);
  };
  const auto seq = by(kSeqByKey);
  if (!seq) {
    if (const auto other = by(kSeqByKeyFirst)) {
      throw LedgerCorrupt("decision " + std::to_string(*other) +
                          ": its key is missing in an index; the file is damaged");
    }
    return std::nullopt;
  }
  StoredDecision decision = decision_at(connection, *seq);
  if (decision.draft.principal != principal || decision.draft.key != key) index_differs(decision, "key");
  return decision;
}

std::optional<StoredDecision> find_decision_by_id(Connection& connection, const std::string& id) {
  std::optional<std::int64_t> seq;
  {
    Query query = connection.query(kSeqById);
    query.with(id);
    seq = single_seq(query);
  }
  if (!seq) return std::nullopt;
  StoredDecision decision = decision_at(connection, *seq);
  if (decision.id != id) index_differs(decision, "id");
  return decision;
}

std::vector<std::string> read_overdue(Connection& connection, const std::string& now) {
  std::vector<std::string> ids;
  Query rows = connection.query(kOverdue);
  rows.with(now);
  while (rows.step()) ids.push_back(rows.text(0));
  return ids;
}

std::vector<StoredDecision> read_children(Connection& connection, const std::string& id) {
  std::vector<std::int64_t> seqs;
  {
    Query rows = connection.query(kSeqsOfChildren);
    rows.with(id);
    while (rows.step()) seqs.push_back(rows.integer(0));
  }
  std::vector<StoredDecision> children;
  for (const std::int64_t seq : seqs) {
    children.push_back(decision_at(connection, seq));
    if (children.back().draft.parent != id) index_differs(children.back(), "parent");
  }
  return children;
}

}  // namespace epsilog::ledger
