// How a source is written: encodings, decimals, thousands, dates, and names that are no identifiers. Whatever
// a table is written as, its answers are those of the same table in plain UTF-8.
#include <SQLiteCpp/SQLiteCpp.h>

#include "blocks.hpp"
#include "checked_rows.hpp"
#include "column_cell.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "epsilog/engine/utf8.hpp"
#include "read_cell.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "text_encoding.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

using Values = std::vector<std::vector<Rational>>;

std::string in_utf8(const std::string& bytes, Encoding encoding) {
  std::string text;
  return append_utf8(bytes, encoding, text) ? text : "lacking";
}

/// A byte of the encoding for each of the texts used here, which all of them have.
std::string encoded(const std::string& text, Encoding encoding) {
  if (encoding == Encoding::utf_8) return text;
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    bool found = false;
    for (int byte = 0; byte < 256 && !found; ++byte) {
      const std::string character = in_utf8(std::string(1, static_cast<char>(byte)), encoding);
      if (character == "lacking" || text.compare(at, character.size(), character) != 0) continue;
      bytes += static_cast<char>(byte);
      at += character.size();
      found = true;
    }
    REQUIRE(found);
  }
  return bytes;
}

/// How a table is written.
struct Writing {
  CsvSource source;
  std::string text(const Rational& number, unsigned scale, std::mt19937_64& random) const;
  std::string text(const std::string& iso_date) const;
};

std::string Writing::text(const Rational& number, unsigned scale, std::mt19937_64& random) const {
  const Rational steps = abs(number) * accounting::power_of_ten(static_cast<long>(scale));
  std::string digits = steps.get_num().get_str();
  if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
  std::string before = digits.substr(0, digits.size() - scale);
  // All groups or none.
  if (!source.thousands.empty() && random() % 3 != 0) {
    for (std::size_t at = before.size(); at > 3;) before.insert(at -= 3, source.thousands);
  }
  const std::string after = scale == 0 ? "" : source.decimal_point + digits.substr(digits.size() - scale);
  return (number < 0 ? "-" : random() % 9 == 0 ? "+" : "") + before + after;
}

std::string Writing::text(const std::string& date) const {
  const std::string y = date.substr(0, 4), m = date.substr(5, 2), d = date.substr(8, 2);
  switch (source.date_format) {
    case DateFormat::year_month_day:
      return date;
    case DateFormat::day_month_year_dotted:
      return d + "." + m + "." + y;
    case DateFormat::day_month_year:
      return d + "/" + m + "/" + y;
    case DateFormat::month_day_year:
      return m + "/" + d + "/" + y;
  }
  return "";
}

