// `log` of an answer: who prints it, who does not, and that it is what audit export has there.
#include "cli/workbench.hpp"
#include "epsilog/ledger/digest.hpp"

using namespace epsilog::test;

namespace {

class Bench {
 public:
  Bench() {
    bench.init(std::string(kClinicPolicy) +
               "    approvals: {required: 2, by: {principals: [carol, dave]}, above: {epsilon: 0.25}}\n"
               "principals: {alice: {}, carol: {}, dave: {}}\n");
  }

  [[nodiscard]] Result run(std::vector<std::string> words, const Streams& streams = {}) const {
    return bench.with_ledger(std::move(words), streams);
  }
  [[nodiscard]] json told(std::vector<std::string> words, int exit, const Streams& streams = {}) const {
    words.emplace_back("--json");
    const Result result = run(std::move(words), streams);
    INFO(result.out << result.err);
    REQUIRE(result.exit == exit);
    return result.json();
  }
  /// The `log` of an answer after which nothing was recorded, held against the lines.
  [[nodiscard]] json log_of(const json& answer) const {
    REQUIRE(answer["log"].is_object());
    const json& log = answer["log"];
    CHECK(log.size() == 4);
    const std::string all = run({"audit", "export"}).out;
    CHECK(log["size"] == lines(all));
    std::string line = run({"audit", "export", "--from", std::to_string(log["index"].get<int>())}).out;
    line.resize(line.find('\n'));
    CHECK(contains(line, answer["decision_id"].get<std::string>()));
    CHECK(log["leaf"] == epsilog::ledger::sha256_hex(std::string(1, '\0') + line));
    CHECK(log["root"].get<std::string>().size() == 64);
    return log;
  }

  Workbench bench;
};

}  // namespace

TEST_CASE("log: every verb that answers for a decision says where its line stands", "[cli][json][log]") {
  const Bench bench;
  const auto later = [&](const json& first, const std::vector<std::string>& words, int exit) {
    const json before = bench.log_of(first);
    REQUIRE(bench.run({"release", "clinic", "count", "--epsilon", "1000", "--as", "carol"}).exit == 4);
    const json now = bench.log_of(bench.told(words, exit));
    CHECK(now["index"] == before["index"]);
    CHECK(now["leaf"] == before["leaf"]);
    CHECK(now["size"].get<int>() > before["size"].get<int>());
    CHECK(now["root"] != before["root"]);
  };
  const auto twice = [&](const std::vector<std::string>& words, int exit, const Streams& streams = {}) {
    const json answer = bench.told(words, exit, streams);
    later(answer, words, exit);
    later(bench.told(words, exit), {"show", answer["decision_id"].get<std::string>()}, 0);
    return answer["decision_id"].get<std::string>();
  };
  const auto by = [](const char* who, std::vector<std::string> words) {
    words.insert(words.end(), {"--as", who});
    return words;
  };
  const auto ask = [&](const char* verb, const char* epsilon, const char* key) {
    return by("alice", {verb, "clinic", "count", "--epsilon", epsilon, "--key", key});
  };
  twice(ask("release", "0.1", "a"), 0);
  twice(ask("release", "1000", "b"), 4);
  twice(by("alice", {"commit", twice(ask("reserve", "0.1", "c"), 0)}), 0);
  twice(by("alice", {"cancel", bench.told(ask("reserve", "0.1", "d"), 0)["decision_id"]}), 0);
  const json guarded =
      bench.told(by("alice", {"reserve", "clinic", "value:auc", "--epsilon", "0.1", "--data-token"}), 0);
  twice(by("alice", {"token", guarded["decision_id"]}), 0);
  const std::string waits = twice(ask("release", "0.3", "e"), 5);
  twice(by("carol", {"approve", waits}), 0);
  twice(by("dave", {"reject", waits, "--why", "no"}), 0);
}

TEST_CASE("log: plan, history, pending and texts say nothing of it", "[cli][json][log]") {
  const Bench bench;
  const std::string id =
      bench.told({"reserve", "clinic", "count", "--epsilon", "0.1", "--as", "alice"}, 0)["decision_id"];
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"pending"},
        {"plan", "clinic", "count", "--epsilon", "0.1", "--as", "alice"}}) {
    CAPTURE(words.front());
    CHECK_FALSE(bench.told(words, 0).contains("log"));
  }
  const std::string history = epsilog::test::decisions_of(bench.run({"history", "--json"}).out);
  CHECK_FALSE(json::parse(history).contains("log"));
  const json log = bench.log_of(bench.told({"show", id}, 0));
  for (const char* way : {"--verbose", "--quiet"}) {
    const Result text = bench.run({"show", id, way});
    CHECK(text.exit == 0);
    CHECK_FALSE(contains(text.out, log["leaf"].get<std::string>()));
    CHECK_FALSE(contains(text.out, log["root"].get<std::string>()));
  }
}

TEST_CASE("log: a decision that is not known to be durable has none", "[cli][json][log][negative]") {
  const Bench bench;
  const std::string id =
      bench.told({"release", "clinic", "count", "--epsilon", "0.1", "--as", "alice"}, 0)["decision_id"];
  bench.bench.write("L.poisoned", "{\"reason\": \"committing\"}");
  const json shown = bench.told({"show", id}, 7);
  check_members(shown, R"({"durable": false, "log": null})");
}
