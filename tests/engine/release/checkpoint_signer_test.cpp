// A policy that has checkpoints signed by itself, as whoever asks meets it: not at all.
#include <future>
#include <mutex>

#include "epsilog/engine/key_file.hpp"
#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "epsilog/engine/requested_checkpoint.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "file_text.hpp"
#include "in_threads.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;
namespace fs = std::filesystem;

namespace {

struct SignedClinic {
  explicit SignedClinic(const std::string& every = "1") {
    folder.write("visits.csv", kVisits);
    const std::string plain = folder.write("plain.yaml", clinic_policy("epsilon: 1000", waiting_rules("")));
    const std::string id = Engine::init(plain, ledger, "curator").ledger_id;
    vkey = engine::generate_key(key, engine::ledger_origin(id));
    apply(every);
  }
  void apply(const std::string& every) {
    const std::string policy = clinic_policy("epsilon: 1000", waiting_rules("")) +
                               "checkpoint: {key: " + key + ", file: " + notes + ", every: " + every + "}\n";
    Engine engine = open();
    (void)engine.apply_policy(folder.write("policy.yaml", policy), "curator", "a test");
  }
  [[nodiscard]] Engine open() {
    engine::EngineOptions options = clock.options();
    options.warn = [this](const std::string& message) {
      const std::lock_guard lock(mutex);
      warned.push_back(message);
    };
    return Engine::open(ledger, options);
  }
  void ask(int times = 1) {
    Engine engine = open();
    for (int i = 0; i < times; ++i) (void)release(engine, request("count", "0.1"));
  }
  /// Of the file, all of which are the key's and of the ledger, each larger than the one before.
  [[nodiscard]] std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> found;
    if (!fs::exists(notes)) return found;
    const std::string text = file_text(notes);
    ledger::Snapshot view = ledger::Ledger::open_read_only(ledger).snapshot();
    for (const engine::Checkpoint& one : engine::parse_checkpoints(text)) {
      CHECK(engine::verify_attestation(one, {.log = vkey}).signed_by_log);
      engine::require_contained(view, one);
      CHECK((found.empty() || found.back() < one.tree.size));
      found.push_back(one.tree.size);
    }
    return found;
  }
  [[nodiscard]] std::uint64_t lines() const {
    return ledger::Ledger::open_read_only(ledger).snapshot().tree().size;
  }

  TemporaryFolder folder;
  MovedClock clock;
  std::string ledger = folder.path("clinic.ledger");
  std::string key = folder.path("log.key");
  std::string notes = folder.path("notes");
  engine::VerifierKey vkey;
  std::mutex mutex;
  std::vector<std::string> warned;
};

}  // namespace

TEST_CASE("checkpoint: whatever commits has one signed that is due, before the engine ends",
          "[engine][checkpoint]") {
  SignedClinic clinic;
  CHECK(clinic.sizes() == std::vector<std::uint64_t>{clinic.lines()});  // the policy itself
  const auto signs = [&](const std::function<void(Engine&)>& call) {
    const std::uint64_t before = clinic.lines();
    {
      Engine engine = clinic.open();
      call(engine);
    }
    CHECK(clinic.lines() > before);
    CHECK(clinic.sizes().back() == clinic.lines());
  };
  std::string id;
  engine::Request held = request("count", "0.1");
  held.reservation = engine::ReservationKind::reserved;
  mechanisms::SystemBits bits;
  signs([](Engine& engine) { (void)release(engine, request("count", "0.1", "k")); });
  signs([&](Engine& engine) { id = engine.reserve(held, {}).recorded.decision_id; });
  signs([&](Engine& engine) { (void)commit(engine, id); });
  signs([&](Engine& engine) { id = engine.reserve(held, {}).recorded.decision_id; });
  signs([&](Engine& engine) { (void)engine.cancel(id, "alice"); });
  signs([&](Engine& engine) {
    const std::vector<engine::Request> two{request("count", "0.1"), request("units", "0.1")};
    (void)release_many(engine, two);
  });
  signs([&](Engine& engine) {
    std::promise<bool> told;
    engine.submit(request("count", "0.1"), bits, {}, [&told](const engine::SubmissionOutcome& outcome) {
      told.set_value(outcome.answer.has_value());
    });
    CHECK(told.get_future().get());
  });
  signs([&](Engine& engine) {
    fs::copy_file(clinic.folder.path("visits.csv"), clinic.folder.path("moved.csv"));
    (void)engine.relocate("clinic", clinic.folder.path("moved.csv"), "curator", "moved");
  });
  const auto sizes = clinic.sizes();
  {
    Engine engine = clinic.open();
    CHECK(release(engine, request("count", "0.1", "k")).recorded.replayed);
    (void)engine.budget("");
  }
  CHECK(clinic.sizes() == sizes);
  CHECK(clinic.warned.empty());
}

