#include "written_history.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "account_checksum.hpp"
#include "decision_id.hpp"
#include "decision_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "ledger_clock.hpp"
#include "new_tables.hpp"
#include "record_rows.hpp"
#include "schema.hpp"
#include "schema3.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::int64_t kAtTheEnd = std::numeric_limits<std::int64_t>::max();

/// Something that is no decision, and where it stands.
struct Event {
  std::int64_t after_decision = 0;
  std::int64_t number = 0;  // among the events; 0: not recorded
  int kind = 0;             // then by this
  std::int64_t seq = 0;
  Record record;

  [[nodiscard]] auto place() const { return std::tuple(after_decision, number, kind, seq); }
};

/// Where versions stand of which no place was recorded.
std::vector<std::int64_t> places_of_versions(Connection& old, const std::vector<PolicyVersion>& versions) {
  std::map<std::int64_t, std::int64_t> by_limits;
  for (const LimitChange& change : schema3::limit_changes(old)) {
    by_limits.emplace(change.policy_version, change.after_decision);
  }
  std::vector<std::int64_t> places;
  std::int64_t next = kAtTheEnd;
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    std::int64_t place = version->after_decision;
    if (place < 0) {
      const auto limits = by_limits.find(version->version);
      if (limits != by_limits.end()) {
        place = limits->second;
      } else {
        Query first = old.query(
            "SELECT min(seq) - 1 FROM decision WHERE decided_under = ?1"
            " OR (rules = 1 AND parent = '' AND policy_version = ?1)");
        first.with(version->version);
        place = first.step() && !first.null(0) ? first.integer(0) : kAtTheEnd;
      }
      if (version->version == 1) place = 0;  // the ledger begins with it
    }
    next = std::min(next, place);
    places.push_back(next);
  }
  std::reverse(places.begin(), places.end());
  return places;
}

bool same(const AccountState& one, const AccountState& other) {
  return one.id == other.id && one.name() == other.name() && one.balance.limit == other.balance.limit &&
         one.balance.spent == other.balance.spent && one.balance.reserved == other.balance.reserved;
}

bool same(const StoredDecision& one, const StoredDecision& other) {
  const auto draft = [](const StoredDecision& decision) {
    const DecisionDraft& d = decision.draft;
    return std::tie(d.principal, d.key, d.request_digest, d.request, d.dataset, d.policy_version, d.outcome,
                    d.reasons, d.parent, d.deadline, d.touched);
  };
  const auto charges = [](const Charge& a, const Charge& b) {
    return a.account == b.account && a.amount == b.amount;
  };
  return one.seq == other.seq && one.id == other.id && one.created_at == other.created_at &&
         one.rules == other.rules && one.program == other.program &&
         one.decided_under == other.decided_under && draft(one) == draft(other) &&
         std::equal(one.accounts.begin(), one.accounts.end(), other.accounts.begin(), other.accounts.end(),
                    [](const AccountState& a, const AccountState& b) { return same(a, b); }) &&
         std::equal(one.charges.begin(), one.charges.end(), other.charges.begin(), other.charges.end(),
                    charges) &&
         one.release == other.release && one.component_values == other.component_values &&
         one.values == other.values && same_recipe(one.post_processing, other.post_processing);
}

class HistoryWriter final {
 public:
  HistoryWriter(Connection& old, Connection& made, const Clock& clock, const MigrationSteps& steps)
      : old_(old), made_(made), steps_(steps), meta_(schema3::read_meta(old)), recorder_(made, meta_, log_) {
    const ClockObservation now = observe(meta_, clock());
    now_ = time_text(now.now_ms);
    schema3::each_account_as_stored(old, [&](const AccountState& account, bool) {
      accounts_.emplace(account.id, account);
      ids_.emplace(account.name(), account.id);
    });
    for (const LimitChange& change : schema3::limit_changes(old)) {
      opening_limits_.emplace(change.account, change.old_limit);
    }
  }

  void write() {
    collect();
    recorder_.write(LedgerBegun{.ledger_id = meta_.ledger_id, .created_at = meta_.created_at});
    auto event = events_.begin();
    schema3::each_decision(old_, [&](const StoredDecision& decision) {
      for (; event != events_.end() && event->after_decision < decision.seq; ++event) write(*event);
      write(decision);
      tell(decision.seq, 0);
    });
    for (; event != events_.end(); ++event) write(*event);
    for (const auto& [id, account] : accounts_) open(id, now_);
    meta_.schema_migrations += 1;
    meta_.events += 1;
    meta_.last_time = now_;
    recorder_.write(SchemaMigration{
        .version = kSchemaVersion, .after_decision = meta_.decisions, .at = now_, .event = meta_.events});
    write_balances();
    write_open();
    insert_meta(made_, meta_);
  }

