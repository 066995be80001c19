// A source that was moved: every reader goes by the newest place, diff and apply agree on what that is, and
// the audit knows it.

#include "copied_ledger.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "refused_for.hpp"
#include "replaced_text.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void make_table(const std::string& path, const std::string& table) {
  sql_rows(path, "CREATE TABLE " + table + "(patient_id, age, cost, ward)");
}

/// The clinic's file under another name, and nothing where it was.
std::string moved(const Clinic& clinic, const std::string& name = "moved.csv") {
  std::filesystem::rename(clinic.folder.path("visits.csv"), clinic.folder.path(name));
  return clinic.folder.path(name);
}

/// What apply would refuse; that it does just so is checked.
std::vector<PolicyFault> refused(Engine& engine, const std::string& policy) {
  std::vector<PolicyFault> told = engine.review(policy).refused;
  std::size_t faults = 0;
  try {
    (void)engine.apply_policy(policy, "curator", "test");
  } catch (const PolicyError& error) {
    faults = error.faults().size();
  }
  CHECK(told.size() == faults);
  return told;
}

}  // namespace

TEST_CASE(
    "relocate: a charged dataset whose file was moved is released again, and the audit says who moved it",
    "[engine][relocate]") {
  auto [clinic, engine] = Open<Clinic>();
  REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  const std::string before = clinic.folder.path("visits.csv");
  const std::string path = moved(clinic);
  CHECK_THROWS_AS(release(engine, request("count", "0.1")), SourceError);
  CHECK(engine.source_of("clinic") == before);

  const engine::RelocateReport report = engine.relocate("clinic", path, "carol", "new server");
  CHECK(report.changed);
  CHECK(report.from == before);
  CHECK(report.to == path);
  CHECK(engine.source_of("clinic") == path);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  Engine other = clinic.open();
  const std::vector<engine::Request> both{request("count", "0.1"), request("units", "0.1")};
  CHECK(release_many(other, both).at(1).recorded.granted);

  const engine::AuditReport audit = engine::audit_verify(clinic.ledger());
  CHECK(audit.ok);
  REQUIRE(audit.relocations.size() == 1);
  CHECK(audit.relocations[0].seq == 1);
  CHECK(audit.relocations[0].event == 2);
  CHECK(audit.relocations[0].after_decision == 1);
  CHECK(audit.relocations[0].dataset == "clinic");
  CHECK(audit.relocations[0].path == path);
  CHECK(audit.relocations[0].at == report.at);
  CHECK(audit.relocations[0].by == "carol");
  CHECK(audit.relocations[0].why == "new server");
  CHECK(engine.relocations("").size() == 1);
  CHECK(engine.relocations("clinic").size() == 1);
  CHECK(engine.relocations("other").empty());

  CHECK_FALSE(engine.relocate("clinic", path, "carol", "again").changed);
  CHECK(engine.relocations("").size() == 1);
  const std::string last = clinic.folder.path("last.csv");
  std::filesystem::rename(path, last);
  CHECK(engine.relocate("clinic", last, "dave", "tidied up").from == path);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  CHECK(audit_faults(clinic.ledger()) == "");
}

TEST_CASE("relocate: a relative path is relative to the working directory", "[engine][relocate]") {
  auto [clinic, engine] = Open<Clinic>();
  const std::string path = moved(clinic);
  const std::string here = std::filesystem::relative(path).string();
  REQUIRE(here.front() != '/');
  CHECK(engine.relocate("clinic", here, "carol", "test").to == path);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
}

TEST_CASE("relocate: who finds no source is told of it, by the name of the dataset",
          "[engine][relocate][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  engine::Request held = request("count", "0.1");
  held.reservation = engine::ReservationKind::reserved;
  const std::string id = engine.reserve(held, {}).recorded.decision_id;
  const std::string path = clinic.folder.path("visits.csv");
  const std::string advice = "csv '" + path +
                             "': No such file or directory. If it was moved, a curator says where it is now: "
                             "epsilog relocate clinic --source FILE --why TEXT";
  const auto release_says = [&] {
    return refused_for([&] { (void)release(engine, request("count", "0.1")); });
  };
  std::filesystem::rename(path, path + ".moved");
  CHECK(release_says() == advice);
  CHECK(refused_for([&] { (void)commit(engine, id); }) == advice);
  CHECK(audit_faults(clinic.ledger()) == "");
  clinic.folder.write("visits.csv", "other,columns\n1,2\n");
  CHECK(release_says() == "csv '" + path + "': has no column 'patient_id'");
}

