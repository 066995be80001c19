// The command line: verbs, options, numbers. Wrong ones end with exit code 2, one line on standard
// error, and nothing on standard output.
#include "cli/workbench.hpp"
#include "support/case_table.hpp"

using namespace epsilog::test;

namespace {

/// One clear line, no data.
void check_usage(const Result& result, const std::string& part) {
  CAPTURE(result.err, part);
  CHECK(result.exit == 2);
  CHECK(result.out.empty());
  CHECK(lines(result.err) == 1);
  CHECK(result.err.rfind("epsilog: ", 0) == 0);
  CHECK(contains(result.err, part));
}

std::vector<Words> verbs() {
  std::vector<Words> result;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/cli/verbs.tsv")) {
    result.push_back(words_of(row.at(0)));
  }
  return result;
}

}  // namespace

TEST_CASE("help: examples come first, for the command and for every verb", "[cli][help]") {
  const Workbench bench;
  const Result root = bench.run({"--help"});
  CHECK(root.exit == 0);
  CHECK(root.err.empty());
  CHECK(root.out.find("Examples") < root.out.find("Verbs"));
  for (const Words& verb : verbs()) {
    Words words = verb;
    words.emplace_back("--help");
    const Result result = bench.run(words);
    CAPTURE(result.out);
    CHECK(result.exit == 0);
    CHECK(result.out.rfind("Examples\n", 0) == 0);
    const std::string name = verb.size() == 1 ? verb[0] : verb[0] + " " + verb[1];
    CHECK(contains(result.out, "\n  epsilog " + name));
    CHECK(contains(root.out, "\n  " + name + " "));
  }
}

TEST_CASE("help: `help VERB`, `VERB --help` and `-h` say the same", "[cli][help]") {
  const Workbench bench;
  const std::string text = bench.run({"release", "--help"}).out;
  CHECK(bench.run({"help", "release"}).out == text);
  CHECK(bench.run({"-h", "release"}).out == text);
  CHECK(contains(bench.run({"policy", "--help"}).out, "policy apply"));
  CHECK(bench.run({"help", "nonsense"}).exit == 2);
}

TEST_CASE("version: --version prints the name and three numbers, then commit, build and libraries",
          "[cli][help]") {
  const Result result = Workbench().run({"--version"});
  CHECK(result.exit == 0);
  CHECK(result.out.rfind("epsilog ", 0) == 0);
  const std::string first = result.out.substr(0, result.out.find('\n'));
  CHECK(std::count(first.begin(), first.end(), '.') == 2);
  for (const char* part : {"commit ", "build ", "SQLite 3.", "MPFR 4.", "GMP 6.", "yaml-cpp 0.", "fmt "}) {
    CAPTURE(part, result.out);
    CHECK(contains(result.out, part));
  }
  CHECK_FALSE(contains(result.out, "/"));  // no path of the machine it was built on
}

TEST_CASE(
    "usage: a command with wrong verbs, options, words or values is refused by name and records nothing",
    "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  for (const CaseRow& row : cli_table("text/usage.tsv")) {
    CAPTURE(row);
    check_usage(bench.run({row.begin() + 1, row.end()}), row.at(0));
  }
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("ledger: verbs that need one and are told none end with exit code 2", "[cli][negative]") {
  Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  for (const CaseRow& row : cli_table("ledger_verbs.tsv")) {
    if (!contains(row.at(0), "unnamed")) continue;
    check_usage(bench.run(words_of(row.at(1))), "EPSILOG_LEDGER");
  }
  bench.environment["EPSILOG_LEDGER"] = "";
  check_usage(bench.run({"budget"}), "EPSILOG_LEDGER");
  check_usage(bench.run({"budget", "--ledger", ""}), "--ledger");
}

TEST_CASE("epsilon: what is not a positive exact number is refused and changes no table",
          "[cli][negative][exact]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  const std::vector<std::string> files = bench.files();
  for (const char* text :
       {"abc",    "0",      "0.0",   "0/5", "-1", "-0",  "nan", "NaN",   "inf",
        "-inf",   "0x1p-3", "1_000", ".5",  "5.", ".5.", "1e",  "1e999", "1/0",
        "1/",     "1/2/3",  "+1",    " 1",  "1 ", "",    "1,5", "1e-13", "1/10000000000000",
        "3000000"}) {
    for (const char* verb : {"release", "plan"}) {
      CAPTURE(text, verb);
      check_usage(bench.with_ledger({verb, "clinic", "count", "--epsilon", text}), "--epsilon");
      check_usage(bench.with_ledger({verb, "clinic", "count", std::string("--epsilon=") + text}),
                  "--epsilon");
    }
  }
  CHECK(dump(bench.path("L")) == before);
  CHECK(bench.files() == files);
}

