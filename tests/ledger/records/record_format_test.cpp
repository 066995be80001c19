// What docs/record_format.md shows comes out as it stands there.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "ledger/support/json_parts.hpp"
#include "ledger/support/reference_tree.hpp"
#include "ledger/support/sample_records.hpp"
#include "records.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using epsilog::ledger::TreeHead;

namespace {

std::string page() {
  std::ifstream file(EPSILOG_RECORD_FORMAT, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The lines of the block marked so.
std::vector<std::string> block(const std::string& mark) {
  std::istringstream file(page());
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```" + mark;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// The hashes of the worked example by name, each computed as it says, and the leaves in order.
struct Example {
  Example() {
    const std::vector<std::string> lines = block("tree");
    for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
      const auto equals = lines.at(i).find(" = ");
      const std::string name = lines.at(i).substr(0, equals);
      const std::string said = lines.at(i).substr(equals + 3);
      const std::string argument = said.substr(5, said.size() - 6);
      if (said.starts_with("leaf(")) {
        hashes[name] = epsilog::ledger::leaf_hash(argument);
        leaves.push_back(hashes[name]);
      } else {
        REQUIRE(said.starts_with("node("));
        const auto comma = argument.find(", ");
        hashes[name] = epsilog::ledger::node_hash(hashes.at(argument.substr(0, comma)),
                                                  hashes.at(argument.substr(comma + 2)));
      }
      CHECK(lines.at(i + 1) == "  = " + to_hex(hashes[name]));
    }
  }
  std::map<std::string, Hash> hashes;
  std::vector<Hash> leaves;
};

}  // namespace

TEST_CASE("record format: the lines that are said to be read are, and the others are not",
          "[ledger][record][documents]") {
  const std::vector<std::string> accepted = block("accepted");
  CHECK(accepted.size() == 3);
  for (const std::string& line : accepted) {
    INFO(line);
    CHECK_NOTHROW(epsilog::ledger::parse_canonical(line));
  }
  CHECK(epsilog::ledger::parse_canonical(accepted.at(0)).at("bytes").bytes() == "\xFF\n");
  const auto quantities = epsilog::ledger::parse_canonical(accepted.at(1)).at("held");
  for (const auto& quantity : quantities.items()) CHECK_NOTHROW(quantity.quantity());
  const std::vector<std::string> refused = block("refused");
  CHECK(refused.size() == 9);
  for (const std::string& line : refused) {
    INFO(line);
    CHECK_THROWS_AS(epsilog::ledger::parse_canonical(line), epsilog::LedgerCorrupt);
  }
  const std::string text = page();
  const auto begin = text.find("Not quantities:");
  std::istringstream listed(text.substr(begin, text.find("\n", begin) - begin));
  std::size_t none = 0;
  for (std::string before, number; std::getline(listed, before, '`') && std::getline(listed, number, '`');
       ++none) {
    INFO(number);
    const auto line = epsilog::ledger::parse_canonical('"' + number + '"');
    CHECK_THROWS_AS(line.quantity(), epsilog::LedgerCorrupt);
  }
  CHECK(none == 7);
}

TEST_CASE("record format: the worked example of the tree comes out", "[ledger][tree][documents]") {
  const Example example;
  REQUIRE(example.leaves.size() == 3);
  epsilog::ledger::Frontier tree;
  for (const char* name : {"A", "AB", "ABC"}) {
    tree.append(example.leaves.at(tree.size()), [](unsigned, std::uint64_t, const Hash&) {});
    CHECK(tree.root() == example.hashes.at(name));
  }
}

TEST_CASE("record format: the proofs shown are built so and accepted", "[ledger][tree][documents]") {
  const Example example;
  MemoryRows rows;
  epsilog::ledger::Frontier tree;
  std::vector<TreeHead> heads{tree.head()};
  for (const Hash& leaf : example.leaves) {
    rows.append(tree, leaf);
    heads.push_back(tree.head());
  }
  const std::vector<std::string> lines = block("proofs");
  CHECK(lines.size() == 8);
  for (const std::string& line : lines) {
    INFO(line);
    std::istringstream words(line);
    std::string kind;
    std::string between;
    std::uint64_t first = 0;
    std::uint64_t size = 0;
    char colon = ' ';
    words >> kind >> first >> between >> size >> colon;
    REQUIRE((words && colon == ':'));
    std::vector<Hash> proof;
    for (std::string name; words >> name;) proof.push_back(example.hashes.at(name));
    if (kind == "inclusion") {
      CHECK(epsilog::ledger::inclusion_proof(first, size, rows) == proof);
      CHECK(verify_inclusion(example.leaves.at(first), first, heads.at(size), proof));
    } else {
      REQUIRE(kind == "consistency");
      CHECK(epsilog::ledger::consistency_proof(first, size, rows) == proof);
      CHECK(verify_consistency(heads.at(first), heads.at(size), proof));
    }
  }
}

TEST_CASE("record format: the records shown are read, and what is shown as none is not",
          "[ledger][record][documents]") {
  using namespace epsilog::ledger;
  const auto decimals = [](std::int64_t account) {
    return grid_decimals(account == 1 ? "epsilon" : "delta");
  };
  std::set<std::size_t> kinds;
  for (const std::string& text : block("records")) {
    INFO(text);
    const Line line = parse_line(text, decimals);
    CHECK(line_text(line, decimals) == text);
    kinds.insert(line.record.index());
  }
  CHECK(kinds.size() == std::variant_size_v<Record>);
  const std::vector<std::string> refused = block("norecords");
  CHECK(refused.size() == 16);
  for (std::size_t i = 0; i + 1 < refused.size(); i += 2) {
    const std::string member = refused.at(i + 1).substr(2);
    INFO(refused.at(i));
    CHECK_THROWS_WITH(parse_line(refused.at(i), decimals), Catch::Matchers::StartsWith(member + ": "));
  }
}

TEST_CASE("record format: the tables have the members that records have, in bold those that are always there",
          "[ledger][record][documents]") {
  std::map<std::string, std::string> tables;  // by kind; "": of every one
  std::istringstream file(page().substr(page().find("## Records")));
  std::string kind;
  for (std::string line; std::getline(file, line) && line != "```records";) {
    if (line.starts_with("**")) kind = line.substr(2, line.find("**", 2) - 2);
    tables[kind] += line + '\n';
  }
  CHECK(tables.size() == 1 + 15);
  std::map<std::string, std::set<std::string>> always;
  std::map<std::string, std::set<std::string>> all;
  for (const auto& [samples, least] :
       {std::pair(minimal_records(), true), std::pair(full_records(), false)}) {
    for (const auto& [name, line] : samples) {
      for (const auto& [member, value] : JsonParts(line_text(line, sample_decimals)).members) {
        if (least && member != "revoked") always[name].insert(member);
        all[name].insert(member);
      }
    }
  }
  for (const auto& [name, line] : full_records()) {
    const std::string of =
        epsilog::ledger::parse_canonical(line_text(line, sample_decimals)).at("kind").text();
    for (const std::string& member : all.at(name)) {
      INFO(name << " " << member);
      const bool bold = always.at(name).contains(member);
      const auto has = [&](const std::string& table) {
        return tables.at(table).find(bold ? "**`" + member + "`**" : " `" + member + "`") !=
               std::string::npos;
      };
      CHECK((has("") || has(of)));
    }
  }
}
