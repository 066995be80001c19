// Checkpoints that a policy has signed by themselves, as whoever runs the command meets them.
#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace fs = std::filesystem;

namespace {

/// A ledger whose policy names a key, which is there.
class SignedBench {
 public:
  explicit SignedBench(const std::string& every = "1") {
    bench.init(kClinicPolicy);
    const Result key = bench.with_ledger({"key", "generate", bench.path("log.key")});
    REQUIRE(key.exit == 0);
    vkey = key.out.substr(0, key.out.size() - 1);
    bench.write("signed.yaml", std::string(kClinicPolicy) + "\ncheckpoint: {key: " + bench.path("log.key") +
                                   ", file: " + bench.path("notes") + ", every: " + every + "}\n");
    const Result applied = bench.with_ledger({"policy", "apply", "signed.yaml"});
    CAPTURE(applied.err);
    REQUIRE(applied.exit == 0);
    REQUIRE(applied.err.empty());
  }
  [[nodiscard]] Result release(const std::string& key) const {
    return bench.with_ledger(
        {"release", "clinic", "count", "--epsilon", "0.01", "--key", key, "--as", "alice", "--json"});
  }
  /// What the file has the ledger held to, by the key.
  [[nodiscard]] int held() const {
    return bench.with_ledger({"audit", "verify", "--checkpoint", bench.path("notes"), "--vkey", vkey}).exit;
  }
  [[nodiscard]] std::size_t notes() const {
    const std::string text = bench.read("notes");
    std::size_t count = 0;
    for (std::size_t at = text.find("\xE2\x80\x94 "); at != std::string::npos; ++count) {
      at = text.find("\xE2\x80\x94 ", at + 1);
    }
    return count;
  }

  Workbench bench;
  std::string vkey;
};

}  // namespace

TEST_CASE("automatic checkpoint: it is in its file when the command ends, and --checkpoint takes that",
          "[cli][checkpoint]") {
  const SignedBench one;
  CHECK(one.notes() == 1);
  CHECK(one.release("a").exit == 0);
  CHECK(one.notes() == 2);
  CHECK(one.release("a").json()["replayed"] == true);
  CHECK(one.bench.with_ledger({"budget"}).exit == 0);
  CHECK(one.notes() == 2);
  const Result reserved =
      one.bench.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.01", "--as", "alice", "--json"});
  CHECK(reserved.exit == 0);
  CHECK(one.notes() == 3);
  CHECK(one.bench.with_ledger({"commit", reserved.json()["decision_id"].get<std::string>(), "--as", "alice"})
            .exit == 0);
  CHECK(one.notes() == 4);
  CHECK(one.held() == 0);
  const auto mode = fs::status(one.bench.path("notes")).permissions();
  CHECK((mode & (fs::perms::group_write | fs::perms::others_write)) == fs::perms::none);
  // A ledger that was put back is found by the file, whoever looks, also where L.lock was lost.
  fs::copy_file(one.bench.path("L"), one.bench.path("copy"));
  CHECK(one.release("b").exit == 0);
  for (const char* beside : {"L-wal", "L-shm", "L.lock"}) fs::remove(one.bench.path(beside));
  fs::copy_file(one.bench.path("copy"), one.bench.path("L"), fs::copy_options::overwrite_existing);
  CHECK(one.held() == 6);
  const Result warned = one.release("c");
  CHECK(warned.exit == 0);
  check_parts(warned.err, {"warning: no checkpoint was appended: ", "are not those of the checkpoint"});
}

