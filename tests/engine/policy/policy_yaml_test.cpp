// What is refused of YAML, and where the faults point.
#include <ctime>

#include "epsilog/engine/policy.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

using Texts = std::vector<std::string>;

namespace {

/// A policy with one more column, written as given, on line 10.
std::string with_column(const std::string& column) {
  PolicyText text;
  text.columns = "\n      age: {type: int, bounds: [0, 110]}\n      " + column;
  return text.yaml();
}

/// Whether the text is refused, by PolicyError alone, in the time a person does not notice.
bool refused_quickly(const std::string& yaml) {
  const std::clock_t start = std::clock();  // of this process: a busy machine does not count
  const bool refused = !faults_of(yaml).empty();
  return refused && std::clock() - start < 5 * CLOCKS_PER_SEC;
}

std::string all_replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

TEST_CASE("policy: CR LF lines, a byte order mark and comments change nothing", "[engine][policy][yaml]") {
  const std::string plain = PolicyText{}.yaml();
  CHECK(faults_of(all_replaced(plain, "\n", "\r\n")).empty());
  CHECK(faults_of("\xEF\xBB\xBF" + plain).empty());
  CHECK(faults_of("# first\n\n" + plain + "\t# last, after a tab\n").empty());
  CHECK(faults_of("---\n" + plain + "...\n").empty());

  const Texts with_lf = faults_of(all_replaced(plain, "epsilon: 3", "epsilon: 0"));
  REQUIRE(with_lf.size() == 1);
  CHECK(with_lf[0].starts_with("8:23: "));
  CHECK(faults_of("\xEF\xBB\xBF" +
                  all_replaced(all_replaced(plain, "epsilon: 3", "epsilon: 0"), "\n", "\r\n")) == with_lf);
  CHECK(faults_of(all_replaced(plain, "\n", "\r")) ==
        Texts{"1:11: a carriage return inside a line: end lines with LF or CR LF"});
}

TEST_CASE("policy: columns of faults count code points, not bytes", "[engine][policy][yaml]") {
  CHECK(faults_of(with_column("ward: {type: string, values: ['äöü', \"日本\", \"日本\"]}")) ==
        Texts{"11:50: columns.ward.values: '日本' is listed twice"});
}

TEST_CASE("policy: quotes hold any text, and no number is read out of a text column",
          "[engine][policy][yaml]") {
  CHECK(
      faults_of(with_column(
                    "\"ward\": {'type': \"string\", values: ['it''s', \"a\\\"b\", 'null', '~', '#', 0x10]}"))
          .empty());
  CHECK(faults_of(with_column("null: {type: bool}")).empty());
  CHECK(faults_of(with_column("weight: {type: int, bounds: ['0', \"9\"]}")).empty());
}

TEST_CASE("policy: an open quote is refused where it opens, which the parser accepts at the end of a file",
          "[engine][policy][yaml][negative]") {
  CHECK(faults_of(with_column("ward: {type: string, values: \"A")) ==
        Texts{"11:36: this quote is not closed on its line"});
  CHECK(faults_of(with_column("ward: {type: string, null: 'A\n")) ==
        Texts{"11:34: this quote is not closed on its line"});
  CHECK(faults_of(with_column("ward: 'A\n      next: B'\n")) ==
        Texts{"11:13: this quote is not closed on its line"});
  CHECK(faults_of(with_column("ward: \"A\n      next: \"B\"\n")) ==
        Texts{"11:13: this quote is not closed on its line"});
}

TEST_CASE("policy: a syntax error is one fault, whatever was found before it",
          "[engine][policy][yaml][negative]") {
  PolicyText text;
  text.budget = "&a {epsilon: 0}";
  CHECK(faults_of(text.yaml() + "    allow: [}\n") ==
        Texts{"10:12: this '[' is not closed: a ']' is missing"});
  CHECK(faults_of(with_column("ward: @home")) ==
        Texts{"11:13: '@' cannot begin a value: put the text in quotes"});
  CHECK(faults_of(with_column("ward: \"\\q\"")).size() == 1);
  CHECK(faults_of("a: 1\n}\n") == Texts{"2:1: this bracket closes nothing"});
  CHECK(faults_of("a: *nowhere\n") ==
        Texts{"1:4: anchors, aliases and merge keys are not allowed: write the value out"});
}

TEST_CASE("policy: anchors, aliases and tags are refused wherever they stand",
          "[engine][policy][yaml][negative]") {
  const std::string alias = "anchors, aliases and merge keys are not allowed: write the value out";
  const std::string tag = "YAML tags are not allowed: the key alone decides the type of its value";
  const Texts two{"11:7: " + alias, "11:7: " + tag};
  CHECK(faults_of(with_column("&k w: {type: bool}")) == Texts{"11:7: " + alias});
  CHECK(faults_of(with_column("w: {type: &t bool}")) == Texts{"11:17: " + alias});
  CHECK(faults_of(with_column("w: {type: ! bool}")) == Texts{"11:17: " + tag});
  CHECK(faults_of(with_column("w: {type: !!str bool}")) == Texts{"11:17: " + tag});
  CHECK(faults_of(with_column("w: {type: !<tag:yaml.org,2002:str> bool}")) == Texts{"11:17: " + tag});
  CHECK(faults_of(with_column("w: !!map {type: bool}")) == Texts{"11:10: " + tag});
  CHECK(faults_of(with_column("w: {type: string, values: !!seq [A]}")) == Texts{"11:33: " + tag});
  CHECK(faults_of(with_column("w: {type: string, values: ! [A]}")) == Texts{"11:33: " + tag});
  CHECK(faults_of(with_column("w: {type: string, values: [A, *b]}")) == Texts{"11:37: " + alias});
  CHECK(faults_of(with_column("&k !!str w: {type: bool}")) == two);
}

TEST_CASE("policy: null in every spelling is no value", "[engine][policy][yaml][negative]") {
  const std::string why = " is not a value: leave the key out, or put the text in quotes";
  for (const std::string spelling : {"null", "Null", "NULL", "~"}) {
    CAPTURE(spelling);
    CHECK(faults_of(with_column("w: {type: " + spelling + "}")) == Texts{"11:17: '" + spelling + "'" + why});
  }
  CHECK(faults_of(with_column("w: {type: string, values: [A, null]}")) ==
        Texts{"11:37: 'null' is not a value: leave the key out, or put the text in quotes"});
  CHECK(faults_of(with_column("w:")) == Texts{"11:7: 'w' has no value"});
  CHECK(faults_of(with_column("w: {type: }")) == Texts{"11:11: 'type' has no value"});
}

TEST_CASE("policy: duplicates are found in every map, even where keys are unknown",
          "[engine][policy][yaml][negative]") {
  CHECK(faults_of("version: 1\nversion: 1\ndatasets: {}\n") ==
        Texts{"2:1: duplicate key 'version': it is already given on line 1"});
  const Texts nested = faults_of(with_column("w: {type: bool, x: {y: [{z: 1, \"z\": 2}]}}"));
  REQUIRE(nested.size() == 2);
  CHECK(nested[0].starts_with("11:23: unknown key 'x'"));
  CHECK(nested[1] == "11:38: duplicate key 'z': it is already given on line 11");
}

TEST_CASE("policy: bytes that are not UTF-8 or do not show are refused", "[engine][policy][yaml][negative]") {
  const auto fault = [](const std::string& bytes) {
    const Texts texts = faults_of("# " + bytes + "\n" + PolicyText{}.yaml());
    return texts.size() == 1 ? texts[0] : "not one fault";
  };
  const std::string not_utf8 = " is not UTF-8: save the file as UTF-8";
  CHECK(fault("\xE9") == "1:3: the byte 0xE9" + not_utf8);
  CHECK(fault("\xC0\x80") == "1:3: the byte 0xC0" + not_utf8);          // overlong
  CHECK(fault("\xED\xA0\x80") == "1:3: the byte 0xED" + not_utf8);      // surrogate
  CHECK(fault("\xF4\x90\x80\x80") == "1:3: the byte 0xF4" + not_utf8);  // beyond U+10FFFF
  CHECK(fault("\xE2\x82") == "1:3: the byte 0xE2" + not_utf8);          // cut short
  CHECK(fault("\xC2\x85") == "1:3: the character U+0085 does not show in an editor: remove it");
  CHECK(fault("\xE2\x80\xAE") == "1:3: the character U+202E does not show in an editor: remove it");
  CHECK(fault("a\xEF\xBB\xBF") == "1:4: the character U+FEFF does not show in an editor: remove it");
  CHECK(fault(std::string(1, '\0')) == "1:3: the character U+0000 does not show in an editor: remove it");
  CHECK(fault("\x04") == "1:3: the character U+0004 does not show in an editor: remove it");
  // U+20AC and U+1F600 are ordinary characters.
  CHECK(faults_of("# \xE2\x82\xAC \xF0\x9F\x98\x80\n" + PolicyText{}.yaml()).empty());
}

TEST_CASE("policy: text in UTF-16 is refused at its first byte", "[engine][policy][yaml][negative]") {
  CHECK(faults_of("\xFF\xFEv") == Texts{"1:1: the byte 0xFF is not UTF-8: save the file as UTF-8"});
}

TEST_CASE("policy: nothing is left to read in an empty file, a comment or a lone end mark",
          "[engine][policy][yaml][negative]") {
  const Texts empty{"1:1: the policy is empty: it needs the keys version and datasets"};
  CHECK(faults_of("") == empty);
  CHECK(faults_of("\n\n") == empty);
  CHECK(faults_of("# nothing\n") == empty);
  CHECK(faults_of("---\n").size() == 1);
  CHECK(faults_of("policy") == Texts{"1:1: the policy: expected a map with the keys version, principals, "
                                     "replica, checkpoint, datasets, found 'policy'"});
}

TEST_CASE("policy: deep nesting, alias bombs and very long texts are refused quickly",
          "[engine][policy][yaml][negative]") {
  const std::size_t most = std::size_t{250} * 1024;
  CHECK(refused_quickly(std::string(most, '[')));
  CHECK(refused_quickly(std::string(most, '{')));
  CHECK(refused_quickly(all_replaced(std::string(most / 4, '-'), "-", "- ")));
  CHECK(refused_quickly(all_replaced(std::string(most / 4, '?'), "?", "? ")));
  CHECK(refused_quickly("[" + all_replaced(std::string(most / 4, 'x'), "x", "x,") + "]"));
  CHECK(refused_quickly("a: " + std::string(most, 'x')));
  CHECK(refused_quickly("a: '" + std::string(most, '\'')));
  CHECK(refused_quickly(std::string(most, '\n')));
  CHECK(refused_quickly(std::string(most, '#')));

  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  CHECK(refused_quickly(bomb));

  std::string many_queries = "version: 1\ndatasets:\n  d:\n    queries:\n";
  for (int i = 0; i < 6'000; ++i) many_queries += "      q" + std::to_string(i) + ": {bonds: 1}\n";
  CHECK(refused_quickly(many_queries));
}

TEST_CASE("policy: the limits on nesting and on the number of values are sharp",
          "[engine][policy][yaml][negative]") {
  const auto nested = [](std::size_t depth) {
    return faults_of("a: " + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "\n");
  };
  const auto is_too_deep = [](const Texts& faults) {
    return faults.size() == 1 && faults[0].find("nested deeper than 32 levels") != std::string::npos;
  };
  CHECK_FALSE(is_too_deep(nested(32)));
  CHECK(is_too_deep(nested(33)));

  // A map, a key and a list are three values of the 50,000.
  const auto listed = [](std::size_t count) {
    return faults_of("a: [" + all_replaced(std::string(count, 'x'), "x", "x,") + "]\n");
  };
  CHECK(listed(49'997).back().find("more than 50000 values") == std::string::npos);
  CHECK(listed(49'998) == Texts{"1:99999: more than 50000 values in one policy"});
}
