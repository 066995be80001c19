// An audit says the same for any number of threads and any slices, of a sound ledger and of a damaged one.
#include "audit_threads.hpp"
#include "clinic.hpp"
#include "decision_read_ahead.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Threads;
using namespace std::chrono_literals;

namespace {

constexpr int kDecisions = 300;  // more than are ever read ahead

std::vector<std::string> lines(const std::vector<engine::AuditFault>& faults) {
  std::vector<std::string> found;
  for (const engine::AuditFault& fault : faults)
    found.push_back(fault.record + " | " + fault.code + " | " + fault.message);
  return found;
}

/// What is told of each decision, and then the report.
std::vector<std::string> told(Threads threads, const std::string& ledger, bool of_each,
                              std::chrono::milliseconds slice = engine::kSlice) {
  std::vector<std::string> found;
  const auto visit = [&found](const engine::ReplayedDecision& decision) {
    found.push_back(std::to_string(decision.seq) + " " + decision.decision_id + " " + decision.outcome);
    for (const std::string& fault : lines(decision.faults)) found.push_back(fault);
  };
  accounting::CallbackRef<void(const engine::ReplayedDecision&)> told_of_each;
  if (of_each) told_of_each = visit;
  const auto report = engine::audit_replay_by(threads, ledger, told_of_each, {}, engine::StorageCheck::full,
                                              engine::Poison::is_no_fault, slice);
  found.push_back(std::to_string(report.records) + (report.ok ? " sound" : " not sound"));
  for (const auto& part : {lines(report.faults), lines(report.notes)})
    found.insert(found.end(), part.begin(), part.end());
  return found;
}

/// Grants, refusals and reservations that are posted, given back or open.
void live(const Clinic& clinic) {
  engine::Engine engine = clinic.open();
  mechanisms::SystemBits bits;
  for (int i = 0; i < 8; ++i) {
    engine::Request held = supplied("", "0.01");
    held.supplied = {};
    held.reservation = engine::ReservationKind::reserved;
    const std::string id = engine.reserve(held, {}).recorded.decision_id;
    if (i % 3 == 0) static_cast<void>(engine.commit(id, held.principal, std::string("3"), bits, {}));
    if (i % 3 == 1) static_cast<void>(engine.cancel(id, held.principal));
  }
  std::vector<engine::Request> requests;
  for (int i = 0; i < kDecisions; ++i)
    requests.push_back(supplied("3", i % 50 == 49 ? "100" : "0.001", "key " + std::to_string(i)));
  static_cast<void>(release_many(engine, requests));
}

void damage_by_turns(const Clinic& clinic, const std::vector<std::string>& damages, bool of_each) {
  const std::string sound = clinic.folder.path("sound");
  std::filesystem::copy_file(clinic.ledger(), sound);
  for (const std::string& damage : damages) {
    CAPTURE(damage);
    std::filesystem::copy_file(sound, clinic.ledger(), std::filesystem::copy_options::overwrite_existing);
    if (!damage.empty()) tamper(clinic.ledger(), damage);
    const auto by_one = told(Threads::one, clinic.ledger(), false, ledger::kUnlimitedSlice);
    CHECK(by_one.size() > (damage.empty() ? 0U : 1U));
    CHECK(told(Threads::one, clinic.ledger(), false, 0ms) == by_one);
    CHECK(told(Threads::several, clinic.ledger(), false) == by_one);
    if (!of_each) continue;
    CHECK(told(Threads::several, clinic.ledger(), true, 0ms) ==
          told(Threads::one, clinic.ledger(), true, ledger::kUnlimitedSlice));
  }
}

struct Enough {};

}  // namespace

TEST_CASE("audit: it says the same by several threads as by one, faults in the same order",
          "[engine][audit][threads][negative]") {
  const Clinic clinic("epsilon: 3");
  live(clinic);
  damage_by_turns(
      clinic,
      {"", "UPDATE decision SET dataset = principal WHERE seq % 40 = 0",
       "UPDATE movement SET spent_change = spent_change + 1 WHERE seq % 30 = 0",
       "UPDATE decision SET plan = 1 WHERE seq % 70 = 0", "UPDATE decision SET rules = 99 WHERE seq % 60 = 0",
       "DELETE FROM decision WHERE seq IN (17, 100)",
       "UPDATE decision SET \"values\" = '[1]' WHERE seq % 25 = 0 AND \"values\" <> ''",
       "UPDATE decision SET time = 946684800000 WHERE seq = 200 AND deadline = 0",
       "UPDATE policy_version SET yaml = yaml || ' '",
       "UPDATE account SET spent = spent + 1; DELETE FROM open_decision",
       "UPDATE meta SET decisions = decisions + 5, events = events + 1",
       "DROP INDEX decision_by_key; UPDATE decision SET key = 'key 3' WHERE seq > 290",
       "UPDATE log SET leaf = zeroblob(32) WHERE line_index % 50 = 3; DELETE FROM log WHERE line_index = "
       "100"},
      true);
}

