#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "account_checksum.hpp"
#include "data_token.hpp"
#include "decision_id.hpp"
#include "decision_lookup.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/transaction.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

using accounting::ApproximateLoss;
using accounting::SealedRelease;

constexpr const char* kEpsilonMeasure = accounting::EpsilonMeasure::name;
constexpr const char* kDeltaMeasure = accounting::DeltaMeasure::name;

#define EPSILOG_SET_BALANCE                                                                      \
  "UPDATE account SET spent = ?1, reserved = ?2, checksum = ?3 WHERE id = ?4 AND \"limit\" = ?5" \
  " AND spent = ?6 AND reserved = ?7 AND "
constexpr const char* kDebit = EPSILOG_SET_BALANCE "?8 <= \"limit\" - spent - reserved";
constexpr const char* kSettle = EPSILOG_SET_BALANCE "?8 <= reserved";
constexpr const char* kReservedSums =
    "SELECT m.account, m.reserved_change FROM open_decision AS o JOIN movement AS m ON m.seq = o.seq"
    " WHERE m.reserved_change <> 0";

constexpr const char* kKeyTaken = "SELECT 1 FROM decision WHERE principal = ?1 AND key = ?2 AND key <> ''";
constexpr const char* kResolved = "SELECT 1 FROM decision WHERE parent = ?1 AND " EPSILOG_RESOLVES;
constexpr const char* kVoted =
    "SELECT 1 FROM decision WHERE parent = ?1 AND principal = ?2 AND outcome IN (5, 6)";
constexpr const char* kTokenIssued = "SELECT 1 FROM decision WHERE parent = ?1 AND outcome = 7";
constexpr const char* kOpen = "INSERT INTO open_decision(seq, deadline) VALUES(?1, ?2)";
constexpr const char* kClose =
    "DELETE FROM open_decision WHERE seq = (SELECT seq FROM decision WHERE id = ?1)";

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_opening(Outcome outcome) {
  return outcome == Outcome::reserved || outcome == Outcome::pending;
}

/// Whether a decision with that outcome leaves its parent resolved.
bool is_resolving(Outcome outcome) {
  return outcome != Outcome::approved && outcome != Outcome::data_accessed;
}

bool may_follow(Outcome outcome, Outcome parent) {
  switch (outcome) {
    case Outcome::approved:
    case Outcome::rejected:
    case Outcome::refused:
    case Outcome::reserved:
      return parent == Outcome::pending;
    case Outcome::voided:
      return parent == Outcome::pending || parent == Outcome::reserved;
    case Outcome::granted:
    case Outcome::data_accessed:
    case Outcome::forfeited:
      return parent == Outcome::reserved;
    case Outcome::pending:
      return false;
  }
  EPSILOG_INVARIANT(false);
}

bool may_stand_alone(Outcome outcome) {
  return is_opening(outcome) || outcome == Outcome::granted || outcome == Outcome::refused;
}

void require_outcome(const DecisionDraft& draft, std::initializer_list<Outcome> wanted) {
  require(std::find(wanted.begin(), wanted.end(), draft.outcome) != wanted.end(),
          "the draft's outcome is not one that is recorded so");
}

/// What accounts of one scope have to cover.
struct Covered {
  const ApproximateLoss* sum;
  const accounting::ComposedCharge*
      composed;  // where epsilon and delta are counted, in its place; or nullptr

  [[nodiscard]] const ApproximateLoss& beside_delta() const { return composed ? composed->charge() : *sum; }
};

/// What accounts have to cover of a release: all of it, but for the scopes that are named.
class LossByScope {
 public:
  explicit LossByScope(const OwedLoss& owed) : whole_{&owed.sum, owed.composed} {
    for (const ScopeLoss& part : owed.parts) {
      const Covered covered{&part.loss, part.composed ? &*part.composed : nullptr};
      require(part.scope.starts_with("block:"), "a part of a loss is of what is no block");
      require(part.loss.within(*whole_.sum), "a part of a loss is more than the whole");
      require(!covered.composed || (whole_.composed && covered.composed->sum() == part.loss &&
                                    covered.composed->charge().within(whole_.composed->charge())),
              "a part of a loss is charged as one where the whole is not, or more than that");
      require(parts_.emplace(part.scope, covered).second, "two parts of a loss are of one scope");
    }
  }
  [[nodiscard]] const Covered& of(const std::string& scope) const {
    const auto part = parts_.find(scope);
    return part == parts_.end() ? whole_ : part->second;
  }

