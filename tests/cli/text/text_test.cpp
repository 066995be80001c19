// Text for people: short, as wide as the terminal, with numbers that can be read, and inert whatever is in
// it.
#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace {

/// Code points; no line of these tests has a wide one.
std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::size_t width = 0;
  for (const char c : text) {
    if (c == '\n') {
      most = std::max(most, width);
      width = 0;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++width;
    }
  }
  return most;
}

std::string without_blanks(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }),
             text.end());
  return text;
}

std::string without_cuts(std::string text) {
  for (std::size_t at = text.find(" \\\n"); at != std::string::npos; at = text.find(" \\\n", at))
    text.erase(at, 3);
  return text;
}

/// A clinic whose sums are of millions.
std::string large_clinic() {
  return replaced(replaced(kClinicPolicy, "budget: {epsilon: 1}", "budget: {epsilon: 1000}"), "[0, 500]",
                  "[0, 500000]");
}

/// The number that stands first behind `before`.
double shown_behind(const std::string& text, const std::string& before) {
  std::string rest = text.substr(text.find(before) + before.size());
  rest = rest.substr(0, rest.find_first_of(" \n"));
  rest.erase(std::remove(rest.begin(), rest.end(), ','), rest.end());
  return std::stod(rest);
}

double quotient(const std::string& fraction) {
  const std::size_t slash = fraction.find('/');
  const double dividend = std::stod(fraction);
  return slash == std::string::npos ? dividend : dividend / std::stod(fraction.substr(slash + 1));
}

std::string last_id(const Workbench& bench) {
  return decision_id(bench.path("L"));
}

}  // namespace

TEST_CASE("width: help keeps to COLUMNS, else to 80, and cuts no word", "[cli][help][width]") {
  Workbench bench;
  for (const Words& words : {Words{"--help"},
                             {"release", "--help"},
                             {"audit", "verify", "--help"},
                             {"policy", "--help"},
                             {"compose", "--help"},
                             {"tolerance", "mean", "--help"},
                             {"forecast", "--help"},
                             {"plan", "--help"},
                             {"accuracy", "snapping", "--help"}}) {
    bench.environment.erase("COLUMNS");
    const std::string usual = bench.run(words).out;
    CAPTURE(words, usual);
    CHECK(widest(usual) <= 80);
    bench.environment["COLUMNS"] = "200";
    const std::string wide = bench.run(words).out;
    CHECK(widest(wide) > 80);
    // An example that is cut goes on behind a backslash, as a shell reads it.
    CHECK(without_blanks(wide) == without_blanks(without_cuts(usual)));
    CHECK(lines(wide) < lines(usual));
    bench.environment["COLUMNS"] = "nonsense";
    CHECK(bench.run(words).out == usual);
  }
}

TEST_CASE("width: history puts the question below where it does not fit beside", "[cli][output][width]") {
  Workbench bench(kClinicPolicy);
  REQUIRE(bench
              .with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--where",
                            "age >= 18 and ward in ('A','B') and cost > 10 and cost < 9000"})
              .exit == 0);
  const std::string narrow = bench.with_ledger({"history"}).out;
  CAPTURE(narrow);
  CHECK(widest(narrow) <= 80);
  CHECK(contains(narrow, last_id(bench)));
  CHECK(contains(narrow, "\n  count of clinic where "));
  for (const char* columns : {"73", "60", "57", "40"}) {
    bench.environment["COLUMNS"] = columns;
    const std::string narrower = bench.with_ledger({"history"}).out;
    CAPTURE(columns, narrower);
    CHECK(widest(narrower) <= std::stoul(columns));
    for (const char* part : {"0.1", "granted", "charged", "at (UTC)", "count"})
      CHECK(contains(narrower, part));
  }
  bench.environment["COLUMNS"] = "190";
  const std::string wide = bench.with_ledger({"history"}).out;
  CHECK(lines(wide) == 4);  // the heading, the ledger, its policy and the decision
  CHECK(contains(wide, "value  question\n"));
  bench.environment["COLUMNS"] = "135";
  CHECK(widest(bench.with_ledger({"history"}).out) <= 135);
}

