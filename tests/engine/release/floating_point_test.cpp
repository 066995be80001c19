// Policies, plans, releases and the audit, whatever the process did to floating point.

#include <bit>

#include "clinic.hpp"
#include "column_cell.hpp"
#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "support/floating_point_settings.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

/// Scores at which a comparison, a conversion or a sum in the wrong setting shows: subnormal, halfway between
/// two doubles, next to a bound.
constexpr const char* kScores =
    "id,score\n"
    "a,0.1\n"
    "b,2.2250738585072011e-308\n"
    "c,-4.9e-324\n"
    "d,4.9e-324\n"
    "e,0.30000000000000001665\n"
    "f,9007199254740993e-17\n"
    "g,0.99999999999999994\n"
    "h,-1e-310\n"
    "i,1.0000000000000001110223024625156540e-1\n";

std::string policy(const std::string& source) {
  return "version: 1\n"
         "datasets:\n"
         "  scores:\n"
         "    source: " +
         source +
         "\n"
         "    unit: row\n"
         "    rows: {max: 1000}\n"
         "    neighbours: add-remove\n"
         "    budget: {measure: zcdp, epsilon: 20, delta: 1e-6}\n"
         "    release: {default: {mechanism: discrete_gaussian}}\n"
         "    columns:\n"
         "      score: {type: double, bounds: [-1e-300, 1]}\n";
}

engine::Request ask(const std::string& statistic, const std::optional<std::string>& where = std::nullopt) {
  engine::Request result;
  result.dataset = "scores";
  result.question = engine::parse_question(statistic, std::nullopt, where);
  result.epsilon = Rational(1, 2);
  result.delta = Rational(1, 100'000'000);
  result.principal = "alice";
  return result;
}

std::string shown(const Answer& answer) {
  const ledger::ReleaseRecord& record = answer.planned.record;
  std::string text = record.charged.text() + " " + accounting::text(record.adjusted);
  for (const ledger::ComponentRecord& component : record.components) {
    text += " " + accounting::text(component.scale) + " " + accounting::text(component.grid);
  }
  for (const auto& component : answer.planned.accuracy) {
    for (const engine::Accuracy& accuracy : component) text += " " + accounting::text(accuracy.a);
  }
  for (const Rational& value : answer.released.values) text += " = " + value.get_str();
  return text;
}

void write_database(const std::string& path) {
  const accounting::DefaultFloatingPoint floating_point;  // SQLite reads the numbers below here, not later
  sql_rows(path,
           "CREATE TABLE scores(id INTEGER PRIMARY KEY, score REAL);"
           "INSERT INTO scores(score) VALUES (0.1), (2.2250738585072011e-308), (-4.9e-324), (4.9e-324),"
           "(0.3), (0.09007199254740993), (1e-310), ('x'), (NULL);");
}

/// Everything from the policy's text to the audit, in a folder of its own.
std::string whole_life(const std::string& source) {
  TemporaryFolder folder;
  folder.write("scores.csv", kScores);
  if (source.find("sqlite") != std::string::npos) write_database(folder.path("scores.db"));
  folder.write("policy.yaml", policy(source));
  const std::string ledger = folder.path("scores.ledger");
  (void)Engine::init(folder.path("policy.yaml"), ledger, "curator");
  Engine engine = Engine::open(ledger);
  SeededBits bits(11);
  std::string text;
  const std::vector<Rational> alphas{Rational(1, 20), Rational(1, 1'000'000)};
  for (const auto& where : {std::optional<std::string>(), std::optional<std::string>("score > 0"),
                            std::optional<std::string>("score >= 1e-320"),
                            std::optional<std::string>("score < 0.1000000000000000055511151231257828")}) {
    for (const char* statistic : {"count", "sum:score"}) {
      text += shown(engine.plan(ask(statistic, where), alphas)) + "\n";
      text += shown(engine.release(ask(statistic, where), bits, alphas)) + "\n";
    }
  }
  text += std::to_string(engine.forecast(ask("count"), {}).releases) + "\n";
  for (const ledger::AccountState& account : engine.budget("scores")) {
    text += account.measure + " " + std::to_string(account.balance.spent) + "\n";
  }
  engine::ReaccountQuestion question;
  question.accountants = {accounting::Accountant::zcdp, accounting::Accountant::rdp,
                          accounting::Accountant::pld};
  for (const engine::Reaccount& row : engine::reaccount(ledger, question)) {
    for (const auto& figure : row.figures) text += (figure.bound ? figure.bound->get_str() : "none") + "\n";
  }
  const engine::AuditReport audit = engine::audit_verify(ledger);
  text += (audit.ok ? "verified " : "not verified ") + std::to_string(audit.records) + "\n";
  return text;
}

}  // namespace

