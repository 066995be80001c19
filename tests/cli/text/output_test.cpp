// What reaches terminals, pipes and full disks.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

constexpr const char* kEscape = "\x1b[";

std::string only_id(const Workbench& bench) {
  return nlohmann::json::parse(decisions_of(bench.with_ledger({"history", "--json"}).out))["decision_id"];
}

}  // namespace

TEST_CASE(
    "output: a release shows value, accuracy, cost, decision and what remains, --verbose the mechanism too",
    "[cli][output]") {
  const Workbench bench(kClinicPolicy);
  const Result result =
      bench.with_ledger({"release", "clinic", "sum:cost", "--epsilon", "0.25", "--where", "age >= 18"});
  CHECK(result.exit == 0);
  CHECK(result.err.empty());
  for (const char* part : {"sum:cost of clinic where age >= 18: ", "95 % confidence within ",
                           "of the exact answer", "epsilon 0.25\n", "0.75", "█"}) {
    CAPTURE(part, result.out);
    CHECK(contains(result.out, part));
  }
  for (const char* part : {"snapping", "scale", "proved"}) {
    CAPTURE(part);
    CHECK_FALSE(contains(result.out, part));
    CHECK(contains(bench.with_ledger({"show", only_id(bench), "--verbose"}).out, part));
  }
  CHECK(contains(result.out, only_id(bench)));
  CHECK(bench.with_ledger({"show", only_id(bench)}).out == result.out);
}

TEST_CASE("output: a histogram is a table with one line for each declared value", "[cli][output]") {
  const Workbench bench(kClinicPolicy);
  const Result result = bench.with_ledger({"release", "clinic", "histogram:ward", "--epsilon", "0.5"});
  CHECK(contains(result.out, "count of clinic by ward"));
  for (const char* key : {"\n  A ", "\n  B ", "\n  it's, C "}) CHECK(contains(result.out, key));
}

TEST_CASE("quiet: prints the exact value and nothing else", "[cli][output][exact]") {
  const Workbench bench(kClinicPolicy);
  const std::vector<std::string> ask = {"release", "clinic", "mean:cost", "--epsilon", "0.2", "--key", "k"};
  std::vector<std::string> quiet = ask;
  quiet.emplace_back("--quiet");
  std::vector<std::string> as_json = ask;
  as_json.emplace_back("--json");
  const std::string value = bench.with_ledger(as_json).json()["value"];
  CHECK(bench.with_ledger(quiet).out == value + "\n");
  const Result cells =
      bench.with_ledger({"release", "clinic", "histogram:ward", "--epsilon", "0.2", "--quiet"});
  CHECK(lines(cells.out) == 3);
  CHECK(contains(cells.out, "it's, C\t"));
}

TEST_CASE("colour: only on a terminal, and not with NO_COLOR or a dumb one", "[cli][output]") {
  Workbench bench(kClinicPolicy);
  const std::vector<std::string> plan = {"plan", "clinic", "count", "--epsilon", "0.1"};
  CHECK_FALSE(contains(bench.with_ledger(plan).out, kEscape));
  if (!terminals_exist()) {
    WARN("no pseudo-terminal to be had here: only redirected output was checked");
    return;
  }
  Streams terminal;
  terminal.terminal = true;
  CHECK(contains(bench.with_ledger(plan, terminal).out, kEscape));
  bench.environment["NO_COLOR"] = "1";
  CHECK_FALSE(contains(bench.with_ledger(plan, terminal).out, kEscape));
  bench.environment["NO_COLOR"] = "";
  CHECK(contains(bench.with_ledger(plan, terminal).out, kEscape));
  bench.environment["TERM"] = "dumb";
  CHECK_FALSE(contains(bench.with_ledger(plan, terminal).out, kEscape));
}

TEST_CASE("bars: block characters in a UTF-8 locale, # and . elsewhere", "[cli][output]") {
  Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.5"}).exit == 0);
  CHECK(contains(bench.with_ledger({"budget"}).out, "████████████░░░░░░░░░░░░\n"));
  bench.environment["LC_ALL"] = "C";
  const std::string plain = bench.with_ledger({"budget"}).out;
  CHECK(contains(plain, "############............\n"));
  CHECK(std::all_of(plain.begin(), plain.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST_CASE("full disk: a granted answer that could not be printed is named, kept, and free to fetch",
          "[cli][output][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::vector<std::string> ask = {"release", "clinic", "count", "--epsilon", "0.1", "--key", "k"};
  std::vector<Streams> sinks(3);
  sinks[0].output_file = "/dev/full";
  sinks[1].close_output = true;
  sinks[2].broken_pipe = true;
  for (const Streams& sink : sinks) {
    const Result result = bench.with_ledger(ask, sink);
    CAPTURE(result.err);
    CHECK(result.exit == 1);
    CHECK(lines(result.err) == 1);
    CHECK(contains(result.err, "standard output"));
    CHECK(contains(result.err, "epsilog show " + only_id(bench)));
  }
  CHECK(bench.with_ledger({"show", only_id(bench)}).exit == 0);
  CHECK(bench.with_ledger({"budget", "--json"}).json()["accounts"][0]["spent"] == "0.1");
  for (const Streams& sink : sinks) {
    const Result budget = bench.with_ledger({"budget"}, sink);
    const Result help = bench.run({"--help"}, sink);
    CHECK(budget.exit == 1);
    CHECK(help.exit == 1);
    // A reader that had enough is told nothing; what a disk did not take is.
    CHECK(budget.err.empty() == sink.broken_pipe);
    CHECK(help.err.empty() == sink.broken_pipe);
  }
}

TEST_CASE("history: a table for people, oldest first, refusals included", "[cli][output]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.5", "--as", "ann"}).exit == 0);
  REQUIRE(bench.with_ledger({"release", "clinic", "units", "--epsilon", "2", "--as", "bob"}).exit == 4);
  const Result result = bench.with_ledger({"history"});
  CHECK(result.exit == 0);
  CHECK(lines(result.out) == 10);  // the ledger's beginning and its first policy, too
  CHECK(result.out.rfind("decision ", 0) == 0);
  for (const char* heading : {"at (UTC)", "outcome", "charged", "question: value"}) {
    CHECK(contains(result.out, heading));
  }
  CHECK(result.out.find("count of clinic for ann") < result.out.find("units of clinic for bob"));
  CHECK(contains(result.out, "refused"));
  CHECK(lines(bench.with_ledger({"history", "--limit", "1"}).out) == 4);
  CHECK(lines(bench.with_ledger({"history", "--quiet"}).out) == 2);
}

TEST_CASE("names: control characters in an argument cannot steer the terminal", "[cli][output][negative]") {
  const Workbench bench(kClinicPolicy);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"budget", "cli\x1b[31m\nnic", "--ledger", "L"},
        {"budget", "--ledger", "no\x1b[31m\nwhere"},
        {"policy", "check", "no\x1b[31m\nwhere"},
        {"rel\x1b[31m\nease"}}) {
    const Result result = bench.run(words);
    CAPTURE(result.err);
    CHECK((result.exit == 2 || result.exit == 3));
    CHECK(lines(result.err) == 1);
    CHECK_FALSE(contains(result.err, kEscape));
  }
  CHECK(contains(bench.run({"budget", "--ledger", "no\x1bwhere"}).err, "no\\x1bwhere"));
}
