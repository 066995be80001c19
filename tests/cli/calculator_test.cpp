// The calculators: every verb as text, JSON, quiet and table, against figures that
// tests/reference/command_figures.py computes by two methods.
#include <cmath>
#include <sstream>

#include "csv_table.hpp"
#include "epsilog/accounting/rational.hpp"
#include "support/catch.hpp"
#include "workbench.hpp"

using epsilog::accounting::parse_rational;
using epsilog::accounting::Rational;
using epsilog::test::contains;
using epsilog::test::CsvTable;
using epsilog::test::lines;
using epsilog::test::Result;
using epsilog::test::Streams;
using epsilog::test::Workbench;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

enum class Side { up, down, exact };

/// One figure that a command is to find.
struct Expected {
  std::string field;
  Side side;
  std::string value;  ///< 40 digits, unless it is exact
};

struct Case {
  Words verb;
  std::vector<std::pair<std::string, std::string>> options;  ///< without dashes
  std::vector<Expected> results;                             ///< the first is what --quiet prints
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{"accuracy", "snapping"},
       {{"epsilon", "0.1"},
        {"sensitivity", "1"},
        {"bound", "20"},
        {"alpha", "0.05"},
        {"arithmetic", "exact"}},
       {{"a", Side::up, "31.02585092994045684017991454684364207602"},
        {"lambda", Side::exact, "10"},
        {"grid", Side::exact, "16"}}},
      {{"accuracy", "snapping"},
       {{"epsilon", "0.1"},
        {"sensitivity", "1"},
        {"bound", "20"},
        {"alpha", "0.01"},
        {"arithmetic", "exact"}},
       {{"a", Side::exact, "36"}, {"lambda", Side::exact, "10"}, {"grid", Side::exact, "16"}}},
      // From y = 3 the outputs are 23, 19, 17, 13, 3 and 13 away; below 19 lies 1 - exp(-.9)/2 - ... of it.
      {{"accuracy", "snapping"},
       {{"epsilon", "0.1"}, {"sensitivity", "1"}, {"bound", "20"}, {"alpha", "0.05"}, {"at", "3"}},
       {{"a", Side::exact, "19"}, {"grid", Side::exact, "16"}}},
      // Beyond 36 from -20 only 20 lies, reached by noise from 36 on, below which lie lambda ln 50 = 39.1.
      {{"accuracy", "snapping"},
       {{"epsilon", "0.1"},
        {"sensitivity", "1"},
        {"bound", "20"},
        {"accuracy", "36"},
        {"arithmetic", "exact"}},
       {{"alpha", Side::up, "0.009157819444367090146859064636189437483093"},  // exp(-4)/2
        {"lambda", Side::exact, "10"},
        {"grid", Side::exact, "16"}}},
      {{"accuracy", "discrete-gaussian"},
       {{"scale", "1"}, {"alpha", "0.5"}},
       {{"accuracy", Side::exact, "2"}}},
      {{"accuracy", "discrete-gaussian"},
       {{"accuracy", "1"}, {"alpha", "1/2"}},
       {{"scale", Side::down, "0.7978789948726938377871831234342743752757"},
        {"scale_hex", Side::down, "0.7978789948726938377871831234342743752757"}}},
      {{"accuracy", "discrete-gaussian"},
       {{"accuracy", "19.5"}, {"alpha", "0.05"}},
       {{"scale", Side::down, "9.953349189162983489808664079661957917279"},
        {"scale_hex", Side::down, "9.953349189162983489808664079661957917279"}}},
      {{"accuracy", "discrete-gaussian"},
       {{"scale", "10"}, {"accuracy", "20"}},
       {{"alpha", Side::up, "0.05107930037672134124272108442895703977514"}}},
      {{"accuracy", "discrete-laplace"},
       {{"scale", "10"}, {"alpha", "0.0523"}},
       {{"accuracy", Side::exact, "30"}}},
      {{"accuracy", "discrete-laplace"},
       {{"accuracy", "1"}, {"alpha", "0.5"}},
       {{"scale", Side::down, "0.9102392266268373936142401657361070006126"},
        {"scale_hex", Side::down, "0.9102392266268373936142401657361070006126"}}},
      {{"accuracy", "discrete-laplace"},
       {{"accuracy", "30"}, {"alpha", "0.05"}},
       {{"scale", Side::down, "9.851575570594107397171983394833162587888"},
        {"scale_hex", Side::down, "9.851575570594107397171983394833162587888"}}},
      {{"accuracy", "discrete-laplace"},
       {{"scale", "10"}, {"accuracy", "59/2"}},
       {{"alpha", Side::up, "0.05227434939743929508786775325391000179731"}}},
      {{"calibrate", "snapping"},
       {{"accuracy", "40"}, {"alpha", "0.05"}, {"sensitivity", "1"}},
       {{"epsilon", Side::exact, "0.0796593416"},  // 0.079659341599604..., up to a multiple of 10^-12
        {"grid", Side::exact, "16"},
        {"lambda", Side::exact, "10000000000/796593416"}}},
      {{"calibrate", "snapping"},
       {{"accuracy", "40"}, {"alpha", "0.05"}, {"sensitivity", "1"}, {"bound", "1000"}},
       {{"epsilon", Side::exact, "0.0796593416"}, {"grid", Side::exact, "16"}}},
      // 1/8 + (18*12.5 + 10)/2^53, and as published 1/8 + (12*12.5 + 2)/2^53.
      {{"calibrate", "snapping"},
       {{"lambda", "8"}, {"sensitivity", "1"}, {"bound", "100"}, {"precision", "binary64"}},
       {{"epsilon", Side::exact, "0.125000000001"},
        {"adjusted", Side::exact, "0.12500000000002609024107869117869995534420013427734375"},
        {"published", Side::exact, "0.12500000000001687538997430237941443920135498046875"},
        {"lambda", Side::exact, "8"},
        {"grid", Side::exact, "8"}}},
      {{"calibrate", "snapping"},
       {{"lambda", "10"}, {"sensitivity", "1"}, {"bound", "20"}, {"alpha", "0.05"}, {"arithmetic", "exact"}},
       {{"epsilon", Side::exact, "0.1"},
        {"adjusted", Side::exact, "0.1"},
        {"a", Side::up, "31.02585092994045684017991454684364207602"}}},
      {{"calibrate", "gaussian"},
       {{"epsilon", "1"}, {"delta", "1e-6"}, {"sensitivity", "1"}},
       {{"sigma", Side::up, "4.224678889326835282997321181958865159309"},
        {"sigma_hex", Side::up, "4.224678889326835282997321181958865159309"}}},
      {{"calibrate", "gaussian"},
       {{"epsilon", "0.1"}, {"delta", "1/100000"}, {"sensitivity", "1"}},
       {{"sigma", Side::up, "30.74956613197745023894201941274080802393"},
        {"sigma_hex", Side::up, "30.74956613197745023894201941274080802393"}}},
      {{"calibrate", "gaussian"},
       {{"sigma", "1"}, {"epsilon", "1"}, {"sensitivity", "1"}},
       {{"delta", Side::up, "0.1269367375066439458008296247577668804151"}}},
      {{"calibrate", "gaussian"},
       {{"sigma", "0.5"}, {"epsilon", "0"}, {"sensitivity", "1"}},
       {{"delta", Side::up, "0.6826894921370858971704650912640758449558"}}},
      {{"calibrate", "gaussian"},
       {{"sigma", "500"}, {"epsilon", "0.5"}, {"sensitivity", "10"}},
       {{"delta", Side::up, "3.129776772980134037655400882342452794265e-141"}}},
      {{"tolerance", "laplace"},
       {{"epsilon", "50"}, {"l1", "1"}, {"flakiness", "23"}},
       {{"tolerance", Side::up, "1.059189142777261014648276069154807535497"},
        {"complementary", Side::down, "2.00000000000000000000001e-25"}}},
      {{"tolerance", "laplace"},
       {{"epsilon", "1"}, {"l1", "2"}, {"flakiness", "15"}, {"partitions", "10"}},
       {{"tolerance", Side::up, "73.68272297580946098857572654989928714324"}}},
      {{"tolerance", "laplace"},
       {{"epsilon", "1"}, {"l1", "2"}, {"flakiness", "15"}, {"partitions", "10"}, {"integer", "true"}},
       {{"tolerance", Side::exact, "74"}}},
      {{"tolerance", "gaussian"},
       {{"epsilon", "1"}, {"delta", "1e-6"}, {"l2", "1"}, {"flakiness", "23"}},
       {{"tolerance", Side::up, "42.42269443442847559591233159673048083353"},
        {"complementary", Side::down, "5.294849777611668324506193534127996921336e-23"}}},
      {{"tolerance", "gaussian"},
       {{"epsilon", "1"}, {"delta", "1e-6"}, {"l2", "1"}, {"flakiness", "23"}, {"integer", "true"}},
       {{"tolerance", Side::exact, "42"}}},
      {{"tolerance", "mean"},
       {{"epsilon", "1"},
        {"lower", "0"},
        {"upper", "10"},
        {"sum", "500"},
        {"count", "100"},
        {"max-rows", "1"},
        {"partitions", "1"},
        {"flakiness", "10"}},
       {{"tolerance", Side::up, "4.561345790476038874922347916981108953991"}}},
  };
  return all;
}