TEST_CASE("relocate: what is no such source is refused, and nothing is recorded",
          "[engine][relocate][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  const auto& folder = clinic.folder;
  const auto relocate = [&](const std::string& path, const std::string& why = "test") {
    return engine.relocate("clinic", path, "carol", why);
  };
  const auto said = [&](const std::string& path) { return refused_for([&] { (void)relocate(path); }); };
  const std::string absent = folder.path("absent.csv");
  CHECK(said(absent) == "csv '" + absent + "': No such file or directory");
  CHECK(contains(said(folder.path("")), "is a directory"));
  CHECK(said(folder.write("other.csv", "a,b\n1,2\n")) ==
        "csv '" + folder.path("other.csv") + "': has no column 'patient_id'");
  CHECK(contains(said(clinic.ledger()), "belongs to the ledger"));
  CHECK(contains(said(clinic.ledger() + "-shm"), "belongs to the ledger"));
  make_table(folder.path("visits.db"), "visits");
  CHECK_THROWS_AS(relocate(folder.path("visits.db")), SourceError);
  CHECK(said("") == "source: no path is named");
  CHECK(said("a\nb") == "source: contains a control character");
  CHECK(said(std::string("visits.csv\0x", 12)) == "source: contains a control character");
  CHECK(said("visits\xff.csv") == "source: is not UTF-8");
  const std::string visits = folder.path("visits.csv");
  CHECK_THROWS_WITH(relocate(visits, ""), "why: a relocation needs a reason, which is kept with it");
  CHECK_THROWS_WITH(relocate(visits, "  "), "why: has blanks only");
  CHECK_THROWS_WITH(engine.relocate("clinic", visits, "", "test"),
                    "by: who relocates the source is not named");
  CHECK_THROWS_AS(engine.relocate("clinc", visits, "carol", "test"), NotFound);
  CHECK(engine.relocations("").empty());
  CHECK(engine.source_of("clinic") == folder.path("visits.csv"));
  CHECK(audit_faults(clinic.ledger()) == "");
}

TEST_CASE("relocate: a dataset without a source has none to move", "[engine][relocate][negative]") {
  const TemporaryFolder folder;
  folder.write("policy.yaml", replaced(clinic_policy("epsilon: 3"), "    source: {csv: visits.csv}\n", ""));
  (void)Engine::init(folder.path("policy.yaml"), folder.path("L"), "curator");
  Engine engine = Engine::open(folder.path("L"));
  CHECK(engine.source_of("clinic").empty());
  const std::string visits = folder.write("visits.csv", kVisits);
  CHECK_THROWS_WITH(engine.relocate("clinic", visits, "carol", "test"),
                    "dataset 'clinic' has no source: its values come from outside");
}

TEST_CASE("relocate: an SQLite source moves with its table, and not to a CSV file", "[engine][relocate]") {
  const TemporaryFolder folder;
  const auto fill = [&](const std::string& name, const std::string& table) {
    make_table(folder.path(name), table);
    return folder.path(name);
  };
  fill("a.db", "visits");
  folder.write("policy.yaml",
               replaced(clinic_policy("epsilon: 3"), "{csv: visits.csv}", "{sqlite: a.db, table: visits}"));
  (void)Engine::init(folder.path("policy.yaml"), folder.path("L"), "curator");
  Engine engine = Engine::open(folder.path("L"));
  REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  const std::string csv = folder.write("visits.csv", kVisits);
  CHECK_THROWS_AS(engine.relocate("clinic", csv, "carol", "test"), SourceError);
  const std::string another = fill("c.db", "others");
  CHECK(contains(refused_for([&] { (void)engine.relocate("clinic", another, "carol", "test"); }), "visits"));
  CHECK(engine.relocate("clinic", fill("b.db", "visits"), "carol", "test").changed);
  std::filesystem::remove(folder.path("a.db"));
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  // Another table is another source, whatever the path.
  const std::string other = folder.write(
      "other.yaml",
      replaced(clinic_policy("epsilon: 3"), "{csv: visits.csv}", "{sqlite: a.db, table: others}"));
  CHECK(refused(engine, other).size() == 1);
}