TEST_CASE("audit: it says the same in slices of one row as of one slice, whatever numbers rows have",
          "[engine][audit][slices][negative]") {
  const Clinic clinic("epsilon: 3");
  live(clinic);
  damage_by_turns(
      clinic,
      {"UPDATE log SET line_index = line_index + 4611686018427387904 WHERE line_index > 200",
       "UPDATE log SET line_index = 9223372036854775807 WHERE line_index = 250", "DELETE FROM log",
       "DELETE FROM node", "INSERT INTO node VALUES(16, 7, zeroblob(32))",
       "UPDATE decision SET seq = 9223372036854775807 WHERE seq = 300",
       "UPDATE policy_version SET after_decision = 9223372036854775807 WHERE version = 1",
       "UPDATE decision SET seq = 4611686018427387904 WHERE seq = 20", "DELETE FROM decision",
       "DELETE FROM name", "DROP TABLE recovery; UPDATE meta SET one = one",
       "DROP TABLE node; UPDATE meta SET one = one", "DROP TABLE open_decision; UPDATE meta SET one = one",
       "INSERT INTO relocation VALUES(900, 1, 1, 'clinic', '/nowhere', 1, 'eve', '')"},
      false);
}

TEST_CASE("audit: a page that cannot be read ends the decisions where one thread ends them",
          "[engine][audit][threads][negative]") {
  constexpr std::streamoff kPage = 4'096;
  const Clinic clinic("epsilon: 3");
  live(clinic);
  const std::string sound = clinic.folder.path("sound");
  std::filesystem::copy_file(clinic.ledger(), sound);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(sound));
  int ended = 0;
  for (std::streamoff page = 20 * kPage; page < size; page += 4 * kPage) {
    CAPTURE(page);
    std::filesystem::copy_file(sound, clinic.ledger(), std::filesystem::copy_options::overwrite_existing);
    std::fstream(clinic.ledger(), std::ios::in | std::ios::out | std::ios::binary).seekp(page)
        << std::string(kPage, '\xff');
    const auto by_one = told(Threads::one, clinic.ledger(), false, ledger::kUnlimitedSlice);
    CHECK(told(Threads::several, clinic.ledger(), false) == by_one);
    CHECK(told(Threads::one, clinic.ledger(), false, 0ms) == by_one);
    ended += std::any_of(by_one.begin(), by_one.end(), [](const std::string& line) {
      return line.starts_with("decisions | storage_damaged");
    });
  }
  CHECK(ended > 3);
}

TEST_CASE("audit: what is told comes on the thread that asked, and who throws ends the reading",
          "[engine][audit][threads]") {
  const Clinic clinic("epsilon: 3");
  live(clinic);
  const auto here = std::this_thread::get_id();
  int seen = 0;
  const auto visit = [&](const engine::ReplayedDecision&) {
    CHECK(std::this_thread::get_id() == here);
    if (++seen == 40) throw Enough();
  };
  CHECK_THROWS_AS(
      engine::audit_replay_by(Threads::several, clinic.ledger(), visit, {}, engine::StorageCheck::none),
      Enough);
  CHECK(seen == 40);
}

TEST_CASE("audit: no more is read ahead than fits into the memory set aside", "[engine][audit][threads]") {
  const Clinic clinic("epsilon: 3");
  live(clinic);
  const ledger::Ledger ledger = ledger::Ledger::open_read_only(clinic.ledger());
  ledger::Snapshot view = ledger.snapshot();
  engine::DecisionReadAhead ahead(view, ledger::Inspection(view).end(), ledger::kUnlimitedSlice);
  std::vector<const ledger::StoredDecision*> places;
  std::int64_t last = 0;
  ahead.each(
      [&](const ledger::StoredDecision& stored) {
        CHECK(stored.seq == ++last);
        places.push_back(&stored);
      },
      [](const ledger::MalformedRecord&) { FAIL("a sound ledger"); },
      [](const ledger::StoredFault&) { FAIL("a sound ledger"); });
  CHECK(last > kDecisions);
  std::sort(places.begin(), places.end());
  const auto distinct = std::distance(places.begin(), std::unique(places.begin(), places.end()));
  CHECK(distinct <= 7 * 32);  // handed over, being filled, being judged, and one that was judged
}
