#include "epsilog/engine/predicate.hpp"
#include "epsilog/engine/date.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog::test;
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

TEST_CASE("predicate: its text is canonical, reads back as itself, and `and` binds more closely than `or`",
          "[engine][predicate][exact]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/policy/canonical_predicates.tsv")) {
    const std::string &text = row.at(0), &expected = row.at(1);
    CAPTURE(text);
    CHECK(canonical(text) == expected);
    CHECK(canonical(expected) == expected);
    CHECK(Predicate::parse(expected) == Predicate::parse(text));
  }
  CHECK_FALSE(Predicate::parse("a = 1 and b = 2") == Predicate::parse("a = 1 or b = 2"));
}

TEST_CASE("predicate: an error names the character and what was expected there",
          "[engine][predicate][negative]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/policy/predicate_errors.tsv")) {
    const std::string& text = row.at(0);
    const std::string& message = row.at(1);
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

TEST_CASE("predicate: no number of a condition has more than 1,000 characters",
          "[engine][predicate][negative]") {
  CHECK(Predicate::parse("age > " + std::string(1'000, '1')).comparisons().size() == 1);
  for (const std::string& number :
       {std::string(1'001, '1'), std::string(30'000, '1'), "0." + std::string(30'000, '1')}) {
    CHECK_THROWS_WITH(Predicate::parse("age > " + number), test::says("at most 400 characters"));
  }
}

TEST_CASE("predicate: what is longer than may be typed is read, and says so", "[engine][predicate]") {
  CHECK(Predicate::parse("a = '" + std::string(70'000, 'x') + "'").new_request_fault() ==
        "where: longer than 65536 bytes");
  CHECK(Predicate::parse("a = " + std::string(401, '1')).new_request_fault() ==
        "where: the number '" + std::string(60, '1') + "…' is longer than 400 characters");
  CHECK(Predicate::parse("a = " + std::string(400, '1')).new_request_fault().empty());
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

TEST_CASE("predicate: parentheses stand at most 32 within one another, and `not` any number of times",
          "[engine][predicate][negative]") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "a = 1" + std::string(depth, ')');
  };
  CHECK(canonical(nested(32)) == "a = 1");
  CHECK_THROWS_WITH(
      Predicate::parse(nested(33)),
      "where: at character 33: expected at most 32 parentheses within one another (`between` is one)");
  const std::string between(32, '(');
  CHECK_THROWS_WITH(
      Predicate::parse(between + "a between 1 and 2" + std::string(32, ')')),
      "where: at character 35: expected at most 32 parentheses within one another (`between` is one)");
  // As deep as can be, and once more in what is recorded.
  std::string deepest = "a = 1 and a not between 1 and 2";
  for (int i = 0; i < 31; ++i) deepest = "a = 1 and (a = 2 or " + deepest + ")";
  CHECK(canonical(canonical(deepest)) == canonical(deepest));
  CHECK(canonical(deepest).ends_with("(a < 1 or a > 2)" + std::string(31, ')')));
  CHECK_THROWS_AS(Predicate::parse("(" + deepest + ")"), InvalidParameter);
  CHECK_THROWS_AS(Predicate::parse(nested(100'000)), InvalidParameter);
  CHECK(canonical("(" + nested(31) + " or " + nested(31) + ") and " + nested(32)) ==
        "(a = 1 or a = 1) and a = 1");
  std::string nots;
  for (int i = 0; i < 10'001; ++i) nots += "not ";
  CHECK(canonical(nots + "a = 1") == "a != 1");
}

TEST_CASE("predicate: later words are names before an older operator, as older programs wrote them",
          "[engine][predicate][exact]") {
  // Every one of these was accepted and recorded, byte for byte, before the words were words.
  for (const std::string word : {"or", "not", "between", "is", "missing", "Or", "NOT"}) {
    for (const std::string rest :
         {" = 1", " != 'x'", " < 1", " <= 1", " > 1", " >= 2024-01-31", " in (1, 2)"}) {
      for (const std::string& text : std::vector{word + rest, "a = 1 and " + word + rest + " and b = 2",
                                                 word + rest + " and " + word + rest}) {
        CAPTURE(text);
        const Predicate read = Predicate::parse(text);
        CHECK(read.text() == text);
        for (const Comparison& comparison : read.comparisons()) {
          CHECK((comparison.column == word || comparison.column == "a" || comparison.column == "b"));
        }
        const std::size_t at = text.find(word + rest) + 1;
        CHECK(read.new_request_fault() == "where: at character " + std::to_string(at) +
                                              ": expected a column name (quote it as \"" + word + "\")");
      }
    }
    // Quoted it may be typed; the text stays what it was.
    CHECK(canonical("\"" + word + "\" = 1") == word + " = 1");
    CHECK(Predicate::parse("\"" + word + "\" = 1").new_request_fault().empty());
    for (const std::string& text :
         std::vector{"\"" + word + "\" is missing", "\"" + word + "\" is not missing",
                     "\"" + word + "\" not in (1, 2)"}) {
      CAPTURE(text);
      CHECK(canonical(text) == text);
      CHECK(Predicate::parse(text).comparisons()[0].column == word);
    }
    CHECK(canonical("not \"" + word + "\" = 1 or \"" + word + "\" between 1 and 2") ==
          word + " != 1 or " + word + " >= 1 and " + word + " <= 2");
    CHECK(canonical("a = 1 or " + word + " = 1") == "a = 1 or " + word + " = 1");
  }
}

TEST_CASE("predicate: the text of a random one is a fixed point with no more parentheses than were typed",
          "[engine][predicate][property]") {
  constexpr unsigned kSeed = 20261123;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto nesting = [](const std::string& text) {
    std::size_t open = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(' && !(i >= 3 && text.substr(i - 3, 3) == "in ")) most = std::max(most, ++open);
      if (text[i] == ')' && !(i >= 2 && text.substr(i - 2, 2) == "2 ")) --open;
    }
    return most;
  };
  // Lists end in "2 )", so that their parentheses can be told.
  const std::vector<std::string> columns{"a",       "größe",  "\"in\"",     "\"or\"",
                                         "\"not\"", "\"is\"", "\"missing\""};
  const std::vector<std::string> forms{" = 1",
                                       " != 'or'",
                                       " < 1",
                                       " >= 1",
                                       " in (1, 2 )",
                                       " not in (1, 2 )",
                                       " is missing",
                                       " is not missing",
                                       " between 1 and 2",
                                       " not between 1 and 2"};
  const std::function<std::string(unsigned)> typed = [&](unsigned depth) {
    std::string text;
    for (unsigned parts = 1 + below(3); parts > 0; --parts) {
      if (!text.empty()) text += below(2) == 0 ? " and " : " or ";
      for (unsigned nots = below(3); nots > 0; --nots) text += "not ";
      text +=
          depth > 0 && below(2) == 0 ? "(" + typed(depth - 1) + ")" : columns[below(7)] + forms[below(10)];
    }
    return text;
  };
  std::size_t deep = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = typed(6);
    CAPTURE(text);
    const Predicate predicate = Predicate::parse(text);
    const std::string canonical = predicate.text();
    CAPTURE(canonical);
    const Predicate again = Predicate::parse(canonical);
    REQUIRE(again == predicate);
    REQUIRE(again.text() == canonical);
    std::string spaced;  // as the typed lists
    for (std::size_t at = 0; at < canonical.size(); ++at) {
      spaced += canonical.substr(at, 5) == "1, 2)" ? (at += 4, "1, 2 )") : std::string(1, canonical[at]);
    }
    std::string counted = text;  // a `between` counts as a parenthesis
    for (std::size_t at = 0; (at = counted.find("between 1 and 2", at)) != std::string::npos; at += 3) {
      counted.replace(at, 15, "( )");
    }
    REQUIRE(nesting(spaced) <= nesting(counted));
    if (nesting(spaced) >= 3) ++deep;
    REQUIRE(predicate.new_request_fault().empty());
  }
  CHECK(deep > 100);
}

TEST_CASE("predicate: what it asks of one column is the rest once all else is satisfied",
          "[engine][predicate][exact]") {
  const auto about = [](const std::string& text) {
    const auto left = Predicate::parse(text).about("a");
    return left ? left->text() : "";
  };
  CHECK(about("a = 1") == "a = 1");
  CHECK(about("b = 1").empty());
  CHECK(about("b = 1 and a > 1 and a < 3") == "a > 1 and a < 3");
  CHECK(about("b = 1 or a > 1").empty());
  CHECK(about("a = 1 or a = 2") == "a = 1 or a = 2");
  CHECK(about("(a = 1 or b = 2) and a > 0") == "a > 0");
  CHECK(about("a = 1 and b = 2 or a = 3 and c = 4") == "a = 1 or a = 3");
  CHECK(about("(a = 1 and b = 1 or a = 2) and (c = 1 or a = 9) and a != 5") == "(a = 1 or a = 2) and a != 5");
  CHECK(about("b = 1 and (a = 1 or a is missing and c = 2)") == "a = 1 or a is missing");
  CHECK(about("b = 1 and (a = 1 and a = 2 or c = 3)").empty());
}
