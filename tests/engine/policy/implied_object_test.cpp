// The object that a policy implies: canonical, the same for every spelling, other for every key, and nothing
// in it of where things are.
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>

#include "epsilog/ledger/canonical_json.hpp"
#include "implied_object_of_yaml.hpp"
#include "invalid_policies.hpp"
#include "kept_policies.hpp"
#include "policy_keys.hpp"
#include "respelled.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;
using ledger::JsonValue;

namespace {

const std::filesystem::path kTree = EPSILOG_SOURCE_DIR;

std::string object_of(const std::string& yaml) {
  CAPTURE(yaml);
  const auto object = implied_object_of_yaml(yaml);
  REQUIRE(object);
  return *object;
}

std::string object_of(const PolicyText& text) {
  return object_of(text.yaml());
}

/// The blocks of the page that are marked so.
std::vector<std::string> blocks_of_page(const std::string& mark) {
  std::istringstream page(file_text(kTree / "docs/record_format.md"));
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = line == "```" + mark;
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

/// Without the line ends and the blanks after them, which the page has and the object has not.
std::string on_one_line(const std::string& shown) {
  std::istringstream lines(shown);
  std::string joined;
  for (std::string line; std::getline(lines, line);) joined += line.substr(line.find_first_not_of(' '));
  return joined;
}

/// Two ways to write the same: the parts of a dataset that differ.
struct Spellings {
  const char* what;
  PolicyText one;
  PolicyText other;
};

PolicyText with(const std::string& more) {
  PolicyText text;
  text.more = more;
  return text;
}
PolicyText with_budget(const std::string& budget, const std::string& more = "") {
  PolicyText text = with(more);
  text.budget = budget;
  return text;
}
PolicyText with_source(const std::string& source) {
  PolicyText text;
  text.source = source;
  return text;
}
PolicyText with_columns(const std::string& columns) {
  PolicyText text;
  text.columns = columns;
  return text;
}
PolicyText with_principals(const std::string& principals, const std::string& more = "") {
  PolicyText text = with(more);
  text.principals = principals;
  return text;
}

std::vector<Spellings> same_meaning() {
  const std::string approvals = "{a: {}, b: {roles: [r]}}";
  return {
      {"a measure that follows", with_budget("{epsilon: 3}"), with_budget("{epsilon: 3, measure: pure}")},
      {"a number", with_budget("{epsilon: 1/2, delta: 1e-6}"),
       with_budget("{delta: 0.0000010, epsilon: 0.50}")},
      {"below the grid", with_budget("{epsilon: 1/3}"), with_budget("{epsilon: 0.333333333333}")},
      {"orders", with_budget("{measure: rdp, orders: {2: 0.5, 5/2: 1}}"),
       with_budget("{measure: rdp, orders: {2.5: 1, 2: 1/2}}")},
      {"a duration", with("reservations: {expires: 1d}"), with("reservations: {expires: 24h}")},
      {"reservations by default", with(""), with("reservations: {expires: 1440m}")},
      {"a split by default", with(""), with("mean_split: 0.5")},
      {"no limits", with(""), with("limits: []")},
      {"nothing forbidden", with(""), with("forbid: []")},
      {"no restriction", with(""), with("allow: {}")},
      {"statistics by default", with(""), with("allow: {statistics: [default]}")},
      {"statistics by their word", with("allow: {statistics: [default, quantile]}"),
       with("allow: {statistics: [value, quantile, variance, mean, sum, units, count]}")},
      {"no queries", with(""), with("queries: {}")},
      {"no settings", with(""), with("release: {}")},
      {"settings by default", with(""),
       with("release: {default: {mechanism: snapping, arithmetic: mpfr, precision: auto}}")},
      {"settings inherited", with("release: {default: {precision: 256}, sum: {bound: 9}, mean: {}}"),
       with("release: {count: {precision: 256}, units: {precision: 256}, mean: {precision: 256}, "
            "variance: {precision: 256}, sum: {precision: 256, bound: 9}}")},
      {"settings dropped", with("release: {default: {precision: 256}, sum: {mechanism: gaussian}}"),
       with("release: {default: {precision: 256}, sum: {mechanism: gaussian, grid: auto}}")},
      {"the middle of the bounds", with("queries: {q: {bounds: [0, 1], sensitivity: 1}}"),
       with("queries: {q: {bounds: [0, 1], sensitivity: 1, undefined: 1/2}}")},
      {"not unbounded",
       with_budget("{epsilon: 3, renew: day, accept_unbounded_lifetime: false}", "lifetime: {epsilon: 4}"),
       with_budget("{epsilon: 3, renew: day}", "lifetime: {epsilon: 4}")},
      {"a source by default", with_source("{csv: visits.csv}"),
       with_source("{csv: visits.csv, delimiter: ',', decimal: '.', null: [], encoding: utf-8, "
                   "date_format: YYYY-MM-DD, multiline: false}")},
      {"the empty cell", with_source("{csv: visits.csv, null: [NA]}"),
       with_source("{csv: visits.csv, null: ['', NA]}")},
      {"a missing cell", with_columns("{age: {type: int}}"),
       with_columns("{age: {type: int, missing: skip}}")},
      {"a header", with_columns("{age: {type: int}}"), with_columns("{age: {type: int, column: age}}")},
      {"a bool", with_columns("{a: {type: bool}}"), with_columns("{a: {type: bool, values: [false, true]}}")},
      {"values", with_columns("{a: {type: int, values: [1, 20]}}"),
       with_columns("{a: {type: int, values: [1.0, 2e1]}}")},
      {"no roles", with_principals("{a: {}}"), with_principals("{a: {roles: []}}")},
      {"no duties", with_principals("{a: {}}"), with_principals("{a: {duties: []}}")},
      {"order of duties", with_principals("{a: {duties: [operate, audit]}}"),
       with_principals("{a: {duties: [audit, operate]}}")},
      {"approvals", with_principals(approvals, "approvals: {required: 1, by: {principals: [a]}}"),
       with_principals(approvals,
                       "approvals: {required: 1, by: {principals: [a], roles: []}, expires: 168h}")},
  };
}

/// What of a policy is only where something lies, and what no two policies write differently.
const std::set<std::string> kOnlyPlaces = {
    ".replica",     ".checkpoint",    "csv_source.csv",  "sqlite_source.sqlite", "replica.file",
    "replica.sync", "checkpoint.key", "checkpoint.file", "checkpoint.every"};

/// Visits every name and text in a value.
template <class Visit>
void visit_texts(const JsonValue& value, const Visit& visit) {
  if (value.kind() == JsonValue::Kind::string) visit(value.text());
  if (value.kind() == JsonValue::Kind::object) {
    for (const std::string& name : value.names()) visit(name), visit_texts(value.at(name), visit);
  }
  if (value.kind() == JsonValue::Kind::array) {
    for (const JsonValue& item : value.items()) visit_texts(item, visit);
  }
}

}  // namespace

TEST_CASE("implied object: what docs/record_format.md shows is what the policy beside it implies",
          "[engine][policy][implied][documents]") {
  const auto policies = blocks_of_page("yaml");
  const auto objects = blocks_of_page("object");
  REQUIRE(policies.size() == 2);
  REQUIRE(objects.size() == 2);
  for (std::size_t i = 0; i < policies.size(); ++i) {
    CHECK(object_of(policies[i]) == on_one_line(objects[i]));
    CHECK(implied_object(checked_policy(policies[i], "p.yaml")) == on_one_line(objects[i]));
  }
}

TEST_CASE("implied object: every policy that is kept has one, canonical and the same at each reading",
          "[engine][policy][implied][exact]") {
  const auto policies = kept_policies(kTree);
  CHECK(policies.size() > 9 + 2 * 90);
  for (const auto& [where, yaml] : policies) {
    CAPTURE(where);
    const std::string object = object_of(yaml);
    CHECK_NOTHROW(ledger::parse_canonical(object));
    CHECK(object_of(yaml) == object);
    CHECK(implied_object(checked_policy(yaml, "/somewhere/else.yaml")) == object);
  }
}

TEST_CASE("implied object: neither order, style nor comments of YAML make another (seeds 1 to 20)",
          "[engine][policy][implied][property]") {
  for (const auto& [where, yaml] : kept_policies(kTree)) {
    const std::string object = object_of(yaml);
    const unsigned seeds = where.find(' ') == std::string::npos ? 20 : 2;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      const std::string again = Respelling(seed).of(yaml);
      CAPTURE(where, seed, yaml);
      REQUIRE(object_of(again) == object);
    }
  }
}

