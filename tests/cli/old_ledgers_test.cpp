// What the command says of ledgers that an older program wrote is what that program said: every field it
// printed is there with the same value. tests/fixtures/ledgers/README.md says what the ledgers are.
#include <sys/stat.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "epsilog/ledger/digest.hpp"
#include "support/catch.hpp"
#include "support/old_ledgers.hpp"
#include "workbench.hpp"

using epsilog::test::contains;
using epsilog::test::kOddLedgers;
using epsilog::test::kOldLedgers;
using epsilog::test::OldLedger;
using epsilog::test::Result;
using epsilog::test::Workbench;
using nlohmann::json;

namespace {

const std::filesystem::path kLedgers = std::filesystem::path(EPSILOG_SOURCE_DIR) / "tests/fixtures/ledgers";

std::vector<json> parsed_lines(const std::string& text) {
  std::vector<json> parsed;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) parsed.push_back(json::parse(line));
  return parsed;
}

std::vector<json> said_before(const std::string& file) {
  std::ifstream stream(kLedgers / (file + ".jsonl"), std::ios::binary);
  if (!stream) throw std::runtime_error("nothing is kept beside " + file);
  return parsed_lines({std::istreambuf_iterator<char>(stream), {}});
}

/// Where what is said now lacks something of what was said before, or says otherwise; "" nowhere. Fields
/// may have been added.
std::string difference(const json& before, const json& now, const std::string& at = "") {
  if (before.is_object() && now.is_object()) {
    for (const auto& [name, value] : before.items()) {
      if (!now.contains(name)) return at + "/" + name + " is gone";
      // Of a refusal, where nothing was reserved: older programs said nothing there.
      if (name == "reserved" && value.is_null() && now[name] == "0") continue;
      const std::string inside = difference(value, now[name], at + "/" + name);
      if (!inside.empty()) return inside;
    }
    return "";
  }
  if (before.is_array() && now.is_array() && before.size() == now.size()) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::string inside = difference(before[i], now[i], at + "/" + std::to_string(i));
      if (!inside.empty()) return inside;
    }
    return "";
  }
  return before == now ? "" : at + " was " + before.dump() + " and is " + now.dump();
}

class Migrated {
 public:
  explicit Migrated(const std::string& file) {
    std::filesystem::copy_file(kLedgers / (file + ".epsilog"), bench.path("L"));
    REQUIRE(::chmod(bench.path("L").c_str(), 0600) == 0);
    static_cast<void>(told({"migrate"}));
  }

  /// What it prints with --json, one object or one a line.
  [[nodiscard]] std::string told(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const Result result = bench.with_ledger(std::move(words));
    INFO(result.err);
    REQUIRE(result.exit == 0);
    return result.out;
  }

  Workbench bench;
};

/// Without the accounts of a period in which nothing was debited: `budget` lists that of today.
json without_idle_periods(json budget) {
  json accounts = json::array();
  for (const json& account : budget["accounts"]) {
    const bool period =
        account["scope"].is_string() && account["scope"].get<std::string>().starts_with("period:");
    if (!period || account["spent"] != "0" || account["reserved"] != "0") accounts.push_back(account);
  }
  budget["accounts"] = accounts;
  return budget;
}

/// Returns how many decisions were compared.
std::size_t compare(const std::string& file) {
  const Migrated ledger(file);
  const std::vector<json> before = said_before(file);
  // The older program did not verify some of the odd ones; then only what it said of each decision counts.
  const bool verified = !before.at(0)["verify"].is_null();
  if (verified) CHECK(difference(before[0]["verify"], json::parse(ledger.told({"audit", "verify"}))) == "");
  const json budget = json::parse(ledger.told({"budget"}));
  CHECK(difference(without_idle_periods(before[0]["budget"]), without_idle_periods(budget)) == "");
  CHECK(difference(before[0]["pending"], parsed_lines(ledger.told({"pending"}))) == "");
  const std::vector<json> history = parsed_lines(ledger.told({"history"}));
  const std::vector<json> replay = parsed_lines(ledger.told({"audit", "replay"}));
  REQUIRE(history.size() == before.size() - 1);
  REQUIRE(replay.size() == before.size());
  if (verified) CHECK(difference(before[0]["replay"], replay.back()) == "");
  for (std::size_t i = 0; i < history.size(); ++i) {
    const json& then = before[i + 1];
    CAPTURE(i);
    CHECK(difference(then["history"], history[i]) == "");
    if (verified) CHECK(difference(then["replay"], replay[i]) == "");
    json shown = then["history"];
    shown.update(then["show"]);
    CHECK(difference(shown, json::parse(ledger.told({"show", history[i]["decision_id"]}))) == "");
  }
  return history.size();
}

