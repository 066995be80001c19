// compose: every accountant side by side, as text, JSON, quiet and table.
#include "cli/csv_table.hpp"
#include "cli/workbench.hpp"
#include "epsilog/accounting/rational.hpp"

using namespace epsilog::accounting;
using namespace epsilog::test;

namespace {

const std::vector<std::string> kAccountants = {"pure", "approximate", "advanced", "optimal",
                                               "zcdp", "rdp",         "pld"};

json composed(const Workbench& bench, const Words& mechanisms, const Words& options) {
  Words words{"compose", "--json"};
  for (const std::string& mechanism : mechanisms) words.insert(words.end(), {"--mechanism", mechanism});
  words.insert(words.end(), options.begin(), options.end());
  const Result result = bench.run(words);
  CAPTURE(words, result.err);
  REQUIRE(result.exit == 0);
  return result.json();
}

std::optional<Rational> bound(const json& answer, const std::string& accountant, const char* measure) {
  if (answer[accountant].is_null()) return std::nullopt;
  REQUIRE(answer[accountant].size() == 1);
  return parse_rational(answer[accountant][measure].get<std::string>(), accountant);
}

Rational epsilon(const json& answer, const std::string& accountant) {
  const auto value = bound(answer, accountant, "epsilon");
  CAPTURE(accountant);
  REQUIRE(value);
  return *value;
}

/// At least the figure but for its last digit, and little above it.
void check_just_above(const Rational& value, const char* figure, const char* tolerance) {
  CAPTURE(value.get_d(), figure);
  const Rational published = parse_rational(figure, "figure");
  CHECK(value >= published * (1 - Rational(1, 1'000'000'000'000'000)));
  CHECK(value <= published + parse_rational(tolerance, "tolerance"));
}

}  // namespace

TEST_CASE("compose: a hundred Laplace releases under every accountant", "[cli][calculator][compose]") {
  const Workbench bench;
  const json answer = composed(bench, {"laplace scale=10 sensitivity=1 count=100"}, {"--delta", "1e-6"});
  CHECK(epsilon(answer, "pure") == 10);
  CHECK(epsilon(answer, "approximate") == 10);
  check_just_above(epsilon(answer, "advanced"), "5.756105519335732", "1e-9");
  check_just_above(epsilon(answer, "zcdp"), "5.221534444530169", "1e-9");  // rho = 0.5
  CHECK(epsilon(answer, "optimal") < epsilon(answer, "advanced"));
  CHECK(epsilon(answer, "rdp") < epsilon(answer, "zcdp"));
  // The law of Laplace noise says more than its epsilon does.
  CHECK(epsilon(answer, "pld") < epsilon(answer, "optimal"));
  CHECK(epsilon(answer, "pld") < epsilon(answer, "rdp"));
  CHECK(answer["delta"] == "0.000001");
  CHECK(answer["mechanisms"] ==
        json::array({{{"mechanism", "laplace"}, {"scale", "10"}, {"sensitivity", "1"}, {"count", 100}}}));
}

TEST_CASE("compose: delta at an epsilon", "[cli][calculator][compose]") {
  const Workbench bench;
  const Words mechanism{"pure epsilon=0.1 count=100"};
  const json five = composed(bench, mechanism, {"--epsilon", "4"});
  check_members(five, R"({"pure": null, "approximate": null})");
  check_just_above(*bound(five, "optimal", "delta"), "3.422312319196773e-5", "1e-15");
  for (const char* accountant : {"advanced", "zcdp", "rdp", "pld"}) {
    CHECK(*bound(five, accountant, "delta") >= parse_rational("3.422312319196772e-5", "delta"));
  }
  const json ten = composed(bench, mechanism, {"--epsilon", "10"});
  for (const char* accountant : {"pure", "approximate", "advanced", "optimal"}) {
    CHECK(*bound(ten, accountant, "delta") == 0);
  }
}

TEST_CASE("compose: what an accountant cannot express is null", "[cli][calculator][compose]") {
  const Workbench bench;
  for (const char* gaussian :
       {"gaussian sigma=20 sensitivity=1", "discrete-gaussian scale=20 sensitivity=1"}) {
    const json answer = composed(bench, {gaussian, "pure epsilon=0.1"}, {"--delta", "1e-6"});
    for (const char* accountant : {"pure", "approximate", "advanced", "optimal"}) {
      CAPTURE(gaussian, accountant);
      CHECK(answer[accountant].is_null());
    }
    for (const char* accountant : {"zcdp", "rdp", "pld"}) CHECK(epsilon(answer, accountant) > 0);
  }
  const json approximate =
      composed(bench, {"approximate epsilon=0.1 delta=1e-7 count=3"}, {"--delta", "1e-6"});
  CHECK(approximate["pure"].is_null());
  CHECK(epsilon(approximate, "approximate") == parse_rational("0.3", "epsilon"));
  const json too_little =
      composed(bench, {"approximate epsilon=0.1 delta=1e-7 count=3"}, {"--delta", "1e-7"});
  for (const std::string& accountant : kAccountants) CHECK(too_little[accountant].is_null());
  const json nothing_left = composed(bench, {"pure epsilon=1 count=30"}, {"--delta", "0"});
  CHECK(epsilon(nothing_left, "optimal") == 30);
  CHECK(nothing_left["zcdp"].is_null());
}

TEST_CASE("compose: the loss of snapping is the proved one", "[cli][calculator][compose]") {
  const Workbench bench;
  const json given = composed(bench, {"snapping epsilon=0.1 count=3"}, {"--delta", "1e-6"});
  CHECK(epsilon(given, "pure") == parse_rational("0.3", "epsilon"));
  const json exact = composed(bench, {"snapping scale=10 sensitivity=1"}, {"--delta", "1e-6"});
  CHECK(epsilon(exact, "pure") == parse_rational("0.1", "epsilon"));
  const json mpfr =
      composed(bench, {"snapping scale=10 sensitivity=1 bound=100 precision=53"}, {"--delta", "1e-6"});
  // 1/10 + (18 * 10 + 10) 2^-53.
  check_just_above(epsilon(mpfr, "pure"), "0.10000000000002109423746", "1e-20");
  check_members(mpfr["mechanisms"][0], R"({"precision": 53, "coordinates": 1})");
  const json three = composed(bench, {"snapping scale=10 sensitivity=1 bound=100 precision=53 coordinates=3"},
                              {"--delta", "1e-6"});
  check_just_above(epsilon(three, "pure"), "0.10000000000006328271238", "1e-20");
}

TEST_CASE("compose: snapping is Laplace noise to rdp and pld, and its rounding costs hardly anything",
          "[cli][calculator][compose]") {
  const Workbench bench;
  const json laplace = composed(bench, {"laplace scale=10 sensitivity=1 count=100"}, {"--delta", "1e-6"});
  const json exact = composed(bench, {"snapping scale=10 sensitivity=1 count=100"}, {"--delta", "1e-6"});
  for (const std::string& accountant : kAccountants) CHECK(exact[accountant] == laplace[accountant]);
  const json mpfr = composed(bench, {"snapping scale=10 sensitivity=1 bound=100 precision=118 count=100"},
                             {"--delta", "1e-6"});
  for (const char* accountant : {"rdp", "pld"}) {
    CAPTURE(accountant);
    // Printed are 17 digits or a few more, rounded up.
    CHECK(epsilon(mpfr, accountant) >= epsilon(laplace, accountant) - parse_rational("1e-16", "epsilon"));
    CHECK(epsilon(mpfr, accountant) <= epsilon(laplace, accountant) + parse_rational("1e-12", "epsilon"));
  }
  const json given = composed(bench, {"snapping epsilon=0.1 count=100"}, {"--delta", "1e-6"});
  CHECK(epsilon(given, "pld") > epsilon(mpfr, "pld"));
  CHECK(epsilon(given, "pure") <= epsilon(mpfr, "pure"));
}

TEST_CASE("compose: several mechanisms, as options or in one text", "[cli][calculator][compose]") {
  const Workbench bench;
  const json options = composed(bench, {"pure epsilon=0.1", "pure epsilon=0.2 count=2"}, {"--delta", "1e-3"});
  const json text = composed(bench, {"pure epsilon=0.1; pure count=2 epsilon=1/5"}, {"--delta", "0.001"});
  CHECK(options == text);
  CHECK(epsilon(options, "pure") == parse_rational("0.5", "epsilon"));
  const json third = composed(bench, {"pure epsilon=1/3"}, {"--delta", "0"});
  check_just_above(epsilon(third, "pure"), "0.33333333333333333", "1e-16");
  CHECK(epsilon(third, "pure") >= Rational(1, 3));
}

TEST_CASE("compose: quiet prints the least that is proved", "[cli][calculator][compose]") {
  const Workbench bench;
  const Words words{"compose", "--mechanism", "laplace scale=10 sensitivity=1 count=100", "--delta", "1e-6"};
  Words quiet = words;
  quiet.emplace_back("--quiet");
  Words as_json = words;
  as_json.emplace_back("--json");
  const json answer = bench.run(as_json).json();
  CHECK(bench.run(quiet).out == answer["pld"]["epsilon"].get<std::string>() + "\n");
  const Result text = bench.run(words);
  CHECK(text.exit == 0);
  CHECK(lines(text.out) == 1 + kAccountants.size());
  CHECK(contains(text.out, "optimal      epsilon " + answer["optimal"]["epsilon"].get<std::string>()));
}

TEST_CASE("compose: a table of schedules", "[cli][calculator][compose][batch]") {
  const Workbench bench;
  bench.write("schedules.csv",
              "mechanism,delta,epsilon\n"
              "pure epsilon=1 count=30,0.1,\n"
              "gaussian sigma=1 sensitivity=1; pure epsilon=0.1,,1\n"
              "pure epsilon=1 count=0,0.1,\n"
              "pure epsilon=1,,\n"
              "pure epsilon=1,0.1,1\n");
  const Result result = bench.run({"compose", "--batch", "schedules.csv"});
  CHECK(result.exit == 3);
  const CsvTable table = CsvTable::read(result.out);
  REQUIRE(table.rows.size() == 5);
  CHECK(table.at(0, "pure") == "30");
  CHECK(table.at(0, "error").empty());
  CHECK(table.at(1, "pure").empty());
  CHECK_FALSE(table.at(1, "rdp").empty());
  CHECK(contains(table.at(2, "error"), "line 4: --mechanism: pure count: '0' must be a whole number"));
  CHECK(contains(table.at(3, "error"), "--delta or --epsilon is required"));
  CHECK(contains(table.at(4, "error"), "superfluous"));
}

TEST_CASE("compose: bad input is refused in one line that names it", "[cli][calculator][compose][negative]") {
  const Workbench bench;
  for (const CaseRow& row : cli_table("calculators/refused_mechanisms.tsv")) {
    const std::string& mechanism = row.at(0);
    const std::string& part = row.at(1);
    const Result result = bench.run({"compose", "--mechanism", mechanism, "--delta", "1e-6"});
    CAPTURE(mechanism, result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(lines(result.err) == 1);
    CHECK(contains(result.err, "--mechanism"));
    CHECK(contains(result.err, part));
  }
  const auto refused = [&](const Words& options, const char* part) {
    const Words words = with({"compose", "--mechanism", "pure epsilon=1"}, options);
    const Result result = bench.run(words);
    CAPTURE(words, result.err);
    check_ended(result, 2, part);
  };
  refused({"--delta", "1"}, "--delta: '1' must be below 1");
  refused({"--delta", "-0.1"}, "--delta: '-0.1' must not be negative");
  refused({"--delta", "nan"}, "--delta: 'nan'");
  refused({"--epsilon", "-1"}, "--epsilon: '-1' must not be negative");
  refused({}, "--delta or --epsilon is required");
  refused({"--delta", "0.1", "--epsilon", "1"}, "superfluous");
  CHECK(contains(bench.run({"compose", "--delta", "0.1"}).err, "--mechanism is required"));
}

TEST_CASE("compose: outside an accountant's domain it alone has nothing to say",
          "[cli][calculator][compose]") {
  const Workbench bench;
  const json answer = composed(bench, {"laplace scale=1e-9 sensitivity=1"}, {"--delta", "1e-3"});
  CHECK(epsilon(answer, "pure") == 1'000'000'000);
  CHECK(answer["optimal"].is_null());
}
