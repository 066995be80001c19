// Metadata of SmartNoise SQL and lomas as policies.
#include "checked_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_draft.hpp"
#include "file_text.hpp"
#include "replaced_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

const std::string kSmartNoise = file_text(EPSILOG_SOURCE_DIR "/tests/engine/curating/smartnoise.yaml");
const std::string kImports = EPSILOG_SOURCE_DIR "/tests/engine/curating/imports.tsv";
const std::string kLomas = file_text(EPSILOG_SOURCE_DIR "/tests/engine/curating/lomas.yaml");

ImportOptions with_budget(const char* epsilon, const char* delta = nullptr) {
  ImportOptions options;
  options.epsilon = Epsilon::parse_down(epsilon);
  if (delta != nullptr) options.delta = Delta::parse_down(delta);
  return options;
}

Policy complete(const PolicyDraft& draft) {
  INFO(draft.yaml);
  REQUIRE(draft.valid);
  return checked_policy(draft.yaml, "draft.yaml");
}

bool remarked(const std::vector<PolicyDraft::Remark>& remarks, const std::string& part) {
  return std::any_of(remarks.begin(), remarks.end(), [&](const PolicyDraft::Remark& remark) {
    return remark.message.find(part) != std::string::npos;
  });
}

/// "LINE:COLUMN: message" of the one fault.
std::string fault_of(const std::string& yaml, const ImportOptions& options = {}) {
  try {
    static_cast<void>(import_metadata(yaml, "m.yaml", options));
  } catch (const PolicyError& error) {
    REQUIRE(error.faults().size() == 1);
    return error.faults()[0].text().substr(std::string("m.yaml:").size());
  }
  return "none";
}

std::string table_with(const std::string& column) {
  return "D:\n  S:\n    t:\n      c: " + column + "\n";
}

}  // namespace

