// The programs of README.md and docs/library.md, as they stand there, over ledgers in every state in which a
// request can be: none ends but as it says.
#include <iostream>

#include "epsilog/engine/engine.hpp"
#include "epsilog/ledger/record.hpp"
#include "failing_sync.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "waiting.hpp"

int readme_sample();
int library_sample();

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// A program, and the request that it makes first.
struct Sample {
  const char* name;
  int (*run)();
  const char* ledger;
  const char* dataset;
  const char* asker;
};
constexpr Sample kSamples[] = {{"README.md", &readme_sample, "hospital.epsilog", "hospital", "alice"},
                               {"library.md", &library_sample, "visits.epsilog", "visits", "reports"}};

struct Printed {
  int exit = 0;
  std::string text;
};

/// Where a program runs: its policy, its data and its ledger.
class Place final {
 public:
  explicit Place(const Sample& sample) : sample_(sample) {
    folder_.write("visits.csv", "patient,age,ward\np1,34,north\np2,71,south\np2,71,south\np3,55,north\n");
  }

  [[nodiscard]] std::string policy(const std::string& budget, const std::string& approvals = "",
                                   const std::string& more = "") const {
    return "version: 1\nprincipals:\n  " + std::string(sample_.asker) + ": {}\n  bob: {}\ndatasets:\n  " +
           sample_.dataset +
           ":\n"
           "    source: {csv: visits.csv}\n"
           "    unit: {id: patient, max_rows: 2}\n"
           "    rows: {max: 1000}\n"
           "    neighbours: add-remove\n"
           "    budget: {epsilon: " +
           budget + "}\n" + (approvals.empty() ? "" : "    approvals: " + approvals + "\n") +
           "    columns:\n"
           "      age:  {type: int, bounds: [0, 110]}\n"
           "      ward: {type: string, values: [north, south]}\n" +
           more;
  }
  void begin(const std::string& policy) const {
    static_cast<void>(engine::Engine::init(folder_.write("policy.yaml", policy), ledger(), "curator"));
  }
  [[nodiscard]] std::string ledger() const { return folder_.path(sample_.ledger); }
  [[nodiscard]] std::string asker() const { return sample_.asker; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] engine::Engine open(const engine::EngineOptions& options = {}) const {
    return engine::Engine::open(ledger(), options);
  }
  void apply(const std::string& policy) const {
    static_cast<void>(open().apply_policy(folder_.write("next.yaml", policy), "curator", "a test"));
  }
  void poison() const { folder_.write(std::string(sample_.ledger) + ".poisoned", "boot\nwhy\n"); }
  /// The first request that anybody made.
  [[nodiscard]] std::string first() const {
    std::string id;
    open().history("", 0, [&](const engine::Answer& answer) {
      if (id.empty()) id = answer.recorded.decision_id;
    });
    return id;
  }

  /// What the program does there.
  [[nodiscard]] Printed run() const {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path(""));
    std::ostringstream text;
    std::streambuf* const out = std::cout.rdbuf(text.rdbuf());
    std::streambuf* const err = std::cerr.rdbuf(text.rdbuf());
    const int exit = sample_.run();
    std::cout.rdbuf(out);
    std::cerr.rdbuf(err);
    std::filesystem::current_path(before);
    return {exit, text.str()};
  }

 private:
  TemporaryFolder folder_{in_memory()};
  const Sample& sample_;
};

struct NoBits final : mechanisms::BitSource {
  void fill(std::span<std::byte>) override { throw EntropyUnavailable("no bits in this test"); }
};

constexpr const char* kApprovals = "{required: 1, by: {principals: [bob]}, expires: 1h}";

/// A request that waits for bob, as the program left it.
void pend(const Place& place) {
  place.begin(place.policy("1", kApprovals));
  static_cast<void>(place.run());
}

void reserve(const Place& place) {
  pend(place);
  static_cast<void>(place.open().approve(place.first(), {"bob"}));
}

