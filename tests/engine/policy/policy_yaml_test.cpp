// What is refused of YAML, and where the faults point.
#include <ctime>

#include "checked_rows.hpp"
#include "epsilog/engine/policy.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

using Texts = std::vector<std::string>;

namespace {

/// A policy with one more column, written as given, on line 10.
std::string with_column(const std::string& column) {
  PolicyText text;
  text.columns = "\n      age: {type: int, bounds: [0, 110]}\n      " + column;
  return text.yaml();
}

/// Whether the text is refused, by PolicyError alone, in the time a person does not notice.
bool refused_quickly(const std::string& yaml) {
  const std::clock_t start = std::clock();  // of this process: a busy machine does not count
  const bool refused = !faults_of(yaml).empty();
  return refused && std::clock() - start < 5 * CLOCKS_PER_SEC;
}

std::string all_replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

TEST_CASE("policy: CR LF lines, a byte order mark and comments change nothing", "[engine][policy][yaml]") {
  const std::string plain = PolicyText{}.yaml();
  CHECK(faults_of(all_replaced(plain, "\n", "\r\n")).empty());
  CHECK(faults_of("\xEF\xBB\xBF" + plain).empty());
  CHECK(faults_of("# first\n\n" + plain + "\t# last, after a tab\n").empty());
  CHECK(faults_of("---\n" + plain + "...\n").empty());

  const Texts with_lf = faults_of(all_replaced(plain, "epsilon: 3", "epsilon: 0"));
  REQUIRE(with_lf.size() == 1);
  CHECK(with_lf[0].starts_with("8:23: "));
  CHECK(faults_of("\xEF\xBB\xBF" +
                  all_replaced(all_replaced(plain, "epsilon: 3", "epsilon: 0"), "\n", "\r\n")) == with_lf);
  CHECK(faults_of(all_replaced(plain, "\n", "\r")) ==
        Texts{"1:11: a carriage return inside a line: end lines with LF or CR LF"});
}

TEST_CASE("policy: what YAML lets pass and a policy does not is refused, each at its place",
          "[engine][policy][yaml][negative]") {
  const std::string faults = EPSILOG_SOURCE_DIR "/tests/engine/policy/yaml_faults.tsv";
  check_rows(faults, "column", [](const CaseRow& row) { return joined(faults_of(with_column(row[1]))); });
  check_rows(faults, "text", [](const CaseRow& row) { return joined(faults_of(row[1])); });
  check_rows(faults, "bytes", [](const CaseRow& row) {
    return joined(faults_of("# " + row[1] + "\n" + PolicyText{}.yaml()));
  });
  CHECK(faults_of("---\n").size() == 1);
}

TEST_CASE("policy: a syntax error is one fault, whatever was found before it",
          "[engine][policy][yaml][negative]") {
  PolicyText text;
  text.budget = "&a {epsilon: 0}";
  CHECK(faults_of(text.yaml() + "    allow: [}\n") ==
        Texts{"10:12: this '[' is not closed: a ']' is missing"});
  CHECK(faults_of(with_column("ward: \"\\q\"")).size() == 1);
}

TEST_CASE("policy: duplicates are found in every map, even where keys are unknown",
          "[engine][policy][yaml][negative]") {
  const Texts nested = faults_of(with_column("w: {type: bool, x: {y: [{z: 1, \"z\": 2}]}}"));
  REQUIRE(nested.size() == 2);
  CHECK(nested[0].starts_with("11:23: unknown key 'x'"));
  CHECK(nested[1] == "11:38: duplicate key 'z': it is already given on line 11");
}

TEST_CASE("policy: deep nesting, alias bombs and very long texts are refused quickly",
          "[engine][policy][yaml][negative]") {
  const std::size_t most = std::size_t{250} * 1024;
  CHECK(refused_quickly(std::string(most, '[')));
  CHECK(refused_quickly(std::string(most, '{')));
  CHECK(refused_quickly(all_replaced(std::string(most / 4, '-'), "-", "- ")));
  CHECK(refused_quickly(all_replaced(std::string(most / 4, '?'), "?", "? ")));
  CHECK(refused_quickly("[" + all_replaced(std::string(most / 4, 'x'), "x", "x,") + "]"));
  CHECK(refused_quickly("a: " + std::string(most, 'x')));
  CHECK(refused_quickly("a: '" + std::string(most, '\'')));
  CHECK(refused_quickly(std::string(most, '\n')));
  CHECK(refused_quickly(std::string(most, '#')));

  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  CHECK(refused_quickly(bomb));

  std::string many_queries = "version: 1\ndatasets:\n  d:\n    queries:\n";
  for (int i = 0; i < 6'000; ++i) many_queries += "      q" + std::to_string(i) + ": {bonds: 1}\n";
  CHECK(refused_quickly(many_queries));
}

TEST_CASE("policy: the limits on nesting and on the number of values are sharp",
          "[engine][policy][yaml][negative]") {
  const auto nested = [](std::size_t depth) {
    return faults_of("a: " + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "\n");
  };
  const auto is_too_deep = [](const Texts& faults) {
    return faults.size() == 1 && faults[0].find("nested deeper than 32 levels") != std::string::npos;
  };
  CHECK_FALSE(is_too_deep(nested(32)));
  CHECK(is_too_deep(nested(33)));

  // A map, a key and a list are three values of the 50,000.
  const auto listed = [](std::size_t count) {
    return faults_of("a: [" + all_replaced(std::string(count, 'x'), "x", "x,") + "]\n");
  };
  CHECK(listed(49'997).back().find("more than 50000 values") == std::string::npos);
  CHECK(listed(49'998) == Texts{"1:99999: more than 50000 values in one policy"});
}