/// `log`, of where the decision stands in the tree, `via`, of what said who asked, and the intervals of what
/// was released are younger than what is kept.
void erase_younger(nlohmann::ordered_json& object) {
  for (const char* name : {"log", "via", "interval", "interval_of"}) object.erase(name);
  if (object.contains("cells") && object["cells"].is_array()) {
    for (auto& cell : object["cells"]) {
      cell.erase("interval");
      cell.erase("simultaneous");
    }
  }
  if (!object.contains("approvals") || !object["approvals"].is_object()) return;
  for (auto& given : object["approvals"]["given"]) given.erase("via");
}

/// Of one object on several lines, or of one on each.
std::string without_younger(const std::string& text) {
  if (!contains(text, "\"via\"")) return text;
  nlohmann::ordered_json object = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!object.is_discarded() && contains(text, "\n  ")) {
    erase_younger(object);
    return object.dump(2) + "\n";
  }
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    object = nlohmann::ordered_json::parse(line);
    erase_younger(object);
    all += object.dump() + "\n";
  }
  return all;
}

/// The bytes of the first `count` characters.
std::size_t bytes_of(const std::string& line, std::size_t count) {
  std::size_t at = 0;
  for (; at < line.size() && count > 0; --count) {
    for (++at; at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80;) ++at;
  }
  return at;
}

/// A row of a table without the column that begins at character `begin`; what follows that is one bar, or
/// nothing.
std::string without_column(const std::string& row, std::size_t begin) {
  const std::size_t cut = bytes_of(row, begin);
  std::string kept = row.substr(0, cut);
  const std::size_t bar = row.rfind("  ");
  if (bar != std::string::npos && bar >= cut) return kept + row.substr(bar + 2);
  kept.erase(kept.find_last_not_of(' ') + 1);
  return kept;
}

/// Of an answer as text, without its intervals: beside the value, as a column of cells, and what they are of.
std::string without_intervals(const std::string& text) {
  static const std::regex kBeside(" (\u00b1 [^ ]+|\\[[^\\]]*\\]) \\(95 %\\)$");
  std::istringstream lines(text);
  std::string all;
  std::size_t column = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  interval   ")) {
      std::getline(lines, line);
      continue;
    }
    if (line.ends_with("  95 %")) {
      column = line.size() - 4;  // headings of these ledgers are ASCII
      line = without_column(line, column);
    } else if (line.empty()) {
      column = 0;
    } else if (column > 0) {
      line = without_column(line, column);
    }
    all += std::regex_replace(line, kBeside, "") + "\n";
  }
  return all;
}

/// Returns how many texts were compared.
std::size_t compare_texts(const std::string& file) {
  const Migrated ledger(file);
  std::ifstream told(kLedgers / (file + ".told"));
  if (!told) throw std::runtime_error("no texts are kept beside " + file);
  std::size_t compared = 0;
  for (std::string line; std::getline(told, line); ++compared) {
    std::istringstream in(line);
    std::string digest;
    in >> digest;
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    CAPTURE(words);
    const Result now = ledger.bench.with_ledger(words);
    CHECK(now.exit == 0);
    if (epsilog::ledger::sha256_hex(now.out) == digest) continue;
    if (words.back() == "--json" && epsilog::ledger::sha256_hex(without_younger(now.out)) == digest) {
      continue;
    }
    if (words.front() == "show" && epsilog::ledger::sha256_hex(without_intervals(now.out)) == digest)
      continue;
    FAIL_CHECK("it prints something else than before:\n" << now.out);
  }
  return compared;
}

}  // namespace

TEST_CASE("old ledgers: the command says of each decision what the older one said",
          "[cli][migration][old_ledgers]") {
  std::size_t compared = 0;
  for (const OldLedger& old : kOldLedgers) {
    CAPTURE(old.file);
    compared += compare(old.file);
  }
  CHECK(compared >= 200);
}

TEST_CASE("old ledgers: likewise of those that older rules wrote wrongly and that verify",
          "[cli][migration][old_ledgers]") {
  for (const OldLedger& odd : kOddLedgers) {
    if (!odd.verifies || !std::filesystem::exists(kLedgers / (std::string(odd.file) + ".jsonl"))) continue;
    CAPTURE(odd.file);
    CHECK(compare(odd.file) > 0);
  }
}

TEST_CASE(
    "old ledgers: every text of show, history, pending, budget and replay is the one it was, byte for byte",
    "[cli][migration][old_ledgers]") {
  std::size_t compared = compare_texts("schema1/clinic");
  for (const OldLedger& old : kOldLedgers) {
    CAPTURE(old.file);
    compared += compare_texts(old.file);
  }
  for (const OldLedger& odd : kOddLedgers) {
    CAPTURE(odd.file);
    compared += compare_texts(odd.file);
  }
  CHECK(compared >= 790);
}
