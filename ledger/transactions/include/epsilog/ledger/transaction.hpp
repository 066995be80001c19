// Writing to a ledger: what is recorded, looked up and charged under one turn.
//
// States of a transaction, and who moves it
//   begin()             -> open        turn taken, BEGIN IMMEDIATE done, time fixed
//   charge()            open -> owing  debit applied, receipt out; nothing may be recorded before attach()
//   attach()            owing -> open  release stored, still sealed
//   commit_reservation()              open -> owing  reservation turned into spend, receipt out; as after charge()
//   refuse(), reserve(), resolve(), record_without_movement(), apply_policy(), relocate(), record_key_change(), find_by_key() …   open ->
//   open member(step)        open -> open   what the step recorded is there, or it threw and nothing of it is
//   commit()            open -> over   COMMIT returned; values visible
//   any exception, ~Transaction, commit() while owing   -> over   rolled back, nothing happened
//   I/O error           -> over, and the ledger -> poisoned
//   In state over every receipt of the transaction is dead and every call throws InvalidParameter.
//
// Within the step of a member
//   an exception of a call that is not the storage's, or a constraint   -> given up   calls throw
//                       InvalidParameter until the step ends; then it is undone, and the transaction open
//   any other failure of the storage   -> over, for all members
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epsilog/accounting/approximate_loss.hpp"
#include "epsilog/accounting/callback.hpp"
#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/ledger/credential_event.hpp"
#include "epsilog/ledger/key_event.hpp"
#include "epsilog/ledger/principal_charges.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

class TransactionState;

/// One BEGIN IMMEDIATE … COMMIT under the ledger's turn. Rolls back when destroyed uncommitted.
///
/// Every function throws LedgerBusy, LedgerIo or LedgerCorrupt when the storage fails, and
/// InvalidParameter when the transaction is over; after any exception it is over, save UnreadableRow
/// (unreadable_row.hpp) from what only looks up decisions, and from resolve(), and save what run_in_savepoint() says of
/// those within its step. What records a decision and
/// returns no receipt returns its id, so that another one can be about it.
/// Thread-safety: one owner.
class Transaction final {
 public:
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  [[nodiscard]] bool is_open() const noexcept;
  /// Nothing can be committed until a policy names another replica, or none (Ledger::begin_to_apply()).
  [[nodiscard]] bool is_without_replica() const noexcept;
  /// Runs the step of one of several who share this transaction: what it records is there whole or not at
  /// all.
  /// Requires  state open, no member under way; the step calls this transaction only, and leaves it where it
  ///           is. What was sealed in a step that is undone is not attached in another.
  /// Ensures   after an exception nothing of the step is left, neither in rows nor in memory, and its
  ///           receipts are dead; whatever was recorded before it is as it was. The transaction goes on,
  ///           unless open() says otherwise: then the storage failed with more than a constraint, and nothing
  ///           of anybody is recorded.
  /// Throws    what the step throws; LedgerBusy, LedgerIo; InvalidParameter, likewise undone, if it left the
  ///           state owing, or ended in order after a call of this transaction had failed in it.
  void run_in_savepoint(accounting::CallbackRef<void()> step);

  /// The decision bound to the key, or none; key "" binds none.
  /// Ensures   the values of a decision recorded by this very transaction are withheld (empty): they
  ///           come out of commit().
  [[nodiscard]] std::optional<StoredDecision> find_by_key(const std::string& principal,
                                                          const std::string& key);
  [[nodiscard]] std::int64_t active_policy_version();
  [[nodiscard]] PolicyVersion active_policy();
  /// All accounts of a dataset, ordered by (scope, measure).
  [[nodiscard]] std::vector<AccountState> accounts(const std::string& dataset);
  /// Those of the named accounts that exist, in the order of `names`; one look-up each.
  [[nodiscard]] std::vector<AccountState> accounts(std::span<const AccountName> names);
  /// Ledger time of everything in this transaction.
  [[nodiscard]] std::string now() const;
  /// What renewals of budgets go by: now(), or the time at which the calendar is held (invariant 15).
  [[nodiscard]] std::string calendar_time() const;
  /// Whether it is held.
  [[nodiscard]] bool calendar_held() const;
  /// The path of the last relocation of the dataset since the active policy version; none: the policy says
  /// where its source is.
  [[nodiscard]] std::optional<std::string> location(const std::string& dataset);
  /// As find_by_key, by id.
  [[nodiscard]] std::optional<StoredDecision> find_by_id(const std::string& id);
  /// The decisions about one, by seq; values withheld as by find_by_key.
  [[nodiscard]] std::vector<StoredDecision> children(const std::string& id);
  /// Ids of the open decisions with a deadline of now() or before, by (deadline, seq).
  [[nodiscard]] std::vector<std::string> overdue_ids();
  /// The accounts of scopes "period:…" of which something is reserved, by id.
  [[nodiscard]] std::vector<AccountState> period_accounts_with_reservations();
  /// Ids of the open reservations that charge the account, by seq.
  [[nodiscard]] std::vector<std::string> open_reservations_of(std::int64_t account);
  /// What one principal was charged and holds, as of now(); what this transaction recorded is in it.
  [[nodiscard]] PrincipalCharges charges(const ChargeWindow& window);

