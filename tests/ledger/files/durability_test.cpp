// Power failures, simulated at every point of a run: what was acknowledged is on the disk, and what is
// on the disk makes sense. The controls show that the simulation would notice.
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/power_failure.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

struct Losses {
  int images = 0;
  int lost = 0;        ///< an acknowledged charge is missing
  int unbalanced = 0;  ///< balances are not the fold of charges
};

struct Recording {
  std::string directory;
  std::map<std::string, std::string> before;
  std::vector<StorageEvent> events;
};

/// Every prefix of the run, several random remains of it each.
template <class Check>
Losses replay(const Recording& recording, int images_each, std::uint64_t seed, Check check) {
  std::mt19937_64 random(seed);
  const TemporaryDirectory disk;
  Losses losses;
  std::int64_t acknowledged = 0;
  for (std::size_t until = 0; until <= recording.events.size(); ++until) {
    if (until > 0 && recording.events[until - 1].kind == StorageEvent::Kind::acknowledged) ++acknowledged;
    for (int i = 0; i < images_each; ++i) {
      const auto image = image_after_power_failure(recording.before, recording.events, until, random);
      write_image(image, recording.directory, disk.path() + "/image");
      check(disk.path() + "/image/L", acknowledged, losses);
      ++losses.images;
    }
  }
  return losses;
}

Recording record_releases() {
  FaultVfs vfs;
  const LedgerFixture fixture;
  release(fixture.open(), kHundredth, Rational(0));
  Recording recording{.directory = fixture.directory.path(), .before = files_of(fixture), .events = {}};
  vfs.start_recording();
  int number = 0;
  for (const int releases : {8, 4}) {
    auto ledger = fixture.open();
    for (int i = 0; i < releases; ++i) {
      ++number;
      release(ledger, kHundredth, Rational(number), std::to_string(number));
      vfs.acknowledge();
    }
  }  // closing moves the WAL into the main file: power may fail during that too
  recording.events = vfs.events();
  return recording;
}

/// The same number of one-row transactions, with settings of the caller's choice.
Recording record_updates(const std::string& settings) {
  FaultVfs vfs;
  const LedgerFixture fixture;
  release(fixture.open(), kHundredth, Rational(0));
  sqlite3* db = nullptr;
  const std::string uri = "file:" + fixture.path + "?psow=0";
  REQUIRE(sqlite3_open_v2(uri.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, settings.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  Recording recording{.directory = fixture.directory.path(), .before = files_of(fixture), .events = {}};
  vfs.start_recording();
  for (int i = 0; i < 12; ++i) {
    REQUIRE(sqlite3_exec(db, "UPDATE account SET spent = spent + 1", nullptr, nullptr, nullptr) == SQLITE_OK);
    vfs.acknowledge();
  }
  recording.events = vfs.events();
  sqlite3_close(db);
  return recording;
}

Losses replay_updates(const Recording& recording) {
  const std::int64_t before = kHundredth.units();
  return replay(recording, 4, 2, [&](const std::string& path, std::int64_t acknowledged, Losses& losses) {
    const std::string spent = query_sql(path, "SELECT spent FROM account");
    if (spent.find_first_not_of("0123456789") != std::string::npos ||
        std::stoll(spent) < before + acknowledged) {
      ++losses.lost;
    }
  });
}

/// Five lives of a reservation, each posted, voided or forfeited, a transaction a step.
Recording record_lives() {
  FaultVfs vfs;
  const LedgerFixture fixture;
  Recording recording{.directory = fixture.directory.path(), .before = files_of(fixture), .events = {}};
  vfs.start_recording();
  auto ledger = fixture.open();
  const auto step = [&](const ledger::DecisionDraft& draft) {
    auto transaction = ledger.begin();
    static_cast<void>(record_outcome(transaction, draft, kHundredth));
    const std::string id = ledger.commit(std::move(transaction)).at(0).id;
    vfs.acknowledge();
    return id;
  };
  for (const auto end : {ledger::Outcome::granted, ledger::Outcome::voided, ledger::Outcome::forfeited,
                         ledger::Outcome::granted, ledger::Outcome::voided}) {
    const std::string id = step(draft_of(ledger::Outcome::reserved));
    step(draft_of(end, id));
  }
  recording.events = vfs.events();
  return recording;
}

}  // namespace

TEST_CASE("power failure: no acknowledged reservation or end of one is lost, and none is half there",
          "[ledger][durability][lifecycle]") {
  const Losses losses =
      replay(record_lives(), 8, 3, [](const std::string& path, std::int64_t acknowledged, Losses& found) {
        auto snapshot = ledger::Ledger::open_read_only(path).snapshot();
        ledger::Inspection inspection(snapshot);
        if (!balances_fold(snapshot) || !inspection.lifecycle_faults().empty() ||
            !inspection.completeness_faults().empty()) {
          ++found.unbalanced;
        }
        if (snapshot.decision_count() < acknowledged) ++found.lost;
      });
  CHECK(losses.images >= 300);
  CHECK(losses.lost == 0);
  CHECK(losses.unbalanced == 0);
}

TEST_CASE("power failure: no acknowledged charge is lost and every balance still folds",
          "[ledger][durability]") {
  const Recording recording = record_releases();
  const Losses losses =
      replay(recording, 12, 1, [](const std::string& path, std::int64_t acknowledged, Losses& found) {
        auto snapshot = ledger::Ledger::open_read_only(path).snapshot();
        if (!balances_fold(snapshot)) ++found.unbalanced;
        for (std::int64_t i = 1; i <= acknowledged; ++i) {
          const auto decision = snapshot.find_by_key("ada", std::to_string(i));
          if (!decision || decision->values != std::vector<Rational>{Rational(static_cast<long>(i))}) {
            ++found.lost;
            break;
          }
        }
      });
  CAPTURE(losses.images);
  CHECK(losses.images >= 1'000);
  CHECK(losses.lost == 0);
  CHECK(losses.unbalanced == 0);
}

TEST_CASE("power failure: the simulation catches synchronous=NORMAL and OFF losing acknowledged charges",
          "[ledger][durability][control]") {
  CHECK(replay_updates(record_updates("PRAGMA synchronous=FULL")).lost == 0);
  CHECK(replay_updates(record_updates("PRAGMA synchronous=NORMAL")).lost > 0);
  CHECK(replay_updates(record_updates("PRAGMA synchronous=OFF")).lost > 0);
}
