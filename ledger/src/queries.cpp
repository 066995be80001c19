#include "queries.hpp"

#include <array>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "row_codec.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kLedgerId = "SELECT ledger_id FROM meta";
constexpr const char* kMeta =
    "SELECT ledger_id, created_at, last_time, decisions, policy_versions, limit_changes, clock_events,"
    " schema_migrations, wall_clock, boot_id, boot_offset, held_at, accounts, limit_removals, relocations,"
    " events FROM meta";
constexpr const char* kActivePolicy =
    "SELECT " EPSILOG_POLICY_COLUMNS " FROM policy_version ORDER BY version DESC LIMIT 1";
constexpr const char* kAccountsOfDataset =
    "SELECT id, dataset, scope, measure, budget, spent, reserved FROM account WHERE dataset = ?1"
    " ORDER BY dataset, scope, measure";
constexpr const char* kAllAccounts =
    "SELECT id, dataset, scope, measure, budget, spent, reserved FROM account ORDER BY dataset, scope, "
    "measure";
constexpr const char* kAccountByName =
    "SELECT id, dataset, scope, measure, budget, spent, reserved FROM account"
    " WHERE dataset = ?1 AND scope = ?2 AND measure = ?3";
constexpr const char* kAccountById =
    "SELECT id, dataset, scope, measure, budget, spent, reserved FROM account WHERE id = ?1";
constexpr const char* kCharges =
    "SELECT account_id, amount FROM charge WHERE decision_id = ?1 ORDER BY account_id";
constexpr const char* kDecisionByKey =
    EPSILOG_SELECT_DECISION "WHERE d.principal = ?1 AND d.key = ?2 AND d.key <> ''";
constexpr const char* kDecisionById = EPSILOG_SELECT_DECISION "WHERE d.id = ?1";
constexpr const char* kChildren =
    EPSILOG_SELECT_DECISION "WHERE d.parent = ?1 AND d.parent <> '' ORDER BY d.seq";

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

AccountState account_of_row(const Query& row) {
  return {.id = row.integer(0),
          .dataset = row.text(1),
          .scope = row.text(2),
          .measure = row.text(3),
          .balance = {.limit = row.integer(4), .spent = row.integer(5), .reserved = row.integer(6)}};
}

std::vector<Charge> read_charges(Connection& connection, const std::string& decision_id) {
  std::vector<Charge> charges;
  Query rows = connection.query(kCharges);
  rows.with(decision_id);
  while (rows.step()) charges.push_back({.account = rows.integer(0), .amount = rows.integer(1)});
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

void read_release(const Query& row, StoredDecision& decision) {
  constexpr int kFirst = 12;
  if (row.null(kFirst)) return;
  ReleaseRecord record;
  record.mechanism = row.text(kFirst);
  record.arithmetic = row.text(kFirst + 1);
  record.requested = row.text(kFirst + 2);
  record.charged = row.text(kFirst + 3);
  record.adjusted = row.text(kFirst + 4);
  record.published = row.text(kFirst + 5);
  decision.values = parse_rationals(row.text(kFirst + 6));
  parse_components(row.text(kFirst + 7), record.components, decision.component_values);
  record.cells = parse_texts(row.text(kFirst + 8));
  decision.post_processing = parse_post_processing(row.text(kFirst + 9));
  record.unit = row.text(kFirst + 10);
  record.relation = row.text(kFirst + 11);
  decision.release = std::move(record);
}

std::optional<StoredDecision> read_single(Connection& connection, Query& query) {
  if (!query.step()) return std::nullopt;
  return read_decision(connection, query);
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
  return {.ledger_id = row.text(0),
          .created_at = row.text(1),
          .last_time = row.text(2),
          .decisions = row.integer(3),
          .policy_versions = row.integer(4),
          .limit_changes = row.integer(5),
          .clock_events = row.integer(6),
          .schema_migrations = row.integer(7),
          .accounts = row.integer(12),
          .limit_removals = row.integer(13),
          .relocations = row.integer(14),
          .events = row.integer(15),
          .clock = {.wall_clock = row.text(8),
                    .boot_id = row.text(9),
                    .boot_offset = row.integer(10),
                    .held_at = row.text(11)}};
}

PolicyVersion policy_of_row(const Query& row) {
  return {.version = row.integer(0),
          .yaml = row.text(1),
          .sha256 = row.text(2),
          .base_dir = row.text(3),
          .applied_at = row.text(4),
          .applied_by = row.text(5),
          .after_decision = row.integer(6),
          .event = row.integer(7)};
}

PolicyVersion read_active_policy(Connection& connection) {
  Query row = connection.query(kActivePolicy);
  if (!row.step()) throw LedgerCorrupt("policy_version: there is none");
  return policy_of_row(row);
}

std::vector<AccountState> read_accounts(Connection& connection, const std::string& dataset) {
  std::vector<AccountState> accounts;
  Query rows = connection.query(dataset.empty() ? kAllAccounts : kAccountsOfDataset);
  if (!dataset.empty()) rows.with(dataset);
  while (rows.step()) accounts.push_back(account_of_row(rows));
  return accounts;
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

StoredDecision read_decision(Connection& connection, const Query& row) {
  constexpr int kParent = 24;
  StoredDecision decision;
  decision.seq = row.integer(0);
  try {
    decision.id = row.text(1);
    decision.created_at = row.text(2);
    decision.draft = {.principal = row.text(3),
                      .key = row.text(4),
                      .request_digest = row.text(5),
                      .request = row.text(6),
                      .dataset = row.text(7),
                      .policy_version = row.integer(8),
                      .outcome = outcome_of(row.text(9)),
                      .reasons = row.text(10),
                      .parent = row.text(kParent),
                      .deadline = row.text(kParent + 1)};
    decision.rules = rules_of(row.integer(kParent + 2));
    decision.program = {.version = row.text(kParent + 3), .commit = row.text(kParent + 4)};
    decision.decided_under = row.integer(kParent + 5);
    decision.accounts = parse_accounts(row.text(11), decision.draft.dataset);
    auto& touched = decision.draft.touched.emplace();
    for (const AccountState& account : decision.accounts) touched.push_back(account.id);
    decision.charges = read_charges(connection, decision.id);
    read_release(row, decision);
  } catch (const LedgerCorrupt& fault) {
    throw UnreadableRow("decision " + std::to_string(decision.seq) +
                        (decision.id.empty() ? "" : " (" + decision.id + ")") + ": " + fault.what());
  }
  return decision;
}

std::optional<StoredDecision> find_decision_by_key(Connection& connection, const std::string& principal,
                                                   const std::string& key) {
  if (key.empty()) return std::nullopt;
  Query query = connection.query(kDecisionByKey);
  query.with(principal, key);
  return read_single(connection, query);
}

std::optional<StoredDecision> find_decision_by_id(Connection& connection, const std::string& id) {
  Query query = connection.query(kDecisionById);
  query.with(id);
  return read_single(connection, query);
}

std::vector<StoredDecision> read_children(Connection& connection, const std::string& id) {
  std::vector<StoredDecision> children;
  Query rows = connection.query(kChildren);
  rows.with(id);
  while (rows.step()) children.push_back(read_decision(connection, rows));
  return children;
}

}  // namespace epsilog::ledger
