// The JSON contract: which fields there are, and of which type.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

/// Decimal without exponent and trailing zeros, or p/q.
bool is_quantity(const json& value) {
  if (!value.is_string()) return false;
  const std::string text = value;
  if (text.empty() || text.find_first_not_of("0123456789-./") != std::string::npos) return false;
  return text.find('.') == std::string::npos || text.back() != '0';
}

bool is_quantity_or_null(const json& value) {
  return value.is_null() || is_quantity(value);
}
bool is_number_or_null(const json& value) {
  return value.is_null() || value.is_number();
}
bool is_text(const json& value) {
  return value.is_string();
}
bool is_text_or_null(const json& value) {
  return value.is_null() || value.is_string();
}
bool is_count(const json& value) {
  return value.is_number_integer();
}
bool is_count_or_null(const json& value) {
  return value.is_null() || value.is_number_integer();
}
bool is_boolean(const json& value) {
  return value.is_boolean();
}
bool is_list(const json& value) {
  return value.is_array();
}
bool is_list_or_null(const json& value) {
  return value.is_null() || value.is_array();
}

using Shape = std::vector<std::pair<std::string, std::function<bool(const json&)>>>;

void check_shape(const json& object, const Shape& shape) {
  REQUIRE(object.is_object());
  for (const auto& [field, check] : shape) {
    CAPTURE(field, object.dump());
    REQUIRE(object.contains(field));
    CHECK(check(object[field]));
  }
}

const Shape kAccount = {{"dataset", is_text},      {"scope", is_text},     {"measure", is_text},
                        {"limit", is_quantity},    {"spent", is_quantity}, {"reserved", is_quantity},
                        {"remaining", is_quantity}};
const Shape kReason = {{"code", is_text},
                       {"scope", is_text},
                       {"limit", is_quantity_or_null},
                       {"spent", is_quantity_or_null},
                       {"charge", is_quantity_or_null},
                       {"over_by", is_quantity_or_null},
                       {"fits", is_quantity_or_null},
                       {"message", is_text}};
const Shape kEpsilon = {{"requested", is_quantity},
                        {"charged", is_quantity},
                        {"adjusted", is_quantity_or_null},
                        {"published", is_quantity_or_null}};
const Shape kComponent = {{"statistic", is_text},         {"epsilon", is_quantity},
                          {"sensitivity", is_quantity},   {"scale", is_quantity},
                          {"grid", is_quantity},          {"bound", is_quantity},
                          {"value", is_quantity_or_null}, {"precision", is_count_or_null}};
const Shape kCell = {{"group", is_text},
                     {"value", is_quantity_or_null},
                     {"value_decimal", is_number_or_null},
                     {"value_hex", is_text_or_null}};

Shape answer_shape() {
  static const std::map<std::string, bool (*)(const json&)> kChecks = {
      {"text", is_text},
      {"count", is_count},
      {"quantity", is_quantity},
      {"boolean", is_boolean},
      {"list", is_list},
      {"text or null", is_text_or_null},
      {"count or null", is_count_or_null},
      {"quantity or null", is_quantity_or_null},
      {"number or null", is_number_or_null},
      {"list or null", is_list_or_null}};
  Shape shape;
  for (const CaseRow& row : cli_table("text/answer_fields.tsv"))
    shape.emplace_back(row.at(0), kChecks.at(row.at(1)));
  return shape;
}

void check_answer(const json& answer, bool with_accuracy) {
  check_shape(answer, answer_shape());
  check_shape(answer["epsilon"], kEpsilon);
  CHECK_FALSE(answer["accounts"].empty());
  CHECK_FALSE(answer["components"].empty());
  for (const json& account : answer["accounts"]) check_shape(account, kAccount);
  for (const json& reason : answer["reasons"]) check_shape(reason, kReason);
  for (const json& component : answer["components"]) check_shape(component, kComponent);
  if (answer["cells"].is_array()) {
    for (const json& cell : answer["cells"]) check_shape(cell, kCell);
  }
  CHECK(answer.contains("accuracy") == with_accuracy);
  if (!with_accuracy) return;
  for (const json& one : answer["accuracy"])
    check_shape(one, {{"alpha", is_quantity}, {"within", is_quantity}});
}

}  // namespace