TEST_CASE("floating point: a ledger over CSV lives the same life in every setting", "[engine][fp][release]") {
  check_everywhere("csv", [] { return whole_life("{csv: scores.csv}"); });
}

TEST_CASE("floating point: a ledger over SQLite lives the same life in every setting",
          "[engine][fp][release]") {
  check_everywhere("sqlite", [] { return whole_life("{sqlite: scores.db, table: scores}"); });
}

TEST_CASE("floating point: exact answers see subnormal cells in every setting", "[engine][fp][rows]") {
  TemporaryFolder folder;
  folder.write("scores.csv", kScores);
  folder.write("policy.yaml", policy("{csv: scores.csv}"));
  const engine::Policy parsed = engine::checked_policy_file(folder.path("policy.yaml"));
  const engine::Dataset& dataset = parsed.dataset("scores");
  for (const char* where : {"score > 0", "score >= 1e-320", "score < -1e-323", "score = 0.1"}) {
    const engine::Question question = engine::parse_question("count", std::nullopt, where);
    check_everywhere(where, [&] {
      return engine::compute_exact_answer(dataset, question, engine::derive(dataset, question),
                                          folder.path(""))
          .values.at(0)
          .at(0)
          .get_str();
    });
  }
  const engine::Question sum = engine::parse_question("sum:score", std::nullopt, std::nullopt);
  check_everywhere("sum", [&] {
    return engine::compute_exact_answer(dataset, sum, engine::derive(dataset, sum), folder.path(""))
        .values.at(0)
        .at(0)
        .get_str();
  });
}

TEST_CASE("floating point: what is told of progress may set it, and the scan does not notice",
          "[engine][fp][rows]") {
  TemporaryFolder folder;
  folder.write("scores.csv", kScores);
  folder.write("policy.yaml", policy("{csv: scores.csv}"));
  const engine::Policy parsed = engine::checked_policy_file(folder.path("policy.yaml"));
  const engine::Dataset& dataset = parsed.dataset("scores");
  const engine::Question sum = engine::parse_question("sum:score", std::nullopt, std::nullopt);
  const auto asked = [&](const engine::Progress& progress) {
    return engine::compute_exact_answer(dataset, sum, engine::derive(dataset, sum), folder.path(""), progress)
        .values.at(0)
        .at(0);
  };
  const int rounding = std::fegetround();
  CHECK(asked([](double) { std::fesetround(FE_UPWARD); }) == asked({}));
  CHECK(std::fegetround() == rounding);
}

TEST_CASE("floating point: a number is placed between its doubles in every setting, without a search",
          "[engine][fp][exact]") {
  const double least = std::numeric_limits<double>::denorm_min();
  const double largest = std::numeric_limits<double>::max();
  const Rational tiny = accounting::power_of_two(-1074);
  const auto text = [](const Rational& value) {
    const engine::RealRounding place = engine::round_real(value);
    return std::to_string(std::bit_cast<std::uint64_t>(place.up)) + " " +
           std::to_string(std::bit_cast<std::uint64_t>(place.down));
  };
  for (const Rational& value :
       {Rational(0), tiny, Rational(-tiny), Rational(tiny / 3), Rational(-tiny / 3), Rational(5 * tiny / 2),
        accounting::power_of_two(-1022), Rational(accounting::power_of_two(-1022) - tiny / 2),
        Rational(1, 10), Rational(-1, 10), Rational(largest), Rational(Rational(largest) + 1),
        accounting::power_of_two(1024), Rational(-accounting::power_of_two(5000))}) {
    check_everywhere("place", [&] { return text(value); });
  }
  CHECK(engine::round_real(tiny / 3).up == least);
  CHECK(engine::round_real(tiny / 3).down == 0);
  CHECK(engine::round_real(5 * tiny / 2).up == 3 * least);
  CHECK(engine::round_real(5 * tiny / 2).down == 2 * least);
  CHECK(std::isinf(engine::round_real(Rational(largest) + 1).up));
  CHECK(engine::round_real(Rational(largest) + 1).down == largest);
  CHECK(engine::round_real(Rational(largest)).up == largest);

  // Beside what a search finds.
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto near = std::bit_cast<double>(random());
    if (!std::isfinite(near)) continue;
    Rational value(near);
    if (i % 3 != 0) value *= Rational(static_cast<long>(random() % 1000 + 999'500), 1'000'000);
    const engine::RealRounding place = engine::round_real(value);
    REQUIRE((std::isinf(place.up) || Rational(place.up) >= value));
    REQUIRE((std::isinf(place.down) || Rational(place.down) <= value));
    REQUIRE((place.up == place.down || std::nextafter(place.down, place.up) == place.up));
    REQUIRE((place.up == place.down) == (Rational(value.get_d()) == value));
  }
}
