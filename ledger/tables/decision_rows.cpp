#include "decision_rows.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "request_text.hpp"
#include "sha256.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kMovements =
    "SELECT account, position, spent_change, reserved_change, spent, reserved, \"limit\" FROM movement"
    " WHERE seq = ?1 ORDER BY account";
constexpr const char* kIdOf = "SELECT id FROM decision WHERE seq = ?1";
constexpr const char* kSeqOf = "SELECT seq FROM decision WHERE id = ?1";
constexpr const char* kInsertDecision =
    "INSERT INTO decision(seq, line_index, id, time, principal, via, key, parent, deadline, outcome,"
    " reasons, rules, build, policy_version, decided_under, dataset, plan, purpose, reservation,"
    " conflicting_key, verb, why, component_values, \"values\", data_token, data_token_sha256)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,"
    " ?22, ?23, ?24, ?25, ?26)";
constexpr const char* kInsertMovement =
    "INSERT INTO movement(seq, account, position, spent_change, reserved_change, spent, reserved, \"limit\")"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// Most decisions are by whom nobody checked; the column is empty then.
constexpr const char* kClaimed = "claimed";

/// With the numbers they are stored by: 1, 2, ... in this order.
constexpr std::array<std::pair<Outcome, const char*>, 9> kOutcomes{{
    {Outcome::granted, "granted"},
    {Outcome::refused, "refused"},
    {Outcome::reserved, "reserved"},
    {Outcome::pending, "pending"},
    {Outcome::approved, "approved"},
    {Outcome::rejected, "rejected"},
    {Outcome::data_accessed, "data_accessed"},
    {Outcome::voided, "voided"},
    {Outcome::forfeited, "forfeited"},
}};

ReservationKind reservation_kind_of(std::int64_t number) {
  if (number >= 0 && number <= static_cast<std::int64_t>(ReservationKind::data_token)) {
    return static_cast<ReservationKind>(number);
  }
  throw LedgerCorrupt("column reservation is " + std::to_string(number));
}

std::string id_of(const Query& row, int column) {
  return id_text(sized_bytes<16>(row.bytes(column), "column id"));
}

/// Amounts within what accounts can hold: later sums cannot overflow.
void require_amounts(const Movement& movement) {
  const auto amount = [&](std::int64_t value) {
    if (value >= 0 && value <= accounting::kUnitsMax) return;
    throw LedgerCorrupt("an amount of the movement of account " + std::to_string(movement.account) + " is " +
                        std::to_string(value));
  };
  for (const std::int64_t value :
       {movement.spent_change, movement.balance.spent, movement.balance.reserved, movement.balance.limit}) {
    amount(value);
  }
  amount(movement.reserved_change < 0 ? -movement.reserved_change : movement.reserved_change);
}

std::vector<Movement> read_movements(Connection& connection, std::int64_t seq) {
  enum class Column : int { account, position, spent_change, reserved_change, spent, reserved, limit };
  std::vector<Movement> movements;
  Query rows = connection.query(kMovements);
  rows.with(seq);
  while (rows.step()) {
    movements.push_back({.account = rows.integer(Column::account),
                         .position = rows.integer(Column::position),
                         .spent_change = rows.integer(Column::spent_change),
                         .reserved_change = rows.integer(Column::reserved_change),
                         .balance = {.limit = rows.integer(Column::limit),
                                     .spent = rows.integer(Column::spent),
                                     .reserved = rows.integer(Column::reserved)}});
    require_amounts(movements.back());
  }
  return movements;
}

std::string id_of_parent(Connection& connection, std::int64_t seq) {
  if (seq == 0) return "";
  Query row = connection.query(kIdOf);
  row.with(seq);
  if (!row.step())
    throw LedgerCorrupt("it is about decision " + std::to_string(seq) + ", which is not there");
  return id_of(row, 0);
}