 private:
  Covered whole_;
  std::map<std::string, Covered> parts_;
};

/// A charge below what is proved would let the receipt cover more than was paid.
void require_covered(const std::vector<AccountState>& accounts, const std::vector<Charge>& charges,
                     const LossByScope& loss) {
  std::set<std::string> with_delta;  // scopes
  for (std::size_t i = 0; i < charges.size(); ++i) {
    const AccountState& account = accounts[i];
    if (account.measure != kDeltaMeasure) continue;
    require(charges[i].amount >= loss.of(account.scope).beside_delta().delta.units(),
            "a charge is below the delta its receipt would cover");
    with_delta.insert(account.scope);
  }
  for (std::size_t i = 0; i < charges.size(); ++i) {
    const AccountState& account = accounts[i];
    if (account.measure != kEpsilonMeasure) continue;
    const Covered& covered = loss.of(account.scope);
    const bool beside = with_delta.contains(account.scope);
    require(charges[i].amount >= (beside ? covered.beside_delta() : *covered.sum).epsilon.units(),
            "a charge is below the loss its receipt would cover");
    require(beside || covered.sum->pure(),
            "the loss has a delta and no account of measure delta is charged beside one of epsilon");
  }
}

void require_as_many_as_cells(const ReleaseRecord& record, const accounting::PostProcessing& post_processing,
                              const std::vector<SealedRelease>& components) {
  std::size_t parted = 0;
  for (const ReleasePart& part : release_parts(record, post_processing)) {
    for (std::size_t i = 0; i < part.components; ++i, ++parted) {
      require(parted < components.size() && components[parted].size() == part.drawn[i],
              "a sealed release has another number of values than its cells take");
    }
  }
  require(parted == components.size(), "the rows do not share out all components");
}

/// Requires  receipt is the sum that the decision's receipt covered.
void require_components_paid(const ReleaseRecord& record, const std::vector<SealedRelease>& components,
                             std::int64_t decision, const ApproximateLoss& receipt) {
  require(!components.empty() && components.size() == record.components.size(),
          "as many sealed releases as components are to be attached");
  std::vector<ApproximateLoss> losses;
  for (std::size_t i = 0; i < components.size(); ++i) {
    require(components[i].decision() == decision, "a sealed release was paid for by another decision");
    const ApproximateLoss& paid = components[i].charged();
    require(paid.epsilon == record.components[i].epsilon,
            "a component's epsilon is not what was paid for it");
    require((paid.pure() ? std::nullopt : std::optional(paid.delta)) == record.components[i].delta,
            "a component's delta is not what was paid for it");
    losses.push_back(paid);
  }
  require(accounting::compose_sequential(losses) == receipt, "the components do not use up the receipt");
}

void require_charge_said(const ReleaseRecord& record, accounting::Epsilon charged,
                         const std::optional<ComposedRecord>& composed) {
  require(record.composed == composed, "the record does not say how its draws were charged");
  require(record.charged == charged, "the record's charged epsilon is not the receipt's");
}

}  // namespace

StoredDecision TransactionState::require_parent(const DecisionDraft& draft) {
  Connection& db = ledger->writer();
  auto parent = find_decision_by_id(db, draft.parent);
  require(parent.has_value(), "the decision it is about does not exist");
  require(may_follow(draft.outcome, parent->draft.outcome),
          std::string("a decision that is ") + outcome_name(draft.outcome) + " cannot be about one that is " +
              outcome_name(parent->draft.outcome));
  require(!db.query(kResolved).with(parent->seq).step(), "the decision it is about is resolved already");
  require(draft.dataset == parent->draft.dataset && draft.policy_version == parent->draft.policy_version,
          "it has another dataset or policy version than the decision it is about");
  if (draft.outcome == Outcome::approved || draft.outcome == Outcome::rejected) {
    const auto who = db.shared_rows().number_of_name(db, draft.principal);
    require(!who || !db.query(kVoted).with(parent->seq, *who).step(),
            "this principal has approved or rejected it already");
  }
  if (draft.outcome == Outcome::voided || draft.outcome == Outcome::data_accessed) {
    require(!db.query(kTokenIssued).with(parent->seq).step(),
            "its token was issued: it can only be posted or forfeited");
  }
  return std::move(*parent);
}

