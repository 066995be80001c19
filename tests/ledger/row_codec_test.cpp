// The numbers of a release come back from what is stored as they are, and go back to the very bytes that
// stood there; one that would not is damage.
#include "row_codec.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "ledger/support/fixture.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using accounting::Delta;

namespace {

using Row = std::vector<std::string>;

/// Of a file that nobody writes to and that is left as it is.
std::vector<Row> rows_of(const std::filesystem::path& file, const char* sql) {
  sqlite3* database = nullptr;
  const std::string uri = "file:" + file.string() + "?immutable=1";
  REQUIRE(sqlite3_open_v2(uri.c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) ==
          SQLITE_OK);
  std::vector<Row> rows;
  const auto keep = [](void* kept, int columns, char** texts, char**) {
    static_cast<std::vector<Row>*>(kept)->emplace_back(texts, texts + columns);
    return 0;
  };
  CHECK(sqlite3_exec(database, sql, keep, &rows, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return rows;
}

bool same(const ledger::Components& one, const ledger::Components& other) {
  return one.records == other.records && one.values == other.values;
}

/// A component of no mechanism: everything applies to it. Each number is another one.
ledger::ComponentRecord with_everything() {
  ledger::ComponentRecord component;
  component.statistic = "sum";
  component.epsilon = Epsilon::parse_down("0.1");
  component.delta = Delta::parse_down("0.000001");
  component.sensitivity = 2;
  component.sensitivity_l2_squared = 3;
  component.inflated = Rational(7, 2);
  component.lambda = Rational(10) + accounting::power_of_two(-118);
  component.grid = Rational(1, 16);
  component.centre = 5;
  component.bound = 1024;
  component.coordinates = 3;
  component.precision = 118;
  component.adjusted = Rational(1, 11);
  component.adjusted_delta = Rational(1, 1'100'000);
  component.rho = Rational(1, 13);
  component.published = Rational(1, 17);
  component.published_note = "a note";
  return component;
}

/// The members of that component whose texts are numbers, as they are written.
std::map<std::string, std::string> numbers_of(const ledger::ComponentRecord& component) {
  return {{"epsilon", component.epsilon.text()},
          {"delta", component.delta.value().text()},
          {"sensitivity", accounting::text(component.sensitivity)},
          {"sensitivity_l2_squared", ledger::number_text(component.sensitivity_l2_squared)},
          {"inflated", ledger::number_text(component.inflated)},
          {"lambda", accounting::text(component.lambda)},
          {"grid", accounting::text(component.grid)},
          {"centre", ledger::number_text(component.centre)},
          {"bound", ledger::number_text(component.bound)},
          {"adjusted", accounting::text(component.adjusted)},
          {"adjusted_delta", ledger::number_text(component.adjusted_delta)},
          {"rho", ledger::number_text(component.rho)},
          {"published", ledger::number_text(component.published)}};
}

}  // namespace

TEST_CASE("row codec: every number of every ledger that was kept goes back to the bytes that stand there",
          "[ledger][exact][old_ledgers]") {
  std::size_t files = 0;
  std::map<std::string, std::size_t> releases;  // by mechanism
  ledger::RecordedNumbers numbers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(EPSILOG_KEPT_LEDGERS)) {
    if (entry.path().extension() != ".epsilog") continue;
    CAPTURE(entry.path().filename().string());
    ++files;
    for (const Row& row : rows_of(entry.path(),
                                  "SELECT mechanism, components, requested, charged, adjusted, published,"
                                  " precision, sensitivity, bound, scale, grid FROM release")) {
      const std::string& json = row[1];
      CAPTURE(json);
      ++releases[row[0]];
      const ledger::Components read = ledger::parse_components(json, numbers);
      CHECK(ledger::components_json(read.records, read.values) == json);
      CHECK(ledger::is_components_json(json, read.records, read.values, numbers));
      // A blank makes it another text of the same JSON.
      CHECK(same(ledger::parse_components(" " + json, numbers), read));
      CHECK_FALSE(ledger::is_components_json(" " + json, read.records, read.values, numbers));
      CHECK(accounting::text(numbers.rational(row[2], "requested")) == row[2]);
      CHECK(accounting::parse_canonical_quantity<accounting::EpsilonMeasure>(row[3], "charged").text() ==
            row[3]);
      CHECK(accounting::text(numbers.rational(row[4], "adjusted")) == row[4]);
      CHECK(ledger::number_text(ledger::parse_number(row[5], "published", numbers)) == row[5]);
      const ledger::SingleComponent single{std::stoll(row[6]), row[7], row[8], row[9], row[10]};
      CHECK(ledger::single_component(read.records) == single);
    }
  }
  CHECK(files == 27);
  CHECK(releases.size() == 4);
  for (const auto& [mechanism, count] : releases) {
    CAPTURE(mechanism);
    CHECK(count >= 3);
  }
}

TEST_CASE("row codec: a component to which everything applies comes back, with whatever stands in its texts",
          "[ledger][exact]") {
  const std::vector<std::vector<Rational>> values = {{1, Rational(-1, 3), Rational(1, 4)}, {}};
  ledger::RecordedNumbers numbers;
  for (const char* note : {"", "plain", "a \"quoted\" \\ note", "größer\n", "\",\"values\":[\"9\"]}"}) {
    auto component = with_everything();
    component.published_note = note;
    const std::string json = ledger::components_json({component, with_everything()}, values);
    CAPTURE(json);
    const ledger::Components read = ledger::parse_components(json, numbers);
    CHECK(read.records == std::vector<ledger::ComponentRecord>{component, with_everything()});
    CHECK(read.values == values);
    CHECK(ledger::is_components_json(json, read.records, read.values, numbers));
    CHECK_FALSE(ledger::is_components_json(json, read.records, {{1}, {}}, numbers));
  }
}

TEST_CASE("row codec: no number of a component has a second spelling", "[ledger][negative]") {
  const auto component = with_everything();
  const std::string json = ledger::components_json({component}, {{1}});
  const auto stored = numbers_of(component);
  REQUIRE(stored.size() == 13);
  ledger::RecordedNumbers numbers;
  for (const auto& [name, text] : stored) {
    const std::string member = "\"" + name + "\":\"";
    const std::size_t at = json.find(member + text + "\"");
    REQUIRE(at != std::string::npos);
    const auto read_with = [&](const std::string& other) {
      std::string edited = json;
      edited.replace(at + member.size(), text.size(), other);
      return ledger::parse_components(edited, numbers).records.at(0);
    };
    CAPTURE(name, text);
    const auto refusal = [&](const std::string& other) {
      try {
        static_cast<void>(read_with(other));
      } catch (const LedgerCorrupt& error) {
        return std::string(error.what());
      }
      return std::string("it is read");
    };
    for (const std::string& spelling : {"0" + text, "-0" + text, text + "e0", "+" + text, text + " "}) {
      CAPTURE(spelling);
      CHECK(refusal(spelling).starts_with(name + ": '" + spelling.substr(0, 60)));
    }
    for (const char* none : {"-", "x", "1/0", "-0", "\\u0000"}) {
      CAPTURE(none);
      CHECK_THROWS_AS(read_with(none), LedgerCorrupt);
    }
    const bool quantity = name == "epsilon" || name == "delta";
    for (const std::string& beyond : {"-" + text, std::string("1/3"), std::string(30, '9')}) {
      CAPTURE(beyond);
      if (quantity) {
        CHECK(refusal(beyond) == name + ": '" + beyond + "' is not on the grid of " + name);
      } else {
        CHECK_FALSE(read_with(beyond) == component);  // whose sign is for who looks at the release
      }
    }
    const bool may_be_nothing = name != "epsilon" && name != "sensitivity" && name != "lambda" &&
                                name != "grid" && name != "adjusted";
    if (may_be_nothing) {
      CHECK_FALSE(read_with("") == component);
    } else {
      CHECK(refusal("") == name + ": '' is not an exact number");
    }
  }
}

TEST_CASE("row codec: a text that is nearly one of components is read as the JSON that it is, or not",
          "[ledger][negative]") {
  const auto component = with_everything();
  const std::string json = ledger::components_json({component, component}, {{1, 2}, {3}});
  ledger::RecordedNumbers numbers;
  const ledger::Components whole = ledger::parse_components(json, numbers);
  std::size_t read = 0;
  for (std::size_t at = 0; at <= json.size(); ++at) {
    const std::string before = json.substr(0, at);
    const std::string after = json.substr(at);
    for (const std::string& edited :
         {before, before + after.substr(std::min<std::size_t>(1, after.size())), before + "," + after,
          before + "0" + after, before + "\\u0020" + after}) {
      if (edited == json) continue;
      try {
        const ledger::Components other = ledger::parse_components(edited, numbers);
        ++read;
        // The only text that is written of what it says is another one, or it says something else.
        const bool as_written = ledger::components_json(other.records, other.values) == edited;
        CHECK(ledger::is_components_json(edited, other.records, other.values, numbers) == as_written);
        CHECK_FALSE((as_written && same(other, whole)));
      } catch (const LedgerCorrupt&) {
      }
    }
  }
  CHECK(read > 100);
}

TEST_CASE("row codec: numbers that were read before are those that are read, however many and however long",
          "[ledger][exact]") {
  ledger::RecordedNumbers numbers;
  const std::string longest(5'000, '7');
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 10'000; ++i) REQUIRE(numbers.rational(std::to_string(i), "x") == i);
    CHECK(numbers.rational(longest, "x") == Rational(longest));
    CHECK(numbers.rational("1" + longest, "x") == Rational("1" + longest));
    CHECK_THROWS_AS(numbers.rational("01", "x"), LedgerCorrupt);
  }
}

TEST_CASE("row codec: accounts are read from the text that is written and from its spellings alike",
          "[ledger]") {
  const std::string scope = GENERATE(as<std::string>{}, "", "principal:ann", "principal:J\xc3\xb6rg \"\\\n");
  const std::int64_t big = std::int64_t{1} << 61;
  std::vector<ledger::AccountState> accounts(2);
  accounts[0] = {1, "clinic", scope, "epsilon", {.limit = big, .spent = 3, .reserved = 0}};
  accounts[1] = {-7, "clinic", "", "rdp(8)", {.limit = 0, .spent = INT64_MIN, .reserved = INT64_MAX}};
  const auto same = [&](const std::vector<ledger::AccountState>& read) {
    return ledger::accounts_json(read) == ledger::accounts_json(accounts) &&
           std::all_of(read.begin(), read.end(), [](const auto& one) { return one.dataset == "clinic"; });
  };
  const std::string written = ledger::accounts_json(accounts);
  CHECK(same(ledger::parse_accounts(written, "clinic")));
  const std::string blanks = std::regex_replace(written, std::regex("([,:{])\""), "$1 \"");
  CHECK(same(ledger::parse_accounts(blanks, "clinic")));
  const std::string escaped = std::regex_replace(written, std::regex("rdp"), "\\u0072dp");
  CHECK(same(ledger::parse_accounts(escaped, "clinic")));
  const std::string moved =
      std::regex_replace(written, std::regex("(\"id\":[-0-9]+),(\"scope\":\"\")"), "$2,$1");
  CHECK(same(ledger::parse_accounts(moved, "clinic")));
  for (std::size_t length = 0; length < written.size(); ++length) {
    CHECK_THROWS_AS(ledger::parse_accounts(written.substr(0, length), "clinic"), LedgerCorrupt);
  }
  for (const char* number : {"1.5", "9223372036854775808", "\"1\"", "null", "-", "01", "+1"}) {
    const std::string other =
        std::regex_replace(written, std::regex("\"spent\":3"), std::string("\"spent\":") + number);
    CHECK_THROWS_AS(ledger::parse_accounts(other, "clinic"), LedgerCorrupt);
  }
}

TEST_CASE("row codec: values are read from the text that is written and from its spellings alike",
          "[ledger]") {
  const std::vector<Rational> values{0, -3, Rational(1, 3), Rational(5, 2),
                                     Rational("12345678901234567890123")};
  CHECK(ledger::parse_rationals(ledger::rationals_json(values)) == values);
  CHECK(ledger::parse_rationals("[ \"0.0\", \"-3.00\",\"2/6\", \"2.50\", \"12345678901234567890123\" ]") ==
        values);
  CHECK(ledger::parse_rationals("[]").empty());
  for (const char* text :
       {"", "[", "[\"1\"", "[\"1\",]", "[\"1\"]]", "[1]", "[\"x\"]", "[\"1\" \"2\"]", "{}", "[\"1/0\"]"}) {
    CHECK_THROWS_AS(ledger::parse_rationals(text), LedgerCorrupt);
  }
  CHECK(ledger::parse_texts("[]").empty());
  CHECK(ledger::parse_texts("[ ]").empty());
  CHECK(ledger::parse_post_processing("{\"kind\":\"none\"}").kind == accounting::PostProcessing::Kind::none);
  CHECK(ledger::parse_post_processing("{\"kind\": \"none\"}").kind == accounting::PostProcessing::Kind::none);
}
