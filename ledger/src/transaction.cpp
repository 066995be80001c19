#include <algorithm>
#include <set>
#include <utility>

#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "ledger_time.hpp"
#include "row_codec.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

using accounting::ApproximateLoss;
using accounting::SealedRelease;

constexpr const char* kEpsilonMeasure = accounting::EpsilonMeasure::name;
constexpr const char* kDeltaMeasure = accounting::DeltaMeasure::name;

constexpr const char* kDebit =
    "UPDATE account SET spent = spent + ?1 WHERE id = ?2 AND ?1 <= budget - spent - reserved";
constexpr const char* kInsertDecision =
    "INSERT INTO decision(seq, id, created_at, principal, key, request_digest, request, dataset, "
    "policy_version,"
    " outcome, reasons, accounts) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
constexpr const char* kInsertCharge =
    "INSERT INTO charge(decision_id, account_id, amount) VALUES(?1, ?2, ?3)";
constexpr const char* kInsertRelease =
    "INSERT INTO release(decision_id, mechanism, arithmetic, precision, sensitivity, bound, scale, grid, "
    "requested,"
    " charged, adjusted, published, value, components, cells, post_processing)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
constexpr const char* kLastId = "SELECT id FROM decision ORDER BY seq DESC LIMIT 1";
constexpr const char* kLastSeq = "SELECT coalesce(max(seq), 0) FROM decision";
constexpr const char* kKeyTaken = "SELECT 1 FROM decision WHERE principal = ?1 AND key = ?2 AND key <> ''";
constexpr const char* kActiveVersion = "SELECT max(version) FROM policy_version";
constexpr const char* kInsertPolicy =
    "INSERT INTO policy_version(version, yaml, sha256, base_dir, applied_at, applied_by)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
constexpr const char* kInsertAccount =
    "INSERT INTO account(dataset, scope, measure, budget, spent, reserved) VALUES(?1, ?2, ?3, ?4, 0, 0)";
constexpr const char* kChangeLimit =
    "UPDATE account SET budget = ?1 WHERE id = ?2 AND spent <= ?1 AND reserved <= ?1 - spent";
constexpr const char* kInsertLimitChange =
    "INSERT INTO limit_change(seq, after_decision, policy_version, account_id, old_limit, new_limit, "
    "changed_at, by,"
    " why) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void require(bool condition, const std::string& message) {
  if (!condition) throw InvalidParameter("ledger: " + message);
}

/// The column of a release that only means something when there is one component.
std::string of_single(const ReleaseRecord& record, std::string ComponentRecord::*field) {
  return record.components.size() == 1 ? record.components.front().*field : "";
}

void require_components_paid(const ReleaseRecord& record, const std::vector<SealedRelease>& components,
                             std::int64_t decision, const ApproximateLoss& receipt) {
  require(!components.empty() && components.size() == record.components.size(),
          "as many sealed releases as components are to be attached");
  std::vector<ApproximateLoss> losses;
  for (std::size_t i = 0; i < components.size(); ++i) {
    require(components[i].decision() == decision, "a sealed release was paid for by another decision");
    const ApproximateLoss& paid = components[i].charged();
    require(paid.epsilon.text() == record.components[i].epsilon,
            "a component's epsilon is not what was paid for it");
    require((paid.pure() ? "" : paid.delta.text()) == record.components[i].delta,
            "a component's delta is not what was paid for it");
    require(components[i].size() == std::max<std::size_t>(record.cells.size(), 1),
            "a sealed release has another number of values than there are cells");
    losses.push_back(paid);
  }
  require(accounting::compose_sequential(losses) == receipt, "the components do not use up the receipt");
  require(record.charged == receipt.epsilon.text(), "the record's charged epsilon is not the receipt's");
}

}  // namespace

void insert_policy_version(Connection& connection, const PolicyVersion& version) {
  connection.query(kInsertPolicy)
      .with(version.version, version.yaml, version.sha256, version.base_dir, version.applied_at,
            version.applied_by)
      .run();
}

