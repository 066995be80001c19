// Every error of the system, at every call of every file, in whatever is done with a ledger: what passes,
// what stands and what poisons is what file_verdict() says, and none of them is told as damage.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "connection.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "file_verdict.hpp"
#include "ledger/support/file_faults.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger/support/replicated.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;
using ledger::FileCall;
using ledger::FileVerdict;

namespace {

const std::vector<int> kErrors = {ENFILE, EMFILE, ENOMEM, ENOSPC, EDQUOT,
                                  EFBIG,  EIO,    EROFS,  EACCES, ETIMEDOUT};
/// A ledger with a decision, a replica that holds one more, and a copy of it as it was: what a verb needs.
struct Place {
  Place() : copy(elsewhere.path() + "/copy") {
    auto ledger = fixture.open();
    release(ledger, kHundredth, Rational(1), "before");
  }
  [[nodiscard]] ledger::Options options() const {
    auto options = replicating(fixture.directory.path());
    options.wait = std::chrono::milliseconds(5'000);
    return options;
  }

  ReplicatedLedger fixture;
  TemporaryDirectory elsewhere;
  std::string copy;
};

/// Something that is done with a ledger: a handle that is open before, and what is then asked of it.
struct Verb {
  const char* name;
  bool records;  ///< a decision, of the key "under fault"
  std::function<void(Place&)> prepare;
  std::function<void(Place&, ledger::Ledger&)> run;
};

void release_under_fault(Place&, ledger::Ledger& ledger) {
  if (ledger.snapshot().find_by_key("ada", "under fault")) return;
  release(ledger, kHundredth, Rational(42), "under fault");
}

void read(ledger::Ledger& ledger) {
  auto view = ledger.snapshot();
  if (view.find_by_key("ada", "before")->values != std::vector<Rational>{1})
    throw std::runtime_error("another value");
  if (!balances_fold(view)) throw std::runtime_error("balances do not add up");
}

void verify(ledger::Ledger& ledger) {
  auto view = ledger.snapshot();
  if (!ledger::Inspection(view).storage_faults(true).empty())
    throw LedgerCorrupt("a fault where there is none");
  view.each_line(0, [](std::string_view) {});
}

const std::vector<Verb>& verbs() {
  const auto nothing = [](Place&) {};
  static const std::vector<Verb> all = {
      {"release", true, nothing, release_under_fault},
      {"open and release", true, nothing,
       [](Place& place, ledger::Ledger&) {
         auto ledger = ledger::Ledger::open(place.fixture.path, place.options());
         release_under_fault(place, ledger);
       }},
      {"ask, then release", true, nothing,
       [](Place& place, ledger::Ledger&) {
         auto ledger = ledger::Ledger::open_on_demand(place.fixture.path, place.options());
         read(ledger);
         release_under_fault(place, ledger);
       }},
      {"read", false, nothing, [](Place&, ledger::Ledger& ledger) { read(ledger); }},
      {"open and read", false, nothing,
       [](Place& place, ledger::Ledger&) {
         auto ledger = ledger::Ledger::open_read_only(place.fixture.path, place.options());
         read(ledger);
       }},
      {"open and verify", false, nothing,
       [](Place& place, ledger::Ledger&) {
         auto ledger = ledger::Ledger::open_read_only(place.fixture.path, place.options());
         verify(ledger);
       }},
      {"backup", false, nothing,
       [](Place& place, ledger::Ledger&) {
         static_cast<void>(ledger::Ledger::backup(place.fixture.path, place.copy, {}, place.options()));
         fs::remove(place.copy);
       }},
      {"recover from the replica", false,
       [](Place& place) {
         copy_ledger(place.fixture.path, place.copy);
         release(place.fixture.open(), kHundredth, Rational(2), "lost");
         remove_ledger(place.fixture.path);
         copy_ledger(place.copy, place.fixture.path);
       },
       [](Place& place, ledger::Ledger&) {
         static_cast<void>(ledger::Ledger::recover_from(place.fixture.path, place.fixture.replica,
                                                        {.by = "cleo", .why = "a drill"}, place.options()));
       }},
  };
  return all;
}

/// A handle that is open while the verb runs, unless the verb brings its own.
std::unique_ptr<ledger::Ledger> opened(const Verb& verb, const Place& place) {
  return std::make_unique<ledger::Ledger>(
      verb.name == std::string("release")
          ? ledger::Ledger::open(place.fixture.path, place.options())
          : ledger::Ledger::open_read_only(place.fixture.path, place.options()));
}

std::map<FaultyCall, int> calls_of(const Verb& verb) {
  Place place;
  verb.prepare(place);
  FileFaults faults(place.fixture.path);
  auto ledger = opened(verb, place);
  faults.count();
  REQUIRE_NOTHROW(verb.run(place, *ledger));
  return faults.counted();
}

FileVerdict expected(const FaultyCall& call, int error) {
  return ledger::file_verdict(call.call, call.scratch ? ledger::FileRole::beside : ledger::FileRole::ledger,
                              error);
}

struct Tally {
  int cases = 0;
  int told = 0;
  int poisoned = 0;
};

void try_fault(const Verb& verb, const FaultyCall& call, int nth, std::size_t which, Tally& tally) {
  Place place;
  verb.prepare(place);
  const std::string marker = place.fixture.path + ".poisoned";
  const FileVerdict verdict = expected(call, kErrors[which]);
  const bool scratch = call.scratch;
  CAPTURE(verb.name, static_cast<int>(call.call), call.file, scratch, nth, ::strerrorname_np(kErrors[which]));
  FileFaults faults(place.fixture.path);
  auto ledger = opened(verb, place);
  faults.fail(call, nth, kErrors[which]);
  std::string message;
  const std::string outcome = outcome_of([&] { verb.run(place, *ledger); }, &message);
  CAPTURE(message);
  if (!faults.failed()) return;
  ++tally.cases;
  tally.told += outcome == "done" ? 0 : 1;
  static const std::set<std::string> kAllowed{"done", "busy", "replica", "replaced", "unusable", "poisoned"};
  CHECK(kAllowed.contains(outcome));
  if (verdict == FileVerdict::poison) {
    tally.poisoned += fs::exists(marker) ? 1 : 0;
    CHECK((outcome == "poisoned") == fs::exists(marker));
    return;
  }
  CHECK(outcome != "poisoned");
  CHECK_FALSE(fs::exists(marker));
  // SQLite may have opened it for reading only, and what this user may do is looked at afterwards.
  if (verdict == FileVerdict::transient) CHECK(outcome != "unusable");
  if (verb.records && outcome != "done") {
    auto view = ledger::Ledger::open_read_only(place.fixture.path).snapshot();
    CHECK_FALSE(view.find_by_key("ada", "under fault"));
  }
  CHECK_NOTHROW(verb.run(place, *ledger));  // the next request succeeds, by the same handle
  auto view = ledger::Ledger::open_read_only(place.fixture.path).snapshot();
  CHECK(balances_fold(view));
  CHECK(view.find_by_key("ada", "before")->values == std::vector<Rational>{1});
  if (verb.records) CHECK(view.find_by_key("ada", "under fault")->values == std::vector<Rational>{42});
}

struct Fault {
  const Verb* verb;
  FaultyCall call;
  int nth;
  std::size_t which;
};

std::vector<Fault> all_faults() {
  std::vector<Fault> all;
  for (const Verb& verb : verbs()) {
    for (const auto& [call, count] : calls_of(verb)) {
      for (int nth = 1; nth <= count; ++nth) {
        for (std::size_t which = 0; which < kErrors.size(); ++which) all.push_back({&verb, call, nth, which});
      }
    }
  }
  return all;
}

const char* word(FileVerdict verdict) {
  switch (verdict) {
    case FileVerdict::transient:
      return "passing";
    case FileVerdict::lasting:
      return "standing";
    case FileVerdict::poison:
      return "**poison**";
  }
  return "";
}

std::string table() {
  constexpr std::array kCalls = {FileCall::open, FileCall::read, FileCall::write, FileCall::sync};
  std::string rows =
      "| error | whose file | open | read | write | sync |\n"
      "|---|---|---|---|---|---|\n";
  for (const ledger::FileErrors& row : ledger::listed_file_errors()) {
    std::string names;
    for (const int error : row.errors)
      names += std::string(names.empty() ? "" : ", ") + ::strerrorname_np(error);
    if (row.errors.front() == EIO) names += ", and any other";
    for (const auto file : {ledger::FileRole::ledger, ledger::FileRole::beside}) {
      rows += "| " + names + (file == ledger::FileRole::ledger ? " | `L`, its log, its index" : " | another");
      for (const FileCall call : kCalls)
        rows += std::string(" | ") + word(ledger::file_verdict(call, file, row.errors.front()));
      rows += " |\n";
      // All of a row are judged alike.
      for (const int error : row.errors) {
        for (const FileCall call : kCalls)
          CHECK(ledger::file_verdict(call, file, error) ==
                ledger::file_verdict(call, file, row.errors.front()));
      }
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("file faults: a sample of all errors at all calls passes, stands or poisons as the table says",
          "[ledger][fault][files]") {
  constexpr std::size_t kSample = 120;
  std::vector<Fault> all = all_faults();
  REQUIRE(all.size() > 1'000);
  std::mt19937_64 random(36);
  std::shuffle(all.begin(), all.end(), random);
  Tally tally;
  for (std::size_t i = 0; i < kSample; ++i)
    try_fault(*all[i].verb, all[i].call, all[i].nth, all[i].which, tally);
  CHECK(tally.cases > 60);
  CHECK(tally.told > 30);
}

TEST_CASE("file faults: all errors at all calls pass, stand or poison as the table says",
          "[ledger][fault][files][.long]") {
  Tally tally;
  for (const Fault& fault : all_faults()) try_fault(*fault.verb, fault.call, fault.nth, fault.which, tally);
  CHECK(tally.cases > 1'000);
  CHECK(tally.poisoned > 10);
  WARN(tally.cases << " faults, " << tally.told << " told, " << tally.poisoned << " poisoned");
}

TEST_CASE(
    "file faults: a connection on which a file failed is opened anew by the next request, and no other is",
    "[ledger][fault][files]") {
  const Place place;
  FileFaults faults(place.fixture.path);
  const FaultyCall opens{FileCall::open, "", false};
  auto ledger = ledger::Ledger::open(place.fixture.path, place.options());
  const auto opened_by = [&](const char* key) {
    faults.count();
    release(ledger, kHundredth, Rational(1), key);
    return faults.counted().contains(opens) ? faults.counted().at(opens) : 0;
  };
  CHECK(opened_by("first") == 0);
  for (const auto& [call, error] : std::vector<std::pair<FaultyCall, int>>{
           {{FileCall::read, "", false}, EIO}, {{FileCall::write, "-wal", false}, ENOSPC}}) {
    {  // what this connection keeps of the pages in memory is read again then
      auto other = ledger::Ledger::open(place.fixture.path, place.options());
      release(other, kHundredth, Rational(1), "other " + std::to_string(error));
    }
    faults.fail(call, 1, error);
    CHECK_THROWS_AS(release(ledger, kHundredth, Rational(1), "under fault"), LedgerBusy);
    REQUIRE(faults.failed());
    CHECK(opened_by(("after " + std::to_string(error)).c_str()) == 1);
    CHECK(opened_by(("then " + std::to_string(error)).c_str()) == 0);
  }
}

TEST_CASE("file faults: a ledger on a read-only mount is read, and who would write is told that it stays so",
          "[ledger][fault][files][mount]") {
  const LedgerFixture fixture;
  for (const char* suffix : {".lock", ".queue"}) fs::remove(fixture.sibling(suffix));  // as of a copy
  constexpr int kNotAllowed = 40;
  const int status = in_child([&] {
    const char* const directory = fixture.directory.path().c_str();
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(directory, directory, nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(nullptr, directory, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      ::_exit(kNotAllowed);
    }
    if (fixture.look().decision_count() != 0) throw std::runtime_error("is not read");
    const std::vector<std::function<void()>> all = {
        [&] { static_cast<void>(fixture.open()); },
        [&] {
          auto ledger = ledger::Ledger::open_on_demand(fixture.path, {});
          static_cast<void>(ledger.snapshot().decision_count());
          static_cast<void>(ledger.begin());
        },
        [&] { static_cast<void>(ledger::Ledger::backup(fixture.path, "/tmp/never", {}, {})); },
    };
    for (const auto& writes : all) {
      try {
        writes();
      } catch (const LedgerUnusable& error) {
        if (std::string(error.what()).find("Read-only file system") != std::string::npos) continue;
        throw;
      }
      throw std::runtime_error("is written to");
    }
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) {
    WARN("mounting is not allowed here");
    return;
  }
  CHECK(status == 0);
}

TEST_CASE("file faults: the table in docs/recovery.md is the one that the program goes by",
          "[ledger][docs]") {
  CHECK(read_file(EPSILOG_RECOVERY_PAGE).find("\n" + table() + "\n") != std::string::npos);
  CHECK(ledger::file_verdict(FileCall::read, ledger::FileRole::ledger, ETIMEDOUT) == FileVerdict::transient);
  CHECK(ledger::file_verdict(FileCall::write, ledger::FileRole::ledger, ETIMEDOUT) == FileVerdict::poison);
}
