// Kills and power failures of who writes to a ledger with a replica, at every operation.
#include <sys/stat.h>

#include "epsilog/ledger/replica.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

const Epsilon kLeastEpsilon = Epsilon::parse_down("0.001");

struct Recording {
  std::string directory;
  std::map<std::string, std::string> before;
  std::vector<StorageEvent> events;
};

struct Found {
  int images = 0;
  int lost = 0;          ///< acknowledged, and not in the ledger
  int unreplicated = 0;  ///< acknowledged, and not in the replica
  int told_early = 0;    ///< told by the ledger, and not in the replica
  int differing = 0;     ///< the two do not agree after the next begin()
};

std::map<std::string, std::string> files_of(const ReplicatedLedger& fixture) {
  std::map<std::string, std::string> files{{fixture.path, read_file(fixture.path)},
                                           {fixture.replica, read_file(fixture.replica)}};
  const std::string wal = fixture.path + "-wal";
  if (fs::exists(wal)) files[wal] = read_file(wal);
  return files;
}

/// Of what a replica holds.
bool has(const std::string& lines, int number) {
  return lines.find("\"key\":\"" + std::to_string(number) + "\"") != std::string::npos;
}

/// Releases in groups of that many.
Recording record_groups(const std::vector<int>& groups) {
  FaultVfs vfs;
  const ReplicatedLedger fixture;
  release(fixture.open(), kLeastEpsilon, Rational(0), "0");
  Recording recording{.directory = fixture.directory.path(), .before = files_of(fixture), .events = {}};
  const ReplicaCallsOf calls(vfs, fixture.replica);
  vfs.start_recording();
  int number = 0;
  auto ledger = fixture.open();
  for (const int members : groups) {
    auto transaction = ledger.begin();
    for (int i = 0; i < members; ++i) {
      ++number;
      record_release(transaction, kLeastEpsilon, Rational(number), std::to_string(number));
    }
    (void)ledger.commit(std::move(transaction));
    for (int i = 0; i < members; ++i) vfs.acknowledge();
  }
  recording.events = vfs.events();
  return recording;
}

enum class Afterwards { written_again, compared };

/// The replica's sync fails once; who asks again is told.
Recording record_failed_sync(Afterwards afterwards) {
  FaultVfs vfs;
  const ReplicatedLedger fixture;
  release(fixture.open(), kLeastEpsilon, Rational(0), "0");
  Recording recording{.directory = fixture.directory.path(), .before = files_of(fixture), .events = {}};
  ReplicaCallsOf calls(vfs, fixture.replica);
  if (afterwards == Afterwards::compared) calls.pass_over_same_bytes();
  vfs.start_recording();
  auto ledger = fixture.open();
  for (int number = 1; number <= 4; ++number) {
    auto transaction = ledger.begin();
    record_release(transaction, kLeastEpsilon, Rational(number), std::to_string(number));
    if (number != 2) {
      (void)ledger.commit(std::move(transaction));
    } else {
      calls.fail_next_sync();
      CHECK_THROWS_AS(ledger.commit(std::move(transaction)), ledger::ReplicaBehind);
      auto again = ledger.begin();
      CHECK(again.find_by_key("ada", "2")->values == std::vector<Rational>{Rational(2)});
    }
    vfs.acknowledge();
  }
  recording.events = vfs.events();
  return recording;
}

/// With `releases` besides the first.
Found replay(const Recording& recording, int releases, int images_each) {
  std::mt19937_64 random(11);
  const TemporaryDirectory disk;
  const std::string image = disk.path() + "/image";
  Found found;
  int acknowledged = 0;
  for (std::size_t until = 0; until <= recording.events.size(); ++until) {
    if (until > 0 && recording.events[until - 1].kind == StorageEvent::Kind::acknowledged) ++acknowledged;
    for (int i = 0; i < images_each; ++i) {
      write_image(image_after_power_failure(recording.before, recording.events, until, random),
                  recording.directory, image);
      fs::permissions(image + "/replica", fs::perms(0600));
      ++found.images;
      {
        auto view = ledger::Ledger::open_read_only(image + "/L").snapshot();
        const std::string lines = read_file(image + "/replica");
        for (int n = 0; n <= releases; ++n) {
          const auto told = view.find_by_key("ada", std::to_string(n));
          const bool held = has(lines, n);
          if (n <= acknowledged && !told) ++found.lost;
          if (n <= acknowledged && !held) ++found.unreplicated;
          if (told && told->durable && !held) ++found.told_early;
        }
      }
      auto ledger = ledger::Ledger::open(image + "/L", replicating(image));
      { const auto transaction = ledger.begin(); }
      if (!replica_fault(image + "/replica", ledger.snapshot()).empty()) ++found.differing;
    }
  }
  return found;
}

void require_none(const Found& found) {
  CHECK(found.lost == 0);
  CHECK(found.unreplicated == 0);
  CHECK(found.told_early == 0);
  CHECK(found.differing == 0);
}