  /// That every decision says what it said.
  void compare() {
    made_.shared().forget();  // what it says is what the rows say
    SQLite::Statement statement = made_.prepare(EPSILOG_DECISION_COLUMNS "ORDER BY d.seq");
    Query rows(statement, made_.handle());
    schema3::each_decision(old_, [&](const StoredDecision& decision) {
      tell(decision.seq, 0.5);
      if (rows.step() && same(decision, read_decision(made_, rows, Reading::as_stored))) return;
      throw LedgerCorrupt("decision " + std::to_string(decision.seq) + " (" + decision.id +
                          ") does not come out as it was; nothing was migrated");
    });
    if (rows.step()) throw LedgerCorrupt("more decisions came out than there were; nothing was migrated");
  }

  [[nodiscard]] std::int64_t decisions() const noexcept { return meta_.decisions; }

 private:
  void tell(std::int64_t seq, double half) const {
    constexpr std::int64_t kEvery = 1'024;
    if (!steps_.progress || seq % kEvery != 0) return;
    steps_.progress(half + 0.5 * static_cast<double>(seq) / static_cast<double>(meta_.decisions));
  }

  enum Kind { policy, limit_change, limit_removal, relocation, migration, clock_event };

  void collect() {
    std::vector<PolicyVersion> versions = schema3::policy_versions(old_);
    const std::vector<std::int64_t> places = places_of_versions(old_, versions);
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> of_version;  // place, event
    for (std::size_t i = 0; i < versions.size(); ++i) {
      of_version[versions[i].version] = {places[i], versions[i].event};
      if (steps_.meaning) {
        PolicyMeaning means = steps_.meaning(versions[i]);
        versions[i].implies = std::move(means.implies);
        accounts_of_version_[versions[i].version] = std::move(means.accounts);
      }
      add(places[i], versions[i].event, policy, versions[i].version,
          PolicyRecord{.version = versions[i], .implies = versions[i].implies});
    }
    // With their version, whose accounts come before them.
    for (LimitChange& change : schema3::limit_changes(old_)) {
      const auto [place, event] = of_version.at(change.policy_version);
      add(place, event, limit_change, change.seq, std::move(change));
    }
    for (LimitRemoval& removal : schema3::limit_removals(old_)) {
      const auto [place, event] = of_version.at(removal.policy_version);
      add(place, event, limit_removal, removal.seq, std::move(removal));
    }
    for (Relocation& moved : schema3::relocations(old_)) {
      add(moved.after_decision, moved.event, relocation, moved.seq, std::move(moved));
    }
    for (const SchemaMigration& step : schema3::migrations(old_)) {
      add(step.after_decision, step.event, migration, step.version, step);
    }
    for (ClockEvent& seen : schema3::clock_events(old_)) {
      add(seen.after_decision, seen.event, clock_event, seen.seq, std::move(seen));
    }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.place() < b.place(); });
    keep_versions_with_their_limits();
  }

  void add(std::int64_t after, std::int64_t number, Kind kind, std::int64_t seq, Record record) {
    events_.push_back({.after_decision = after,
                       .number = number,
                       .kind = static_cast<int>(kind),
                       .seq = seq,
                       .record = std::move(record)});
  }

  /// Of versions without a number of their own several may stand in one place, and each one's limits follow
  /// it.
  void keep_versions_with_their_limits() {
    const auto version_of = [](const Event& event) -> std::int64_t {
      if (const auto* const change = std::get_if<LimitChange>(&event.record)) return change->policy_version;
      if (const auto* const removal = std::get_if<LimitRemoval>(&event.record))
        return removal->policy_version;
      return event.seq;
    };
    for (auto begin = events_.begin(); begin != events_.end();) {
      const auto end = std::find_if(begin, events_.end(), [&](const Event& event) {
        return event.after_decision != begin->after_decision || event.number != begin->number ||
               event.kind > limit_removal;
      });
      std::stable_sort(begin, end, [&](const Event& a, const Event& b) {
        return std::tuple(version_of(a), a.kind) < std::tuple(version_of(b), b.kind);
      });
      begin = end == begin ? std::next(begin) : end;
    }
  }

  void write(const Event& event) {
    if (const auto* const applied = std::get_if<PolicyRecord>(&event.record)) {
      recorder_.write_policy(applied->version);
      std::set<std::int64_t> opened;
      for (const AccountName& name : accounts_of_version_[applied->version.version]) {
        if (const auto id = ids_.find(name); id != ids_.end()) opened.insert(id->second);
      }
      for (const std::int64_t id : opened) open(id, applied->version.applied_at);
      return;
    }
    if (const auto* const change = std::get_if<LimitChange>(&event.record)) {
      open(change->account, change->changed_at);
      balances_[change->account].limit = change->new_limit;
    }
    if (const auto* const removal = std::get_if<LimitRemoval>(&event.record)) {
      open(removal->account, removal->removed_at);
    }
    recorder_.write(event.record);
  }

  /// Unless it is.
  void open(std::int64_t id, const std::string& at) {
    if (balances_.contains(id)) return;
    const auto account = accounts_.find(id);
    if (account == accounts_.end()) throw LedgerCorrupt("account " + std::to_string(id) + " is not there");
    const auto changed = opening_limits_.find(id);
    const std::int64_t limit =
        changed == opening_limits_.end() ? account->second.balance.limit : changed->second;
    balances_[id] = {.limit = limit};
    recorder_.write(AccountOpened{.id = id, .name = account->second.name(), .limit = limit, .opened_at = at});
  }

  void write(StoredDecision decision) {
    std::vector<Charge> moved = decision.charges;
    const bool resolves_held =
        decision.draft.outcome == Outcome::voided && held_.contains(decision.draft.parent);
    if (resolves_held) moved = held_.at(decision.draft.parent);
    std::set<std::int64_t> touched;
    for (const AccountState& account : decision.accounts) touched.insert(account.id);
    for (const Charge& charge : moved) touched.insert(charge.account);
    for (const std::int64_t account : touched) open(account, decision.created_at);
    std::vector<Movement> movements = movements_of(decision, moved);
    recorder_.write_decision(decision, std::move(movements));
    if (decision.draft.outcome == Outcome::reserved) held_[decision.id] = decision.charges;
    if (decision.draft.outcome == Outcome::voided || decision.draft.outcome == Outcome::forfeited ||
        (decision.draft.outcome == Outcome::granted && !decision.draft.parent.empty())) {
      held_.erase(decision.draft.parent);
    }
  }

  std::vector<Movement> movements_of(const StoredDecision& decision, const std::vector<Charge>& moved) {
    const Outcome outcome = decision.draft.outcome;
    const bool settles = !decision.draft.parent.empty() && outcome != Outcome::reserved;
    std::map<std::int64_t, Movement> movements;
    for (const Charge& charge : moved) {
      Movement& movement = movements[charge.account];
      if (outcome == Outcome::granted || outcome == Outcome::forfeited) movement.spent_change = charge.amount;
      if (outcome == Outcome::reserved) movement.reserved_change = charge.amount;
      if (settles) movement.reserved_change = -charge.amount;
      accounting::Balance& balance = balances_.at(charge.account);
      balance.spent += movement.spent_change;
      balance.reserved += movement.reserved_change;
      movement.balance = balance;
    }
    for (std::size_t i = 0; i < decision.accounts.size(); ++i) {
      Movement& movement = movements[decision.accounts[i].id];
      movement.position = static_cast<std::int64_t>(i) + 1;
      movement.balance = decision.accounts[i].balance;
    }
    std::vector<Movement> sorted;
    for (auto& [account, movement] : movements) {
      movement.account = account;
      sorted.push_back(movement);
    }
    return sorted;
  }

  /// As the rows of accounts have them; that they are what the movements come to is for the audit.
  void write_balances() {
    for (const auto& [id, account] : accounts_) {
      made_.query("UPDATE account SET budget = ?2, spent = ?3, reserved = ?4, checksum = ?5 WHERE id = ?1")
          .with(id, account.balance.limit, account.balance.spent, account.balance.reserved,
                account_checksum(account))
          .run();
    }
  }

  void write_open() {
    SQLite::Statement statement = old_.prepare("SELECT decision_id, deadline FROM open_decision");
    Query rows(statement, old_.handle());
    while (rows.step()) {
      made_.query("INSERT INTO open_decision(seq, deadline) SELECT seq, ?2 FROM decision WHERE id = ?1")
          .with(id_bytes(rows.text(0)), parse_time(rows.text(1)))
          .run();
    }
  }

  Connection& old_;
  Connection& made_;
  const MigrationSteps& steps_;
  Meta meta_;
  RecordLog log_;
  Recorder recorder_;
  std::string now_;
  std::map<std::int64_t, AccountState> accounts_;  // as they stand
  std::map<AccountName, std::int64_t> ids_;
  std::map<std::int64_t, std::int64_t> opening_limits_;
  std::map<std::int64_t, std::vector<AccountName>> accounts_of_version_;
  std::vector<Event> events_;
  std::map<std::int64_t, accounting::Balance> balances_;  // of opened accounts, as they stood
  std::map<std::string, std::vector<Charge>> held_;       // of open reservations, by id
};

}  // namespace

std::int64_t write_history(Connection& old, const LedgerFiles& made, const Clock& clock,
                           const MigrationSteps& steps) {
  Connection db(made, Connection::Role::creator);
  db.execute("BEGIN IMMEDIATE");
  make_tables(db);
  HistoryWriter writer(old, db, clock, steps);
  writer.write();
  db.execute("COMMIT");
  writer.compare();
  db.move_log_into_file(made);
  return writer.decisions();
}

}  // namespace epsilog::ledger
