// release --dummy: what it says, what it refuses, and that neither source nor ledger is opened.
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

/// The names of files in a folder that anybody opens, makes, moves or removes while this lives.
class Watched final {
 public:
  explicit Watched(const std::string& folder) : descriptor_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    REQUIRE(descriptor_ >= 0);
    REQUIRE(inotify_add_watch(descriptor_, folder.c_str(),
                              IN_OPEN | IN_ACCESS | IN_CREATE | IN_MODIFY | IN_MOVE | IN_DELETE) >= 0);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { close(descriptor_); }

  /// Since it was asked last.
  [[nodiscard]] std::set<std::string> touched() const {
    std::set<std::string> names;
    alignas(inotify_event) std::array<char, 65'536> events;
    for (ssize_t got = 0; (got = read(descriptor_, events.data(), events.size())) > 0;) {
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        inotify_event event;
        std::memcpy(&event, events.data() + at, sizeof event);
        REQUIRE((event.mask & IN_Q_OVERFLOW) == 0);
        // Without a name it is the folder that was listed.
        if (event.len > 0) names.insert(events.data() + at + sizeof event);
        at += sizeof event + event.len;
      }
    }
    return names;
  }

 private:
  int descriptor_;
};

std::vector<std::string> dummy(std::vector<std::string> more, const std::string& statistic = "count") {
  std::vector<std::string> arguments{"release", "clinic",  statistic,  "--epsilon",
                                     "0.5",     "--dummy", "--policy", "policy.yaml"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("dummy run: opens the policy and neither source nor ledger, where both are at hand",
          "[cli][dummy][G1][G7]") {
  Workbench bench(kClinicPolicy);
  bench.environment["EPSILOG_LEDGER"] = "L";
  const std::vector<std::string> files = bench.files();
  const std::string ledger = bench.read("L");
  const Watched folder(bench.path(""));
  CHECK(folder.touched().empty());
  for (const std::string statistic : {"count", "units", "sum:cost", "mean:age"}) {
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {}, {"--json"}, {"--quiet"}, {"--verbose", "--by", "ward"}, {"--where", "age >= 40"}}) {
      CAPTURE(statistic, more);
      CHECK(bench.run(dummy(more, statistic)).exit == 0);
    }
  }
  CHECK(bench.run(dummy({}, "variance:ward")).exit == 3);
  CHECK(bench.run(dummy({"--key", "k"})).exit == 2);
  CHECK(folder.touched() == std::set<std::string>{"policy.yaml"});
  CHECK(bench.files() == files);
  CHECK(bench.read("L") == ledger);
  // What is shown by that: a release opens both.
  (void)folder.touched();
  REQUIRE(bench.run({"release", "clinic", "count", "--epsilon", "0.5"}).exit == 0);
  const std::set<std::string> touched = folder.touched();
  CHECK(touched.count("L") == 1);
  CHECK(touched.count("visits.csv") == 1);
}

TEST_CASE("dummy run: answers where source and ledger are absent, or may not be read", "[cli][dummy][G7]") {
  Workbench bench;
  bench.write("policy.yaml", replaced(kClinicPolicy, "visits.csv", "nowhere/visits.csv"));
  bench.environment["EPSILOG_LEDGER"] = "nowhere/L";
  CHECK(bench.run(dummy({})).exit == 0);
  CHECK(bench.run({"release", "clinic", "count", "--epsilon", "0.5"}).exit == 3);

  Workbench barred(kClinicPolicy);
  barred.environment["EPSILOG_LEDGER"] = "L";
  REQUIRE(chmod(barred.path("visits.csv").c_str(), 0) == 0);
  REQUIRE(chmod(barred.path("L").c_str(), 0) == 0);
  Streams heeding;
  heeding.heed_permissions = true;
  CHECK(barred.run(dummy({}), heeding).exit == 0);
  CHECK(barred.run({"release", "clinic", "count", "--epsilon", "0.5"}, heeding).exit != 0);
}

TEST_CASE("dummy run: says so in the first line of its text and beside every value", "[cli][dummy]") {
  const Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  const Result one = bench.run(dummy({}));
  CHECK(one.exit == 0);
  CHECK(one.err.empty());
  CHECK(
      one.out.starts_with("dummy run: 500 rows invented from the policy; no data, no ledger, nothing "
                          "charged\ncount of clinic: "));
  check_parts(one.out, {" (dummy)\n", "  would cost epsilon 0.5\n", "with 95 % confidence within "});
  CHECK_FALSE(contains(one.out, "decision"));
  CHECK_FALSE(contains(one.out, "remaining"));
  const Result several = bench.run(dummy({"--by", "ward", "--verbose"}));
  CHECK(several.out.starts_with("dummy run: "));
  check_parts(several.out, {"dummy value", "mechanism  snapping of count"});
}

TEST_CASE("dummy run: --quiet marks each line", "[cli][dummy]") {
  const Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  const Result one = bench.run(dummy({"--quiet"}));
  CHECK(one.out.starts_with("dummy\t"));
  CHECK(lines(one.out) == 1);
  const Result several = bench.run(dummy({"--quiet", "--by", "ward"}));
  CHECK(lines(several.out) == 3);
  CHECK(several.out.starts_with("dummy\tA\t"));
  check_parts(several.out, {"\ndummy\tB\t", "\ndummy\tit's, C\t"});
}