TEST_CASE("automatic checkpoint: what fails is a warning, and neither answer nor exit code is another",
          "[cli][checkpoint][faults]") {
  const SignedBench one;
  const std::string state = one.bench.read("log.key.state");
  const std::string notes = one.bench.read("notes");
  const auto warns = [&](const std::string& key, const std::string& why) {
    const Result result = one.release(key);
    CAPTURE(result.err);
    CHECK(result.exit == 0);
    CHECK(result.json()["decision_id"].is_string());
    CHECK(contains(result.err, "warning: no checkpoint was appended: "));
    CHECK(contains(result.err, why));
  };
  fs::rename(one.bench.path("log.key"), one.bench.path("away"));
  warns("a", "cannot open the key");
  fs::rename(one.bench.path("away"), one.bench.path("log.key"));
  fs::permissions(one.bench.path("log.key"), fs::perms(0644));
  warns("b", "is open to others");
  fs::permissions(one.bench.path("log.key"), fs::perms(0600));
  one.bench.write("log.key.state", "nonsense\n");
  warns("c", "is damaged");
  one.bench.write("log.key.state", state);
  CHECK(one.bench.read("notes") == notes);
  one.bench.write("notes", "a list of things to do\n");
  warns("d", "does not end with a checkpoint");
  CHECK(one.bench.read("notes") == "a list of things to do\n");
  // A refusal stays one, and says so with its own code.
  const Result refused =
      one.bench.with_ledger({"release", "clinic", "count", "--epsilon", "9", "--as", "alice", "--json"});
  check_ended(refused, 4, "warning: no checkpoint was appended");
  one.bench.write("notes", notes);
  REQUIRE(one.bench.with_ledger({"key", "add", one.vkey, "--why", "first"}).exit == 0);
  REQUIRE(one.bench.with_ledger({"key", "retire", one.vkey, "--why", "lost"}).exit == 0);
  warns("e", "is retired");
  REQUIRE(one.bench.with_ledger({"key", "add", one.vkey, "--why", "found"}).exit == 0);
  const Result mended = one.release("f");
  CHECK(mended.exit == 0);
  CHECK(mended.err.empty());
  CHECK(one.notes() == 2);
  CHECK(one.held() == 0);
}

TEST_CASE("automatic checkpoint: processes that commit at once append notes of one history",
          "[cli][checkpoint]") {
  const SignedBench one("2");
  std::vector<Result> results(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&one, &result = results[i]] {
      const Workbench own;  // for what its commands print
      for (int k = 0; k < 3; ++k) {
        result =
            own.run({"release", "clinic", "count", "--epsilon", "0.01", "--ledger", one.bench.path("L")});
        if (result.exit != 0 || contains(result.err, "warning")) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Result& result : results) {
    CHECK(result.exit == 0);
    CAPTURE(result.err);
    CHECK_FALSE(contains(result.err, "warning"));
  }
  CHECK(one.release("last").exit == 0);
  CHECK(one.notes() >= 2);
  CHECK(one.held() == 0);
  CHECK(one.bench.with_ledger({"audit", "verify"}).exit == 0);
}

TEST_CASE("automatic checkpoint: to give it up is looser, and a file of the ledger is none for it",
          "[cli][checkpoint][policy]") {
  const SignedBench one;
  one.bench.write("plain.yaml", kClinicPolicy);
  CHECK(contains(one.bench.with_ledger({"policy", "diff", "plain.yaml"}).out, "looser: checkpoint"));
  CHECK(one.bench.with_ledger({"policy", "apply", "plain.yaml"}).exit == 2);
  one.bench.write("wrong.yaml", std::string(kClinicPolicy) +
                                    "\ncheckpoint: {key: " + one.bench.path("log.key") +
                                    ", file: " + one.bench.path("L.poisoned") + ", every: 1h}\n");
  const Result wrong = one.bench.with_ledger({"policy", "apply", "wrong.yaml", "--why", "a test"});
  check_ended(wrong, 3, "is the name of a file of the ledger");
  CHECK(one.bench.with_ledger({"policy", "apply", "plain.yaml", "--why", "a test"}).exit == 0);
  const std::size_t notes = one.notes();
  CHECK(one.release("a").exit == 0);
  CHECK(one.notes() == notes);
}
