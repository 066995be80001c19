// What docs/policy.md shows of policies is accepted as it stands there, and docs/filters.md cites what the
// accounts cite.
#include "epsilog/accounting/filter_theorem.hpp"
#include "file_text.hpp"
#include "policy_text.hpp"
#include "support/catch.hpp"

using namespace epsilog;

namespace {

using Texts = std::vector<std::string>;

/// The content of every block marked yaml.
Texts examples(const std::filesystem::path& document) {
  std::ifstream stream(document);
  REQUIRE(stream);
  Texts found;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) {
      inside = line == "```yaml";
      if (inside) found.emplace_back();
    } else if (inside) {
      found.back() += line + "\n";
    }
  }
  return found;
}

/// A dataset with whatever the examples name, in which the keys of the example stand for its own.
std::string completed(const std::string& example) {
  std::map<std::string, std::string> top{
      {"version", "version: 1\n"},
      {"replica", ""},
      {"checkpoint", ""},
      {"principals", "principals: {alice: {roles: [research]}, bob: {roles: [planning]}, carol: {}}\n"}};
  std::map<std::string, std::string> keys{{"source", "source: {csv: visits.csv}\n"},
                                          {"unit", "unit: {id: patient_id, max_rows: 3}\n"},
                                          {"rows", "rows: {max: 1000}\n"},
                                          {"neighbours", "neighbours: add-remove\n"},
                                          {"budget", "budget: {epsilon: 3, delta: 1e-6}\n"},
                                          {"purposes", "purposes: [staffing]\n"},
                                          {"columns",
                                           "columns: {visit_date: {type: date}, ward: {type: string, values: "
                                           "[A, B]}, cost: {type: decimal, scale: "
                                           "2, bounds: [0, 5000]}}\n"}};
  std::istringstream lines(example);
  std::string* current = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    if (!line.starts_with(" ")) {
      const std::string key = line.substr(0, line.find(':'));
      current = top.contains(key) ? &top[key] : &keys[key];
      current->clear();
    }
    REQUIRE(current != nullptr);
    *current += (current->empty() ? "" : "    ") + line + "\n";
  }
  std::string yaml =
      top["version"] + top["principals"] + top["replica"] + top["checkpoint"] + "datasets:\n  clinic:\n";
  for (const auto& [key, text] : keys) yaml += "    " + text;
  return yaml;
}

}  // namespace

TEST_CASE("documents: every example of docs/policy.md is a policy, or keys of a dataset, that is accepted",
          "[engine][policy][configs]") {
  const Texts found = examples(std::filesystem::path(EPSILOG_SOURCE_DIR) / "docs" / "policy.md");
  CHECK(found.size() >= 15);
  int whole = 0;
  for (const std::string& example : found) {
    const bool is_whole = example.starts_with("version:");
    whole += is_whole ? 1 : 0;
    const std::string yaml = is_whole ? example : completed(example);
    CAPTURE(yaml);
    CHECK(epsilog::test::faults_of(yaml).empty());
  }
  CHECK(whole == 1);
}

TEST_CASE("documents: docs/filters.md names the source of every filter", "[engine][policy][configs]") {
  using accounting::FilterKind;
  const std::string document =
      epsilog::test::file_text(std::filesystem::path(EPSILOG_SOURCE_DIR) / "docs" / "filters.md");
  for (const auto kind : {FilterKind::pure, FilterKind::approximate, FilterKind::zcdp, FilterKind::renyi}) {
    const std::string theorem(accounting::filter_theorem(kind));
    const auto opened = theorem.rfind('(');
    REQUIRE(opened != std::string::npos);
    const std::string source = theorem.substr(opened + 1, theorem.rfind(')') - opened - 1);
    CAPTURE(source);
    CHECK(source.size() > 10);
    CHECK(document.find(source) != std::string::npos);
  }
}
