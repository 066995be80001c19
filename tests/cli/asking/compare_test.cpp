// plan --compare: held to what plan says under a policy that names each mechanism, and to formulas of its
// own.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string clinic_with(const std::string& budget, const std::string& more = "") {
  return epsilog::test::replaced(kClinicPolicy, "    budget: {epsilon: 1}\n",
                                 "    budget: {" + budget + "}\n") +
         more;
}

json compared(const Workbench& bench, const Words& question, int exit = 0) {
  const Result result = bench.with_ledger(Words{"plan", "clinic"} + question + Words{"--compare", "--json"});
  CAPTURE(question, result.err, result.out);
  REQUIRE(result.exit == exit);
  CHECK(result.err.empty());
  return result.json();
}

const json& row_of(const json& comparison, const std::string& mechanism, const std::string& arithmetic) {
  for (const json& row : comparison.at("mechanisms")) {
    if (row.at("mechanism") == mechanism && row.at("arithmetic") == arithmetic) return row;
  }
  FAIL("no row of " << mechanism << ", " << arithmetic);
  return comparison;
}

/// "snapping mpfr"; "" where nothing is marked.
std::string least_of(const json& comparison) {
  std::string marked;
  for (const json& row : comparison.at("mechanisms")) {
    if (row.at("least") != true) continue;
    CHECK(marked.empty());
    marked = row.at("mechanism").get<std::string>() + " " + row.at("arithmetic").get<std::string>();
  }
  return marked;
}

/// What plan tells of a component that a comparison tells, too.
json accuracies_of(const json& plan) {
  json list = json::array();
  for (const json& one : plan.at("components")) {
    list.push_back({{"statistic", one.at("statistic")},
                    {"scale", one.at("scale")},
                    {"grid", one.at("grid")},
                    {"accuracy", one.at("accuracy")}});
  }
  return list;
}

/// Least a, whole, with P(|X| > a) <= alpha for P(x) proportional to e^(-|x|/scale).
int discrete_laplace_accuracy(double scale, double alpha) {
  const double q = std::exp(-1 / scale);
  int a = 0;
  while (2 * std::pow(q, a + 1) / (1 + q) > alpha) ++a;
  return a;
}

}  // namespace

TEST_CASE("compare: each row is what plan says under a policy that names that mechanism", "[cli][compare]") {
  struct Asked {
    std::string policy;
    std::string entry;  ///< under release
    Words question;
    Words delta;
  };
  const std::string both = "epsilon: 1, delta: 1e-6";
  const Words delta = {"--delta", "1e-7"};
  const std::string rdp = "measure: rdp, orders: {2: 5, 8: 5}";
  const std::vector<Asked> questions = {
      {clinic_with(both), "count", {"count", "--epsilon", "0.3"}, delta},
      {clinic_with(both), "mean", {"mean:cost", "--by", "ward", "--epsilon", "0.5", "--alpha", "0.1"}, delta},
      {clinic_with(rdp), "sum", {"sum:age", "--where", "ward = 'A'", "--epsilon", "0.25"}, delta},
      {clinic_with(both),
       "auc",
       {"value:auc", "--epsilon", "0.3", "--alpha", "0.5", "--alpha", "0.01"},
       delta},
      {clinic_with("epsilon: 1"), "count", {"count", "--epsilon", "0.3"}, {}},
  };
  for (const Asked& asked : questions) {
    const Workbench bench(asked.policy);
    const json comparison = compared(bench, asked.question + asked.delta);
    REQUIRE(comparison.at("mechanisms").size() == 5);
    for (const json& row : comparison.at("mechanisms")) {
      const std::string mechanism = row.at("mechanism");
      const bool snapping = mechanism == "snapping";
      const bool pure = snapping || mechanism == "discrete_laplace";
      const Workbench alone(asked.policy + "    release: {" + asked.entry + ": {mechanism: " + mechanism +
                            (snapping ? ", arithmetic: " + row.at("arithmetic").get<std::string>() : "") +
                            "}}\n");
      const Words words = Words{"plan", "clinic"} + asked.question + (pure ? Words{} : asked.delta);
      const Result result = alone.with_ledger(words + Words{"--json"});
      const json plan = result.json();
      CAPTURE(words, row.dump(2), plan.dump(2));
      CHECK(row.at("declared") == (snapping && row.at("arithmetic") == "mpfr"));
      if (result.exit == 2) {  // a Gaussian mechanism without its delta
        CHECK(row.at("why") == plan.at("error").at("message"));
        CHECK(row.at("decision").is_null());
        for (const char* none : {"within", "accuracy", "scale", "grid", "components"}) {
          CHECK(row.at(none).is_null());
        }
        CHECK(row.at("loss").at("epsilon").is_null());
        continue;
      }
      CHECK(row.at("decision") == plan.at("decision"));
      CHECK(row.at("why").is_null() == (result.exit == 0));
      CHECK(row.at("arithmetic") == plan.at("arithmetic"));
      for (const char* same : {"accuracy", "scale", "grid", "precision"})
        CHECK(row.at(same) == plan.at(same));
      CHECK(row.at("components") == accuracies_of(plan));
      CHECK(row.at("within") == (plan.at("accuracy").empty() ? json() : plan.at("accuracy")[0].at("within")));
      CHECK(row.at("loss").at("epsilon") == plan.at("epsilon").at("charged"));
      CHECK(row.at("loss").at("adjusted") == plan.at("epsilon").at("adjusted"));
      CHECK(row.at("loss").at("delta") == (pure ? json("0") : plan.at("delta").at("charged")));
      // What the accounts would be debited is told by a forecast, which plans by another way.
      const json forecast = alone
                                .with_ledger(Words{"forecast", "clinic"} + asked.question +
                                             (pure ? Words{} : asked.delta) + Words{"--json"})
                                .json();
      for (const json& account : forecast.at("accounts")) {
        const std::string measure = account.at("measure");
        json told = row.at("loss").value(measure, json());
        for (const json& one : row.at("loss").at("rdp")) {
          if ("rdp(" + one.at("order").get<std::string>() + ")" == measure) told = one.at("divergence");
        }
        CHECK(told == account.at("charge"));
      }
    }
  }
}