  /// A new account with that name and limit, nothing spent.
  /// Requires  state open; a dataset, a measure and a limit in 0..2^61; no account of that name.
  /// Throws    InvalidParameter.
  AccountState open_account(const AccountState& fresh);

  /// Records a granted decision and debits every charge. `loss` is what the receipt covers.
  /// Requires  state open; outcome granted, no parent, reasons "[]", the active policy version, a free
  ///           key; distinct accounts of the draft's dataset, one of a measure other than "delta"; a charge
  ///           of at least its part of `loss` against every account named with measure "epsilon" or
  ///           "delta"; for a loss with a delta, beside each account of measure "epsilon" that of measure
  ///           "delta" of the same scope; epsilon > 0; touched accounts of the draft's dataset. Of the scopes
  ///           of `parts`, each of a block and there once, only that part of `loss` counts.
  /// Ensures   state owing.
  /// Throws    InvalidParameter; LedgerCorrupt if a debit does not apply.
  [[nodiscard]] accounting::ChargeReceipt charge(const DecisionDraft& granted,
                                                 std::span<const Charge> charges,
                                                 const accounting::ApproximateLoss& loss,
                                                 std::span<const ScopeLoss> parts = {});
  /// Likewise, of draws that are charged as one.
  /// Requires  as above with the sum of the draws as `loss`, but that of a scope with an account of measure
  ///           "delta" the composed charge counts in its place, of `parts` that have one theirs.
  /// Ensures   state owing; the receipt covers each of the draws once.
  [[nodiscard]] accounting::ChargeReceipt charge(const DecisionDraft& granted,
                                                 std::span<const Charge> charges,
                                                 const accounting::ComposedCharge& loss,
                                                 std::span<const ScopeLoss> parts = {});
  /// Records a reservation and reserves every charge.
  /// Requires  state open; outcome reserved, a deadline after now(); without a parent the active policy
  ///           version, or an open pending parent, which this resolves; otherwise as charge() of a draft,
  ///           and of charges without a loss.
  /// Throws    InvalidParameter; LedgerCorrupt if a reservation does not apply.
  std::string reserve(const DecisionDraft& reserved, std::span<const Charge> charges);
  /// Records a grant that posts its parent: the parent's charges, exactly, turn from reserved to spent.
  /// Requires  state open; outcome granted, an open reserved parent, of which the charges are enough for
  ///           `loss` and `parts` as charge() demands; a free key.
  /// Ensures   state owing; the parent is resolved.
  /// Throws    InvalidParameter; LedgerCorrupt if the parent's charges are not reserved.
  [[nodiscard]] accounting::ChargeReceipt commit_reservation(const DecisionDraft& granted,
                                                             const accounting::ApproximateLoss& loss,
                                                             std::span<const ScopeLoss> parts = {});
  /// Likewise, of draws that are charged as one.
  [[nodiscard]] accounting::ChargeReceipt commit_reservation(const DecisionDraft& granted,
                                                             const accounting::ComposedCharge& loss,
                                                             std::span<const ScopeLoss> parts = {});
  /// Ends an open decision without a release: what a voided reservation kept is given back, what a
  /// forfeited one kept is spent.
  /// Requires  state open; outcome voided with an open pending parent, or an open reserved one whose
  ///           token was not issued; or outcome forfeited with an open reserved parent; a free key.
  /// Throws    InvalidParameter; UnreadableRow, and the transaction goes on as if nothing had been asked, if
  ///           what is stored of the parent does not go together: its charges are not reserved, say.
  std::string resolve(const DecisionDraft& voided_or_forfeited);
  /// Records what moves no balance.
  /// Requires  state open; outcome pending, with a deadline after now(), no parent and the active policy
  ///           version; or approved or rejected with an open pending parent this principal has neither
  ///           approved nor rejected; or data_accessed with an open reserved parent that has none; a free key.
  /// Throws    InvalidParameter.
  std::string record_without_movement(const DecisionDraft& noted);
  /// Lets renewals go on after the wall clock jumped forwards: whoever calls vouches for it.
  /// Requires  state open; the calendar is held; `by` not "".
  /// Throws    InvalidParameter; LedgerBusy while the wall clock stands more than a second before ledger
  ///           time, for then it was the jump that was wrong.
  void confirm_clock(const std::string& by);