TEST_CASE("json: init, budget, policy show, policy check and audit verify have their fields", "[cli][json]") {
  const Workbench bench;
  bench.write("policy.yaml", kClinicPolicy);
  const json made = run_json(bench, {"init", "--policy", "policy.yaml"});
  check_shape(made, {{"ledger", is_text}, {"ledger_id", is_text}, {"policy_sha256", is_text}});
  CHECK(made["policy_sha256"].get<std::string>().size() == 64);

  const json budget = run_json(bench, {"budget"});
  CHECK(budget["ledger_id"] == made["ledger_id"]);
  REQUIRE(budget["accounts"].size() == 1);
  check_shape(budget["accounts"][0], kAccount);
  CHECK(budget["accounts"][0]["active"] == true);

  const json shown = run_json(bench, {"policy", "show"});
  CHECK(shown["yaml"] == kClinicPolicy);
  CHECK(shown["policy_sha256"] == made["policy_sha256"]);
  CHECK(shown["policy_version"] == 1);

  const json verified = run_json(bench, {"audit", "verify"});
  check_shape(verified, {{"ok", is_boolean}, {"records", is_count}, {"faults", is_list}});
  CHECK(verified["ok"] == true);
  CHECK(verified["faults"].empty());

  const json checked = bench.run({"policy", "check", "policy.yaml", "--json"}).json();
  check_shape(checked, {{"ok", is_boolean}, {"faults", is_list}, {"warnings", is_list}});
  CHECK(checked["ok"] == true);
  CHECK(checked["faults"].empty());
}

TEST_CASE("json: release, show, history and plan describe a granted decision alike", "[cli][json]") {
  const Workbench bench(kClinicPolicy);
  for (const char* statistic : {"count", "sum:age", "mean:cost", "histogram:ward"}) {
    CAPTURE(statistic);
    const json planned = run_json(bench, {"plan", "clinic", statistic, "--epsilon", "0.1"});
    check_answer(planned, true);
    check_members(planned, R"({"decision_id": null, "created_at": null, "value": null})");

    const json released =
        run_json(bench, {"release", "clinic", statistic, "--epsilon", "0.1", "--key", statistic});
    check_answer(released, true);
    CHECK(released["decision"] == "granted");
    CHECK(released["decision_id"].get<std::string>().size() == 26);
    CHECK(released["created_at"].get<std::string>().back() == 'Z');
    CHECK(released["value"].is_null() == (std::string(statistic) == "histogram:ward"));

    const json shown = run_json(bench, {"show", released["decision_id"]});
    check_answer(shown, true);
    json expected = released;
    for (const char* may_differ : {"replayed"}) expected.erase(may_differ);
    for (const auto& [field, value] : expected.items()) {
      CAPTURE(field);
      CHECK(shown[field] == value);
    }
  }
  const Result history = bench.with_ledger({"history", "clinic", "--json"});
  CHECK(lines(history.out) == 5);
  std::istringstream stream(decisions_of(history.out));
  std::string previous;
  for (std::string line; std::getline(stream, line);) {
    const json answer = json::parse(line);
    check_answer(answer, false);
    CHECK(previous < answer["decision_id"].get<std::string>());  // oldest first
    previous = answer["decision_id"];
  }
}

TEST_CASE("json: history --limit keeps the last ones, still oldest first", "[cli][json]") {
  const Workbench bench(kClinicPolicy);
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(run_json(bench, {"release", "clinic", "count", "--epsilon", "0.1"})["decision_id"]);
  }
  const Result history = bench.with_ledger({"history", "--limit", "2", "--json"});
  std::istringstream stream(decisions_of(history.out));
  std::string first, second, third;
  std::getline(stream, first);
  std::getline(stream, second);
  CHECK_FALSE(std::getline(stream, third));
  CHECK(json::parse(first)["decision_id"] == ids[2]);
  CHECK(json::parse(second)["decision_id"] == ids[3]);
}

