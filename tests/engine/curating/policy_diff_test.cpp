// What a change of the policy means for the people in the data: looser, tighter, or neither.
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/engine/checked_policy.hpp"

#include "policy_key_changes.hpp"
#include "policy_text.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using epsilog::accounting::ApproximateLoss;
using namespace epsilog::test;

namespace {

using Texts = std::vector<std::string>;

Budget pure(const char* epsilon) {
  Budget budget;
  budget.epsilon = Epsilon::parse_down(epsilon);
  return budget;
}
Budget approximate(const char* epsilon, const char* delta) {
  Budget budget = pure(epsilon);
  budget.delta = Delta::parse_down(delta);
  budget.measure = Measure::approximate;
  return budget;
}
Budget zcdp(const char* rho) {
  Budget budget;
  budget.measure = Measure::zcdp;
  budget.rho = Rho::parse_down(rho);
  return budget;
}
Budget rdp(std::vector<RenyiLimit> orders) {
  Budget budget;
  budget.measure = Measure::rdp;
  budget.orders = std::move(orders);
  return budget;
}
Limit limit(Limit::Subject subject, const std::string& name, Budget budget) {
  Limit result;
  result.subject = subject;
  result.name = name;
  result.budget = std::move(budget);
  return result;
}

/// A dataset in which every optional part is there, so that every field can be changed by itself.
Dataset full() {
  Dataset dataset;
  dataset.name = "clinic";
  dataset.csv = CsvSource{"visits.csv", ';', '.', {"NA"}, false};
  dataset.unit = {"patient_id", 3};
  dataset.rows = {1000, false};
  dataset.budget = approximate("3", "1e-6");
  dataset.lifetime = zcdp("0.5");
  Blocks blocks;
  blocks.by = "visit_date";
  blocks.per = CalendarPeriod::month;
  blocks.first_day = 0;   // 1970-01
  blocks.last_day = 364;  // 1970-12
  dataset.blocks = blocks;
  dataset.limits = {
      limit(Limit::Subject::principal, "", pure("1")), limit(Limit::Subject::role, "research", zcdp("0.25")),
      limit(Limit::Subject::purpose, "planning",
            rdp({{Rational(2), Epsilon::parse_down("0.5")}, {Rational(8), Epsilon::parse_down("1")}}))};
  dataset.purposes = Texts{"planning", "quality"};
  Forbid forbid;
  forbid.principals = Texts{"bob", "eve"};
  forbid.roles = Texts{"trainee"};
  forbid.purposes = Texts{"planning"};
  forbid.statistics = std::vector{StatisticKind::sum};
  forbid.columns = Texts{"cost"};
  forbid.by = Texts{"ward"};
  forbid.where = Texts{"age"};
  dataset.forbid = {forbid};
  Approvals approvals;
  approvals.required = 2;
  approvals.principals = {"carol"};
  approvals.roles = {"custodian"};
  approvals.above = LossCap{.epsilon = Epsilon::parse_down("0.5")};
  dataset.approvals = approvals;
  dataset.per_release = LossCap{.epsilon = Epsilon::parse_down("1")};
  Column age, cost, ward;
  age.name = "age";
  age.type = ColumnType::integer;
  age.bounds = Bounds{0, 110};
  age.missing = Rational(0);
  cost.name = "cost";
  cost.type = ColumnType::decimal;
  cost.scale = 2;
  cost.bounds = Bounds{0, 5000};
  ward.name = "ward";
  ward.values = {"A", "B"};
  dataset.columns = {age, cost, ward};
  NamedQuery auc;
  auc.name = "auc";
  auc.bounds = {0, 1};
  auc.sensitivity = Rational(1, 100);
  auc.undefined = Rational(1, 2);
  dataset.queries = {auc};
  dataset.allow.statistics = std::vector{StatisticKind::count, StatisticKind::sum};
  dataset.allow.columns = Texts{"age"};
  dataset.allow.by = Texts{"ward"};
  dataset.allow.where = Texts{"age", "ward"};
  dataset.allow.principals = Texts{"alice"};
  dataset.allow.roles = Texts{"research"};
  ReleaseSettings fallback;
  fallback.bound = Rational(100);
  ReleaseSettings sum;
  sum.mechanism = MechanismChoice::discrete_laplace;
  sum.grid = Rational(1);
  dataset.release = {{"default", fallback}, {"sum", sum}};
  return dataset;
}

Direction reversed(Direction direction) {
  if (direction == Direction::looser) return Direction::tighter;
  return direction == Direction::tighter ? Direction::looser : direction;
}

Epsilon epsilon(const char* text) {
  return Epsilon::parse_down(text);
}

std::string shown(const std::vector<PolicyChange>& changes) {
  std::string text;
  for (const PolicyChange& change : changes) {
    text += std::string(name(change.direction)) + ": " + change.path_text() + ": " + change.before + " -> " +
            change.after + ": " + change.why + "\n";
  }
  return text;
}

Policy parsed(const PolicyText& text) {
  return checked_policy(text.yaml(), "p.yaml");
}

/// The one change between two datasets.
PolicyChange only(const Dataset& before, const Dataset& after) {
  const std::vector<PolicyChange> changes = diff(before, after);
  INFO(shown(changes));
  REQUIRE(changes.size() == 1);
  return changes[0];
}

Principal person(const std::string& name, Texts roles) {
  Principal principal;
  principal.name = name;
  principal.roles = std::move(roles);
  return principal;
}

}  // namespace

