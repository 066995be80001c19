// Whatever is done to the bytes of a policy, it is accepted or refused by PolicyError.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy.hpp"
#include "file_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;

namespace {

std::string shipped(const std::string& name) {
  return test::file_text(std::filesystem::path(EPSILOG_SOURCE_DIR) / "configs" / name);
}

std::size_t below(std::mt19937_64& random, std::size_t bound) {
  return static_cast<std::size_t>(random() % bound);
}

/// One byte or stretch deleted, doubled, replaced by something with a meaning in YAML, or moved.
void mutate(std::string& text, std::mt19937_64& random) {
  static const std::string kTelling[] = {
      "\"",           "'",   "[",     "]",    "{",    "}",    ": ",    ":",     ",",    "- ",
      "? ",           "&a ", "*a",    "!t ",  "|\n",  ">",    "#",     "%",     "@",    "\n",
      "\n  ",         "\t",  "\r",    "~",    "null", "<<: ", "---\n", "...\n", "\x80", "\xC3",
      "\xE2\x80\xAE", "-0",  "1e999", ".nan", "1/0"};
  if (text.empty()) text = "x";
  const std::size_t at = below(random, text.size());
  const std::size_t length = std::min<std::size_t>(1 + below(random, 12), text.size() - at);
  switch (below(random, 5)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(at, length));
      break;
    case 2:
      text[at] = static_cast<char>(below(random, 256));
      break;
    case 3:
      text.insert(at, kTelling[below(random, std::size(kTelling))]);
      break;
    default:
      text.insert(below(random, text.size()), text.substr(at, length * 8));
      break;
  }
}

/// A fault has a place inside the text and a message of one line.
bool well_formed(const PolicyFault& fault, const std::string& text) {
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  return fault.file == "p.yaml" && fault.line >= 1 && fault.line <= lines && fault.column >= 1 &&
         !fault.message.empty() && fault.message.find('\n') == std::string::npos;
}

/// Of each shipped policy so many.
void mutate_policies(int rounds) {
  for (const char* name : {"hospital.yaml", "hospital_scopes.yaml", "spreadsheet.yaml", "zcdp.yaml"}) {
    const std::string original = shipped(name);
    REQUIRE(original.size() > 1000);
    std::mt19937_64 random(1);
    int accepted = 0;
    int refused = 0;
    for (int round = 0; round < rounds; ++round) {
      std::string text = original;
      const std::size_t mutations = 1 + below(random, 3);
      for (std::size_t i = 0; i < mutations; ++i) mutate(text, random);
      try {
        static_cast<void>(checked_policy(text, "p.yaml"));
        ++accepted;
      } catch (const PolicyError& error) {
        ++refused;
        for (const PolicyFault& fault : error.faults()) {
          if (well_formed(fault, text)) continue;
          CAPTURE(name, round, fault.text(), text);
          FAIL("a fault without a place in the text");
        }
      } catch (...) {
        CAPTURE(name, round, text);
        FAIL("another exception than PolicyError");
      }
    }
    // Comments and values can change without harm; most other changes cannot.
    CAPTURE(name);
    CHECK(accepted > rounds / 60);
    CHECK(refused > rounds / 2);
  }
}

}  // namespace

TEST_CASE(
    "policy: 2000 mutations of each of four policies (seed 1) are accepted or refused by PolicyError, each "
    "fault with its place",
    "[engine][policy][fuzz]") {
  mutate_policies(2000);
}

TEST_CASE("policy: 6000 mutations of each of four policies are accepted or refused likewise",
          "[engine][policy][fuzz][.long]") {
  mutate_policies(6000);
}

TEST_CASE("policy: every prefix of a policy is accepted or refused by PolicyError",
          "[engine][policy][fuzz]") {
  for (const char* name : {"hospital.yaml", "hospital_scopes.yaml"}) {
    const std::string original = shipped(name);
    for (std::size_t length = 0; length < original.size(); ++length) {
      CAPTURE(name, length);
      try {
        static_cast<void>(checked_policy(std::string_view(original).substr(0, length), "p.yaml"));
      } catch (const PolicyError& error) {
        CHECK_FALSE(error.faults().empty());
      }
    }
  }
}
