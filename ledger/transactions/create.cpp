#include <optional>
#include <set>
#include <utility>

#include "decision_id.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "first_replica.hpp"
#include "new_ledger_file.hpp"
#include "new_tables.hpp"
#include "transaction_state.hpp"

namespace epsilog::ledger {
namespace {

/// A ledger that lay here and is gone had a budget, and what was spent of it would be spent again.
void require_forgotten(const LedgerFiles& files, const EndMarkReading& remembered,
                       const std::string& forget) {
  if (!remembered.end || remembered.end->ledger_id == forget) return;
  const EndMark& end = *remembered.end;
  throw LedgerUnusable(
      files.lock() + " remembers a ledger that lay here: id " + end.ledger_id + ", " +
      std::to_string(end.lines) + " lines, the last of " + end.time + ". " + seal_phrase(end) +
      "A new ledger would give its whole budget again. If you have its replica: `epsilog recover --from "
      "REPLICA`. If you have a backup: `epsilog restore`. If another ledger is wanted here: `epsilog init "
      "--forget-ledger " +
      end.ledger_id + "`");
}

/// All but the row of meta, which it returns.
Meta fill(Connection& db, const std::string& ledger_id, PolicyVersion policy,
          const std::vector<AccountState>& accounts, const ClockObservation& clock) {
  policy.version = 1;
  policy.applied_at = time_text(clock.now_ms);
  policy.after_decision = 0;
  policy.event = 1;
  make_tables(db);
  Meta meta;
  meta.ledger_id = ledger_id;
  meta.created_at = meta.last_time = policy.applied_at;
  meta.policy_versions = meta.events = 1;
  meta.clock = clock.state;
  RecordLog log;
  Recorder recorder(db, meta, log);
  recorder.write(LedgerRecord{.ledger_id = ledger_id, .created_at = meta.created_at});
  recorder.write_policy(policy);
  for (const AccountState& account : accounts) {
    recorder.write(new_account_record(++meta.accounts, account, meta.created_at));
  }
  return meta;
}

void require_distinct(const std::vector<AccountState>& accounts) {
  std::set<AccountName> seen;
  for (const AccountState& account : accounts) {
    require_sound_account(account);
    if (!seen.insert({account.dataset, account.scope, account.measure}).second) {
      throw InvalidParameter("ledger: an account is wanted twice");
    }
  }
}

}  // namespace

std::string Ledger::create(const std::string& path, const PolicyVersion& policy,
                           const std::vector<AccountState>& accounts, const Options& options,
                           const std::string& forget_ledger) {
  require_sound_policy(policy);
  require_distinct(accounts);
  const std::string ledger_id = random_hex_128();
  const std::optional<Replica> replica = options.replica ? options.replica(policy) : std::optional<Replica>();
  std::optional<FirstReplica> first;
  make_ledger_file(path, options, [&](Connection& db, const NewLedgerTarget& place) {
    require_forgotten(place.files, place.remembered, forget_ledger);
    Meta meta = fill(db, ledger_id, policy, accounts, first_observation(options.clock()));
    if (replica) meta.replica_size = meta.log_size;
    insert_meta(db, meta);
    if (!replica) return;
    first.emplace(*replica, place, ledger_id);
    first->make(db, meta.log_size);
  });
  if (first) first->keep();
  return ledger_id;
}

}  // namespace epsilog::ledger
