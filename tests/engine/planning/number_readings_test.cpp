// A number of a policy that its file would read as another one is no policy, and what may be meant otherwise
// is a warning.
#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_warnings.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;

namespace {

/// A policy in which each of the texts stands where a number of the file may.
struct NumbersWritten {
  std::string source = "csv: v.csv, delimiter: ';', decimal: ',', thousands: '.'";
  std::string type = "double";
  std::string upper = "6";
  std::string missing = "1";
  std::string step = "0.5";
  std::string edge = "2";
  std::string bound = "9";
  std::string value = "7";
  std::string mapped = "3";

  [[nodiscard]] std::string yaml() const {
    return "version: 1\ndatasets:\n  clinic:\n    source: {" + source +
           "}\n    unit: row\n    rows: {max: 10}\n    neighbours: add-remove\n    budget: {epsilon: 1}\n"
           "    columns:\n      cost: {type: " +
           type + ", bounds: [-9, " + upper + "], missing: " + missing + ", step: " + step +
           "}\n      band: {from: cost, bins: [0, " + edge + ", 5]}\n      visits: {type: int, values: [0, " +
           value + "]}\n      often: {from: visits, map: {" + mapped +
           ": some}, other: more}\n"
           "      word: {type: string, values: [\"1.234\"]}\n"
           "    release: {sum: {mechanism: snapping, bound: " +
           bound + "}}\n";
  }
};

std::vector<PolicyFault> faults_of(const NumbersWritten& written) {
  try {
    (void)checked_policy(written.yaml(), "p.yaml");
    return {};
  } catch (const PolicyError& error) {
    return error.faults();
  }
}

std::vector<std::string> readings_warned(const NumbersWritten& written) {
  std::vector<std::string> result;
  for (const PolicyFault& warning : policy_warnings(checked_policy(written.yaml(), "p.yaml"), "p.yaml")) {
    if (warning.message.find("the point of ") != std::string::npos) result.push_back(warning.message);
  }
  return result;
}

/// The written policy with one number in place of another.
struct NumberPlace {
  std::string NumbersWritten::*number;
  const char* subject;
};
constexpr NumberPlace kNumberPlaces[] = {
    {&NumbersWritten::upper, "columns.cost.bounds"}, {&NumbersWritten::missing, "columns.cost.missing"},
    {&NumbersWritten::step, "columns.cost.step"},    {&NumbersWritten::edge, "columns.band.bins"},
    {&NumbersWritten::bound, "release.sum.bound"},   {&NumbersWritten::value, "columns.visits.values"},
    {&NumbersWritten::mapped, "columns.often.map"}};

}  // namespace

TEST_CASE("policy: a number that the file parts by thousands asks which is meant, wherever it stands",
          "[engine][policy][negative]") {
  CHECK(faults_of({}).empty());
  for (const NumberPlace& place : kNumberPlaces) {
    NumbersWritten written;
    written.*place.number = "1.000";
    CAPTURE(place.subject);
    const std::vector<PolicyFault> faults = faults_of(written);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].message.starts_with(std::string(place.subject) + ": which number is '1.000'?"));
    CHECK(faults[0].message.ends_with("write 1.0000 for 1, or 1000 for 1000"));
    CHECK(faults[0].line > 3);
    for (const char* one_way : {"1.0000", "1.0", "1"}) {
      written.*place.number = one_way;
      CAPTURE(one_way);
      CHECK(faults_of(written).empty());
    }
  }
}

TEST_CASE("policy: a number is asked about where its digits are grouped as thousands are, and nowhere else",
          "[engine][policy]") {
  const auto is_asked = [](const char* upper) {
    NumbersWritten written;
    written.upper = upper;
    return !faults_of(written).empty();
  };
  for (const char* grouped : {"5.000", "12.345", "123.456", "\"5.000\""}) {
    CAPTURE(grouped);
    CHECK(is_asked(grouped));
  }
  for (const char* plain : {"5.0000", "5000", "1.5", "6.25", "1234.567", "5e3", "9/2", "5.00"}) {
    CAPTURE(plain);
    CHECK_FALSE(is_asked(plain));
  }
  NumbersWritten negative;
  negative.missing = "-1.125";
  CHECK(faults_of(negative).size() == 1);
  negative.missing = "0.125";
  CHECK(faults_of(negative).empty());
  // What a ledger recorded is read as it was.
  NumbersWritten recorded;
  recorded.upper = "5.000";
  CHECK(Policy::parse_stored(recorded.yaml(), "p.yaml").dataset("clinic").column("cost")->bounds->upper == 5);
}

TEST_CASE(
    "policy: where the file parts no thousands such a number is a warning, of whole numbers or a decimal "
    "comma",
    "[engine][policy]") {
  NumbersWritten written;
  written.upper = "5.000";
  written.source = "csv: v.csv, delimiter: ';', decimal: ','";
  const std::vector<std::string> warned = readings_warned(written);
  REQUIRE(warned.size() == 1);
  CHECK(warned[0].find("columns.cost.bounds: the point of '5.000'") != std::string::npos);
  written.source = "csv: v.csv";
  CHECK(readings_warned(written).empty());
  written.type = "int";
  written.step = "1";
  CHECK(readings_warned(written).size() == 1);
  written.source = "sqlite: v.db, table: visits";
  CHECK(readings_warned(written).empty());
}
