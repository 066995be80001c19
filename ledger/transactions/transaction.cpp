#include "epsilog/ledger/transaction.hpp"

#include <sqlite3.h>

#include <exception>
#include <set>
#include <utility>

#include "account_checksum.hpp"
#include "decision_id.hpp"
#include "decision_lookup.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "known_features.hpp"
#include "lock_holder.hpp"
#include "read_principal_charges.hpp"
#include "schema.hpp"
#include "seal_rows.hpp"
#include "stored_bytes.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

constexpr const char* kNamesOfAccounts = "SELECT dataset, scope, measure FROM account NOT INDEXED";
constexpr const char* kChangeLimit =
    "UPDATE account SET \"limit\" = ?1, checksum = ?2 WHERE id = ?3 AND spent = ?4 AND reserved = ?5"
    " AND spent <= ?1 AND reserved <= ?1 - spent";
constexpr const char* kReservedInPeriods =
    "SELECT id FROM account INDEXED BY account_reserved_in_period"
    " WHERE reserved > 0 AND scope GLOB 'period:*' ORDER BY id";
constexpr const char* kOpenReservationsOf =
    "SELECT d.id FROM open_decision AS o JOIN movement AS m ON m.seq = o.seq AND m.account = ?1"
    " JOIN decision AS d ON d.seq = o.seq WHERE m.reserved_change > 0 ORDER BY o.seq";

AccountName name_of(const AccountState& account) {
  return {.dataset = account.dataset, .scope = account.scope, .measure = account.measure};
}

bool is_canonical_object(const std::string& text) {
  try {
    return parse_canonical(text).kind() == JsonValue::Kind::object;
  } catch (const LedgerCorrupt&) {
    return false;
  }
}

/// What a look-up finds, or that a row of it cannot be read: nothing is half done then, so that the
/// transaction goes on, and whoever met the row is told after the step is over.
template <class Found>
struct Lookup {
  Found found;
  std::exception_ptr unreadable;

  [[nodiscard]] Found take() {
    if (unreadable) std::rethrow_exception(unreadable);
    return std::move(found);
  }
};

template <class LookUp>
auto lookup(LookUp look_up) -> Lookup<decltype(look_up())> {
  try {
    return {look_up(), nullptr};
  } catch (const UnreadableRow&) {
    return {{}, std::current_exception()};
  }
}

bool take_writer_lock(LedgerState& ledger, std::optional<std::chrono::milliseconds> within) {
  if (within) return ledger.take_writer_lock_within(*within);
  ledger.take_writer_lock();
  return true;
}

}  // namespace

void require(bool condition, const std::string& message) {
  if (!condition) throw InvalidParameter("ledger: " + message);
}

AccountRecord new_account_record(std::int64_t id, const AccountState& fresh, const std::string& opened_at) {
  return {.id = id, .name = fresh.name(), .limit = fresh.balance.limit, .opened_at = opened_at};
}

void require_sound_policy(const PolicyVersion& version) {
  require(version.sha256 == sha256_hex(version.yaml), "sha256 is not the digest of the policy's bytes");
  require(!version.applied_by.empty(), "who applies the policy is not named");
  require(version.implies.empty() || is_canonical_object(version.implies),
          "what the policy implies is no canonical JSON object");
}

void require_sound_account(const AccountState& account) {
  require(!account.dataset.empty() && !account.measure.empty(), "an account needs a dataset and a measure");
  require(accounting::Balance{.limit = account.balance.limit}.valid(), "a limit is outside 0..2^61");
  static_cast<void>(grid_decimals(account.measure));
}