  /// Stores the drawn values of the decision just charged; still sealed to everybody else.
  /// Requires  state owing; one sealed release a component of the record, paid for by that decision,
  ///           of the stated epsilon and delta, together exactly what the receipt covered; as many values
  ///           each as there are cells, one without; numbers in canonical form. The record says how the
  ///           decision was charged: by what bound as one, if it was, and the epsilon of that.
  /// Throws    InvalidParameter; Error if what would be stored does not read back as what is given.
  void attach(const ReleaseRecord& record, std::vector<accounting::SealedRelease> components,
              const accounting::PostProcessing& post_processing);
  /// Records a refusal; costs nothing.
  /// Requires  state open; outcome refused, reasons not "[]", a free key; the active policy version, or
  ///           an open pending parent, which this resolves.
  /// Throws    InvalidParameter.
  std::string refuse(const DecisionDraft& refused);

  /// `policy apply`: a new version, new accounts, changed limits (limit_change rows), limits that are none
  /// any more (limit_removal rows). The version's number, time and place in the order are assigned here;
  /// accounts not wanted any more stay as they are, `removed` or not.
  /// Requires  state open; sha256 is that of yaml; no limit below what is spent and reserved; `removed` are
  ///           accounts that exist and are not wanted.
  /// Throws    InvalidParameter.
  void apply_policy(PolicyVersion version, const std::vector<AccountState>& accounts_wanted,
                    const std::string& why, const std::vector<AccountName>& removed = {});
  /// From here on the source of the dataset is found at `path`.
  /// Requires  state open; an absolute path; dataset and `by` not "".
  /// Throws    InvalidParameter.
  void relocate(const std::string& dataset, const std::string& path, const std::string& by,
                const std::string& why);
  /// Records that lines from here on need a program that knows this feature, unless an earlier line says so.
  /// Requires  state open; a feature that this program knows. Programs of today know none.
  /// Throws    InvalidParameter.
  void announce_feature(const std::string& name);
  [[nodiscard]] KeyStatus key_status(const std::string& verifier_key);
  /// From here on the key signs checkpoints of this ledger, or does no more. What a key is, the caller knows.
  /// Requires  state open; key and `by` not ""; to retire one it is added, to add one it is not.
  /// Throws    InvalidParameter.
  void record_key(const std::string& verifier_key, bool retired, const std::string& by,
                  const std::string& why);
  /// By seq, as of this turn.
  void each_credential_event(const std::function<void(const CredentialEvent&)>& visit);
  /// From here on somebody is called so by that credential, or no more. Its number and time are assigned
  /// here.
  /// Requires  state open; id, principal and `by` not "", the id UTF-8. To add one: an id that never was one,
  ///           a value of its type (is_credential_value()), no end but one after now(). To revoke one: it was
  ///           added with that principal and type and not revoked since, value and until "".
  /// Throws    InvalidParameter.
  void record_credential(const CredentialEvent& event);

 private:
  friend class Ledger;
  explicit Transaction(std::unique_ptr<TransactionState> state);
  std::unique_ptr<TransactionState> state_;
};

}  // namespace epsilog::ledger
