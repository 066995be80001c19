// Calculators refuse what has no answer: exit code 2 and one line that names the option.
#include <algorithm>

#include "support/catch.hpp"
#include "workbench.hpp"

using namespace epsilog::test;

namespace {

using Words = std::vector<std::string>;

const std::vector<Words> kCommands = {
    {"accuracy", "snapping", "--epsilon", "1", "--sensitivity", "1", "--bound", "100", "--alpha", "0.05"},
    {"accuracy", "snapping", "--epsilon", "1", "--sensitivity", "1", "--bound", "100", "--at", "3"},
    {"accuracy", "snapping", "--epsilon", "1", "--sensitivity", "1", "--bound", "100", "--accuracy", "3"},
    {"accuracy", "discrete-gaussian", "--scale", "3", "--alpha", "0.05"},
    {"accuracy", "discrete-gaussian", "--accuracy", "3", "--alpha", "0.05"},
    {"accuracy", "discrete-gaussian", "--scale", "3", "--accuracy", "2"},
    {"accuracy", "discrete-laplace", "--scale", "3", "--alpha", "0.05"},
    {"accuracy", "discrete-laplace", "--accuracy", "3", "--alpha", "0.05"},
    {"accuracy", "discrete-laplace", "--scale", "3", "--accuracy", "2"},
    {"calibrate", "snapping", "--accuracy", "40", "--alpha", "0.05", "--sensitivity", "1"},
    {"calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-6", "--sensitivity", "1"},
    {"calibrate", "gaussian", "--sigma", "3", "--epsilon", "1", "--sensitivity", "1"},
    {"tolerance", "laplace", "--epsilon", "1", "--l1", "1", "--flakiness", "10", "--partitions", "2"},
    {"tolerance", "gaussian", "--epsilon", "1", "--delta", "1e-6", "--l2", "1", "--flakiness", "10"},
    {"calibrate", "snapping", "--lambda", "8", "--sensitivity", "1", "--bound", "100", "--alpha", "0.05"},
    {"tolerance", "mean", "--epsilon", "1",  "--delta",    "1e-6", "--lower",      "0", "--upper",     "10",
     "--sum",     "50",   "--count",   "10", "--max-rows", "2",    "--partitions", "3", "--flakiness", "10"}};

void check_refused(const Result& result, const std::string& part) {
  CAPTURE(result.err, result.out, part);
  CHECK(result.exit == 2);
  CHECK(result.out.empty());
  CHECK(lines(result.err) == 1);
  CHECK(result.err.rfind("epsilog: ", 0) == 0);
  CHECK(contains(result.err, part));
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
  for (const Words& command : kCommands) {
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
  for (const Words& command : kCommands) {
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
  for (const Words& command : kCommands) {
    for (const char* option : {"--alpha", "--delta"}) {
      if (std::find(command.begin(), command.end(), option) == command.end()) continue;
      for (const char* text : {"1", "1.5", "1e300"}) {
        check_refused(bench.run(replaced(command, option, text)),
                      std::string(option) + ": '" + text + "' must lie between 0 and 1");
      }
    }
  }
}

TEST_CASE("calculators: a missing option is named", "[cli][calculator][negative]") {
  const Workbench bench;
  check_refused(bench.run({"accuracy", "snapping"}), "--epsilon and --sensitivity and --bound are required");
  check_refused(bench.run({"accuracy", "discrete-gaussian", "--scale", "3"}),
                "--alpha or --accuracy is required");
  check_refused(bench.run({"accuracy", "discrete-laplace", "--alpha", "0.1"}),
                "--scale or --accuracy is required");
  check_refused(bench.run({"accuracy", "discrete-laplace"}),
                "--scale and --alpha, or --accuracy and --alpha, or --scale and --accuracy are required");
  check_refused(bench.run({"calibrate", "gaussian", "--epsilon", "1", "--sensitivity", "1"}),
                "--delta or --sigma is required");
  check_refused(bench.run({"calibrate", "gaussian", "--epsilon", "1", "--delta", "0.1"}),
                "--sensitivity is required");
  check_refused(bench.run({"tolerance", "laplace", "--epsilon", "1", "--l1", "1"}),
                "--flakiness is required");
  check_refused(bench.run({"tolerance", "mean", "--epsilon", "1", "--lower", "0", "--upper", "1", "--sum",
                           "1", "--flakiness", "3"}),
                "--count is required");
}

TEST_CASE("calculators: superfluous and foreign options are named", "[cli][calculator][negative]") {
  const Workbench bench;
  check_refused(
      bench.run({"accuracy", "discrete-gaussian", "--scale", "3", "--accuracy", "3", "--alpha", "0.1"}),
      "--accuracy or --scale or --alpha is superfluous");
  check_refused(bench.run({"calibrate", "gaussian", "--epsilon", "1", "--delta", "0.1", "--sensitivity", "1",
                           "--sigma", "3"}),
                "--sigma or --delta is superfluous");
  check_refused(bench.run({"accuracy", "snapping", "--epsilon", "1", "--sensitivity", "1", "--bound", "9",
                           "--accuracy", "3", "--at", "1"}),
                "--accuracy or --at is superfluous");
  check_refused(bench.run({"accuracy", "snapping", "--epsilon", "1", "--accuracy", "3", "--at", "1"}),
                "these do not go together: --epsilon, --at, --accuracy");
  check_refused(
      bench.run({"tolerance", "laplace", "--epsilon", "1", "--l1", "1", "--flakiness", "3", "--l2", "1"}),
      "epsilog tolerance laplace takes no --l2");
  check_refused(bench.run({"tolerance", "mean", "--integer"}), "epsilog tolerance mean takes no --integer");
  check_refused(
      bench.run({"accuracy", "discrete-gaussian", "--scale", "3", "--alpha", "0.1", "--alpha", "0.2"}),
      "--alpha: only once here");
  check_refused(bench.run({"forecast", "clinic", "count", "--epsilon", "1", "--batch", "-"}),
                "epsilog forecast takes no --batch");
}

TEST_CASE("calculators: ranges that contradict each other are refused", "[cli][calculator][negative]") {
  const Workbench bench;
  const Words& mean = kCommands.back();
  check_refused(bench.run(replaced(mean, "--lower", "10")), "lower");
  check_refused(bench.run(replaced(mean, "--sum", "101")), "sum");
  check_refused(bench.run(replaced(mean, "--sum", "-1")), "sum");
  check_refused(bench.run(replaced(mean, "--count", "1.5")), "count");
  check_refused(bench.run(replaced(kCommands[12], "--flakiness", "1e9")), "flakiness");
  check_refused(bench.run(replaced(kCommands[12], "--partitions", "1.5")), "--partitions");
  check_refused(
      bench.run({"calibrate", "snapping", "--accuracy", "1e-30", "--alpha", "0.05", "--sensitivity", "1"}),
      "accuracy");
  check_refused(bench.run({"calibrate", "snapping", "--accuracy", "1", "--alpha", "0.05", "--sensitivity",
                           "1", "--arithmetic", "mpfr"}),
                "--bound is required");
  const Words scale = {"calibrate", "snapping", "--lambda", "1e-9", "--sensitivity", "1", "--bound", "1"};
  Words narrow = scale;
  narrow.insert(narrow.end(), {"--precision", "53"});
  check_refused(bench.run(replaced(narrow, "--bound", "1e6")), "bound: ");
  Words both = scale;
  both.insert(both.end(), {"--accuracy", "3"});
  check_refused(bench.run(both), "--accuracy is superfluous");
}

TEST_CASE("calculators: a misspelt second word gets the nearest", "[cli][calculator][negative]") {
  const Workbench bench;
  check_refused(bench.run({"accuracy"}),
                "'accuracy' needs a second word: accuracy snapping, accuracy discrete-gaussian");
  check_refused(bench.run({"accuracy", "discrete-gausian"}), "did you mean accuracy discrete-gaussian?");
  check_refused(bench.run({"tolerence", "laplace"}), "did you mean tolerance?");
}

TEST_CASE("calculators: help states formula, rounding and source of every one", "[cli][calculator][help]") {
  Workbench bench;
  bench.environment["COLUMNS"] = "1000";  // no phrase is broken
  const std::vector<std::pair<Words, Words>> expected = {
      {{"accuracy", "snapping"},
       {"Mironov, CCS 2012", "rounded up", "never the true answer", "P(|release - y| > a)"}},
      {{"accuracy", "discrete-gaussian"},
       {"Canonne, Kamath and Steinke", "rounded down", "rounded up", "exp(-x^2/(2 s^2))"}},
      {{"accuracy", "discrete-laplace"},
       {"Ghosh, Roughgarden and Sundararajan", "rounded down", "2 q^a / (1 + q)"}},
      {{"calibrate", "snapping"}, {"multiple of 10^-12", "Rounded up", "D/L + m (18 B/L + 10) 2^-p"}},
      {{"calibrate", "gaussian"}, {"Balle and Wang", "theorem 8", "rounded up", "Phi("}},
      {{"tolerance", "laplace"}, {"Privacy on Beam", "k ln 10", "rounded up", "rounded down"}},
      {{"tolerance", "gaussian"}, {"erfcinv", "rounded up", "rounded down"}},
      {{"tolerance", "mean"}, {"max(1, n)", "rounded up", "rounded down", "never true ones"}}};
  for (const auto& [verb, parts] : expected) {
    Words words = verb;
    words.emplace_back("--help");
    const Result result = bench.run(words);
    CHECK(result.exit == 0);
    for (const std::string& part : parts) {
      CAPTURE(words, part);
      CHECK(contains(result.out, part));
    }
    CHECK(contains(result.out, "--batch FILE|-"));
    CHECK(contains(result.out, "a default for all rows"));
  }
}