TransactionState::TransactionState(std::shared_ptr<LedgerState> shared,
                                   std::optional<std::chrono::milliseconds> within, const PolicyVersion* next,
                                   ReplicaUse use, OnSeal on_seal)
    : ledger(std::move(shared)), replica_use(use), has_writer_lock(take_writer_lock(*ledger, within)) {
  if (!has_writer_lock) {
    liveness->open = false;
    return;
  }
  try {
    Connection& db = ledger->writer();
    db.query("BEGIN IMMEDIATE").run();
    if (db.schema_version() != kSchemaVersion) {
      throw LedgerUnusable("ledger " + ledger->files().database +
                           " has another schema than when it was opened; open it again");
    }
    ledger->schema_watch().require_shipped(db, ledger->files().database);
    const LedgerTip& tip = ledger->tip_cache().read(db, ledger->files().database);
    if (tip.meta.read_only) {
      throw LedgerUnusable("ledger " + ledger->files().database +
                           " was made from exported lines and is read-only: it shows a history, and grants "
                           "nothing");
    }
    ledger->require_marked_end(tip);
    stale_replicas = tip.stale_replicas;
    seal = tip.seal;
    if (seal) {
      prepare_replica_of_sealed(tip, on_seal);
    } else {
      prepare_replica(tip, next);
    }
    if (seal && on_seal == OnSeal::refuse) {
      refuse_sealed("ledger " + ledger->files().database, *seal,
                    "To go on with it, here or on another machine: `epsilog restore --sealed` of a copy");
    }
    meta = tip.meta;
    log = tip.log;
    log.keep_lines();
    last_id = tip.last_id;
    policy_version = tip.policy_version;
    lines_before = meta.log_size;
    decisions_before = meta.decisions;
    last_time_before = meta.last_time;
    reading = ledger->clock()();
    clock = observe(meta, reading);
    meta.last_time = time_text(clock.now_ms);
    meta.clock = clock.state;
  } catch (const StorageFailure& failure) {
    try {
      // Epsilog's own writers wait for each other at L.lock.
      const bool locked = (failure.code() & 0xff) == SQLITE_BUSY;
      ledger->fail(failure, locked ? foreign_writer(ledger->files()) : "beginning a transaction",
                   LedgerState::Written::nothing);
    } catch (...) {
      end();
      throw;
    }
  } catch (...) {
    end();
    throw;
  }
}

TransactionState::~TransactionState() {
  end();
}

void TransactionState::end() noexcept {
  if (!std::exchange(has_writer_lock, false)) return;
  liveness->open = false;
  recorded.clear();  // the drawn values die here unless commit() moved them out
  if (ledger->own_process()) ledger->roll_back();
  ledger->give_back_writer_lock();
}

void TransactionState::require_open() const {
  ledger->require_own_process();
  require(has_writer_lock, "this transaction is over");
  require(savepoint != Savepoint::given_up, "a call of this member has failed: it is undone");
}

void TransactionState::withhold(StoredDecision& decision) const {
  if (decision.seq <= decisions_before) return;
  decision.values.clear();
  decision.component_values.clear();
  if (decision.token) decision.token->bytes.reset();
}