TEST_CASE("policy diff: a policy and itself differ in nothing", "[engine][diff]") {
  CHECK(diff(full(), full()).empty());
  CHECK(diff(parsed(PolicyText{}), parsed(PolicyText{})).empty());
}

TEST_CASE("policy diff: every field of a dataset that is changed is one difference, with its direction",
          "[engine][diff]") {
  for (CaseRow row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/curating/policy_diff_edits.tsv")) {
    CAPTURE(row);
    row.resize(6);
    const auto texts = before_and_after({row[2], row[3], row[4], row[5]});
    const Policy before = parsed(texts.before);
    const Policy after = parsed(texts.after);
    const auto only_change = [&](const Policy& from, const Policy& to) {
      // Which questions it opens or closes is said beside it, and another test's.
      std::vector<PolicyChange> changes = diff(from.dataset("clinic"), to.dataset("clinic"));
      std::erase_if(changes, [&](const PolicyChange& one) {
        return one.path_text() == "datasets.clinic.columns" && row[0] != "columns";
      });
      INFO(shown(changes));
      REQUIRE(changes.size() == 1);
      return changes[0];
    };
    const PolicyChange change = only_change(before, after);
    CHECK(change.path_text() == "datasets.clinic." + row[0]);
    CHECK(name(change.direction) == row[1]);
    CHECK(change.before != change.after);
    CHECK_FALSE(change.why.empty());
    const PolicyChange back = only_change(after, before);
    CHECK(name(back.direction) == name(reversed(change.direction)));
    CHECK(back.before == change.after);
    CHECK(back.after == change.before);
  }
}

TEST_CASE("policy diff: a budget of a block is not compared with one of the dataset", "[engine][diff]") {
  const Dataset before = full();
  Dataset after = full();
  after.blocks.reset();
  after.budget = approximate("9", "1e-6");
  std::vector<PolicyChange> changes = diff(before, after);
  INFO(shown(changes));
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].path_text() == "datasets.clinic.budget");
  CHECK(name(changes[0].direction) == "incomparable");

  Dataset renewed = full();
  renewed.renews = CalendarPeriod::month;
  renewed.budget = approximate("1", "1e-6");
  changes = diff(before, renewed);
  REQUIRE(changes.size() == 2);
  CHECK(name(changes[0].direction) == "incomparable");
  CHECK(name(changes[1].direction) == "looser");
}

