// Which keys a dataset may write otherwise once it was charged: every key has a rule, and diff and apply go
// by it.
#include "policy_charged.hpp"
#include "checked_rows.hpp"
#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/policy_diff.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "file_text.hpp"
#include "policy_key_changes.hpp"
#include "policy_keys.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

/// Where a definition of the schema stands below a dataset. Nothing: it is not part of one.
const std::map<std::string, std::string>& places() {
  static const std::map<std::string, std::string> kPlaces = [] {
    std::map<std::string, std::string> result;
    for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/engine/curating/schema_places.tsv")) {
      result[row.at(0)] = row.at(1);
    }
    return result;
  }();
  return kPlaces;
}

/// Who may ask is no matter of what was lost.
const std::set<std::string> kAboutNoDataset = {"", "principal", "replica", "checkpoint"};

/// Those changes of kEveryKey, in either direction, that would alter what a recorded loss means; decided here
/// by hand, beside the table of the engine.
const std::vector<std::string> kAlters = words_of(
    "dataset.source dataset.unit dataset.neighbours dataset.blocks dataset.lifetime "
    "csv_source.csv csv_source.delimiter csv_source.null csv_source.multiline "
    "sqlite_source.sqlite sqlite_source.table unit.id csv_source.encoding csv_source.thousands "
    "csv_source.date_format column.column derived_column.from unit.max_rows rows.exact "
    "budget.measure budget.order budget.renew lifetime.measure lifetime.orders lifetime.order "
    "blocks.by blocks.per");
bool alters(const std::string& place) {
  return std::find(kAlters.begin(), kAlters.end(), place) != kAlters.end();
}
/// And those that do so where something comes, not where it goes.
const std::set<std::string> kAltersWhenAdded = {"budget.accept_unbounded_lifetime"};

bool refused(const Policy& before, const Policy& after) {
  return !charged_faults(diff(before, after), before.dataset("clinic"), false, "p.yaml").empty();
}

/// Applies the text, and gives the faults.
std::vector<std::string> apply(Engine& engine, const Clinic& clinic, const std::string& text) {
  clinic.folder.write("changed.yaml", text);
  std::vector<std::string> told;
  for (const PolicyFault& fault : engine.review(clinic.folder.path("changed.yaml")).refused) {
    told.push_back(std::to_string(fault.line) + ":" + std::to_string(fault.column) + ": " + fault.message);
  }
  std::vector<std::string> faults;
  try {
    (void)engine.apply_policy(clinic.folder.path("changed.yaml"), "curator", "test");
  } catch (const PolicyError& error) {
    for (const PolicyFault& fault : error.faults()) {
      faults.push_back(std::to_string(fault.line) + ":" + std::to_string(fault.column) + ": " +
                       fault.message);
    }
  }
  CHECK(told == faults);
  return faults;
}

const std::string kBlocksOfWard =
    "    lifetime: {epsilon: 9}\n"
    "    blocks: {by: ward}\n";

}  // namespace

TEST_CASE("policy charged: every key of a dataset has one rule, and every rule is of a key",
          "[engine][charged]") {
  std::set<std::string> known;
  for (const KeyTable* table : keys::tables()) {
    const std::string definition(table->definition);
    if (kAboutNoDataset.contains(definition)) continue;
    CAPTURE(definition);
    const auto place = places().find(definition);
    REQUIRE(place != places().end());
    for (const Key& key : table->keys) known.insert(place->second + std::string(key.name));
  }
  std::set<std::string> ruled;
  for (const ChargedRule& rule : charged_rules()) {
    CAPTURE(rule.path);
    CHECK(ruled.insert(std::string(rule.path)).second);
    CHECK_FALSE(rule.why.empty());
  }
  for (const std::string& path : known) {
    CAPTURE(path);
    CHECK(ruled.contains(path));
  }
  for (const std::string& path : ruled) {
    CAPTURE(path);
    CHECK(known.contains(path));
  }
}

