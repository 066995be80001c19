// What is written is read back by the strict reader as the same text.
#include "yaml_writer.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "epsilog/engine/utf8.hpp"
#include "yaml_text.hpp"
#include "yaml_tree.hpp"

using namespace epsilog;
using namespace epsilog::engine;

namespace {

/// What the strict reader makes of `key: <scalar>`; fails the test when it refuses it.
std::string read_back(const std::string& written) {
  Faults faults("w.yaml");
  const yaml::Node root = yaml::read("key: " + written + "\n", faults);
  CAPTURE(written);
  REQUIRE(faults.none());
  REQUIRE(root.entries.size() == 1);
  REQUIRE(root.entries[0].value.kind == yaml::Node::Kind::scalar);
  return root.entries[0].value.text;
}

std::string utf8(char32_t point) {
  std::string text;
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) {
    text += static_cast<char>(0xC0 | (point >> 6));
  } else {
    if (point < 0x10000) {
      text += static_cast<char>(0xE0 | (point >> 12));
    } else {
      text += static_cast<char>(0xF0 | (point >> 18));
      text += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
    }
    text += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
  }
  return text + static_cast<char>(0x80 | (point & 0x3F));
}

}  // namespace

TEST_CASE("yaml writer: texts that YAML would take for something else are read back as they are",
          "[engine][yaml]") {
  for (const std::string text :
       {"A",      "Ward 3", "",     "no",           "Yes",  "true",       "null",       "~",
        "1",      "-3",     "1e3",  "0x10",         "1:30", "2024-01-31", "- a",        "a: b",
        "a #b",   "#a",     "[a]",  "{a}",          "*a",   "&a",         "!a",         "|",
        ">",      "%a",     "@a",   "`a",           "'a'",  "\"a\"",      "a\\n",       "a,b",
        "<<",     "=",      "..",   "---",          " a",   "a ",         "\ta",        "a\nb",
        "a\r\nb", "é",      "日本", "\xE2\x80\xAE", "y",    "n",          "a/b_c-d.e+f"}) {
    CHECK(read_back(yaml::scalar(text)) == text);
    Faults faults("w.yaml");
    const yaml::Node root = yaml::read("key: " + yaml::sequence({text, "z", text}) + "\n", faults);
    REQUIRE(faults.none());
    REQUIRE(root.entries[0].value.items.size() == 3);
    CHECK(root.entries[0].value.items[2].text == text);
  }
}

TEST_CASE("yaml writer: what some YAML reader takes for a bool, a null, a number or a date is quoted",
          "[engine][yaml]") {
  for (const std::string text : {"no", "Yes", "ON", "off", "y", "N", "true", "False", "null", "1", "-3",
                                 "1e3", ".5", "1:30", "2024-01-31", "~", ""}) {
    CHECK(yaml::scalar(text) == "\"" + text + "\"");
  }
  CHECK(yaml::scalar("nobody") == "nobody");
}

TEST_CASE("yaml writer: every character is read back, alone and among others", "[engine][yaml]") {
  std::mt19937_64 random(7);
  for (char32_t point = 1; point <= 0x10FFFF; point += point < 0x3000 ? 1 : 257) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    const std::string text = utf8(point);
    if (code_point_at(text, 0).value == 0xFFFF) continue;  // noncharacter, and the sign of no character
    CAPTURE(static_cast<unsigned long>(point));
    REQUIRE(read_back(yaml::scalar(text)) == text);
  }
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t i = random() % 12; i > 0; --i) text += utf8(1 + static_cast<char32_t>(random() % 0x7E));
    REQUIRE(read_back(yaml::scalar(text)) == text);
  }
}

TEST_CASE("yaml writer: a comment stays a comment, whatever is in it", "[engine][yaml]") {
  const std::string hostile = "a\nbudget: {epsilon: 1000}\r\n\xE2\x80\xA8 b \xE2\x80\xAE c";
  const std::string comment = yaml::comment(hostile, "    ", 40);
  std::size_t begin = 0;
  while (begin < comment.size()) {
    const std::size_t end = comment.find('\n', begin);
    CHECK(comment.substr(begin, 5) == "    #");
    CHECK(end - begin <= 40);
    begin = end + 1;
  }
  Faults faults("w.yaml");
  const yaml::Node root = yaml::read("key: 1\n" + comment, faults);
  CHECK(faults.none());
  CHECK(root.entries.size() == 1);
}