TEST_CASE("width: bars of a table take what is left of it, or go", "[cli][output][width]") {
  Workbench bench(kClinicPolicy);
  const auto bars = [&](const char* columns) {
    bench.environment["COLUMNS"] = columns;
    const std::string text = bench.with_ledger({"budget"}).out;
    CAPTURE(columns, text);
    CHECK(widest(text) <= static_cast<std::size_t>(std::stoi(columns)));
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("░", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(bars("80") == 24);
  CHECK(bars("60") < 24);
  CHECK(bars("60") >= 8);
  CHECK(bars("45") == 0);
}

TEST_CASE("numbers: values are grouped and rounded to what the noise leaves, and exact for scripts",
          "[cli][output][exact]") {
  const Workbench bench(large_clinic());
  bench.write(
      "visits.csv",
      "patient,age,cost,ward\np1,30,412345.67,A\np2,31,498765.43,A\np3,32,487654.32,B\np4,33,476543.21,B\n"
      "p5,34,465432.10,A\np6,35,454321.09,B\np7,36,443210.98,A\np8,37,432109.87,B\n");
  const Words ask = {"release", "clinic", "sum:cost", "--epsilon", "20", "--key", "k"};
  const auto told = [&](const char* option) {
    Words words = ask;
    words.emplace_back(option);
    return bench.with_ledger(words);
  };
  const nlohmann::json exact = told("--json").json();
  const double scale = std::stod(exact["scale"].get<std::string>());
  const double value = exact["value_decimal"];
  const std::string text = bench.with_ledger(ask).out;
  CAPTURE(text, exact["value"]);
  std::string shown = text.substr(text.find(": ") + 2);
  shown = shown.substr(0, shown.find_first_of(" \n"));
  REQUIRE(value > 1'500'000);  // 3.7 million and noise of a scale of 50,000
  CHECK(contains(shown, ","));
  CHECK(shown.size() == 9);
  shown.erase(std::remove(shown.begin(), shown.end(), ','), shown.end());
  CHECK(std::abs(std::stod(shown) - value) <= scale / 20);
  CHECK(std::fmod(std::stod(shown), 1000) == 0);
  CHECK(told("--quiet").out == exact["value"].get<std::string>() + "\n");
  CHECK(std::stod(exact["value"].get<std::string>()) == value);
  CHECK(contains(bench.with_ledger({"budget"}).out, " 1,000 "));
  REQUIRE(bench.with_ledger({"release", "clinic", "sum:age", "--epsilon", "900"}).exit == 0);
  const std::string whole = bench.with_ledger({"show", last_id(bench)}).out;
  CHECK(bench.with_ledger({"show", last_id(bench), "--json"}).json()["post_processing"] == "rounded");
  CHECK_FALSE(contains(whole.substr(0, whole.find('\n')), "."));
}

TEST_CASE("numbers: a quotient and a clamped answer lose no digit that is worth anything, an error none",
          "[cli][output][exact]") {
  const Workbench bench(large_clinic());
  const auto asked = [&](const char* statistic, const char* epsilon) {
    REQUIRE(bench.with_ledger({"release", "clinic", statistic, "--epsilon", epsilon}).exit == 0);
    const std::string id = last_id(bench);
    return std::pair(bench.with_ledger({"show", id}).out, bench.with_ledger({"show", id, "--json"}).json());
  };
  const auto number = [](const nlohmann::json& text) { return std::stod(text.get<std::string>()); };

  for (int i = 0; i < 6; ++i) {  // some shift of digits does not show in every answer
    const auto [mean, exact] = asked("mean:cost", "40");
    CAPTURE(mean, exact["value"]);
    const auto& parts = exact["components"];
    const double by = std::max(1.0, number(parts[1]["value"]));
    const double value = exact["value_decimal"];
    CHECK(value == quotient(exact["value"]));  // both parts below 2^53: the quotient is the nearest
    CHECK(std::abs(shown_behind(mean, "mean:cost of clinic: ") - value) <=
          number(parts[0]["scale"]) / by / 20);
    for (std::size_t part = 0; part < 2; ++part) {
      const std::size_t line = mean.find("confidence within ", part == 0 ? 0 : mean.find("of its exact sum"));
      const double error = number(parts[part]["accuracy"][0]["within"]);
      CHECK(shown_behind(mean.substr(line), "confidence within ") >= error);
      CHECK(shown_behind(mean.substr(line), "confidence within ") <= error * 1.01);
    }
  }

  double clamped = 0;  // noise of a scale of 200,000 and answers up to 1,000: 0 in 48 of 100 releases
  for (int i = 0; i < 40 && clamped == 0; ++i) {
    const auto [count, exact] = asked("count", "0.00001");
    clamped = number(exact["value"]);
    CHECK(shown_behind(count, "count of clinic: ") == clamped);
  }
  CHECK(std::abs(clamped) == 1'000);
}

TEST_CASE("JSON: a plan that would be refused charges nothing", "[cli][json][exact]") {
  const Workbench bench(kClinicPolicy);
  const Result refused = bench.with_ledger({"plan", "clinic", "count", "--epsilon", "2", "--json"});
  CHECK(refused.exit == 4);
  check_members(refused.json()["epsilon"], R"({"charged": "0", "requested": "2"})");
  const Result granted = bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.5", "--json"});
  CHECK(granted.json()["epsilon"]["charged"] == "0.5");
}

TEST_CASE("verbose: every verb takes it, and not with --quiet", "[cli][output][negative]") {
  const Workbench bench(kClinicPolicy);
  const Words plan = {"plan", "clinic", "count", "--epsilon", "0.1", "--verbose"};
  CHECK(contains(bench.with_ledger(plan).out, "precision auto"));
  CHECK_FALSE(contains(bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1"}).out, "precision"));
  CHECK(bench.with_ledger({"budget", "--verbose"}).exit == 0);
  const Result both = bench.with_ledger({"budget", "--verbose", "--quiet"});
  check_ended(both, 2, "--verbose: not with --quiet");
}

TEST_CASE("ids: how one begins names it, unless others begin so too", "[cli][output][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  const std::string first = last_id(bench);
  for (std::size_t length : {4U, 10U, 25U, 26U}) {
    const Result shown = bench.with_ledger({"show", first.substr(0, length), "--json"});
    CAPTURE(length, shown.err);
    CHECK(shown.exit == 0);
    CHECK(shown.json()["decision_id"] == first);
  }
  CHECK(bench.with_ledger({"show", first.substr(0, 3)}).exit == 2);
  CHECK(contains(bench.with_ledger({"show", first.substr(0, 3)}).err, "at least its first 4"));
  CHECK(bench.with_ledger({"show", "7777"}).exit == 3);
  CHECK(bench.with_ledger({"show", first + "0"}).exit == 3);
  CHECK(bench.with_ledger({"show", "%%%%"}).exit == 3);
  REQUIRE(bench.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  const std::string second = last_id(bench);
  for (const Words& words : {Words{"show"}, {"cancel"}, {"commit"}, {"token"}, {"approve"}, {"reject"}}) {
    Words ambiguous = words;
    ambiguous.push_back(first.substr(0, 4));
    const Result result = bench.with_ledger(ambiguous);
    CAPTURE(words, result.err);
    check_ended(result, 2, "begins the ids of 2 decisions");
  }
  const auto differs = static_cast<std::size_t>(
      std::mismatch(first.begin(), first.end(), second.begin()).first - first.begin());
  CHECK(bench.with_ledger({"cancel", second.substr(0, std::max<std::size_t>(4, differs + 1))}).exit == 0);
  CHECK(bench.with_ledger({"show", second, "--json"}).json()["state"] == "cancelled");
  CHECK(bench.with_ledger({"show", first, "--json"}).json()["state"] == "reserved");
}

TEST_CASE("ids: what begins all ids of one request names that request, but no line to be proved",
          "[cli][output]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  const std::string first = last_id(bench);
  REQUIRE(bench.with_ledger({"cancel", first.substr(0, 6)}).exit == 0);
  const std::string begins = first.substr(0, 4);
  const Result shown = bench.with_ledger({"show", begins, "--json"});
  CAPTURE(shown.err);
  REQUIRE(shown.exit == 0);
  CHECK(shown.json()["state"] == "cancelled");
  for (const char* verb : {"cancel", "commit"}) CHECK(bench.with_ledger({verb, begins}).exit != 2);
  check_ended(bench.with_ledger({"audit", "prove", begins, "--checkpoint", "any"}), 2,
              "begins the ids of 2 decisions");
  REQUIRE(bench.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  check_ended(bench.with_ledger({"show", begins}), 2, "begins the ids of 3 decisions");
}

TEST_CASE("names: what reverses the direction of writing is shown, not obeyed", "[cli][output][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::string reversed =
      "al\xe2\x80\xae"
      "ice\xe2\x81\xa6"
      "\xd8\x9c";  // U+202E, U+2066, U+061C
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--as", reversed}).exit == 0);
  const std::string listed = bench.with_ledger({"history"}).out;
  CAPTURE(listed);
  CHECK(contains(listed, "al\\u202eice\\u2066\\u061c"));
  CHECK_FALSE(contains(listed, "\xe2\x80\xae"));
  CHECK(json::parse(decisions_of(bench.with_ledger({"history", "--json"}).out))["principal"] == reversed);
  // A C1 control, which some terminals obey as an escape.
  const Result strange = bench.with_ledger({"budget", "cli\xc2\x9bnic"});
  CHECK(contains(strange.err, "cli\\u009bnic"));
  Streams table;
  table.input = "dataset,statistic,epsilon,as\nclinic,count,0.1," + reversed + "\nclinic,count,x\x1b,bob\n";
  const Result planned = bench.with_ledger({"plan", "--batch", "-"}, table);
  CAPTURE(planned.out);
  CHECK(contains(planned.out, "al\\u202eice\\u2066\\u061c"));
  for (const char* raw : {"\xe2\x80\xae", "\xe2\x81\xa6", "\x1b"}) CHECK_FALSE(contains(planned.out, raw));
}

TEST_CASE("tables: wide characters and combining marks are counted as a terminal shows them",
          "[cli][output][width]") {
  const Workbench bench;
  bench.write("visits.csv", "patient,age,cost,ward\np1,1,1,A\n");
  bench.init(replaced(kClinicPolicy, "values: [A, B", "values: ['\u5185\u79d1', 'e\u0301'"));
  const std::string text =
      bench.with_ledger({"release", "clinic", "histogram:ward", "--epsilon", "0.5", "--verbose"}).out;
  CAPTURE(text);
  // Where the column of values ends, given how wide the key is.
  const auto edge = [&](const std::string& key, std::size_t width) {
    const std::size_t begin = text.find("\n  " + key + " ");
    REQUIRE(begin != std::string::npos);
    const std::size_t after = begin + 3 + key.size();
    const std::size_t value = text.find_first_not_of(' ', after);
    return 2 + width + text.find_first_of(" \n", value) - after;
  };
  const std::size_t expected = edge("ward", 4);
  CHECK(edge("\u5185\u79d1", 4) == expected);
  CHECK(edge("e\u0301", 1) == expected);
  CHECK(edge("it's, C", 7) == expected);
}
