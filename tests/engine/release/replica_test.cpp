// A ledger with a replica, as whoever asks, applies policies and recovers meets it.
#include "epsilog/ledger/replica.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/recovery.hpp"
#include "failing_sync.hpp"
#include "file_text.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;
namespace fs = std::filesystem;

namespace {

std::string with_replica(const std::string& path, const std::string& sync = "") {
  return clinic_policy("epsilon: 3", waiting_rules("")) + "replica: {file: " + path +
         (sync.empty() ? "" : ", sync: " + sync) + "}\n";
}

/// A clinic whose ledger has one.
struct ReplicatedClinic {
  ReplicatedClinic() : replica(folder.path("clinic.replica")), ledger(folder.path("clinic.ledger")) {
    folder.write("visits.csv", kVisits);
    (void)Engine::init(folder.write("policy.yaml", with_replica(replica)), ledger, "curator");
  }
  [[nodiscard]] Engine open() {
    engine::EngineOptions options = clock.options();
    options.warn = [this](const std::string& message) { warned = message; };
    return Engine::open(ledger, options);
  }

  TemporaryFolder folder;
  MovedClock clock;
  std::string replica;
  std::string ledger;
  std::string warned;
};

}  // namespace

TEST_CASE("replica: an answer leaves once the replica holds its line", "[engine][replica]") {
  ReplicatedClinic clinic;
  Engine engine = clinic.open();
  const Answer answer = release(engine, request("count", "0.5", "k"));
  CHECK(answer.recorded.durable == true);
  CHECK_FALSE(answer.recorded.replica_behind);
  const std::string lines = file_text(clinic.replica);
  CHECK(lines.find("\"id\":\"" + answer.recorded.decision_id) != std::string::npos);
  CHECK(lines.find("\n= " + std::to_string(answer.recorded.log->tree.size) + " ") != std::string::npos);
}

TEST_CASE("replica: what it could not be given is charged, withheld and told later", "[engine][replica]") {
  ReplicatedClinic clinic;
  Engine engine = clinic.open();
  (void)release(engine, request("count", "0.25", "before"));
  {
    const FailingSync failing;
    const Answer answer = release(engine, request("count", "0.5", "k"));
    CHECK(answer.recorded.durable == false);
    CHECK(answer.recorded.replica_behind);
    CHECK(answer.released.values.empty());
    CHECK(answer.released.component_values.empty());
    CHECK_FALSE(answer.recorded.log);
    CHECK(!answer.recorded.decision_id.empty());
    CHECK(clinic.warned.find("Input/output error") != std::string::npos);
    // What is known is told; what is not, is not, by whatever way; and nothing new is taken.
    CHECK(release(engine, request("count", "0.25", "before")).recorded.durable == true);
    const Answer again = release(engine, request("count", "0.5", "k"));
    CHECK(again.recorded.replica_behind);
    CHECK(again.released.values.empty());
    CHECK(again.recorded.decision_id == answer.recorded.decision_id);
    const Answer shown = engine.show(answer.recorded.decision_id, {});
    CHECK(shown.recorded.replica_behind);
    CHECK(shown.released.values.empty());
    CHECK_THROWS_AS(release(engine, request("count", "0.5", "other")), ledger::ReplicaUnavailable);
    engine::Request held = request("count", "0.5");
    held.reservation = engine::ReservationKind::reserved;
    CHECK_THROWS_AS(engine.reserve(held, {}), ledger::ReplicaUnavailable);
  }
  const Answer later = release(engine, request("count", "0.5", "k"));
  CHECK(later.recorded.durable == true);
  CHECK(later.recorded.replayed);
  CHECK(later.released.values.size() == 1);
  CHECK(engine::audit_verify(clinic.ledger).ok);
}

TEST_CASE("replica: an approval, a commit and a token that it could not be given are withheld as well",
          "[engine][replica]") {
  ReplicatedClinic clinic;
  Engine engine = clinic.open();
  engine::Request asked = request("value:score", "0.25", "v");
  asked.reservation = engine::ReservationKind::reserved_against_token;
  const std::string id = engine.reserve(asked, {}).recorded.decision_id;
  {
    const FailingSync failing;
    const Answer issued = engine.issue_token(id, "alice");
    CHECK(issued.recorded.durable == false);
    CHECK(issued.recorded.token.empty());
  }
  const Answer issued = engine.issue_token(id, "alice");
  CHECK(issued.recorded.token.size() == 64);
  mechanisms::SystemBits bits;
  {
    const FailingSync failing;
    const Answer committed = engine.commit(issued.recorded.token, "alice", "4", bits, {});
    CHECK(committed.recorded.replica_behind);
    CHECK(committed.released.values.empty());
  }
  CHECK(engine.commit(issued.recorded.token, "alice", "4", bits, {}).released.values.size() == 1);
}

