// Features that a newer program announced: this one says which, and neither writes nor judges past it.
#include "commit_mark.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/needs_feature.hpp"
#include "feature_of_test.hpp"
#include "known_features.hpp"
#include "ledger/support/json_parts.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"
#include "ledger/support/sample_records.hpp"
#include "lock_file.hpp"
#include "poison.hpp"
#include "records.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

const std::string kFeature = "of tomorrow";

/// A newer program announces the feature and records a release that needs it.
void write_as_newer(const ReplicatedLedger& of, const std::string& key = "newer") {
  const ledger::FeatureOfTest known(kFeature);
  auto ledger = of.open();
  auto transaction = ledger.begin();
  transaction.announce_feature(kFeature);
  record_release(transaction, kHundredth, Rational(7), key);
  static_cast<void>(ledger.commit(std::move(transaction)));
}

std::vector<std::string> known_lines(const ReplicatedLedger& of) {
  const ledger::FeatureOfTest known(kFeature);
  return lines_of(of.look());
}

/// The bytes of each file in the folder, but for the lock files, the index and an empty log.
std::vector<std::pair<std::string, std::string>> files_of(const std::string& directory) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".lock") || name.ends_with(".queue") || name.ends_with("-shm")) continue;
    if (name.ends_with("-wal") && fs::file_size(entry.path()) == 0) continue;
    files.emplace_back(name, read_file(entry.path()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

ledger::Options options_of(const ReplicatedLedger& of) {
  return replicating(of.directory.path());
}

using Way = std::pair<std::string, std::function<void(const ReplicatedLedger&)>>;

/// Every way by which a ledger is opened, read, written to, copied or recovered.
std::vector<Way> ways_in() {
  using ledger::Ledger;
  return {
      {"opening to write", [](const ReplicatedLedger& l) { (void)l.open(); }},
      {"opening to read", [](const ReplicatedLedger& l) { (void)l.look(); }},
      {"opening on demand",
       [](const ReplicatedLedger& l) { (void)Ledger::open_on_demand(l.path, options_of(l)); }},
      {"accepting a rollback",
       [](const ReplicatedLedger& l) { (void)Ledger::accept_rollback(l.path, "cleo", "w", options_of(l)); }},
      {"backup",
       [](const ReplicatedLedger& l) { (void)Ledger::backup(l.path, l.path + "-copy", {}, options_of(l)); }},
      {"restoring it",
       [](const ReplicatedLedger& l) {
         (void)Ledger::restore(l.path + "-elsewhere", l.path,
                               {.by = "cleo", .why = "w", .accept_rollback = true}, options_of(l));
       }},
      {"recovery from the replica", [](const ReplicatedLedger& l) {
         (void)Ledger::recover_from(l.path, l.replica, {.by = "cleo", .why = "w"}, options_of(l));
       }}};
}

void require_refused(const std::string& name, const std::function<void()>& way) {
  CAPTURE(name);
  try {
    way();
    FAIL("not refused");
  } catch (const ledger::NeedsFeature& error) {
    CHECK(error.feature() == kFeature);
    CHECK(std::string(error.what()).ends_with(" needs feature of tomorrow: use a newer Epsilog"));
  }
}

}  // namespace

TEST_CASE("features: a program that knows one announces it once, before what needs it, and goes on",
          "[ledger][feature]") {
  const ReplicatedLedger fixture;
  const ledger::FeatureOfTest known(kFeature);
  write_as_newer(fixture);
  write_as_newer(fixture, "again");
  const std::vector<std::string> lines = known_lines(fixture);
  const auto announces = [](const std::string& line) { return ledger::announced_feature(line) == kFeature; };
  CHECK(std::count_if(lines.begin(), lines.end(), announces) == 1);
  const auto announced = std::find_if(lines.begin(), lines.end(), announces);
  REQUIRE(announced != lines.end());
  CHECK(announced + 1 != lines.end());
  CHECK((announced + 1)->find(R"("kind":"plan")") != std::string::npos);
  CHECK(replica_fault(fixture.replica, fixture.look()).empty());
  auto view = fixture.look();
  CHECK(ledger::Inspection(view).record_faults().empty());
  CHECK(ledger::Ledger::import_lines(fixture.path + "-imported", each_of(lines)) ==
        static_cast<std::int64_t>(lines.size()));
}

TEST_CASE("features: a program announces none that it does not know", "[ledger][feature]") {
  const ReplicatedLedger fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  CHECK_THROWS_AS(transaction.announce_feature(kFeature), InvalidParameter);
}

TEST_CASE("features: every way into a ledger names the feature that it lacks, and changes no byte",
          "[ledger][feature]") {
  const ReplicatedLedger fixture;
  write_as_newer(fixture);
  const bool own_table = GENERATE(false, true);
  CAPTURE(own_table);
  if (own_table) {  // a feature may bring tables, and lines of a kind that is known with it alone
    REQUIRE(run_sql(fixture.path,
                    "CREATE TABLE tomorrow(no INTEGER PRIMARY KEY) STRICT;"
                    "INSERT INTO log VALUES(1 + (SELECT max(line_index) FROM log), 15, 1, zeroblob(16),"
                    " zeroblob(32)); UPDATE meta SET log_size = log_size + 1")
                .empty());
  }
  const auto before = files_of(fixture.directory.path());
  for (const auto& [name, way] : ways_in()) {
    require_refused(name, [&, &enter = way] { enter(fixture); });
    CHECK(files_of(fixture.directory.path()) == before);
  }
  CHECK_FALSE(fs::exists(fixture.path + ".poisoned"));
  write_file(fixture.path + ".poisoned", "no text of ours");
  require_refused("recovery state", [&] { (void)ledger::Ledger::recovery_state(fixture.path); });
  require_refused("recovery", [&] {
    ledger::Ledger::clear_poison(fixture.path, "another boot", {.by = "cleo"}, options_of(fixture));
  });
  fs::remove(fixture.path + ".poisoned");
  if (own_table) return;
  const ledger::FeatureOfTest known(kFeature);  // and the newer program goes on
  auto ledger = fixture.open();
  release(ledger, kHundredth, Rational(8));
}

TEST_CASE("features: what a newer program writes under an open ledger is met at the next turn and snapshot",
          "[ledger][feature]") {
  const ReplicatedLedger fixture;
  auto writer = fixture.open();
  release(writer, kHundredth, Rational(1), "before");
  const auto reader = ledger::Ledger::open_read_only(fixture.path);
  auto slices = reader.snapshot();
  slices.close_between_reads();
  CHECK(slices.decision_count() == 1);
  write_as_newer(fixture);
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"a turn", [&] { (void)writer.begin(); }},
      {"a turn that does not wait", [&] { (void)writer.begin_within(std::chrono::milliseconds(0)); }},
      {"a turn to apply a policy", [&] { (void)writer.begin_to_apply(policy("version: 1 # 2\n")); }},
      {"a snapshot of the writer", [&] { (void)writer.snapshot(); }},
      {"a snapshot of a reader", [&] { (void)reader.snapshot(); }},
      {"the next slice of a snapshot", [&] { (void)slices.decision_count(); }},
      {"a snapshot that is held again", [&] { slices.keep_open(); }}};
  for (int round = 1; round <= 2; ++round) {
    for (const auto& [name, call] : calls) require_refused(name, call);
  }
  CHECK_FALSE(fs::exists(fixture.path + ".poisoned"));
  const ledger::FeatureOfTest known(kFeature);
  release(writer, kHundredth, Rational(2), "after");
  CHECK(reader.snapshot().decision_count() == 3);
}