void insert_account(Connection& connection, const AccountState& account) {
  connection.query(kInsertAccount)
      .with(account.dataset, account.scope, account.measure, account.balance.limit)
      .run();
}

void require_sound_policy(const PolicyVersion& version) {
  require(version.sha256 == sha256_hex(version.yaml), "sha256 is not the digest of the policy's bytes");
  require(!version.applied_by.empty(), "who applies the policy is not named");
}

void require_sound_account(const AccountState& account) {
  require(!account.dataset.empty() && !account.measure.empty(), "an account needs a dataset and a measure");
  require(accounting::Balance{.limit = account.balance.limit}.valid(), "a limit is outside 0..2^61");
}

Transaction::State::State(std::shared_ptr<LedgerState> shared)
    : ledger(std::move(shared)), lock(ledger->take_turn()) {
  try {
    Connection& db = ledger->writer();
    db.query("BEGIN IMMEDIATE").run();
    meta = read_meta(db);
    Query seq = db.query(kLastSeq);
    if (!seq.step() || seq.integer(0) != meta.decisions) {
      throw LedgerCorrupt("ledger: meta counts " + std::to_string(meta.decisions) +
                          " decisions, the last one recorded has another number");
    }
    Query id = db.query(kLastId);
    if (id.step()) last_id = id.text(0);
    if (!last_id.empty() && !is_id(last_id))
      throw LedgerCorrupt("ledger: the last decision's id is malformed");
    Query version = db.query(kActiveVersion);
    if (version.step()) policy_version = version.integer(0);
    now_ms = std::max(parse_time(meta.last_time), wall_clock_ms());
    meta.last_time = time_text(now_ms);
  } catch (const StorageFailure& failure) {
    try {
      ledger->fail(failure, "beginning a transaction");
    } catch (...) {
      end();
      throw;
    }
  } catch (...) {
    end();
    throw;
  }
}

Transaction::State::~State() {
  end();
}

void Transaction::State::end() noexcept {
  if (!lock.valid()) return;
  liveness->open = false;
  recorded.clear();  // the drawn values die here unless commit() moved them out
  if (ledger->own_process()) ledger->roll_back();
  ledger->end_turn(std::move(lock));
}

void Transaction::State::require_open() const {
  ledger->require_own_process();
  require(liveness->open, "this transaction is over");
}

void Transaction::State::require_recordable(const DecisionDraft& draft, Outcome outcome) {
  require(!owing, "the decision charged before still waits for its release");
  require(draft.outcome == outcome, "the draft's outcome is not the one being recorded");
  require((draft.reasons == "[]") == (outcome == Outcome::granted),
          "a refusal has reasons and a grant has none");
  require(!draft.principal.empty() && !draft.dataset.empty(), "a decision needs a principal and a dataset");
  require(is_digest(draft.request_digest), "the request digest is not a SHA-256 in lower-case hexadecimal");
  require(draft.policy_version == policy_version, "the decision was made under another policy version");
  if (draft.key.empty()) return;
  require(!ledger->writer().query(kKeyTaken).with(draft.principal, draft.key).step(),
          "the idempotency key already names a decision");
}

StoredDecision Transaction::State::next_decision(const DecisionDraft& draft) {
  StoredDecision decision;
  decision.seq = meta.decisions + 1;
  decision.id = next_id(last_id, now_ms);
  decision.created_at = meta.last_time;
  decision.draft = draft;
  decision.accounts = read_accounts(ledger->writer(), draft.dataset);
  return decision;
}

void Transaction::State::insert_decision(const StoredDecision& decision) {
  const DecisionDraft& draft = decision.draft;
  const std::string outcome = draft.outcome == Outcome::granted ? "granted" : "refused";
  Connection& db = ledger->writer();
  db.query(kInsertDecision)
      .with(decision.seq, decision.id, decision.created_at, draft.principal, draft.key, draft.request_digest,
            draft.request, draft.dataset, draft.policy_version, outcome, draft.reasons,
            accounts_json(decision.accounts))
      .run();
  for (const Charge& charge : decision.charges) {
    db.query(kInsertCharge).with(decision.id, charge.account, charge.amount).run();
  }
  meta.decisions = decision.seq;
  last_id = decision.id;
}