std::string field(const std::string& cell, const CsvSource& source, bool quote) {
  if (!quote && cell.find(source.delimiter) == std::string::npos && cell.find('"') == std::string::npos)
    return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

const std::vector<std::string> kPlainHeader = {"id", "age", "cost", "score", "ward", "seen", "smoker"};
const std::vector<std::string> kStrangeHeader = {
    "Patient \"Nr.\"", "Alter (Jahre)",      "Kosten, netto; brutto|€", "größe\ttab", "in",
    "Gesehen am",      "'; DROP TABLE t; --"};

/// The clinic of these tests; its cells are under the names of `header`.
Dataset clinic(const CsvSource& source, bool strange) {
  Dataset dataset;
  dataset.name = "clinic";
  dataset.csv = source;
  dataset.unit = {strange ? kStrangeHeader[0] : "id", 2};
  dataset.rows = {1000, false};
  dataset.columns = {number_column("age", ColumnType::integer, -1'000'000, 2'000'000),
                     number_column("cost", ColumnType::decimal, -50'000, 5'000'000, 2),
                     number_column("score", ColumnType::real, -10, 100'000),
                     value_column("ward", ColumnType::string, {"Köln", "Łódź", "Zürich", "A"}),
                     value_column("seen", ColumnType::date, {"2024-02-01", "2024-01-02", "2023-12-31"}),
                     value_column("smoker", ColumnType::boolean, {"false", "true"})};
  if (source.encoding != Encoding::utf_8) dataset.columns[3].values[1] = "Órgão";
  if (strange) {
    for (std::size_t i = 0; i < dataset.columns.size(); ++i)
      dataset.columns[i].header = kStrangeHeader[i + 1];
  }
  return dataset;
}

Values answered(const Dataset& dataset, const TemporaryFolder& folder, const Question& asked) {
  return compute_exact_answer(dataset, asked, derive(dataset, asked), folder.path("")).values;
}

const std::vector<Question>& questions() {
  static const std::vector<Question> kQuestions = {
      question("count"),
      question("units", "ward"),
      question("sum:age", "seen"),
      question("sum:cost", "", "seen >= 2024-01-02 and age > 1000"),
      question("variance:score", "smoker"),
      question("mean:cost", "ward", "cost < 1234.5 and ward != 'A'")};
  return kQuestions;
}

template <class T>
const T& any(const std::vector<T>& list, std::mt19937_64& random) {
  return list[static_cast<std::size_t>(random() % list.size())];
}

/// Any writing that a policy accepts.
Writing random_writing(std::mt19937_64& random) {
  Writing writing;
  CsvSource& source = writing.source;
  source.encoding = any<Encoding>({Encoding::utf_8, Encoding::latin_1, Encoding::windows_1252}, random);
  source.delimiter = any<char>({',', ';', '\t', '|'}, random);
  source.date_format = kDateFormats[static_cast<std::size_t>(random() % kDateFormats.size())];
  source.multiline = random() % 4 == 0;
  do {
    source.decimal_point = any<char>({'.', ','}, random);
    source.thousands = any<std::string>({"", ".", ",", " ", "'", "\u00A0"}, random);
  } while (source.decimal_point == source.delimiter ||
           source.thousands == std::string(1, source.decimal_point) ||
           source.thousands == std::string(1, source.delimiter));
  return writing;
}

}  // namespace

TEST_CASE(
    "source: groups of thousands are of three digits, all of them or none, dates of the one declared format",

    "[engine][dialect][exact]") {
  check_rows(EPSILOG_SOURCE_DIR "/tests/engine/text/dialect_cells.tsv", "cell", cell_read);
}

TEST_CASE("source: every byte of an encoding is one character, or makes its record malformed",
          "[engine][dialect][exact]") {
  CHECK(in_utf8("Gr\xF6\xDF"
                "e",
                Encoding::latin_1) == "Größe");
  CHECK(in_utf8("\x80 \x9F", Encoding::windows_1252) == "€ Ÿ");
  CHECK(in_utf8("\x80", Encoding::latin_1) == "\xC2\x80");
  CHECK(in_utf8("Größe", Encoding::utf_8) == "Größe");
  CHECK(in_utf8("Gr\xF6", Encoding::utf_8) == "lacking");
  std::set<std::string> distinct;
  for (int byte = 0; byte < 256; ++byte) {
    CAPTURE(byte);
    const std::string raw(1, static_cast<char>(byte));
    const bool lacking = byte == 0x81 || byte == 0x8D || byte == 0x8F || byte == 0x90 || byte == 0x9D;
    CHECK((in_utf8(raw, Encoding::windows_1252) == "lacking") == lacking);
    CHECK(is_utf8(in_utf8(raw, Encoding::latin_1)));
    if (!lacking) CHECK(distinct.insert(in_utf8(raw, Encoding::windows_1252)).second);
    if (byte < 0x80 || byte > 0x9F)
      CHECK((lacking || in_utf8(raw, Encoding::windows_1252) == in_utf8(raw, Encoding::latin_1)));
  }
  // The whole record, wherever the byte stands; not its neighbours.
  const std::string text = "a;b\n\xE4;1\nx;\x81\n\xFC;2\n";
  std::size_t at = 0;
  CsvRecords records({';', false, Encoding::windows_1252}, [&](char* data, std::size_t size) {
    const std::size_t got = text.copy(data, std::min<std::size_t>(size, 3), at);
    at += got;
    return got;
  });
  REQUIRE(records.next());
  REQUIRE(records.next());
  CHECK(records.fields()[0] == "ä");
  REQUIRE(records.next());
  CHECK(records.malformed());
  CHECK(records.line() == 3);
  REQUIRE(records.next());
  CHECK(records.fields()[0] == "ü");
  CHECK_FALSE(records.next());
}

TEST_CASE("source: ids are compared after decoding, and a lacking byte drops its row",
          "[engine][dialect][exact]") {
  const TemporaryFolder folder;
  folder.write("visits.csv", "id,age\nJ\xFCrgen,1\n\"J\xFCrgen\",2\nJurgen,4\nJ\x81rgen,8\nna\xEFve,16\n");
  CsvSource source;
  source.path = "visits.csv";
  source.encoding = Encoding::windows_1252;
  source.null = {"naïve"};
  Dataset dataset = clinic(source, false);
  dataset.columns.resize(1);
  CHECK(answered(dataset, folder, question("units"))[0][0] == 2);
  CHECK(answered(dataset, folder, question("sum:age"))[0][0] == 7);
  dataset.csv->encoding = Encoding::latin_1;
  CHECK(answered(dataset, folder, question("units"))[0][0] == 3);
  dataset.csv->encoding = Encoding::utf_8;
  CHECK(answered(dataset, folder, question("units"))[0][0] == 1);
}

TEST_CASE("source: 400 random tables (seed 7) have the same answers in whatever way they are written",
          "[engine][dialect][property][exact]") {
  std::mt19937_64 random(7);
  const TemporaryFolder folder;
  for (int round = 0; round < 400; ++round) {
    const Writing plain{[] {
      CsvSource source;
      source.path = "plain.csv";
      return source;
    }()};
    Writing other = random_writing(random);
    other.source.path = "other.csv";
    other.source.null = {"k. A."};
    const bool strange = random() % 2 == 0;
    // The euro sign and letters beyond latin-1 stand in encodings that have them.
    const bool has_euro = other.source.encoding != Encoding::latin_1;
    const std::vector<std::string> wards = {
        "Köln",    other.source.encoding == Encoding::utf_8 ? "Łódź" : "Órgão",
        "Zürich",  "A",
        "ä;ö,|\t", has_euro ? "€" : "¤"};
    std::string plain_text, other_text;
    const auto add_row = [&](const std::vector<std::string>& cells, const std::vector<std::string>& written) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        plain_text += (i == 0 ? "" : ",") + field(cells[i], plain.source, false);
        other_text += (i == 0 ? std::string() : std::string(1, other.source.delimiter)) +
                      field(encoded(written[i], other.source.encoding), other.source, random() % 5 == 0);
      }
      plain_text += "\n";
      other_text += random() % 2 == 0 ? "\n" : "\r\n";
    };
    std::vector<std::string> header = strange ? kStrangeHeader : kPlainHeader;
    if (strange && !has_euro) header[2] = "Kosten";
    add_row(kPlainHeader, header);
    for (std::size_t rows = random() % 20; rows > 0; --rows) {
      const Rational age(static_cast<long>(random() % 3'000'000) - 10'000);
      const Rational cost(static_cast<long>(random() % 200'000'000) - 10'000'000, 100);
      const Rational score(static_cast<long>(random() % 50'000), 8);
      const std::string id = any<std::string>({"p", "q", "ä", "Müller \"jr.\"", "ÿ"}, random);
      const std::string seen =
          any<std::string>({"2024-02-01", "2024-01-02", "2023-12-31", "2020-02-29"}, random);
      const std::string ward = any(wards, random);
      const std::string smoker = random() % 2 == 0 ? "true" : "false";
      std::vector<std::string> cells = {id,
                                        plain.text(age, 0, random),
                                        plain.text(cost, 2, random),
                                        plain.text(score, 3, random),
                                        ward,
                                        seen,
                                        smoker};
      std::vector<std::string> written = {id,
                                          other.text(age, 0, random),
                                          other.text(cost, 2, random),
                                          other.text(score, 3, random),
                                          ward,
                                          other.text(seen),
                                          smoker};
      if (random() % 4 == 0) {
        const std::size_t missing = static_cast<std::size_t>(random() % cells.size());
        cells[missing] = "";
        written[missing] = "k. A.";
      }
      add_row(cells, written);
    }
    folder.write("plain.csv", plain_text);
    folder.write("other.csv", other_text);
    Dataset before = clinic(plain.source, false);
    Dataset after = clinic(other.source, strange);
    if (strange && !has_euro) after.columns[1].header = "Kosten";
    before.columns[3].values = after.columns[3].values;
    CAPTURE(round, plain_text, other_text, name(other.source.encoding), other.source.thousands);
    for (const Question& asked : questions()) {
      REQUIRE(answered(before, folder, asked) == answered(after, folder, asked));
    }
    const DataReport one = check_data(before, folder.path(""));
    const DataReport two = check_data(after, folder.path(""));
    REQUIRE(two.malformed == 0);
    REQUIRE(one.kept == two.kept);
    for (std::size_t i = 0; i < one.columns.size(); ++i) {
      REQUIRE(one.columns[i].nulls == two.columns[i].nulls);
      REQUIRE(two.columns[i].unreadable == 0);
      REQUIRE(one.columns[i].out_of_bounds == two.columns[i].out_of_bounds);
    }
  }
}

TEST_CASE("source: no byte of one person's row is a reason to fail, nor changes another's (seed 3)",
          "[engine][dialect][property][negative]") {
  std::mt19937_64 random(3);
  const TemporaryFolder folder;
  for (int round = 0; round < 300; ++round) {
    Writing writing = random_writing(random);
    writing.source.path = "visits.csv";
    writing.source.multiline = false;
    const Dataset dataset = clinic(writing.source, false);
    const std::string d(1, writing.source.delimiter);
    const auto line = [&](const std::string& id, const std::string& rest) { return id + rest + "\n"; };
    const std::string rest =
        d + "1" + d + "2" + d + "3" + d + "A" + d + writing.text("2024-02-01") + d + "true";
    std::string hostile = line("q", rest);
    for (std::size_t changes = 1 + random() % 6; changes > 0; --changes) {
      char& byte = hostile[static_cast<std::size_t>(random() % (hostile.size() - 1))];
      do {
        byte = static_cast<char>(random() % 256);
      } while (byte == '\n');
    }
    std::string header;
    for (const std::string& column : kPlainHeader) header += (header.empty() ? "" : d) + column;
    const std::string others = line("p", rest) + line("r", rest);
    folder.write("visits.csv", header + "\n" + others);
    const Values without = answered(dataset, folder, question("count"));
    folder.write("visits.csv", header + "\n" + line("p", rest) + hostile + line("r", rest));
    CAPTURE(round, hostile);
    const Values with = answered(dataset, folder, question("count"));
    CHECK(with[0][0] - without[0][0] >= 0);
    CHECK(with[0][0] - without[0][0] <= 1);
    for (const Question& asked : questions()) CHECK_NOTHROW(answered(dataset, folder, asked));
    CHECK(check_data(dataset, folder.path("")).rows == 3);
  }
}

TEST_CASE("source: blocks are of the days that the cells say, and values of a policy stay as it writes them",
          "[engine][dialect][blocks][exact]") {
  CsvSource source;
  source.path = "visits.csv";
  source.delimiter = ';';
  source.date_format = DateFormat::day_month_year_dotted;
  source.thousands = ".";
  source.decimal_point = ',';
  Dataset dataset = clinic(source, false);
  dataset.blocks = Blocks{};
  dataset.blocks->by = "seen";
  const Question asked = question("count", "", "seen >= 2024-01-02");
  CHECK(covered_blocks(dataset, asked.where) == std::vector<std::string>{"2024-02-01", "2024-01-02"});
  CHECK(covered_blocks(dataset, question("count", "", "seen = 2023-12-31").where) ==
        std::vector<std::string>{"2023-12-31"});
  const BlockMembership membership(dataset);
  CHECK(membership.contains({"01.02.2024", false}));
  CHECK_FALSE(membership.contains({"2024-02-01", false}));
  dataset.columns[0].values = {"1000", "-2000"};
  dataset.blocks->by = "age";
  CHECK(covered_blocks(dataset, question("count", "", "age < 0").where) == std::vector<std::string>{"-2000"});
  CHECK(BlockMembership(dataset).contains({"1.000", false}));
}

TEST_CASE("source: a column has the name that the source calls it, an id too, in CSV and in SQLite",
          "[engine][dialect][sqlite][exact]") {
  const TemporaryFolder folder;
  const std::vector<std::string> strange = {"Patient \"Nr.\"", "a\"; DROP TABLE \"v\"; --", "rowid ",
                                            "\"t\".\"c\"", "Größe in €"};
  for (const std::string& header : strange) {
    CAPTURE(header);
    const auto quoted = [](const std::string& text) {
      std::string result = "\"";
      for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
      return result + "\"";
    };
    {
      SQLite::Database database(folder.path("v.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      database.exec("DROP TABLE IF EXISTS v; CREATE TABLE v(" + quoted(header) + ", \"Alter?\", age)");
      database.exec("INSERT INTO v VALUES ('p', 3, 99), ('p', 4, 99), ('q', 5, 99)");
    }
    folder.write("v.csv", quoted(header) + ",Alter?,age\np,3,99\np,4,99\nq,5,99\n");
    Dataset dataset;
    dataset.name = "clinic";
    dataset.rows = {100, false};
    dataset.columns = {number_column("age", ColumnType::integer, 0, 110),
                       value_column("who", ColumnType::string, {"p"})};
    dataset.columns[0].header = "Alter?";
    dataset.columns[1].header = header;
    for (const bool csv : {true, false}) {
      dataset.csv.reset();
      dataset.sqlite.reset();
      if (csv) {
        dataset.csv.emplace();
        dataset.csv->path = "v.csv";
      } else {
        dataset.sqlite = SqliteSource{"v.db", "v"};
      }
      for (const std::string& id : {std::string("who"), header}) {
        dataset.unit = {id, 1};
        CHECK(answered(dataset, folder, question("sum:age"))[0][0] == 8);
        CHECK(answered(dataset, folder, question("units", "who"))[0][0] == 1);
      }
    }
  }
}

TEST_CASE("source: what the source calls a column is what must be there", "[engine][dialect][negative]") {
  const TemporaryFolder folder;
  CsvSource source;
  source.path = "v.csv";
  Dataset dataset = clinic(source, false);
  dataset.columns.resize(1);
  dataset.columns[0].header = "Alter";
  const auto message = [&](const std::string& content) -> std::string {
    folder.write("v.csv", content);
    try {
      (void)answered(dataset, folder, question("count"));
      return "";
    } catch (const SourceError& error) {
      const std::string text = error.what();
      return text.substr(text.find("': ") + 3);
    }
  };
  CHECK(message("id,age\n") == "has no column 'Alter'");
  CHECK(message("id,Alter,Alter\n") == "has more than one column 'Alter'");
  CHECK(message("id,Alter,age\n") == "");
  dataset.csv->encoding = Encoding::windows_1252;
  CHECK(message("\xEF\xBB\xBFid,Alter\n") ==
        "begins with the byte order mark of UTF-8, and `encoding` says windows-1252");
  CHECK(message("id,Alter,\x81\n") ==
        "its first line must name the columns, in windows-1252 and correctly quoted");
}

TEST_CASE(
    "data check: nulls, cells that do not read, clamped and dropped ones are told apart, with their lines",
    "[engine][data_check][exact]") {
  const TemporaryFolder folder;
  folder.write("v.csv",
               "id,age,ward\np,,A\nq,NA,B\nr,x,A\ns,1e3,C\nbroken\nt,500,A\nu,\"7\n8\",A\nv,y,A\nw,z,A\nx,-,"
               "A\ny,?,A\n");
  Dataset dataset;
  dataset.name = "clinic";
  dataset.csv.emplace();
  dataset.csv->path = "v.csv";
  dataset.csv->null = {"NA"};
  dataset.csv->multiline = true;
  dataset.unit = {"id", 1};
  dataset.rows = {4, false};
  dataset.columns = {number_column("age", ColumnType::integer, 0, 110),
                     value_column("ward", ColumnType::string, {"A", "B"})};
  const DataReport report = check_data(dataset, folder.path(""));
  CHECK(report.rows == 11);
  CHECK(report.malformed == 1);
  CHECK(report.malformed_at == std::vector<std::uint64_t>{6});
  CHECK(report.kept == 10);
  CHECK(report.beyond_rows_max == 6);
  const auto& age = report.columns[0];
  CHECK(age.missing == 10);
  CHECK(age.nulls == 2);
  CHECK(age.unreadable == 7);
  CHECK(age.unreadable_at == std::vector<std::uint64_t>{4, 5, 8, 10, 11});
  CHECK(age.out_of_bounds == 1);
  CHECK(report.columns[1].undeclared == 1);
  CHECK(report.columns[1].nulls == 0);
  {
    SQLite::Database database(folder.path("v.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(
        "CREATE TABLE v(id, age, ward); INSERT INTO v VALUES ('p', NULL, 'A'), ('q', x'00', 'A'), "
        "('r', CAST(x'ff' AS TEXT), 'A'), ('s', '', 'A'), ('t', 'x', 'A'), ('u', 9e999, 'A')");
  }
  dataset.csv.reset();
  dataset.sqlite = SqliteSource{"v.db", "v"};
  const DataReport table = check_data(dataset, folder.path(""));
  CHECK(table.columns[0].nulls == 2);
  CHECK(table.columns[0].unreadable == 4);
  CHECK(table.columns[0].unreadable_at == std::vector<std::uint64_t>{2, 3, 5, 6});
}