Words command_of(const Case& one, const Words& more = {}) {
  Words words = one.verb;
  for (const auto& [option, value] : one.options) {
    words.push_back("--" + option);
    if (option != "integer") words.push_back(value);
  }
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::size_t significant_digits(const std::string& decimal) {
  std::size_t digits = 0;
  for (const char c : decimal) {
    if (c != '.' && (digits > 0 || c != '0')) ++digits;
  }
  return digits;
}

bool is_hex_field(const std::string& field) {
  return field.size() > 4 && field.substr(field.size() - 4) == "_hex";
}

/// The binary64 next to the truth on its side.
void check_hex(const std::string& text, Side side, const Rational& truth) {
  REQUIRE(text.rfind("0x", 0) == 0);
  const double value = std::strtod(text.c_str(), nullptr);
  const double past = std::nextafter(value, side == Side::up ? -1e308 : 1e308);
  CHECK((side == Side::up ? Rational(value) >= truth : Rational(value) <= truth));
  CHECK((side == Side::up ? Rational(past) < truth : Rational(past) > truth));
}

void check_figure(const std::string& text, const Expected& expected) {
  CAPTURE(expected.field, text, expected.value);
  const Rational truth = parse_rational(expected.value, "reference");
  if (is_hex_field(expected.field)) {
    check_hex(text, expected.side, truth);
    return;
  }
  const Rational value = parse_rational(text, "printed");
  if (expected.side == Side::exact) {
    CHECK(value == truth);
    CHECK(text == epsilog::accounting::text(value));
    return;
  }
  // The truth is known to 40 digits: a printed figure on the wrong side of it by less is not noticed.
  const Rational unknown = truth * epsilog::accounting::power_of_ten(-39);
  CHECK((expected.side == Side::up ? value >= truth - unknown : value <= truth + unknown));
  CHECK(abs(Rational(value - truth)) <= truth * epsilog::accounting::power_of_ten(-17));
  CHECK(text.find('e') == std::string::npos);
  // Trailing zeros are left out: where the reference ends early, so does the text.
  if (significant_digits(expected.value) >= 40) CHECK(significant_digits(text) >= 17);
}

}  // namespace

