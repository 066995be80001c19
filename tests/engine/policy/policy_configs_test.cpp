// The shipped policies are accepted, and each invalid policy gives exactly its error.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/exact_answer.hpp"
#include "epsilog/engine/policy.hpp"
#include "invalid_policies.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;

namespace {

const std::filesystem::path kConfigs = std::filesystem::path(EPSILOG_SOURCE_DIR) / "configs";

/// The names without extension of the files in `folder` with that extension.
std::set<std::string> names(const std::filesystem::path& folder, const std::string& extension) {
  std::set<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension) result.insert(entry.path().stem().string());
  }
  return result;
}

/// The text of the error of a policy in that file, a line of its own for each fault.
std::string error_text(const std::string& yaml, const std::string& file) {
  try {
    static_cast<void>(checked_policy(yaml, file));
  } catch (const PolicyError& error) {
    return std::string(error.what()) + "\n";
  }
  return "accepted\n";
}

}  // namespace

TEST_CASE("configs: every shipped policy is accepted", "[engine][policy][configs]") {
  const std::set<std::string> shipped = names(kConfigs, ".yaml");
  CHECK(std::set<std::string>{"blocks", "external_values", "hospital", "hospital_scopes", "mechanisms",
                              "minimal", "renewal", "spreadsheet", "zcdp"} == shipped);
  for (const std::string& name : shipped) {
    CAPTURE(name);
    CHECK_FALSE(checked_policy_file((kConfigs / (name + ".yaml")).string()).datasets().empty());
  }
}

