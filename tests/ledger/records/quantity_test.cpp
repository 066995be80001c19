// Exact numbers have one text in a record, and nothing else is read.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/json_writer.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog::test;
using epsilog::LedgerCorrupt;
using epsilog::accounting::Rational;
using epsilog::ledger::JsonWriter;
using epsilog::ledger::parse_canonical;

namespace {

using Texts = std::vector<std::string>;

Rational read(const std::string& text) {
  return parse_canonical(JsonWriter().text(text).take()).quantity();
}

}  // namespace

TEST_CASE("quantity: what is written of a number is read, and nothing else", "[ledger][record][quantity]") {
  for (const std::string& text : Texts{"0", "7", "-7", "10", "0.5", "-0.25", "120.001", "1/3", "-22/7",
                                       "1000000000000/3", "0." + std::string(400, '0') + "1",
                                       "123456789012345678901234567890", "1/" + std::string(300, '7')}) {
    CAPTURE(text);
    CHECK(epsilog::accounting::text(read(text)) == text);
  }
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/no_quantities.tsv")) {
    const std::string& text = row.at(0);
    CAPTURE(text);
    CHECK_THROWS_AS(read(text), LedgerCorrupt);
  }
  CHECK_THROWS_WITH(read(std::string(100, 'x')),
                    "quantity: '" + std::string(60, 'x') + "…' is not an exact number");
}

TEST_CASE("quantity: every fraction of small terms has one text", "[ledger][record][quantity][exhaustive]") {
  for (int below = 1; below <= 60; ++below) {
    for (int above = -60; above <= 60; ++above) {
      const std::string fraction = std::to_string(above) + "/" + std::to_string(below);
      Rational value(above, below);
      value.canonicalize();
      const std::string text = epsilog::accounting::text(value);
      REQUIRE(read(text) == value);
      if (fraction != text) REQUIRE_THROWS_AS(read(fraction), LedgerCorrupt);
    }
  }
}
