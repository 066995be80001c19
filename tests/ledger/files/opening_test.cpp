#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connection.hpp"
#include "epsilog/ledger/files_replaced.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "ledger/support/fixture.hpp"
#include "poison.hpp"
#include "schema.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// As a user who is not root, who passes every permission check.
int as_nobody(const std::function<void()>& body) {
  return in_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
      throw std::runtime_error("setuid");
    body();
  });
}

}  // namespace

TEST_CASE("create: the ledger is ours alone, whatever the umask, and in one file", "[ledger][open]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/new/L";
  const mode_t before = ::umask(0);
  const std::string id = ledger::Ledger::create(path, policy(), {account("clinic", "epsilon", 5)});
  {
    auto ledger = ledger::Ledger::open(path, {});
    CHECK(ledger.ledger_id() == id);
    release(ledger, Epsilon::from_units(1), Rational(1));
    for (const char* suffix : {"", "-wal", "-shm", ".lock", ".queue"}) CHECK(mode_of(path + suffix) == 0600);
  }
  ::umask(before);
  CHECK(id.size() == 32);
  CHECK(mode_of(directory.path() + "/new") == 0750);
  CHECK(fs::file_size(path + "-wal") == 0);  // closed: the file alone is the whole ledger
  CHECK(query_sql(path, "PRAGMA application_id") == std::to_string(ledger::kApplicationId));
  CHECK(query_sql(path, "PRAGMA user_version") == "1");
  CHECK(query_sql(path, "PRAGMA journal_mode") == "wal");
}

TEST_CASE("create: nothing is ever overwritten and nothing stays behind a refusal", "[ledger][open]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/L";
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".poisoned"}) {
    CAPTURE(suffix);
    write_file(path + suffix, "precious");
    CHECK_THROWS_AS(ledger::Ledger::create(path, policy(), {}), LedgerUnusable);
    CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 1);
    CHECK(fs::file_size(path + suffix) == 8);
    fs::remove(path + suffix);
  }
  fs::create_symlink("/nowhere", path);
  CHECK_THROWS_AS(ledger::Ledger::create(path, policy(), {}), LedgerUnusable);
  CHECK_THROWS_AS(ledger::Ledger::create(directory.path() + "/a/b/L", policy(), {}), LedgerUnusable);
  CHECK_THROWS_AS(ledger::Ledger::create(directory.path() + "/", policy(), {}), InvalidParameter);
}