TEST_CASE("configs: the hospital is what its comments say", "[engine][policy][configs][exact]") {
  const Policy policy = checked_policy_file((kConfigs / "hospital.yaml").string());
  const Dataset& hospital = policy.dataset("hospital");
  CHECK(hospital.csv->path == "data/hospital_visits.csv");
  CHECK(hospital.unit.id == "patient_id");
  CHECK(hospital.unit.max_rows == 3);
  CHECK(hospital.rows.count == 20'000);
  CHECK(hospital.budget.epsilon.text() == "3");
  CHECK(hospital.per_release->epsilon->text() == "1");
  CHECK(hospital.column("ward")->values.size() == 6);
  CHECK(hospital.column("cost")->bounds->upper == 25'000);
  CHECK(*hospital.column("cost")->missing == 0);
  CHECK_FALSE(hospital.column("age")->missing.has_value());
  CHECK(hospital.settings("count").arithmetic == ArithmeticChoice::exact);
  CHECK(hospital.settings("sum").arithmetic == ArithmeticChoice::mpfr);
}

TEST_CASE("configs: the spreadsheet reads as its comments say", "[engine][policy][configs][exact]") {
  const Policy policy = checked_policy_file((kConfigs / "spreadsheet.yaml").string());
  const DataReport report = check_data(policy.dataset("visits"), kConfigs.string());
  CHECK(report.rows == 9);
  CHECK(report.units == 7);
  CHECK(report.malformed == 0);
  for (const auto& column : report.columns) {
    CAPTURE(column.column);
    CHECK(column.nulls == (column.column == "age" ? 1 : 0));
    CHECK(column.unreadable == 0);
    CHECK(column.out_of_bounds == 0);
    CHECK(column.undeclared == 0);
  }
}

TEST_CASE("configs: the mechanisms are what the comments say", "[engine][policy][configs][exact]") {
  const Policy policy = checked_policy_file((kConfigs / "mechanisms.yaml").string());
  const Dataset& hospital = policy.dataset("hospital");
  CHECK(hospital.budget.measure == Measure::approximate);
  CHECK(hospital.settings("count").mechanism == MechanismChoice::discrete_laplace);
  CHECK(hospital.settings("units").mechanism == MechanismChoice::discrete_gaussian);
  CHECK(hospital.settings("sum").mechanism == MechanismChoice::gaussian);
  CHECK(*hospital.settings("sum").grid == Rational(1, 128));
  CHECK(hospital.settings("mean").mechanism == MechanismChoice::snapping);
}

TEST_CASE("configs: the hospital with several askers is what its comments say",
          "[engine][policy][configs][exact]") {
  const Policy policy = checked_policy_file((kConfigs / "hospital_scopes.yaml").string());
  const Dataset& hospital = policy.dataset("hospital");
  REQUIRE(policy.principals()->size() == 4);
  CHECK(policy.principal("bob")->purposes->size() == 1);
  CHECK(hospital.blocks->per == CalendarPeriod::month);
  CHECK(hospital.blocks->last_day - hospital.blocks->first_day + 1 == 365);
  CHECK(hospital.lifetime->epsilon.text() == "3");
  CHECK(hospital.limits.size() == 4);
  CHECK(hospital.limits[3].budget.rho.text() == "0.5");
  CHECK(hospital.settings("units").mechanism == MechanismChoice::discrete_gaussian);
  for (const Limit& limit : hospital.limits) CHECK(limit.budget.measure != Measure::pure);
  CHECK(hospital.forbid.size() == 2);
  CHECK(hospital.approvals->above->epsilon->text() == "0.25");
  CHECK(hospital.approvals->expires_seconds == 3 * 24 * 3600);
  CHECK(hospital.reservation_seconds == 8 * 3600);
}

TEST_CASE("configs: rho, divergences, renewal and blocks are what the comments say",
          "[engine][policy][configs][exact]") {
  const Policy zcdp = checked_policy_file((kConfigs / "zcdp.yaml").string());
  CHECK(zcdp.dataset("visits").budget.target->epsilon.text() == "3");
  CHECK(zcdp.dataset("survey").budget.rho.text() == "0.125");
  CHECK(zcdp.dataset("cohort").budget.orders.size() == 1);
  CHECK(zcdp.dataset("registry").budget.orders[2].order == 64);
  const Policy renewal = checked_policy_file((kConfigs / "renewal.yaml").string());
  CHECK(renewal.dataset("clinic").renews == CalendarPeriod::month);
  CHECK(renewal.dataset("clinic").lifetime->epsilon.text() == "6");
  CHECK(renewal.dataset("sensors").accepts_unbounded_lifetime);
  const Policy blocks = checked_policy_file((kConfigs / "blocks.yaml").string());
  CHECK(blocks.dataset("hospital").blocks->by == "ward");
  CHECK_FALSE(blocks.dataset("hospital").blocks->per.has_value());
}

TEST_CASE("configs: each invalid policy gives exactly the error beside it",
          "[engine][policy][configs][negative]") {
  CHECK(test::invalid_policies().size() >= 324);
  for (const auto& [name, policy] : test::invalid_policies()) {
    CAPTURE(name);
    CHECK(error_text(policy.yaml, name + ".yaml") == policy.error);
  }
}

TEST_CASE("configs: the kinds of mistake that must be refused are all there",
          "[engine][policy][configs][negative]") {
  for (const char* kind : {"duplicate_key", "unknown_key", "anchor", "alias", "merge_key", "tag", "nan",
                           "infinity", "hex_float", "inverted_bounds", "query_without_bounds", "zero_budget",
                           "bound_too_large_for_precision", "unterminated_quote", "second_document"}) {
    CAPTURE(kind);
    CHECK(test::invalid_policies().contains(kind));
  }
}

TEST_CASE("configs: a table of invalid policies that is malformed is not read",
          "[engine][policy][configs][negative]") {
  const std::string base = "base b\n+version: 1\n+x: 1\n+x: 1\n";
  const auto error_of = [&base](const std::string& cases) {
    test::InvalidPolicyTables tables;
    try {
      tables.read("t", base + cases);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  CHECK(error_of("case c on b\n-version: 1\n+version: 2\n! 1:1: no\n") == "read");
  for (const auto& [cases, fault] : std::map<std::string, std::string>{
           {"version: 1\n", "t:5: a line begins with"},
           {"case\n", "t:5: a line begins with"},
           {"case c of b\n", "t:5: expected 'base NAME'"},
           {"case c on d\n", "t:5: no base d"},
           {"case c on b\n-version: 1\n", "t:6: no fault: c"},
           {"case c\n+a\n!no\n", "t:7: a fault is written"},
           {"base c\n+a\n! 1:1: no\n", "t:7: a fault is written"},
           {"case c\n-a\n! 1:1: no\n", "t:7: a whole text has only added lines: c"},
           {"case c on b\n+a\n! 1:1: no\n", "t:7: a change without a place or an effect: c"},
           {"case c on b\n version: 1\n! 1:1: no\n", "t:7: a change without a place or an effect: c"},
           {"case c on b\n-version: 2\n! 1:1: no\n", "t:7: a change finds no place in its base: c"},
           {"case c on b\n-ersion: 1\n! 1:1: no\n", "t:7: a change finds no place in its base: c"},
           {"case c on b\n-x: 1\n! 1:1: no\n", "t:7: a change finds two places in its base: c"},
           {"case c\n+a\n! 1:1: no\ncase c\n+a\n! 1:1: no\n", "t:10: stands twice: case c"},
           {"base b\n+a\n", "t:6: stands twice: base b"}}) {
    CAPTURE(cases);
    CHECK(error_of(cases).starts_with(fault));
  }
}
