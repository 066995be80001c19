// An audit that reads in slices beside who writes all the time is about one instant: it finds no fault of a
// sound ledger, and of a damaged one the same faults as before anybody wrote.
#include <sys/wait.h>

#include <csignal>

#include "audit_snapshot.hpp"
#include "audit_threads.hpp"
#include "clinic.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "forked_child.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Threads;
using namespace std::chrono_literals;

namespace {

constexpr const char* kPlenty = "epsilon: 2000000";

/// Whatever changes something that an audit compares: balances, what is open, limits, counts, the last time.
void write_round(const Clinic& clinic, engine::Engine& engine, int round) {
  mechanisms::SystemBits bits;
  std::vector<engine::Request> requests;
  for (int i = 0; i < 8; ++i) {
    const std::string key =
        std::to_string(::getpid()) + " " + std::to_string(round) + " " + std::to_string(i);
    requests.push_back(supplied("3", "0.001", key));
  }
  static_cast<void>(release_many(engine, requests));
  engine::Request held = supplied("", "0.01");
  held.supplied = {};
  held.reservation = engine::ReservationKind::reserved;
  const std::string id = engine.reserve(held, {}).recorded.decision_id;
  if (round % 3 == 0) static_cast<void>(engine.commit(id, held.principal, std::string("3"), bits, {}));
  if (round % 3 == 1) static_cast<void>(engine.cancel(id, held.principal));
  if (round % 10 == 9) {
    clinic.folder.write("changed.yaml", clinic_policy("epsilon: " + std::to_string(2'000'000 + round)));
    static_cast<void>(engine.apply_policy(clinic.folder.path("changed.yaml"), "curator", "more"));
  }
}

void write_some(const Clinic& clinic, int rounds) {
  engine::Engine engine = clinic.open();
  for (int i = 0; i < rounds; ++i) write_round(clinic, engine, i);
}

/// A thread that writes as long as this lives.
class Writer final {
 public:
  explicit Writer(const Clinic& clinic)
      : thread_([this, &clinic] {
          engine::Engine engine = clinic.open();
          for (int i = 100; !over_; ++i) {
            write_round(clinic, engine, i);
            ++rounds_;
          }
        }) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    over_ = true;
    thread_.join();
  }
  [[nodiscard]] int rounds() const { return rounds_; }

 private:
  std::atomic<bool> over_ = false;
  std::atomic<int> rounds_ = 0;
  std::thread thread_;
};

std::vector<std::string> faults_of(const std::string& ledger, Threads threads,
                                   std::chrono::milliseconds slice) {
  const auto report = engine::audit_replay_by(threads, ledger, {}, {}, engine::StorageCheck::full,
                                              engine::Poison::is_no_fault, slice);
  std::vector<std::string> found;
  for (const engine::AuditFault& fault : report.faults)
    found.push_back(fault.record + " | " + fault.code + " | " + fault.message);
  return found;
}

/// Audits in every way, again and again, until it was done so often and somebody wrote meanwhile.
void audit_beside(const Clinic& clinic, const std::vector<std::string>& expected,
                  const std::function<std::int64_t()>& written) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  const std::int64_t before = written();
  for (int i = 0; (i < 4 || written() < before + 8) && std::chrono::steady_clock::now() < end; ++i) {
    const Threads threads = i % 2 == 0 ? Threads::one : Threads::several;
    const auto slice = i % 4 < 2 ? 0ms : engine::kSlice;
    CAPTURE(i);
    CHECK(faults_of(clinic.ledger(), threads, slice) == expected);
  }
  CHECK(written() >= before + 8);
}

std::int64_t decisions_of(const Clinic& clinic) {
  return ledger::Ledger::open_read_only(clinic.ledger()).snapshot().decision_count();
}

}  // namespace

TEST_CASE("audit: beside a thread that writes all the time it finds no fault", "[engine][audit][slices]") {
  const Clinic clinic(kPlenty);
  write_some(clinic, 12);
  const Writer writer(clinic);
  audit_beside(clinic, {}, [&writer] { return writer.rounds(); });
}

TEST_CASE("audit: what changes it reads at one instant, while somebody writes all the time",
          "[engine][audit][slices]") {
  const Clinic clinic(kPlenty);
  write_some(clinic, 3);
  const ledger::Ledger reader = ledger::Ledger::open_read_only(clinic.ledger());
  ledger::Snapshot view = reader.snapshot();
  const Writer writer(clinic);
  std::int64_t last = 0;
  int grown = 0;
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (grown < 400 && std::chrono::steady_clock::now() < until) {
    const auto beginning = engine::AuditSnapshot::of(view);
    REQUIRE(beginning.decisions.rows.size() == 1);
    const std::int64_t decisions = beginning.decisions.rows.front();
    if (decisions > last) ++grown;
    last = decisions;
    CHECK(beginning.end.decision == decisions);
    CHECK(beginning.limit_changes.rows.size() + 1 == beginning.versions.rows.size());
    // Each is for a hundredth.
    std::int64_t reserved = 0;
    for (const ledger::AccountState& account : beginning.accounts.rows) reserved += account.balance.reserved;
    CHECK(reserved == static_cast<std::int64_t>(beginning.open.rows.size()) * 10'000'000'000);
  }
  CHECK(grown == 400);
}

TEST_CASE("audit: beside a process that writes all the time it finds no fault", "[engine][audit][slices]") {
  const Clinic clinic(kPlenty);
  write_some(clinic, 12);
  const pid_t child = in_child([&clinic] {
    engine::Engine engine = clinic.open();
    for (int i = 100;; ++i) write_round(clinic, engine, i);
  });
  audit_beside(clinic, {}, [&clinic] { return decisions_of(clinic); });
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));  // it was still writing
  CHECK(faults_of(clinic.ledger(), Threads::one, engine::kSlice).empty());
}

