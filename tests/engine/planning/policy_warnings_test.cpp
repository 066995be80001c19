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
  explicit Written(const std::string& budget = "{epsilon: 10}", const std::string& more = "",
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

constexpr const char* kSteep = ": one unit may make an answer more than 20,000 times as likely\n";

}  // namespace

TEST_CASE("policy warnings: none of a policy that gives no reason for one", "[engine][policy][warnings]") {
  CHECK(Written().warnings().empty());
}

TEST_CASE("policy warnings: an epsilon above 10 in whatever limits the dataset",
          "[engine][policy][warnings]") {
  CHECK(Written("{epsilon: 10.5}").warnings() ==
        std::string("9: dataset 'clinic': budget: epsilon 10.5 is above 10") + kSteep);
  CHECK(Written("{epsilon: 1, renew: month}", "    lifetime: {epsilon: 11}\n").warnings() ==
        std::string("13: dataset 'clinic': lifetime: epsilon 11 is above 10") + kSteep);
  CHECK(Written("{epsilon: 9}", "    limits:\n      - {role: research, epsilon: 12}\n").warnings() ==
        std::string("14: dataset 'clinic': limits: epsilon 12 is above 10") + kSteep);
  CHECK(Written("{measure: zcdp, epsilon: 20, delta: 1e-6}").warnings() ==
        std::string("9: dataset 'clinic': budget: epsilon 20 is above 10") + kSteep);
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