TEST_CASE("numbers: alpha, wait, limit and the calculator's are checked", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  for (const char* alpha : {"0", "1", "2", "-0.05", "nan", "x", "[0.1,0.2]"}) {
    check_usage(bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1", "--alpha", alpha}),
                "--alpha");
  }
  for (const char* wait : {"-1", "soon", "1e9", ""}) {
    check_usage(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--wait", wait}),
                "--wait");
  }
  for (const char* limit : {"0", "-3", "1.5", "ten", "99999999999999999999"}) {
    check_usage(bench.with_ledger({"history", "--limit", limit}), "--limit");
  }
  const Words calculator = {"accuracy", "snapping", "--epsilon", "1", "--sensitivity", "1", "--bound", "100"};
  const auto with = [&](const std::string& option, const std::string& value) {
    Words words = calculator;
    for (std::size_t i = 2; i < words.size(); i += 2) {
      if (words[i] != option) continue;
      words[i + 1] = value;
      return words;
    }
    words.insert(words.end(), {option, value});
    return words;
  };
  CHECK(bench.run(calculator).exit == 0);
  check_usage(bench.run(with("--sensitivity", "0")), "--sensitivity");
  check_usage(bench.run(with("--bound", "-1")), "--bound");
  check_usage(bench.run(with("--arithmetic", "double")), "--arithmetic");
  check_usage(bench.run(with("--precision", "many")), "--precision");
  check_usage(bench.run(with("--coordinates", "0")), "--coordinates");
}

TEST_CASE("names: an unusable --as or --key is refused", "[cli][negative]") {
  const Workbench bench(kClinicPolicy);
  for (const char* option : {"--as", "--key"}) {
    for (const std::string& text : {std::string(), std::string("two\nlines"), std::string("\xff\xfe"),
                                    std::string("esc\x1b[31m"), std::string(300, 'k')}) {
      check_usage(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", option, text}),
                  option);
    }
  }
}

TEST_CASE("options: before the verb, after it, and as --x=V mean the same", "[cli]") {
  Workbench bench(kClinicPolicy);
  const std::vector<Words> spellings = {
      {"plan", "clinic", "mean:cost", "--epsilon", "0.1", "--json", "--ledger", "L"},
      {"--epsilon", "0.1", "--json", "--ledger", "L", "plan", "clinic", "mean:cost"},
      {"--json", "plan", "--epsilon=0.1", "clinic", "--ledger=L", "mean:cost"},
      {"plan", "--ledger", "L", "--json", "--epsilon", "0.1", "--", "clinic", "mean:cost"}};
  const std::string expected = bench.run(spellings[0]).out;
  CHECK(contains(expected, "\"granted\""));
  for (const Words& words : spellings) CHECK(bench.run(words).out == expected);
}

TEST_CASE("environment: EPSILOG_LEDGER names the ledger and --ledger goes before it", "[cli]") {
  Workbench bench(kClinicPolicy);
  const std::string expected = bench.with_ledger({"budget"}).out;
  bench.environment["EPSILOG_LEDGER"] = "L";
  CHECK(bench.run({"budget"}).out == expected);
  CHECK(bench.run({"budget", "--ledger", "elsewhere"}).exit == 3);
  bench.environment["EPSILOG_LEDGER"] = "elsewhere";
  CHECK(bench.run({"budget"}).exit == 3);
  CHECK(bench.with_ledger({"budget"}).out == expected);
}

TEST_CASE("datasets: one may be called like a verb", "[cli]") {
  const Workbench bench(epsilog::test::replaced(kClinicPolicy, "  clinic:", "  plan:"));
  CHECK(bench.with_ledger({"release", "plan", "count", "--epsilon", "0.1"}).exit == 0);
  CHECK(bench.with_ledger({"budget", "plan"}).exit == 0);
}
