// What is no line of a record: members off their range or form, and members that contradict each other.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "ledger/support/record_faults.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using epsilog::LedgerCorrupt;
using epsilog::ledger::line_text;
using epsilog::ledger::parse_line;
using Texts = std::vector<std::string>;

TEST_CASE("records: no member is out of its range or form", "[ledger][record][negative]") {
  struct Wrong {
    const char* member;
    Texts values;
  };
  const std::vector<Wrong> minimal{
      {"ledger.blind",
       {R"("a0a1a2a3a4a5a6a7a8a9aaabacadae")", R"("A0A1A2A3A4A5A6A7A8A9AAABACADAEAF")",
        R"("g0a1a2a3a4a5a6a7a8a9aaabacadaeaf")"}},
      {"ledger.format", {"0", "2"}},
      {"ledger.id", {R"("dddddddddddddddddddddddddddddddd0")", R"("dddddddddddddddddddddddddddddddg")"}},
      {"ledger.index", {"9007199254740992", "07"}},
      {"ledger.kind", {R"("Ledger")", R"("policy")"}},
      {"ledger.time",
       {R"("2026-01-31T23:59:59Z")", R"("2026-02-30T00:00:00.000Z")", R"("2026-01-31 23:59:59.999Z")",
        R"("1969-12-31T23:59:59.999Z")"}},
      {"policy.sha256", {R"("bb")"}},
      {"policy.version", {"0"}},
      {"place.policy", {"0"}},
      {"relocation.event", {"0"}},
      {"relocation.seq", {"0"}},
      {"account.account", {"0"}},
      {"account.limit",
       {R"("-1")", R"("0.0000000000001")", R"("2305843.009213693953")", R"("1.0")", R"("01")", R"("1/3")",
        R"("-0")", R"("1.")", R"(".5")", R"("1e3")", R"("18446744073709551616")", R"(" 1")"}},
      {"account.measure", {R"("gamma")", R"x("rdp()")x", R"("rdp(8")", R"("Epsilon")"}},
      {"limit change.account", {"0"}},
      {"limit change.new", {R"("-1")", R"("0.0000000000001")"}},
      {"limit change.old", {R"("-1")", R"("0.0000000000001")"}},
      {"limit change.policy", {"0"}},
      {"limit change.seq", {"0"}},
      {"limit removal.removed", {"false"}},
      {"plan.number", {"0"}},
      {"plan.policy", {"0"}},
      {"decision.id",
       {R"("01KGABCDEFGHJKMNPQRSTVWXY")", R"("81KGABCDEFGHJKMNPQRSTVWXYZ")",
        R"("01KGABCDEFGHJKMNPQRSTVWXYI")"}},
      {"decision.outcome", {R"("grant")", R"("GRANTED")"}},
      {"decision.rules", {"0", "2", "3"}},
      {"decision.build.commit", {R"("")"}},
      {"decision.decided_under", {"0"}},
      {"decision.seq", {"0"}},
      {"decision.via",
       {R"("unix")", R"("unix:")", R"("token:")", R"("cert:")", R"("Claimed")", R"("claimed:ann")"}},
      {"clock.wall_clock", {R"("2026-01-31T24:00:00.000Z")"}},
      {"clock.what", {R"("sideways")", R"("confirmed")"}},
      {"credential.type", {R"("cert")"}},
      {"recovery.cause", {R"("boredom")"}},
  };
  const std::vector<Wrong> full{
      {"policy.implies", {R"({"b":0,"a":0})", "{ }"}},
      {"place.base_dir", {R"({"hex":"2f"})"}},
      {"plan.question", {R"({"b":0,"a":0})", R"({"a":1.5})"}},
      {"plan.release.adjusted", {R"("1.0")", R"("2/4")", R"("1e1")"}},
      {"plan.release.charged", {R"("-0.5")", R"("0.0000000000001")", R"("1/3")"}},
      {"plan.release.components.delta", {R"("1.5")", R"("-0.5")"}},
      {"plan.release.components.precision", {"0"}},
      {"plan.release.post_processing.kind", {R"("none")", R"("rounded")", R"("median_about")"}},
      {"decision.deadline", {R"("soon")"}},
      {"decision.holding", {R"("none")"}},
      {"decision.parent", {R"("parent")"}},
      {"decision.plan", {"0"}},
      {"decision.movements.account", {"2", "1", "0", "5"}},
      {"decision.movements.limit", {R"("-1")", R"("0.0000000000001")"}},
      {"decision.movements.position", {"0"}},
      {"decision.movements.reserved", {R"("-1")"}},
      {"decision.movements.reserved_change",
       {R"("0")", R"("2305843.009213693953")", R"("-2305843.009213693953")"}},
      {"decision.movements.spent_change", {R"("0")", R"("-0")", R"("0.50")"}},
      {"decision.reasons",
       {"[]", R"("[]")", R"("not JSON")", R"("[{\"code\":\"epsilon_exceeded\"}]")", R"("{}")", "[1.5]",
        "[ ]"}},
      {"decision.token_sha256", {R"("c5")"}},
      {"decision.values", {R"(["1.0"])", R"(["2/4"])", "[1]"}},
      {"decision.component_values", {R"([["1.0"]])", R"(["1"])"}},
      {"credential.until", {R"("2026")"}},
      {"credential.value", {R"("bb")"}},
      {"recovery.dropped", {"0"}},
  };
  const auto refused = [](const std::vector<SampleRecord>& samples, const std::vector<Wrong>& wrong) {
    for (const auto& [member, values] : wrong) {
      const std::string path = member;
      for (const std::string& value : values) {
        std::string name = path.substr(path.rfind('.') + 1);
        const std::string said = fault(with(samples, path, value));
        INFO(path << " " << value << " " << said);
        if (value == R"("rounded")") name = "centre";
        if (value == R"("confirmed")") name = "by";
        if (path == "decision.movements.account" && (value == "1" || value == "2")) name = "movements";
        if (path == "ledger.kind" && value == R"("policy")") name = "after";
        CHECK(names(said, name));
      }
    }
  };
  refused(minimal_records(), minimal);
  refused(full_records(), full);
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
  const std::string change = with(minimal_records(), "limit change.account", "0");
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
