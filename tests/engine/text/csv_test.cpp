#include <fcntl.h>
#include <unistd.h>

#include "csv_source.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/source_io.hpp"
#include "epsilog/engine/utf8.hpp"
#include "rows_memory.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

/// The records of `text`, empty optional: malformed; handed to the reader `step` bytes at a time.
using Records = std::vector<std::optional<std::vector<std::string>>>;

Records records_of(const std::string& text, CsvRecords::Dialect dialect = {}, std::size_t step = 1 << 20) {
  std::size_t at = 0;
  CsvRecords reader(dialect, [&](char* data, std::size_t size) {
    const std::size_t got = text.copy(data, std::min(size, step), at);
    at += got;
    return got;
  });
  Records result;
  while (reader.next()) {
    if (reader.malformed()) {
      result.emplace_back(std::nullopt);
    } else {
      result.emplace_back(std::vector<std::string>(reader.fields().begin(), reader.fields().end()));
    }
  }
  return result;
}

std::vector<std::string> cells(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

/// RFC 4180 on one line, written for clarity: a character at a time, no buffers.
std::optional<std::vector<std::string>> reference_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  std::size_t i = 0;
  const auto size = line.size();
  for (;;) {
    if (i < size && line[i] == '"') {
      for (++i;; ++i) {
        if (i >= size) return std::nullopt;
        if (line[i] != '"') {
          fields.back() += line[i];
        } else if (i + 1 < size && line[i + 1] == '"') {
          fields.back() += line[i++];
        } else {
          break;
        }
      }
      ++i;
    } else {
      for (; i < size && line[i] != ','; ++i) {
        if (line[i] == '"') return std::nullopt;
        fields.back() += line[i];
      }
    }
    if (i >= size) return fields;
    if (line[i] != ',') return std::nullopt;
    ++i;
    fields.emplace_back();
  }
}

Records reference_records(const std::string& text) {
  Records result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    result.push_back(reference_fields(line));
    begin = end + 1;
  }
  return result;
}

/// Asks for the count and the sum of ages in a file of this content.
Rational sum_of(const std::string& content, const CsvSource& dialect = {}) {
  const TemporaryFolder folder;
  folder.write("visits.csv", content);
  Dataset dataset;
  dataset.name = "clinic";
  dataset.csv = dialect;
  dataset.csv->path = "visits.csv";
  dataset.unit = {"id", 1};
  dataset.rows = {100, false};
  dataset.columns = {number_column("age", ColumnType::integer, 0, 110)};
  const Question asked = question("sum:age");
  return compute_exact_answer(dataset, asked, derive(dataset, asked), folder.path("")).values[0][0];
}

}  // namespace

TEST_CASE("csv: fields are split as RFC 4180 says", "[engine][csv][exact]") {
  CHECK(records_of("a,b\n") == Records{cells({"a", "b"})});
  CHECK(records_of("a,b") == Records{cells({"a", "b"})});
  CHECK(records_of("a,b\r\nc,d\r\n") == Records{cells({"a", "b"}), cells({"c", "d"})});
  CHECK(records_of("a,\n,b\n,\n") == Records{cells({"a", ""}), cells({"", "b"}), cells({"", ""})});
  CHECK(records_of("\"a,b\",\"say \"\"hi\"\"\",\"\"\n") == Records{cells({"a,b", "say \"hi\"", ""})});
  CHECK(records_of("\xEF\xBB\xBF\"a\",b\n") == Records{cells({"a", "b"})});
  CHECK(records_of("\xEF\xBB\xBFx\n\xEF\xBB\xBFy\n") == Records{cells({"x"}), cells({"\xEF\xBB\xBFy"})});
  CHECK(records_of("a;b\n", {';', false}) == Records{cells({"a", "b"})});
  CHECK(records_of("a\t\"b\tc\"\n", {'\t', false}) == Records{cells({"a", "b\tc"})});
  CHECK(records_of(" a , b \n") == Records{cells({" a ", " b "})});
  CHECK(records_of("a\rb,c\n") == Records{cells({"a\rb", "c"})});
  CHECK(records_of("") == Records{});
  CHECK(records_of("\n\na\n") == Records{cells({""}), cells({""}), cells({"a"})});
  CHECK(records_of("größe,日本,😀\n") == Records{cells({"größe", "日本", "😀"})});
}