TEST_CASE("relocate: what waits is committed from the newest place", "[engine][relocate][requests]") {
  WaitingClinic waiting;
  const auto reserved = waiting.reserve("count", "0.1");
  const auto pending = waiting.reserve("count", "0.6");
  REQUIRE(pending.recorded.state == RequestState::pending);
  const std::string path = moved(waiting.clinic);
  CHECK_THROWS_AS(waiting.commit(reserved.recorded.decision_id), SourceError);
  CHECK(waiting.engine.relocate("clinic", path, "carol", "test").changed);
  CHECK(waiting.commit(reserved.recorded.decision_id).recorded.granted);
  (void)waiting.engine.approve(pending.recorded.decision_id, "carol");
  (void)waiting.engine.approve(pending.recorded.decision_id, "dave");
  CHECK(waiting.commit(pending.recorded.decision_id).recorded.granted);
  CHECK(waiting.audit() == "");
}

TEST_CASE("relocate: whoever read the old place while it was relocated reads the new one",
          "[engine][relocate][requests]") {
  WaitingClinic waiting;
  Engine other = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
  const std::string next = waiting.clinic.folder.write("next.csv", kVisits);
  const std::string last = waiting.clinic.folder.write("last.csv", kVisits);
  mechanisms::SystemBits bits;
  std::size_t reads = 0;
  const auto relocating_to = [&](const std::string& path) {
    return [&other, &reads, path](double) {
      if (++reads == 1) CHECK(other.relocate("clinic", path, "carol", "test").changed);
    };
  };
  CHECK(waiting.engine.release(request("count", "0.1"), bits, {}, relocating_to(next)).recorded.granted);
  const std::size_t of_release = reads;
  CHECK(of_release > 1);  // once more, from there
  const auto reserved = waiting.reserve("count", "0.1");
  reads = 0;
  CHECK(waiting.engine.commit(reserved.recorded.decision_id, "alice", {}, bits, {}, relocating_to(last))
            .recorded.granted);
  CHECK(reads == of_release);
  CHECK(waiting.balance() == "0.2/0");
  CHECK(waiting.audit() == "");
}

TEST_CASE("relocate: a policy that writes the source as before keeps its place, from any folder",
          "[engine][relocate][policy]") {
  auto [clinic, engine] = Open<Clinic>();
  REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  const std::string path = moved(clinic);
  REQUIRE(engine.relocate("clinic", path, "carol", "moved").changed);

  const std::string policy = clinic_policy("epsilon: 2");
  CHECK(refused(engine, clinic.folder.write("tighter.yaml", policy)).empty());
  CHECK(engine.source_of("clinic") == path);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  // It is written down, so that a reader needs the newest version and what came after it only.
  REQUIRE(engine.relocations("").size() == 2);
  CHECK(engine.relocations("")[1].path == path);
  CHECK(engine.relocations("")[1].by == "curator");

  const TemporaryFolder elsewhere;
  CHECK(refused(engine, elsewhere.write("policy.yaml", policy + "# from elsewhere\n")).empty());
  CHECK(engine.source_of("clinic") == path);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);

  // Written so that it leads there, it needs nothing more.
  const auto named = [&](const std::string& file) {
    return replaced(policy, "csv: visits.csv", "csv: '" + file + "'");
  };
  const std::string direct = clinic.folder.write("direct.yaml", named("moved.csv"));
  const auto changes = engine.review(direct).changes;
  REQUIRE(changes.size() == 1);
  CHECK_FALSE(changes[0].refused_once_charged);
  const std::size_t recorded = engine.relocations("").size();
  CHECK(refused(engine, direct).empty());
  CHECK(engine.relocations("").size() == recorded);
  CHECK(engine.source_of("clinic") == path);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);

  // And any other path names another source: also the one it had at first.
  const std::string first = clinic.folder.write("first.yaml", named("visits.csv"));
  clinic.folder.write("visits.csv", kVisits);
  CHECK(engine.review(first).changes.at(0).refused_once_charged);
  CHECK(refused(engine, first).size() == 1);
  CHECK(audit_faults(clinic.ledger()) == "");
}

