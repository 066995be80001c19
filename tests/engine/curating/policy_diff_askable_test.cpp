// What several keys of a policy decide together, of each kind one pair: seen from both sides.
#include <algorithm>

#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "replaced_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;

namespace {

const std::string kPolicy =
    "version: 1\n"
    "principals: {alice: {}, bob: {}, carol: {roles: [custodian]}}\n"
    "datasets:\n"
    "  clinic:\n"
    "    source: {csv: visits.csv}\n"
    "    unit: {id: patient, max_rows: 2}\n"
    "    rows: {max: 1000}\n"
    "    neighbours: replace-one\n"
    "    budget: {epsilon: 1}\n"
    "    columns:\n"
    "      age: {type: int, bounds: [0, 110], missing: 0}\n"
    "      cost: {type: decimal, scale: 2, bounds: [-5, 500]}\n"
    "      fee: {type: decimal, scale: 2, bounds: [0, 90000]}\n"
    "      ward: {type: string, values: [A, B, C]}\n"
    "      site: {type: string, values: [north, south]}\n"
    "    limits: [{principal: bob, epsilon: 0.5}]\n"
    "    allow: {statistics: [count, sum, mean, ratio, quantile]}\n"
    "    approvals: {required: 1, by: {roles: [custodian]}, above: {rho: 1/100}}\n"
    "    release: {count: {bound: 5000}}\n";

std::vector<PolicyChange> changes_of(const std::string& before, const std::string& after) {
  return diff(checked_policy(before, "p.yaml"), checked_policy(after, "p.yaml"));
}

/// Direction, place and what came, of each line that is not neutral.
std::string told(const std::vector<PolicyChange>& changes) {
  std::string text;
  for (const PolicyChange& change : changes) {
    if (change.direction == Direction::neutral) continue;
    const std::string place = change.place();
    text += std::string(name(change.direction)) + " " + place.substr(place.find("clinic") + 7) + ": " +
            change.before + " -> " + change.after + "\n";
  }
  return text;
}

struct Case {
  const char* from;
  const char* to;
  const char* forth;
  const char* back;
  const char* base_from = "";
  const char* base_to = "";
};

}  // namespace