TEST_CASE("audit: beside a thread that writes it finds what was damaged before",
          "[engine][audit][slices][negative]") {
  for (const char* const damage :
       {"UPDATE movement SET spent_change = spent_change + 1 WHERE seq = 5",
        "UPDATE decision SET \"values\" = '[1]' WHERE seq = 7",
        "UPDATE log SET leaf = zeroblob(32) WHERE line_index = 4",
        "UPDATE account SET opened_at = 1000 WHERE id = 1", "DELETE FROM movement WHERE seq = 3"}) {
    CAPTURE(damage);
    const Clinic clinic(kPlenty);
    write_some(clinic, 9);
    tamper(clinic.ledger(), damage);
    const auto before = faults_of(clinic.ledger(), Threads::one, ledger::kUnlimitedSlice);
    REQUIRE_FALSE(before.empty());
    const Writer writer(clinic);
    while (writer.rounds() < 2) std::this_thread::sleep_for(1ms);
    for (const Threads threads : {Threads::one, Threads::several}) {
      const auto now = faults_of(clinic.ledger(), threads, 0ms);
      for (const std::string& fault : before) {
        CAPTURE(fault);
        const std::string about = fault.substr(0, fault.find(" | ", fault.find(" | ") + 1));
        // What a balance comes to is another number by now.
        CHECK(std::any_of(now.begin(), now.end(), [&](const std::string& found) {
          return found == fault || (fault.starts_with("account ") && found.starts_with(about));
        }));
      }
    }
  }
}

TEST_CASE("audit: another history put in the place of the one that is read ends the reading",
          "[engine][audit][slices][negative]") {
  const Clinic clinic(kPlenty);
  write_some(clinic, 40);
  const ledger::Ledger reader = ledger::Ledger::open_read_only(clinic.ledger());
  ledger::Snapshot view = reader.snapshot();
  ledger::Inspection inspection(view);
  const ledger::HistoryEnd end = inspection.end();
  view.close_between_reads();
  std::int64_t seen = 0;
  const auto read = [&] {
    inspection.each_decision(
        end, 0ms,
        [&](const ledger::StoredDecision& stored) {
          CHECK(stored.seq == ++seen);
          if (seen == 10) {
            tamper(clinic.ledger(),
                   "UPDATE log SET leaf = zeroblob(32) WHERE line_index = " + std::to_string(end.line));
            forget_end(clinic.ledger());
          }
        },
        [](const ledger::MalformedRecord&) {}, [](const ledger::StoredFault&) {});
  };
  CHECK_THROWS_AS(read(), LedgerBusy);
  CHECK(seen < end.decision);
}

TEST_CASE("audit: between two slices nothing keeps the log of who writes", "[engine][audit][slices]") {
  const Clinic clinic(kPlenty);
  write_some(clinic, 9);
  const ledger::Ledger reader = ledger::Ledger::open_read_only(clinic.ledger());
  ledger::Snapshot view = reader.snapshot();
  ledger::Inspection inspection(view);
  const ledger::HistoryEnd end = inspection.end();
  const std::string log = clinic.ledger() + "-wal";
  const auto emptied = [&] {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(clinic.ledger().c_str(), &database) == SQLITE_OK);
    const int code =
        sqlite3_wal_checkpoint_v2(database, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_close(database);
    return code == SQLITE_OK && std::filesystem::file_size(log) == 0;
  };
  int told = 0;
  const auto visit = [&](const ledger::StoredDecision&) {
    if (++told % 20 != 0) return;
    write_some(clinic, 1);
    CHECK(emptied());
    CHECK_FALSE(view.poison_reason());
    CHECK(view.decision_count() > end.decision);
  };
  view.close_between_reads();
  inspection.each_decision(
      end, 0ms, visit, [](const ledger::MalformedRecord&) { FAIL("a sound ledger"); },
      [](const ledger::StoredFault&) { FAIL("a sound ledger"); });
  CHECK(told == end.decision);
  // Held it does keep it, and shows one instant.
  view.keep_open();
  const std::int64_t now = view.decision_count();
  write_some(clinic, 1);
  CHECK_FALSE(emptied());
  CHECK(view.decision_count() == now);
}
