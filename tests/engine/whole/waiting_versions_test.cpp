// What a later policy version makes of what waits, cell by cell of docs/states/later_versions.tsv: every
// change of a policy that diff knows, every act on every kind of request that can wait.
#include "copied_ledger.hpp"
#include "policy_key_changes.hpp"
#include "state_table.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

constexpr std::chrono::hours kLater{24 * 5};

/// One kind of request that waits, by its key.
struct Waiting {
  const char* key;
  const char* statistic;
  ReservationKind reservation;  ///< none: it waits for an approval
  bool token;       ///< was issued
};
constexpr std::array<Waiting, 19> kWaiting{{
    {"approve", "sum:age", ReservationKind::none, false},
    {"reject", "sum:age", ReservationKind::none, false},
    {"cancel", "sum:age", ReservationKind::none, false},
    {"commit", "sum:age", ReservationKind::none, false},
    {"retry", "sum:age", ReservationKind::none, false},
    {"expiry", "sum:age", ReservationKind::none, false},
    {"held commit", "sum:age", ReservationKind::reserved, false},
    {"held cancel", "sum:age", ReservationKind::reserved, false},
    {"held retry", "sum:age", ReservationKind::reserved, false},
    {"held expiry", "sum:age", ReservationKind::reserved, false},
    {"value commit", "value:auc", ReservationKind::reserved, false},
    {"value cancel", "value:auc", ReservationKind::reserved, false},
    {"value expiry", "value:auc", ReservationKind::reserved, false},
    {"guarded token", "value:auc", ReservationKind::reserved_against_token, false},
    {"guarded cancel", "value:auc", ReservationKind::reserved_against_token, false},
    {"guarded expiry", "value:auc", ReservationKind::reserved_against_token, false},
    {"issued commit", "value:auc", ReservationKind::reserved_against_token, true},
    {"issued cancel", "value:auc", ReservationKind::reserved_against_token, true},
    {"issued expiry", "value:auc", ReservationKind::reserved_against_token, true},
}};

Request request_of(const Waiting& waiting) {
  Request asked =
      request(waiting.statistic, waiting.reservation == ReservationKind::none ? "0.12" : "0.03", waiting.key);
  asked.purpose = "planning";
  asked.reservation = waiting.reservation;
  return asked;
}

/// A folder with every source that a policy of the table names.
const TemporaryFolder& sources() {
  static const TemporaryFolder kFolder;
  static const bool kWritten = [] {
    std::string rows = "patient_id;visit_id;visit_date;other_date;age;cost;ward\n";
    for (int i = 0; i < 6; ++i) {
      const std::string number = std::to_string(i);
      rows += "p" + number + ";v" + number + ";2024-0" + std::to_string(1 + i % 6) + "-03;2024-05-06;4" +
              number + ";12.5" + number + ";A\n";
    }
    for (const char* name : {"visits.csv", "other.csv"}) kFolder.write(name, rows);
    for (const char* name : {"visits.db", "other.db"}) {
      for (const char* table : {"visits", "other"}) {
        tamper(
            kFolder.path(name),
            std::string("CREATE TABLE ") + table +
                "(patient_id TEXT, visit_id TEXT, visit_date TEXT, other_date TEXT, age INTEGER, cost REAL, "
                "ward TEXT); INSERT INTO " +
                table + " VALUES('p1', 'v1', '2024-01-03', '2024-05-06', 41, 12.5, 'A')");
      }
    }
    return true;
  }();
  (void)kWritten;
  return kFolder;
}

/// A ledger under one policy in which requests of all these kinds wait, or only those for approvals: of a
/// dataset that is charged or reserved, less of the policy may change.
struct Prepared {
  Prepared(const std::string& policy, bool held) : clock(noon_to_come()) {
    const std::string written = sources().write("before.yaml", policy);
    path = folder.path("clinic.ledger");
    (void)Engine::init(written, path, "curator");
    {
      engine::EngineOptions options;
      options.clock = clock.clock();
      Engine engine = Engine::open(path, options);
      for (const Waiting& waiting : kWaiting) {
        if ((waiting.reservation != ReservationKind::none) != held) continue;
        CAPTURE(waiting.key);
        const Request asked = request_of(waiting);
        const Answer answer = held ? engine.reserve(asked, {}) : release(engine, asked);
        REQUIRE(answer.recorded.state ==
                (held ? engine::RequestState::reserved : engine::RequestState::pending));
        ids[waiting.key] = answer.recorded.decision_id;
        if (waiting.token) (void)engine.issue_token(answer.recorded.decision_id, "alice");
      }
    }
  }

  TemporaryFolder folder;
  SharedClock clock;
  std::string path;
  std::map<std::string, std::string> ids;
};

const Prepared& prepared(const std::string& policy, bool held) {
  static std::map<std::pair<std::string, bool>, std::unique_ptr<Prepared>> kept;
  auto& found = kept[{policy, held}];
  if (!found) found = std::make_unique<Prepared>(policy, held);
  return *found;
}

/// The last word of a column: "held commit" is a commit.
std::string act_of(const std::string& key) {
  const std::size_t blank = key.find(' ');
  return blank == std::string::npos ? key : key.substr(blank + 1);
}