TEST_CASE("relocate: a project that was moved with its policy is applied from its new folder",
          "[engine][relocate][policy]") {
  const Clinic clinic;
  const TemporaryFolder elsewhere;
  Engine engine = clinic.open();
  REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  const std::string visits = elsewhere.write("visits.csv", kVisits);
  std::filesystem::remove(clinic.folder.path("visits.csv"));
  const std::string policy = elsewhere.write("policy.yaml", clinic_policy("epsilon: 3"));
  // The same bytes are the same policy, and its sources stay where they are until somebody says otherwise.
  CHECK_FALSE(engine.apply_policy(policy, "curator", "test").changed);
  CHECK(engine.source_of("clinic") == clinic.folder.path("visits.csv"));
  CHECK(engine.relocate("clinic", visits, "curator", "moved").changed);
  CHECK(refused(engine, elsewhere.write("policy.yaml", clinic_policy("epsilon: 3") + "# moved\n")).empty());
  CHECK(engine.relocations("").size() == 1);  // from there it leads there
  CHECK(engine.source_of("clinic") == visits);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  CHECK(audit_faults(clinic.ledger()) == "");
}

TEST_CASE("relocate: an uncharged dataset goes where a policy writes another path, and forgets where it was",
          "[engine][relocate][policy]") {
  auto [clinic, engine] = Open<Clinic>();
  REQUIRE(engine.relocate("clinic", moved(clinic), "carol", "moved").changed);
  const std::string other = clinic.folder.write("other.csv", kVisits);
  const std::string policy = replaced(clinic_policy("epsilon: 3"), "visits.csv", "other.csv");
  CHECK(refused(engine, clinic.folder.write("other.yaml", policy)).empty());
  CHECK(engine.source_of("clinic") == other);
  CHECK(release(engine, request("count", "0.1")).recorded.granted);
  CHECK(audit_faults(clinic.ledger()) == "");
}

TEST_CASE("relocate: a forged relocation is found", "[engine][relocate][audit][negative]") {
  const Clinic clinic;
  {
    Engine engine = clinic.open();
    REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
  }
  const std::string forged =
      "INSERT INTO relocation(seq, event, after_decision, dataset, path, at, by, why)"
      " SELECT 1, 2, 1, 'clinic', '/etc/passwd', last_time, 'eve', 'x' FROM meta;";
  const std::string counted = "UPDATE meta SET relocations = 1, events = 2;";
  const auto faults_after = [&](const std::string& sql) {
    const TemporaryFolder copy;
    std::filesystem::copy_file(clinic.ledger(), copy.path("L"));
    tamper_with_log(copy.path("L"), sql);
    return audit_faults(copy.path("L"));
  };
  CHECK(audit_faults(clinic.ledger()) == "");
  CHECK(contains(faults_after(forged), "relocations count_differs: 0 were recorded, 1 are there"));
  // One that is counted says what a curator could have said.
  CHECK(faults_after(forged + counted) == "");
  CHECK(faults_after(replaced(forged, "'/etc", "'etc") + counted) ==
        "relocation 1 event_differs: names no absolute path\n");
  CHECK(faults_after(replaced(forged, "'/etc/passwd'", "''") + counted) ==
        "relocation 1 event_differs: names no absolute path\n");
  CHECK(
      faults_after(replaced(forged, "'clinic'", "'clinics'") + counted) ==
      "relocation 1 relocation_unfounded: is of the source of dataset 'clinics', and policy 1, active then, "
      "declares none\n");
  CHECK(contains(faults_after(replaced(forged, "1, 2, 1,", "1, 3, 1,") + counted), "event_order"));
  CHECK(contains(faults_after(replaced(forged, "1, 2, 1,", "1, 2, 7,") + counted), "event_order"));
  const std::string later = replaced(forged, "last_time", "32472144000000");
  CHECK(contains(faults_after(later + counted), "event_time"));
}

TEST_CASE("relocation: a path that begins at a directory which is gone has no place, nor has a policy's",
          "[engine][relocate][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  const TemporaryFolder folder;
  const std::string policy = folder.path("policy.yaml");
  std::filesystem::copy_file(clinic.folder.path("policy.yaml"), policy);
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(folder.path("gone"));
  std::filesystem::current_path(folder.path("gone"));
  std::filesystem::remove(folder.path("gone"));
  const std::string said =
      refused_for([&] { (void)engine.relocate("clinic", "visits.csv", "carol", "test"); });
  const std::string applied =
      refused_for([&] { (void)engine.apply_policy("../policy.yaml", "carol", "test"); });
  const std::string made =
      refused_for([&] { (void)Engine::init("../policy.yaml", folder.path("l"), "carol"); });
  std::filesystem::current_path(before);
  CHECK(said == "source: 'visits.csv' begins at the current directory, which does not exist any more");
  CHECK(applied == "policy: '../policy.yaml' begins at the current directory, which does not exist any more");
  CHECK(made == applied);
  CHECK_FALSE(std::filesystem::exists(folder.path("l")));
}