TEST_CASE("compare: figures are those of formulas, and the least accuracy is marked", "[cli][compare]") {
  const Workbench bench(clinic_with("epsilon: 1, delta: 1e-6"));
  const std::string before = dump(bench.path("L"));
  const json comparison = compared(bench, {"count", "--epsilon", "0.1", "--delta", "1e-7"});
  check_members(comparison, R"({"epsilon": "0.1", "delta": "0.0000001", "rho": null})");
  // Two rows a patient: noise of scale 2/0.1, on whole numbers.
  const json laplace = row_of(comparison, "discrete_laplace", "exact");
  CHECK(laplace.at("scale") == "20");
  CHECK(laplace.at("within") == std::to_string(discrete_laplace_accuracy(20, 0.05)));
  CHECK(laplace.at("loss") == json::parse(R"({"epsilon": "0.1", "delta": "0", "rho": "0.005", "rdp": [],
                                              "adjusted": "0.1"})"));
  CHECK(least_of(comparison) == "discrete_laplace exact");
  for (const json& row : comparison.at("mechanisms")) {
    CAPTURE(row.dump());
    CHECK(std::stod(row.at("within").get<std::string>()) >=
          std::stod(laplace.at("within").get<std::string>()));
    CHECK(row.at("alpha") == "0.05");
  }
  // Of rho, s^2 = D^2/(2 rho), to the last digits of a scale that is rounded up.
  const json gaussian = row_of(comparison, "discrete_gaussian", "exact");
  const double scale = std::stod(gaussian.at("scale").get<std::string>());
  const double rho = std::stod(gaussian.at("loss").at("rho").get<std::string>());
  CHECK(std::abs(rho * scale * scale / 2 - 1) < 1e-9);

  const Result text =
      bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1", "--delta", "1e-7", "--compare"});
  CAPTURE(text.out);
  CHECK(text.exit == 0);
  check_parts(text.out, {"count of clinic: every mechanism at epsilon 0.1, delta 0.0000001\n", "within, 95 %",
                         "  least\n", "  the policy's\n"});
  CHECK(bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1", "--compare", "--quiet"}).out ==
        "discrete_laplace\texact\n");
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("compare: the first alpha decides, and every part of an answer", "[cli][compare]") {
  const Workbench bench(clinic_with("epsilon: 2, delta: 1e-3"));
  // Far out the tails of a Gaussian are the lighter ones.
  const Words question = {"units", "--epsilon", "0.2", "--delta", "1e-3"};
  const std::string near = least_of(compared(bench, question + Words{"--alpha", "0.5", "--alpha", "1e-30"}));
  const std::string far = least_of(compared(bench, question + Words{"--alpha", "1e-30", "--alpha", "0.5"}));
  CHECK(near == "discrete_laplace exact");
  CHECK(contains(far, "gaussian"));
  // A mean over a private number of rows has two parts.
  const json mean = compared(bench, {"mean:cost", "--epsilon", "1"});
  std::string dominating;
  for (const json& row : mean.at("mechanisms")) {
    if (row.at("components").is_null()) continue;
    CHECK(row.at("within").is_null());
    REQUIRE(row.at("components").size() == 2);
    bool least = true;
    for (const json& other : mean.at("mechanisms")) {
      for (std::size_t part = 0; part < 2 && !other.at("components").is_null(); ++part) {
        const auto a = [part](const json& of) {
          return std::stold(of.at("components")[part].at("accuracy")[0].at("within").get<std::string>());
        };
        least = least && a(row) <= a(other);
      }
    }
    CHECK((row.at("least") != true || least));
    if (least) dominating += row.at("mechanism").get<std::string>() + " ";
  }
  CHECK(dominating.empty() == least_of(mean).empty());
}

TEST_CASE("compare: of a proportion the accuracies are those of its counts, and of nothing else",
          "[cli][compare]") {
  const Workbench bench(
      replaced(kClinicPolicy, "    columns:", "    allow: {statistics: [proportion]}\n    columns:"));
  const Words question = {"proportion:ward:A", "--epsilon", "0.5"};
  const json row = row_of(compared(bench, question), "discrete_laplace", "exact");
  CHECK(row.at("within").is_null());
  CHECK(row.at("accuracy").empty());
  CHECK(row.at("components").at(0).at("accuracy").size() == 1);
  const Result text = bench.with_ledger(Words{"plan", "clinic"} + question + Words{"--compare"});
  CHECK(contains(text.out, "within so much of its parts: counts of rows with the value and of other rows\n"));
  CHECK_FALSE(contains(text.out, "of the exact answer"));
}

TEST_CASE("compare: of equal accuracies the smaller loss is marked", "[cli][compare]") {
  const Workbench bench(clinic_with("epsilon: 60, delta: 1e-3"));
  // With this much epsilon no noise on whole numbers is ever seen.
  const json comparison = compared(bench, {"count", "--epsilon", "50", "--delta", "1e-3"});
  const auto number = [](const std::string& text) {
    const std::size_t slash = text.find('/');
    return slash == std::string::npos
               ? std::stold(text)
               : std::stold(text.substr(0, slash)) / std::stold(text.substr(slash + 1));
  };
  using Loss = std::array<long double, 3>;
  std::string smallest;
  Loss least{};
  std::size_t ties = 0;
  for (const json& row : comparison.at("mechanisms")) {
    if (row.at("within") != "0") continue;
    ++ties;
    const json& loss = row.at("loss");
    CHECK(loss.at("epsilon") == "50");
    const Loss found = {number(loss.at("delta")), number(loss.at("rho")), number(loss.at("adjusted"))};
    if (smallest.empty() || found < least) {
      least = found;
      smallest = row.at("mechanism").get<std::string>() + " " + row.at("arithmetic").get<std::string>();
    }
  }
  CHECK(ties >= 4);
  CHECK(row_of(comparison, "discrete_gaussian", "exact").at("within") == "0");
  CHECK(least_of(comparison) == smallest);
  CHECK_FALSE(contains(smallest, "gaussian"));
}

TEST_CASE(
    "compare: quantiles are compared by ranks, and cost a quarter under rho by the exponential mechanism",
    "[cli][compare][quantile]") {
  for (const std::string budget : {"epsilon: 1", "measure: zcdp, rho: 0.5"}) {
    const Workbench bench;
    const std::string policy =
        replaced(clinic_with(budget), "    columns:", "    allow: {statistics: [quantile]}\n    columns:");
    bench.init(policy);
    const Words question = {"quantiles:age:0.25,0.5,0.75", "--epsilon", "0.4", "--alpha", "0.05"};
    const json comparison = compared(bench, question);
    REQUIRE(comparison.at("mechanisms").size() == 2);
    const json flip = row_of(comparison, "permute_and_flip", "exact");
    const json exponential = row_of(comparison, "exponential", "exact");
    CHECK(flip.at("declared") == (budget == "epsilon: 1"));
    CHECK(exponential.at("declared") != flip.at("declared"));
    CHECK(least_of(comparison) == "permute_and_flip exact");
    if (budget == "epsilon: 1") {
      CHECK(flip.at("loss").at("rho") == "0.08");
    }
    for (const json& row : {flip, exponential}) {
      const Workbench alone(
          policy + "    release: {quantile: {mechanism: " + row.at("mechanism").get<std::string>() + "}}\n");
      const json plan = alone.with_ledger(Words{"plan", "clinic"} + question + Words{"--json"}).json();
      CHECK(row.at("rank_accuracy") == plan.at("rank_accuracy"));
      CHECK(row.at("rank_accuracy").size() == 3);
      CHECK(row.at("loss").at("epsilon") == plan.at("epsilon").at("charged"));
      const json account = alone.with_ledger(Words{"forecast", "clinic"} + question + Words{"--json"})
                               .json()
                               .at("accounts")
                               .at(0);
      CHECK(row.at("loss").at(account.at("measure").get<std::string>()) == account.at("charge"));
    }
  }
}

TEST_CASE("compare: says in one line why a mechanism cannot be taken, and ends as the best of them would",
          "[cli][compare][negative]") {
  const Workbench bench(kClinicPolicy);
  const Words asked = {"count", "--epsilon", "0.5", "--delta", "1e-6"};
  const json comparison = compared(bench, asked);
  const json gaussian = row_of(comparison, "gaussian", "exact");
  CHECK(gaussian.at("decision") == "refused");
  CHECK(contains(gaussian.at("why").get<std::string>(), "cannot express: its measure is pure"));
  CHECK(gaussian.at("least") == false);
  const Result text = bench.with_ledger(Words{"plan", "clinic"} + asked + Words{"--compare"});
  CAPTURE(text.out);
  CHECK(contains(text.out, "\n  gaussian: gaussian loses (epsilon, delta), which the budget of"));
  // Of rho alone: what loses epsilon says so.
  const json rho = compared(bench, {"count", "--rho", "0.01"}, 4);
  CHECK(contains(row_of(rho, "snapping", "mpfr").at("why").get<std::string>(), "give --epsilon"));
  CHECK(rho.at("epsilon").is_null());
  CHECK(least_of(rho).empty());
  // More than is left: every one is refused, and none is marked.
  const json refused = compared(bench, {"count", "--epsilon", "1.5"}, 4);
  CHECK(least_of(refused).empty());
  CHECK(contains(row_of(refused, "snapping", "exact").at("why").get<std::string>(), "over by 0.5"));
  CHECK(row_of(refused, "snapping", "exact").at("within").is_string());
  CHECK(row_of(refused, "snapping", "exact").at("loss").at("epsilon") == "1.5");
  CHECK(
      bench.with_ledger({"plan", "clinic", "count", "--epsilon", "1.5", "--compare", "--quiet"}).out.empty());

  const Workbench waiting(std::string(kClinicPolicy) +
                          "    approvals: {required: 1, by: {principals: [carol]}}\n" +
                          "principals: {carol: {}, alice: {}}\n");
  const json pending = compared(waiting, {"count", "--epsilon", "0.1", "--as", "alice"}, 5);
  CHECK(row_of(pending, "discrete_laplace", "exact").at("decision") == "pending");
  CHECK(least_of(pending) == "discrete_laplace exact");
}

TEST_CASE("compare: what does not go with it ends with 2 or 3 and one line", "[cli][compare][negative]") {
  const Workbench bench(kClinicPolicy);
  const auto check = [&](const Words& words, int exit, const std::string& part) {
    const Result result = bench.with_ledger(Words{"plan"} + words + Words{"--compare"});
    CAPTURE(words, result.err);
    CHECK(result.exit == exit);
    CHECK(result.out.empty());
    CHECK(lines(result.err) == 1);
    CHECK(contains(result.err, part));
  };
  const Words count = {"clinic", "count", "--epsilon", "0.1"};
  check(count + Words{"--count", "3"}, 2, "--count: not with --compare");
  check({"--batch", "-"}, 2, "--compare: not with --batch");
  check({"clinic", "count"}, 2, "--epsilon is required");
  check({"clinic", "sum:aeg", "--epsilon", "0.1"}, 3, "age");
  check({"nowhere", "count", "--epsilon", "0.1"}, 3, "nowhere");
  check(Words{"clinic", "count", "--epsilon", "0.1", "--where", "age > 5 and age < 3"}, 2,
        "no row satisfies");
}