TEST_CASE("features: what an interrupted COMMIT of a newer program left is not settled by one that lacks it",
          "[ledger][feature]") {
  const ReplicatedLedger fixture;
  const int status = in_child([&] {
    const ledger::FeatureOfTest known(kFeature);
    auto options = options_of(fixture);
    auto ledger = ledger::Ledger::open(fixture.path, options);
    commit_one(ledger, [&](auto& t) { t.announce_feature(kFeature); });
    const auto lock = ledger::open_lock_file(ledger::locate(fixture.path), fixture.path + ".lock");
    std::_Exit(ledger::write_commit_mark(
        lock.get(),
        {.state = ledger::CommitMark::State::committing, .boot_id = ledger::current_boot_id(), .first = 1}));
  });
  REQUIRE(status == 0);
  const auto before = files_of(fixture.directory.path());
  for (const auto& [name, way] : ways_in()) require_refused(name, [&, &enter = way] { enter(fixture); });
  CHECK(files_of(fixture.directory.path()) == before);
  CHECK(ledger::read_commit_mark(ledger::locate(fixture.path)).state ==
        ledger::CommitMark::State::committing);
}

TEST_CASE("features: a replica that a newer program wrote is named, whatever ledger it is held against",
          "[ledger][feature][replica]") {
  const ReplicatedLedger fixture;
  release(fixture.open(), kHundredth, Rational(1), "before");
  const std::string older = fixture.path + "-older";
  copy_ledger(fixture.path, older);
  write_as_newer(fixture);
  const std::string written = read_file(fixture.replica);
  SECTION("an older copy of the ledger") {
    remove_ledger(fixture.path);
    copy_ledger(older, fixture.path);
    forget_end(fixture.path);
    require_refused("a turn", [&] { (void)fixture.open().begin(); });
    require_refused("recovery from it", [&] {
      (void)ledger::Ledger::recover_from(fixture.path, fixture.replica, {.by = "cleo", .why = "w"},
                                         options_of(fixture));
    });
  }
  SECTION("a backup of the older one") {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(fixture.path + suffix);
    fs::remove(fixture.path + ".lock");
    require_refused("restore", [&] {
      (void)ledger::Ledger::restore(fixture.path, older, {.by = "cleo"}, options_of(fixture));
    });
    CHECK_FALSE(fs::exists(fixture.path));
  }
  SECTION("no ledger at all") {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(fixture.path + suffix);
    require_refused("recovery from it", [&] {
      (void)ledger::Ledger::recover_from(fixture.path, fixture.replica, {.by = "cleo", .why = "w"},
                                         options_of(fixture));
    });
    CHECK_FALSE(fs::exists(fixture.path));
  }
  CHECK(read_file(fixture.replica) == written);
}