void require_values_follow(const StoredDecision& decision) {
  if (!decision.release) return;
  bool follow = false;
  try {
    follow = decision.values ==
             released_values(*decision.release, decision.post_processing, decision.component_values);
  } catch (const InvalidParameter&) {  // not as many components as the recipe takes
  }
  if (!follow) throw LedgerCorrupt("its value does not follow from its components");
}

/// Those that are recorded, and with them what follows from the components alone.
std::vector<accounting::Rational> all_values(const StoredDecision& decision,
                                             std::vector<accounting::Rational> recorded) {
  if (!decision.release || !has_unrecorded_values(*decision.release, decision.post_processing))
    return recorded;
  try {
    std::vector<accounting::Rational> all =
        released_values(*decision.release, decision.post_processing, decision.component_values);
    if (recorded_values(*decision.release, decision.post_processing, all) == recorded) return all;
  } catch (const InvalidParameter&) {  // of a damaged record, which is told as it is
  }
  return recorded;
}

/// The accounts that it shows, in its order.
std::vector<AccountState> shown_accounts(Connection& connection, const std::vector<Movement>& movements) {
  std::vector<const Movement*> shown;
  for (const Movement& movement : movements) {
    if (movement.position > 0) shown.push_back(&movement);
  }
  std::sort(shown.begin(), shown.end(),
            [](const Movement* a, const Movement* b) { return a->position < b->position; });
  std::vector<AccountState> accounts;
  accounts.reserve(shown.size());
  for (const Movement* const movement : shown) {
    if (movement->position != static_cast<std::int64_t>(accounts.size()) + 1) {
      throw LedgerCorrupt("its movements are not numbered 1, 2, ...");
    }
    const AccountName& name = connection.shared_rows().account(connection, movement->account);
    accounts.push_back({.id = movement->account,
                        .dataset = name.dataset,
                        .scope = name.scope,
                        .measure = name.measure,
                        .balance = movement->balance});
  }
  return accounts;
}

/// A text that stands in the plan and the decision.
std::string request_text(const DecisionRecord& record, const PlanRecord* plan) {
  return request_of({.question = plan == nullptr ? "" : plan->question,
                     .purpose = record.purpose,
                     .reservation_kind = record.reservation_kind,
                     .conflicting_key = record.conflicting_key,
                     .verb = record.verb,
                     .why = record.why},
                    record.parent);
}

std::int64_t number_of_name(Connection& connection, Meta& meta, const std::string& name) {
  if (const auto known = connection.shared_rows().number_of_name(connection, name)) return *known;
  connection.shared_rows().insert_name(connection, meta.names + 1, name);
  return ++meta.names;
}

std::int64_t number_of_build(Connection& connection, Meta& meta, const Build& build) {
  if (const auto known = connection.shared_rows().number_of_build(connection, build)) return *known;
  connection.shared_rows().insert_build(connection, meta.builds + 1, build);
  return ++meta.builds;
}

std::int64_t seq_of_parent(Connection& connection, const std::string& id) {
  if (id.empty()) return 0;
  Query row = connection.query(kSeqOf);
  row.with(id_bytes(id));
  if (!row.step()) throw LedgerCorrupt("ledger: decision " + id + " is not there");
  return row.integer(0);
}

}  // namespace

std::int64_t outcome_number(Outcome outcome) {
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    if (kOutcomes.at(i).first == outcome) return static_cast<std::int64_t>(i) + 1;
  }
  EPSILOG_INVARIANT(false);
}

Outcome outcome_of(std::int64_t number) {
  const bool known = number >= 1 && number <= static_cast<std::int64_t>(kOutcomes.size());
  if (known) return kOutcomes.at(static_cast<std::size_t>(number - 1)).first;
  throw LedgerCorrupt("column outcome is " + std::to_string(number));
}

Outcome outcome_named(std::string_view word) {
  for (const auto& [outcome, name] : kOutcomes) {
    if (word == name) return outcome;
  }
  throw LedgerCorrupt("column outcome is '" + std::string(word) + "'");
}

