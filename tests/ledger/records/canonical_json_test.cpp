// One text for each value, and nothing else is read.
#include "epsilog/ledger/canonical_json.hpp"

#include <sys/mman.h>
#include <nlohmann/json.hpp>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/json_writer.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog::test;
using epsilog::LedgerCorrupt;
using epsilog::accounting::Rational;
using epsilog::ledger::JsonValue;
using epsilog::ledger::JsonWriter;
using epsilog::ledger::parse_canonical;

namespace {

using Texts = std::vector<std::string>;

std::string quoted(const std::string& text) {
  return JsonWriter().text(text).take();
}

/// What a value is written as, whatever text it came from.
void write(JsonWriter& json, const JsonValue& value) {
  switch (value.kind()) {
    case JsonValue::Kind::object:
      json.raw("{");
      for (const std::string& name : value.names()) {
        json.field(name);
        write(json, value.at(name));
      }
      json.raw("}");
      return;
    case JsonValue::Kind::array:
      json.array(value.items(), [&](const JsonValue& item) { write(json, item); });
      return;
    case JsonValue::Kind::string:
      json.text(value.text());
      return;
    case JsonValue::Kind::count:
      json.count(value.count());
      return;
    case JsonValue::Kind::truth:
      json.raw(value.truth() ? "true" : "false");
      return;
  }
}

bool is_read(const std::string& line) {
  try {
    JsonWriter again;
    write(again, parse_canonical(line));
    if (again.take() != line) FAIL("read, and written otherwise: " << line);
    return true;
  } catch (const LedgerCorrupt&) {
    return false;
  }
}

/// The same decided by another parser: whatever it reads, without null, other numbers or other names, is
/// canonical if sorting and printing it changes nothing.
bool is_subset(const nlohmann::json& value, unsigned depth) {
  if (value.is_structured() && depth == epsilog::ledger::kLineDepthMax) return false;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      if (!epsilog::ledger::is_plain_json(name) || !is_subset(member, depth + 1)) return false;
    }
    return true;
  }
  if (value.is_array()) {
    return std::all_of(value.begin(), value.end(),
                       [&](const auto& item) { return is_subset(item, depth + 1); });
  }
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() < std::uint64_t{1} << 53U;
  return value.is_string() || value.is_boolean();
}
bool is_canonical(const std::string& line) {
  const nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
  // Its objects are sorted by the bytes of their names, and the last of two members of one name stays.
  return !value.is_discarded() && is_subset(value, 0) && value.dump() == line;
}

