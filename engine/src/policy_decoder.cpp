#include "policy_decoder.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

UnitOfPrivacy decode_unit(const Node& node, const Mark& owner, Faults& faults) {
  if (node.kind == Node::Kind::scalar) {
    if (node.text != "row") {
      faults.add(node.mark,
                 "unit: " + shown(node.text) +
                     " is not row; for units that are a column's values write {id: COLUMN, max_rows: K}");
    }
    return {};
  }
  const Fields fields(node, keys::unit, "unit", owner, faults);
  UnitOfPrivacy unit;
  if (const Node* id = fields["id"]) {
    const auto column = text_of(*id, "unit.id", faults);
    if (column && expect_name(*column, id->mark, "column", faults)) unit.id = *column;
  }
  if (const Node* max_rows = fields["max_rows"]) {
    unit.max_rows = count_of(*max_rows, "unit.max_rows", faults).value_or(1);
  }
  return unit;
}

Rows decode_rows(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, keys::rows, "rows", owner, faults);
  Rows rows;
  if (node.kind != Node::Kind::map) return rows;
  if (fields.has("max") == fields.has("exact")) {
    faults.add(owner,
               "rows: write either {max: N}, a public upper bound, or {exact: N}, a public exact number");
    return rows;
  }
  rows.exact = fields.has("exact");
  const std::string_view key = rows.exact ? "exact" : "max";
  if (const Node* count = fields[key]) rows.count = count_of(*count, fields.path(key), faults).value_or(0);
  return rows;
}

std::optional<Measure> decode_measure(const Node& node, Faults& faults) {
  if (node.kind == Node::Kind::scalar && (node.text == "zcdp" || node.text == "rdp")) {
    faults.add(node.mark, "budget.measure: " + shown(node.text) +
                              " is not supported by this version, which has pure and approximate only");
    return std::nullopt;
  }
  const auto choice = choice_of(node, keys::measures, "budget.measure", faults);
  if (!choice) return std::nullopt;
  return *choice == 0 ? Measure::pure : Measure::approximate;
}

Budget decode_budget(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, keys::budget, "budget", owner, faults);
  Budget budget;
  if (const Node* epsilon = fields["epsilon"]) {
    budget.epsilon = amount_of<Epsilon>(*epsilon, "budget.epsilon", faults).value_or(Epsilon{});
  }
  if (const Node* delta = fields["delta"]) {
    const auto amount = amount_of<Delta>(*delta, "budget.delta", faults);
    if (amount && amount->rational() == 1) {
      faults.add(delta->mark, "budget.delta: a delta of 1 protects nobody; it must be below 1");
    }
    budget.delta = amount.value_or(Delta{});
  }
  budget.measure = fields.has("delta") ? Measure::approximate : Measure::pure;
  const Node* written = fields["measure"];
  const std::optional<Measure> measure = written != nullptr ? decode_measure(*written, faults) : std::nullopt;
  if (measure && *measure != budget.measure) {
    faults.add(written->mark, *measure == Measure::pure
                                  ? "budget.measure: pure has no delta; remove delta or write approximate"
                                  : "budget.measure: approximate needs a delta; add delta or write pure");
  }
  return budget;
}

void decode_neighbours(const Node& node, Dataset& dataset, Faults& faults) {
  const auto choice = choice_of(node, keys::neighbours, "neighbours", faults);
  if (choice) dataset.neighbours = *choice == 0 ? Neighbours::add_remove : Neighbours::replace_one;
}

Dataset decode_dataset(const yaml::Entry& entry, Faults& faults) {
  Dataset dataset;
  dataset.name = entry.key;
  dataset.mark = entry.mark;
  const std::size_t faults_before = faults.size();
  const Fields fields(entry.value, keys::dataset, "dataset '" + entry.key + "'", entry.mark, faults);
  if (entry.value.kind != Node::Kind::map) return dataset;

  const auto section = [&](std::string_view key, const auto& decode) {
    if (const Node* node = fields[key]) decode(*node, fields.mark_of(key));
  };
  section("source", [&](const Node& n, const Mark& m) { decode_source(n, m, dataset, faults); });
  section("unit", [&](const Node& n, const Mark& m) { dataset.unit = decode_unit(n, m, faults); });
  section("rows", [&](const Node& n, const Mark& m) { dataset.rows = decode_rows(n, m, faults); });
  section("neighbours", [&](const Node& n, const Mark&) { decode_neighbours(n, dataset, faults); });
  section("budget", [&](const Node& n, const Mark& m) { dataset.budget = decode_budget(n, m, faults); });
  section("per_release", [&](const Node& n, const Mark& m) {
    const Fields cap(n, keys::per_release, "per_release", m, faults);
    if (const Node* epsilon = cap["epsilon"]) {
      dataset.per_release = amount_of<Epsilon>(*epsilon, "per_release.epsilon", faults);
    }
  });
  section("columns", [&](const Node& n, const Mark&) { dataset.columns = decode_columns(n, faults); });
  section("queries", [&](const Node& n, const Mark&) { dataset.queries = decode_queries(n, faults); });
  section("mean_split", [&](const Node& n, const Mark&) {
    dataset.mean_split = probability_of(n, "mean_split", faults).value_or(Rational(1, 2));
  });
  if (fields.has("source") && !fields.has("rows")) {
    faults.add(entry.mark,
               "dataset '" + entry.key +
                   "': the key 'rows' is missing; write rows: {max: N}, or {exact: N} if the size is public");
  }
  if (const Node* allow = fields["allow"]) decode_allow(*allow, fields.mark_of("allow"), dataset, faults);
  decode_release(fields["release"], dataset, faults);
  // Rules between sections would misread a section that could not be read.
  if (faults.size() == faults_before)
    check_rules(dataset, {fields.mark_of("unit"), fields.mark_of("rows")}, faults);
  return dataset;
}

bool is_version_one(const Node& root, Faults& faults) {
  const Node* version = root.find("version");
  if (version == nullptr || version->kind == Node::Kind::refused) return true;  // reported as missing
  if (!expect(*version, Node::Kind::scalar, "version", "1", faults)) return false;
  if (version->text == "1") return true;
  faults.add(version->mark,
             "version: " + shown(version->text) + " is not known; this program reads version 1");
  return false;
}

}  // namespace

std::vector<Dataset> decode_policy(const Node& root, Faults& faults) {
  std::vector<Dataset> datasets;
  // Under another version the same keys may mean something else: every further fault would mislead.
  if (!is_version_one(root, faults)) return datasets;
  const Fields fields(root, keys::policy, "", root.mark, faults);
  const Node* declared = fields["datasets"];
  if (declared == nullptr ||
      !expect(*declared, Node::Kind::map, "datasets", "a map of datasets by name", faults)) {
    return datasets;
  }
  if (declared->entries.empty() && faults.none())
    faults.add(declared->mark, "datasets: declare at least one dataset");
  for (const yaml::Entry& entry : declared->entries) {
    if (!expect_name(entry.key, entry.mark, "dataset", faults)) continue;
    datasets.push_back(decode_dataset(entry, faults));
  }
  return datasets;
}

}  // namespace epsilog::engine