TEST_CASE("policy diff: a budget renews sooner only when its periods lie within the former ones",
          "[engine][diff]") {
  const auto between = [](CalendarPeriod from, CalendarPeriod to) {
    Dataset before = full(), after = full();
    before.renews = from;
    after.renews = to;
    return std::string(name(only(before, after).direction));
  };
  CHECK(between(CalendarPeriod::month, CalendarPeriod::day) == "looser");
  CHECK(between(CalendarPeriod::week, CalendarPeriod::day) == "looser");
  CHECK(between(CalendarPeriod::year, CalendarPeriod::quarter) == "looser");
  CHECK(between(CalendarPeriod::month, CalendarPeriod::quarter) == "tighter");
  // A week that ends one month and begins the next gets one budget where the months give two.
  CHECK(between(CalendarPeriod::month, CalendarPeriod::week) == "incomparable");
  CHECK(between(CalendarPeriod::week, CalendarPeriod::year) == "incomparable");
}

TEST_CASE("policy diff: a limit by name is compared with the one that each had", "[engine][diff]") {
  const Dataset before = full();
  const auto with = [](const char* amount) {
    Dataset after = full();
    after.limits.push_back(limit(Limit::Subject::principal, "alice", pure(amount)));
    return after;
  };
  CHECK(name(only(before, with("2")).direction) == "looser");
  CHECK(name(only(before, with("0.5")).direction) == "tighter");
  CHECK(name(only(before, with("1")).direction) == "neutral");
  CHECK(name(only(with("2"), before).direction) == "tighter");
  CHECK(name(only(with("0.5"), before).direction) == "looser");
}

TEST_CASE("policy diff: a limit by name in another measure takes away the one that each had",
          "[engine][diff]") {
  const Dataset before = full();
  Dataset after = full();
  after.limits.push_back(limit(Limit::Subject::principal, "alice", zcdp("0.1")));
  CHECK(name(only(before, after).direction) == "incomparable");
  after.limits.push_back(limit(Limit::Subject::principal, "alice", pure("1")));
  CHECK(name(only(before, after).direction) == "tighter");  // that of each still, and one more
  CHECK(name(only(after, before).direction) == "looser");
}

TEST_CASE("policy diff: a lifetime that goes is said to go for good", "[engine][diff]") {
  Dataset after = full();
  after.lifetime.reset();
  CHECK(only(full(), after).why.ends_with("once the dataset was charged it can never return"));
  after = full();
  after.lifetime->target = ApproximateLoss(epsilon("5"), Delta::parse_down("1e-6"));
  CHECK(name(only(full(), after).direction) == "neutral");  // the same rho, by other words
  after = full();
  after.purposes.reset();
  CHECK(name(only(full(), after).direction) == "incomparable");
  after = full();
  after.accepts_unbounded_lifetime = true;
  CHECK(name(only(full(), after).direction) == "looser");
  after = full();
  after.allow.statistics.push_back(StatisticKind::mean);
  CHECK(name(only(full(), after).direction) == "looser");
}

TEST_CASE("policy diff: another exact number of rows is another divisor", "[engine][diff]") {
  Dataset before = full(), after = full();
  before.rows = {1000, true};
  after.rows = {1001, true};
  const PolicyChange change = only(before, after);
  CHECK(change.path_text() == "datasets.clinic.rows.exact");
  CHECK(name(change.direction) == "incomparable");
  CHECK(change.refused_once_charged);
}

TEST_CASE("policy diff: how a mean is split matters where anything counts in rho or Renyi divergences",
          "[engine][diff]") {
  const auto direction = [](const std::function<void(Dataset&)>& counted) {
    Dataset before = full();
    before.lifetime.reset();
    before.limits.clear();
    counted(before);
    Dataset after = before;
    after.mean_split = Rational(1, 3);
    return std::string(name(only(before, after).direction));
  };
  CHECK(direction([](Dataset&) {}) == "neutral");
  CHECK(direction([](Dataset& d) { d.lifetime = approximate("3", "1e-6"); }) == "neutral");
  CHECK(direction([](Dataset& d) { d.lifetime = zcdp("1"); }) == "incomparable");
  CHECK(direction([](Dataset& d) { d.budget = rdp({{Rational(2), epsilon("1")}}); }) == "incomparable");
  CHECK(direction([](Dataset& d) { d.limits = {limit(Limit::Subject::role, "research", zcdp("1"))}; }) ==
        "incomparable");
  CHECK(direction([](Dataset& d) { d.per_release->rho = Rho::parse_down("1"); }) == "incomparable");
  CHECK(direction([](Dataset& d) {
          d.approvals->above->orders = {{Rational(2), epsilon("1")}};
        }) == "incomparable");
}

