// Good files of all kinds are drafted and checked as they are, and what was done to them is named.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <set>

#include "csv_damages.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_draft.hpp"
#include "epsilog/engine/source_check.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

constexpr std::uint64_t kGoodFiles = 60;

/// What a verb says of a file.
struct Verdict {
  bool content = true;  ///< whether it has nothing against the file's shape
  std::string words;
};

Verdict init_says(const std::string& path) {
  try {
    Verdict said;
    for (const auto& todo : draft_from_csv(path, "data.csv", "clinic").todos) {
      const bool of_shape = todo.message.starts_with("source: ");
      said.content = said.content && !of_shape;
      if (of_shape) said.words += todo.message + "\n";
    }
    return said;
  } catch (const SourceError& error) {
    return {false, error.what()};
  }
}

/// The policy that describes a file; its columns are texts, since types are another matter.
Dataset described(const GoodFile& file) {
  const auto quoted = [](const std::string& text) { return "\"" + (text == "\t" ? "\\t" : text) + "\""; };
  std::string yaml = "version: 1\ndatasets:\n  clinic:\n    source: {csv: data.csv, delimiter: " +
                     quoted(std::string(1, file.delimiter)) + (file.spanning ? ", multiline: true" : "") +
                     (file.delimiter == ',' ? "" : ", decimal: ','") +
                     "}\n    unit: row\n    rows: {max: 100}\n    neighbours: add-remove\n"
                     "    budget: {epsilon: 1}\n    columns:\n";
  int column = 0;
  for (const std::string& name : file.names) {
    if (name.empty()) continue;
    yaml += "      c" + std::to_string(++column) + ": {type: string, column: " + quoted(name) + "}\n";
  }
  INFO(yaml);
  return checked_policy(yaml, "policy.yaml").dataset("clinic");
}

Verdict check_says(const Dataset& dataset, const std::string& folder) {
  try {
    const SourceCheck check = check_source(dataset, folder, EmptySource::refused);
    std::string words;
    for (const std::string& problem : check.problems) words += problem + "\n";
    return {check.problems.empty() && check.counts.malformed == 0, words};
  } catch (const SourceError& error) {
    return {false, error.what()};
  }
}

struct DamageRow {
  std::string damage;
  std::string init;
  std::string check;
  bool of_one_column = false;
};

std::vector<DamageRow> damage_rows() {
  std::vector<DamageRow> rows;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/curating/csv_damages.tsv"))
    rows.push_back({row.at(0), row.at(1), row.at(2), row.at(3) == "one too"});
  return rows;
}

bool is_named(const Verdict& said, const std::string& words) {
  return !said.content && (words == "any" || said.words.find(words) != std::string::npos);
}

/// Cells of the file that stand in no message: those that are long enough to be no word of it by accident.
void require_unquoted(const Verdict& said, const GoodFile& file) {
  for (const auto& row : file.rows) {
    for (const std::string& cell : row) {
      if (cell.size() < 5 || cell == "false") continue;
      CAPTURE(cell);
      CHECK(said.words.find(cell) == std::string::npos);
    }
  }
  CHECK(said.words.find("Zclerk") == std::string::npos);
  CHECK(said.words.find("Zvisits") == std::string::npos);
}

/// How many pairs were judged.
int judge(const std::vector<std::pair<std::uint64_t, DamageRow>>& pairs) {
  const TemporaryFolder folder(in_memory());
  int judged = 0;
  for (const auto& [number, row] : pairs) {
    const GoodFile good = good_file(number);
    if (good.names.size() == 1 && !row.of_one_column) continue;
    // The carriage return is part of the last name, which no column of the policy has.
    if (row.damage == "doubled returns" && good.names.back().empty()) continue;
    const std::string bytes = damages().at(row.damage)(good);
    folder.write("data.csv", bytes);
    CAPTURE(number, row.damage, bytes.substr(0, 400));
    const Verdict init = init_says(folder.path("data.csv"));
    CAPTURE(init.words);
    CHECK(is_named(init, row.init));
    require_unquoted(init, good);
    const Verdict check = check_says(described(good), folder.path(""));
    CAPTURE(check.words);
    CHECK(is_named(check, row.check));
    require_unquoted(check, good);
    ++judged;
  }
  return judged;
}

}  // namespace

TEST_CASE("policy init and data check: good files of all kinds are taken as they are",
          "[engine][draft][damage]") {
  const TemporaryFolder folder(in_memory());
  std::set<std::string> kinds;
  for (std::uint64_t number = 0; number < kGoodFiles; ++number) {
    const GoodFile good = good_file(number);
    const std::string bytes = damages().at("none")(good);
    CAPTURE(number, bytes.substr(0, 400));
    folder.write("data.csv", bytes);
    const Verdict init = init_says(folder.path("data.csv"));
    CAPTURE(init.words);
    const bool of_texts = init.words.starts_with("source: make sure that the first line");
    const bool spanning = init.words.starts_with("source.multiline");
    CHECK((init.content || of_texts || spanning));
    const Verdict check = check_says(described(good), folder.path(""));
    CAPTURE(check.words);
    CHECK(check.content);
    kinds.insert(std::string(1, good.delimiter) + good.line_end + (good.marked ? "m" : "") +
                 (good.ended ? "e" : "") + (good.quoted ? "q" : "") + (good.spanning ? "s" : "") +
                 (good.names.size() == 1 ? "1" : ""));
  }
  CHECK(kinds.size() > 30);
}