namespace {

/// What was decided by other rules cannot be judged here.
Rules rules_of(std::int64_t number) {
  if (number == static_cast<std::int64_t>(kRules)) return kRules;
  throw LedgerCorrupt("column rules is " + std::to_string(number) + "; this program knows " +
                      std::to_string(static_cast<std::int64_t>(kRules)) + " alone");
}

/// Of a row that issued no token, or says no hash of it, nothing.
std::optional<Sha256> token_hash(const TokenColumns& token) {
  if (token.sha256.empty()) return std::nullopt;
  return sized_bytes<32>(token.sha256, "column token_sha256");
}

}  // namespace

const char* outcome_name(Outcome outcome) {
  return kOutcomes.at(static_cast<std::size_t>(outcome_number(outcome) - 1)).second;
}

std::string decision_label(const DecisionRecord& record) {
  return "decision " + std::to_string(record.seq) + (record.id.empty() ? "" : " (" + record.id + ")") + ": ";
}

DecisionRow record_of_row(Connection& connection, const Query& row) {
  using Column = DecisionColumn;
  DecisionRow recorded;
  DecisionRecord& record = recorded.record;
  record.seq = row.integer(Column::seq);
  try {
    record.id = id_of(row, static_cast<int>(Column::id));
    recorded.line = row.integer(Column::line_index);
    record.created_at = row.time(Column::time);
    record.principal = connection.shared_rows().name(connection, row.integer(Column::principal));
    record.via = row.text(Column::via);
    if (record.via.empty()) record.via = kClaimed;
    record.key = row.text(Column::key);
    record.parent = id_of_parent(connection, row.integer(Column::parent));
    record.deadline = row.time(Column::deadline);
    record.outcome = outcome_of(row.integer(Column::outcome));
    record.reasons = row.text(Column::reasons);
    if (record.reasons.empty()) record.reasons = "[]";
    record.rules = rules_of(row.integer(Column::rules));
    record.build = connection.shared_rows().build(connection, row.integer(Column::build));
    record.policy_version = row.integer(Column::policy_version);
    record.decided_under = row.integer(Column::decided_under);
    record.dataset = connection.shared_rows().name(connection, row.integer(Column::dataset));
    record.plan = row.integer(Column::plan);
    record.purpose = row.text(Column::purpose);
    record.reservation_kind = reservation_kind_of(row.integer(Column::reservation));
    record.conflicting_key = row.text(Column::conflicting_key);
    record.verb = row.text(Column::verb);
    record.why = row.text(Column::why);
    const StoredValues values{row.text(Column::component_values), row.text(Column::values)};
    if (values != StoredValues()) {
      const auto plan = record.plan == 0 ? std::make_shared<const PlanRecord>()
                                         : connection.shared_rows().plan(connection, record.plan);
      read_values(values, plan->release ? &*plan->release : nullptr, plan->post_processing, record);
    }
    recorded.token = {.bytes = row.bytes(Column::data_token), .sha256 = row.bytes(Column::data_token_sha256)};
    record.token_sha256 = token_hash(recorded.token);
    if (record.plan == 0 && record.verb.empty()) throw LedgerCorrupt("it has neither a plan nor a verb");
    record.movements = read_movements(connection, record.seq);
  } catch (const LedgerCorrupt& fault) {
    throw UnreadableRow(decision_label(record) + fault.what());
  }
  return recorded;
}

std::vector<Charge> charges_of(const DecisionRecord& record) {
  std::vector<Charge> charges;
  const bool spends = record.outcome == Outcome::granted || record.outcome == Outcome::forfeited;
  if (!spends && record.outcome != Outcome::reserved) return charges;
  for (const Movement& movement : record.movements) {
    const std::int64_t amount = spends ? movement.spent_change : movement.reserved_change;
    if (amount != 0) charges.push_back({.account = movement.account, .amount = amount});
  }
  return charges;
}