std::optional<StoredDecision> TransactionState::require_recordable(const DecisionDraft& draft) {
  require(!owing, "the decision charged before still waits for its release");
  require((draft.reasons == "[]") == (draft.outcome != Outcome::refused),
          "a refusal has reasons and nothing else has");
  require(!draft.principal.empty() && !draft.dataset.empty(), "a decision needs a principal and a dataset");
  require(is_valid_via(draft.via), "it does not say how its principal is known");
  require(is_digest(draft.request_digest), "the request digest is not a SHA-256 in lower-case hexadecimal");
  require(!draft.issues_token || draft.outcome == Outcome::data_accessed,
          "a data token is issued by a decision that does nothing else");
  require(draft.deadline.empty() != is_opening(draft.outcome),
          "a reserved or pending decision has a deadline and nothing else has");
  if (!draft.deadline.empty()) {
    require(is_time(draft.deadline) && draft.deadline > meta.last_time,
            "a deadline is a time after " + meta.last_time);
  }
  if (!draft.key.empty() && free_key != std::pair(draft.principal, draft.key)) {
    Connection& db = ledger->writer();
    const auto who = db.shared_rows().number_of_name(db, draft.principal);
    require(!who || !db.query(kKeyTaken).with(*who, draft.key).step(),
            "the idempotency key already names a decision");
  }
  if (!draft.parent.empty()) return require_parent(draft);
  require(may_stand_alone(draft.outcome),
          std::string("a decision that is ") + outcome_name(draft.outcome) + " is about another one");
  require(draft.policy_version == policy_version, "the decision was made under another policy version");
  return std::nullopt;
}

std::vector<Charge> TransactionState::checked_charges(const DecisionDraft& draft,
                                                      std::span<const Charge> charges, const OwedLoss* loss) {
  std::vector<Charge> sorted(charges.begin(), charges.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Charge& a, const Charge& b) { return a.account < b.account; });
  const auto twice = std::adjacent_find(
      sorted.begin(), sorted.end(), [](const Charge& a, const Charge& b) { return a.account == b.account; });
  require(twice == sorted.end(), "an account is charged twice by one decision");
  const bool posts = loss != nullptr && !draft.parent.empty();  // what is on record
  std::vector<AccountState> accounts;
  accounts.reserve(sorted.size());
  for (const Charge& charge : sorted) {
    auto account = account_rows.find(ledger->writer(), charge.account);
    const bool sound = account && account->dataset == draft.dataset;
    if (posts && !sound) {
      throw LedgerCorrupt("ledger: decision " + draft.parent + " charges account " +
                          std::to_string(charge.account) + ", which is not one of its dataset");
    }
    require(sound, "a charge names an account of another dataset");
    require(charge.amount >= 1 && charge.amount <= accounting::kUnitsMax, "a charge is outside 1..2^61");
    accounts.push_back(std::move(*account));
  }
  require(std::any_of(accounts.begin(), accounts.end(),
                      [](const AccountState& account) { return account.measure != kDeltaMeasure; }),
          "no account is charged but those of measure delta");
  if (loss != nullptr) require_covered(accounts, sorted, LossByScope(*loss));
  return sorted;
}

void TransactionState::apply_movement(MovementKind kind, const std::vector<Charge>& charges) {
  Connection& db = ledger->writer();
  const bool settles = kind == MovementKind::spend_reserved || kind == MovementKind::give_back;
  if (settles) require_reserved_sums(charges);
  for (const Charge& charge : charges) {
    const auto before = account_rows.find(db, charge.account);
    if (!before) throw LedgerCorrupt("ledger: account " + std::to_string(charge.account) + " is not there");
    AccountState after = *before;
    if (kind == MovementKind::spend || kind == MovementKind::spend_reserved)
      after.balance.spent += charge.amount;
    if (kind == MovementKind::reserve) after.balance.reserved += charge.amount;
    if (settles) after.balance.reserved -= charge.amount;
    db.query(settles ? kSettle : kDebit)
        .with(after.balance.spent, after.balance.reserved, account_checksum(after), before->id,
              before->balance.limit, before->balance.spent, before->balance.reserved, charge.amount)
        .run();
    if (db.changes() != 1) {
      throw LedgerCorrupt("ledger: account " + std::to_string(charge.account) + " does not hold the " +
                          std::to_string(charge.amount) +
                          (settles ? " units reserved that an open decision reserved"
                                   : " units it was found to hold a moment ago"));
    }
    account_rows.put(after);
    if (reserved_sums && kind != MovementKind::spend) {
      (*reserved_sums)[charge.account] += settles ? -charge.amount : charge.amount;
    }
  }
}