TEST_CASE("policy init and data check: what was done to a file is named, of a sample of files and damages",
          "[engine][draft][damage]") {
  std::mt19937_64 random(20261127);
  std::vector<std::pair<std::uint64_t, DamageRow>> pairs;
  for (const DamageRow& row : damage_rows()) {
    for (int i = 0; i < 8; ++i) pairs.emplace_back(random() % kGoodFiles, row);
  }
  CHECK(damage_rows().size() + 1 == damages().size());
  CHECK(judge(pairs) > 180);
}

TEST_CASE("policy init and data check: what was done to a file is named, of every file and damage",
          "[engine][draft][damage][.long]") {
  std::vector<std::pair<std::uint64_t, DamageRow>> pairs;
  for (const DamageRow& row : damage_rows()) {
    for (std::uint64_t number = 0; number < kGoodFiles; ++number) pairs.emplace_back(number, row);
  }
  CHECK(judge(pairs) > 1'400);
}

TEST_CASE(
    "policy init: a draft names single lines that are not as the others are, and what --header passed over",
    "[engine][draft]") {
  const TemporaryFolder folder(in_memory());
  const auto todos = [&](const std::string& content, FirstLine first_line) {
    folder.write("data.csv", content);
    std::string words;
    for (const auto& todo : draft_from_csv(folder.path("data.csv"), "data.csv", "clinic", first_line).todos)
      words += todo.message + "\n";
    return words;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string single =
      todos("id,age\n1,2\n3\n4,5\n6,7,8\n\n9,\"1\"0\n1,1\n2,2\n3,3\n\n", FirstLine::guessed);
  CAPTURE(single);
  CHECK(
      has(single,
          "source: line 3 is not quoted correctly or has other fields than the first line, and so have 3 of "
          "the first 10 rows"));
  CHECK(has(single, "source: line 6 is empty"));
  const std::string spanning =
      todos("id,note\n1,\"fell\nat home\"\n2,fine\n3,\"a\nb\nc\"\n", FirstLine::guessed);
  CHECK(has(spanning, "source.multiline: some cells have line ends in them"));
  CHECK_FALSE(has(spanning, "other fields"));
  const std::string whole = todos("id,age\n1,2\n3,4\n", FirstLine::guessed);
  CHECK_FALSE(has(whole, "source"));
  const std::string named = todos("\"age\",\"cost\"\n\"1\",34,1\n\"2\",71,8\n", FirstLine::names);
  CHECK(has(
      named,
      "source: its first line has 2 fields, and most lines below have 3 fields: each of these begins with "
      "the number of its row, as R writes it"));
  const std::string lacking = todos("id,age,ward\n1,34,A\n2,71\n3,55\n4,18\n", FirstLine::names);
  CHECK(has(lacking, "most lines below have 2 fields, the first of them in line 3: write a delimiter"));
  // Read with decimal commas, the lines below the names are numbers of one column.
  for (const char* block :
       {"Title\n\nid,age\n1,34\n2,71\n3,55\n", "Title\nBy Bo\nid,age,\n1,34\n2,71\n3,5\n"}) {
    const std::string said = todos(block, FirstLine::names);
    CAPTURE(said);
    CHECK(has(said, "the table seems to begin in line 3. Take"));
  }
  const std::string words = todos("patient name\nanna q\nbert m\n", FirstLine::guessed);
  CHECK(has(words, "source: the lines have 2 words each, parted by blanks"));
}

TEST_CASE("data check: every kept file of another shape is named, and the others are taken",
          "[engine][draft]") {
  const std::string folder = EPSILOG_SOURCE_DIR "/tests/fixtures/csv";
  const auto says = [&](const std::string& file, const std::string& more) {
    const std::string yaml = "version: 1\ndatasets:\n  clinic:\n    source: {csv: " + file + more +
                             "}\n    unit: row\n    rows: {max: 9}\n    neighbours: add-remove\n"
                             "    budget: {epsilon: 1}\n    columns: {age: {type: string}}\n";
    try {
      const SourceCheck check =
          check_source(checked_policy(yaml, "p.yaml").dataset("clinic"), folder, EmptySource::refused);
      return check.problems.empty() ? std::string() : check.problems.front();
    } catch (const SourceError& error) {
      return std::string(error.what());
    }
  };
  const std::pair<const char*, const char*> kNamed[] = {
      {"r_rownames.csv", "as R writes it"},
      {"cr_only.csv", "carriage returns and no line feed"},
      {"sep_line.csv", "`sep=`"},
      {"workbook.csv", "is a workbook"},
      {"utf16.csv", "is UTF-16"},
      {"trailing_delimiter.csv", "ends with a delimiter"},
      {"title_rows.csv", "to begin in line 3"},
      {"comment_lines.csv", "begins with #"},
      {"headerless.csv", "has no column 'age'. Cause: its first line has numbers or dates"},
      {"header_only.csv", "there is no row"}};
  for (const auto& [file, words] : kNamed) {
    for (const char* more : {"", ", encoding: latin-1"}) {
      const std::string said = says(file, more);
      CAPTURE(file, more, said);
      CHECK(said.find(words) != std::string::npos);
    }
  }
  for (const char* file :
       {"empty_header.csv", "trailing_blank.csv", "ocr_and_range.csv", "quoted_newline.csv"}) {
    CAPTURE(file);
    CHECK(says(file, "") == "");
  }
}