TEST_CASE("csv: a NUL byte is a character like any other", "[engine][csv][exact]") {
  const std::string text("a\0b,c\n", 6);
  CHECK(records_of(text) == Records{std::vector<std::string>{std::string("a\0b", 3), "c"}});
}

TEST_CASE("csv: a badly quoted line is malformed and the next one is not", "[engine][csv][exact]") {
  for (const char* line : {"a\"b,c", "\"a\"b,c", "\"a", "a,\"b", "\"a\" ,b", "\"\"\"", "a,b\"\""}) {
    CAPTURE(line);
    CHECK(records_of(std::string(line) + "\nx,y\n") == Records{std::nullopt, cells({"x", "y"})});
  }
}

TEST_CASE("csv: bytes that are not UTF-8 make a line malformed", "[engine][csv][exact]") {
  for (const char* bytes :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xEF\xBF",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "12345678\xFF", "1234567\xC3"}) {
    CHECK_FALSE(is_utf8(bytes));
    CHECK(records_of(std::string(bytes) + ",x\ny,z\n") == Records{std::nullopt, cells({"y", "z"})});
  }
  for (const char* bytes : {"", "a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                            "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "12345678\xC3\xA9"}) {
    CHECK(is_utf8(bytes));
  }
}

TEST_CASE("csv: every code point is UTF-8 and every other short sequence is not",
          "[engine][csv][exhaustive]") {
  std::size_t accepted = 0;
  // All sequences of two bytes, then of three and four with a first byte that could lead one.
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      const std::string two = {static_cast<char>(first), static_cast<char>(second)};
      if (first >= 0x80 && is_utf8(two)) ++accepted;
      if (first < 0xE0) continue;
      for (unsigned third = 0; third < 256; ++third) {
        const std::string three = two + static_cast<char>(third);
        if (first < 0xF0 && is_utf8(three)) ++accepted;
        if (first >= 0xF0 && third >= 0x78 && third < 0xC8) {
          for (unsigned fourth = 0x78; fourth < 0xC8; ++fourth) {
            if (is_utf8(three + static_cast<char>(fourth))) ++accepted;
          }
        }
      }
    }
  }
  // Two bytes: 0x80..0x7FF. Three: 0x800..0xFFFF without surrogates. Four: 0x10000..0x10FFFF.
  CHECK(accepted == 0x780 + (0xF800 - 0x800) + 0x100000);
}

TEST_CASE("csv: quoted fields span lines only where the dialect says so", "[engine][csv][exact]") {
  const std::string text = "\"a\nb\",c\n\"d\r\n\"\"e\",f\n";
  CHECK(records_of(text, {',', true}) == Records{cells({"a\nb", "c"}), cells({"d\r\n\"e", "f"})});
  CHECK(records_of(text) == Records{std::nullopt, std::nullopt, std::nullopt, std::nullopt});
  CHECK(records_of("a\"b\nc\n", {',', true}) == Records{std::nullopt, cells({"c"})});
  CHECK(records_of("\"a\"b\"\nc\n", {',', true}) == Records{std::nullopt, cells({"c"})});
  CHECK(records_of("x\n\"a\nb\nc", {',', true}) == Records{cells({"x"}), std::nullopt});
  CHECK(records_of("\"a\"\r\n\"b\"\r\n", {',', true}) == Records{cells({"a"}), cells({"b"})});
}

TEST_CASE("csv: a record beyond 16 MiB is malformed, however long, and the next one is not",
          "[engine][csv][exact]") {
  const std::string longest(CsvRecords::kRecordSizeMax, 'x');
  CHECK(records_of(longest + "\ny\n") == Records{std::vector<std::string>{longest}, cells({"y"})});
  CHECK(records_of(longest + "x\ny\n") == Records{std::nullopt, cells({"y"})});
  CHECK(records_of(longest + longest + longest + "\ny") == Records{std::nullopt, cells({"y"})});
  CHECK(records_of("a\n\"" + longest + longest + longest, {',', true}) ==
        Records{cells({"a"}), std::nullopt});
}