TEST_CASE("policy diff: what several keys decide together is said from either side", "[engine][diff]") {
  const Case cases[] = {
      // A limit in rho of one asker makes `auto` the exponential mechanism for all.
      {"{principal: bob, epsilon: 0.5}]",
       "{principal: bob, epsilon: 0.5}, {principal: alice, measure: zcdp, rho: 1}]",
       "tighter limits[1]:  -> {principal: alice, measure: zcdp, rho: 1}\n"
       "looser release.quantile.mechanism: auto (permute_and_flip) -> auto (exponential)\n",
       "looser limits: {principal: alice, measure: zcdp, rho: 1} -> \n"
       "tighter release.quantile.mechanism: auto (exponential) -> auto (permute_and_flip)\n"},
      // Where nothing else counts so, another mechanism is neither more nor less.
      {"{principal: bob, epsilon: 0.5}]",
       "{principal: bob, epsilon: 0.5}, {principal: alice, measure: zcdp, rho: 1}]",
       "tighter limits[1]:  -> {principal: alice, measure: zcdp, rho: 1}\n"
       "incomparable release.quantile.mechanism: auto (permute_and_flip) -> auto (exponential)\n",
       "looser limits: {principal: alice, measure: zcdp, rho: 1} -> \n"
       "incomparable release.quantile.mechanism: auto (exponential) -> auto (permute_and_flip)\n",
       "above: {rho: 1/100}", "above: {epsilon: 0.1}"},
      // Who may ask no quantile sees nothing of it.
      {"{principal: bob, epsilon: 0.5}]",
       "{principal: bob, epsilon: 0.5}, {principal: alice, measure: zcdp, rho: 1}]",
       "tighter limits[1]:  -> {principal: alice, measure: zcdp, rho: 1}\n",
       "looser limits: {principal: alice, measure: zcdp, rho: 1} -> \n", ", ratio, quantile]", ", ratio]"},
      // Bounds of a divisor.
      {"bounds: [-5, 500]", "bounds: [1, 500]",
       "looser columns:  -> [\"ratio:age,cost\", \"ratio:fee,cost\"]\n",
       "tighter columns: [\"ratio:age,cost\", \"ratio:fee,cost\"] -> \n"},
      // Bounds of a column nobody may divide by.
      {"bounds: [-5, 500]", "bounds: [1, 500]", "", "", ", ratio, quantile]", ", quantile]"},
      // Fewer candidates of a quantile.
      {"bounds: [0, 90000]}", "bounds: [0, 90000], step: 1}",
       "looser columns:  -> [\"quantile:fee:0.5\", \"quantiles:fee of 2 at once\", \"quantiles:fee of 4 at "
       "once\", "
       "\"quantiles:fee of 8 at once\", \"quantiles:fee of 16 at once\"] and ",
       "tighter columns: [\"quantile:fee:0.5\","},
      // A bound that closes tables whose cells are added up.
      {"release: {count: {bound: 5000}}", "release: {count: {binding_probability: 1e-3}}",
       "looser columns:  -> [\"count by ward with totals\"]\n",
       "tighter columns: [\"count by ward with totals\"] -> \n"},
      // Cells that are missing can be asked about where no number stands in for them.
      {"[0, 110], missing: 0}", "[0, 110]}", "looser columns:  -> [\"count where age is missing\"]\n",
       "tighter columns: [\"count where age is missing\"] -> \n"},
      // Digits that no cell could have.
      {"scale: 2, bounds: [-5, 5]", "scale: 3, bounds: [-5, 5]",
       "looser columns:  -> [\"count where cost = 0.001\"]\n",
       "tighter columns: [\"count where cost = 0.001\"] -> \n", "bounds: [-5, 500]", "bounds: [-5, 5]"},
      // Without declared values a column can be compared with any text.
      {"type: string, values: [north, south]", "type: string",
       "tighter columns.site.values: [north, south] -> \n"
       "looser columns:  -> [\"count where site = 'a text that is not declared'\"]\n",
       "looser columns.site.values:  -> [north, south]\n"
       "tighter columns: [\"count where site = 'a text that is not declared'\"] -> \n"},
      // One asker's limit that counts delta lets all state the delta of a batch.
      {"{principal: bob, epsilon: 0.5}]",
       "{principal: bob, epsilon: 0.5}, {principal: alice, epsilon: 1, delta: 1e-5}]",
       "tighter limits[1]:  -> {principal: alice, epsilon: 1, delta: 0.00001}\n"
       "looser limits:  -> [\"alice: a batch with a delta\", \"bob: a batch with a delta\", "
       "\"carol: a batch with a delta\"]\n",
       "looser limits: {principal: alice, epsilon: 1, delta: 0.00001} -> \n"
       "tighter limits: [\"alice: a batch with a delta\", \"bob: a batch with a delta\", "
       "\"carol: a batch with a delta\"] -> \n"},
      // A budget that counts delta takes some of every batch that has one.
      {"budget: {epsilon: 1}", "budget: {epsilon: 1, delta: 1e-5}",
       "looser budget.delta:  -> 0.00001\n"
       "tighter limits: [\"alice: a batch whose delta fewer budgets count\", "
       "\"bob: a batch whose delta fewer budgets count\", \"carol: a batch whose delta fewer budgets "
       "count\"] -> \n",
       "tighter budget.delta: 0.00001 -> \n"
       "looser limits:  -> [\"alice: a batch whose delta fewer budgets count\", "
       "\"bob: a batch whose delta fewer budgets count\", \"carol: a batch whose delta fewer budgets "
       "count\"]\n",
       "{principal: bob, epsilon: 0.5}", "{principal: bob, epsilon: 0.5, delta: 1e-5}"},
      // Fewer groups, and a table is small enough.
      {"values: [A, B, C]", "values: [A, B]", "tighter columns.ward.values: C -> \n",
       "looser columns.ward.values[2]:  -> C\n"},
  };
  for (const Case& one : cases) {
    const auto replaced = [](const std::string& text, const std::string& from, const std::string& to) {
      return from.empty() ? text : epsilog::test::replaced(text, from, to);
    };
    const std::string before = replaced(kPolicy, one.base_from, one.base_to);
    const std::string after = replaced(before, one.from, one.to);
    CAPTURE(one.base_to, one.to);
    CHECK(told(changes_of(before, after)).substr(0, std::string(one.forth).size()) == one.forth);
    CHECK(told(changes_of(after, before)).substr(0, std::string(one.back).size()) == one.back);
    CHECK(std::string(one.forth).empty() == told(changes_of(before, after)).empty());
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
