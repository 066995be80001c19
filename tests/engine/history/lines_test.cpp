// Records of a ledger as lines, and the ledger that is made of them (docs/record_format.md).

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/audit.hpp"
#include "full_ledger.hpp"
#include "lived_history.hpp"
#include "sql_rows.hpp"

namespace epsilog::test {
namespace {

/// Rows of a query, each "a|b|…\n".
std::string text_of_rows(const std::string& path, const std::string& sql) {
  std::string rows;
  for (const SqlRow& row : sql_rows(path, sql)) {
    for (const std::string& value : row) rows += value + "|";
    rows += "\n";
  }
  return rows;
}

/// A budget that renews each day, a limit that goes, a clock that jumped, and accounts of two days.
struct RenewedLedger : LivedHistory {
  RenewedLedger() {
    (void)release();
    (void)release("bob", "0.4");
    (void)release("bob", "0.4");  // refused
    policy.limit_of_bob = false;
    (void)apply();
    pass(2 * kHourMs);
    (void)release();
    step(kDayOfMs);
    (void)release();
    confirm();
    (void)reserve();
  }
};

std::vector<std::string> exported(const std::string& path, std::int64_t from = 0) {
  std::vector<std::string> lines;
  ledger::Ledger::open_read_only(path).snapshot().each_line(
      from, [&lines](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

void import(const std::vector<std::string>& lines, const std::string& path) {
  auto next = lines.begin();
  const auto count = ledger::Ledger::import_lines(path, [&]() -> std::optional<std::string> {
    if (next == lines.end()) return std::nullopt;
    return *next++;
  });
  CHECK(count == static_cast<std::int64_t>(lines.size()));
}

/// Why it is refused; "" if it is not. Nothing is left of what is refused.
std::string refusal(const std::vector<std::string>& lines, const std::string& path) {
  std::string why;
  try {
    import(lines, path);
  } catch (const LedgerCorrupt& error) {
    why = error.what();
    CHECK_FALSE(std::filesystem::exists(path));
  }
  std::filesystem::remove(path);
  return why;
}

/// The line as if it stood there.
std::string numbered(std::string line, std::size_t index) {
  const std::string name = "\"index\":";
  const std::size_t at = line.find(name) + name.size();
  return line.replace(at, line.find(',', at) - at, std::to_string(index));
}

std::vector<std::string> columns_of_meta(const std::string& path) {
  std::vector<std::string> columns;
  const std::string names = text_of_rows(path, "SELECT name FROM pragma_table_info('meta') ORDER BY cid");
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = names.find('|', at);
    columns.push_back(names.substr(at, end - at));
    at = end + 2;
  }
  return columns;
}

std::vector<std::string> tables_of(const std::string& path) {
  std::vector<std::string> tables;
  const std::string names = text_of_rows(
      path, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'meta' ORDER BY name");
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = names.find('|', at);
    tables.push_back(names.substr(at, end - at));
    at = end + 2;
  }
  return tables;
}

/// Every row of a table, bytes as hexadecimal digits; without the bytes of data tokens, which no line has.
std::string whole_table(const std::string& path, const std::string& table) {
  const std::string columns = text_of_rows(
      path, "SELECT group_concat('quote(\"' || name || '\")', ' || '','' || ') FROM pragma_table_info('" +
                table + "') WHERE name <> 'data_token'");
  return text_of_rows(
      path, "SELECT " + columns.substr(0, columns.find('\n') - 1) + " FROM " + table + " ORDER BY 1");
}

TEST_CASE("lines: a ledger made of the lines of another has its rows, verifies, and is written to by nobody",
          "[lines][history]") {
  // What this boot's clock showed is of the machine, and no line has it.
  const std::vector<std::string> own{"read_only", "wall_clock", "boot_id", "boot_offset"};
  const FullLedger full;
  const RenewedLedger renewed;
  for (const std::string& original : {full.path(), renewed.ledger()}) {
    CAPTURE(original);
    const std::vector<std::string> lines = exported(original);
    const TemporaryFolder folder;
    const std::string copy = folder.path("copy.epsilog");
    import(lines, copy);

    for (const std::string& table : tables_of(original)) {
      CAPTURE(table);
      CHECK(whole_table(copy, table) == whole_table(original, table));
    }
    for (const std::string& column : columns_of_meta(original)) {
      CAPTURE(column);
      const std::string sql = "SELECT quote(" + column + ") FROM meta";
      const bool differs = std::find(own.begin(), own.end(), column) != own.end();
      if (!differs) CHECK(text_of_rows(copy, sql) == text_of_rows(original, sql));
    }
    CHECK(text_of_rows(copy, "SELECT count(*) FROM decision WHERE data_token <> x''") == "0|\n");
    CHECK(text_of_rows(copy, "SELECT read_only FROM meta") == "1|\n");
    CHECK(exported(copy) == lines);
    CHECK(engine::audit_verify(copy).faults.empty());

    ledger::Ledger read_only = ledger::Ledger::open(copy, {});
    CHECK_THROWS_AS(read_only.begin(), LedgerUnusable);
    CHECK_THROWS_AS(static_cast<void>(read_only.begin_within({})), LedgerUnusable);
  }
}

TEST_CASE("lines: from a line on, all that follow are told", "[lines][history]") {
  const RenewedLedger kept;
  const std::vector<std::string> all = exported(kept.ledger());
  REQUIRE(all.size() > 10);
  for (const std::size_t from : {std::size_t{0}, std::size_t{1}, all.size() - 1, all.size()}) {
    CAPTURE(from);
    CHECK(exported(kept.ledger(), static_cast<std::int64_t>(from)) ==
          std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(from), all.end()));
  }
}

TEST_CASE("lines: a row that was changed is not told as a line", "[lines][history]") {
  const RenewedLedger kept;
  sql_rows(kept.ledger(),
           "DROP TRIGGER decision_no_update; UPDATE decision SET purpose = 'other' WHERE seq = 3");
  std::vector<std::string> told;
  std::string why;
  try {
    ledger::Ledger::open_read_only(kept.ledger()).snapshot().each_line(0, [&told](std::string_view line) {
      told.emplace_back(line);
    });
  } catch (const LedgerCorrupt& error) {
    why = error.what();
  }
  CHECK(why.find("does not have the leaf beside it") != std::string::npos);
  for (const std::string& line : told) CHECK(line.find("\"purpose\":\"other\"") == std::string::npos);
}

TEST_CASE("lines: what cannot follow is refused by its number, and nothing is made", "[lines][history]") {
  const RenewedLedger kept;
  const std::vector<std::string> all = exported(kept.ledger());
  const TemporaryFolder folder;
  const std::string copy = folder.path("copy.epsilog");

  CHECK(refusal({}, copy).find("there is no line") != std::string::npos);
  CHECK(refusal({all.begin(), all.begin() + 1}, copy).find("no policy version") != std::string::npos);
  CHECK(refusal({all.begin(), all.begin() + 2}, copy).find("place of the last policy") != std::string::npos);
  for (std::size_t left_out = 0; left_out + 1 < all.size(); ++left_out) {
    CAPTURE(left_out);
    std::vector<std::string> lines = all;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(left_out));
    CHECK(refusal(lines, copy).find("line " + std::to_string(left_out) + ": ") == 0);
    lines = all;
    std::swap(lines[left_out], lines[left_out + 1]);
    CHECK(refusal(lines, copy).find("line " + std::to_string(left_out) + ": ") == 0);
    lines = all;
    lines[left_out] += ' ';
    CHECK(refusal(lines, copy).find("line " + std::to_string(left_out) + ": ") == 0);
  }

  // The same with what is left numbered anew.
  const auto without = [&](const std::string& part, std::size_t skip = 0) {
    std::vector<std::string> lines;
    bool dropped = false;
    for (const std::string& line : all) {
      if (!dropped && line.find(part) != std::string::npos && skip-- == 0) {
        dropped = true;
        continue;
      }
      lines.push_back(numbered(line, lines.size()));
    }
    REQUIRE(dropped);
    return lines;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(refusal(without("\"kind\":\"ledger\""), copy), "a ledger begins once, in its first line"));
  CHECK(has(refusal(without("\"kind\":\"location\""), copy), "comes directly after that version"));
  CHECK(has(refusal(without("\"kind\":\"account\""), copy), "is account 2 where 1 belongs"));
  CHECK(has(refusal(without("\"kind\":\"decision\""), copy), "is decision 2 where 1 belongs"));
  CHECK(has(refusal(without("\"kind\":\"plan\""), copy), "refers to plan 1, which does not stand before it"));

  // The same with one member of the first such line otherwise.
  const auto with = [&](const std::string& kind, const std::string& before, const std::string& after) {
    std::vector<std::string> lines = all;
    const auto line = std::find_if(lines.begin(), lines.end(), [&](const std::string& text) {
      return has(text, "\"kind\":\"" + kind + "\"");
    });
    REQUIRE(line != lines.end());
    REQUIRE(has(*line, before));
    line->replace(line->find(before), before.size(), after);
    return lines;
  };
  const char* const place = "is the place of another policy version";
  CHECK(has(refusal(with("location", "\"policy_version\":1", "\"policy_version\":2"), copy), place));
  CHECK(has(refusal(with("location", "\"time\":\"20", "\"time\":\"21"), copy), place));
  const char* const version = "refers to policy version 2, which does not stand before it";
  CHECK(has(refusal(with("decision", "\"policy_version\":1", "\"policy_version\":2"), copy), version));
  CHECK(has(refusal(with("decision", "\"decided_under\":1", "\"decided_under\":2"), copy), version));
  std::vector<std::string> twice = all;
  twice.push_back(numbered(all.front(), all.size()));
  CHECK(has(refusal(twice, copy), "a ledger begins once, in its first line"));

  const std::string taken = folder.path("taken");
  std::ofstream(taken) << "something";
  CHECK_THROWS_AS(import(all, taken), LedgerUnusable);
}

}  // namespace
}  // namespace epsilog::test
