// Amounts as decimals, without exact arithmetic: the same texts as with it.
#include "grid_units.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/rational.hpp"
#include "records.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog::test;
using epsilog::LedgerCorrupt;
using epsilog::accounting::kUnitsMax;
using epsilog::accounting::Rational;
using epsilog::ledger::grid_decimals;
using epsilog::ledger::parse_units;
using epsilog::ledger::UnitsText;

namespace {

void check(std::int64_t units, int decimals) {
  const std::string text(UnitsText(units, decimals).view());
  const Rational exact = Rational(static_cast<long>(units)) * epsilog::accounting::power_of_ten(-decimals);
  if (text != epsilog::accounting::text(exact) || parse_units(text, decimals) != units) {
    FAIL(units << " units of " << decimals << " decimals: " << text);
  }
}

}  // namespace

TEST_CASE("grid units: 40,000 amounts have the text of their exact number, and are read from it",
          "[ledger][record][random]") {
  constexpr std::array kDecimals{0, 1, 12, 15, 18};
  std::mt19937_64 random(7);
  for (const int decimals : kDecimals) {
    for (const std::int64_t units : {std::int64_t{0}, std::int64_t{1}, kUnitsMax, kUnitsMax - 1}) {
      check(units, decimals);
      check(-units, decimals);
    }
    for (std::int64_t power = 1; power <= kUnitsMax / 10; power *= 10) {
      for (const std::int64_t units : {power, power - 1, power + 1, 7 * (power / 10)}) check(units, decimals);
    }
    for (int i = 0; i < 8'000; ++i) {
      const auto units = static_cast<std::int64_t>(random() % (std::uint64_t{1} << (1 + random() % 61)));
      check(i % 2 == 0 ? units : -units, decimals);
    }
  }
}

TEST_CASE("grid units: no other text is read", "[ledger][record][negative]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/no_grid_units.tsv")) {
    const std::string& text = row.at(0);
    INFO(text);
    CHECK_THROWS_AS(parse_units(text, 12), LedgerCorrupt);
  }
  CHECK(parse_units("2305843.009213693952", 12) == kUnitsMax);
  CHECK(parse_units("-2305843.009213693952", 12) == -kUnitsMax);
}

TEST_CASE("grid units: each measure of an account has its decimals", "[ledger][record][exact]") {
  CHECK(grid_decimals("epsilon") == 12);
  CHECK(grid_decimals("delta") == 18);
  CHECK(grid_decimals("rho") == 15);
  CHECK(grid_decimals("rdp(8)") == 12);
  CHECK(grid_decimals("rdp(5/2)") == 12);
  for (const char* measure : {"", "eps", "rdp", "rdp()", "rdp(8", "rdp 8)", "Rho"}) {
    INFO(measure);
    CHECK_THROWS_AS(grid_decimals(measure), epsilog::InvalidParameter);
  }
}