/// Why it is not read.
std::string fault_of(const std::string& line) {
  try {
    static_cast<void>(parse_canonical(line));
  } catch (const LedgerCorrupt& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("canonical JSON: examples of RFC 8785 are read as far as they are in the subset",
          "[ledger][record][exact]") {
  // Those of its section 3.2 and of the test data it names, github.com/cyberphone/json-canonicalization;
  // whole, and without the null, the numbers and the names that ours do not have.
  const std::map<std::string, bool> examples{
      {R"([56,{"1":[],"10":null,"d":true}])", false},
      {R"([56,{"1":[],"10":true,"d":true}])", true},
      {R"({"peach":"This sorting order","péché":"is wrong according to French","sin":"ignore locale"})",
       false},
      {R"({"peach":"This sorting order","sin":"ignore locale"})", true},
      {R"({"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}})",
       false},
      {R"({"":"empty","1":{"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}})", true},
      {"{\"Unnormalized Unicode\":\"A\xCC\x8A\"}", true},
      {R"({"literals":[null,true,false],"numbers":[4.5],"string":"€$\u000f\nA'B\"\\\\\"/"})", false},
      {R"({"literals":[true,false],"string":"€$\u000f\nA'B\"\\\\\"/"})", true}};
  for (const auto& [line, expected] : examples) {
    CAPTURE(line);
    CHECK(is_read(line) == expected);
    CHECK(is_canonical(line) == expected);
  }
}

TEST_CASE("canonical JSON: each control character has one text, the others stand as they are",
          "[ledger][record][exhaustive]") {
  const std::map<char, std::string> named{{'\b', R"(\b)"}, {'\t', R"(\t)"}, {'\n', R"(\n)"}, {'\f', R"(\f)"},
                                          {'\r', R"(\r)"}, {'"', R"(\")"},  {'\\', R"(\\)"}};
  constexpr std::string_view kHex = "0123456789abcdef";
  for (int code = 0; code < 128; ++code) {
    const char c = static_cast<char>(code);
    std::string written(1, c);
    if (const auto found = named.find(c); found != named.end()) {
      written = found->second;
    } else if (code < 32) {
      written = std::string(R"(\u00)") + kHex.at(static_cast<std::size_t>(code / 16)) +
                kHex.at(static_cast<std::size_t>(code % 16));
    }
    CAPTURE(code);
    CHECK(quoted({'x', c}) == "\"x" + written + "\"");
    CHECK(parse_canonical("\"x" + written + "\"").text() == std::string{'x', c});
    // Every other text for it.
    if (written.size() != 1) CHECK_FALSE(is_read(std::string{'"', c, '"'}));
    for (const std::string& other :
         Texts{std::string(R"(\u00)") + kHex.at(static_cast<std::size_t>(code / 16)) +
                   kHex.at(static_cast<std::size_t>(code % 16)),
               std::string(R"(\u00)") + "0123456789ABCDEF"[code / 16] + "0123456789ABCDEF"[code % 16],
               std::string("\\") + c}) {
      const bool is_of_another =
          other.size() == 2 && std::string_view("bfnrt").find(c) != std::string_view::npos;
      if (other != written && !is_of_another) CHECK_FALSE(is_read("\"" + other + "\""));
    }
  }
}

TEST_CASE("canonical JSON: text is UTF-8 as it stands, other bytes are hex", "[ledger][record]") {
  for (const std::string& text :
       Texts{"\xC2\x80", "ä", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
             "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\xE2\x80\xA8", "\xEF\xBB\xBF"}) {
    CHECK(quoted(text) == "\"" + text + "\"");
    CHECK(parse_canonical("\"" + text + "\"").text() == text);
    CHECK(JsonWriter().bytes(text).take() == "\"" + text + "\"");
    CHECK(parse_canonical("\"" + text + "\"").bytes() == text);
  }
  // Overlong, surrogates, beyond the last, alone, cut short.
  for (const std::string& text :
       Texts{"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",
             "\xED\xA0\x80", "\xED\xBF\xBF", "\xED\xA0\xBD\xED\xB8\x80", "\xF4\x90\x80\x80",
             "\xF5\x80\x80\x80", "\x80", "\xBF", "\xFE", "\xFF", "\xC2", "\xE2\x82", "\xF0\x90\x80",
             "a\xE4"
             "b"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(quoted(text), epsilog::InvalidParameter);
    CHECK_FALSE(is_read("\"" + text + "\""));
    const std::string written = JsonWriter().bytes(text).take();
    CHECK(written.starts_with(R"({"hex":")"));
    CHECK(parse_canonical(written).bytes() == text);
  }
  CHECK(JsonWriter().bytes("\xFF\x0A").take() == R"({"hex":"ff0a"})");
  for (const std::string& escaped : Texts{R"("\ud83d\ude00")", R"("\ud83d")", R"("\ude00\ud83d")",
                                          R"("\u00e4")", R"("\/")", R"("\x41")", R"("\u1")"})
    CHECK_FALSE(is_read(escaped));
  // Bytes have one form too.
  for (const std::string& other :
       Texts{R"({"hex":""})", R"({"hex":"41"})", R"({"hex":"c3a4"})", R"({"hex":"FF"})", R"({"hex":"ff0"})",
             R"({"hex":"8g"})", R"({"hex":["ff"]})", R"({"hex":255})", R"({"hex":"ff","name":"x"})",
             R"({"name":"ff"})", "7", "[]"}) {
    CAPTURE(other);
    const JsonValue value = parse_canonical(other);
    CHECK_THROWS_AS(value.bytes(), LedgerCorrupt);
  }
}

TEST_CASE("canonical JSON: counts are integers below 2^53 and nothing else is a number", "[ledger][record]") {
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{10}, (std::uint64_t{1} << 53U) - 1}) {
    const std::string text = JsonWriter().count(count).take();
    CHECK(text == std::to_string(count));
    CHECK(parse_canonical(text).count() == count);
  }
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/no_counts.tsv")) {
    const std::string& other = row.at(0);
    CAPTURE(other);
    CHECK_FALSE(is_read(other));
    CHECK_FALSE(is_read("[" + other + ",1]"));
  }
}

TEST_CASE("canonical JSON: what is wrong is said, and where", "[ledger][record][negative]") {
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/canonical_faults.tsv")) {
    const std::string& line = row.at(0);
    const std::string& fault = row.at(1);
    CAPTURE(line);
    CHECK(fault_of(line) == fault);
    CHECK_FALSE(is_canonical(line));
  }
}