void TransactionState::require_reserved_sums(const std::vector<Charge>& charges) {
  Connection& db = ledger->writer();
  if (!reserved_sums) {
    reserved_sums.emplace();
    Query rows = db.query(kReservedSums);
    while (rows.step()) {
      std::int64_t& sum = (*reserved_sums)[rows.integer(0)];
      const std::int64_t amount = rows.integer(1);
      // Beyond what an account holds it only has to differ.
      sum = amount < 0 || amount > accounting::kUnitsMax || sum < 0 || sum > accounting::kUnitsMax
                ? -1
                : sum + amount;
    }
  }
  for (const Charge& charge : charges) {
    const auto account = account_rows.find(db, charge.account);
    const auto sum = reserved_sums->find(charge.account);
    if (account && sum != reserved_sums->end() && sum->second == account->balance.reserved) continue;
    throw LedgerCorrupt("ledger: what account " + std::to_string(charge.account) +
                        " has reserved is not the sum of its open reservations");
  }
}

std::vector<AccountState> TransactionState::accounts_after(const DecisionDraft& draft,
                                                           const std::vector<Charge>& moved) {
  const bool whole_dataset = !draft.shown_account_ids && draft.parent.empty() && !is_opening(draft.outcome);
  if (whole_dataset) return read_accounts(ledger->writer(), draft.dataset);
  std::vector<std::int64_t> ids = draft.shown_account_ids.value_or(std::vector<std::int64_t>());
  if (!draft.shown_account_ids) {
    std::transform(moved.begin(), moved.end(), std::back_inserter(ids),
                   [](const Charge& charge) { return charge.account; });
  }
  std::vector<AccountState> accounts;
  accounts.reserve(ids.size());
  for (const std::int64_t id : ids) {
    auto account = account_rows.find(ledger->writer(), id);
    const bool sound = account && account->dataset == draft.dataset;
    if (!draft.shown_account_ids && !sound)
      throw LedgerCorrupt("ledger: account " + std::to_string(id) + " is not one of dataset '" +
                          draft.dataset + "'");
    require(sound, "a touched account is not one of the dataset");
    accounts.push_back(std::move(*account));
  }
  return accounts;
}

std::vector<Movement> TransactionState::movements_of(const StoredDecision& decision, MovementKind kind,
                                                     const std::vector<Charge>& moved) {
  std::map<std::int64_t, Movement> movements;
  for (std::size_t i = 0; i < decision.accounts.size(); ++i) {
    const AccountState& account = decision.accounts[i];
    movements[account.id] = {
        .account = account.id, .position = static_cast<std::int64_t>(i) + 1, .balance = account.balance};
  }
  for (const Charge& charge : moved) {
    Movement& movement = movements[charge.account];
    if (movement.account == 0) {  // moved, and not shown
      movement.account = charge.account;
      movement.balance = account_rows.find(ledger->writer(), charge.account).value().balance;
    }
    if (kind == MovementKind::spend || kind == MovementKind::spend_reserved)
      movement.spent_change = charge.amount;
    if (kind == MovementKind::reserve) movement.reserved_change = charge.amount;
    if (kind == MovementKind::spend_reserved || kind == MovementKind::give_back)
      movement.reserved_change = -charge.amount;
  }
  std::vector<Movement> sorted;
  sorted.reserve(movements.size());
  for (auto& [account, movement] : movements) sorted.push_back(movement);
  return sorted;
}