TEST_CASE("csv: another number of fields than is expected is malformed, and is not kept",
          "[engine][csv][exact]") {
  const std::string text = "a,b\nc\nd,e,f\n" + std::string(100'000, ',') + "\n\"g\",\"h\",\"i\"\n\"j\",k\n";
  std::size_t at = 0;
  CsvRecords reader({}, [&](char* data, std::size_t size) {
    const std::size_t count = text.copy(data, size, at);
    at += count;
    return count;
  });
  std::vector<bool> malformed;
  while (reader.next()) {
    malformed.push_back(reader.malformed());
    CHECK(reader.fields().size() <= 3);
    reader.expect_fields(2);
  }
  CHECK(malformed == std::vector<bool>{false, true, true, true, true, false});
}

TEST_CASE("csv: random text is read as a plain reader reads it, in pieces of any size",
          "[engine][csv][overlap]") {
  std::mt19937_64 random(5);
  const std::string alphabet = "ab,,\"\"\"\n\r ";
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    for (std::uint64_t size = random() % 40; size > 0; --size) text += alphabet[random() % alphabet.size()];
    CAPTURE(round, text);
    const Records expected = reference_records(text);
    REQUIRE(records_of(text) == expected);
    REQUIRE(records_of(text, {}, 1 + random() % 5) == expected);
    // Where no line holds an unclosed quote, both readings of line ends agree.
    bool closed = true;
    for (const auto& record : expected) closed = closed && record.has_value();
    if (closed) REQUIRE(records_of(text, {',', true}, 1 + random() % 5) == expected);
  }
}

TEST_CASE("csv: the source follows its dialect", "[engine][csv][exact]") {
  CHECK(sum_of("id,age\np,30\nq,40\n") == 70);
  CHECK(sum_of("\xEF\xBB\xBFid,age\r\np,30\r\nq,40") == 70);
  CHECK(sum_of("note,age,id\nx,30,p\n\"y,z\",\"40\",q\n") == 70);
  CsvSource dialect;
  dialect.delimiter = ';';
  dialect.null = {"NA", "-"};
  CHECK(sum_of("id;age\np;30\nNA;1\n-;2\nq;NA\n", dialect) == 30);
  dialect.multiline = true;
  CHECK(sum_of("id;age;note\np;30;\"two\nlines\"\nq;40;\"\"\n", dialect) == 70);
}

TEST_CASE("csv: what a line holds is never an error", "[engine][csv][exact]") {
  CHECK(sum_of("id,age\n") == 0);
  CHECK(sum_of("id,age") == 0);
  CHECK(sum_of("id,age\np\nq,1,2\n\n\"r,5\ns,\"6\nt,\xFF\nu,7\n") == 7);
  CHECK(sum_of("id,age\n\"p\",\"3\"\"\"\nq,4\n") == 4);
}

TEST_CASE("csv: a source of the wrong shape is refused, naming file and column", "[engine][csv][negative]") {
  for (const char* content : {"", "id,agee\np,1\n", "id,age,age\np,1,2\n", "age\n1\n", "id,\"age\np,1\n",
                              "id,age,\xFF\n", "\n", "ID,AGE\np,1\n", "id, age\np,1\n"}) {
    CAPTURE(content);
    CHECK_THROWS_AS(sum_of(content), SourceError);
  }
  CHECK(sum_of("id,age,x,x\np,1,2,3\n") == 1);

  const TemporaryFolder folder;
  folder.write("visits.csv", "id,agee\n");
  Dataset dataset = visits();
  dataset.columns.resize(1);
  const Question asked = question("count");
  const auto ask = [&] {
    return compute_exact_answer(dataset, asked, derive(dataset, asked), folder.path(""));
  };
  CHECK_THROWS_WITH(ask(), "csv '" + folder.path("visits.csv") + "': has no column 'age'");
  dataset.csv->path = "absent.csv";
  CHECK_THROWS_WITH(ask(), "csv '" + folder.path("absent.csv") + "': No such file or directory");
  std::filesystem::create_directory(folder.path("folder"));
  dataset.csv->path = "folder";
  CHECK_THROWS_WITH(ask(), "csv '" + folder.path("folder") + "': is a directory");
  dataset.csv->path = "/dev/null";
  CHECK_THROWS_WITH(ask(), "csv '/dev/null': not a regular file");
}

