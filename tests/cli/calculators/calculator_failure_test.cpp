// Calculators refuse what has no answer: exit code 2 and one line that names the option.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

void check_refused(const Result& result, const std::string& part) {
  CAPTURE(result.err, result.out, part);
  CHECK(result.exit == 2);
  CHECK(result.out.empty());
  CHECK(lines(result.err) == 1);
  CHECK(result.err.rfind("epsilog: ", 0) == 0);
  CHECK(contains(result.err, part));
}

std::vector<Words> commands() {
  std::vector<Words> result;
  for (const CaseRow& row : cli_table("calculators/calculator_commands.tsv"))
    result.push_back(words_of(row.at(0)));
  return result;
}

Words replaced(Words words, const std::string& option, const std::string& value) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) words[i + 1] = value;
  }
  return words;
}

}  // namespace

TEST_CASE("calculators: what is no number is refused in every option that takes one",
          "[cli][calculator][negative]") {
  const Workbench bench;
  for (const Words& command : commands()) {
    REQUIRE(bench.run(command).exit == 0);
    for (std::size_t i = 2; i < command.size(); i += 2) {
      for (const char* text : {"nan", "inf", "-inf", "abc", "0x1p-3", "", "1,5", "1e999", "-0", "1/0"}) {
        CAPTURE(command, text);
        check_refused(bench.run(replaced(command, command[i], text)), command[i] + ": '");
      }
    }
  }
}

TEST_CASE("calculators: zero and less are refused where a positive number is meant",
          "[cli][calculator][negative]") {
  const Workbench bench;
  for (const Words& command : commands()) {
    for (std::size_t i = 2; i < command.size(); i += 2) {
      const std::string& option = command[i];
      if (option == "--at" || option == "--lower" || option == "--upper" || option == "--sum") continue;
      CAPTURE(command, option);
      check_refused(bench.run(replaced(command, option, "-1")), option + ": '-1' must ");
      const auto has = [&](const char* name) {
        return std::find(command.begin(), command.end(), name) != command.end();
      };
      const bool may_be_zero = option == "--count" || (option == "--accuracy" && !has("--alpha")) ||
                               (option == "--epsilon" && has("--sigma"));
      if (!may_be_zero) check_refused(bench.run(replaced(command, option, "0")), option + ": '0' must ");
    }
  }
}

TEST_CASE("calculators: a probability of 1 and more is refused", "[cli][calculator][negative]") {
  const Workbench bench;
  for (const Words& command : commands()) {
    for (const char* option : {"--alpha", "--delta"}) {
      if (std::find(command.begin(), command.end(), option) == command.end()) continue;
      for (const char* text : {"1", "1.5", "1e300"}) {
        check_refused(bench.run(replaced(command, option, text)),
                      std::string(option) + ": '" + text + "' must lie between 0 and 1");
      }
    }
  }
}

TEST_CASE("calculators: ranges that contradict each other are refused", "[cli][calculator][negative]") {
  const Workbench bench;
  const Words mean = commands().back();
  check_refused(bench.run(replaced(mean, "--lower", "10")), "lower");
  check_refused(bench.run(replaced(mean, "--sum", "101")), "sum");
  check_refused(bench.run(replaced(mean, "--sum", "-1")), "sum");
  check_refused(bench.run(replaced(mean, "--count", "1.5")), "count");
  check_refused(bench.run(replaced(commands()[12], "--flakiness", "1e9")), "flakiness");
  check_refused(bench.run(replaced(commands()[12], "--partitions", "1.5")), "--partitions");
  const Words scale = {"calibrate", "snapping", "--scale", "1e-9", "--sensitivity", "1", "--bound", "1"};
  const Words narrow = with(scale, {"--precision", "53"});
  check_refused(bench.run(replaced(narrow, "--bound", "1e6")), "bound: ");
  const Words both = with(scale, {"--accuracy", "3"});
  check_refused(bench.run(both), "--accuracy is superfluous");
}

TEST_CASE("calculators: help states formula, rounding and source of every one", "[cli][calculator][help]") {
  Workbench bench;
  bench.environment["COLUMNS"] = "1000";  // no phrase is broken
  for (const CaseRow& row : cli_table("calculators/calculator_help.tsv")) {
    Words words = words_of(row.at(0) + " --help");
    const Result result = bench.run(words);
    CHECK(result.exit == 0);
    for (const std::string& part : row) {
      if (part == row.at(0)) continue;
      CAPTURE(words, part);
      CHECK(contains(result.out, part));
    }
    check_parts(result.out, {"--batch FILE|-", "a default for all rows"});
  }
}
