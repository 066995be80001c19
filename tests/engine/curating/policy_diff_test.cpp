// What a change of the policy means for the people in the data: looser, tighter, or neither.
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/engine/checked_policy.hpp"

#include "policy_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using epsilog::accounting::ApproximateLoss;
using epsilog::test::PolicyText;

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

struct Edit {
  const char* place;  ///< of the one difference it makes
  Direction direction;
  std::function<void(Dataset&)> change;
};

constexpr Direction kLooser = Direction::looser;
constexpr Direction kTighter = Direction::tighter;
constexpr Direction kNeutral = Direction::neutral;
constexpr Direction kIncomparable = Direction::incomparable;

Direction reversed(Direction direction) {
  if (direction == kLooser) return kTighter;
  return direction == kTighter ? kLooser : direction;
}

Epsilon epsilon(const char* text) {
  return Epsilon::parse_down(text);
}

const std::vector<Edit>& edits() {
  static const std::vector<Edit> kEdits = {
      // Where the rows come from.
      {"source.csv", kNeutral, [](Dataset& d) { d.csv->path = "other.csv"; }},
      {"source.delimiter", kIncomparable, [](Dataset& d) { d.csv->delimiter = '|'; }},
      {"source.decimal", kNeutral, [](Dataset& d) { d.csv->decimal_point = ','; }},
      {"source.null", kIncomparable, [](Dataset& d) { d.csv->null.clear(); }},
      {"source.multiline", kIncomparable, [](Dataset& d) { d.csv->multiline = true; }},
      {"source", kTighter, [](Dataset& d) { d.csv.reset(); }},
      {"source", kIncomparable,
       [](Dataset& d) {
         d.csv.reset();
         d.sqlite = SqliteSource{"visits.db", "visits"};
       }},
      // Who is protected.
      {"unit", kIncomparable,
       [](Dataset& d) {
         d.unit = {"", 1};
       }},
      {"unit", kIncomparable, [](Dataset& d) { d.unit.id = "visit_id"; }},
      {"unit.max_rows", kIncomparable, [](Dataset& d) { d.unit.max_rows = 4; }},
      {"rows", kNeutral, [](Dataset& d) { d.rows.count = 2000; }},
      {"rows", kIncomparable, [](Dataset& d) { d.rows.exact = true; }},
      {"neighbours", kIncomparable, [](Dataset& d) { d.neighbours = Neighbours::replace_one; }},
      // How much may be lost.
      {"budget.epsilon", kLooser, [](Dataset& d) { d.budget.epsilon = epsilon("3.5"); }},
      {"budget.delta", kTighter, [](Dataset& d) { d.budget.delta = Delta::parse_down("1e-7"); }},
      {"budget.delta", kTighter, [](Dataset& d) { d.budget = pure("3"); }},
      {"budget", kIncomparable, [](Dataset& d) { d.budget = zcdp("3"); }},
      {"budget.renew", kLooser, [](Dataset& d) { d.renews = CalendarPeriod::month; }},
      {"budget.accept_unbounded_lifetime", kLooser, [](Dataset& d) { d.accepts_unbounded_lifetime = true; }},
      {"lifetime", kLooser, [](Dataset& d) { d.lifetime.reset(); }},
      {"lifetime.rho", kLooser, [](Dataset& d) { d.lifetime = zcdp("0.75"); }},
      {"lifetime", kNeutral,
       [](Dataset& d) { d.lifetime->target = ApproximateLoss(epsilon("5"), Delta::parse_down("1e-6")); }},
      {"lifetime", kIncomparable, [](Dataset& d) { d.lifetime = pure("9"); }},
      {"blocks", kIncomparable, [](Dataset& d) { d.blocks.reset(); }},
      {"blocks", kIncomparable, [](Dataset& d) { d.blocks->by = "discharge_date"; }},
      {"blocks", kIncomparable, [](Dataset& d) { d.blocks->per = CalendarPeriod::day; }},
      {"blocks.from", kIncomparable, [](Dataset& d) { d.blocks->first_day = 31; }},
      {"blocks.to", kIncomparable, [](Dataset& d) { d.blocks->last_day = 395; }},
      {"per_release.epsilon", kLooser, [](Dataset& d) { d.per_release.reset(); }},
      {"per_release.epsilon", kLooser, [](Dataset& d) { d.per_release->epsilon = epsilon("2"); }},
      {"per_release.delta", kTighter, [](Dataset& d) { d.per_release->delta = Delta::parse_down("0.01"); }},
      {"per_release.rho", kTighter, [](Dataset& d) { d.per_release->rho = Rho::parse_down("2"); }},
      {"per_release.orders.8", kTighter,
       [](Dataset& d) {
         d.per_release->orders = {{Rational(8), epsilon("2")}};
       }},
      {"limits", kLooser, [](Dataset& d) { d.limits.pop_back(); }},
      {"limits[3]", kTighter,
       [](Dataset& d) { d.limits.push_back(limit(Limit::Subject::role, "", pure("1"))); }},
      {"limits[0].epsilon", kLooser, [](Dataset& d) { d.limits[0].budget = pure("2"); }},
      {"limits[0].delta", kLooser, [](Dataset& d) { d.limits[0].budget = approximate("1", "1e-9"); }},
      {"limits[1].rho", kTighter, [](Dataset& d) { d.limits[1].budget = zcdp("0.125"); }},
      {"limits[2].orders.2", kLooser,
       [](Dataset& d) { d.limits[2].budget.orders[0].divergence = epsilon("1"); }},
      {"limits[2].orders.8", kLooser, [](Dataset& d) { d.limits[2].budget.orders.pop_back(); }},
      // What may be asked.
      {"columns.age", kTighter, [](Dataset& d) { d.columns.erase(d.columns.begin()); }},
      {"columns", kNeutral, [](Dataset& d) { std::swap(d.columns[0], d.columns[1]); }},
      {"columns.cost.type", kIncomparable, [](Dataset& d) { d.columns[1].type = ColumnType::real; }},
      {"columns.cost.scale", kNeutral, [](Dataset& d) { d.columns[1].scale = 3; }},
      {"columns.cost.bounds", kNeutral, [](Dataset& d) { d.columns[1].bounds->upper = 6000; }},
      {"columns.cost.bounds", kNeutral, [](Dataset& d) { d.columns[1].bounds->lower = -1; }},
      {"columns.cost.bounds", kTighter, [](Dataset& d) { d.columns[1].bounds.reset(); }},
      {"columns.ward.values[2]", kLooser, [](Dataset& d) { d.columns[2].values.emplace_back("C"); }},
      {"columns.ward.values", kTighter, [](Dataset& d) { d.columns[2].values.clear(); }},
      {"columns.ward.values", kNeutral,
       [](Dataset& d) { std::swap(d.columns[2].values[0], d.columns[2].values[1]); }},
      {"columns.age.missing", kNeutral, [](Dataset& d) { d.columns[0].missing.reset(); }},
      {"queries.auc", kTighter, [](Dataset& d) { d.queries.clear(); }},
      {"queries.auc.bounds", kNeutral, [](Dataset& d) { d.queries[0].bounds.lower = -1; }},
      {"queries.auc.sensitivity", kLooser, [](Dataset& d) { d.queries[0].sensitivity = Rational(1, 200); }},
      {"queries.auc.undefined", kNeutral, [](Dataset& d) { d.queries[0].undefined = 0; }},
      {"allow.statistics", kLooser, [](Dataset& d) { d.allow.statistics.reset(); }},
      {"allow.statistics[2]", kLooser,
       [](Dataset& d) { d.allow.statistics->push_back(StatisticKind::mean); }},
      {"allow.columns", kTighter, [](Dataset& d) { d.allow.columns = Texts{}; }},
      {"allow.by", kLooser, [](Dataset& d) { d.allow.by.reset(); }},
      {"allow.where", kTighter, [](Dataset& d) { d.allow.where->pop_back(); }},
      {"allow.principals", kTighter, [](Dataset& d) { d.allow.principals.reset(); }},
      {"allow.roles[1]", kLooser, [](Dataset& d) { d.allow.roles->emplace_back("quality"); }},
      {"purposes", kIncomparable, [](Dataset& d) { d.purposes.reset(); }},
      {"purposes[2]", kLooser, [](Dataset& d) { d.purposes->emplace_back("teaching"); }},
      {"forbid", kLooser, [](Dataset& d) { d.forbid.clear(); }},
      {"forbid[0]", kTighter, [](Dataset& d) { d.forbid[0].principals.reset(); }},
      {"forbid[0]", kLooser, [](Dataset& d) { d.forbid[0].principals->pop_back(); }},
      {"forbid[0]", kTighter, [](Dataset& d) { d.forbid[0].roles.reset(); }},
      {"forbid[0]", kTighter, [](Dataset& d) { d.forbid[0].purposes->emplace_back("quality"); }},
      {"forbid[0]", kTighter, [](Dataset& d) { d.forbid[0].statistics.reset(); }},
      {"forbid[0]", kTighter, [](Dataset& d) { d.forbid[0].columns.reset(); }},
      {"forbid[0]", kTighter, [](Dataset& d) { d.forbid[0].by.reset(); }},
      {"forbid[0]", kTighter, [](Dataset& d) { d.forbid[0].where.reset(); }},
      {"approvals", kLooser, [](Dataset& d) { d.approvals.reset(); }},
      {"approvals.required", kTighter, [](Dataset& d) { d.approvals->required = 3; }},
      {"approvals.by.principals[1]", kLooser,
       [](Dataset& d) { d.approvals->principals.emplace_back("dave"); }},
      {"approvals.by.roles", kTighter, [](Dataset& d) { d.approvals->roles.clear(); }},
      {"approvals.above.epsilon", kLooser, [](Dataset& d) { d.approvals->above->epsilon = epsilon("1"); }},
      {"approvals.above.rho", kTighter, [](Dataset& d) { d.approvals->above->rho = Rho::parse_down("1"); }},
      {"approvals.above", kTighter, [](Dataset& d) { d.approvals->above.reset(); }},
      {"approvals.expires", kLooser, [](Dataset& d) { d.approvals->expires_seconds *= 2; }},
      {"reservations.expires", kIncomparable, [](Dataset& d) { d.reservation_seconds *= 2; }},
      // How it is released.
      {"release.sum.mechanism", kIncomparable,
       [](Dataset& d) { d.release["sum"].mechanism = MechanismChoice::gaussian; }},
      {"release.default.arithmetic", kNeutral,
       [](Dataset& d) { d.release["default"].arithmetic = ArithmeticChoice::exact; }},
      {"release.default.precision", kNeutral, [](Dataset& d) { d.release["default"].precision.bits = 256; }},
      {"release.default.bound", kNeutral, [](Dataset& d) { d.release["default"].bound = 200; }},
      {"release.default.binding_probability", kNeutral,
       [](Dataset& d) { d.release["default"].binding_probability = Rational(1, 1000); }},
      {"release.sum.grid", kNeutral, [](Dataset& d) { d.release["sum"].grid.reset(); }},
      {"mean_split", kIncomparable, [](Dataset& d) { d.mean_split = Rational(1, 3); }},
  };
  return kEdits;
}