TEST_CASE("policy diff: of blocks that are values, one more or less is neither looser nor tighter",
          "[engine][diff]") {
  Dataset before = full();
  before.blocks->by = "ward";
  before.blocks->per.reset();
  Dataset after = before;
  after.columns[2].values.emplace_back("C");
  CHECK(name(only(before, after).direction) == "incomparable");
  CHECK(name(only(after, before).direction) == "incomparable");
}

TEST_CASE("policy diff: under rho, the first account that counts delta takes the default cap away",
          "[engine][diff]") {
  Dataset before = full();
  before.budget = zcdp("1");
  before.limits = {limit(Limit::Subject::principal, "bob", pure("1"))};
  Dataset after = before;
  after.limits[0].budget = approximate("1", "1e-5");
  const std::vector<PolicyChange> changes = diff(before, after);
  INFO(shown(changes));
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].path_text() == "datasets.clinic.limits[0].delta");
  CHECK(name(changes[0].direction) == "looser");
  CHECK(changes[1].path_text() == "datasets.clinic.per_release.delta");
  CHECK(name(changes[1].direction) == "incomparable");
  before.budget = after.budget = pure("1");  // it expresses no release that loses delta
  CHECK(diff(before, after).size() == 1);
}

TEST_CASE("policy diff: an amount that rises while another falls is two differences", "[engine][diff]") {
  Dataset after = full();
  after.budget = approximate("4", "1e-7");
  const std::vector<PolicyChange> changes = diff(full(), after);
  REQUIRE(changes.size() == 2);
  CHECK(name(changes[0].direction) == "looser");
  CHECK(name(changes[1].direction) == "tighter");
}

TEST_CASE("policy diff: a second list of who may ask lets more in, a first one shuts everybody else out",
          "[engine][diff]") {
  Dataset open = full(), by_name = full(), by_both = full();
  open.allow.principals.reset();
  open.allow.roles.reset();
  by_name.allow.roles.reset();
  CHECK(name(only(open, by_name).direction) == "tighter");
  CHECK(name(only(by_name, by_both).direction) == "looser");
  CHECK(name(only(by_name, open).direction) == "looser");
}

TEST_CASE("policy diff: forbidding what another rule forbids already changes nothing for anybody",
          "[engine][diff]") {
  Dataset before = full(), after = full();
  Forbid narrower = before.forbid[0];
  narrower.principals = Texts{"bob"};
  after.forbid.push_back(narrower);
  CHECK(name(only(before, after).direction) == "neutral");
  CHECK(name(only(after, before).direction) == "neutral");
  Forbid other;
  other.statistics = std::vector{StatisticKind::variance};
  after = before;
  after.forbid.push_back(other);
  CHECK(name(only(before, after).direction) == "tighter");
  after.forbid = {other, before.forbid[0]};
  Dataset swapped = before;
  swapped.forbid = {before.forbid[0], other};
  CHECK(name(only(swapped, after).direction) == "neutral");
}

TEST_CASE("policy diff: an entry under release that only repeats the default is no difference",
          "[engine][diff]") {
  Dataset after = full();
  after.release["mean"] = after.release["default"];
  CHECK(diff(full(), after).empty());
}