TEST_CASE("checkpoint: within an engine it is signed when it is due, and not before",
          "[engine][checkpoint]") {
  SignedClinic clinic("1h");
  REQUIRE(clinic.sizes().size() == 1);
  {
    Engine engine = clinic.open();
    for (int i = 0; i < 5; ++i) (void)release(engine, request("count", "0.1"));
    clinic.clock.pass_seconds(59 * 60);
    for (int i = 0; i < 5; ++i) (void)release(engine, request("count", "0.1"));
  }
  CHECK(clinic.sizes().size() == 1);
  {
    Engine engine = clinic.open();
    (void)release(engine, request("count", "0.1"));
    clinic.clock.pass_seconds(2 * 60);
    (void)release(engine, request("count", "0.1"));
  }
  CHECK(clinic.sizes().size() == 2);
  CHECK(clinic.sizes().back() == clinic.lines());
  CHECK(clinic.warned.empty());
}

TEST_CASE("checkpoint: what fails is warned of, and every answer is as it is without",
          "[engine][checkpoint][faults]") {
  SignedClinic clinic;
  const auto sizes = clinic.sizes();
  fs::rename(clinic.key, clinic.key + ".away");
  {
    Engine engine = clinic.open();
    for (int i = 0; i < 20; ++i) {
      const Answer answer = release(engine, request("count", "0.1"));
      CHECK(answer.recorded.granted);
      CHECK(answer.recorded.durable == true);
    }
  }
  // Not once a commit: an engine tries again after a while.
  REQUIRE(clinic.warned.size() == 1);
  CHECK(clinic.warned[0].find("no checkpoint was appended: cannot open the key") != std::string::npos);
  CHECK(clinic.sizes() == sizes);
  clinic.ask();
  CHECK(clinic.warned.size() == 2);
  fs::rename(clinic.key + ".away", clinic.key);
  clinic.ask();
  CHECK(clinic.warned.size() == 2);
  CHECK(clinic.sizes().back() == clinic.lines());
}

TEST_CASE("checkpoint: one is signed when it is asked for, and not again for the same lines",
          "[engine][checkpoint]") {
  SignedClinic clinic("100000");
  Engine engine = clinic.open();
  const auto first = engine.newest_checkpoint();
  REQUIRE(first);
  CHECK(first->tree.size == clinic.lines());
  CHECK_FALSE(engine.sign_checkpoint_now().value().fresh);
  CHECK(clinic.sizes().size() == 1);
  (void)release(engine, request("count", "0.1"));
  CHECK(engine.newest_checkpoint() == first);
  const auto made = engine.sign_checkpoint_now();
  REQUIRE(made);
  CHECK(made->fresh);
  CHECK(made->by == clinic.vkey);
  CHECK(made->checkpoint.tree.size == clinic.lines());
  CHECK(engine.newest_checkpoint() == made->checkpoint);
  CHECK(clinic.sizes().size() == 2);
  // The key is another's for a while: whoever asks is not kept waiting for longer.
  (void)release(engine, request("count", "0.1"));
  const engine::KeyFile held(clinic.key);
  CHECK_THROWS_AS(engine.sign_checkpoint_now(), engine::KeyBusy);
  CHECK(engine.newest_checkpoint() == made->checkpoint);
}

TEST_CASE("checkpoint: under a policy that has none signed there is none, and none is signed",
          "[engine][checkpoint]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", kVisits);
  const std::string policy = folder.write("policy.yaml", clinic_policy("epsilon: 1000", waiting_rules("")));
  (void)Engine::init(policy, folder.path("clinic.ledger"), "curator");
  Engine engine = Engine::open(folder.path("clinic.ledger"));
  CHECK_FALSE(engine.newest_checkpoint());
  CHECK_FALSE(engine.sign_checkpoint_now());
}

