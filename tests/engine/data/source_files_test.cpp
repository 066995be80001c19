// A source is never a file of the ledger: to open and close it would drop SQLite's locks in this process.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clinic.hpp"
#include "epsilog/engine/policy_draft.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "epsilog/engine/source_io.hpp"
#include "epsilog/ledger/open_ledgers.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

using ledger::is_file_of_open_ledger;

/// Whether another process sees that this one holds a POSIX lock on the file.
bool is_locked(const std::string& file) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool known = descriptor >= 0 && ::fcntl(descriptor, F_GETLK, &lock) == 0;
    ::_exit(!known ? 2 : lock.l_type == F_UNLCK ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) != 2);
  return WEXITSTATUS(status) == 1;
}

/// Takes the clinic's file of visits away and puts a link to `file` there.
void lead_visits_to(const Clinic& clinic, const std::string& file) {
  const std::string visits = clinic.folder.path("visits.csv");
  std::filesystem::remove(visits);
  std::filesystem::create_symlink(file, visits);
}

const std::vector<std::string> kSuffixes = {"", "-wal", "-shm", ".queue", ".lock"};

}  // namespace

TEST_CASE("source files: what belongs to a ledger is known as long as it is open", "[engine][source_files]") {
  const Clinic clinic;
  const std::string ledger = clinic.ledger();
  CHECK_FALSE(is_file_of_open_ledger(ledger));
  {
    engine::Engine first = clinic.open();
    const engine::Engine second = clinic.open();
    REQUIRE(release(first, request("count", "0.1")).recorded.granted);
    clinic.folder.write("clinic.ledger.poisoned", "");
    std::vector<std::string> suffixes = kSuffixes;
    suffixes.emplace_back(".poisoned");
    for (const std::string& suffix : suffixes) {
      CAPTURE(suffix);
      CHECK(is_file_of_open_ledger(ledger + suffix));
      const std::string link = clinic.folder.path("link" + suffix);
      std::filesystem::create_symlink(ledger + suffix, link);
      CHECK(is_file_of_open_ledger(link));
      std::filesystem::create_hard_link(ledger + suffix, link + ".hard");
      CHECK(is_file_of_open_ledger(link + ".hard"));
      std::filesystem::remove(link + ".hard");
    }
    CHECK_FALSE(is_file_of_open_ledger(clinic.folder.path("visits.csv")));
    CHECK_FALSE(is_file_of_open_ledger(clinic.folder.path("absent.csv")));
    CHECK_FALSE(is_file_of_open_ledger(clinic.folder.path("")));
  }
  CHECK_FALSE(is_file_of_open_ledger(ledger));
}

TEST_CASE("source files: no file of the ledger is read as a CSV file, and its locks stay",
          "[engine][source_files][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  engine::Request held = request("count", "0.1");
  held.reservation = engine::ReservationKind::reserved;
  const std::string reserved = engine.reserve(held, {}).recorded.decision_id;
  for (const std::string& suffix : kSuffixes) {
    CAPTURE(suffix);
    lead_visits_to(clinic, clinic.ledger() + suffix);
    const std::string why =
        "csv '" + clinic.folder.path("visits.csv") +
        "': belongs to the ledger: its file, log, shared memory, lock files and marker are no "
        "data source";
    CHECK_THROWS_WITH(release(engine, request("count", "0.1")), why);
    CHECK_THROWS_WITH(commit(engine, reserved), why);
    CHECK(is_locked(clinic.ledger()));
    CHECK(is_locked(clinic.ledger() + "-shm"));
  }
  CHECK(spent(engine) == "0.1");
  lead_visits_to(clinic, clinic.folder.write("true.csv", kVisits));
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
}

TEST_CASE("source files: neither an SQLite source nor what lies beside it is a file of the ledger",
          "[engine][source_files][negative]") {
  const TemporaryFolder folder;
  {
    SQLite::Database database(folder.path("visits.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(
        "CREATE TABLE visits(patient_id, age, cost, ward); INSERT INTO visits VALUES ('p', 1, 2, 'A')");
  }
  std::string policy = clinic_policy("epsilon: 3");
  policy.replace(policy.find("{csv: visits.csv}"), 17, "{sqlite: link.db, table: visits}");
  folder.write("policy.yaml", policy);
  const std::string ledger = folder.path("clinic.ledger");
  engine::Engine::init(folder.path("policy.yaml"), ledger, "curator");
  engine::Engine engine = engine::Engine::open(ledger);
  std::filesystem::create_symlink(folder.path("visits.db"), folder.path("link.db"));
  REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  const auto check_refused = [&] {
    CHECK_THROWS_WITH(
        release(engine, request("count", "0.1")),
        "sqlite '" + folder.path("link.db") +
            "': belongs to the ledger: its file, log, shared memory, lock files and marker are no "
            "data source");
    CHECK(is_locked(ledger + "-shm"));
  };
  for (const char* beside : {"-wal", "-shm", "-journal"}) {
    CAPTURE(beside);
    std::filesystem::create_symlink(ledger + "-shm", folder.path("visits.db") + beside);
    check_refused();
    std::filesystem::remove(folder.path("visits.db") + beside);
  }
  std::filesystem::remove(folder.path("link.db"));
  std::filesystem::create_symlink(ledger, folder.path("link.db"));
  check_refused();
  CHECK(spent(engine) == "0.1");
}

TEST_CASE("source files: the ledger is not read as a policy or for a draft either",
          "[engine][source_files][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  CHECK_THROWS_AS(engine.apply_policy(clinic.ledger(), "curator", "test"), PolicyError);
  CHECK_THROWS_AS(engine.review(clinic.ledger() + "-shm").refused, PolicyError);
  CHECK_THROWS_AS(engine::draft_from_csv(clinic.ledger() + "-shm", "data.csv", "clinic"), SourceError);
  CHECK(is_locked(clinic.ledger()));
  CHECK(is_locked(clinic.ledger() + "-shm"));
}

TEST_CASE("source files: a source that changes while it is read costs nothing",
          "[engine][source_files][negative]") {
  const Clinic clinic;
  std::string visits = "patient_id,age,cost,ward\n";
  for (int i = 0; i < 200'000; ++i) visits += "p" + std::to_string(i) + ",30,1,A\n";
  const std::string file = clinic.folder.write("visits.csv", visits);
  engine::Engine engine = clinic.open();
  std::atomic<bool> over = false;
  std::thread toucher([&] {
    std::filesystem::file_time_type time{};
    while (!over) std::filesystem::last_write_time(file, time += std::chrono::seconds(1));
  });
  CHECK_THROWS_WITH(release(engine, request("count", "0.1")),
                    engine::SourceIo(engine::SourceIo::Cause::changed).what());
  over = true;
  toucher.join();
  CHECK(spent(engine) == "0");
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
}
