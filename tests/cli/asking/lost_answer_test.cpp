// What was recorded is told: when standard output fails, when a signal comes between the two, and when it is
// not known to be on the disk, it is not.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace {

const Words kRelease = {"release", "clinic", "count", "--epsilon", "0.1", "--key", "k"};

std::string boot_id() {
  std::string id;
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
  id.resize(36);
  REQUIRE(read(file, id.data(), id.size()) == 36);
  close(file);
  return id;
}

/// A ledger with one release under key k, and its id.
std::string released(const Workbench& bench) {
  bench.init(kClinicPolicy);
  const Result result = bench.with_ledger(with(kRelease, {"--json"}));
  REQUIRE(result.exit == 0);
  CHECK(result.json()["durable"] == true);
  return result.json()["decision_id"];
}

/// The command with standard output a pipe that takes nothing until somebody reads it.
class Stuck {
 public:
  explicit Stuck(const Workbench& bench, Words words) {
    REQUIRE(pipe2(ends_, O_CLOEXEC) == 0);
    REQUIRE(fcntl(ends_[1], F_SETFL, O_NONBLOCK) == 0);
    const std::string filler(4096, '#');
    while (write(ends_[1], filler.data(), filler.size()) > 0) filled_ += filler.size();
    REQUIRE(fcntl(ends_[1], F_SETFL, 0) == 0);
    words.insert(words.begin(), "epsilog");
    words.insert(words.end(), {"--ledger", bench.path("L")});
    child_ = fork();
    REQUIRE(child_ >= 0);
    if (child_ != 0) {
      close(ends_[1]);
      return;
    }
    // Whoever runs the tests may ignore some, as nohup and a shell's background do, and children would too.
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) static_cast<void>(::signal(number, SIG_DFL));
    if (dup2(ends_[1], STDOUT_FILENO) < 0 || chdir(bench.path("").c_str()) != 0) _exit(125);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(EPSILOG_COMMAND, arguments.data());
    _exit(126);
  }
  Stuck(const Stuck&) = delete;
  Stuck& operator=(const Stuck&) = delete;
  ~Stuck() { close(ends_[0]); }

  void signal(int number) const { REQUIRE(kill(child_, number) == 0); }
  [[nodiscard]] bool running() const { return waitpid(child_, nullptr, WNOHANG) == 0; }
  /// Takes what it wants to say; then it ends.
  std::string drained() const {
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(ends_[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    return text.substr(std::min(filled_, text.size()));
  }
  [[nodiscard]] int status() const {
    int status = 0;
    REQUIRE(waitpid(child_, &status, 0) == child_);
    return status;
  }

 private:
  int ends_[2] = {-1, -1};
  pid_t child_ = -1;
  std::size_t filled_ = 0;
};

template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 1'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace

TEST_CASE("signals: between COMMIT and the answer they wait, before it they end the command",
          "[cli][output][signal]") {
  const Workbench bench(kClinicPolicy);
  int recorded = 0;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    CAPTURE(number);
    const Stuck command(bench, {"release", "clinic", "count", "--epsilon", "0.1", "--json"});
    ++recorded;
    REQUIRE(comes_true(
        [&] { return query(bench.path("L"), "SELECT decisions FROM meta") == std::to_string(recorded); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    command.signal(number);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(command.running());
    const auto answer = nlohmann::json::parse(command.drained());
    CHECK(answer["decision"] == "granted");
    CHECK(answer["value"].is_string());
    const int status = command.status();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
  }
  const int lock = open(bench.path("L.lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  const Stuck waiting(bench, {"release", "clinic", "count", "--epsilon", "0.1"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  waiting.signal(SIGTERM);
  const int status = waiting.status();
  CHECK(WIFSIGNALED(status));
  close(lock);
  CHECK(query(bench.path("L"), "SELECT decisions FROM meta") == std::to_string(recorded));
}

TEST_CASE("lost answers: every verb that made something names it when standard output fails",
          "[cli][output][negative]") {
  const Workbench bench;
  Streams full;
  full.output_file = "/dev/full";
  const auto lost = [&](const Words& words, const std::string& part) {
    const Result result = bench.run(words, full);
    CAPTURE(words, result.err, part);
    CHECK(result.exit == 1);
    CHECK(lines(result.err) == 1);
    CHECK(contains(result.err, part));
    return result;
  };
  const auto last_id = [&] { return decision_id(bench.path("L")); };
  const std::string policy = std::string(kClinicPolicy) +
                             "    approvals: {required: 1, by: {principals: [eve]}, above: {epsilon: 0.5}}\n"
                             "principals:\n"
                             "  ann: {}\n"
                             "  eve: {}\n";
  bench.write("policy.yaml", policy);
  const Result made = lost({"init", "--policy", "policy.yaml", "--ledger", "L"}, "was made");
  CHECK(contains(made.err, query(bench.path("L"), "SELECT lower(hex(ledger_id)) FROM meta")));

  const Words in = {"--ledger", "L"};
  const Result reserved =
      lost(with({"reserve", "clinic", "value:auc", "--epsilon", "0.1", "--data-token", "--as", "ann"}, in),
           "epsilog show ");
  const std::string reservation = last_id();
  CHECK(contains(reserved.err, reservation));
  const Result token = lost(with({"token", reservation, "--as", "ann"}, in), "epsilog show " + reservation);
  CHECK(contains(token.err, "its data token is " + query(bench.path("L"),
                                                         "SELECT lower(hex(data_token)) FROM decision"
                                                         " WHERE outcome = 7")));
  lost(with({"commit", reservation, "--value", "0.5", "--as", "ann"}, in), "epsilog show ");
  CHECK(query(bench.path("L"), "SELECT count(*) FROM decision WHERE outcome = 1") == "1");

  const Words big = {"release", "clinic", "count", "--epsilon", "0.6", "--as", "ann"};
  lost(with(big, in), "is recorded");
  const std::string first = last_id();
  lost(with({"reject", first, "--as", "eve", "--why", "no"}, in), "epsilog show " + first);
  CHECK(query(bench.path("L"), "SELECT count(*) FROM decision WHERE outcome = 6") == "1");
  lost(with(big, in), "is recorded");
  const std::string second = last_id();
  lost(with({"approve", second, "--as", "eve"}, in), "epsilog show ");
  CHECK(query(bench.path("L"), "SELECT count(*) FROM decision WHERE outcome = 5") == "1");
  lost(with({"cancel", second, "--as", "ann"}, in), "epsilog show ");
  CHECK(query(bench.path("L"), "SELECT count(*) FROM decision WHERE outcome = 8") == "1");

  bench.write("policy.yaml", policy + "# again\n");
  lost(with({"policy", "apply", "policy.yaml"}, in), "version 2 of the policy is active");
  bench.write("moved.csv", bench.read("visits.csv"));
  lost(with({"relocate", "clinic", "--source", "moved.csv", "--why", "moved"}, in),
       "the source of clinic is found at " + bench.path("moved.csv"));
}

TEST_CASE("poisoned: nobody is told a value, whoever asked for one ends with 7, and all others go on",
          "[cli][negative][poison]") {
  const Workbench bench;
  const std::string id = released(bench);
  bench.write("L.poisoned", R"({"reason": "committing: disk I/O error", "boot_id": ")" + boot_id() + "\"}");
  for (const Words& words : {Words{"show", id}, kRelease}) {
    CAPTURE(words);
    const Result result = bench.with_ledger(with(words, {"--json"}));
    CHECK(result.exit == 7);
    const auto answer = result.json();
    check_members(answer, R"({"decision": "granted", "durable": false})");
    for (const char* field : {"value", "value_decimal", "value_hex", "cells"}) {
      CHECK(answer[field].is_null());
      CHECK(answer["components"][0][field].is_null());
    }
    CHECK((answer["interval"].is_null() && answer["interval_of"].is_null()));
    CHECK(contains(result.err, "withheld"));
    const Result text = bench.with_ledger(words);
    CHECK(text.exit == 7);
    CHECK(contains(text.out, "count of clinic: withheld"));
    CHECK_FALSE(contains(text.out, "interval"));
    CHECK(bench.with_ledger(with(words, {"--quiet"})).out.empty());
  }
  for (const Words& words :
       {Words{"history"}, Words{"budget"}, Words{"pending"},
        Words{"plan", "clinic", "count", "--epsilon", "0.1"},
        Words{"forecast", "clinic", "count", "--epsilon", "0.1"}, Words{"audit", "replay"},
        Words{"audit", "reaccount"}, Words{"policy", "show"}}) {
    CAPTURE(words);
    CHECK(bench.with_ledger(words).exit == 0);
  }
  CHECK(nlohmann::json::parse(decisions_of(bench.with_ledger({"history", "--json"}).out))["value"].is_null());
  CHECK(contains(bench.with_ledger({"history"}).out, "withheld"));
  for (const Words& words : {Words{"release", "clinic", "count", "--epsilon", "0.2"},
                             Words{"reserve", "clinic", "count", "--epsilon", "0.2"},
                             Words{"policy", "apply", "policy.yaml"}, Words{"recover"}}) {
    CAPTURE(words);
    const Result result = bench.with_ledger(with(words, {"--json"}));
    if (words[0] == "policy" && result.exit == 0) continue;  // the same bytes: nothing is written
    CHECK(result.exit == 7);
    CHECK(result.json()["error"]["code"] == "ledger_io");
  }
  const Result verified = bench.with_ledger({"audit", "verify", "--json"});
  CHECK(verified.exit == 7);
  CHECK(verified.json()["ok"] == false);
  REQUIRE(verified.json()["faults"].size() == 1);
  CHECK(verified.json()["faults"][0]["code"] == "poisoned");

  // With another fault beside it, that one counts.
  epsilog::test::tamper(bench.path("L"), "UPDATE account SET \"limit\" = \"limit\" + 1");
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 6);
  epsilog::test::tamper(bench.path("L"), "UPDATE account SET \"limit\" = \"limit\" - 1");

  bench.write("L.poisoned", R"({"reason": "test", "boot_id": "another-boot"})");
  const int lock = open(bench.path("L.lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  CHECK(bench.with_ledger({"recover", "--wait", "0.1"}).exit == 7);
  close(lock);
  CHECK(bench.with_ledger({"recover", "--wait", "0.1"}).exit == 0);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  CHECK(bench.with_ledger({"show", id, "--json"}).json()["value"].is_string());
}

TEST_CASE("poisoned: a FIFO where the marker would be stops no reader", "[cli][negative][poison]") {
  const Workbench bench;
  const std::string id = released(bench);
  REQUIRE(mkfifo(bench.path("L.poisoned").c_str(), 0600) == 0);
  CHECK(bench.with_ledger({"budget"}).exit == 0);
  CHECK(bench.with_ledger({"show", id}).exit == 7);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 7);
  CHECK(bench.with_ledger({"recover"}).exit == 7);
  CHECK(bench.with_ledger(kRelease).exit == 7);
}

TEST_CASE("durable: what an interrupted COMMIT left is withheld while another has the turn, then told",
          "[cli][negative][crash]") {
  const Workbench bench;
  const std::string id = released(bench);
  bench.write("L.lock", "what a COMMIT in progress might have left");
  const int lock = open(bench.path("L.lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  const Result show = bench.with_ledger({"show", id, "--json", "--wait", "0.1"});
  CHECK(show.exit == 7);
  check_members(show.json(), R"({"durable": false, "value": null})");
  CHECK(bench.with_ledger(with(kRelease, {"--wait", "0.1"})).exit == 7);
  const Result history = bench.with_ledger({"history", "--json", "--wait", "0.1"});
  CHECK(history.exit == 0);
  CHECK(nlohmann::json::parse(decisions_of(history.out))["value"].is_null());
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
  close(lock);
  const Result told = bench.with_ledger({"show", id, "--json"});
  CHECK(told.exit == 0);
  CHECK(told.json()["durable"] == true);
  CHECK(told.json()["value"].is_string());
}
