// Whom a writer waits for, and which places are refused for good rather than for now.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/support/fixture.hpp"
#include "ledger_files.hpp"
#include "lock_holder.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

const Epsilon kSmallestCharge = Epsilon::parse_down("1e-12");

void release_once(const std::string& path, Epsilon epsilon) {
  auto ledger = ledger::Ledger::open(path, {});
  CHECK(release(ledger, epsilon, Rational(1)).seq == 1);
}

}  // namespace

TEST_CASE("waiting: who waits is told whom for, and so is who lost patience", "[ledger][lock]") {
  const LedgerFixture fixture;
  release_once(fixture.path, kTenth);
  int ready[2];
  REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
  const pid_t holder = ::fork();
  REQUIRE(holder >= 0);
  if (holder == 0) {
    ::prctl(PR_SET_NAME, "slow\xff one");
    const int lock = ::open(fixture.sibling(".lock").c_str(), O_RDWR);
    const bool held = ::flock(lock, LOCK_EX) == 0 && ::write(ready[1], "x", 1) == 1;
    while (held) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  const std::string who = "process " + std::to_string(holder) + " (slow? one)";
  std::vector<std::string> told;
  const auto wait_for = [&](int milliseconds) {
    auto waiting = ledger::Ledger::open(
        fixture.path, {.wait = std::chrono::milliseconds(milliseconds),
                       .report_wait = [&](const std::string& message) { told.push_back(message); }});
    try {
      static_cast<void>(waiting.begin());
    } catch (const LedgerBusy& error) {
      return std::string(error.what());
    }
    return std::string("no LedgerBusy");
  };
  CHECK(has_part(wait_for(0), "in use by " + who));
  CHECK(told.empty());  // not worth a word
  CHECK(has_part(wait_for(1'300), "in use by " + who));
  CHECK(told == std::vector<std::string>{"waiting for " + who + " to be done with ledger " +
                                         ledger::locate(fixture.path).database});
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  CHECK(wait_for(1'000) == "no LedgerBusy");

  auto own = fixture.open();
  const auto turn = own.begin();
  CHECK(has_part(wait_for(0), "in use by this process, through another object"));
}

TEST_CASE("waiting: the holder of a lock is who has it, not who waits for it, nor who has another",
          "[ledger][lock]") {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 11 fd:01:99 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 12 fd:01:990 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 13 fd:01:99 0 EOF\n"
      "3: -> FLOCK  ADVISORY  WRITE 14 fd:01:99 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE -1 fd:01:98 0 EOF\n"
      "4: -> FLOCK  ADVISORY  WRITE 15 fd:01:98 0 EOF\n"
      "5: FLOCK  ADVISORY  WRITE 0 fd:01:97 0 EOF\n"
      "6: FLOCK  ADVISORY  WRITE x fd:01:96 0 EOF\n"
      "7: FLOCK\n\n"
      "8: FLOCK  ADVISORY  READ  16 00:2a:99 0 EOF";
  CHECK(ledger::listed_holder(locks, ::makedev(0xfd, 1), 99) == 13);
  CHECK(ledger::listed_holder(locks, ::makedev(0xfd, 1), 990) == 12);
  CHECK(ledger::listed_holder(locks, ::makedev(0, 0x2a), 99) == 16);
  for (const ino_t unknown : {98UL, 97UL, 96UL, 9UL}) {
    CHECK_FALSE(ledger::listed_holder(locks, ::makedev(0xfd, 1), unknown).has_value());
  }
  CHECK_FALSE(ledger::listed_holder("", ::makedev(0xfd, 1), 99).has_value());
  // Byte 120 of the index of the log is the writer's.
  const std::string of_sqlite =
      "1: POSIX  ADVISORY  READ  21 fd:01:99 120 120\n"
      "2: POSIX  ADVISORY  WRITE 22 fd:01:99 121 127\n"
      "3: -> POSIX  ADVISORY  WRITE 23 fd:01:99 120 120\n"
      "5: POSIX  ADVISORY  WRITE 25 fd:01:98 0 EOF\n"
      "6: POSIX  ADVISORY  WRITE 26 fd:01:99 120 121\n";
  CHECK(ledger::listed_writer(of_sqlite, ::makedev(0xfd, 1), 99) == 26);
  CHECK(ledger::listed_writer(of_sqlite, ::makedev(0xfd, 1), 98) == 25);
  CHECK_FALSE(ledger::listed_writer(locks, ::makedev(0xfd, 1), 990).has_value());
}

TEST_CASE("places: a path that SQLite or the system does not take is refused for good", "[ledger][open]") {
  const LedgerFixture fixture;
  const std::string root = ledger::locate(fixture.path).directory;
  // A path of `size` bytes, in directories whose names are not too long for themselves.
  const auto path_of = [&](std::size_t size) {
    std::string path = root;
    while (size - path.size() > 200) path += "/" + std::string(99, 'd');
    fs::create_directories(path);
    return path + "/" + std::string(size - path.size() - 1, 'n');
  };
  const auto create = [](const std::string& path) {
    return ledger::Ledger::create(path, policy(), {account("clinic", "epsilon", 1)}, {});
  };
  CHECK_THROWS_AS(create(path_of(463)), LedgerUnusable);
  CHECK(create(path_of(462)).size() == 32);
  fs::rename(path_of(462), path_of(504));
  release_once(path_of(504), kSmallestCharge);
  fs::rename(path_of(504), path_of(505));
  CHECK_THROWS_AS(ledger::Ledger::open(path_of(505), {}), LedgerUnusable);
  CHECK_THROWS_AS(ledger::Ledger::open_read_only(path_of(505)), LedgerUnusable);
  CHECK_THROWS_AS(create(root + "/" + std::string(240, 'n')), LedgerUnusable);  // NAME_MAX, while it is made
  CHECK_THROWS_AS(ledger::Ledger::open(root + "/" + std::string(256, 'n'), {}), LedgerUnusable);
  CHECK_THROWS_AS(create(fixture.path + "/below/a file"), LedgerUnusable);
}

TEST_CASE("places: a current directory that was removed is named", "[ledger][open]") {
  const LedgerFixture fixture;
  CHECK(in_child([&] {
          const std::string gone = fixture.directory.path() + "/gone";
          fs::create_directory(gone);
          fs::current_path(gone);
          fs::remove(gone);
          static_cast<void>(fixture.open());  // by its whole name it is found
          try {
            static_cast<void>(ledger::Ledger::create("L", policy(), {account("clinic", "epsilon", 1)}, {}));
          } catch (const LedgerUnusable& error) {
            if (has_part(error.what(), "current directory does not exist")) return;
          }
          throw std::runtime_error("no clear error");
        }) == 0);
}
