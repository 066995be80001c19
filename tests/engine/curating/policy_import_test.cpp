// Metadata of SmartNoise SQL and lomas as policies.
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/policy_draft.hpp"
#include "file_text.hpp"
#include "replaced_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using epsilog::test::replaced;

namespace {

const std::string kSmartNoise = file_text(EPSILOG_SOURCE_DIR "/tests/engine/curating/smartnoise.yaml");
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
  const auto bounds = [](const std::string& lower, const std::string& upper) {
    const std::string yaml =
        "D:\n  S:\n    t:\n      row_privacy: on\n      c: {type: float, lower: " + lower +
        ", upper: " + upper + "}\n";
    const Policy policy = complete(import_metadata(yaml, "m.yaml", with_budget("1")));
    CHECK(policy.datasets()[0].settings("count").mechanism == MechanismChoice::discrete_laplace);
    return *policy.datasets()[0].column("c")->bounds;
  };
  CHECK(bounds("0.1", "0.3").lower == Rational(1, 10));
  CHECK(bounds("-1_000", "+1").lower == -1000);
  CHECK(bounds("-0.0", "1").lower == 0);
  CHECK(bounds("-.5", "5.").lower == Rational(-1, 2));
  CHECK(bounds("-.5", "5.").upper == 5);
  CHECK(bounds("1e-3", "1.5e3").upper == 1500);
  CHECK(bounds("0", "123456789012345678901234567890.123").upper ==
        accounting::parse_rational("123456789012345678901234567890.123", "x"));
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
  CHECK(remarked(notes("clamp_counts: True"), "clamp_counts"));
  CHECK_FALSE(remarked(notes("clamp_counts: False"), "clamp_counts"));
  CHECK(remarked(notes("clamp_columns: no"), "clamp_columns"));
  CHECK(remarked(notes("censor_dims: false"), "censor_dims"));
  CHECK(remarked(notes("use_dpsu: True"), "use_dpsu"));
  CHECK(remarked(notes("sample_max_ids: False"), "sample_max_ids"));
  CHECK(remarked(notes("rows_exact: 1000"), "rows_exact"));
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
  CHECK(fault_of("").find("1:1: ") == 0);
  CHECK(fault_of("- a\n").find("1:1: the metadata: expected a map") == 0);
  CHECK(fault_of("a: {b: {c: {d: {type: int}}}}\ne: {}\n").find("2:1: 'e': a second collection") == 0);
  CHECK(fault_of("engine: x\n").find("1:1: there is no collection") == 0);
  CHECK(fault_of("a: {b: {}}\n").find("1:1: there is no table") == 0);
  CHECK(fault_of("a: {b: {c: {rowz: 3}}}\n").find("1:13: table 'c': 'rowz' is neither") == 0);
  CHECK(fault_of("a: {b: {c: {d: {min: 3, type: int}}}}\n").find("1:17: unknown key 'min'") == 0);
  CHECK(fault_of("a: {b: {c: {d: {lower: 3}}}}\n").find("1:13: column 'd': the key 'type' is missing") == 0);
  CHECK(fault_of(table_with("{type: decimal}")).find("4:17: column 'c'.type: 'decimal' is not one of") == 0);
  CHECK(fault_of(table_with("{type: int, private_id: 1}")).find("4:34: ") == 0);
  CHECK(fault_of(replaced(kLomas, "max_ids: 1", "max_ids: 1.5")).find("1:10: max_ids: '1.5'") == 0);
  CHECK(fault_of(replaced(kLomas, "max_ids: 1", "max_ids: -1")).find("1:10: max_ids: '-1'") == 0);
  CHECK(fault_of(replaced(kLomas, "rows:", "rowss:")).find("3:1: unknown key 'rowss'") == 0);
  CHECK(fault_of(replaced(kLomas, "censor_dims: True", "max_ids: 2")).find("4:1: duplicate key 'max_ids'") ==
        0);
  CHECK(fault_of(replaced(kLomas, "    - 'Gentoo: no'\n", "    - {a: b}\n")).find("12:7: ") == 0);
  ImportOptions smartnoise;
  smartnoise.from = MetadataFormat::smartnoise;
  CHECK(fault_of(kLomas, smartnoise).find("2:1: ") == 0);
  ImportOptions lomas;
  lomas.from = MetadataFormat::lomas;
  CHECK(fault_of(kSmartNoise, lomas).find("1:1: ") == 0);
}
