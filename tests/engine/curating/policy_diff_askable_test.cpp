// What several keys of a policy decide together, of each kind one pair: seen from both sides.
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "file_text.hpp"
#include "replaced_text.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::string kPolicy = file_text(EPSILOG_SOURCE_DIR "/tests/engine/curating/policy_diff_askable.yaml");

std::vector<PolicyChange> changes_of(const std::string& before, const std::string& after) {
  return diff(checked_policy(before, "p.yaml"), checked_policy(after, "p.yaml"));
}

/// Direction, place and what came, of each line that is not neutral.
std::string told(const std::vector<PolicyChange>& changes) {
  std::string text;
  for (const PolicyChange& change : changes) {
    if (change.direction == Direction::neutral) continue;
    const std::string place = change.path_text();
    text += std::string(name(change.direction)) + " " + place.substr(place.find("clinic") + 7) + ": " +
            change.before + " -> " + change.after + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("policy diff: what several keys decide together is said from either side", "[engine][diff]") {
  for (const CaseRow& one : case_table(EPSILOG_SOURCE_DIR "/tests/engine/curating/policy_diff_askable.tsv")) {
    const std::string before = one.size() > 4 ? replaced(kPolicy, one[4], one.at(5)) : kPolicy;
    const std::string after = replaced(before, one.at(0), one.at(1));
    CAPTURE(one);
    CHECK(told(changes_of(before, after)).starts_with(one.at(2)));
    CHECK(told(changes_of(after, before)).starts_with(one.at(3)));
    CHECK(one[2].empty() == told(changes_of(before, after)).empty());
    CHECK(changes_of(after, after).empty());
  }
}

TEST_CASE("policy diff: fewer values can open a table, and more close it", "[engine][diff]") {
  const auto policy = [](int places) {
    std::string values;
    for (int i = 0; i < places; ++i) values += (i == 0 ? "p" : ", p") + std::to_string(i);
    const std::string unbound = epsilog::test::replaced(kPolicy, "    release: {count: {bound: 5000}}\n", "");
    return epsilog::test::replaced(unbound, "values: [north, south]", "values: [" + values + "]");
  };
  // 3 × 3,333 cells are as many as a table may have.
  CHECK(told(changes_of(policy(3'334), policy(3'333))) ==
        "tighter columns.site.values: p3333 -> \nlooser columns:  -> [\"count by ward,site\", "
        "\"quantile:age:0.5 by ward,site\"]\n");
  CHECK(told(changes_of(policy(3'333), policy(3'334))) ==
        "looser columns.site.values[3333]:  -> p3333\ntighter columns: [\"count by ward,site\", "
        "\"quantile:age:0.5 by ward,site\"] -> \n");
}