/// In order of account id, as the caller sorted them: the order in which a storage with row locks
/// would have to take them.
void Transaction::State::debit(const DecisionDraft& draft, std::span<const Charge> charges,
                               const ApproximateLoss& loss) {
  Connection& db = ledger->writer();
  const std::vector<AccountState> accounts = read_accounts(db, draft.dataset);
  bool epsilon_covered = false;
  bool delta_covered = loss.pure();
  for (const Charge& charge : charges) {
    const auto account = std::find_if(accounts.begin(), accounts.end(),
                                      [&](const AccountState& state) { return state.id == charge.account; });
    require(account != accounts.end(), "a charge names an account of another dataset");
    require(charge.amount >= 1 && charge.amount <= accounting::kUnitsMax, "a charge is outside 1..2^61");
    if (account->measure == kEpsilonMeasure) {
      require(charge.amount >= loss.epsilon.units(), "a charge is below the loss its receipt would cover");
      epsilon_covered = true;
    } else if (account->measure == kDeltaMeasure) {
      require(charge.amount >= loss.delta.units(), "a charge is below the delta its receipt would cover");
      delta_covered = true;
    }
    db.query(kDebit).with(charge.amount, charge.account).run();
    if (db.changes() != 1) {
      throw LedgerCorrupt("ledger: account " + std::to_string(charge.account) + " does not hold the " +
                          std::to_string(charge.amount) + " units it was found to hold a moment ago");
    }
  }
  require(epsilon_covered, "no account of measure epsilon is charged");
  require(delta_covered, "the loss has a delta and no account of measure delta is charged");
}

/// Runs one step. Whatever it throws ends the transaction: a half-done step must not be committed.
template <class Operation>
auto Transaction::guarded(const char* doing, Operation operation) {
  State& state = *state_;
  state.require_open();
  try {
    return operation(state);
  } catch (const StorageFailure& failure) {
    try {
      state.ledger->fail(failure, doing);
    } catch (...) {
      state.end();
      throw;
    }
  } catch (...) {
    state.end();
    throw;
  }
}

Transaction::Transaction(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

std::optional<StoredDecision> Transaction::find_key(const std::string& principal, const std::string& key) {
  return guarded("looking up a key", [&](State& state) {
    auto found = find_decision_by_key(state.ledger->writer(), principal, key);
    const bool uncommitted = found && !state.recorded.empty() && found->seq >= state.recorded.front().seq;
    if (uncommitted) {
      found->values.clear();
      found->component_values.clear();
    }
    return found;
  });
}

std::int64_t Transaction::active_policy_version() {
  return guarded("reading the policy version", [](State& state) { return state.policy_version; });
}

PolicyVersion Transaction::active_policy() {
  return guarded("reading the policy",
                 [](State& state) { return read_active_policy(state.ledger->writer()); });
}

std::vector<AccountState> Transaction::accounts(const std::string& dataset) {
  return guarded("reading accounts",
                 [&](State& state) { return read_accounts(state.ledger->writer(), dataset); });
}

accounting::ChargeReceipt Transaction::charge(const DecisionDraft& granted, std::span<const Charge> charges,
                                              const ApproximateLoss& loss) {
  return guarded("recording a charge", [&](State& state) {
    state.require_recordable(granted, Outcome::granted);
    require(loss.epsilon.units() > 0, "a release loses something: its epsilon is positive");
    std::vector<Charge> sorted(charges.begin(), charges.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const Charge& a, const Charge& b) { return a.account < b.account; });
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end(), [](const Charge& a, const Charge& b) {
      return a.account == b.account;
    });
    require(twice == sorted.end(), "an account is charged twice by one decision");

    state.changed = true;
    state.debit(granted, sorted, loss);
    StoredDecision decision = state.next_decision(granted);
    decision.charges = std::move(sorted);
    state.insert_decision(decision);
    state.recorded.push_back(std::move(decision));
    state.owing = true;
    state.receipt = loss;
    return accounting::ChargeReceipt(state.meta.decisions, loss, state.liveness);
  });
}