TEST_CASE("policy import: a SmartNoise table becomes a dataset, exactly", "[engine][draft][exact]") {
  const Policy policy = complete(import_metadata(kSmartNoise, "m.yaml", with_budget("3", "1e-6")));
  REQUIRE(policy.datasets().size() == 1);
  const Dataset& dataset = policy.dataset("PUMS");
  CHECK(dataset.unit.id == "pid");
  CHECK(dataset.unit.max_rows == 4);
  CHECK(dataset.rows.count == 1000);
  CHECK_FALSE(dataset.rows.exact);
  CHECK(dataset.neighbours == Neighbours::add_remove);
  CHECK(dataset.budget.epsilon == Epsilon::parse_down("3"));
  CHECK(dataset.budget.delta == Delta::parse_down("1e-6"));
  REQUIRE(dataset.columns.size() == 5);
  const Column& age = *dataset.column("age");
  CHECK(age.type == ColumnType::integer);
  CHECK(age.bounds->lower == 0);
  CHECK(age.bounds->upper == 100);
  CHECK_FALSE(age.missing.has_value());
  CHECK(dataset.column("sex")->values.empty());
  const Column& income = *dataset.column("income");
  CHECK(income.type == ColumnType::real);
  CHECK(income.bounds->lower == Rational(1, 2));
  CHECK(income.bounds->upper == 500'000);
  CHECK(income.missing == Rational(10));
  CHECK(dataset.column("married")->type == ColumnType::boolean);
  CHECK(dataset.column("born")->type == ColumnType::date);
  CHECK(dataset.column("pid") == nullptr);
}

TEST_CASE("policy import: lomas metadata become a dataset named after the file", "[engine][draft][exact]") {
  const Policy policy = complete(import_metadata(kLomas, "folder/2nd penguins.yaml", with_budget("0.1")));
  const Dataset& dataset = policy.dataset("_2nd_penguins");
  CHECK(dataset.unit.is_row());
  CHECK(dataset.rows.count == 344);
  CHECK(dataset.column("species")->values == std::vector<std::string>{"Adelie", "Yes", "Gentoo: no"});
  CHECK(dataset.column("region")->type == ColumnType::integer);
  CHECK(dataset.column("region")->values == std::vector<std::string>{"1", "2", "30"});
  CHECK_FALSE(dataset.column("region")->bounds.has_value());
  CHECK(dataset.column("bill_length_mm")->bounds->upper == Rational(261, 4));
}

TEST_CASE("policy import: what is missing is left open at its line, and keeps the policy from being accepted",
          "[engine][draft]") {
  const PolicyDraft draft = import_metadata(kSmartNoise, "m.yaml", {});
  CHECK_FALSE(draft.valid);
  CHECK(remarked(draft.todos, "budget: "));
  CHECK(remarked(draft.todos, "source: "));
  CHECK(remarked(draft.todos, "columns.sex.values"));
  CHECK_FALSE(remarked(draft.todos, "columns.age"));
  std::vector<std::string> lines = {""};
  for (const char c : draft.yaml) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  for (const auto& [remarks, word] :
       {std::pair(draft.todos, "# TODO: "), std::pair(draft.notes, "# NOTE: ")}) {
    for (const PolicyDraft::Remark& remark : remarks) {
      const std::string& line = lines.at(static_cast<std::size_t>(remark.line - 1));
      CAPTURE(remark.message, line);
      CHECK(line.find(word + remark.message.substr(0, 20)) != std::string::npos);
    }
  }
  std::string filled = draft.yaml;
  const std::size_t todo = filled.find("    # TODO: budget");
  REQUIRE(todo != std::string::npos);
  filled.insert(todo, "    budget: {epsilon: 1}\n");
  CHECK_NOTHROW(checked_policy(filled, "filled.yaml"));

  const PolicyDraft without_rows = import_metadata(replaced(kLomas, "rows: 344\n", ""), "m.yaml", {});
  CHECK(remarked(without_rows.todos, "rows: {max: N}"));
  CHECK(remarked(import_metadata(replaced(kSmartNoise, "upper: 1e2", "sensitivity: 3"), "m.yaml", {}).todos,
                 "columns.age.bounds: "));
}

TEST_CASE("policy import: whom to protect is never decided for the curator", "[engine][draft]") {
  const ImportOptions budget = with_budget("1");
  // A row, although people have several.
  PolicyDraft draft =
      import_metadata(replaced(kSmartNoise, "max_ids: 4", "row_privacy: True"), "m.yaml", budget);
  CHECK_FALSE(draft.valid);
  CHECK(remarked(draft.todos, "'pid' is a private_id"));
  CHECK(draft.yaml.find("      pid: ") == std::string::npos);  // whatever the unit, nobody may ask about it
  draft = import_metadata(replaced(kLomas, "max_ids: 1", "max_ids: 3"), "m.yaml", budget);
  CHECK_FALSE(draft.valid);
  CHECK(remarked(draft.todos, "max_ids is 3"));
  // Nobody, or several columns.
  draft = import_metadata(replaced(kSmartNoise, ", private_id: True", ""), "m.yaml", budget);
  CHECK_FALSE(draft.valid);
  CHECK(remarked(draft.todos, "No column is a private_id"));
  draft = import_metadata(replaced(kSmartNoise, "{type: boolean}", "{type: boolean, private_id: yes}"),
                          "m.yaml", budget);
  CHECK_FALSE(draft.valid);
  CHECK(remarked(draft.todos, "Several columns"));
  draft = import_metadata(replaced(kSmartNoise, "      pid:", "      'p id':"), "m.yaml", budget);
  CHECK(complete(draft).dataset("PUMS").unit.id == "p id");
  draft = import_metadata(replaced(kSmartNoise, "      max_ids: 4\n", ""), "m.yaml", budget);
  CHECK(complete(draft).dataset("PUMS").unit.max_rows == 1);
  CHECK(remarked(draft.notes, "max_ids was not given"));
}

TEST_CASE("policy import: numbers are taken exactly, or not at all", "[engine][draft][exact]") {
  check_rows(kImports, "bounds", [](const CaseRow& row) {
    const std::string yaml =
        "D:\n  S:\n    t:\n      row_privacy: on\n      c: {type: float, lower: " + row[1] +
        ", upper: " + row.at(2) + "}\n";
    const Policy policy = complete(import_metadata(yaml, "m.yaml", with_budget("1")));
    CHECK(policy.datasets()[0].settings("count").mechanism == MechanismChoice::discrete_laplace);
    const Bounds bounds = *policy.datasets()[0].column("c")->bounds;
    return accounting::text(bounds.lower) + ", " + accounting::text(bounds.upper);
  });
  for (const std::string number : {"010", "0x10", "1:30", ".inf", ".nan", "one", "1__0", "_1", "1e999"}) {
    CAPTURE(number);
    CHECK(fault_of(table_with("{type: float, lower: " + number + ", upper: 9}")).find("4:31: ") == 0);
  }
  // What is a number but no bound of this type is left open.
  CHECK(remarked(import_metadata(table_with("{type: int, lower: 0.5, upper: 9}"), "m.yaml", {}).todos,
                 "columns.c.bounds: "));
  CHECK(remarked(import_metadata(table_with("{type: int, lower: 9, upper: 9}"), "m.yaml", {}).todos,
                 "was not below"));
  CHECK(remarked(
      import_metadata(table_with("{type: int, lower: 0, upper: 9, missing_value: 10}"), "m.yaml", {}).todos,
      "columns.c.missing: 10"));
}

TEST_CASE("policy import: what works otherwise here is noted", "[engine][draft]") {
  const auto notes = [](const std::string& option) {
    return import_metadata(replaced(kSmartNoise, "max_ids: 4", "max_ids: 4\n      " + option), "m.yaml", {})
        .notes;
  };
  for (const CaseRow& row : rows_of(kImports, "note")) CHECK(remarked(notes(row[1]), row.at(2)));
  CHECK_FALSE(remarked(notes("clamp_counts: False"), "clamp_counts"));
  CHECK(remarked(
      import_metadata(table_with("{type: int, lower: 0, upper: 9, sensitivity: 3}"), "m.yaml", {}).notes,
      "columns.c.sensitivity"));
  CHECK(remarked(import_metadata(table_with("{type: string, missing_value: x}"), "m.yaml", {}).notes,
                 "columns.c.missing"));
}

TEST_CASE(
    "policy import: names that cannot stand here are changed, and columns keep what their source calls them",
    "[engine][draft]") {
  const std::string yaml =
      "'':\n"
      "  a:\n"
      "    t: {row_privacy: true, c: {type: boolean}}\n"
      "    't x': {row_privacy: true, 'c\\n  d: {type: bool}': {type: boolean}, in: {type: boolean}, "
      "'age (years)': {type: int}, age_years: {type: int}}\n"
      "  b:\n"
      "    t: {row_privacy: true}\n"
      "engine: postgres\n";
  const PolicyDraft draft = import_metadata(
      replaced(yaml, "'c\\n  d: {type: bool}'", "\"c\\n  d: {type: bool}\""), "m.yaml", with_budget("1"));
  const Policy policy = complete(draft);
  REQUIRE(policy.datasets().size() == 3);
  CHECK(policy.datasets()[0].name == "t");
  CHECK(policy.datasets()[1].name == "t_x");
  CHECK(policy.datasets()[2].name == "b_t");
  CHECK(remarked(draft.notes, "the table was called 't x'"));
  const Dataset& named_otherwise = policy.datasets()[1];
  REQUIRE(named_otherwise.columns.size() == 3);
  CHECK(remarked(draft.todos, "the name 'c?  d: {type: bool}' has control characters"));
  CHECK(remarked(draft.notes, "'in' is named in_column here"));
  CHECK(named_otherwise.header("in_column") == "in");
  CHECK(named_otherwise.header("age_years") == "age_years");
  CHECK(named_otherwise.header("age_years_2") == "age (years)");
  ImportOptions named = with_budget("1");
  named.dataset = "clinic";
  CHECK_THROWS_AS(import_metadata(yaml, "m.yaml", named), InvalidParameter);
  CHECK(complete(import_metadata(kSmartNoise, "m.yaml", named)).dataset("clinic").unit.id == "pid");
}

TEST_CASE("policy import: a file that is not understood is one fault with its place",
          "[engine][draft][negative]") {
  for (const CaseRow& row : rows_of(kImports, "fault")) {
    CAPTURE(row);
    const std::string yaml = row[1] == "lomas" ? replaced(kLomas, row.at(2), row.at(3)) : row[1];
    CHECK(fault_of(yaml).starts_with(row.at(4)));
  }
  ImportOptions smartnoise;
  smartnoise.from = MetadataFormat::smartnoise;
  CHECK(fault_of(kLomas, smartnoise).find("2:1: ") == 0);
  ImportOptions lomas;
  lomas.from = MetadataFormat::lomas;
  CHECK(fault_of(kSmartNoise, lomas).find("1:1: ") == 0);
}
