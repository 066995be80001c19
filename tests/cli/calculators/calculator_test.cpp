// The calculators: every verb as text, JSON, quiet and table, against figures that
// tests/reference/command_figures.py computes by two methods.
#include "cli/csv_table.hpp"
#include "cli/workbench.hpp"
#include "epsilog/accounting/rational.hpp"
#include "support/case_table.hpp"

using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

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
  static const std::vector<Case> all = [] {
    const std::map<std::string, Side> sides = {
        {"up", Side::up}, {"down", Side::down}, {"exact", Side::exact}};
    std::vector<Case> result;
    for (const CaseRow& row :
         case_table(EPSILOG_SOURCE_DIR "/tests/cli/calculators/calculator_figures.tsv")) {
      Case& one = result.emplace_back();
      one.verb = words_of(row.at(0));
      for (const std::string& option : words_of(row.at(1))) {
        const std::size_t at = option.find('=');
        one.options.emplace_back(option.substr(0, at), option.substr(at + 1));
      }
      for (std::size_t i = 2; i < row.size(); ++i) {
        const Words figure = words_of(row[i]);
        one.results.push_back({figure.at(0), sides.at(figure.at(1)), figure.at(2)});
      }
    }
    return result;
  }();
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
  check_members(gaussian, R"({"mechanism": "discrete_gaussian", "accuracy": "19.5", "alpha": "0.05"})");
  const json laplace =
      bench.run({"tolerance", "laplace", "--epsilon", "1/3", "--l1", "1", "--flakiness", "3", "--json"})
          .json();
  check_members(laplace, R"({"epsilon": "1/3", "integer": false, "partitions": 1})");
  const json mean = bench
                        .run({"tolerance", "mean", "--epsilon", "1", "--lower", "-1", "--upper", "1", "--sum",
                              "0", "--count", "10", "--flakiness", "3", "--delta", "1e-6", "--json"})
                        .json();
  check_members(mean, R"({"noise": "gaussian", "max_rows": 1, "lower": "-1"})");
  const json snapping = bench
                            .run({"calibrate", "snapping", "--accuracy", "40", "--alpha", "0.05",
                                  "--sensitivity", "1", "--json"})
                            .json();
  check_members(snapping, R"({"bound": null, "arithmetic": "exact"})");
  CHECK(snapping.at("accuracy").at(0).at("within") == snapping.at("within"));
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
    const std::string name = one.results[0].field == "within" ? "accuracy" : one.results[0].field;
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
    const Words words = with({"accuracy", "discrete-laplace", "--batch", "-"}, options);
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
      const Words calibrate = with({"calibrate", "snapping", "--accuracy", goal}, asked);
      const std::string text = bench.run(calibrate).out;
      const Rational epsilon = parse_rational(text.substr(0, text.size() - 1), "epsilon");
      const auto accuracy_at = [&](const Rational& e) {
        const Words words = with({"accuracy", "snapping", "--epsilon", epsilog::accounting::text(e)}, asked);
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