TEST_CASE("calculators: JSON has every result, on its side of the reference and close to it",
          "[cli][calculator][json][exact]") {
  const Workbench bench;
  for (const Case& one : cases()) {
    const Result result = bench.run(command_of(one, {"--json"}));
    CAPTURE(command_of(one), result.out, result.err);
    REQUIRE(result.exit == 0);
    CHECK(result.err.empty());
    const json object = result.json();
    for (const Expected& expected : one.results) {
      REQUIRE(object.contains(expected.field));
      REQUIRE(object.at(expected.field).is_string());
      check_figure(object.at(expected.field), expected);
    }
  }
}

TEST_CASE("calculators: JSON repeats what was asked, in canonical form", "[cli][calculator][json]") {
  const Workbench bench;
  const json gaussian =
      bench.run({"accuracy", "discrete-gaussian", "--accuracy", "39/2", "--alpha", "5e-2", "--json"}).json();
  CHECK(gaussian.at("mechanism") == "discrete_gaussian");
  CHECK(gaussian.at("accuracy") == "19.5");
  CHECK(gaussian.at("alpha") == "0.05");
  const json laplace =
      bench.run({"tolerance", "laplace", "--epsilon", "1/3", "--l1", "1", "--flakiness", "3", "--json"})
          .json();
  CHECK(laplace.at("epsilon") == "1/3");
  CHECK(laplace.at("integer") == false);
  CHECK(laplace.at("partitions") == 1);
  const json mean = bench
                        .run({"tolerance", "mean", "--epsilon", "1", "--lower", "-1", "--upper", "1", "--sum",
                              "0", "--count", "10", "--flakiness", "3", "--delta", "1e-6", "--json"})
                        .json();
  CHECK(mean.at("noise") == "gaussian");
  CHECK(mean.at("max_rows") == 1);
  CHECK(mean.at("lower") == "-1");
  const json snapping = bench
                            .run({"calibrate", "snapping", "--accuracy", "40", "--alpha", "0.05",
                                  "--sensitivity", "1", "--json"})
                            .json();
  CHECK(snapping.at("bound").is_null());
  CHECK(snapping.at("arithmetic") == "exact");
  CHECK(snapping.at("accuracy").at(0).at("a") == snapping.at("a"));
  const json bounded = bench
                           .run({"calibrate", "snapping", "--accuracy", "40", "--alpha", "0.05",
                                 "--sensitivity", "1", "--bound", "1000", "--json"})
                           .json();
  CHECK(bounded.at("bound") == "1000");
  CHECK(bounded.at("arithmetic") == "mpfr");  // as accuracy snapping without --arithmetic
  const json at = bench
                      .run({"accuracy", "snapping", "--epsilon", "1", "--sensitivity", "1", "--bound", "9",
                            "--at", "-7/2", "--json"})
                      .json();
  CHECK(at.at("at") == "-3.5");
}