TEST_CASE("canonical JSON: depth and length are bounded", "[ledger][record][negative]") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(is_read(nested(32)));
  CHECK_FALSE(is_read(nested(33)));
  CHECK(fault_of(std::string(10'000'000, '[')) == "canonical JSON, byte 33: is nested too deeply");
  std::string objects;
  for (int i = 0; i < 33; ++i) objects += R"({"a":)";
  CHECK(fault_of(objects) == "canonical JSON, byte 161: is nested too deeply");
  // Pages that nobody looks at take no memory.
  constexpr std::size_t kTooLong = epsilog::ledger::kLineBytesMax + 1;
  void* pages = ::mmap(nullptr, kTooLong, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  CHECK_THROWS_WITH(parse_canonical({static_cast<const char*>(pages), kTooLong}),
                    "canonical JSON, byte 0: is too long");
  REQUIRE(::munmap(pages, kTooLong) == 0);
}

TEST_CASE("canonical JSON: members are found by name, and what is not there or of another kind is said",
          "[ledger][record]") {
  const JsonValue line =
      parse_canonical(R"({"by":"ann","charge":"0.5","index":7,"kept":[true,2],"open":false})");
  CHECK(line.names() == Texts{"by", "charge", "index", "kept", "open"});
  CHECK(line.at("by").text() == "ann");
  CHECK(line.at("charge").quantity() == Rational(1, 2));
  CHECK(line.at("index").count() == 7);
  CHECK(line.at("kept").items().at(0).truth());
  CHECK(line.at("kept").items().at(1).count() == 2);
  CHECK_FALSE(line.at("open").truth());
  CHECK(line.find("b") == nullptr);
  CHECK(line.find("zz") == nullptr);
  CHECK_THROWS_WITH(line.at("at"), "has no at");
  CHECK_THROWS_WITH(line.at("by").count(), "is a string, not a number");
  CHECK_THROWS_WITH(line.at("index").text(), "is a number, not a string");
  CHECK_THROWS_WITH(line.at("kept").names(), "is an array, not an object");
  CHECK_THROWS_WITH(line.at("by").find("x"), "is a string, not an object");
  CHECK_THROWS_WITH(line.at("open").items(), "is true or false, not an array");
  CHECK_THROWS_WITH(line.truth(), "is an object, not true or false");
  CHECK_THROWS_AS(line.at("index").quantity(), LedgerCorrupt);
}

TEST_CASE(
    "canonical JSON: random values come back, and their texts with one byte changed are read as another "
    "parser "
    "decides",
    "[ledger][record][fuzz]") {
  constexpr unsigned kSeed = 8785;
  std::mt19937_64 random(kSeed);
  const Texts pieces{"a",    "B",    "7", "é", "€", "😀", "\"", "\\", "\n", std::string(1, '\0'),
                     "\x7F", "\xFF", " "};
  const auto text = [&] {
    std::string drawn;
    for (auto length = random() % 5; length > 0; --length) drawn += pieces.at(random() % pieces.size());
    return drawn;
  };
  const std::function<void(JsonWriter&, unsigned)> draw = [&](JsonWriter& json, unsigned depth) {
    const auto kind = random() % (depth < 4 ? 6 : 4);
    if (kind == 0) json.raw(random() % 2 == 0 ? "true" : "false");
    if (kind == 1) json.count((random() & epsilog::ledger::kJsonCountMax) >> random() % 53);
    if (kind == 2 || kind == 3) json.bytes(text());
    if (kind == 4) json.array(std::vector<int>(random() % 4), [&](int) { draw(json, depth + 1); });
    if (kind == 5) {
      json.raw("{");
      for (const char* name : {"A", "Z", "_", "a", "aa", "ab", "b"}) {
        if (random() % 3 != 0) continue;
        json.field(name);
        draw(json, depth + 1);
      }
      json.raw("}");
    }
  };
  const std::string bytes = "\"\\{}[]:,0189aAbtfneu.-+ \n\xC3\xFF" + std::string(1, '\0');
  std::size_t read = 0;
  for (int round = 0; round < 2'000; ++round) {
    JsonWriter json;
    draw(json, 0);
    const std::string line = json.take();
    INFO("seed " << kSeed << ", round " << round << ": " << line);
    REQUIRE(is_read(line));
    REQUIRE(is_canonical(line));
    for (int change = 0; change < 10; ++change) {
      std::string changed = line;
      const auto at = random() % changed.size();
      const char byte = bytes.at(random() % bytes.size());
      const auto how = random() % 4;
      if (how == 0) changed.erase(at, 1);
      if (how == 1) changed.insert(at, 1, byte);
      if (how == 2) changed.at(at) = byte;
      if (how == 3) changed = line.substr(0, at) + line.substr(random() % line.size());
      const bool accepted = is_read(changed);
      read += accepted ? 1U : 0U;
      if (accepted != is_canonical(changed)) FAIL("read: " << accepted << ", " << changed);
    }
  }
  CHECK(read > 1'000);
}