TEST_CASE("implied object: what two policies say with other words is one object",
          "[engine][policy][implied][exact]") {
  for (const Spellings& spellings : same_meaning()) {
    CAPTURE(spellings.what);
    CHECK(spellings.one.yaml() != spellings.other.yaml());
    CHECK(object_of(spellings.one) == object_of(spellings.other));
  }
}

TEST_CASE("implied object: what is not the same is not one object", "[engine][policy][implied][negative]") {
  const std::vector<Spellings> others = {
      {"order of values", with_columns("{a: {type: int, values: [1, 2]}}"),
       with_columns("{a: {type: int, values: [2, 1]}}")},
      {"order of rules", with("forbid: [{statistics: [sum]}, {statistics: [mean]}]"),
       with("forbid: [{statistics: [mean]}, {statistics: [sum]}]")},
      {"nothing and no restriction", with("allow: {columns: []}"), with("allow: {}")},
      {"for no purpose and for every", with_principals("{a: {purposes: []}}"), with_principals("{a: {}}")},
      {"delta that is declared, and by default", with("per_release: {epsilon: 1, delta: 1e-6}"),
       with("per_release: {epsilon: 1}")},
      {"what rho was stated as", with_budget("{measure: zcdp, epsilon: 3, delta: 1e-6}"),
       with_budget("{measure: zcdp, rho: 0.185069840653401}")},
      {"whole numbers and decimals of scale 0", with_columns("{a: {type: int}}"),
       with_columns("{a: {type: decimal, scale: 0}}")},
  };
  for (const Spellings& spellings : others) {
    CAPTURE(spellings.what);
    CHECK(object_of(spellings.one) != object_of(spellings.other));
  }
}