StoredDecision decision_of(Connection& connection, DecisionRow recorded, ValueCheck reading) {
  DecisionRecord& record = recorded.record;
  StoredDecision decision;
  try {
    const auto plan =
        record.plan == 0 ? nullptr : std::shared_ptr(connection.shared_rows().plan(connection, record.plan));
    decision.draft.request = request_text(record, plan.get());
    decision.draft.request_digest = sha256_hex(decision.draft.request);
    decision.accounts = shown_accounts(connection, record.movements);
    auto& touched = decision.draft.shown_account_ids.emplace();
    for (const AccountState& account : decision.accounts) touched.push_back(account.id);
    decision.charges = charges_of(record);
    decision.seq = record.seq;
    decision.line = recorded.line;
    decision.id = std::move(record.id);
    decision.created_at = std::move(record.created_at);
    decision.draft.via = record.via;
    decision.via = std::move(record.via);
    decision.rules = record.rules;
    decision.build = record.build;
    decision.decided_under = record.decided_under;
    decision.draft.principal = std::move(record.principal);
    decision.draft.key = std::move(record.key);
    decision.draft.dataset = std::move(record.dataset);
    decision.draft.policy_version = record.policy_version;
    decision.draft.outcome = record.outcome;
    decision.draft.reasons = std::move(record.reasons);
    decision.draft.parent = std::move(record.parent);
    decision.draft.deadline = std::move(record.deadline);
    decision.token = token_of(recorded.token);
    decision.draft.issues_token = decision.token.has_value();
    if (plan != nullptr && plan->policy_version != record.policy_version) {
      throw LedgerCorrupt("its plan is of another policy version");
    }
    if (record.outcome == Outcome::granted) {
      if (plan == nullptr || !plan->release)
        throw LedgerCorrupt("it has no plan that says how it was answered");
      decision.release = plan->release;
      decision.post_processing = plan->post_processing;
    }
    decision.component_values = std::move(record.component_values);
    decision.values = all_values(decision, std::move(record.values));
    if (reading == ValueCheck::checked) require_values_follow(decision);
  } catch (const LedgerCorrupt& fault) {
    if (record.id.empty()) record.id = std::move(decision.id);
    throw UnreadableRow(decision_label(record) + fault.what());
  }
  return decision;
}

void insert_decision(Connection& connection, Meta& meta, const DecisionRecord& record,
                     const StoredValues& values, std::int64_t line, const TokenColumns& token) {
  const std::int64_t parent = seq_of_parent(connection, record.parent);
  const std::int64_t principal = number_of_name(connection, meta, record.principal);
  const std::int64_t dataset = number_of_name(connection, meta, record.dataset);
  const std::int64_t build = number_of_build(connection, meta, record.build);
  const std::string reasons = record.reasons == "[]" ? "" : record.reasons;
  const auto bytes = [](const std::string& column) {
    return std::span(reinterpret_cast<const std::uint8_t*>(column.data()), column.size());
  };
  connection.query(kInsertDecision)
      .with(record.seq, line, id_bytes(record.id), stored_time(record.created_at), principal,
            record.via == kClaimed ? std::string() : record.via, record.key, parent,
            stored_time(record.deadline), outcome_number(record.outcome), reasons,
            static_cast<std::int64_t>(record.rules), build, record.policy_version, record.decided_under,
            dataset, record.plan, record.purpose, static_cast<std::int64_t>(record.reservation_kind),
            record.conflicting_key, record.verb, record.why, values.component_values, values.values,
            bytes(token.bytes), bytes(token.sha256))
      .run();
  for (const Movement& movement : record.movements) {
    connection.query(kInsertMovement)
        .with(record.seq, movement.account, movement.position, movement.spent_change,
              movement.reserved_change, movement.balance.spent, movement.balance.reserved,
              movement.balance.limit)
        .run();
  }
}

}  // namespace epsilog::ledger