void Transaction::attach(const ReleaseRecord& record, std::vector<SealedRelease> components,
                         const accounting::PostProcessing& post_processing) {
  guarded("recording a release", [&](State& state) {
    require(state.owing, "there is no charged decision to attach a release to");
    StoredDecision& decision = state.recorded.back();
    require_components_paid(record, components, decision.seq, state.receipt);
    for (SealedRelease& component : components)
      decision.component_values.push_back(std::move(component.values_));
    decision.values = accounting::post_process(post_processing, decision.component_values);
    decision.post_processing = post_processing;
    decision.release = record;
    const std::int64_t precision = record.components.size() == 1 ? record.components.front().precision : 0;
    state.ledger->writer()
        .query(kInsertRelease)
        .with(decision.id, record.mechanism, record.arithmetic, precision,
              of_single(record, &ComponentRecord::sensitivity), of_single(record, &ComponentRecord::bound),
              of_single(record, &ComponentRecord::lambda), of_single(record, &ComponentRecord::grid),
              record.requested, record.charged, record.adjusted, record.published,
              rationals_json(decision.values), components_json(record.components, decision.component_values),
              texts_json(record.cells), post_processing_json(post_processing))
        .run();
    state.owing = false;
  });
}

void Transaction::refuse(const DecisionDraft& refused) {
  guarded("recording a refusal", [&](State& state) {
    state.require_recordable(refused, Outcome::refused);
    state.changed = true;
    StoredDecision decision = state.next_decision(refused);
    state.insert_decision(decision);
    state.recorded.push_back(std::move(decision));
  });
}

void Transaction::State::insert_limit_change(const AccountState& before, std::int64_t new_limit,
                                             const PolicyVersion& version, const std::string& why) {
  Connection& db = ledger->writer();
  db.query(kChangeLimit).with(new_limit, before.id).run();
  require(db.changes() == 1, "the limit of account " + std::to_string(before.id) +
                                 " cannot go below what is spent and reserved");
  ++meta.limit_changes;
  db.query(kInsertLimitChange)
      .with(meta.limit_changes, meta.decisions, version.version, before.id, before.balance.limit, new_limit,
            version.applied_at, version.applied_by, why)
      .run();
}

void Transaction::apply_policy(PolicyVersion version, const std::vector<AccountState>& accounts_wanted,
                               const std::string& why) {
  guarded("applying a policy", [&](State& state) {
    require(!state.owing, "the decision charged before still waits for its release");
    require_sound_policy(version);
    Connection& db = state.ledger->writer();
    state.changed = true;
    version.version = state.policy_version + 1;
    version.applied_at = state.meta.last_time;
    insert_policy_version(db, version);
    state.policy_version = version.version;
    state.meta.policy_versions = version.version;
    std::set<std::pair<std::pair<std::string, std::string>, std::string>> seen;
    for (const AccountState& wanted : accounts_wanted) {
      require_sound_account(wanted);
      require(seen.insert({{wanted.dataset, wanted.scope}, wanted.measure}).second,
              "an account is wanted twice");
      const std::vector<AccountState> present = read_accounts(db, wanted.dataset);
      const auto account = std::find_if(present.begin(), present.end(), [&](const AccountState& state_now) {
        return state_now.scope == wanted.scope && state_now.measure == wanted.measure;
      });
      if (account == present.end()) {
        insert_account(db, wanted);
      } else if (account->balance.limit != wanted.balance.limit) {
        state.insert_limit_change(*account, wanted.balance.limit, version, why);
      }
    }
  });
}

}  // namespace epsilog::ledger