TEST_CASE(
    "policy charged: a change is refused just where it alters what a recorded loss means, from either side",
    "[engine][charged]") {
  for (const auto& [place, change] : key_changes()) {
    if (kAboutNoDataset.contains(place.substr(0, place.find('.')))) continue;
    const auto texts = before_and_after(change);
    const Policy before = parsed(texts.before);
    const Policy after = parsed(texts.after);
    CAPTURE(place, texts.before, texts.after);
    CHECK(refused(before, after) == (alters(place) || kAltersWhenAdded.contains(place)));
    CHECK(refused(after, before) == alters(place));
  }
}

TEST_CASE("policy charged: what moves rows between blocks is refused of the blocks' column only",
          "[engine][charged]") {
  const std::string policy = file_text(EPSILOG_SOURCE_DIR "/tests/engine/curating/charged_blocks.yaml");
  const auto is_refused = [&](const std::string& from, const std::string& to) {
    const Policy before = parsed(policy);
    const Policy after = parsed(only_replaced(policy, from, to));
    CHECK(refused(before, after) == refused(after, before));
    const auto changes = diff(before, after);
    bool once_charged = false;
    for (const auto& change : changes) {
      UNSCOPED_INFO(change.path_text() << ": " << name(change.direction));
      if (!change.refused_once_charged) continue;
      CHECK(name(change.direction) == "incomparable");
      once_charged = true;
    }
    // That cells can be asked for as missing, where they can, is told beside it.
    CHECK(changes.size() == (to == "values: [1, 2]}" ? 2 : 1));
    return once_charged;
  };
  CHECK(is_refused("values: [1, 2, 3], missing: 3}", "values: [1, 2, 3], missing: 2}"));
  CHECK(is_refused("values: [1, 2, 3], missing: 3}", "values: [1, 2, 3]}"));
  CHECK(is_refused("null: [NA]", "null: [NA, '02']"));
  CHECK_FALSE(is_refused("values: [1, 2], missing: 0}", "values: [1, 2]}"));
  CHECK_FALSE(is_refused("values: [1, 2, 3], missing: 3}", "values: [1, 2, 3, 4], missing: 3}"));
  CHECK_FALSE(is_refused("bounds: [1, 9]", "bounds: [1, 8]"));
}