/// A directory of a file system other than that of the ledgers, with a slash at its end; "" where there is
/// none.
class OtherFileSystem final {
 public:
  OtherFileSystem() {
    std::string pattern = "/dev/shm/epsilog-replica-XXXXXX";
    const TemporaryDirectory ledgers;
    struct stat here {};
    struct stat there {};
    if (::stat(ledgers.path().c_str(), &here) != 0 || ::stat("/dev/shm", &there) != 0) return;
    if (here.st_dev != there.st_dev && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern + "/";
  }
  OtherFileSystem(const OtherFileSystem&) = delete;
  OtherFileSystem& operator=(const OtherFileSystem&) = delete;
  ~OtherFileSystem() {
    if (!path_.empty()) fs::remove_all(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Kills whoever commits a group of so many at each operation, or one of `stride`, and looks at what is left.
/// The file of the replica is made anew each time. Returns how often somebody was killed.
int killed_in_group(int members, const std::string& replica, std::int64_t stride) {
  int killed = 0;
  for (std::int64_t at = 1;; at += stride) {
    if (fs::path(replica).is_absolute()) fs::remove(replica);
    const ReplicatedLedger fixture(replica);
    release(fixture.open(), kLeastEpsilon, Rational(0), "0");
    const std::string told = fixture.directory.path() + "/told";
    const int status = in_child([&] {
      FaultVfs vfs;
      const ReplicaCallsOf calls(vfs, fixture.replica);
      auto ledger = fixture.open();
      vfs.die_at(at);
      auto transaction = ledger.begin();
      for (int i = 1; i <= members; ++i)
        record_release(transaction, kLeastEpsilon, Rational(i), std::to_string(i));
      (void)ledger.commit(std::move(transaction));
      vfs.stop_failing();
      fs::create_directory(told);
    });
    const bool died = status != 0;
    if (died) ++killed;
    CAPTURE(at, members);
    {
      auto view = fixture.look();
      const std::string lines = read_file(fixture.replica);
      for (int i = 1; i <= members; ++i) {
        const auto decision = view.find_by_key("ada", std::to_string(i));
        const bool durable = decision && decision->durable;
        if (durable && !has(lines, i)) FAIL_CHECK(i << " is told, and not in the replica");
        if (fs::exists(told) && !durable) FAIL_CHECK(i << " was told, and is not any more");
      }
    }
    auto ledger = fixture.open();
    { const auto transaction = ledger.begin(); }
    REQUIRE(replica_fault(fixture.replica, ledger.snapshot()) == "");
    const auto first = ledger.snapshot().find_by_key("ada", "1");
    if (first) CHECK(first->values == std::vector<Rational>{Rational(1)});
    if (!died) break;
  }
  return killed;
}

}  // namespace

TEST_CASE("power failure: what was acknowledged is in ledger and replica, and the two agree",
          "[ledger][replica][durability]") {
  const Found found = replay(record_groups({1, 2, 1, 3, 1}), 8, 5);
  CAPTURE(found.images);
  CHECK(found.images >= 200);
  require_none(found);
}

TEST_CASE("power failure: what was acknowledged in a full group is in ledger and replica, and the two agree",
          "[.long][ledger][replica][durability]") {
  const Found found = replay(record_groups({1, 256, 1}), 258, 3);
  CAPTURE(found.images);
  CHECK(found.images >= 200);
  require_none(found);
}

TEST_CASE(
    "power failure: after a failed sync of the replica what is told is in it, because it is written again",
    "[ledger][replica][durability]") {
  require_none(replay(record_failed_sync(Afterwards::written_again), 4, 4));
}

TEST_CASE("replica: what was not synced is written again, all of it, when it is to be synced",
          "[ledger][replica][durability]") {
  FaultVfs vfs;
  const ReplicatedLedger fixture("replica", false);
  auto ledger = fixture.open();
  release(ledger, kLeastEpsilon, Rational(1), "1");
  const auto before = static_cast<std::int64_t>(read_file(fixture.replica).size());
  const ReplicaCallsOf calls(vfs, fixture.replica);
  vfs.start_recording();
  const ledger::PolicyVersion synced = policy_with_replica("replica", true);
  auto transaction = ledger.begin_to_apply(synced);
  transaction.apply_policy(synced, {account("clinic", "epsilon", Epsilon::parse_down("1").units())}, "");
  (void)ledger.commit(std::move(transaction));
  std::int64_t written = 0;  // from the beginning, without a gap, before the first sync
  for (const StorageEvent& event : vfs.events()) {
    if (event.file != fixture.replica) continue;
    if (event.kind == StorageEvent::Kind::sync) break;
    REQUIRE(event.kind == StorageEvent::Kind::write);
    REQUIRE(event.offset == written);
    written += static_cast<std::int64_t>(event.bytes.size());
  }
  CHECK(written == before);
}

TEST_CASE("power failure: the simulation catches a replica that is only compared after a failed sync",
          "[ledger][replica][durability][control]") {
  CHECK(replay(record_failed_sync(Afterwards::compared), 4, 4).unreplicated > 0);
}

TEST_CASE("kill: at every operation of a group ledger and replica agree after the next begin",
          "[ledger][replica][crash]") {
  CHECK(killed_in_group(4, "replica", 1) >= 5);
}

TEST_CASE("kill: a full group too, and where the replica is on another file system",
          "[ledger][replica][crash]") {
  const OtherFileSystem other;
  if (other.path().empty()) WARN("there is no other file system to write to");
  CHECK(killed_in_group(4, other.path() + "replica", 3) >= 2);
  CHECK(killed_in_group(256, other.path() + "full", 19) >= 2);
}

TEST_CASE("kill: at every operation of a full group, on one file system and on two",
          "[.long][ledger][replica][crash]") {
  const OtherFileSystem other;
  CHECK(killed_in_group(256, "replica", 1) >= 40);
  CHECK(killed_in_group(256, other.path() + "replica", 1) >= 40);
}
