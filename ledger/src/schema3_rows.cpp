// Rows as schema 3 has them (schema3.hpp).
#include <algorithm>
#include <utility>

#include "account_checksum.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "row_codec.hpp"
#include "schema3.hpp"

namespace epsilog::ledger::schema3 {
namespace {

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
constexpr const char* kAccountRows =
    "SELECT id, dataset, scope, measure, budget, spent, reserved, checksum FROM account NOT INDEXED ORDER BY "
    "id";
enum class AccountColumn : int { id, dataset, scope, measure, budget, spent, reserved, checksum };
constexpr const char* kCharges =
    "SELECT account_id, amount FROM charge WHERE decision_id = ?1 ORDER BY account_id";
constexpr const char* kHolds =
    "SELECT kind, ledger_time FROM clock_event WHERE kind <> 'backwards' ORDER BY seq DESC";
constexpr const char* kLastTimes =
    "SELECT coalesce((SELECT created_at FROM decision ORDER BY seq DESC LIMIT 1), ''),"
    " coalesce((SELECT applied_at FROM policy_version ORDER BY version DESC LIMIT 1), ''),"
    " coalesce((SELECT ledger_time FROM clock_event ORDER BY seq DESC LIMIT 1), ''),"
    " coalesce((SELECT at FROM schema_migration ORDER BY version DESC LIMIT 1), ''),"
    " coalesce((SELECT at FROM relocation ORDER BY seq DESC LIMIT 1), '')";

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

}  // namespace

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

void each_account_as_stored(Connection& connection,
                            const std::function<void(const AccountState& account, bool sound)>& visit) {
  Query rows = connection.query(kAccountRows);
  while (rows.step()) {
    const AccountState account = account_as_stored(rows);
    visit(account, rows.integer(AccountColumn::checksum) == account_checksum(account));
  }
}

StoredDecision read_decision(Connection& connection, const Query& row) {
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
                      .outcome = outcome_named(row.text(Column::outcome)),
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
  } catch (const LedgerCorrupt& fault) {
    throw UnreadableRow("decision " + std::to_string(decision.seq) +
                        (decision.id.empty() ? "" : " (" + decision.id + ")") + ": " + fault.what());
  }
  return decision;
}

}  // namespace epsilog::ledger::schema3