TEST_CASE("calculators: quiet prints the answer alone, as JSON has it", "[cli][calculator]") {
  const Workbench bench;
  for (const Case& one : cases()) {
    const Result quiet = bench.run(command_of(one, {"--quiet"}));
    CAPTURE(command_of(one), quiet.err);
    CHECK(quiet.exit == 0);
    const std::string answer = bench.run(command_of(one, {"--json"})).json().at(one.results[0].field);
    CHECK(quiet.out == answer + "\n");
  }
}

TEST_CASE("calculators: the text for people names every result", "[cli][calculator]") {
  const Workbench bench;
  for (const Case& one : cases()) {
    const Result result = bench.run(command_of(one));
    CAPTURE(command_of(one), result.out, result.err);
    CHECK(result.exit == 0);
    CHECK(lines(result.out) >= 3);
    const std::string name = one.results[0].field == "a" ? "accuracy" : one.results[0].field;
    const std::string value = one.results[0].value.substr(0, 6);
    CHECK(contains(result.out, "  " + name + " "));
    if (one.results[0].value.find('e') == std::string::npos) CHECK(contains(result.out, value));
  }
}

TEST_CASE("calculators: a table gives what single commands give", "[cli][calculator][batch]") {
  const Workbench bench;
  for (const Case& one : cases()) {
    std::string header;
    std::string row;
    for (const auto& [option, value] : one.options) {
      header += (header.empty() ? "" : ",") + option;
      row += (row.empty() ? "" : ",") + value;
    }
    Streams streams;
    streams.input = header + "\n" + row + "\n";
    Words words = one.verb;
    words.insert(words.end(), {"--batch", "-"});
    const Result result = bench.run(words, streams);
    CAPTURE(words, result.out, result.err);
    CHECK(result.exit == 0);
    CHECK(result.out.rfind(header + ",", 0) == 0);
    const CsvTable table = CsvTable::read(result.out);
    REQUIRE(table.rows.size() == 1);
    CHECK(table.at(0, "error").empty());
    const json object = bench.run(command_of(one, {"--json"})).json();
    for (const Expected& expected : one.results)
      CHECK(table.at(0, expected.field) == object.at(expected.field).get<std::string>());
  }
}

TEST_CASE("calculators: one table may ask in all forms, and each result is put in its empty cell",
          "[cli][calculator][batch]") {
  const Workbench bench;
  Streams streams;
  streams.input = "scale,accuracy,alpha\n1,,0.5\n,1,0.5\n10,20,\n1,2,0.5\n1,,\n";
  const Result result = bench.run({"accuracy", "discrete-gaussian", "--batch", "-"}, streams);
  CHECK(result.exit == 3);
  const CsvTable table = CsvTable::read(result.out);
  CHECK(table.header == std::vector<std::string>{"scale", "accuracy", "alpha", "scale_hex", "error"});
  CHECK(table.at(0, "accuracy") == "2");
  CHECK(table.at(1, "scale").substr(0, 17) == "0.797878994872693");
  CHECK(table.at(1, "scale_hex").rfind("0x1.98", 0) == 0);
  CHECK(table.at(2, "alpha").substr(0, 10) == "0.05107930");
  CHECK(contains(table.at(3, "error"), "is superfluous"));
  CHECK(table.at(3, "scale") == "1");
  CHECK(contains(table.at(4, "error"), "--alpha or --accuracy is required"));
}