TEST_CASE("features: an import stops at the line that announces one, and judges nothing behind it",
          "[ledger][feature]") {
  const ReplicatedLedger fixture;
  write_as_newer(fixture);
  std::vector<std::string> lines = known_lines(fixture);
  lines.emplace_back("no line at all");
  const std::string imported = fixture.path + "-imported";
  require_refused("import", [&] { (void)ledger::Ledger::import_lines(imported, each_of(lines)); });
  CHECK_FALSE(fs::exists(imported));
  const ledger::FeatureOfTest known(kFeature);
  CHECK_THROWS_AS(ledger::Ledger::import_lines(imported, each_of(lines)), LedgerCorrupt);
}

namespace {

/// A line of a kind, with all that it can have.
std::string line_of_kind(const std::string& kind) {
  for (const auto& [name, sample] : full_records()) {
    const std::string line = ledger::line_text(sample, sample_decimals);
    if (ledger::parse_canonical(line).at("kind").text() == kind) return line;
  }
  FAIL("no sample of " << kind);
  return "";
}

/// The line with one member set, in the object that has this name; "" the record itself.
std::string with(const std::string& kind, const std::string& object, const std::string& member,
                 const std::string& value) {
  JsonParts line(line_of_kind(kind));
  auto* members = &line.members;
  for (auto& [name, part] : line.members) {
    if (name == object) members = &part.members;
  }
  std::erase_if(*members, [&](const auto& known) { return known.first == member; });
  members->emplace_back(member, JsonParts(value));
  std::sort(members->begin(), members->end(),
            [](const auto& first, const auto& second) { return first.first < second.first; });
  return line.written();
}

}  // namespace

TEST_CASE("features: reserved names are faults without the line of their feature",
          "[ledger][feature][record]") {
  std::vector<std::string> lines;
  for (const char* kind : {"attachment", "measurement_result", "issuer_revocation"}) {
    lines.push_back(with("key", "", "kind", std::string("\"") + kind + '"'));
  }
  lines.push_back(with("decision", "", "via", R"("oidc:c1")"));
  lines.push_back(with("decision", "", "attachment", "1"));
  lines.push_back(with("credential", "", "type", R"("oidc")"));
  lines.push_back(with("credential", "", "issuer", R"("https://id.example.org")"));
  lines.push_back(with("credential", "", "replaces", R"("c0")"));
  lines.push_back(with("plan", "release", "order", R"("rule")"));
  lines.push_back(with("plan", "release", "first_by", R"(["visit"])"));
  lines.push_back(with("relocation", "", "paths", R"(["/srv/a","/srv/b"])"));
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK_THROWS_AS(ledger::parse_line(line, sample_decimals), LedgerCorrupt);
  }
  for (const char* kind : {"key", "decision", "credential", "plan", "relocation"}) {
    CHECK_NOTHROW(ledger::parse_line(line_of_kind(kind), sample_decimals));
  }
}