TEST_CASE("policy charged: of blocks of labels nothing that decides a label may change, and last may grow",
          "[engine][charged]") {
  struct Derived {
    std::string source;  ///< of the derived column, which is `part`
    std::string rule;
  };
  const auto policy = [](const Derived& derived,
                         const std::string& source = "null: [NA], decimal: '.', delimiter: ';'") {
    return "version: 1\n"
           "datasets:\n"
           "  clinic:\n"
           "    source: {csv: visits.csv, " +
           source +
           "}\n"
           "    unit: row\n"
           "    rows: {max: 1000}\n"
           "    neighbours: add-remove\n"
           "    budget: {epsilon: 1}\n"
           "    lifetime: {epsilon: 9}\n"
           "    blocks: {by: part}\n"
           "    columns:\n"
           "      other: {type: decimal, scale: 2, bounds: [0, 9], missing: 0}\n"
           "      another: {from: other, bins: [0, 1, 9]}\n"
           "      cell: " +
           derived.source + "\n      part: " + derived.rule + "\n";
  };
  const auto is_refused = [&](const std::string& before_text, const std::string& after_text) {
    const Policy before = parsed(before_text);
    const Policy after = parsed(after_text);
    const auto changes = diff(before, after);
    REQUIRE_FALSE(changes.empty());
    for (const PolicyChange& change : changes) {
      CAPTURE(change.path_text());
      if (change.refused_once_charged) CHECK(name(change.direction) == "incomparable");
      CHECK(change.refused_once_charged ==
            !charged_faults({change}, before.dataset("clinic"), false, "p").empty());
    }
    return refused(before, after);
  };
  const auto both_ways = [&](const Derived& one, const Derived& other) {
    CAPTURE(one.source, one.rule, other.source, other.rule);
    const bool there = is_refused(policy(one), policy(other));
    CHECK(is_refused(policy(other), policy(one)) == there);
    return there;
  };
  for (const CaseRow& row :
       rows_of(EPSILOG_SOURCE_DIR "/tests/engine/curating/charged_labels.tsv", "both ways")) {
    CHECK(both_ways({row[1], row.at(2)}, {row.at(3), row.at(4)}) == (row.at(5) == "refused"));
  }
  const std::string decimal = "{type: decimal, scale: 1, bounds: [0, 9], missing: 2}";
  const std::string bins = "{from: cell, bins: [0, 5, 10]}";
  const auto months = [](const std::string& first, const std::string& last) {
    return Derived{"{type: date}", "{from: cell, per: month, first: " + first + ", last: " + last + "}"};
  };
  CHECK_FALSE(is_refused(policy(months("2024-01", "2024-12")), policy(months("2024-01", "2025-01"))));
  CHECK(is_refused(policy(months("2024-01", "2025-01")), policy(months("2024-01", "2024-12"))));

  // Of the source: what is missing, and of fractions what is a number.
  const Derived fractions{decimal, bins};
  const Derived whole{"{type: int, bounds: [0, 9], missing: 2}", bins};
  for (const Derived& derived : {fractions, whole}) {
    CAPTURE(derived.source);
    CHECK(is_refused(policy(derived), policy(derived, "null: [NA, '-'], decimal: '.', delimiter: ';'")));
    CHECK(is_refused(policy(derived), policy(derived, "null: [NA], decimal: ',', delimiter: ';'")) ==
          (derived.source == decimal));
  }
  // What another column says, and what is derived from it, is about no block.
  const std::string text = policy(fractions);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"other: {type: decimal, scale: 2, bounds: [0, 9], missing: 0}",
            "other: {type: decimal, scale: 2, bounds: [0, 9]}"},
           {"other: {type: decimal, scale: 2,", "other: {type: decimal, scale: 3,"},
           {"bins: [0, 1, 9]", "bins: [0, 2, 9]"}}) {
    CAPTURE(from, to);
    CHECK_FALSE(is_refused(text, only_replaced(text, from, to)));
  }
}

TEST_CASE("policy charged: a unit is the column that the source calls so, by whatever name",
          "[engine][charged][negative]") {
  const std::string policy = file_text(EPSILOG_SOURCE_DIR "/tests/engine/curating/charged_unit.yaml");
  const auto declaring = [&](const std::string& unit, const std::string& column) {
    return parsed(only_replaced(policy, "{id: patient,", "{id: " + unit + ",") + column);
  };
  const Policy before = parsed(policy);
  // A column declared later under the text that the id was would make somebody else the unit.
  const Policy another = declaring("patient", "      patient: {column: visit, type: string}\n");
  CHECK(refused(before, another));
  CHECK(refused(another, before));
  const Policy same = declaring("whose", "      whose: {column: patient, type: string}\n");
  CHECK_FALSE(refused(before, same));
  CHECK_FALSE(refused(same, before));
  const auto renamed = diff(before, same);
  REQUIRE(renamed.size() == 2);
  CHECK(renamed[0].path_text() == "datasets.clinic.unit.id");
  CHECK(name(renamed[0].direction) == "neutral");
  CHECK(refused(same, declaring("whose", "      whose: {column: visit, type: string}\n")));
  CHECK(refused(same, declaring("whose", "")));
  CHECK_FALSE(refused(before, declaring("patient", "      patient: {type: string}\n")));
}

TEST_CASE("policy apply: a charged dataset keeps what a row is, whichever way it would change",
          "[engine][charged][negative]") {
  for (const bool multiline : {false, true}) {
    const auto policy = [](bool spans, const std::string& rest = "") {
      return only_replaced(clinic_policy("epsilon: 3"), "{csv: visits.csv}",
                           std::string("{csv: visits.csv") + (spans ? ", multiline: true" : "") + rest + "}");
    };
    auto [clinic, engine] = Open<Clinic>();
    // Nothing is charged yet.
    REQUIRE(apply(engine, clinic, policy(multiline, ", decimal: '.'") + "# \n").empty());
    (void)release(engine, request("count", "1"));
    const std::string at = multiline ? "4:5: " : "4:31: ";
    CHECK(apply(engine, clinic, policy(!multiline)) ==
          std::vector<std::string>{
              at + "dataset 'clinic' was charged already: source.multiline may not change: what "
                   "was one row of one unit would be others"});
    // What is stored is never refused: it goes on.
    CHECK(release(engine, request("count", "1")).recorded.granted);
    CHECK(apply(engine, clinic, policy(multiline) + "# once more\n").empty());
    CHECK(audit_verify(clinic.ledger()).ok);
  }
}