namespace {

/// A file of ids and ages that is larger than what is read at once, opened through a link and read as far as
/// its first row.
class Reading {
 public:
  Reading() {
    std::string content = "id,age\n";
    while (content.size() < 3'000'000) content += "p,30\n";
    std::filesystem::create_symlink(folder.write("content.csv", content), file());
    source = open_csv_source(file(), {}, {"id", "age"}, {"age"});
    REQUIRE(source->next(cells) == RowSource::Record::readable);
  }

  [[nodiscard]] std::string file() const { return folder.path("visits.csv"); }
  void finish() {
    while (source->next(cells) != RowSource::Record::none) ++rows;
  }
  /// Replaces the descriptor the file is read by with one that cannot be read.
  void break_descriptor() const {
    const int unreadable = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(unreadable >= 0);
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      if (std::filesystem::read_symlink(entry.path(), ignored) != std::filesystem::canonical(file()))
        continue;
      REQUIRE(::dup2(unreadable, std::stoi(entry.path().filename())) >= 0);
      break;
    }
    ::close(unreadable);
  }

  TemporaryFolder folder;
  std::unique_ptr<RowSource> source;
  std::vector<RawCell> cells = std::vector<RawCell>(1);
  std::size_t rows = 1;
};

}  // namespace

TEST_CASE("csv: a file that is left alone is read to its end", "[engine][csv][changed]") {
  Reading reading;
  reading.finish();
  CHECK(reading.rows == 599'999);
  CHECK(reading.source->fraction_read() == 1.0);
}

TEST_CASE("csv: a file that is changed while it is read is an error at its end",
          "[engine][csv][changed][negative]") {
  const std::string changed = SourceIo(SourceIo::Cause::changed).what();
  const auto check = [&](const std::string& how, const std::function<void(const std::string&)>& change) {
    CAPTURE(how);
    Reading reading;
    change(reading.file());
    CHECK_THROWS_WITH(reading.finish(), changed);
    CHECK(reading.rows <= 599'999);
  };
  check("appended to", [](const std::string& file) { std::ofstream(file, std::ios::app) << "p,1\n"; });
  check("cut short", [](const std::string& file) { std::filesystem::resize_file(file, 2'000'000); });
  check("overwritten", [](const std::string& file) {
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << "id,age\np,31\n";
  });
  check("overwritten and its time put back", [](const std::string& file) {
    const auto time = std::filesystem::last_write_time(file);
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << "id,age\np,31\n";
    std::filesystem::last_write_time(file, time);
  });
  check("removed", [](const std::string& file) { std::filesystem::remove(file); });
  check("removed itself",
        [](const std::string& file) { std::filesystem::remove(std::filesystem::canonical(file)); });
  check("replaced by an equal one", [](const std::string& file) {
    std::filesystem::copy_file(file, file + ".new");
    std::filesystem::rename(file + ".new", file);
  });
}

TEST_CASE("csv: what is appended while a file is read is not read", "[engine][csv][changed]") {
  Reading reading;
  std::ofstream(reading.file(), std::ios::app) << std::string(3'000'000, '\n');
  CHECK_THROWS_AS(reading.finish(), SourceIo);
  CHECK(reading.rows == 599'999);
}

TEST_CASE("csv: a file that cannot be read any further says nothing of why", "[engine][csv][negative]") {
  Reading reading;
  reading.break_descriptor();
  CHECK_THROWS_WITH(reading.finish(), SourceIo(SourceIo::Cause::unreadable).what());
}
