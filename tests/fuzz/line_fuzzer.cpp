// A line of the ledger: what is read is written again to the byte. The accounts 1 to 4 have the measures of
// tests/vectors/records.json.
#include "epsilog/ledger/canonical_json.hpp"

#include "epsilog/accounting/errors.hpp"
#include "fuzz_target.hpp"
#include "records.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace epsilog;
  const std::string_view text = fuzz::text_of(data, size);
  const auto decimals = [](std::int64_t account) {
    if (account < 1 || account > 4)
      throw LedgerCorrupt("account " + std::to_string(account) + " has no line");
    const char* measures[] = {"epsilon", "delta", "rho", "rdp(8)"};
    return ledger::grid_decimals(measures[account - 1]);
  };
  try {
    const ledger::Line line = ledger::parse_line(text, decimals);
    ++fuzz::accepted_count;
    static_cast<void>(ledger::parse_canonical(text));
    fuzz::require(ledger::line_text(line, decimals) == text, "a line is written as it was read");
  } catch (const LedgerCorrupt&) {
  }
  return 0;
}
