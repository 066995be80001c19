// A caller that no longer waits for the writer lock: every place where the ledger waits for another writer.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <stop_token>

#include "commit_mark.hpp"
#include "epsilog/ledger/backup.hpp"
#include "epsilog/ledger/wait_stopped.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/replicated.hpp"
#include "ledger_files.hpp"
#include "poison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

/// Another process that holds the lock file of the ledger at `path` until this is destroyed.
class OtherWriter {
 public:
  explicit OtherWriter(const std::string& path) {
    const int lock = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(lock >= 0);
    REQUIRE(::flock(lock, LOCK_EX) == 0);
    process_ = ::fork();  // it shares the lock, and keeps it when this process closes the file
    while (process_ == 0) ::pause();
    ::close(lock);
    REQUIRE(process_ > 0);
  }
  OtherWriter(const OtherWriter&) = delete;
  OtherWriter& operator=(const OtherWriter&) = delete;
  ~OtherWriter() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
};

/// What became of a call whose token is stopped, before it begins or while it waits.
std::string stopped(bool before, const std::function<void(const std::stop_token&)>& call) {
  std::stop_source source;
  if (before) source.request_stop();
  auto over = std::async(std::launch::async, [&]() -> std::string {
    try {
      call(source.get_token());
      return "done";
    } catch (const ledger::WaitStopped& error) {
      return std::string(error.code());
    } catch (const std::exception& error) {
      return error.what();
    }
  });
  if (!before) CHECK(over.wait_for(std::chrono::milliseconds(60)) == std::future_status::timeout);
  source.request_stop();
  CHECK(over.wait_for(std::chrono::seconds(5)) == std::future_status::ready);
  return over.get();
}

ledger::Options stoppable(const std::stop_token& stop) {
  return {.wait = std::chrono::seconds(20), .stop = stop};
}

}  // namespace

TEST_CASE("stopped wait: every call that waits for another process ends and changes nothing",
          "[ledger][lock]") {
  const LedgerFixture fixture;
  release(fixture.open(), kTenth, Rational(1), "k");
  const std::string backup = fixture.sibling(".backup");
  fs::copy_file(fixture.path, backup);
  const std::string other = fixture.sibling(".other");
  const std::string lines = query_sql(fixture.path, "SELECT log_size FROM meta");
  struct Case {
    std::string name;
    std::string path;  ///< of the ledger whose lock is held
    std::function<void(const std::stop_token&)> call;
  };
  const std::vector<Case> cases = {
      {"a transaction", fixture.path,
       [&](const std::stop_token& stop) {
         (void)ledger::Ledger::open(fixture.path, stoppable(stop)).begin();
       }},
      {"a transaction within a time", fixture.path,
       [&](const std::stop_token& stop) {
         (void)ledger::Ledger::open(fixture.path, stoppable(stop)).begin_within(std::chrono::seconds(20));
       }},
      {"a policy", fixture.path,
       [&](const std::stop_token& stop) {
         (void)ledger::Ledger::open(fixture.path, stoppable(stop)).begin_to_apply(policy());
       }},
      {"a new ledger", other,
       [&](const std::stop_token& stop) {
         (void)ledger::Ledger::create(other, policy(), {}, stoppable(stop));
       }},
      {"a restored ledger", other,
       [&](const std::stop_token& stop) {
         (void)ledger::Ledger::restore(other, backup, {.by = "ada"}, stoppable(stop));
       }},
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const OtherWriter writer(one.path);
    CHECK(stopped(false, one.call) == "wait_stopped");
    CHECK(stopped(true, one.call) == "wait_stopped");
    CHECK_FALSE(fs::exists(other));
  }
  auto ledger = fixture.open();
  CHECK(query_sql(fixture.path, "SELECT log_size FROM meta") == lines);
  CHECK(release(ledger, kTenth, Rational(2)).seq == 2);  // nobody stands in the queue any more
}

TEST_CASE("stopped wait: a reader of what is not known to be durable or in the replica", "[ledger][lock]") {
  const LedgerFixture fixture;
  release(fixture.open(), kTenth, Rational(1), "k");
  std::ofstream(fixture.sibling(".lock"), std::ios::binary) << ledger::commit_mark_bytes(
      {.state = ledger::CommitMark::State::committing, .boot_id = ledger::current_boot_id(), .first = 1});
  const ReplicatedLedger replicated;
  {
    auto ledger = replicated.open();
    release(ledger, kTenth, Rational(1), "j");
    release(ledger, kTenth, Rational(1), "k");
  }
  constexpr std::streamoff kMark = 512;  // replica_mark.hpp: one record behind that of the COMMIT
  std::fstream(replicated.path + ".lock", std::ios::binary | std::ios::in | std::ios::out).seekp(kMark)
      << std::string(kMark, '\0');
  for (const std::string& path : {fixture.path, replicated.path}) {
    CAPTURE(path);
    const OtherWriter writer(path);
    const auto read = [&](const std::stop_token& stop) {
      (void)ledger::Ledger::open_read_only(path, stoppable(stop)).snapshot().find_by_key("ada", "k");
    };
    CHECK(stopped(false, read) == "wait_stopped");
    CHECK(stopped(true, read) == "wait_stopped");
  }
  CHECK(fixture.open().snapshot().find_by_key("ada", "k")->durable);
}

TEST_CASE("stopped wait: a thread that waits for another one, and a call that need not wait goes on",
          "[ledger][lock]") {
  const LedgerFixture fixture;
  std::stop_source source;
  auto ledger = ledger::Ledger::open(fixture.path, stoppable(source.get_token()));
  {
    const auto held = ledger.begin();
    CHECK(stopped(false, [&](const std::stop_token&) {
            // The token of the ledger is stopped by another thread, a little later.
            std::jthread stops([&] {
              std::this_thread::sleep_for(std::chrono::milliseconds(150));
              source.request_stop();
            });
            (void)ledger.begin();
          }) == "wait_stopped");
    CHECK(outcome_of([&] { (void)ledger.begin_within(std::chrono::seconds(20)); }) != "done");
  }
  CHECK(release(ledger, kTenth, Rational(1)).seq == 1);
}
