#include "ledger/support/full_history.hpp"

#include "epsilog/ledger/digest.hpp"
#include "record_log.hpp"
#include "stale_replicas.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger_tests {
namespace {

const Epsilon kHundredth = Epsilon::parse_down("0.01");

void record_decisions(ledger::Ledger& ledger, int refusals) {
  using ledger::Outcome;
  auto transaction = ledger.begin();
  static_cast<void>(transaction.open_account(account("clinic", "delta", 1'000'000'000, "lifetime")));
  record_release(transaction, kHundredth, Rational(7, 3), "k");
  auto other = refused();
  other.request = R"({"statistic":"sum"})";
  other.request_digest = ledger::sha256_hex(other.request);
  transaction.refuse(other);
  auto conflict = refused();
  conflict.request = R"({"conflicting_key":"k","purpose":"care","reservation":"plain","statistic":"count"})";
  conflict.request_digest = ledger::sha256_hex(conflict.request);
  conflict.shown_account_ids = {2, 1};
  transaction.refuse(conflict);
  const std::string posted = transaction.reserve(draft_of(Outcome::reserved), charge_of(kHundredth));
  record_outcome(transaction, draft_of(Outcome::granted, posted), kHundredth);
  const std::string forfeited = transaction.reserve(draft_of(Outcome::reserved), charge_of(kHundredth));
  auto issued = draft_of(Outcome::data_accessed, forfeited);
  issued.issues_token = true;
  transaction.record_without_movement(issued);
  transaction.resolve(draft_of(Outcome::forfeited, forfeited));
  const std::string voided = transaction.reserve(draft_of(Outcome::reserved), charge_of(kHundredth));
  auto cancel = draft_of(Outcome::voided, voided);
  cancel.request = R"({"decision":")" + voided + R"(","verb":"cancel","why":"no longer needed"})";
  cancel.request_digest = ledger::sha256_hex(cancel.request);
  transaction.resolve(cancel);
  const std::string pending = transaction.record_without_movement(draft_of(Outcome::pending));
  transaction.record_without_movement(draft_of(Outcome::approved, pending));
  auto rejects = draft_of(Outcome::rejected, pending);
  rejects.principal = "carol";
  transaction.record_without_movement(rejects);
  transaction.reserve(draft_of(Outcome::reserved), charge_of(kHundredth));
  for (int i = 0; i < refusals; ++i) transaction.refuse(refused());
  static_cast<void>(ledger.commit(std::move(transaction)));
}

}  // namespace

void write_records(const std::string& path,
                   const std::function<void(ledger::Connection& connection, ledger::Meta& meta,
                                            ledger::Recorder& recorder)>& write) {
  ledger::Connection connection(ledger::locate(path), ledger::Connection::Role::writer);
  connection.execute("BEGIN IMMEDIATE");
  ledger::Meta meta = ledger::read_meta(connection);
  ledger::RecordLog log = ledger::RecordLog::load(connection, meta.log_size);
  ledger::Recorder recorder(connection, meta, log);
  write(connection, meta, recorder);
  connection
      .query(
          "UPDATE meta SET last_time = ?1, events = ?2, names = ?3, builds = ?4, plans = ?5,"
          " credential_events = ?6, key_events = ?7, recoveries = ?8, log_size = ?9, clock_events = ?10,"
          " decisions = ?11, seal_events = ?12, features = ?13")
      .with(ledger::stored_time(meta.last_time), meta.events, meta.names, meta.builds, meta.plans,
            meta.credential_events, meta.key_events, meta.recoveries, meta.log_size, meta.clock_events,
            meta.decisions, meta.seal_events, meta.features)
      .run();
  connection.execute("COMMIT");
}

FullHistory::FullHistory(int refusals) {
  {
    auto ledger = open();
    record_decisions(ledger, refusals);
    auto more = ledger.begin();
    more.apply_policy(policy("version: 1 # 2\n"),
                      {account("clinic", "epsilon", Epsilon::parse_down("2").units()),
                       account("clinic", "delta", 1'000'000'000, "lifetime"), account("lab", "rho", 5)},
                      "more");
    auto under_it = refused();
    under_it.policy_version = 2;
    more.refuse(under_it);
    static_cast<void>(ledger.commit(std::move(more)));
    auto later = ledger.begin();
    later.apply_policy(policy("version: 1 # 3\n"),
                       {account("clinic", "epsilon", Epsilon::parse_down("1").units()),
                        account("clinic", "delta", 1'000'000'000, "lifetime")},
                       "less", {{"lab", "", "rho"}});
    later.relocate("clinic", "/srv/elsewhere", "curator", "a new disk");
    static_cast<void>(ledger.commit(std::move(later)));
  }
  write_records(path, [](ledger::Connection& connection, ledger::Meta& meta, ledger::Recorder& recorder) {
    const std::string now = meta.last_time;
    recorder.write(ledger::ClockEvent{.seq = ++meta.clock_events,
                                      .after_decision = meta.decisions,
                                      .kind = "forwards",
                                      .ledger_time = now,
                                      .wall_clock = now,
                                      .by = "",
                                      .event = ++meta.events});
    recorder.write(ledger::ClockEvent{.seq = ++meta.clock_events,
                                      .after_decision = meta.decisions,
                                      .kind = "confirmed",
                                      .ledger_time = now,
                                      .wall_clock = now,
                                      .by = "curator",
                                      .event = ++meta.events});
    recorder.write(ledger::CredentialEvent{.seq = ++meta.credential_events,
                                           .credential = "c1",
                                           .type = "uid",
                                           .principal = "ada",
                                           .value = "1000",
                                           .until = "9999-01-01T00:00:00.000Z",
                                           .at = now,
                                           .by = "curator",
                                           .why = "new"});
    recorder.write(ledger::KeyEvent{.seq = ++meta.key_events,
                                    .verifier_key = "epsilog+1+abc",
                                    .at = now,
                                    .by = "curator",
                                    .why = "first"});
    recorder.write(ledger::RecoveryEvent{.seq = ++meta.recoveries,
                                         .cause = "behind_replica",
                                         .restored = 1,
                                         .dropped = 2,
                                         .at = now,
                                         .by = "curator",
                                         .why = "disk"});
    recorder.write(ledger::SealEvent{
        .seq = ++meta.seal_events, .unsealed = false, .at = now, .by = "curator", .why = "moves"});
    recorder.write(ledger::SealEvent{
        .seq = ++meta.seal_events, .unsealed = true, .at = now, .by = "curator", .why = "is here"});
    recorder.write(ledger::FeatureRecord{.number = ++meta.features, .name = "of a test", .at = now});
    ledger::insert_stale_replica(connection,
                                 {.replica = {.path = "/mnt/old/replica"}, .known = 1, .size = 2});
  });
}

}  // namespace epsilog::ledger_tests
