#include "epsilog/engine/policy_warnings.hpp"
#include "epsilog/engine/checked_policy.hpp"

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

/// A policy beside its source, that warns of nothing; `more` is put below the dataset's keys.
class Written {
 public:
  explicit Written(const std::string& budget = "{epsilon: 1}", const std::string& more = "",
                   const std::string& release = "default: {mechanism: discrete_laplace}") {
    folder.write("visits.csv", "id,cost\n");
    folder.write("policy.yaml",
                 "version: 1\n"
                 "principals: {alice: {roles: [research]}}\n"
                 "datasets:\n"
                 "  clinic:\n"
                 "    source: {csv: visits.csv}\n"
                 "    unit: {id: id, max_rows: 3}\n"
                 "    rows: {max: 100}\n"
                 "    neighbours: add-remove\n"
                 "    budget: " +
                     budget +
                     "\n"
                     "    columns: {cost: {type: decimal, scale: 2, bounds: [0, 5]}}\n"
                     "    queries: {score: {bounds: [0, 10], sensitivity: 1}}\n"
                     "    release: {" +
                     release + "}\n" + more);
  }
  /// "LINE: MESSAGE\n" of each.
  [[nodiscard]] std::string warnings() const {
    std::string text;
    for (const PolicyFault& warning :
         policy_warnings(checked_policy_file(folder.path("policy.yaml")), folder.path("policy.yaml"))) {
      CHECK(warning.file == folder.path("policy.yaml"));
      text += std::to_string(warning.line) + ": " + warning.message + "\n";
    }
    return text;
  }

  TemporaryFolder folder;
};

std::string steep(const std::string& epsilon, const std::string& times) {
  return ": with epsilon " + epsilon + " one unit may make an answer more than " + times +
         " times as likely; few call that a promise (docs/choosing.md)\n";
}

}  // namespace

TEST_CASE("policy warnings: none of a policy that gives no reason for one", "[engine][policy][warnings]") {
  CHECK(Written().warnings().empty());
}

TEST_CASE("policy warnings: an epsilon of 3 or more in whatever limits the dataset, with its factor",
          "[engine][policy][warnings]") {
  const std::string of_budget = "9: dataset 'clinic': budget";
  CHECK(Written("{epsilon: 2.999999999999}").warnings().empty());
  // By an independent program: e^3 = 20.0855…, e^10.5 = 36315.5…, e^24 = 26489122129.8…, e^29.9 = 9669…·10^9.
  for (const auto& [epsilon, times] :
       std::vector<std::pair<std::string, std::string>>{{"3", "20"},
                                                        {"10.5", "36,000"},
                                                        {"24", "26,000,000,000"},
                                                        {"29.9", "9,600,000,000,000"},
                                                        {"30", "a million million"},
                                                        {"100", "a million million"}}) {
    CHECK(Written("{epsilon: " + epsilon + "}").warnings() == of_budget + steep(epsilon, times));
  }
  CHECK(Written("{epsilon: 1, renew: month}", "    lifetime: {epsilon: 11}\n").warnings() ==
        "13: dataset 'clinic': lifetime" + steep("11", "59,000"));
  CHECK(Written("{epsilon: 2}", "    limits:\n      - {role: research, epsilon: 12}\n").warnings() ==
        "14: dataset 'clinic': limits" + steep("12", "160,000"));
  CHECK(Written("{measure: zcdp, epsilon: 20, delta: 1e-6}").warnings() ==
        of_budget + steep("20", "480,000,000"));
}

TEST_CASE("policy warnings: a bound that cuts into what the policy declares", "[engine][policy][warnings]") {
  const auto of = [](const std::string& release) {
    return Written("{epsilon: 1}", "", "default: {mechanism: discrete_laplace}, " + release).warnings();
  };
  CHECK(of("sum: {mechanism: snapping, bound: 249}") ==
        "12: dataset 'clinic': release.sum: a bound of 249 is less than half of the range that the policy "
        "declares for sum:cost, [0, 500]: answers farther than that from its middle are cut off\n");
  CHECK(of("sum: {mechanism: snapping, bound: 250}").empty());
  CHECK(of("score: {mechanism: snapping, bound: 9/2}") ==
        "12: dataset 'clinic': release.score: a bound of 4.5 is less than half of the range that the policy "
        "declares for value:score, [0, 10]: answers farther than that from its middle are cut off\n");
  // Nothing of the parts of a mean, and nothing that may not be asked.
  CHECK(of("mean: {mechanism: snapping, bound: 1/100}").empty());
  CHECK(Written("{epsilon: 1}", "    allow: {statistics: [count]}\n",
                "default: {mechanism: discrete_laplace}, sum: {mechanism: snapping, bound: 1}")
            .warnings()
            .empty());
}

TEST_CASE("policy warnings: counts that are snapped, unless they cannot be asked",
          "[engine][policy][warnings]") {
  const std::string advice =
      "12: dataset 'clinic': counts are whole numbers, and `release: {count: {mechanism: discrete_laplace}, "
      "units: {mechanism: discrete_laplace}}` errs less than snapping for the same epsilon\n";
  CHECK(Written("{epsilon: 1}", "", "sum: {precision: 256}").warnings() == advice);
  CHECK(
      Written("{epsilon: 1}", "", "count: {mechanism: discrete_laplace}").warnings() ==
      "12: dataset 'clinic': counts are whole numbers, and `release: {units: {mechanism: discrete_laplace}}` "
      "errs less than snapping for the same epsilon\n");
  CHECK(Written("{epsilon: 1}", "    allow: {statistics: [sum, mean]}\n", "sum: {precision: 256}")
            .warnings()
            .empty());
}

TEST_CASE("policy warnings: a source that is not where the policy looks for it",
          "[engine][policy][warnings]") {
  Written written;
  std::filesystem::remove(written.folder.path("visits.csv"));
  CHECK(written.warnings() ==
        "5: dataset 'clinic': there is no source 'visits.csv', seen from the policy's directory\n");
}
