// The longest numbers that a legal policy and a legal question make the program record, held to
// docs/record_format.md.
#include <nlohmann/json.hpp>

#include "clinic.hpp"
#include "epsilog/accounting/bounded_sum.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace accounting;
using engine::Engine;
using nlohmann::json;

namespace {

const std::string kColumns =
    "    columns:\n"
    "      huge: {type: double, bounds: [-HUGE, HUGE]}\n"
    "      tiny: {type: double, bounds: [0, 1e-400]}\n"
    "      odd:  {type: double, bounds: [ODD, 3]}\n"
    "      ward: {type: string, values: [A, B, C]}\n";

/// Numbers of 400 characters, which is as many as a policy takes.
std::string longest_policy(const std::string& budget, const std::string& release) {
  std::string columns = kColumns;
  const auto put = [&columns](const std::string& name, const std::string& text) {
    for (auto at = columns.find(name); at != std::string::npos; at = columns.find(name)) {
      columns.replace(at, name.size(), text);
    }
  };
  put("HUGE", std::string(394, '9') + "e400");
  put("ODD", "1/" + std::string(397, '7') + "9");
  return "version: 1\ndatasets:\n  clinic:\n    source: {csv: visits.csv}\n    unit: {id: patient_id, "
         "max_rows: 3}\n"
         "    rows: {max: 1000}\n    neighbours: add-remove\n    budget: {" +
         budget + "}\n" + columns +
         "    allow: {statistics: [count, units, sum, mean, variance, proportion, ratio]}\n" + release;
}

struct Longest {
  std::size_t text = 0;        ///< characters of a quantity
  std::size_t sum_digits = 0;  ///< above or below the bar of a sum
  int quantities = 0;
};

std::size_t digits(const Integer& number) {
  return Integer(abs(number)).get_str().size();
}

void look_at(const json& value, Longest& longest) {
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    if (text.empty() || text.find_first_not_of("-0123456789./") != std::string::npos) return;
    ++longest.quantities;
    longest.text = std::max(longest.text, text.size());
  }
  if (value.is_structured()) {
    for (const json& inner : value) look_at(inner, longest);
  }
}

void look_at_sums(const json& sums, Longest& longest) {
  for (const char* name : {"requested", "adjusted", "published"}) {
    if (!sums.contains(name)) continue;
    const Rational sum = accounting::parse_stored_rational(sums[name].get<std::string>(), name);
    longest.sum_digits = std::max({longest.sum_digits, digits(sum.get_num()), digits(sum.get_den())});
  }
}

Longest recorded(const std::string& ledger) {
  Longest longest;
  ledger::Ledger::open_read_only(ledger).snapshot().each_line(0, [&](std::string_view line) {
    const json record = json::parse(line);
    for (const char* member : {"question", "release", "values", "component_values"}) {
      if (record.contains(member)) look_at(record[member], longest);
    }
    if (!record.contains("release")) return;
    look_at_sums(record["release"], longest);
    for (const json& row : record["release"].value("rows", json::array())) look_at_sums(row, longest);
  });
  return longest;
}

std::vector<engine::Request> every_question(const std::string& epsilon) {
  std::vector<engine::Request> asked{request("count", epsilon), request("units", epsilon, "", "ward"),
                                     request("proportion:ward:A", epsilon)};
  for (const char* column : {"huge", "tiny", "odd"}) {
    for (const char* statistic : {"sum:", "mean:", "variance:"}) {
      asked.push_back(request(std::string(statistic) + column, epsilon));
      asked.push_back(request(std::string(statistic) + column, epsilon, "", "ward"));
    }
  }
  asked.push_back(request("ratio:huge,odd", epsilon));
  asked.push_back(request("ratio:odd,huge", epsilon));
  asked.push_back(request("ratio:tiny,odd", epsilon));
  return asked;
}

/// What can be asked is asked alone, and all of it as a batch. Returns how many were released.
int release_all(Engine& engine, const std::string& epsilon, const std::string& delta) {
  int released = 0;
  engine::Request batch = request("count", epsilon);
  batch.question = {};
  batch.epsilon = 0;
  for (engine::Request asked : every_question(epsilon)) {
    if (!delta.empty()) asked.delta = accounting::parse_rational(delta, "delta");
    try {
      if (!release(engine, asked).recorded.granted) continue;
    } catch (const InvalidParameter&) {
      continue;  // nothing is proved there
    } catch (const Underivable&) {
      continue;
    }
    ++released;
    batch.rows.push_back({asked.question, asked.epsilon, asked.delta, asked.rho});
  }
  if (!batch.rows.empty() && release(engine, batch).recorded.granted) ++released;
  return released;
}

struct Case {
  const char* budget;
  const char* release;
  const char* epsilon;
  const char* delta;
};

}  // namespace

