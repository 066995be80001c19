// Who and what a ledger is shared with: mounts, users and groups, and whatever lies where the marker would.
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger_files.hpp"
#include "poison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kOwner = 65534;
constexpr gid_t kGroup = 65533;
constexpr uid_t kMember = 65532;

void expect(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

/// Runs `body` as that user and group and nobody else, in a child. True if it did not throw.
bool as_user(uid_t user, gid_t group, const std::function<void()>& body) {
  return in_child([&] {
           expect(::setgroups(0, nullptr) == 0 && ::setgid(group) == 0 && ::setuid(user) == 0, "setuid");
           body();
         }) == 0;
}

/// Gives the directory, of that mode, and all that is in it to kOwner and kGroup.
void hand_over(const LedgerFixture& fixture, mode_t directory_mode, mode_t mode) {
  const std::string& directory = fixture.directory.path();
  for (const auto& entry : fs::directory_iterator(directory)) {
    REQUIRE(::chown(entry.path().c_str(), kOwner, kGroup) == 0);
    REQUIRE(::chmod(entry.path().c_str(), mode) == 0);
  }
  REQUIRE(::chown(directory.c_str(), kOwner, kGroup) == 0);
  REQUIRE(::chmod(directory.c_str(), directory_mode) == 0);
}

bool all_owned(const LedgerFixture& fixture) {
  for (const auto& entry : fs::directory_iterator(fixture.directory.path())) {
    struct stat status {};
    if (::lstat(entry.path().c_str(), &status) != 0 || status.st_uid != kOwner || status.st_gid != kGroup) {
      UNSCOPED_INFO(entry.path() << " belongs to " << status.st_uid << ":" << status.st_gid);
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("mounts: a mount point is found in mountinfo by its whole name, escapes undone",
          "[ledger][mount]") {
  const std::string list =
      "22 27 0:21 / /proc rw,nosuid - proc proc rw\n"
      "36 35 98:0 /mnt1 /data rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
      "37 35 98:0 /a /data/my\\040ledger\\134x rw - ext4 /dev/sda rw\n"
      "38\n\n"
      "39 35 98:0 /data/L /srv/L rw - ext4 /dev/sda rw";
  for (const char* path : {"/proc", "/data", "/data/my ledger\\x", "/srv/L"})
    CHECK(ledger::has_mount_point(list, path));
  for (const char* path : {"/", "/dat", "/data/L", "/srv", "/mnt1", "38", "", "rw"})
    CHECK_FALSE(ledger::has_mount_point(list, path));
  CHECK_FALSE(ledger::has_mount_point("", "/data"));
}

TEST_CASE("mounts: a ledger mounted as a single file is refused, one in a mounted directory is not",
          "[ledger][mount]") {
  const LedgerFixture fixture;
  const std::string other = fixture.directory.path() + "/other";
  fs::create_directory(other);
  std::ofstream(other + "/L") << "a place to mount it on";
  constexpr int kNotAllowed = 40;
  const int status = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(fixture.path.c_str(), (other + "/L").c_str(), nullptr, MS_BIND, nullptr) != 0) {
      ::_exit(kNotAllowed);
    }
    const std::string words = "Mount the directory";
    expect(has_part(message_of([&] { static_cast<void>(ledger::Ledger::open(other + "/L", {})); }), words),
           "opened");
    expect(
        has_part(message_of([&] { static_cast<void>(ledger::Ledger::open_read_only(other + "/L")); }), words),
        "read");
    expect(fixture.open().ledger_id() == fixture.id, "refused under its own name");
    expect(::umount((other + "/L").c_str()) == 0, "umount");
    fs::remove(other + "/L");
    expect(::mount(fixture.directory.path().c_str(), other.c_str(), nullptr, MS_BIND, nullptr) == 0, "mount");
    expect(ledger::Ledger::open(other + "/L", {}).ledger_id() == fixture.id, "the directory is refused");
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) {
    WARN("mounting is not allowed here: only the reading of mountinfo was tested");
    return;
  }
  CHECK(status == 0);
}

TEST_CASE("users: what root did leaves nothing that keeps the owner out", "[ledger][users]") {
  if (::geteuid() != 0) {
    WARN("not root: not tested");
    return;
  }
  const LedgerFixture fixture;
  hand_over(fixture, 0700, 0600);
  {
    auto ledger = fixture.open();
    release(ledger, kTenth, Rational(1), "by root");
    CHECK(all_owned(fixture));
  }
  REQUIRE(ledger::write_poison(ledger::locate(fixture.path), "by root"));
  CHECK(all_owned(fixture));
  fs::remove(fixture.sibling(".poisoned"));
  CHECK(as_user(kOwner, kGroup, [&] {
    auto ledger = fixture.open();
    expect(release(ledger, kTenth, Rational(2)).seq == 2, "not released");
    expect(fixture.look().find_by_key("ada", "by root")->values == std::vector<Rational>{1}, "not read");
  }));
  // Lock files that root left behind before they were given to the owner are given with its next command.
  for (const char* suffix : {".lock", ".queue"}) REQUIRE(::chown(fixture.sibling(suffix).c_str(), 0, 0) == 0);
  CHECK(as_user(kOwner, kGroup, [&] {
    auto ledger = fixture.open();
    const std::string message = message_of([&] { static_cast<void>(ledger.begin()); });
    expect(has_part(message, "belongs to user 0") && !has_part(message, "retry"), message.c_str());
  }));
  release(fixture.open(), kTenth, Rational(3));
  CHECK(as_user(kOwner, kGroup, [&] {
    auto ledger = fixture.open();
    release(ledger, kTenth, Rational(4));
  }));
}

TEST_CASE("users: a group reads with mode 0640, makes nothing beside the ledger and writes nothing",
          "[ledger][users]") {
  if (::geteuid() != 0) {
    WARN("not root: not tested");
    return;
  }
  for (const mode_t directory_mode : {0750U, 0770U}) {
    for (const bool used_before : {false, true}) {
      CAPTURE(directory_mode, used_before);
      const LedgerFixture fixture;
      hand_over(fixture, directory_mode, 0640);
      if (used_before) {
        CHECK(as_user(kOwner, kGroup, [&] {
          auto ledger = fixture.open();
          release(ledger, kTenth, Rational(1), "k");
        }));
      }
      const auto read = [&] {
        auto snapshot = fixture.look();
        expect(snapshot.accounts("clinic").size() == 1, "no accounts");
        const auto found = snapshot.find_by_key("ada", "k");
        expect(found.has_value() == used_before, "not found");
        if (found) expect(found->durable && found->values == std::vector<Rational>{1}, "withheld");
      };
      CHECK(as_user(kMember, kGroup, read));
      CHECK(as_user(kMember, kGroup, [&] {
        const std::string message = message_of([&] { static_cast<void>(fixture.open()); });
        expect(has_part(message, "only its owner writes") && !has_part(message, "retry"), message.c_str());
        auto on_demand = ledger::Ledger::open_on_demand(fixture.path, {});
        const std::string same = message_of([&] { static_cast<void>(on_demand.begin()); });
        expect(same == message && on_demand.snapshot().decision_count() == (used_before ? 1 : 0),
               same.c_str());
      }));
      CHECK(all_owned(fixture));
      // Beside a writer at work, too.
      {
        auto ledger = fixture.open();
        release(ledger, kTenth, Rational(2));
        if (used_before) CHECK(as_user(kMember, kGroup, read));
      }
      CHECK(all_owned(fixture));
      CHECK(as_user(kOwner, kGroup, [&] {
        auto ledger = fixture.open();
        release(ledger, kTenth, Rational(3));
      }));
    }
  }
}

TEST_CASE("users: what was made before the mode was changed has it once the owner writes",
          "[ledger][users]") {
  const LedgerFixture fixture;
  const auto modes = [&fixture] {
    std::string text;
    for (const char* beside : {"-wal", "-shm", ".lock", ".queue"}) {
      struct stat status {};
      REQUIRE(::lstat(fixture.sibling(beside).c_str(), &status) == 0);
      text += std::to_string((status.st_mode & 0070) >> 3);
    }
    return text;
  };
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  REQUIRE(::chmod(fixture.path.c_str(), 0600) == 0);
  release(ledger, kTenth, Rational(2));
  CHECK(modes() == "0000");
  REQUIRE(::chmod(fixture.path.c_str(), 0640) == 0);
  release(ledger, kTenth, Rational(3));
  CHECK(modes() == "4444");
}

TEST_CASE("users: a ledger that was read-only for a while leaves no file that keeps its owner out",
          "[ledger][users]") {
  if (::geteuid() != 0) {
    WARN("not root: not tested");
    return;
  }
  const Epsilon small = Epsilon::parse_down("0.001");
  const std::vector<std::string> companions = {"-wal", "-shm", ".lock", ".queue"};
  for (const mode_t narrow : {0400U, 0440U}) {
    const LedgerFixture fixture;
    hand_over(fixture, 0700, 0600);
    const auto owner_writes = [&](const char* key) {
      return as_user(kOwner, kGroup, [&] {
        auto ledger = fixture.open();
        release(ledger, small, Rational(1), key);
      });
    };
    // While a process has the ledger open, and goes on to write.
    CHECK(as_user(kOwner, kGroup, [&] {
      auto ledger = fixture.open();
      release(ledger, small, Rational(1), "before");
      expect(::chmod(fixture.path.c_str(), narrow) == 0, "chmod");
      release(ledger, small, Rational(1), "meanwhile");
      for (const std::string& beside : companions) {
        struct stat status {};
        expect(::lstat(fixture.sibling(beside).c_str(), &status) == 0, "lstat");
        expect((status.st_mode & 07777) == (0600 | (narrow & 0040)), beside.c_str());
      }
      expect(::chmod(fixture.path.c_str(), 0600) == 0, "chmod back");
    }));
    CHECK(owner_writes("after"));
    // A file that an earlier program left with such a mode, each by itself, beside one who reads.
    for (const std::string& beside : companions) {
      for (const mode_t left : {0400U, 0040U, 0000U}) {
        CAPTURE(narrow, beside, left);
        const auto reader = fixture.open();
        REQUIRE(::chmod(fixture.sibling(beside).c_str(), left) == 0);
        CHECK(owner_writes((beside + std::to_string(left)).c_str()));
      }
    }
  }
}

TEST_CASE("users: a group that could write is told that it cannot", "[ledger][users]") {
  const LedgerFixture fixture;
  REQUIRE(::chmod(fixture.path.c_str(), 0660) == 0);
  std::string warning;
  const auto options = ledger::Options{.warn = [&](const std::string& message) { warning = message; }};
  { static_cast<void>(ledger::Ledger::open(fixture.path, options)); }
  CHECK(has_part(warning, "a group may read"));
  struct stat status {};
  REQUIRE(::lstat(fixture.path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
}

TEST_CASE("marker: whatever lies in its place poisons, keeps nobody waiting and lets readers go on",
          "[ledger][poison]") {
  const LedgerFixture fixture;
  release(fixture.open(), kTenth, Rational(1), "k");
  const std::string marker = fixture.sibling(".poisoned");
  const std::map<std::string, std::function<void()>> things = {
      {"a FIFO", [&] { REQUIRE(::mkfifo(marker.c_str(), 0600) == 0); }},
      {"a directory", [&] { fs::create_directory(marker); }},
      {"a link to nowhere", [&] { fs::create_symlink("nowhere", marker); }},
      {"a link to an endless device", [&] { fs::create_symlink("/dev/zero", marker); }},
      {"a huge file",
       [&] {
         { std::ofstream empty(marker); }
         fs::resize_file(marker, std::uintmax_t{1} << 40U);
       }},
      {"deeply nested text", [&] { std::ofstream(marker) << std::string(60'000, '['); }},
      {"a device", [&] {
         if (::mknod(marker.c_str(), S_IFCHR | 0600, ::makedev(1, 5)) != 0) std::ofstream{marker};
       }}};
  for (const auto& [name, put] : things) {
    CAPTURE(name);
    put();
    auto ledger = fixture.open();
    CHECK_THROWS_AS(ledger.begin(), LedgerIo);
    auto snapshot = fixture.look();
    CHECK(snapshot.poison_reason());
    CHECK(snapshot.accounts("clinic").size() == 1);
    CHECK(snapshot.find_by_key("ada", "k")->values.empty());
    CHECK(ledger::Ledger::recovery_state(fixture.path, "another-boot").poisoned);
    CHECK_FALSE(ledger::Ledger::recovery_state(fixture.path, "another-boot").rebooted);
    fs::remove_all(marker);
  }
  CHECK(fixture.look().find_by_key("ada", "k")->values == std::vector<Rational>{1});
}

TEST_CASE("marker: where it cannot be made the lock file says it, until it is recovered",
          "[ledger][poison]") {
  if (::geteuid() != 0) {
    WARN("not root: not tested");
    return;
  }
  const LedgerFixture fixture;
  release(fixture.open(), kTenth, Rational(1), "k");
  hand_over(fixture, 0700, 0600);
  CHECK(as_user(kOwner, kGroup, [&] {
    FaultVfs vfs;
    auto ledger = fixture.open();
    auto transaction = ledger.begin();
    record_release(transaction, kTenth, Rational(42), "lost");
    expect(::chmod(fixture.directory.path().c_str(), 0500) == 0, "chmod");
    vfs.fail_kind("sync", SQLITE_IOERR);
    try {
      static_cast<void>(ledger.commit(std::move(transaction)));
    } catch (const LedgerIo&) {
      ::_exit(0);  // as a process that dies of it
    }
    expect(false, "committed");
  }));
  REQUIRE(::chmod(fixture.directory.path().c_str(), 0700) == 0);
  CHECK_FALSE(fs::exists(fixture.sibling(".poisoned")));
  auto ledger = fixture.open();
  CHECK(has_part(message_of([&] { static_cast<void>(ledger.begin()); }), "committing: disk I/O error"));
  CHECK(fixture.look().find_by_key("ada", "k")->values.empty());
  CHECK_THROWS_AS(ledger::Ledger::clear_poison(fixture.path, {.by = "cleo"}), LedgerIo);  // not restarted
  ledger::Ledger::clear_poison(fixture.path, "another-boot", {.by = "cleo"});
  CHECK(fixture.look().find_by_key("ada", "k")->values == std::vector<Rational>{1});
  CHECK(fixture.open().begin().active_policy_version() == 1);
}

TEST_CASE("marker: recovering waits for the turn as long as it is told", "[ledger][poison][lock]") {
  const LedgerFixture fixture;
  REQUIRE(ledger::write_poison(ledger::locate(fixture.path), "fsync failed"));
  const int lock = ::open(fixture.sibling(".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(ledger::Ledger::clear_poison(fixture.path, "another-boot", {.by = "cleo"},
                                               {.wait = std::chrono::milliseconds(50)}),
                  LedgerBusy);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  ::close(lock);
  ledger::Ledger::clear_poison(fixture.path, "another-boot", {.by = "cleo"},
                               {.wait = std::chrono::milliseconds(50)});
}