TEST_CASE("calculators: an option of the command line leaves only the forms that take it to a table",
          "[cli][calculator][batch]") {
  const Workbench bench;
  const auto header = [&](const Words& options, const std::string& columns) {
    Streams streams;
    streams.input = columns + "\n";
    Words words = {"accuracy", "discrete-laplace", "--batch", "-"};
    words.insert(words.end(), options.begin(), options.end());
    const Result result = bench.run(words, streams);
    return result.exit == 0 ? result.out : result.err;
  };
  CHECK(header({"--alpha", "0.1"}, "scale") == "scale,accuracy,error\n");
  CHECK(header({"--scale", "3"}, "accuracy") == "accuracy,alpha,error\n");
  CHECK(header({"--alpha", "0.1"}, "scale,accuracy") == "scale,accuracy,scale_hex,error\n");
  CHECK(header({"--alpha", "0.1", "--scale", "3"}, "accuracy") == "accuracy,error\n");
  CHECK(contains(header({"--alpha", "0.1", "--scale", "3", "--accuracy", "3"}, "alpha"), "is superfluous"));
  CHECK(contains(header({}, "scale"), "--alpha or --accuracy is required"));
}

TEST_CASE("calibrate snapping: what it finds is kept by accuracy snapping, and one step less is not",
          "[cli][calculator][exact]") {
  const Workbench bench;
  for (const std::string arithmetic : {"exact", "mpfr"}) {
    for (const char* goal : {"3", "7.5", "40", "1000/7"}) {
      const Words asked = {"--sensitivity", "1",        "--bound", "1000", "--alpha", "0.01",
                           "--arithmetic",  arithmetic, "--quiet"};
      Words calibrate = {"calibrate", "snapping", "--accuracy", goal};
      calibrate.insert(calibrate.end(), asked.begin(), asked.end());
      const std::string text = bench.run(calibrate).out;
      const Rational epsilon = parse_rational(text.substr(0, text.size() - 1), "epsilon");
      const auto accuracy_at = [&](const Rational& e) {
        Words words = {"accuracy", "snapping", "--epsilon", epsilog::accounting::text(e)};
        words.insert(words.end(), asked.begin(), asked.end());
        const std::string a = bench.run(words).out;
        return parse_rational(a.substr(0, a.size() - 1), "a");
      };
      CAPTURE(arithmetic, goal, text);
      const Rational wanted = parse_rational(goal, "goal");
      // Printed accuracies have 20 digits and are rounded up.
      CHECK(accuracy_at(epsilon) <= wanted * (1 + epsilog::accounting::power_of_ten(-19)));
      CHECK(accuracy_at(epsilon - epsilog::accounting::power_of_ten(-12)) > wanted);
    }
  }
}

TEST_CASE("accuracy snapping: several alphas give several accuracies", "[cli][calculator]") {
  const Workbench bench;
  const Result result =
      bench.run({"accuracy", "snapping", "--epsilon", "0.1", "--sensitivity", "1", "--bound", "20", "--alpha",
                 "0.05", "--alpha", "0.01", "--arithmetic", "exact", "--quiet"});
  CHECK(result.out.rfind("31.0258509299404568", 0) == 0);
  CHECK(lines(result.out) == 2);
  CHECK(result.out.substr(result.out.find('\n')) == "\n36\n");
}

TEST_CASE("tolerance: a complementary tolerance too small to be written out is null", "[cli][calculator]") {
  const Workbench bench;
  const json found =
      bench.run({"tolerance", "laplace", "--epsilon", "1", "--l1", "1", "--flakiness", "900000", "--json"})
          .json();
  CHECK(found.at("tolerance").get<std::string>().substr(0, 7) == "2072326");
  CHECK(found.at("complementary").is_null());
}