std::string shown(const std::vector<PolicyChange>& changes) {
  std::string text;
  for (const PolicyChange& change : changes) {
    text += std::string(name(change.direction)) + ": " + change.place() + ": " + change.before + " -> " +
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
  for (const Edit& edit : edits()) {
    CAPTURE(edit.place);
    const Dataset before = full();
    Dataset after = full();
    edit.change(after);
    const PolicyChange change = only(before, after);
    CHECK(change.place() == std::string("datasets.clinic.") + edit.place);
    CHECK(name(change.direction) == name(edit.direction));
    CHECK(change.before != change.after);
    CHECK_FALSE(change.why.empty());
  }
}

TEST_CASE("policy diff: what is looser one way is tighter the other way", "[engine][diff]") {
  for (const Edit& edit : edits()) {
    CAPTURE(edit.place);
    const Dataset before = full();
    Dataset after = full();
    edit.change(after);
    const PolicyChange forth = only(before, after);
    const PolicyChange back = only(after, before);
    CHECK(name(back.direction) == name(reversed(forth.direction)));
    CHECK(back.before == forth.after);
    CHECK(back.after == forth.before);
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
  CHECK(changes[0].place() == "datasets.clinic.budget");
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
}

TEST_CASE("policy diff: another exact number of rows is another divisor", "[engine][diff]") {
  Dataset before = full(), after = full();
  before.rows = {1000, true};
  after.rows = {1001, true};
  const PolicyChange change = only(before, after);
  CHECK(change.place() == "datasets.clinic.rows.exact");
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
  CHECK(changes[0].place() == "datasets.clinic.limits[0].delta");
  CHECK(name(changes[0].direction) == "looser");
  CHECK(changes[1].place() == "datasets.clinic.per_release.delta");
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
    CHECK(changes[0].place() == "principals.alice.roles[0]");
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
      if (change.place() == path) {
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