TEST_CASE("policy apply: a dataset whose budget is only held back keeps what a row is",
          "[engine][charged][negative]") {
  auto [clinic, engine] = Open<Clinic>();
  Request held = request("count", "1");
  held.reservation = ReservationKind::reserved;
  const std::string id = engine.reserve(held, {}).recorded.decision_id;
  const std::string changed =
      only_replaced(clinic_policy("epsilon: 3"), "{csv: visits.csv}", "{csv: visits.csv, delimiter: ';'}");
  CHECK(
      apply(engine, clinic, changed) ==
      std::vector<std::string>{"4:31: dataset 'clinic' was charged already: source.delimiter may not change: "
                               "what was one row of one unit would be others"});
  // Given back, nothing stands in the way: count is computed here, and was not read.
  (void)engine.cancel(id, "alice");
  CHECK(apply(engine, clinic, changed).empty());
}

TEST_CASE("policy apply: the number of rows of a charged dataset stays private, or public",
          "[engine][charged][negative]") {
  std::string policy = clinic_policy("epsilon: 3");
  policy = only_replaced(policy, "add-remove", "replace-one");
  policy = only_replaced(policy, "bounds: [0, 110]}", "bounds: [0, 110], missing: 0}");
  policy = only_replaced(policy, "bounds: [0, 5000]}", "bounds: [0, 5000], missing: 0}");
  const std::string exact = only_replaced(policy, "{max: 100000}", "{exact: 6}");
  const std::vector<std::string> kRefused = {
      "6:5: dataset 'clinic' was charged already: rows may not change: neighbours with another number of "
      "rows are "
      "neighbours on one side only"};
  for (const bool from_exact : {false, true}) {
    auto [clinic, engine] = Open<Clinic>();
    REQUIRE(apply(engine, clinic, from_exact ? exact : policy).empty());
    (void)release(engine, request("sum:age", "1"));
    CHECK(apply(engine, clinic, from_exact ? policy : exact) == kRefused);
  }
}

TEST_CASE("policy apply: the blocks' column of a charged dataset keeps its type, and a source its place",
          "[engine][charged][negative]") {
  const std::string policy = clinic_policy("epsilon: 3", kBlocksOfWard);
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", kBlocksOfWard);
  (void)release(engine, request("count", "1"));
  const std::string wards = "ward: {type: string, values: [A, B, C]}";
  const auto faults =
      apply(engine, clinic, only_replaced(policy, wards, "ward: {type: int, values: [1, 2, 3]}"));
  REQUIRE_FALSE(faults.empty());
  CHECK(std::any_of(faults.begin(), faults.end(), [](const std::string& fault) {
    return fault.starts_with(
        "12:14: dataset 'clinic' was charged already: columns.ward.type may not change: rows");
  }));
  // The same words keep its place, in whichever folder they stand; other words may name that place, or
  // another.
  std::filesystem::create_directory(clinic.folder.path("elsewhere"));
  const auto faults_elsewhere = [&](const std::string& text) {
    clinic.folder.write("elsewhere/changed.yaml", text);
    return engine.review(clinic.folder.path("elsewhere/changed.yaml")).refused.size();
  };
  CHECK(faults_elsewhere(policy + "# moved\n") == 0);
  CHECK(faults_elsewhere(only_replaced(policy, "visits.csv", "../visits.csv")) == 0);
  CHECK(faults_elsewhere(only_replaced(policy, "visits.csv", "../others.csv")) == 1);
}