std::string TransactionState::record(const DecisionDraft& draft, MovementKind kind,
                                     const std::vector<Charge>& moved, std::vector<Charge> charged) {
  insert_noticed_clock_events();  // they came before it
  StoredDecision decision;
  decision.seq = meta.decisions + 1;
  decision.id = next_id(last_id, clock.now_ms);
  decision.created_at = meta.last_time;
  decision.build = kThisBuild;
  decision.decided_under = policy_version;
  decision.draft = draft;
  decision.via = draft.via;
  if (draft.issues_token) decision.token = draw_token();
  decision.accounts = accounts_after(draft, moved);
  auto& touched = decision.draft.shown_account_ids.emplace();
  for (const AccountState& account : decision.accounts) touched.push_back(account.id);
  decision.charges = std::move(charged);
  std::vector<Movement> movements = movements_of(decision, kind, moved);

  Connection& db = ledger->writer();
  if (draft.outcome == Outcome::granted) {
    owed_movements = std::move(movements);
  } else {
    recorder().write_decision(decision, std::move(movements));
  }
  if (is_opening(draft.outcome)) db.query(kOpen).with(decision.seq, parse_time(draft.deadline)).run();
  if (!draft.parent.empty() && is_resolving(draft.outcome)) {
    db.query(kClose).with(id_bytes(draft.parent)).run();
    if (db.changes() != 1)
      throw LedgerCorrupt("ledger: decision " + draft.parent + " is not resolved, yet not listed as open");
  }
  meta.decisions = decision.seq;
  dated = true;
  last_id = decision.id;
  free_key.reset();
  recorded.push_back(std::move(decision));
  return last_id;
}

void TransactionState::owe(const OwedLoss& loss) {
  owing = true;
  receipt = loss.sum;
  expected_epsilon = loss.sum.epsilon;
  expected_composed.reset();
  if (loss.composed == nullptr) return;
  expected_epsilon = loss.composed->charge().epsilon;
  expected_composed = {loss.composed->by(), loss.composed->charge().delta};
}

void TransactionState::charge(const DecisionDraft& granted, std::span<const Charge> charges,
                              const OwedLoss& loss) {
  require_outcome(granted, {Outcome::granted});
  require(granted.parent.empty(), "a grant about a reservation posts that and charges nothing else");
  static_cast<void>(require_recordable(granted));
  require(loss.sum.epsilon.units() > 0, "a release loses something: its epsilon is positive");
  std::vector<Charge> checked = checked_charges(granted, charges, &loss);
  changed = true;
  apply_movement(MovementKind::spend, checked);
  static_cast<void>(record(granted, MovementKind::spend, checked, checked));
  owe(loss);
}

void TransactionState::commit_reservation(const DecisionDraft& granted, const OwedLoss& loss) {
  require_outcome(granted, {Outcome::granted});
  const auto parent = require_recordable(granted);
  require(parent.has_value(), "it does not say which reservation is posted");
  require(loss.sum.epsilon.units() > 0, "a release loses something: its epsilon is positive");
  const std::vector<Charge> checked = checked_charges(granted, parent->charges, &loss);
  changed = true;
  apply_movement(MovementKind::spend_reserved, checked);
  static_cast<void>(record(granted, MovementKind::spend_reserved, checked, checked));
  owe(loss);
}

accounting::ChargeReceipt Transaction::charge(const DecisionDraft& granted, std::span<const Charge> charges,
                                              const ApproximateLoss& loss, std::span<const ScopeLoss> parts) {
  return state_->run_step("recording a charge", [&](TransactionState& state) {
    state.charge(granted, charges, {loss, nullptr, parts});
    return accounting::ChargeReceipt(state.meta.decisions, loss, state.liveness);
  });
}

accounting::ChargeReceipt Transaction::charge(const DecisionDraft& granted, std::span<const Charge> charges,
                                              const accounting::ComposedCharge& loss,
                                              std::span<const ScopeLoss> parts) {
  return state_->run_step("recording a charge", [&](TransactionState& state) {
    state.charge(granted, charges, {loss.sum(), &loss, parts});
    return accounting::ChargeReceipt(state.meta.decisions, loss, state.liveness);
  });
}

std::string Transaction::reserve(const DecisionDraft& reserved, std::span<const Charge> charges) {
  return state_->run_step("recording a reservation", [&](TransactionState& state) {
    require_outcome(reserved, {Outcome::reserved});
    static_cast<void>(state.require_recordable(reserved));
    const std::vector<Charge> checked = state.checked_charges(reserved, charges, nullptr);
    state.changed = true;
    state.apply_movement(TransactionState::MovementKind::reserve, checked);
    return state.record(reserved, TransactionState::MovementKind::reserve, checked, checked);
  });
}

