#include "epsilog/engine/date.hpp"
#include "epsilog/engine/predicate.hpp"

#include <string>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;

namespace {

std::string canonical(const std::string& text) {
  return Predicate::parse(text).text();
}

}  // namespace

TEST_CASE("predicate: every operator and constant is read", "[engine][predicate][exact]") {
  const Predicate predicate = Predicate::parse(
      "age >= 65 and cost<1.50 AND ward IN ('A', 'it''s') and smoker = True and seen != 2024-02-29 and x = "
      "-1/3");
  const auto& comparisons = predicate.comparisons();
  REQUIRE(comparisons.size() == 6);
  CHECK(comparisons[0].op == Comparison::Operator::greater_equal);
  CHECK(std::get<accounting::Rational>(comparisons[0].constants[0]) == 65);
  CHECK(comparisons[1].op == Comparison::Operator::less);
  CHECK(std::get<accounting::Rational>(comparisons[1].constants[0]) == accounting::Rational(3, 2));
  CHECK(comparisons[2].op == Comparison::Operator::in);
  CHECK(std::get<std::string>(comparisons[2].constants[1]) == "it's");
  CHECK(std::get<bool>(comparisons[3].constants[0]));
  CHECK(std::get<Comparison::Date>(comparisons[4].constants[0]).days == 19782);
  CHECK(std::get<accounting::Rational>(comparisons[5].constants[0]) == accounting::Rational(-1, 3));
}

TEST_CASE("predicate: its text is canonical and reads back as itself", "[engine][predicate][exact]") {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"a=1", "a = 1"},
           {" a  <=  1.50 ", "a <= 1.5"},
           {"a>1e3", "a > 1000"},
           {"a < 2/6", "a < 1/3"},
           {"w in('A','B')", "w in ('A', 'B')"},
           {"w = 'it''s'", "w = 'it''s'"},
           {"\"length of stay\" != 3", "\"length of stay\" != 3"},
           {"\"say \"\"and\"\"\" = true", "\"say \"\"and\"\"\" = true"},
           {"\"in\" = FALSE AND \"plain\" >= 2024-01-31", "\"in\" = false and plain >= 2024-01-31"},
           {"größe > 1", "größe > 1"}}) {
    CHECK(canonical(text) == expected);
    CHECK(canonical(expected) == expected);
  }
}

TEST_CASE("predicate: an error names the character and what was expected there",
          "[engine][predicate][negative]") {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "where: at character 1: expected a column name"},
           {"age", "where: at character 4: expected one of = != < <= > >= in"},
           {"age == 3", "where: at character 5: expected '=' (one equals sign)"},
           {"age <> 3", "where: at character 5: expected '!='"},
           {"day = 31.01.2024",
            "where: at character 7: expected dates as in 2024-01-31, however the source writes them"},
           {"day = 1/2/2024",
            "where: at character 7: expected dates as in 2024-01-31, however the source writes them"},
           {"age = 1.5/2.5",
            "where: at character 7: expected a number, 'text', true, false or a date such as 2024-01-31 "
            "(number: "
            "'1.5/2.5' is not a number: write it as 0.25, 1e-6 or 1/3)"},
           {"age > ",
            "where: at character 7: expected a number, 'text', true, false or a date such as 2024-01-31"},
           {"ward = A",
            "where: at character 8: expected a number, 'text', true, false or a date such as 2024-01-31"},
           {"ward = \"A\"", "where: at character 8: expected text in single quotes"},
           {"ward = 'A", "where: at character 10: expected a closing quote"},
           {"größe > ?",
            "where: at character 9: expected a number, 'text', true, false or a date such as 2024-01-31"},
           {"ward in 'A'", "where: at character 9: expected '(' and a list of constants"},
           {"ward in ('A' 'B')", "where: at character 14: expected ',' or ')'"},
           {"ward in ('A'", "where: at character 13: expected ',' or ')'"},
           {"a = 1 or b = 2", "where: at character 7: expected 'and' or the end"},
           {"a = 1 and", "where: at character 10: expected a column name"},
           {"seen = 2024-02-30", "where: at character 8: expected a date that exists, such as 2024-01-31"},
           {"and = 1", "where: at character 1: expected a column name (quote it as \"and\")"},
           {"1 = a", "where: at character 1: expected a column name"}}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Predicate::parse(text), InvalidParameter);
    CHECK_THROWS_WITH(Predicate::parse(text), message);
  }
  for (const char* text : {"a = nan", "a = inf", "a = 0x10", "a = 1_000", "a = .5", "a = 5.", "a = -0",
                           "a = 1/0", "a = --1", "a = 1e", "a in ()", "a = 1e9999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Predicate::parse(text), InvalidParameter);
  }
}

TEST_CASE("predicate: what is longer than may be typed is read, and says so", "[engine][predicate]") {
  CHECK(Predicate::parse("a = '" + std::string(70'000, 'x') + "'").too_long() ==
        "where: longer than 65536 bytes");
  CHECK(Predicate::parse("a = " + std::string(401, '1')).too_long() ==
        "where: the number '" + std::string(60, '1') + "…' is longer than 400 characters");
  CHECK(Predicate::parse("a = " + std::string(400, '1')).too_long().empty());
  CHECK_THROWS_AS(Predicate::parse("a = " + std::string(400, '1') + "e1"), InvalidParameter);
}

TEST_CASE("predicate: dates are those of the Gregorian calendar", "[engine][predicate][exact]") {
  std::int64_t days = 0;
  REQUIRE(parse_date("1970-01-01", days));
  CHECK(days == 0);
  REQUIRE(parse_date("2000-02-29", days));
  CHECK(days == 11016);
  REQUIRE(parse_date("0000-01-01", days));
  CHECK(date_text(days) == "0000-01-01");
  REQUIRE(parse_date("9999-12-31", days));
  CHECK(days == 2932896);
  CHECK(date_text(days) == "9999-12-31");
  for (const char* text :
       {"1900-02-29", "2023-02-29", "2024-13-01", "2024-00-10", "2024-01-00", "2024-1-01", "24-01-01",
        "2024/01/01", " 2024-01-01", "2024-01-01 ", "-024-01-01", "20240101", ""}) {
    CAPTURE(text);
    CHECK_FALSE(parse_date(text, days));
  }
  CHECK(days == 2932896);
}