std::string replicated(const Place& place) {
  return place.policy("1", "", "replica: {file: " + place.path("lines.replica") + "}\n");
}

struct State {
  const char* name;
  std::function<void(const Place&)> prepare;
  bool ends_well;    ///< by a value, or by a word of why there is none; else by an error
  const char* says;  ///< what the first request is told
  bool fails_sync = false;
};

std::vector<State> states() {
  return {
      {"granted", [](const Place& place) { place.begin(place.policy("1")); }, true, "charged"},
      {"granted before",
       [](const Place& place) {
         place.begin(place.policy("1"));
         static_cast<void>(place.run());
       },
       true, ""},
      {"refused", [](const Place& place) { place.begin(place.policy("0.1")); }, true, "at most 0.1 fits"},
      {"pending", [](const Place& place) { place.begin(place.policy("1", kApprovals)); }, true,
       "waits for 1 approval"},
      {"pending before", pend, true, "waits for 1 approval"},
      {"reserved", reserve, true, "is reserved"},
      {"rejected",
       [](const Place& place) {
         pend(place);
         static_cast<void>(place.open().reject(place.first(), {"bob"}, "no"));
       },
       true, "was rejected"},
      {"cancelled",
       [](const Place& place) {
         pend(place);
         static_cast<void>(place.open().cancel(place.first(), {place.asker()}));
       },
       true, "was cancelled"},
      {"expired",
       [](const Place& place) {
         pend(place);
         MovedClock clock;
         clock.pass_seconds(3 * 86'400);
         engine::Engine later = place.open(clock.options());
         static_cast<void>(later.cancel(place.first(), {place.asker()}));
       },
       true, "in time; nothing was charged"},
      {"forfeited",
       [](const Place& place) {
         reserve(place);
         engine::Engine engine = place.open();
         NoBits none;
         CHECK_THROWS_AS(engine.commit(place.first(), {place.asker()}, std::nullopt, none, {}),
                         EntropyUnavailable);
         static_cast<void>(engine.cancel(place.first(), {place.asker()}));
       },
       true, "ended without an answer"},
      {"refused by its last approval",
       [](const Place& place) {
         pend(place);
         place.apply(place.policy("0.1", kApprovals));
         static_cast<void>(place.open().approve(place.first(), {"bob"}));
       },
       true, "at most 0.1 fits"},
      {"poisoned",
       [](const Place& place) {
         place.begin(place.policy("1"));
         place.poison();
       },
       false, ""},
      {"poisoned after it was granted",
       [](const Place& place) {
         place.begin(place.policy("1"));
         static_cast<void>(place.run());
         place.poison();
       },
       true, "is on record, but it is not known to be on the disk"},
      {"poisoned while it waits",
       [](const Place& place) {
         pend(place);
         place.poison();
       },
       true, "is on record, but it is not known to be on the disk"},
      {"the replica behind", [](const Place& place) { place.begin(replicated(place)); }, true,
       "is on record, but the replica", true},
      {"the replica gone",
       [](const Place& place) {
         place.begin(replicated(place));
         std::filesystem::remove(place.path("lines.replica"));
       },
       false, ""},
  };
}

}  // namespace

TEST_CASE(
    "documents: the programs of README.md and library.md end as they say in every state of their request",
    "[samples]") {
  for (const Sample& sample : kSamples) {
    for (const State& state : states()) {
      CAPTURE(sample.name, state.name);
      const Place place(sample);
      state.prepare(place);
      Printed printed;
      {
        std::optional<FailingSync> failing;
        if (state.fails_sync) failing.emplace();
        printed = place.run();
      }
      INFO(printed.text);
      CHECK_FALSE(printed.text.empty());
      CHECK(printed.text.find(state.says) != std::string::npos);
      if (!state.ends_well) CHECK(printed.exit != 0);
    }
  }
}