TEST_CASE("policy diff: declaring principals shuts everybody else out", "[engine][diff]") {
  using People = std::optional<std::vector<Principal>>;
  const auto direction = [](const People& before, const People& after) {
    const std::vector<PolicyChange> changes = diff(before, after, {});
    INFO(shown(changes));
    REQUIRE(changes.size() == 1);
    return std::string(name(changes[0].direction));
  };
  const std::vector<Principal> alice = {person("alice", {})};
  const std::vector<Principal> both = {person("alice", {}), person("bob", {})};
  CHECK(direction(std::nullopt, alice) == "tighter");
  CHECK(direction(alice, std::nullopt) == "looser");
  CHECK(direction(alice, both) == "looser");
  CHECK(direction(both, alice) == "tighter");
  std::vector<Principal> planner = alice;
  planner[0].purposes = Texts{"planning"};
  CHECK(direction(alice, planner) == "tighter");
  CHECK(direction(planner, alice) == "looser");
  std::vector<Principal> auditor = alice;
  auditor[0].duties = {engine::Duty::audit};
  CHECK(direction(alice, auditor) == "looser");
  CHECK(direction(auditor, alice) == "tighter");
  std::vector<Principal> curator = alice;
  curator[0].duties = {engine::Duty::curate, engine::Duty::audit};
  CHECK(direction(auditor, curator) == "looser");
  CHECK(diff(People(both), People(both), {}).empty());
}

TEST_CASE("policy diff: a role is worth what the datasets make of it", "[engine][diff]") {
  const Dataset dataset = full();
  const std::vector<Principal> without = {person("alice", {})};
  const auto gaining = [&](const std::string& role) {
    const std::vector<PolicyChange> changes =
        diff(std::optional(without), std::optional(std::vector{person("alice", {role})}), {&dataset});
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].path_text() == "principals.alice.roles[0]");
    return std::string(name(changes[0].direction));
  };
  CHECK(gaining("custodian") == "looser");       // may approve
  CHECK(gaining("trainee") == "tighter");        // is forbidden something
  CHECK(gaining("research") == "incomparable");  // may ask, within a limit
  CHECK(gaining("visitor") == "neutral");
  const std::vector<PolicyChange> lost =
      diff(std::optional(std::vector{person("alice", {"custodian"})}), std::optional(without), {&dataset});
  REQUIRE(lost.size() == 1);
  CHECK(name(lost[0].direction) == "tighter");
}

TEST_CASE("policy diff: each difference stands at its place in the later policy", "[engine][diff]") {
  PolicyText before, after;
  after.budget = "{epsilon: 4}";
  after.columns = "{age: {type: int, bounds: [0, 110]}, ward: {type: string, values: [A, C]}}";
  after.more = "per_release: {epsilon: 1}";
  const std::vector<PolicyChange> changes = diff(parsed(before), parsed(after));
  INFO(shown(changes));
  REQUIRE(changes.size() == 4);
  const auto place = [&changes](const std::string& path) {
    for (const PolicyChange& change : changes) {
      if (change.path_text() == path) {
        return std::to_string(change.mark.line) + ":" + std::to_string(change.mark.column);
      }
    }
    return std::string("none");
  };
  CHECK(place("datasets.clinic.budget.epsilon") == "8:14");
  CHECK(place("datasets.clinic.per_release.epsilon") == "10:19");
  CHECK(place("datasets.clinic.columns.ward.values[1]") == "9:84");
  CHECK(place("datasets.clinic.columns.ward.values") == "9:72");
}

TEST_CASE("policy diff: a dataset more is looser, a dataset less tighter, their order neither",
          "[engine][diff]") {
  const std::string one = PolicyText{}.yaml();
  const std::string other = one.substr(one.find("  clinic:"));
  std::string renamed = other;
  renamed.replace(renamed.find("clinic"), 6, "second");
  const Policy single = checked_policy(one, "p.yaml");
  const Policy both = checked_policy(one + renamed, "p.yaml");
  const Policy turned = checked_policy("version: 1\ndatasets:\n" + renamed + other, "p.yaml");
  REQUIRE(diff(single, both).size() == 1);
  CHECK(name(diff(single, both)[0].direction) == "looser");
  REQUIRE(diff(both, single).size() == 1);
  CHECK(name(diff(both, single)[0].direction) == "tighter");
  REQUIRE(diff(both, turned).size() == 1);
  CHECK(name(diff(both, turned)[0].direction) == "neutral");
}