std::string word_after(CopiedLedger& copy, Engine& engine, const Waiting& waiting, const std::string& id) {
  const std::string act = act_of(waiting.key);
  return copy.word_of([&] {
    mechanisms::SystemBits bits;
    if (act == "approve") return copy.word(engine.approve(id, "carol"));
    if (act == "reject") return copy.word(engine.reject(id, "carol", "no"));
    if (act == "cancel") return copy.word(engine.cancel(id, "alice"));
    if (act == "token") return copy.word(engine.issue_token(id, "alice"));
    if (act == "commit") {
      const bool value = std::string(waiting.statistic).starts_with("value:");
      return copy.word(
          engine.commit(id, "alice", value ? std::optional<std::string>("0.5") : std::nullopt, bits, {}));
    }
    if (act == "retry") {
      const Request asked = request_of(waiting);
      return copy.word(waiting.reservation == ReservationKind::none ? engine.release(asked, bits, {})
                                                                    : engine.reserve(asked, {}));
    }
    return copy.word(engine.show(id, {}));  // of what became overdue
  });
}

/// Applies the policy and does everything; the words by column.
std::map<std::string, std::string> words_under(const BeforeAndAfter& policies, bool held) {
  const Prepared& from = prepared(policies.before, held);
  CopiedLedger copy(from.path, from.clock.reading());
  std::map<std::string, std::string> words;
  const std::string applying = held ? "apply, held" : "apply";
  {
    Engine engine = copy.open();
    const std::string next = sources().write("after.yaml", policies.after);
    words[applying] = copy.word_of(
        [&] { return std::string(engine.apply_policy(next, "curator", "test").changed ? "applies" : "?"); });
    if (words[applying] != "applies") return words;
    const auto all = [&](bool overdue) {
      for (const Waiting& waiting : kWaiting) {
        if ((waiting.reservation != ReservationKind::none) != held ||
            (act_of(waiting.key) == "expiry") != overdue)
          continue;
        words[waiting.key] = word_after(copy, engine, waiting, from.ids.at(waiting.key));
      }
    };
    all(false);
    copy.clock.pass(kLater);
    const std::string again = sources().write("after.yaml", policies.after + "# another text\n");
    (void)engine.apply_policy(again, "curator", "whoever writes ends what is overdue");
    all(true);
  }
  CHECK(copy.faults() == "");
  copy.require_kept();
  copy.require_places({});
  copy.require_clean_messages();
  return words;
}

/// One for every key that diff knows, and those that strike who asked, who may approve, or what is asked.
std::map<std::string, KeyChange> all_changes() {
  std::map<std::string, KeyChange> changes = key_changes();
  // Replica and checkpoints are states of the ledger, whatever waits: the columns of the first table.
  std::erase_if(changes, [](const auto& change) {
    return change.first.find("replica") != std::string::npos ||
           change.first.find("checkpoint") != std::string::npos;
  });
  const std::string forbid =
      "[{principals: [carol], roles: [custodian], purposes: [planning], statistics: [sum], columns: [cost], "
      "by: "
      "[ward], where: [age]}]";
  const std::map<std::string, KeyChange> striking{
      {"approvers.principals, who approves",
       {"by: {principals: [carol], roles: [custodian]}", "by: {principals: [dave]}"}},
      {"column.bounds, of what is asked", {"bounds: [0, 110]", "bounds: [0, 120]"}},
      {"dataset.budget, less than is asked", {"budget: {epsilon: 3,", "budget: {epsilon: 0.11,"}},
      {"forbid.principals, who asked", {forbid, "[{principals: [alice]}]"}},
      {"per_release.epsilon, less than is asked",
       {"per_release: {epsilon: 0.5}", "per_release: {epsilon: 0.01}"}},
      {"principal.purposes, of who asked",
       {"roles: [research], purposes: [planning]}", "roles: [research], purposes: [quality]}"}},
  };
  changes.insert(striking.begin(), striking.end());
  return changes;
}

/// Walks one row in `part`; 1: all of them. The others are taken from what is written.
StateTable found_words(std::size_t part) {
  const StateTable written = state_table("later_versions");
  StateTable table;
  table.columns = {"apply"};
  for (const Waiting& waiting : kWaiting) {
    if (waiting.key == std::string("held commit")) table.columns.emplace_back("apply, held");
    table.columns.emplace_back(waiting.key);
  }
  for (const auto& [key, change] : all_changes()) {
    CAPTURE(key);
    const auto same_key = [&key = key](const auto& row) { return row.first == key; };
    const auto row_written = std::find_if(written.rows.begin(), written.rows.end(), same_key);
    if (table.rows.size() % part != 0 && row_written != written.rows.end()) {
      table.rows.push_back(*row_written);
      continue;
    }
    BeforeAndAfter policies = before_and_after(change);
    for (std::string* text : {&policies.before, &policies.after}) {
      *text = only_replaced(*text, "replica: {file: /mnt/second/clinic.replica, sync: none}\n", "");
      *text = only_replaced(
          *text,
          "checkpoint: {key: /mnt/second/clinic.key, file: /mnt/second/clinic.checkpoints, every: 1h}\n", "");
    }
    std::map<std::string, std::string> words = words_under(policies, false);
    words.merge(words_under(policies, true));
    std::vector<std::string> row;
    for (const std::string& column : table.columns)
      row.push_back(words.contains(column) ? words[column] : "—");
    table.rows.emplace_back(key, row);
  }
  return table;
}

}  // namespace

TEST_CASE("states: what waits under a later version is as docs/states says, one in four",
          "[engine][states]") {
  require_as_found("later_versions", found_words(4), "Key written otherwise");
}

TEST_CASE("states: what waits under every later version is as docs/states says", "[engine][states][.long]") {
  require_as_found("later_versions", found_words(1), "Key written otherwise");
}
