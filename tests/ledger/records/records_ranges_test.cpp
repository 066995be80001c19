// What is no line of a record: members off their range or form, and members that contradict each other.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "ledger/support/record_faults.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using namespace epsilog::test;
using epsilog::LedgerCorrupt;
using epsilog::ledger::line_text;
using epsilog::ledger::parse_line;
using Texts = std::vector<std::string>;

TEST_CASE("records: no member is out of its range or form", "[ledger][record][negative]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/values_out_of_range.tsv")) {
    const auto samples = row.at(0) == "minimal" ? minimal_records() : full_records();
    const std::string& path = row.at(1);
    for (std::size_t i = 2; i < row.size(); ++i) {
      const std::string& value = row[i];
      std::string name = path.substr(path.rfind('.') + 1);
      const std::string said = fault(with(samples, path, value));
      INFO(path << " " << value << " " << said);
      if (value == R"("rounded")") name = "centre";
      if (value == R"("confirmed")") name = "by";
      if (path == "decision.movements.account" && (value == "1" || value == "2")) name = "movements";
      if (path == "ledger.kind" && value == R"("policy")") name = "after_decision";
      CHECK(names(said, name));
    }
  }
}

TEST_CASE("records: no kind has a time that is none", "[ledger][record][negative]") {
  for (const SampleRecord& sample : minimal_records()) {
    for (const char* time :
         {R"("2026-02-30T00:00:00.000Z")", R"("2026-01-31T23:59:59Z")", R"("10000-01-01T00:00:00.000Z")"}) {
      INFO(sample.name << " " << time);
      CHECK(names(fault(with(minimal_records(), sample.name + ".time", time)), "time"));
    }
  }
}

TEST_CASE("records: a quantity has at most 20,000 characters", "[ledger][record][negative]") {
  const std::string zeros(epsilog::ledger::kQuantityCharactersMax - 3, '0');
  for (const char* path : {"plan.release.requested", "plan.release.components.grid"}) {
    INFO(path);
    CHECK(fault(with(full_records(), path, "\"0." + zeros + "1\"")).empty());
    CHECK(names(fault(with(full_records(), path, "\"0." + zeros + "01\"")),
                std::string(path).substr(std::string(path).rfind('.') + 1)));
  }
  const std::string value = "[\"" + std::string(epsilog::ledger::kQuantityCharactersMax + 1, '9') + "\"]";
  CHECK(names(fault(with(full_records(), "decision.values", value)), "values"));
}

TEST_CASE("records: a decision moves each account once, and none that is not numbered",
          "[ledger][record][negative]") {
  const auto any_account = [](std::int64_t) { return 12; };
  auto sample = minimal_records().at(static_cast<std::size_t>(epsilog::ledger::RecordKind::decision));
  auto& movements = std::get<epsilog::ledger::DecisionRecord>(sample.line.record).movements;
  const auto said = [&](std::int64_t first, std::int64_t second) -> std::string {
    movements = {{.account = first, .balance = {}}, {.account = second, .balance = {}}};
    try {
      static_cast<void>(parse_line(line_text(sample.line, any_account), any_account));
    } catch (const LedgerCorrupt& error) {
      return error.what();
    }
    return "";
  };
  CHECK(said(1, 2).empty());
  CHECK(said(2, 2) == "movements: are not in the order of their accounts");
  CHECK(said(3, 2) == "movements: are not in the order of their accounts");
  CHECK(said(0, 1) == "movements: account: is less than 1");
  const std::string change = with(minimal_records(), "limit_change.account", "0");
  CHECK_THROWS_WITH(parse_line(change, any_account), Catch::Matchers::Equals("account: is less than 1"));
}

TEST_CASE("records: the value of a credential is that of its type, and only of one that is added",
          "[ledger][record][negative]") {
  auto sample = minimal_records().at(static_cast<std::size_t>(epsilog::ledger::RecordKind::credential));
  auto& event = std::get<epsilog::ledger::CredentialEvent>(sample.line.record);
  const auto said = [&](const std::string& type, const std::string& value) {
    event.type = type;
    event.value = value;
    return fault(line_text(sample.line, sample_decimals));
  };
  const std::string hash(64, '0');
  CHECK(said("uid", "0") == "value: is there unless it is revoked");
  event.until = "2026-01-31T23:59:59.999Z";
  CHECK(said("uid", "") == "until: a credential that is revoked has none");
  event.revoked = false;
  for (const char* uid : {"0", "1000", "4294967295"}) CHECK(said("uid", uid).empty());
  CHECK(said("token", hash).empty());
  CHECK(said("uid", "") == "value: is there unless it is revoked");
  for (const std::string& none :
       {std::string("01"), std::string("4294967296"), std::string("18446744073709551617"), std::string("-1"),
        std::string("ann"), hash}) {
    INFO(none);
    CHECK(said("uid", none) == "value: is not of its form");
  }
  CHECK(said("token", "1000") == "value: is not of its form");
}