accounting::ChargeReceipt Transaction::commit_reservation(const DecisionDraft& granted,
                                                          const ApproximateLoss& loss,
                                                          std::span<const ScopeLoss> parts) {
  return state_->run_step("posting a reservation", [&](TransactionState& state) {
    state.commit_reservation(granted, {loss, nullptr, parts});
    return accounting::ChargeReceipt(state.meta.decisions, loss, state.liveness);
  });
}

accounting::ChargeReceipt Transaction::commit_reservation(const DecisionDraft& granted,
                                                          const accounting::ComposedCharge& loss,
                                                          std::span<const ScopeLoss> parts) {
  return state_->run_step("posting a reservation", [&](TransactionState& state) {
    state.commit_reservation(granted, {loss.sum(), &loss, parts});
    return accounting::ChargeReceipt(state.meta.decisions, loss, state.liveness);
  });
}

std::optional<std::string> TransactionState::try_step(const std::function<void()>& step) {
  const auto sums_before = reserved_sums;  // of what may be many: they are not read again for each
  SavepointMemory before(*this);
  Connection& db = ledger->writer();
  db.execute("SAVEPOINT step");
  std::string damage;
  try {
    step();
    db.execute("RELEASE step");
    return std::nullopt;
  } catch (const StorageFailure& failure) {
    if (kind_of(failure) != FailureKind::constraint) throw;
    damage = failure.what();
  } catch (const LedgerCorrupt& error) {
    damage = error.what();
  } catch (const InvalidParameter& error) {
    damage = error.what();
  }
  db.execute("ROLLBACK TO step");
  db.execute("RELEASE step");
  before.restore(*this);
  reserved_sums = sums_before;
  return damage;
}

std::string Transaction::resolve(const DecisionDraft& voided_or_forfeited) {
  std::optional<std::string> damage;
  std::string id = state_->run_step("resolving a decision", [&](TransactionState& state) {
    require_outcome(voided_or_forfeited, {Outcome::voided, Outcome::forfeited});
    const auto parent = state.require_recordable(voided_or_forfeited);
    EPSILOG_INVARIANT(parent.has_value());
    const bool spends = voided_or_forfeited.outcome == Outcome::forfeited;
    std::string recorded;
    damage = state.try_step([&] {
      state.changed = true;
      const auto kind =
          spends ? TransactionState::MovementKind::spend_reserved : TransactionState::MovementKind::give_back;
      state.apply_movement(kind, parent->charges);
      recorded = state.record(voided_or_forfeited, kind, parent->charges,
                              spends ? parent->charges : std::vector<Charge>{});
    });
    return recorded;
  });
  if (damage) {
    throw UnreadableRow("decision " + voided_or_forfeited.parent + " cannot be ended: " + *damage);
  }
  return id;
}

std::string Transaction::record_without_movement(const DecisionDraft& noted) {
  return state_->run_step("recording a decision", [&](TransactionState& state) {
    require_outcome(noted, {Outcome::pending, Outcome::approved, Outcome::rejected, Outcome::data_accessed});
    static_cast<void>(state.require_recordable(noted));
    state.changed = true;
    return state.record(noted, TransactionState::MovementKind::spend, {}, {});
  });
}

std::string Transaction::refuse(const DecisionDraft& refused) {
  return state_->run_step("recording a refusal", [&](TransactionState& state) {
    require_outcome(refused, {Outcome::refused});
    static_cast<void>(state.require_recordable(refused));
    state.changed = true;
    return state.record(refused, TransactionState::MovementKind::spend, {}, {});
  });
}

void Transaction::attach(const ReleaseRecord& record, std::vector<SealedRelease> components,
                         const accounting::PostProcessing& post_processing) {
  state_->run_step("recording a release", [&](TransactionState& state) {
    require(state.owing, "there is no charged decision to attach a release to");
    StoredDecision& decision = state.recorded.back();
    require_components_paid(record, components, decision.seq, state.receipt);
    require_charge_said(record, state.expected_epsilon, state.expected_composed);
    require_as_many_as_cells(record, post_processing, components);
    for (SealedRelease& component : components)
      decision.component_values.push_back(std::move(component.values_));
    decision.values = released_values(record, post_processing, decision.component_values);
    decision.post_processing = post_processing;
    decision.release = record;
    state.recorder().write_decision(decision, std::move(state.owed_movements));
    state.owing = false;
  });
}

}  // namespace epsilog::ledger