TEST_CASE("implied object: every key of the schema makes another, but for paths",
          "[engine][policy][implied][exact]") {
  std::string places;
  for (const KeyTable* table : keys::tables()) {
    for (const Key& key : table->keys) {
      const std::string place = std::string(table->definition) + "." + std::string(key.name);
      if (kAlwaysTheSame.contains(place)) continue;
      CAPTURE(place);
      REQUIRE(key_changes().contains(place));
      const auto [before, after] = before_and_after(key_changes().at(place));
      const bool changes = object_of(before) != object_of(after);
      CHECK(changes != kOnlyPlaces.contains(place));
      if (!changes) places += place + "\n";
    }
  }
  INFO("In no object:\n" << places);
  CHECK(places ==
        ".replica\n.checkpoint\ncsv_source.csv\nsqlite_source.sqlite\nreplica.file\nreplica.sync\n"
        "checkpoint.key\ncheckpoint.file\ncheckpoint.every\n");
}

TEST_CASE("implied object: nothing in it says where data are, or what the host is",
          "[engine][policy][implied][exact]") {
  for (const auto& [where, yaml] : kept_policies(kTree)) {
    CAPTURE(where);
    const Policy policy = Policy::parse_stored(yaml, where);
    std::set<std::string> paths;
    for (const Dataset& dataset : policy.datasets()) {
      if (dataset.csv) paths.insert(dataset.csv->path);
      if (dataset.sqlite) paths.insert(dataset.sqlite->path);
    }
    visit_texts(ledger::parse_canonical(implied_object(policy)), [&](const std::string& text) {
      for (const std::string& path : paths) CHECK(text.find(path) == std::string::npos);
    });
  }
  // Elsewhere, at another hour of the day, where numbers have commas: in a process that may be changed.
  const std::string yaml = file_text(kTree / "configs/hospital_scopes.yaml");
  const std::string object = object_of(yaml);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool moved = chdir("/") == 0 && setenv("TZ", "Pacific/Kiritimati", 1) == 0 &&
                       setenv("HOME", "/nowhere", 1) == 0 && setenv("LC_ALL", "de_DE.UTF-8", 1) == 0;
    static_cast<void>(std::setlocale(LC_ALL, ""));  // where it is installed
    tzset();
    _exit(moved && implied_object_of_yaml(yaml) == object ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("implied object: a text that today's reader refuses implies nothing",
          "[engine][policy][implied][negative]") {
  const std::string old = PolicyText().yaml();
  REQUIRE(implied_object_of_yaml(old));
  // What programs before version 1 of the format, or after it, would have recorded.
  CHECK_FALSE(implied_object_of_yaml(only_replaced(old, "version: 1", "version: 0")));
  CHECK_FALSE(implied_object_of_yaml(only_replaced(old, "version: 1\n", "")));
  CHECK_FALSE(implied_object_of_yaml(old + "    publish: {every: month}\n"));
  CHECK_FALSE(implied_object_of_yaml(only_replaced(old, "{epsilon: 3}", "&b {epsilon: 3}")));
  CHECK_FALSE(implied_object_of_yaml(""));
  CHECK_FALSE(implied_object_of_yaml("\xFF"));
  CHECK_FALSE(implied_object_of_yaml(std::string("version: 1\0", 11)));
  CHECK_FALSE(implied_object_of_yaml(std::string(std::size_t{1} << 20U, '#')));
  std::size_t refused = 0;
  for (const auto& [name, policy] : invalid_policies()) {
    CAPTURE(name);
    bool readable = true;
    try {
      static_cast<void>(Policy::parse_stored(policy.yaml, "p.yaml"));
    } catch (const PolicyError&) {
      readable = false;
    }
    refused += readable ? 0 : 1;
    CHECK(implied_object_of_yaml(policy.yaml).has_value() == readable);
  }
  CHECK(refused > 80);
}