Transaction::Transaction(std::unique_ptr<TransactionState> state) : state_(std::move(state)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

bool Transaction::is_open() const noexcept {
  return state_ != nullptr && state_->has_writer_lock;
}

bool Transaction::is_without_replica() const noexcept {
  return state_ != nullptr && !state_->replica_ready;
}

void Transaction::run_in_savepoint(accounting::CallbackRef<void()> step) {
  state_->run_in_savepoint(step);
}

std::optional<StoredDecision> Transaction::find_by_key(const std::string& principal, const std::string& key) {
  return state_
      ->run_step("looking up a key",
                 [&](TransactionState& state) {
                   auto looked_up =
                       lookup([&] { return find_decision_by_key(state.ledger->writer(), principal, key); });
                   if (looked_up.found) state.withhold(*looked_up.found);
                   const bool free = !looked_up.found && !looked_up.unreadable && !key.empty();
                   state.free_key = free ? std::optional(std::pair(principal, key)) : std::nullopt;
                   return looked_up;
                 })
      .take();
}

std::int64_t Transaction::active_policy_version() {
  return state_->run_step("reading the policy version",
                          [](TransactionState& state) { return state.policy_version; });
}

PolicyVersion Transaction::active_policy() {
  return state_->run_step("reading the policy", [](TransactionState& state) {
    return read_active_policy(state.ledger->writer(), state.policy_version);
  });
}

std::vector<AccountState> Transaction::accounts(const std::string& dataset) {
  return state_->run_step("reading accounts", [&](TransactionState& state) {
    return read_accounts(state.ledger->writer(), dataset);
  });
}

std::vector<AccountState> Transaction::accounts(std::span<const AccountName> names) {
  return state_->run_step("reading accounts", [&](TransactionState& state) {
    return state.account_rows.find(state.ledger->writer(), names);
  });
}

std::optional<StoredDecision> Transaction::find_by_id(const std::string& id) {
  return state_
      ->run_step("looking up a decision",
                 [&](TransactionState& state) {
                   auto looked_up = lookup([&] { return find_decision_by_id(state.ledger->writer(), id); });
                   if (looked_up.found) state.withhold(*looked_up.found);
                   return looked_up;
                 })
      .take();
}

std::vector<StoredDecision> Transaction::children(const std::string& id) {
  return state_
      ->run_step("looking up what became of a decision",
                 [&](TransactionState& state) {
                   auto looked_up = lookup([&] { return read_children(state.ledger->writer(), id); });
                   for (StoredDecision& child : looked_up.found) state.withhold(child);
                   return looked_up;
                 })
      .take();
}

std::optional<std::string> Transaction::location(const std::string& dataset) {
  return state_->run_step("looking for the place of a source",
                          [&](TransactionState& state) -> std::optional<std::string> {
                            if (state.meta.relocations == 0) return std::nullopt;
                            return read_location(state.ledger->writer(), dataset);
                          });
}

std::vector<std::string> Transaction::overdue_ids() {
  return state_->run_step("looking for overdue decisions", [](TransactionState& state) {
    return read_overdue(state.ledger->writer(), state.meta.last_time);
  });
}

std::string Transaction::now() const {
  state_->require_open();
  return state_->meta.last_time;
}

std::string Transaction::calendar_time() const {
  state_->require_open();
  const std::string& held = state_->meta.clock.held_at;
  return held.empty() ? state_->meta.last_time : held;
}

bool Transaction::calendar_held() const {
  state_->require_open();
  return !state_->meta.clock.held_at.empty();
}

std::vector<AccountState> Transaction::period_accounts_with_reservations() {
  return state_->run_step("looking for reservations of periods", [](TransactionState& state) {
    Connection& db = state.ledger->writer();
    std::vector<AccountState> accounts;
    Query rows = db.query(kReservedInPeriods);
    while (rows.step()) accounts.push_back(state.account_rows.find(db, rows.integer(0)).value());
    return accounts;
  });
}

std::vector<std::string> Transaction::open_reservations_of(std::int64_t account) {
  return state_->run_step("looking for the reservations of an account", [&](TransactionState& state) {
    std::vector<std::string> ids;
    Query rows = state.ledger->writer().query(kOpenReservationsOf);
    rows.with(account);
    while (rows.step()) ids.push_back(id_text(sized_bytes<16>(rows.bytes(0), "column id")));
    return ids;
  });
}

PrincipalCharges Transaction::charges(const ChargeWindow& window) {
  return state_->run_step("summing what a principal was charged", [&](TransactionState& state) {
    return read_principal_charges(state.ledger->writer(), window, parse_time(state.meta.last_time));
  });
}

AccountState Transaction::open_account(const AccountState& fresh) {
  return state_->run_step("opening an account", [&](TransactionState& state) {
    require_sound_account(fresh);
    Connection& db = state.ledger->writer();
    require(!state.account_rows.find(db, name_of(fresh)), "there is an account of that name already");
    state.open_new_account(fresh);
    const auto opened = state.account_rows.find(db, name_of(fresh));
    if (!opened) throw LedgerCorrupt("ledger: an account is not there right after it was opened");
    return *opened;
  });
}

void TransactionState::open_new_account(const AccountState& fresh) {
  Connection& db = ledger->writer();
  if (!existing_accounts) {
    existing_accounts.emplace();
    std::int64_t rows = 0;
    Query row = db.query(kNamesOfAccounts);
    for (; row.step(); ++rows) existing_accounts->insert({row.text(0), row.text(1), row.text(2)});
    if (rows != meta.accounts) {
      throw LedgerCorrupt("ledger: meta counts " + std::to_string(meta.accounts) + " accounts, " +
                          std::to_string(rows) + " are there; none is opened");
    }
  }
  if (!existing_accounts->insert(name_of(fresh)).second) {
    throw LedgerCorrupt("ledger: the " + fresh.measure + " account of '" + fresh.dataset +
                        "' is missing in an index; the file is damaged");
  }
  changed = true;
  insert_noticed_clock_events();  // they came before it
  ++meta.accounts;
  dated = true;
  recorder().write(new_account_record(meta.accounts, fresh, meta.last_time));
}

void TransactionState::insert_clock_event(ClockEvent event) {
  event.seq = ++meta.clock_events;
  event.event = ++meta.events;
  recorder().write(event);
}

void TransactionState::insert_seal(const std::string& by, const std::string& why) {
  require(!owing && recorded.empty(), "a seal is recorded by itself");
  changed = dated = true;
  insert_noticed_clock_events();  // they came before it
  seal = Seal{.at = meta.last_time, .by = by, .why = why};
  recorder().write(
      SealEvent{.seq = ++meta.seal_events, .unsealed = false, .at = seal->at, .by = by, .why = why});
}

void TransactionState::insert_recovery(RecoveryEvent event) {
  changed = dated = true;
  insert_noticed_clock_events();  // they came before it
  event.seq = ++meta.recoveries;
  event.at = meta.last_time;
  recorder().write(event);
}

void TransactionState::insert_noticed_clock_events() {
  for (ClockEvent& event : clock.events) {
    event.after_decision = decisions_before;
    insert_clock_event(std::move(event));
  }
  clock.events.clear();
}

void Transaction::confirm_clock(const std::string& by) {
  state_->run_step("confirming the clock", [&](TransactionState& state) {
    require(!by.empty(), "who confirms the clock is not named");
    require(!state.meta.clock.held_at.empty(), "the calendar is not held: there is nothing to confirm");
    if (state.clock.wall_ms < state.clock.now_ms - kBackwardsMs) {
      throw LedgerBusy("ledger: the wall clock shows " + state.meta.clock.wall_clock +
                       ", before ledger time " + state.meta.last_time +
                       ": it was the jump that was wrong. Confirm when the clock has " +
                       "caught up; nothing was done");
    }
    state.changed = state.dated = true;
    state.insert_noticed_clock_events();
    trust(state.clock, state.reading);
    state.meta.clock = state.clock.state;
    state.insert_clock_event({.after_decision = state.meta.decisions,
                              .kind = "confirmed",
                              .ledger_time = state.meta.last_time,
                              .wall_clock = state.meta.clock.wall_clock,
                              .by = by});
  });
}

void TransactionState::insert_limit_change(const AccountState& before, std::int64_t new_limit,
                                           const PolicyVersion& version, const std::string& why) {
  Connection& db = ledger->writer();
  AccountState after = before;
  after.balance.limit = new_limit;
  db.query(kChangeLimit)
      .with(new_limit, account_checksum(after), before.id, before.balance.spent, before.balance.reserved)
      .run();
  require(db.changes() == 1, "the limit of account " + std::to_string(before.id) +
                                 " cannot go below what is spent and reserved");
  account_rows.put(after);
  const LimitChange change{.seq = ++meta.limit_changes,
                           .after_decision = meta.decisions,
                           .policy_version = version.version,
                           .account = before.id,
                           .old_limit = before.balance.limit,
                           .new_limit = new_limit,
                           .changed_at = version.applied_at,
                           .by = version.applied_by,
                           .why = why};
  recorder().write(change);
}

void TransactionState::insert_limit_removal(const AccountState& account, const PolicyVersion& version,
                                            const std::string& why) {
  const LimitRemoval removal{.seq = ++meta.limit_removals,
                             .after_decision = meta.decisions,
                             .policy_version = version.version,
                             .account = account.id,
                             .removed_at = version.applied_at,
                             .by = version.applied_by,
                             .why = why};
  recorder().write(removal);
}

void Transaction::apply_policy(PolicyVersion version, const std::vector<AccountState>& accounts_wanted,
                               const std::string& why, const std::vector<AccountName>& removed) {
  state_->run_step("applying a policy", [&](TransactionState& state) {
    require(!state.owing, "the decision charged before still waits for its release");
    require_sound_policy(version);
    Connection& db = state.ledger->writer();
    state.changed = state.dated = true;
    version.version = state.policy_version + 1;
    version.applied_at = state.meta.last_time;
    state.insert_noticed_clock_events();  // they came before it
    version.after_decision = state.meta.decisions;
    version.event = ++state.meta.events;
    version.why = why;
    state.recorder().write_policy(version);
    state.policy_version = version.version;
    state.meta.policy_versions = version.version;
    state.replicate_under(version);
    std::set<AccountName> seen;
    for (const AccountState& wanted : accounts_wanted) {
      require_sound_account(wanted);
      require(seen.insert(name_of(wanted)).second, "an account is wanted twice");
      const auto present = state.account_rows.find(db, name_of(wanted));
      if (!present) {
        state.open_new_account(wanted);
      } else if (present->balance.limit != wanted.balance.limit) {
        state.insert_limit_change(*present, wanted.balance.limit, version, why);
      }
    }
    for (const AccountName& name : removed) {
      require(seen.insert(name).second, "an account is wanted and removed, or removed twice");
      const auto present = state.account_rows.find(db, name);
      require(present.has_value(), "the limit of an account that is not there is removed");
      state.insert_limit_removal(*present, version, why);
    }
  });
}

void Transaction::relocate(const std::string& dataset, const std::string& path, const std::string& by,
                           const std::string& why) {
  state_->run_step("relocating a source", [&](TransactionState& state) {
    require(!state.owing, "the decision charged before still waits for its release");
    require(!dataset.empty() && !by.empty(), "a relocation names its dataset and who says so");
    require(path.starts_with('/'), "a source is relocated to an absolute path");
    state.changed = state.dated = true;
    state.insert_noticed_clock_events();  // they came before it
    const Relocation relocation{.seq = ++state.meta.relocations,
                                .event = ++state.meta.events,
                                .after_decision = state.meta.decisions,
                                .dataset = dataset,
                                .path = path,
                                .at = state.meta.last_time,
                                .by = by,
                                .why = why};
    state.recorder().write(relocation);
  });
}

void Transaction::announce_feature(const std::string& name) {
  state_->run_step("announcing a feature", [&](TransactionState& state) {
    require(!state.owing, "the decision charged before still waits for its release");
    require(is_known_feature(name), "a feature is announced by a program that knows it");
    Query announced = state.ledger->writer().query("SELECT 1 FROM feature WHERE name = ?1");
    announced.with(name);
    if (announced.step()) return;
    state.changed = state.dated = true;
    state.insert_noticed_clock_events();  // they came before it
    state.recorder().write(
        FeatureRecord{.number = ++state.meta.features, .name = name, .at = state.meta.last_time});
  });
}

namespace {

KeyStatus read_key_standing(Connection& db, const std::string& verifier_key) {
  Query last = db.query("SELECT retired FROM key_event WHERE verifier_key = ?1 ORDER BY seq DESC LIMIT 1");
  last.with(verifier_key);
  if (!last.step()) return KeyStatus::unknown;
  return stored_truth(last.integer(0), "column retired") ? KeyStatus::retired : KeyStatus::added;
}

}  // namespace

KeyStatus Transaction::key_status(const std::string& verifier_key) {
  return state_->run_step("looking for a key", [&](TransactionState& state) {
    return read_key_standing(state.ledger->writer(), verifier_key);
  });
}

void Transaction::record_key(const std::string& verifier_key, bool retired, const std::string& by,
                             const std::string& why) {
  state_->run_step("naming a key", [&](TransactionState& state) {
    require(!state.owing, "the decision charged before still waits for its release");
    require(!verifier_key.empty() && !by.empty(), "who names a key says which, and who says so");
    const bool added = read_key_standing(state.ledger->writer(), verifier_key) == KeyStatus::added;
    require(added == retired, retired ? "a key is retired that is not one of this ledger"
                                      : "a key is added that is one of this ledger already");
    state.changed = state.dated = true;
    state.insert_noticed_clock_events();  // they came before it
    const KeyEvent event{.seq = ++state.meta.key_events,
                         .retired = retired,
                         .verifier_key = verifier_key,
                         .at = state.meta.last_time,
                         .by = by,
                         .why = why};
    state.recorder().write(event);
  });
}

}  // namespace epsilog::ledger