TEST_CASE("create: accounts and policies that make no sense create nothing", "[ledger][open]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/L";
  CHECK_THROWS_AS(ledger::Ledger::create(path, policy(), {account("a", "epsilon", -1)}), InvalidParameter);
  CHECK_THROWS_AS(ledger::Ledger::create(path, policy(), {account("", "epsilon", 1)}), InvalidParameter);
  CHECK_THROWS_AS(
      ledger::Ledger::create(path, policy(), {account("a", "epsilon", 1), account("a", "epsilon", 1)}),
      InvalidParameter);
  auto wrong = policy();
  wrong.sha256 = std::string(64, '0');
  CHECK_THROWS_AS(ledger::Ledger::create(path, wrong, {}), InvalidParameter);
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("open: a path with characters that mean something in a URI is taken literally", "[ledger][open]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/a?mode=memory&x=%41#b c";
  const std::string id = ledger::Ledger::create(path, policy(), {});
  CHECK(ledger::Ledger::open(path, {}).ledger_id() == id);
  CHECK(ledger::Ledger::open_read_only(path).ledger_id() == id);
}

namespace {

void check_settings_of(ledger::Connection& writer) {
  const auto value = [&](const std::string& pragma) {
    auto statement = writer.prepare("PRAGMA " + pragma);
    ledger::Query row(statement, writer.handle());
    REQUIRE(row.step());
    return statement.getColumn(0).getString();
  };
  CHECK(value("journal_mode") == "wal");
  CHECK(value("synchronous") == "2");
  CHECK(value("foreign_keys") == "1");
  CHECK(value("recursive_triggers") == "1");
  CHECK(value("mmap_size") == "0");
  CHECK(value("cell_size_check") == "1");
  CHECK(value("trusted_schema") == "0");
  CHECK(value("wal_autocheckpoint") == "0");
  CHECK(value("journal_size_limit") == "16777216");
  CHECK(value("temp_store") == "2");
  CHECK(value("query_only") == "0");
  int flag = -1;
  CHECK(sqlite3_file_control(writer.handle(), "main", SQLITE_FCNTL_POWERSAFE_OVERWRITE, &flag) == SQLITE_OK);
  CHECK(flag == 0);
  flag = -1;
  CHECK(sqlite3_file_control(writer.handle(), "main", SQLITE_FCNTL_PERSIST_WAL, &flag) == SQLITE_OK);
  CHECK(flag == 1);
  CHECK(sqlite3_db_config(writer.handle(), SQLITE_DBCONFIG_DEFENSIVE, -1, &flag) == SQLITE_OK);
  CHECK(flag == 1);
  CHECK(sqlite3_db_config(writer.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, -1, &flag) == SQLITE_OK);
  CHECK(flag == 1);
}

}  // namespace

TEST_CASE("open: every setting durability rests on was read back", "[ledger][open]") {
  const LedgerFixture fixture;
  ledger::Connection writer(ledger::locate(fixture.path), ledger::Connection::Role::writer);
  check_settings_of(writer);
}

TEST_CASE("open: a connection that became the writer has every setting of one, and wrote nothing before",
          "[ledger][open]") {
  const LedgerFixture fixture;
  const auto files = ledger::locate(fixture.path);
  ledger::Connection connection(files, ledger::Connection::Role::candidate);
  try {
    connection.execute("CREATE TABLE another(x)");
    FAIL("a reader wrote");
  } catch (const ledger::StorageFailure& failure) {
    CHECK((failure.code() & 0xff) == SQLITE_READONLY);
  }
  connection.become_writer(files);
  check_settings_of(connection);
  CHECK_NOTHROW(connection.execute("BEGIN IMMEDIATE; ROLLBACK"));
}

TEST_CASE("open: a ledger opened on demand writes with the connection that has read", "[ledger][open]") {
  const LedgerFixture fixture;
  auto ledger = ledger::Ledger::open_on_demand(fixture.path, {});
  CHECK(ledger.snapshot().decision_count() == 0);
  release(ledger, kTenth, Rational(1));
  CHECK(descriptors_of(fixture.path) == 2);  // and the one that holds it
  CHECK(ledger.snapshot().decision_count() == 1);
  CHECK(descriptors_of(fixture.path) == 3);
}

TEST_CASE("open: nobody plays back a rollback journal that lies beside the ledger", "[ledger][open]") {
  const LedgerFixture fixture;
  // The header of one that cuts the database back to its first page: magic, no pages, nonce, size, sector,
  // page.
  std::string journal(
      "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
      "\0\0\0\0\0\0\0\1\0\0\0\1\0\0\2\0\0\0\x10\0",
      28);
  journal.resize(512, '\0');
  write_file(fixture.path + "-journal", journal);
  const auto size = fs::file_size(fixture.path);
  const auto refuses = [&](const std::function<void()>& open) {
    CHECK(has_part(message_of(open), "there is a rollback journal at " + fixture.path + "-journal"));
    CHECK_THROWS_AS(open(), LedgerUnusable);
    CHECK(fs::file_size(fixture.path) == size);
    CHECK(fs::file_size(fixture.path + "-journal") == 512);
  };
  refuses([&] { (void)ledger::Ledger::open_on_demand(fixture.path, {}); });
  refuses([&] { (void)ledger::Ledger::open_read_only(fixture.path); });
  refuses([&] { (void)ledger::Ledger::open(fixture.path, {}); });
  fs::remove(fixture.path + "-journal");
  auto ledger = ledger::Ledger::open_on_demand(fixture.path, {});
  release(ledger, kTenth, Rational(1));
}

TEST_CASE("open: a ledger opened on demand takes no connection from who is reading", "[ledger][open]") {
  const LedgerFixture fixture;
  auto ledger = ledger::Ledger::open_on_demand(fixture.path, {});
  auto view = ledger.snapshot();
  release(ledger, kTenth, Rational(1));
  CHECK(view.decision_count() == 0);
  CHECK(ledger.snapshot().decision_count() == 1);
}

TEST_CASE("open: a storage layer that ignores a setting is refused, not trusted", "[ledger][open]") {
  const LedgerFixture fixture;
  FaultVfs vfs;
  SECTION("power-safe overwrite stays on") {
    vfs.ignore_control(SQLITE_FCNTL_POWERSAFE_OVERWRITE);
    CHECK(has_part(message_of([&] { static_cast<void>(fixture.open()); }),
                   "FCNTL_POWERSAFE_OVERWRITE must be 0"));
  }
  SECTION("the WAL is not kept") {
    vfs.ignore_control(SQLITE_FCNTL_PERSIST_WAL);
    CHECK_THROWS_AS(fixture.open(), LedgerIo);
  }
  SECTION("a pragma is answered by somebody else") {
    vfs.answer_pragma("synchronous", "1");
    CHECK(has_part(message_of([&] { static_cast<void>(fixture.open()); }), "synchronous must be 2"));
  }
}

TEST_CASE("open: what is not a ledger is named as such", "[ledger][open]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/L";
  CHECK(has_part(message_of([&] { static_cast<void>(ledger::Ledger::open(path, {})); }), "no ledger at"));
  CHECK_THROWS_AS(ledger::Ledger::open(directory.path(), {}), LedgerUnusable);
  CHECK_THROWS_AS(ledger::Ledger::open(path, {}), LedgerUnusable);
  write_file(
      path, "a letter to the editor, long enough to be taken for a header of something else entirely.......");
  CHECK(has_part(message_of([&] { static_cast<void>(ledger::Ledger::open(path, {})); }),
                 "is not an Epsilog ledger"));
  fs::remove(path);
  write_file(path, "");
  CHECK_THROWS_AS(ledger::Ledger::open(path, {}), LedgerCorrupt);
  fs::remove(path);
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  sqlite3_exec(db, "CREATE TABLE t(x); PRAGMA application_id=7", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  CHECK(has_part(message_of([&] { static_cast<void>(ledger::Ledger::open_read_only(path)); }),
                 "its application_id is 7"));
  CHECK_THROWS_AS(ledger::Ledger::open(path, {}), LedgerUnusable);
}

TEST_CASE("open: a ledger of a development version is refused by every way in, with one message",
          "[ledger][open]") {
  const LedgerFixture fixture;
  const TemporaryDirectory elsewhere;
  const std::string other = elsewhere.path() + "/other";
  fs::copy_file(fixture.path, other);
  const std::vector<std::string> lines = lines_of(fixture.look());
  constexpr int kDevelopment = 0x4550534C;  // "EPSL"
  REQUIRE(run_sql(fixture.path, "PRAGMA application_id=" + std::to_string(kDevelopment)).empty());
  for (const int version : {1, 2, 3, 4, 99}) {
    CAPTURE(version);
    REQUIRE(run_sql(fixture.path, "PRAGMA user_version=" + std::to_string(version)).empty());
    const std::string before = read_file(fixture.path);
    const auto refuses = [&](const char* way, const std::function<void()>& open) {
      CAPTURE(way);
      CHECK(message_of(open) == fixture.path + ": written by a development version of Epsilog; not readable");
      CHECK_THROWS_AS(open(), LedgerUnusable);
      CHECK(read_file(fixture.path) == before);
    };
    const std::string& path = fixture.path;
    refuses("open", [&] { (void)ledger::Ledger::open(path, {}); });
    refuses("open_read_only", [&] { (void)ledger::Ledger::open_read_only(path); });
    refuses("open_read_only, a snapshot", [&] { (void)fixture.look(); });
    refuses("open_on_demand", [&] { (void)ledger::Ledger::open_on_demand(path, {}); });
    refuses("create",
            [&] { (void)ledger::Ledger::create(path, policy(), {account("clinic", "epsilon", 5)}); });
    refuses("import_lines", [&] { (void)ledger::Ledger::import_lines(path, each_of(lines)); });
    refuses("backup", [&] { (void)ledger::Ledger::backup(path, elsewhere.path() + "/copy", {}); });
    CHECK(has_part(message_of([&] { (void)ledger::Ledger::backup(other, path, {}); }),
                   "written by a development version"));
    refuses("restore, of it", [&] {
      (void)ledger::Ledger::restore(elsewhere.path() + "/L", path,
                                    {.by = "cleo", .why = "lost", .accept_rollback = true}, {});
    });
    refuses("restore, over it", [&] {
      (void)ledger::Ledger::restore(path, other, {.by = "cleo", .why = "lost", .accept_rollback = true}, {});
    });
    const std::string replica = elsewhere.path() + "/replica";
    write_file(replica, "{}\n");
    fs::permissions(replica, fs::perms(0600));
    refuses("recover_from",
            [&] { (void)ledger::Ledger::recover_from(path, replica, {.by = "cleo", .why = "lost"}); });
    for (const bool poisoned : {false, true}) {
      CAPTURE(poisoned);
      if (poisoned) write_file(path + ".poisoned", R"({"reason":"committing","boot_id":"another"})");
      refuses("recovery_state", [&] { (void)ledger::Ledger::recovery_state(path); });
      refuses("clear_poison", [&] { ledger::Ledger::clear_poison(path, {.by = "cleo"}); });
      fs::remove(path + ".poisoned");
    }
    CHECK_FALSE(fs::exists(elsewhere.path() + "/copy"));
    CHECK_FALSE(fs::exists(elsewhere.path() + "/L"));
  }
}

TEST_CASE("open: a newer schema is refused with both versions", "[ledger][open]") {
  const LedgerFixture fixture;
  REQUIRE(run_sql(fixture.path, "PRAGMA user_version=5").empty());
  const std::string message = message_of([&] { static_cast<void>(fixture.open()); });
  check_parts(message, {"schema version 5", "up to 1"});
  CHECK_THROWS_AS(fixture.open(), LedgerUnusable);
  CHECK_THROWS_AS(fixture.look(), LedgerUnusable);
}

TEST_CASE("open: a ledger with decisions under rules of a newer program is read, and not written to",
          "[ledger][open]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  const std::string trigger =
      query_sql(fixture.path, "SELECT sql FROM sqlite_master WHERE name = 'decision_no_update'");
  REQUIRE(run_sql(fixture.path, "DROP TRIGGER decision_no_update; UPDATE decision SET rules = 99;" + trigger)
              .empty());
  CHECK(has_part(message_of([&] { static_cast<void>(fixture.open().begin()); }), "rules 99"));
  CHECK_THROWS_AS(fixture.open().begin(), LedgerUnusable);
  CHECK(fixture.look().decision_count() == 1);
}

TEST_CASE("open: a ledger that got a newer schema while it was open is written to no more",
          "[ledger][open]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  release(ledger, kTenth, Rational(1));
  REQUIRE(run_sql(fixture.path, "PRAGMA user_version=5").empty());
  CHECK_THROWS_AS(ledger.begin(), LedgerUnusable);
  REQUIRE(run_sql(fixture.path, "PRAGMA user_version=1").empty());
  CHECK(release(ledger, kTenth, Rational(2)).seq == 2);
}

TEST_CASE("open: a truncated or overwritten ledger is called corrupt", "[ledger][open]") {
  const LedgerFixture fixture;
  release(fixture.open(), kTenth, Rational(1));
  SECTION("half of it") {
    fs::resize_file(fixture.path, fs::file_size(fixture.path) / 2);
    CHECK_THROWS_AS(fixture.open(), LedgerCorrupt);
    CHECK_THROWS_AS(fixture.look(), LedgerCorrupt);
  }
  SECTION("not even a header") {
    fs::resize_file(fixture.path, 50);
    CHECK_THROWS_AS(fixture.open(), LedgerCorrupt);
  }
  SECTION("garbage where the header was") {
    std::fstream file(fixture.path, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(100, '\x5a');
    file.close();
    CHECK_THROWS_AS(fixture.open(), LedgerCorrupt);
  }
}

TEST_CASE("open: links are refused, because their lock files would lie elsewhere", "[ledger][open]") {
  const LedgerFixture fixture;
  const std::string other = fixture.directory.path() + "/other";
  SECTION("a symbolic link") {
    fs::create_symlink(fixture.path, other);
    CHECK_THROWS_AS(ledger::Ledger::open(other, {}), LedgerUnusable);
    CHECK_THROWS_AS(ledger::Ledger::open_read_only(other), LedgerUnusable);
    CHECK(fixture.open().ledger_id() == fixture.id);
  }
  SECTION("a hard link") {
    fs::create_hard_link(fixture.path, other);
    CHECK_THROWS_AS(fixture.open(), LedgerUnusable);
    CHECK_THROWS_AS(fixture.look(), LedgerUnusable);
  }
  SECTION("a link to the directory is resolved") {
    fs::create_directory_symlink(fixture.directory.path(), other);
    CHECK(ledger::Ledger::open(other + "/L", {}).ledger_id() == fixture.id);
  }
}

TEST_CASE("open: access beyond 0640 is taken away before anything is written", "[ledger][open]") {
  const LedgerFixture fixture;
  REQUIRE(::chmod(fixture.path.c_str(), 0640) == 0);
  { static_cast<void>(fixture.open()); }
  CHECK(mode_of(fixture.path) == 0640);
  REQUIRE(::chmod(fixture.path.c_str(), 0666) == 0);
  { static_cast<void>(fixture.open()); }
  CHECK(mode_of(fixture.path) == 0640);
}

TEST_CASE("open: a ledger replaced while it was open is not written to", "[ledger][open]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto on_demand = ledger::Ledger::open_on_demand(fixture.path, {});
  fs::rename(fixture.path, fixture.path + ".old");
  fs::copy_file(fixture.path + ".old", fixture.path);
  CHECK_THROWS_AS(ledger.begin(), ledger::FilesReplaced);
  CHECK_THROWS_AS(on_demand.begin(), ledger::FilesReplaced);
}

TEST_CASE("open: a read-only ledger cannot be written to", "[ledger][open]") {
  const LedgerFixture fixture;
  auto ledger = ledger::Ledger::open_read_only(fixture.path);
  CHECK_THROWS_AS(ledger.begin(), InvalidParameter);
  CHECK(ledger.snapshot().active_policy().version == 1);
}

TEST_CASE("open: a lock held elsewhere is waited for, then reported", "[ledger][open][lock]") {
  const LedgerFixture fixture;
  auto holder = fixture.open();
  auto held = holder.begin();
  auto impatient = fixture.open(0);
  CHECK_THROWS_AS(impatient.begin(), LedgerBusy);
  auto waiting = fixture.open(50);
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(waiting.begin(), LedgerBusy);
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(50));
  CHECK_THROWS_AS(fixture.open(50).begin(), LedgerBusy);
  { const auto done = std::move(held); }
  auto patient = fixture.open();
  CHECK(release(patient, kTenth, Rational(1)).seq == 1);
}

TEST_CASE("open: a turn that is not free at once is not waited for", "[ledger][open][lock]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto other = fixture.open();
  for (ledger::Ledger* const holder : {&ledger, &other}) {
    const auto turn = holder->begin();
    CHECK_FALSE(ledger.begin_within({}).has_value());
  }
  {
    const int queue = ::open(fixture.sibling(".queue").c_str(), O_RDWR);
    REQUIRE(::flock(queue, LOCK_EX) == 0);
    CHECK_FALSE(ledger.begin_within({}).has_value());  // somebody stands in the line
    ::close(queue);
  }
  auto transaction = ledger.begin_within({});
  REQUIRE(transaction.has_value());
  record_release(*transaction, kTenth, Rational(1));
  CHECK(ledger.commit(std::move(*transaction)).at(0).seq == 1);
  REQUIRE(ledger::write_poison(ledger::locate(fixture.path), "on purpose"));
  CHECK_THROWS_AS(ledger.begin_within({}), LedgerIo);
  CHECK_THROWS_AS(ledger::Ledger::open_read_only(fixture.path).begin_within({}), InvalidParameter);
}

TEST_CASE("open: a turn that is waited for within a time comes in it, or not at all",
          "[ledger][open][lock]") {
  using std::chrono::milliseconds;
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto other = fixture.open();
  auto held = std::make_unique<ledger::Transaction>(other.begin());
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(ledger.begin_within(milliseconds(50)).has_value());
  CHECK(std::chrono::steady_clock::now() - start >= milliseconds(50));
  std::thread holder([&held] {
    std::this_thread::sleep_for(milliseconds(50));
    held.reset();
  });
  {
    auto transaction = ledger.begin_within(milliseconds(30'000));
    CHECK(transaction.has_value());
  }
  holder.join();
  release(other, kTenth, Rational(1));
}

TEST_CASE("open: a foreign program holding SQLite's own lock makes us busy, not wrong",
          "[ledger][open][lock]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(fixture.path.c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
  CHECK_THROWS_WITH(ledger.begin(), says("another process holds SQLite's write lock, process " +
                                         std::to_string(::getpid()) + " ("));
  CHECK_THROWS_AS(ledger.begin(), LedgerBusy);
  sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  CHECK(release(ledger, kTenth, Rational(1)).seq == 1);
  CHECK_FALSE(ledger.poison_reason());
}

TEST_CASE("open: a directory that cannot be written to is read, never written", "[ledger][open]") {
  const LedgerFixture fixture;
  const std::string& directory = fixture.directory.path();
  release(fixture.open(), kTenth, Rational(3));
  const auto seal = [&] {
    const bool root = ::geteuid() == 0;  // root must hand it over: as_nobody could not read it
    for (const auto& entry : fs::directory_iterator(directory)) {
      REQUIRE(::chmod(entry.path().c_str(), 0440) == 0);
      if (root) REQUIRE(::chown(entry.path().c_str(), 65534, 65534) == 0);
    }
    if (root) REQUIRE(::chown(directory.c_str(), 65534, 65534) == 0);
    REQUIRE(::chmod(directory.c_str(), 0555) == 0);
  };
  SECTION("with an empty WAL beside it") {
    seal();
    CHECK(as_nobody([&] {
            if (fixture.look().decision_count() != 1) throw std::runtime_error("not read");
          }) == 0);
  }
  SECTION("with the file alone") {
    fs::remove(fixture.sibling("-wal"));
    fs::remove(fixture.sibling("-shm"));
    seal();
    CHECK(as_nobody([&] {
            if (fixture.look().find_by_id("x") || fixture.look().decision_count() != 1)
              throw std::runtime_error("not read");
          }) == 0);
  }
  SECTION("a WAL that cannot be read through is one clear error") {
    write_file(fixture.sibling("-wal"), std::string(5000, 'x'));
    fs::remove(fixture.sibling("-shm"));
    seal();
    CHECK(as_nobody([&] {
            try {
              static_cast<void>(fixture.look());
            } catch (const LedgerUnusable& error) {
              if (has_part(error.what(), "write-ahead log")) return;
            }
            throw std::runtime_error("no clear error");
          }) == 0);
  }
  SECTION("writing there is refused as read-only") {
    seal();
    CHECK(as_nobody([&] {
            try {
              auto ledger = fixture.open();
              static_cast<void>(ledger.begin());
            } catch (const LedgerUnusable& error) {
              if (!has_part(error.what(), "retry")) return;
            }
            throw std::runtime_error("no LedgerUnusable");
          }) == 0);
  }
  REQUIRE(::chmod(directory.c_str(), 0755) == 0);
}