TEST_CASE("longest records: no quantity of a legal release is longer than docs/record_format.md allows",
          "[engine][release][records]") {
  const std::string third = "0." + std::string(398, '3');
  const Case cases[] = {
      {"epsilon: 2000000", "    release: {default: {precision: 4096}}\n", "0.000000000001", ""},
      {"epsilon: 2000000", "    release: {default: {precision: 4096}}\n", third.c_str(), ""},
      {"epsilon: 2000000", "    release: {default: {arithmetic: exact}}\n", "0.000000000001", ""},
      {"epsilon: 2000000", "    release: {default: {arithmetic: exact}}\n", "1000.000000000001", ""},
      {"epsilon: 2000000", "    release: {default: {mechanism: discrete_laplace}}\n", "0.000000000007", ""},
      {"epsilon: 2000000", "    release: {default: {mechanism: discrete_laplace, grid: 1/1024}}\n",
       third.c_str(), ""},
      {"epsilon: 2000000, delta: 0.5", "    release: {default: {mechanism: discrete_gaussian}}\n", "0.3",
       "0.000000000001"},
      {"measure: zcdp, rho: 1000", "    release: {default: {mechanism: gaussian}}\n", "0.3",
       "0.000000000001"},
  };
  Longest of_all;
  int released = 0;
  for (const Case& one : cases) {
    CAPTURE(one.budget, one.release, one.epsilon);
    TemporaryFolder folder;
    std::string rows = "patient_id,huge,tiny,odd,ward\n";
    for (int i = 0; i < 6; ++i) {
      rows += "p" + std::to_string(i) + ",1.7976931348623157e308,4.9e-324,0.1," +
              std::string(1, "ABC"[i % 3]) + "\n";
    }
    folder.write("visits.csv", rows);
    folder.write("policy.yaml", longest_policy(one.budget, one.release));
    const std::string ledger = folder.path("clinic.ledger");
    static_cast<void>(Engine::init(folder.path("policy.yaml"), ledger, "curator"));
    Engine engine = Engine::open(ledger);
    const int here = release_all(engine, one.epsilon, one.delta);
    CHECK(here >= 4);
    released += here;
    const Longest longest = recorded(ledger);
    CAPTURE(longest.text, longest.sum_digits);
    CHECK(longest.text <= ledger::kQuantityCharactersMax);
    CHECK(longest.sum_digits <= accounting::kSumDigitsMax);
    CHECK(engine::audit_verify(ledger).faults.empty());
    of_all.text = std::max(of_all.text, longest.text);
    of_all.sum_digits = std::max(of_all.sum_digits, longest.sum_digits);
    of_all.quantities += longest.quantities;
  }
  CAPTURE(of_all.text, of_all.sum_digits, of_all.quantities);
  CHECK(released >= 100);
  // Else these are not the longest: a scale of 4096 bits has thousands of decimals.
  CHECK(of_all.text > 5'000);
  CHECK(of_all.sum_digits > 1'000);
}

TEST_CASE("longest records: a mixed batch of 1,000 rows has sums that are short, and verifies",
          "[engine][release][batch][records]") {
  auto [clinic, engine] =
      Open<Clinic>("epsilon: 2000000",
                   "    allow: {statistics: [count, units, sum, mean, proportion, quantile, count_of]}\n"
                   "    release: {sum: {mechanism: discrete_laplace}, mean: {arithmetic: exact}}\n");
  const char* const questions[] = {"count",     "sum:age",           "mean:cost", "units",
                                   "count:age", "proportion:ward:A", "median:age"};
  engine::Request batch = request("count", "1", "monthly");
  batch.question = {};
  batch.epsilon = 0;
  std::vector<Rational> asked;
  for (long i = 0; i < 1'000; ++i) {
    const auto question = engine::parse_question(
        questions[i % 7], i % 5 == 0 ? std::optional<std::string>("ward") : std::nullopt, std::nullopt);
    // Any two of these have denominators without a common factor to speak of.
    asked.push_back(accounting::power_of_ten(58) / (accounting::power_of_ten(60) + 2 * i + 1));
    if (i % 7 == 5 && i % 5 == 0) {
      batch.rows.push_back(
          {engine::parse_question("count", std::nullopt, std::nullopt), asked.back(), {}, {}});
    } else {
      batch.rows.push_back({question, asked.back(), {}, {}});
    }
  }
  const engine::Answer answer = release(engine, batch);
  for (const engine::Reason& reason : answer.recorded.reasons) UNSCOPED_INFO(reason.message);
  REQUIRE(answer.recorded.granted);
  Rational exact = 0;
  for (const Rational& epsilon : asked) exact += epsilon;
  CHECK(digits(exact.get_den()) > 20'123);
  const Rational& requested = answer.planned.record.requested;
  CHECK(requested == accounting::sum_up(asked));
  CHECK(requested > exact);
  CHECK(requested < exact + accounting::power_of_ten(-304));
  const Longest longest = recorded(clinic.ledger());
  CAPTURE(longest.text, longest.sum_digits);
  CHECK(longest.text <= ledger::kQuantityCharactersMax);
  CHECK(longest.sum_digits <= accounting::kSumDigitsMax);
  CHECK(engine::audit_verify(clinic.ledger()).faults.empty());
  const engine::Answer again = release(engine, batch);
  CHECK(again.recorded.replayed);
  CHECK(again.planned.record.requested == requested);
}
