// audit reaccount: what history cost under each accountant, the same as compose says of the same mechanisms.
#include "cli/workbench.hpp"
#include "epsilog/accounting/rational.hpp"

using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

const std::vector<std::string> kAccountants = {"pure", "approximate", "advanced", "optimal",
                                               "zcdp", "rdp",         "pld"};
constexpr const char* kLabel = "retrospective, valid only for parameters fixed in advance";

json released(const Workbench& bench, const std::string& statistic, const std::string& epsilon) {
  const Result result = bench.with_ledger({"release", "clinic", statistic, "--epsilon", epsilon, "--json"});
  CAPTURE(result.err);
  REQUIRE(result.exit == 0);
  return result.json();
}

json reaccounted(const Workbench& bench, Words options) {
  const Words words = with({"audit", "reaccount", "--json"}, options);
  const Result result = bench.with_ledger(words);
  CAPTURE(result.err);
  REQUIRE(result.exit == 0);
  REQUIRE(result.json()["label"] == kLabel);
  REQUIRE(result.json()["datasets"].size() == 1);
  return result.json()["datasets"][0];
}

/// A component as recorded, in the words of compose.
std::string mechanism_of(const json& component, int count) {
  const auto word = [&](const char* name, const char* field) {
    return std::string(" ") + name + "=" + component[field].get<std::string>();
  };
  return "snapping" + word("scale", "scale") + word("sensitivity", "sensitivity") + word("bound", "bound") +
         " precision=" + component["precision"].dump() + " coordinates=" + component["coordinates"].dump() +
         " count=" + std::to_string(count);
}

}  // namespace

TEST_CASE("reaccount: agrees with compose on the recorded mechanisms", "[cli][audit][reaccount]") {
  const Workbench bench(kClinicPolicy);
  json count, mean;
  for (int i = 0; i < 4; ++i) count = released(bench, "count", "0.1");
  for (int i = 0; i < 2; ++i) mean = released(bench, "mean:cost", "0.2");
  Words compose{"compose", "--json",      "--delta",
                "1e-6",    "--mechanism", mechanism_of(count["components"][0], 4)};
  for (const json& component : mean["components"]) {
    compose.insert(compose.end(), {"--mechanism", mechanism_of(component, 2)});
  }
  const json composed = bench.run(compose).json();
  const json answer = reaccounted(bench, {});
  for (const std::string& accountant : kAccountants) {
    CAPTURE(accountant, composed[accountant].dump(), answer[accountant].dump());
    const Rational one = parse_rational(composed[accountant]["epsilon"].get<std::string>(), "epsilon");
    const Rational other = parse_rational(answer[accountant]["epsilon"].get<std::string>(), "epsilon");
    // The same laws in another order: the last digits of bounds may differ.
    CHECK(abs(one - other) <= parse_rational("1e-9", "tolerance"));
    if (accountant != "zcdp" && accountant != "rdp") CHECK(other <= parse_rational("0.8", "charged"));
  }
  check_members(answer, R"({"dataset": "clinic", "scope": "", "delta": "0.000001", "releases": 6,
      "draws": 8})");
  CHECK(answer["laws"] == 2);  // the count of the mean is noised as the count is
  CHECK(answer["inexpressible"] == 0);
  CHECK(answer["charged"]["epsilon"] == "0.8");
  CHECK(answer.find("least") != answer.end());
}

TEST_CASE("reaccount: text names every accountant, what was charged, and that it is in retrospect",
          "[cli][audit][reaccount]") {
  const Workbench bench(kClinicPolicy);
  for (int i = 0; i < 8; ++i) static_cast<void>(released(bench, "count", "0.1"));
  const std::string before = dump(bench.path("L"));
  const Result text = bench.with_ledger({"audit", "reaccount"});
  CAPTURE(text.out);
  CHECK(text.exit == 0);
  for (const std::string& accountant : kAccountants) CHECK(contains(text.out, "\n  " + accountant));
  check_parts(text.out, {"clinic: 8 releases, 8 draws by 1 different law, at delta 0.000001", "\n  charged",
                         "only if fixed in advance"});
  CHECK(contains(text.out, std::string(kLabel) + "\n"));
  const Result quiet = bench.with_ledger({"audit", "reaccount", "clinic", "--quiet"});
  CHECK(quiet.out == reaccounted(bench, {})["least"]["epsilon"].get<std::string>() + "\n");
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("reaccount: one accountant, another delta, or an epsilon", "[cli][audit][reaccount]") {
  const Workbench bench(kClinicPolicy);
  for (int i = 0; i < 5; ++i) static_cast<void>(released(bench, "count", "0.1"));
  const json one = reaccounted(bench, {"clinic", "--accountant", "pld", "--delta", "1e-3"});
  CHECK(one["delta"] == "0.001");
  CHECK(one.find("pure") == one.end());
  CHECK(one["least"] == one["pld"]);
  CHECK(reaccounted(bench, {"--accountant", "all", "--delta", "1e-3"})["pld"] == one["pld"]);
  const json delta = reaccounted(bench, {"--epsilon", "0.3"});
  check_members(delta, R"({"epsilon": "0.3", "charged": null, "pure": null})");
  CHECK(parse_rational(delta["pld"]["delta"].get<std::string>(), "delta") > 0);
  CHECK(reaccounted(bench, {"--epsilon", "0.5"})["charged"]["delta"] == "0");
}

TEST_CASE("reaccount: what is wrong with the question is said", "[cli][audit][reaccount][negative]") {
  const Workbench bench(kClinicPolicy);
  struct Case {
    Words options;
    int exit;
    const char* message;
  };
  for (const Case& wrong : std::vector<Case>{
           {{"--accountant", "pdl"}, 2, "there is no 'pdl'; there are pure, approximate"},
           {{"--delta", "1"}, 2, "--delta: '1' must be below 1"},
           {{"--delta", "-1"}, 2, "--delta"},
           {{"--epsilon", "x"}, 2, "--epsilon"},
           {{"--epsilon", "1", "--delta", "0.1"}, 2, "give one of them"},
           {{"clinc"}, 3, "Did you mean 'clinic'?"},
       }) {
    Words words{"audit", "reaccount"};
    words.insert(words.end(), wrong.options.begin(), wrong.options.end());
    const Result result = bench.with_ledger(words);
    CAPTURE(result.err);
    CHECK(result.exit == wrong.exit);
    CHECK(contains(result.err, wrong.message));
    CHECK(result.out.empty());
  }
}