TEST_CASE("replica: a policy moves it, and says how surely it is written", "[engine][replica]") {
  ReplicatedClinic clinic;
  Engine engine = clinic.open();
  (void)release(engine, request("count", "0.5", "k"));
  const std::string second = clinic.folder.path("second.replica");
  (void)engine.apply_policy(clinic.folder.write("second.yaml", with_replica(second)), "curator", "");
  CHECK(file_text(second).starts_with(
      file_text(clinic.replica).substr(0, file_text(clinic.replica).find("\n= "))));
  // Lost for good: nothing is recorded until another is named.
  fs::remove(second);
  CHECK_THROWS_AS(release(engine, request("count", "0.5", "l")), ledger::ReplicaUnavailable);
  const std::string third = clinic.folder.path("third.replica");
  const std::string unsynced = clinic.folder.write("third.yaml", with_replica(third, "none"));
  CHECK_THROWS_AS(engine.apply_policy(unsynced, "curator", ""), InvalidParameter);  // looser
  (void)engine.apply_policy(unsynced, "curator", "the disk is gone");
  {
    const FailingSync failing;
    CHECK(release(engine, request("count", "0.5", "l")).recorded.durable == true);
  }
  CHECK_THROWS_AS(
      engine.apply_policy(clinic.folder.write("none.yaml", clinic_policy("epsilon: 3", waiting_rules(""))),
                          "curator", ""),
      InvalidParameter);
  CHECK(engine::audit_verify(clinic.ledger).ok);
}

TEST_CASE("replica: more overdue requests than one transaction ends keep nobody from naming another",
          "[engine][replica]") {
  ReplicatedClinic clinic;
  Engine engine = clinic.open();
  engine::Request held = request("count", "0.01");
  held.reservation = engine::ReservationKind::reserved;
  for (int i = 0; i < 70; ++i) (void)engine.reserve(held, {});
  clinic.clock.pass_seconds(2 * 3600);
  fs::remove(clinic.replica);
  const std::string second = clinic.folder.path("second.replica");
  (void)engine.apply_policy(clinic.folder.write("second.yaml", with_replica(second)), "curator", "");
  CHECK(release(engine, request("count", "0.5", "k")).recorded.durable == true);
  CHECK(engine::audit_verify(clinic.ledger).ok);
}

TEST_CASE("replica: a ledger that was put back is refused, and recovered with everything that was told",
          "[engine][replica]") {
  ReplicatedClinic clinic;
  {
    Engine engine = clinic.open();
    (void)release(engine, request("count", "0.5", "a"));
  }
  const std::string copy = clinic.folder.path("copy");
  fs::copy_file(clinic.ledger, copy);
  std::vector<accounting::Rational> told;
  {
    Engine engine = clinic.open();
    told = release(engine, request("count", "0.5", "b")).released.values;
  }
  fs::copy_file(copy, clinic.ledger, fs::copy_options::overwrite_existing);
  {
    Engine engine = clinic.open();
    CHECK_THROWS_AS(release(engine, request("count", "0.5", "c")), ledger::LedgerRolledBack);
    CHECK_THROWS_AS(release(engine, request("count", "0.5", "b")), ledger::LedgerRolledBack);
  }
  const auto recovery = engine::recover_from(clinic.ledger, clinic.replica,
                                             {.by = "curator", .why = "wrong copy"}, clinic.clock.options());
  CHECK(recovery.restored == 1);
  CHECK(recovery.faults.empty());
  {
    Engine engine = clinic.open();
    CHECK(release(engine, request("count", "0.5", "b")).released.values == told);
    CHECK(release(engine, request("count", "0.5", "c")).recorded.granted);
  }
  CHECK(engine::audit_verify(clinic.ledger).ok);
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(clinic.ledger + suffix);
  CHECK(engine::recover_from(clinic.ledger, clinic.replica, {.by = "curator", .why = "lost"},
                             clinic.clock.options())
            .kept == 0);
  Engine rebuilt = clinic.open();
  CHECK(release(rebuilt, request("count", "0.5", "b")).released.values == told);
  CHECK(engine::audit_verify(clinic.ledger).ok);
}

TEST_CASE("replica: a policy that names one wrongly is refused at its place", "[engine][replica][policy]") {
  const auto fault_of = [](const std::string& line) {
    try {
      (void)engine::Policy::parse_stored(clinic_policy("epsilon: 3") + line + "\n", "p.yaml");
    } catch (const PolicyError& error) {
      return error.faults().front().message;
    }
    return std::string();
  };
  CHECK(fault_of("replica: {file: /mnt/second/clinic.replica, sync: commit}") == "");
  CHECK(fault_of("replica: {file: clinic.replica}").find("is not an absolute path") != std::string::npos);
  CHECK(fault_of("replica: {sync: none}").find("file: /PATH, on another disk") != std::string::npos);
  CHECK(fault_of("replica: {file: /a, sync: later}").find("commit, none") != std::string::npos);
  CHECK(fault_of("replica: /a").find("expected a map") != std::string::npos);
}