TEST_CASE("dummy run: JSON has the fields of a release, dummy first, and null for what a ledger gives",
          "[cli][dummy]") {
  const Workbench bench(kClinicPolicy);
  for (const std::string statistic : {"count", "mean:cost"}) {
    const Result result = bench.run(dummy({"--json"}, statistic));
    CHECK(result.out.starts_with("{\n  \"dummy\": true,\n"));
    const json said = result.json();
    CHECK(said["invented_rows"] == 500);
    json fields = bench.with_ledger({"release", "clinic", statistic, "--epsilon", "0.5", "--json"}).json();
    CHECK_FALSE(fields.contains("dummy"));
    CHECK(said.size() == fields.size() + 2);
    for (const auto& [field, value] : fields.items()) {
      CAPTURE(field);
      CHECK(said.contains(field));
    }
    for (const char* none :
         {"decision_id", "seq", "ledger_id", "created_at", "durable", "via", "key", "policy_version",
          "decided_under", "rules", "build", "log", "data_token", "deadline", "same_question"}) {
      CAPTURE(none);
      CHECK(said[none].is_null());
    }
    CHECK(said["accounts"].empty());
    CHECK(said["replayed"] == false);
    for (const char* same : {"epsilon", "mechanism", "scale", "grid", "bound", "accuracy", "unit",
                             "neighbours", "decision", "state", "post_processing", "notes"}) {
      CAPTURE(same);
      CHECK(said[same] == fields[same]);
    }
    CHECK(said["value"].is_string());
    CHECK(said["components"].size() == fields["components"].size());
  }
}

TEST_CASE("dummy run: a refusal is that of a plan on an unspent ledger, with exit code 4", "[cli][dummy]") {
  const Workbench bench(
      replaced(kClinicPolicy, "    columns:", "    forbid: [{columns: [cost]}]\n    columns:"));
  const json plan = bench.with_ledger({"plan", "clinic", "mean:cost", "--epsilon", "3", "--json"}).json();
  const std::vector<std::string> asked{"release", "clinic",  "mean:cost", "--epsilon",
                                       "3",       "--dummy", "--policy",  "policy.yaml"};
  const Result text = bench.run(asked);
  CHECK(text.exit == 4);
  CHECK(text.out.empty());
  CHECK(text.err.starts_with("epsilog: dummy run: would be refused: mean:cost of clinic\n"));
  CHECK(contains(text.err, "forbidden: rule 1 under forbid of 'clinic' applies to this request"));
  CHECK(contains(text.err, "dataset_budget_exceeded: "));
  std::vector<std::string> in_json = asked;
  in_json.push_back("--json");
  const Result result = bench.run(in_json);
  CHECK(result.exit == 4);
  const json said = result.json();
  check_members(said, R"({"dummy": true, "invented_rows": 0, "decision": "refused", "value": null})");
  CHECK(said["epsilon"]["charged"] == "0");
  CHECK(said["reasons"] == plan["reasons"]);
}

TEST_CASE("dummy run: what would wait for approvals is answered and says so", "[cli][dummy]") {
  const Workbench bench;
  std::string policy =
      replaced(kClinicPolicy, "datasets:", "principals:\n  alice: {}\n  carol: {}\ndatasets:");
  bench.write("policy.yaml",
              replaced(policy, "    columns:",
                       "    approvals: {required: 1, by: {principals: [carol]}}\n    columns:"));
  const Result text = bench.run(dummy({"--as", "alice"}));
  CHECK(text.exit == 0);
  CHECK(contains(text.out, "  approvals  a release would wait for 1 approval\n"));
  const json said = bench.run(dummy({"--as", "alice", "--json"})).json();
  CHECK(said["decision"] == "pending");
  CHECK(said["approvals"]["required"] == 1);
  CHECK(said["value"].is_string());
}

TEST_CASE("dummy run: what only a ledger or a true value could be meant by is one error, with exit code 2",
          "[cli][dummy][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::vector<std::string> files = bench.files();
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    CAPTURE(arguments);
    const Result result = bench.run(arguments);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(result.err == "epsilog: " + message + "\n");
  };
  refused(dummy({"--key", "monthly"}),
          "--key: a dummy run is recorded nowhere, so that no key can be bound to it");
  refused(dummy({"--value", "0.5"}, "value:auc"),
          "--value: a dummy run takes none, which could be true and would be released uncharged");
  for (const std::string option :
       {"--ledger", "--wait", "--checkpoint", "--vkey", "--witness", "--require"}) {
    refused(dummy({option, "1"}), option + ": a dummy run meets no ledger");
  }
  refused({"release", "clinic", "count", "--epsilon", "0.5", "--dummy"},
          "--dummy: needs the policy from which rows are invented; name it with --policy");
  refused({"release", "clinic", "count", "--epsilon", "0.5", "--dummy", "--policy", ""},
          "--dummy: needs the policy from which rows are invented; name it with --policy");
  refused({"release", "clinic", "count", "--epsilon", "0.5", "--policy", "policy.yaml", "--ledger", "L"},
          "--policy: goes with --dummy; a release is under the policy of its ledger");
  refused(dummy({}, "value:auc"),
          "'value:auc' is computed elsewhere, and the rows of a dummy run say nothing of it");
  CHECK(bench.files() == files);
}

TEST_CASE("dummy run: a policy that is absent or has a fault ends with 3", "[cli][dummy][negative]") {
  const Workbench bench;
  const Result absent = bench.run(dummy({}));
  CHECK(absent.exit == 3);
  CHECK(absent.out.empty());
  bench.write("policy.yaml", replaced(kClinicPolicy, "bounds: [0, 110]", "bounds: [110, 0]"));
  const Result faulty = bench.run(dummy({}));
  check_ended(faulty, 3, "policy.yaml:10:");
}

TEST_CASE("dummy run: its noise is the operating system's", "[cli][dummy][negative]") {
  const Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  Streams without;
  without.no_randomness = true;
  const Result result = bench.run(dummy({}), without);
  CHECK(result.exit != 0);
  CHECK(result.out.empty());
  CHECK(lines(result.err) == 1);
}