TEST_CASE("json: a refusal carries its reasons and no value", "[cli][json]") {
  const Workbench bench(replaced(
      kClinicPolicy, "    budget: {epsilon: 1}\n",
      "    budget: {epsilon: 1}\n    per_release: {epsilon: 0.5}\n    allow: {statistics: [count, mean]}\n"));
  const json answer = run_json(bench, {"release", "clinic", "sum:cost", "--epsilon", "2"}, 4);
  check_answer(answer, true);
  check_members(answer, R"({"decision": "refused", "value": null})");
  CHECK(answer["accounts"][0]["spent"] == "0");
  // All rules that stand against it, by descending precedence.
  std::vector<std::string> codes;
  for (const json& reason : answer["reasons"]) codes.push_back(reason["code"]);
  CHECK(codes == std::vector<std::string>{"statistic_not_allowed", "per_release_limit_exceeded",
                                          "dataset_budget_exceeded"});
  CHECK(answer["reasons"][0]["limit"].is_null());
  check_members(answer["reasons"][1], R"({"limit": "0.5", "fits": "0.5"})");

  const json planned = run_json(bench, {"plan", "clinic", "sum:cost", "--epsilon", "2"}, 4);
  CHECK(planned["reasons"] == answer["reasons"]);
  CHECK(planned["decision_id"].is_null());
  check_answer(run_json(bench, {"show", answer["decision_id"]}), true);
}

TEST_CASE("json: multiple alphas give one accuracy each, tighter for larger alpha", "[cli][json]") {
  const Workbench bench(kClinicPolicy);
  const json answer =
      run_json(bench, {"plan", "clinic", "count", "--epsilon", "0.1", "--alpha", "0.05", "--alpha", "1/100"});
  REQUIRE(answer["accuracy"].size() == 2);
  CHECK(answer["accuracy"][0]["alpha"] == "0.05");
  CHECK(answer["accuracy"][1]["alpha"] == "0.01");
  CHECK(std::stod(answer["accuracy"][0]["within"].get<std::string>()) <
        std::stod(answer["accuracy"][1]["within"].get<std::string>()));
}

TEST_CASE("json: every failure is {error: {code, message}} on standard output, and a line on standard error",
          "[cli][json][negative]") {
  const Workbench bench(kClinicPolicy);
  bench.write("bad.yaml", "version: 1\ndatasets: {}\nnonsense: 1\n");
  bench.write("empty.db", "");
  for (const CaseRow& row : cli_table("text/failures.tsv")) {
    const Result result = bench.run(words_of(row.at(0)));
    CAPTURE(row.at(0), result.out, result.err);
    CHECK(std::to_string(result.exit) == row.at(1));
    const json error = result.json()["error"];
    CHECK(error["code"] == row.at(2));
    CHECK_FALSE(error["message"].get<std::string>().empty());
    CHECK_FALSE(result.err.empty());
  }
  std::filesystem::remove(bench.path("visits.csv"));
  const Result source = bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--json"});
  CHECK(source.json()["error"]["code"] == "source_error");
  const json policy = bench.run({"init", "--policy", "bad.yaml", "--ledger", "new", "--json"}).json();
  check_shape(policy["error"]["faults"][0],
              {{"file", is_text}, {"line", is_count}, {"column", is_count}, {"message", is_text}});
}

TEST_CASE("json: accuracy snapping has scale, grid and within", "[cli][json][exact]") {
  const Workbench bench;
  const std::vector<std::string> words = {"accuracy", "snapping",     "--epsilon", "0.1",     "--sensitivity",
                                          "1",        "--bound",      "20",        "--alpha", "0.05",
                                          "--json",   "--arithmetic", "exact"};
  const json report = bench.run(words).json();
  check_members(report, R"({"scale": "10", "grid": "16", "alpha": "0.05"})");
  // Reference value 31.02585 for D = 1, epsilon = 0.1, B = 20; rounded up, at least 17 digits.
  const std::string a = report["within"];
  CHECK(a.substr(0, 7) == "31.0258");
  CHECK(a.size() >= 18);
  check_shape(report["epsilon"], kEpsilon);
  std::vector<std::string> other = words;
  other[9] = "0.01";
  CHECK(bench.run(other).json()["within"] == "36");
  const json mpfr = bench.run({words.begin(), words.end() - 2}).json();
  check_members(mpfr, R"({"arithmetic": "mpfr", "grid": "16"})");
  CHECK(mpfr["precision"].get<int>() >= 118);
}
