// audit export --format csv: decisions as rows, read back by rules of its own and held to history --json.
#include "cli/csv_table.hpp"
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

/// The text of a field of an object, "" for what is not there.
std::string field(const json& object, const char* name, const char* part = nullptr) {
  if (!object.contains(name) || object[name].is_null()) return "";
  const json& value = part == nullptr ? object[name] : object[name][part];
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

const std::vector<std::string> kAsTheyStand = {
    "seq",       "decision_id", "created_at",     "state",  "decision", "durable",
    "principal", "key",         "policy_version", "rules",  "dataset",  "statistic",
    "by",        "purpose",     "value",          "parent", "where",    "decided_under",
    "why",       "mechanism",   "deadline",       "via"};

Workbench& with_history(Workbench& bench) {
  bench.init(kClinicPolicy);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"release", "clinic", "count", "--epsilon", "0.1"},
           {"release", "clinic", "count", "--by", "ward", "--epsilon", "1/16"},
           {"release", "clinic", "count", "--where", "ward in ('A','B')", "--epsilon", "0.1"},
           {"release", "clinic", "value:auc", "--epsilon", "0.1", "--value", "0.7"},
           {"reserve", "clinic", "count", "--epsilon", "0.1"},
           {"release", "clinic", "count", "--epsilon", "7"}}) {
    static_cast<void>(bench.with_ledger(words));
  }
  return bench;
}

}  // namespace

TEST_CASE("audit export: as CSV it says of every decision what history --json says", "[cli][lines][csv]") {
  Workbench bench;
  with_history(bench);
  const Result csv = bench.with_ledger({"audit", "export", "--format", "csv"});
  CAPTURE(csv.out, csv.err);
  REQUIRE(csv.exit == 0);
  const CsvTable table = CsvTable::read(csv.out);
  const std::vector<json> history = json_lines(decisions_of(bench.with_ledger({"history", "--json"}).out));
  REQUIRE(table.rows.size() == history.size());
  REQUIRE(history.size() >= 5);
  for (std::size_t i = 0; i < history.size(); ++i) {
    CAPTURE(i);
    for (const std::string& name : kAsTheyStand) {
      CAPTURE(name);
      CHECK(table.at(i, name) == field(history[i], name.c_str()));
    }
    for (const char* measure : {"epsilon", "delta", "rho"}) {
      for (const char* part : {"requested", "charged"}) {
        CHECK(table.at(i, std::string(measure) + "." + part) == field(history[i], measure, part));
      }
    }
    const std::string cells = table.at(i, "cells");
    CHECK(cells.empty() == history[i]["cells"].is_null());
    if (cells.empty()) continue;
    const json list = json::parse(cells);
    REQUIRE(list.size() == history[i]["cells"].size());
    for (std::size_t j = 0; j < list.size(); ++j) {
      CHECK(list[j]["group"] == history[i]["cells"][j]["group"]);
      CHECK(list[j]["value"] == history[i]["cells"][j]["value"]);
    }
  }
  CHECK(table.rows.back().at("reasons") == "dataset_budget_exceeded epsilon");
  CHECK(table.header.front() == "seq");
  CHECK(table.header.back() == "rows");
}

TEST_CASE("audit export: a text of an asker is no formula, no second line and steers no terminal",
          "[cli][lines][csv]") {
  const Workbench bench(kClinicPolicy);
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
      {"+1", "'+1"},
      {"-1", "'-1"},
      {"@SUM(A1)", "'@SUM(A1)"},
      {"'=1", "''=1"},
      {"a,\"b\"", "a,\"b\""},
      {"x\xE2\x80\xAEy", "x\\u202ey"},
      {"plain", "plain"}};
  for (const auto& [key, cell] : keys) {
    const Result released =
        bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.01", "--key", key});
    CAPTURE(key, released.err);
    REQUIRE(released.exit == 0);
  }
  const Result csv = bench.with_ledger({"audit", "export", "--format", "csv"});
  CAPTURE(csv.out, csv.err);
  const CsvTable table = CsvTable::read(csv.out);
  REQUIRE(table.rows.size() == keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) CHECK(table.at(i, "key") == keys[i].second);
}

TEST_CASE("audit export: what is not known to be on the disk has no value as CSV either",
          "[cli][lines][csv]") {
  Workbench bench;
  with_history(bench);
  const std::string value =
      CsvTable::read(bench.with_ledger({"audit", "export", "--format", "csv"}).out).at(3, "value");
  REQUIRE_FALSE(value.empty());
  bench.write("L.poisoned", "{\"reason\": \"committing\"}");
  const Result csv = bench.with_ledger({"audit", "export", "--format", "csv"});
  check_ended(csv, 0, "poisoned");
  const CsvTable table = CsvTable::read(csv.out);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    CHECK(table.at(i, "value").empty());
    CHECK(table.at(i, "cells").empty());
    CHECK(table.at(i, "durable") == "false");
  }
  // The same ledger as lines ends at the first of them.
  CHECK(bench.with_ledger({"audit", "export"}).exit == 7);
}

TEST_CASE("audit export: --format is lines or csv, which goes with neither --from nor --json",
          "[cli][lines][csv][negative]") {
  Workbench bench;
  with_history(bench);
  CHECK(bench.with_ledger({"audit", "export", "--format", "lines"}).out ==
        bench.with_ledger({"audit", "export"}).out);
  const auto refused = [&](std::vector<std::string> more, const char* message) {
    const Words words = with({"audit", "export", "--format"}, more);
    const Result result = bench.with_ledger(words);
    CAPTURE(result.err);
    check_ended(result, 2, message);
  };
  refused({"xml"}, "'xml' must be lines or csv");
  refused({"csv", "--from", "1"}, "--from counts lines");
  refused({"csv", "--json"}, "does not go with --json");
}
