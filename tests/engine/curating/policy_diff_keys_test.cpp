// Every key that a policy may have makes a difference when it is written otherwise. A key added to the
// tables of the decoder is a failure here until it has a row of its own.
#include "epsilog/engine/policy_diff.hpp"
#include "policy_key_changes.hpp"
#include "policy_keys.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

TEST_CASE("policy diff: every key of the decoder's tables makes a difference, seen from either side",
          "[engine][diff]") {
  std::set<std::string> known;
  for (const KeyTable* table : keys::tables()) {
    for (const Key& key : table->keys) {
      const std::string place = std::string(table->definition) + "." + std::string(key.name);
      known.insert(place);
      if (kAlwaysTheSame.contains(place)) continue;
      CAPTURE(place);
      const auto found = key_changes().find(place);
      if (found == key_changes().end()) {
        FAIL_CHECK("no row of this table says how the key may change, and so whether diff sees it");
        continue;
      }
      const auto [before, after] = before_and_after(found->second);
      CHECK_FALSE(diff(parsed(before), parsed(after)).empty());
      CHECK_FALSE(diff(parsed(after), parsed(before)).empty());
      CHECK(diff(parsed(after), parsed(after)).empty());
    }
  }
  for (const auto& [place, change] : key_changes()) {
    CAPTURE(place);
    CHECK(known.contains(place));
  }
}
