// What becomes of each member of a group, in each place of it, and of the others: docs/states.md, "Members of
// a group", row by row.
#include <functional>

#include "clinic.hpp"
#include "concurrent_calls.hpp"
#include "epsilog/accounting/errors.hpp"
#include "ledger/support/fault_memory.hpp"
#include "ledger/support/fault_vfs.hpp"
#include "state_table.hpp"
#include "support/replay_bits.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Engine;
using namespace ledger_tests;

namespace {

constexpr std::size_t kMoreThanSupplied = 2'000;

struct Meeting {
  const char* what;
  std::function<void(ConcurrentCalls&, const Clinic&)> asks;
  std::function<void(ConcurrentCalls&, const Clinic&)> happens = {};  // once all are prepared
  std::function<void(FaultVfs&)> fails = {};                        // while they are recorded
  std::function<void(const Clinic&)> ends = {};                     // what happened, before all is looked at
};

engine::Request held(const std::string& key) {
  return test::held(request("count", "0.1", key));
}

/// The member before it asks the same under its key, and is where there is none.
ConcurrentCalls::Call& asked_twice(ConcurrentCalls& group, const engine::Request& asked) {
  bool there = false;
  for (const auto& call : group.calls()) there = there || call.request.key == asked.key;
  if (!there) group.ask(asked);
  return group.ask(asked);
}

void apply(const Clinic& clinic, const std::string& budget) {
  clinic.folder.write("policy.yaml", clinic_policy(budget));
  clinic.open().apply_policy(clinic.folder.path("policy.yaml"), "curator", "why");
}

const std::vector<Meeting>& meetings() {
  static const std::vector<Meeting> kMeetings = {
      {"nothing", [](ConcurrentCalls& group, const Clinic&) { group.ask(request("count", "0.1", "it")); }},
      {"a budget that is too small",
       [](ConcurrentCalls& group, const Clinic&) { group.ask(request("count", "200", "it")); }},
      {"a reservation to make", [](ConcurrentCalls& group, const Clinic&) { group.ask(held("it")); }},
      {"its key bound meanwhile",
       [](ConcurrentCalls& group, const Clinic&) { group.ask(request("count", "0.1", "it")); },
       [](ConcurrentCalls&, const Clinic& clinic) {
         Engine other = clinic.open();
         REQUIRE(release(other, request("count", "0.1", "it")).recorded.granted);
       }},
      {"its key bound to another question meanwhile",
       [](ConcurrentCalls& group, const Clinic&) { group.ask(request("count", "0.1", "it")); },
       [](ConcurrentCalls&, const Clinic& clinic) {
         Engine other = clinic.open();
         REQUIRE(release(other, request("count", "0.2", "it")).recorded.granted);
       }},
      {"the same key in the member before it",
       [](ConcurrentCalls& group, const Clinic&) { asked_twice(group, request("count", "0.1", "twin")); }},
      {"its source moved meanwhile",
       [](ConcurrentCalls& group, const Clinic&) { group.ask(request("count", "0.1", "it")); },
       [](ConcurrentCalls&, const Clinic& clinic) {
         clinic.folder.write("moved.csv", kVisits);
         clinic.open().relocate("clinic", clinic.folder.path("moved.csv"), "curator", "why");
       }},
      {"a policy that was applied meanwhile",
       [](ConcurrentCalls& group, const Clinic& clinic) {
         group.ask(request("count", "0.1", "it"));
         apply(clinic, "epsilon: 150");
       }},
      {"a budget that became free meanwhile",
       [](ConcurrentCalls& group, const Clinic& clinic) {
         Engine other = clinic.open();
         engine::Request all = held("all");
         all.epsilon = 98;
         const auto reserved = other.reserve(all, {});
         group.ask(request("count", "5", "it"));
         other.cancel(reserved.recorded.decision_id, "alice");
       }},
      {"a draw that needs more bits",
       [](ConcurrentCalls& group, const Clinic& clinic) {
         group.ask(request("count", "0.1", "it"),
                   std::make_unique<ZerosFirst>(clinic.ledger(), kMoreThanSupplied));
       }},
      {"a draw that needs more bits, and none",
       [](ConcurrentCalls& group, const Clinic& clinic) {
         group.ask(request("count", "0.1", "it"),
                   std::make_unique<ZerosFirst>(clinic.ledger(), kMoreThanSupplied, true));
       }},
      {"a constraint",
       [](ConcurrentCalls& group, const Clinic&) { group.ask(held("it")); },
       [](ConcurrentCalls& group, const Clinic& clinic) {
         // A row where that of its reservation belongs.
         std::size_t place = 1;
         for (const auto& call : group.calls()) {
           if (call.request.key == "it") break;
           ++place;
         }
         tamper(clinic.ledger(), "INSERT INTO open_decision SELECT decisions + " + std::to_string(place) +
                                     ", last_time + 86400000 FROM meta");
       },
       {},
       [](const Clinic& clinic) { tamper(clinic.ledger(), "DELETE FROM open_decision"); }},
      {"no room for COMMIT",
       [](ConcurrentCalls& group, const Clinic&) { group.ask(request("count", "0.1", "it")); },
       {},
       [](FaultVfs& vfs) { vfs.fail_kind("write", SQLITE_FULL); }},
      {"a sync of COMMIT that fails",
       [](ConcurrentCalls& group, const Clinic&) { group.ask(request("count", "0.1", "it")); },
       {},
       [](FaultVfs& vfs) { vfs.fail_kind("sync", SQLITE_IOERR); }},
  };
  return kMeetings;
}

std::string word(const ConcurrentCalls::Call& call) {
  if (!call.fault) {
    const engine::Answer& answer = *call.answer;
    if (answer.recorded.replayed) return "replays";
    if (answer.recorded.state == engine::RequestState::reserved) return "holds";
    return answer.recorded.granted ? "releases" : "refuses";
  }
  try {
    std::rethrow_exception(call.fault);
  } catch (const LedgerBusy&) {
    return "busy";
  } catch (const LedgerIo&) {
    return "io";
  } catch (const LedgerCorrupt&) {
    return "corrupt";
  } catch (const EntropyUnavailable&) {
    return "starves";
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// What was told is on record, once for each key, with its charge; and what was not is not, unless unknown.
void check_record(const Clinic& clinic, ConcurrentCalls& group) {
  Engine reader = clinic.open();
  std::map<std::string, int> granted;
  std::map<std::string, engine::Answer> by_id;
  std::int64_t charged = 0;
  reader.history("", 0, [&](const engine::Answer& answer) {
    by_id.emplace(answer.recorded.decision_id, answer);
    if (!answer.recorded.granted) return;
    if (!answer.asked.key.empty()) ++granted[answer.asked.key];
    charged += answer.planned.record.charged.units();
  });
  for (const auto& [key, times] : granted) CHECK(times == 1);
  for (const auto& call : group.calls()) {
    if (!call.answer) continue;
    const auto found = by_id.find(call.answer->recorded.decision_id);
    REQUIRE(found != by_id.end());
    CHECK(found->second.released.values == call.answer->released.values);
    CHECK(found->second.recorded.durable.value());
  }
  CHECK(reader.budget("clinic").at(0).balance.spent == charged);
  CHECK(engine::audit_verify(clinic.ledger()).ok);
}

enum class Place { alone, first, middle, last };

struct Words {
  std::string it;
  std::set<std::string> others;
};

Words words_met(const Meeting& meeting, Place place) {
  FaultVfs vfs;
  const Clinic clinic("epsilon: 100");
  Words words;
  {
    ConcurrentCalls group(clinic.ledger());
    const auto ask_other = [&group](const char* key) { group.ask(request("count", "0.1", key)); };
    if (place == Place::middle || place == Place::last) ask_other("one");
    if (place == Place::last) ask_other("two");
    meeting.asks(group, clinic);
    ConcurrentCalls::Call& it = group.calls().back();
    if (place == Place::first || place == Place::middle) ask_other("three");
    if (place == Place::first) ask_other("four");
    if (meeting.happens) meeting.happens(group, clinic);
    if (meeting.fails) meeting.fails(vfs);
    group.record();
    vfs.stop_failing();
    group.conclude();
    if (meeting.ends) meeting.ends(clinic);
    for (const auto& call : group.calls()) {
      if (&call == &it) {
        words.it = word(call);
      } else {
        words.others.insert(word(call));
      }
    }
    if (words.it != "io") check_record(clinic, group);
    CHECK(clinic.open().poison_reason().has_value() == (words.it == "io"));
  }
  return words;
}

}  // namespace

TEST_CASE("states: every member in every place of a group ends as docs/states says",
          "[engine][groups][states]") {
  StateTable found;
  found.columns = {"alone", "first", "in the middle", "last", "the others"};
  for (const Meeting& meeting : meetings()) {
    CAPTURE(meeting.what);
    std::vector<std::string> row;
    std::set<std::string> others;
    for (const Place place : {Place::alone, Place::first, Place::middle, Place::last}) {
      CAPTURE(static_cast<int>(place));
      const Words words = words_met(meeting, place);
      row.push_back(words.it);
      others.insert(words.others.begin(), words.others.end());
    }
    CHECK(others.size() == 1);
    row.push_back(*others.begin());
    found.rows.emplace_back(meeting.what, row);
  }
  require_as_found("group_members", found, "A member meets");
}

namespace {

/// A group of three with a fault at the n-th point; the middle one has to leave it for want of bits.
template <class Fault>
int group_at_every_point(const std::function<void(Fault&, std::int64_t)>& arm) {
  Fault fault;
  auto clinic = std::make_unique<Clinic>("epsilon: 1000000");
  for (std::int64_t nth = 1;; ++nth) {
    CAPTURE(nth);
    const auto key = [nth](int member) { return std::to_string(nth) + "." + std::to_string(member); };
    bool poisoned = false;
    bool failed = false;
    {
      ConcurrentCalls group(clinic->ledger());
      group.release(request("count", "0.1"));
      for (const int member : {0, 1, 2}) {
        const std::size_t zeros = member == 1 ? kMoreThanSupplied : 0;
        group.ask(request("count", "0.1", key(member)),
                  std::make_unique<ZerosFirst>(clinic->ledger(), zeros));
      }
      arm(fault, nth);
      group.record();
      fault.stop_failing();
      failed = fault.failed();
      group.conclude();
      poisoned = clinic->open().poison_reason().has_value();
      for (const auto& call : group.calls()) {
        const std::string said = word(call);
        CHECK((said == "releases" || said == "busy" || said == "io"));
        if (poisoned) continue;
        Engine again = clinic->open();
        const engine::Answer answer = release(again, call.request);
        CHECK(answer.recorded.replayed == (said == "releases"));
        if (said == "releases") CHECK(answer.released.values == call.answer->released.values);
      }
      if (!poisoned && (nth % 25 == 0 || !failed)) check_record(*clinic, group);
    }
    if (!failed) return static_cast<int>(nth) - 1;
    if (poisoned || nth % 25 == 0) clinic = std::make_unique<Clinic>("epsilon: 1000000");
  }
}

}  // namespace

TEST_CASE(
    "groups: a storage fault at any operation of a group acknowledges what is on record, and nothing else",
    "[engine][groups][fault]") {
  for (const int code : {SQLITE_IOERR, SQLITE_FULL}) {
    CAPTURE(code);
    CHECK(group_at_every_point<FaultVfs>(
              [code](FaultVfs& vfs, std::int64_t nth) { vfs.fail_at(nth, code, false); }) >= 4);
  }
}

TEST_CASE("groups: memory that SQLite is not given in a group is busy, never poison",
          "[engine][groups][fault]") {
  CHECK(group_at_every_point<FaultMemory>(
            [](FaultMemory& memory, std::int64_t nth) { memory.fail_at(nth, false); }) >= 20);
}

TEST_CASE("groups: whatever bits were supplied first, a draw is the one from the first bit on",
          "[engine][groups][bits]") {
  // The same bits each time, whatever is asked for at once: what is drawn from them is a function of them.
  class Kept final : public mechanisms::BitSource {
   public:
    void fill(std::span<std::byte> bytes) override { bits_.fill(bytes); }

   private:
    SeededBits bits_{20261122};
  };
  const Clinic clinic("epsilon: 1000");
  const engine::EngineOptions options;
  engine::EngineState state(clinic.ledger(), options);
  for (const char* statistic : {"count", "histogram:ward", "mean:cost"}) {
    std::set<std::string> drawn;
    int lacked = 0;
    for (const std::size_t first : {0U, 1U, 2U, 7U, 30U, 61U, 200U, 3'000U}) {
      Kept kept;
      engine::SuppliedBits bits(&kept);
      bits.supply(first);
      ledger::Snapshot view = state.snapshot();
      const engine::Request asked = request(statistic, "0.5");
      std::vector<engine::PreparedRequest> steps;
      steps.push_back(engine::prepare_request(state, view, state.active_policy(view), asked));
      engine::add_exact_answers(steps.back(), {}, {});
      for (;;) {
        engine::GroupMember member(steps, bits, engine::ReplayHandling::allowed);
        engine::record_in_group(state, member, engine::LockWait::full);
        if (member.fate == engine::GroupMember::Fate::lacks_bits) {
          ++lacked;
          bits.supply_more();
          continue;
        }
        REQUIRE(member.fate == engine::GroupMember::Fate::recorded);
        std::string values;
        for (const auto& value : member.recorded.at(0).decision->values)
          values += accounting::text(value) + " ";
        drawn.insert(values);
        break;
      }
    }
    CAPTURE(statistic);
    CHECK(drawn.size() == 1);
    CHECK(lacked >= 4);
  }
}