TEST_CASE("checkpoint: a ledger that was put back is warned of with its next commit",
          "[engine][checkpoint][forks]") {
  SignedClinic clinic;
  fs::copy_file(clinic.ledger, clinic.folder.path("copy"));
  clinic.ask(3);
  const auto sizes = clinic.sizes();
  // With L.lock, which remembers how many lines there were: what is left to find it is the log of notes.
  for (const char* beside : {"-wal", "-shm", ".lock"}) fs::remove(clinic.ledger + beside);
  fs::copy_file(clinic.folder.path("copy"), clinic.ledger, fs::copy_options::overwrite_existing);
  {
    Engine engine = clinic.open();
    CHECK(release(engine, request("count", "0.1")).recorded.granted);
  }
  REQUIRE(clinic.warned.size() == 2);
  CHECK(clinic.warned[0].find("remembers how many lines") != std::string::npos);
  CHECK(clinic.warned[1].find("was put back to an earlier time") != std::string::npos);
  CHECK(fs::file_size(clinic.notes) > 0);
  CHECK_THROWS_AS(clinic.sizes(), engine::NotVerified);
}

TEST_CASE("checkpoint: many engines and threads at once append notes of one history, and nobody is warned",
          "[engine][checkpoint][threads]") {
  SignedClinic clinic("2");
  constexpr int kThreads = 4, kReleases = 12;
  {
    Engine shared = clinic.open();
    in_threads(kThreads, [&clinic, &shared](int t) {
      if (t % 2 == 0) {
        for (int i = 0; i < kReleases; ++i) (void)release(shared, request("count", "0.1"));
        return;
      }
      for (int i = 0; i < kReleases; ++i) {
        Engine own = clinic.open();
        (void)release(own, request("count", "0.1"));
      }
    });
  }
  clinic.ask();  // what the last one left to another is signed by the next
  CAPTURE(clinic.warned);
  CHECK(clinic.warned.empty());
  const auto sizes = clinic.sizes();
  CHECK(sizes.size() > 2);
  CHECK(clinic.lines() - sizes.back() < 2);
}

TEST_CASE("checkpoint: a policy that names files of the ledger is refused at its place",
          "[engine][checkpoint][policy]") {
  SignedClinic clinic;
  const auto faults_of = [&](const std::string& key, const std::string& file) -> std::string {
    const std::string policy = clinic.folder.write(
        "wrong.yaml", clinic_policy("epsilon: 1000", waiting_rules("")) + "checkpoint: {key: " + key +
                          ", file: " + file + ", every: 1h}\n");
    Engine engine = clinic.open();
    CHECK(engine.review(policy).refused.size() == 1);
    CHECK_THROWS_AS(Engine::init(policy, clinic.folder.path("clinic.ledger"), "curator"), Error);
    try {
      (void)engine.apply_policy(policy, "curator", "a test");
    } catch (const PolicyError& error) {
      return error.faults().front().text();
    }
    return "";
  };
  for (const char* suffix : {"", "-wal", ".lock", ".poisoned"}) {
    CAPTURE(suffix);
    const std::string name = clinic.ledger + suffix;
    CHECK(faults_of(clinic.key, name).find("'" + name + "' is the name of a file of the ledger") !=
          std::string::npos);
    CHECK(faults_of(name, clinic.notes).find("is the name of a file of the ledger") != std::string::npos);
  }
}

TEST_CASE("checkpoint: policy diff calls fewer of them looser, and other places neutral",
          "[engine][checkpoint][policy]") {
  const TemporaryFolder folder;
  const auto policy = [&](const std::string& name, const std::string& checkpoint) {
    return folder.write(name, clinic_policy("epsilon: 3") + checkpoint);
  };
  const std::string hourly = policy("hourly", "checkpoint: {key: /k, file: /f, every: 1h}\n");
  const auto change = [&](const std::string& checkpoint) {
    const auto changes = engine::diff_of_files(hourly, policy("other", checkpoint));
    REQUIRE(changes.size() == 1);
    return changes.front();
  };
  using engine::Direction;
  CHECK(change("").direction == Direction::looser);
  CHECK(change("checkpoint: {key: /k, file: /f, every: 2h}\n").direction == Direction::looser);
  CHECK(change("checkpoint: {key: /k, file: /f, every: 30m}\n").direction == Direction::tighter);
  CHECK(change("checkpoint: {key: /k, file: /f, every: 100}\n").direction == Direction::incomparable);
  CHECK(change("checkpoint: {key: /l, file: /f, every: 1h}\n").direction == Direction::neutral);
  CHECK(change("checkpoint: {key: /k, file: /g, every: 1h}\n").path_text() == "checkpoint.file");
  CHECK(engine::diff_of_files(policy("none", ""), hourly).front().direction == Direction::tighter);
}
