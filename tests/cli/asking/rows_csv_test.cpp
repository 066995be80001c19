// --format csv: every verb that prints rows prints as a table what --json says, and every other one refuses.
#include <regex>

#include "cli/csv_table.hpp"
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

using Rows = std::vector<json>;

Rows items(const json& list) {
  return {list.begin(), list.end()};
}
Rows with_fields(Rows rows, const json& object, const Words& fields) {
  for (json& row : rows) {
    for (const std::string& field : fields) row[field] = object.at(field);
  }
  return rows;
}

// What the rows of each verb are, of what it prints with --json.
Rows of_accounts(const std::string& text) {
  return items(json::parse(text).at("accounts"));
}
Rows of_credentials(const std::string& text) {
  return items(json::parse(text).at("credentials"));
}
Rows of_changes(const std::string& text) {
  Rows rows;
  const json object = json::parse(text);
  for (const char* list : {"looser", "tighter", "other"}) {
    for (const json& change : object.at(list)) rows.push_back(change);
  }
  return rows;
}
Rows of_columns(const std::string& text) {
  Rows rows;
  const json object = json::parse(text);
  for (json dataset : object.at("datasets")) {
    const json columns = dataset.at("columns");
    dataset.erase("columns");
    for (const json& column : columns) {
      rows.push_back(dataset);
      rows.back().update(column);
    }
  }
  return rows;
}
Rows of_mechanisms(const std::string& text) {
  return items(json::parse(text).at("mechanisms"));
}
Rows of_datasets(const std::string& text) {
  return items(json::parse(text).at("datasets"));
}
Rows all_but_last(const std::string& text) {
  Rows rows = json_lines(text);
  rows.pop_back();  // the summary, or the events
  return rows;
}
Rows of_forecast(const std::string& text) {
  const json object = json::parse(text);
  return with_fields(items(object.at("accounts")), object, {"epsilon", "never"});
}
/// Lists of intervals are told in columns: of each alpha one.
json numbered(const json& list) {
  json object = json::object();
  for (std::size_t i = 0; i < list.size(); ++i) object[std::to_string(i)] = list[i];
  return object;
}
Rows of_values(const std::string& text) {
  const json object = json::parse(text);
  Rows rows;
  if (object.at("cells").is_null()) {
    rows.push_back({{"interval", object.at("interval")}});
    rows = with_fields(rows, object, {"value", "value_decimal", "value_hex"});
  } else {
    rows = items(object.at("cells"));
  }
  for (json& row : rows) {
    for (const char* list : {"interval", "simultaneous"}) {
      if (row.contains(list) && row.at(list).is_array()) row[list] = numbered(row.at(list));
    }
  }
  return with_fields(rows, object, {"decision_id"});
}

struct Verb {
  std::string words;
  Words more;
  Rows (*rows)(const std::string& text);
};

/// A clinic whose ledger has something of everything, under names that mean something to a spreadsheet.
class Told {
 public:
  Told() {
    const std::string policy = std::string(kClinicPolicy) + "principals: {alice: {}, bob: {}}\n";
    bench.init(policy);
    bench.write("later.yaml", replaced(policy, "budget: {epsilon: 1}", "budget: {epsilon: 2}"));
    const auto run = [this](const Words& words, int exit = 0) {
      const Result result = bench.with_ledger(words);
      CAPTURE(words, result.err);
      REQUIRE(result.exit == exit);
      return result;
    };
    const Words alice = {"--as", "alice"};
    run(Words{"release", "clinic", "count", "--by", "ward", "--epsilon", "0.1", "--key", "=1+1"} + alice);
    run(Words{"release", "clinic", "mean:cost", "--where", "ward in ('it''s, C', 'A')", "--epsilon", "1/7",
              "--key", "mean"} +
        alice);
    run(Words{"release", "clinic", "count", "--epsilon", "7"} + alice, 4);
    const std::string id = run(Words{"reserve", "clinic", "sum:age", "--epsilon", "0.1", "--json"} + alice)
                               .json()["decision_id"];
    committed = id;
    run(Words{"commit", id} + alice);
    run(Words{"reserve", "clinic", "count", "--epsilon", "0.05"} + alice);
    run(Words{"credentials", "add", "alice", "--uid", "1000", "--why", "-hired, in \"January\""} + alice);
    run(Words{"credentials", "add", "bob", "--uid", "1001", "--id", "b", "--why", "'quoted"} + alice);
    run(Words{"credentials", "revoke", "b", "--why", "@home"} + alice);
  }

  [[nodiscard]] std::vector<Verb> verbs() const {
    const Words count = {"clinic", "count", "--by", "ward", "--epsilon", "0.1", "--as", "alice"};
    return {
        {"budget", {}, &of_accounts},
        {"history", {}, &all_but_last},
        {"pending", {}, &json_lines},
        {"credentials list", {}, &of_credentials},
        {"policy diff", {"later.yaml"}, &of_changes},
        {"data check", {}, &of_columns},
        {"plan", count + Words{"--delta", "1e-6", "--compare"}, &of_mechanisms},
        {"forecast", {"clinic", "count", "--epsilon", "0.1", "--as", "alice"}, &of_forecast},
        {"release", count + Words{"--key", "=1+1", "--alpha", "0.05", "--alpha", "0.5"}, &of_values},
        {"commit", {committed, "--as", "alice"}, &of_values},
        {"show", {committed}, &of_values},
        {"audit replay", {}, &all_but_last},
        {"audit reaccount", {}, &of_datasets},
    };
  }

  Workbench bench;
  std::string committed;
};

bool is_number(const std::string& text) {
  static const std::regex kNumber("-?([0-9]+([./][0-9]+)?|0x[0-9a-f]+(\\.[0-9a-f]+)?p[+-]?[0-9]+)");
  return std::regex_match(text, kNumber);
}

/// How a cell has to stand there.
std::string cell_of(const json& field) {
  if (field.is_null()) return "";
  if (!field.is_string()) return field.dump();
  const std::string text = field;
  const bool guarded = !text.empty() && contains("=+-@'", text.substr(0, 1)) && !is_number(text);
  return (guarded ? "'" : "") + text;
}

/// Every field of the row is in its cell; takes the columns it met out of `left`.
void check_fields(const CsvTable& table, std::size_t row, const json& object, const std::string& prefix,
                  std::set<std::string>& left) {
  for (const auto& [name, field] : object.items()) {
    const std::string column = prefix + name;
    INFO("row " << row << ", column " << column);
    if (field.is_object()) {
      check_fields(table, row, field, column + ".", left);
    } else if (field.is_array()) {
      REQUIRE(left.erase(column) == 1);
      const std::string& cell = table.at(row, column);
      CHECK(json::parse(cell) == field);
      CHECK(std::all_of(cell.begin(), cell.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    } else if (!field.is_null()) {
      REQUIRE(left.erase(column) == 1);
      CHECK(table.at(row, column) == cell_of(field));
    }
  }
}

void check_table(const CsvTable& table, const Rows& rows) {
  REQUIRE(table.rows.size() == rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::set<std::string> left(table.header.begin(), table.header.end());
    REQUIRE(left.size() == table.header.size());
    check_fields(table, row, rows[row], "", left);
    for (const std::string& column : left) {
      INFO("row " << row << ", column " << column);
      CHECK(table.at(row, column).empty());
    }
  }
}

Words split(const std::string& words) {
  const std::size_t blank = words.find(' ');
  if (blank == std::string::npos) return {words};
  return {words.substr(0, blank), words.substr(blank + 1)};
}

/// Every verb, as the help lists them.
std::vector<std::string> all_verbs(const Workbench& bench) {
  std::vector<std::string> verbs;
  Workbench wide;
  wide.environment["COLUMNS"] = "400";
  const std::string help = wide.run({"--help"}).out;
  static const std::regex kVerb("  ([a-z]+( [a-z-]+)?)  +[^ ].*");
  bool listed = false;
  std::istringstream text(help);
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(" ")) listed = line.starts_with("Verbs") || line.starts_with("Calculators");
    std::smatch found;
    if (listed && std::regex_match(line, found, kVerb)) verbs.push_back(found[1]);
  }
  static_cast<void>(bench);
  return verbs;
}

}  // namespace

TEST_CASE("csv: what a verb prints as rows is what --json says of them, field by field", "[cli][csv]") {
  const Told told;
  const std::string before = dump(told.bench.path("L"));
  for (const Verb& verb : told.verbs()) {
    const Words words = split(verb.words) + verb.more;
    CAPTURE(verb.words);
    const Result as_json = told.bench.with_ledger(words + Words{"--json"});
    const Result as_csv = told.bench.with_ledger(words + Words{"--format", "csv"});
    CAPTURE(as_json.out, as_json.err, as_csv.out, as_csv.err);
    CHECK(as_csv.exit == as_json.exit);
    const Rows rows = verb.rows(as_json.out);
    REQUIRE_FALSE(rows.empty());
    check_table(CsvTable::read(as_csv.out), rows);
    // The same for people, whether they say so or not.
    CHECK(told.bench.with_ledger(words + Words{"--format", "table"}).out ==
          told.bench.with_ledger(words).out);
  }
  CHECK(dump(told.bench.path("L")) == before);
}

TEST_CASE("csv: every verb of the command either prints rows or takes no --format", "[cli][csv][negative]") {
  const Told told;
  std::set<std::string> of_rows = {"audit export"};  // whose table has columns of its own
  for (const Verb& verb : told.verbs()) of_rows.insert(verb.words);
  const std::vector<std::string> verbs = all_verbs(told.bench);
  REQUIRE(verbs.size() > 50);
  for (const std::string& words : verbs) {
    CAPTURE(words);
    const bool has_rows = of_rows.erase(words) == 1;
    CHECK(contains(told.bench.run(split(words) + Words{"--help"}).out, "--format FORMAT") == has_rows);
    if (has_rows) continue;
    const Result refused = told.bench.with_ledger(split(words) + Words{"--format", "csv"});
    CHECK(refused.exit == 2);
    CHECK(refused.out.empty());
    CHECK(contains(refused.err, "takes no --format"));
    CHECK(lines(refused.err) == 1);
  }
  CHECK(of_rows.empty());
}

TEST_CASE("csv: another format, one beside --json, and what has no rows end with 2", "[cli][csv][negative]") {
  const Told told;
  const auto check = [&](const Words& words, const std::string& part) {
    const Result result = told.bench.with_ledger(words);
    CAPTURE(words, result.err);
    check_ended(result, 2, part);
    CHECK(lines(result.err) == 1);
  };
  for (const Verb& verb : told.verbs()) {
    const Words words = split(verb.words) + verb.more;
    check(words + Words{"--format", "xml"}, "--format: 'xml' must be table or csv");
    check(words + Words{"--format", ""}, "--format: '' must be table or csv");
    check(words + Words{"--format", "csv", "--json"}, "--format: not with --json; give either");
    check(words + Words{"--json", "--format", "table"}, "--format: not with --json; give either");
  }
  check({"plan", "clinic", "count", "--epsilon", "0.1", "--as", "alice", "--format", "csv"},
        "of plan goes with --compare or --batch");
}

TEST_CASE("csv: what is refused, waits or fails is a message, and no row", "[cli][csv][negative]") {
  const Told told;
  const Words alice = {"--as", "alice"};
  const Result refused = told.bench.with_ledger(
      Words{"release", "clinic", "count", "--epsilon", "7", "--format", "csv"} + alice);
  CAPTURE(refused.out, refused.err);
  CHECK(refused.exit == 4);
  CHECK(CsvTable::read(refused.out).rows.empty());
  CHECK(CsvTable::read(refused.out).header.front() == "decision_id");
  CHECK(contains(refused.err, "dataset_budget_exceeded"));
  const std::string refusal = json::parse(
      decisions_of(told.bench.with_ledger({"history", "--limit", "1", "--json"}).out))["decision_id"];
  const Result shown = told.bench.with_ledger({"show", refusal, "--format", "csv"});
  CHECK(shown.exit == 0);
  CHECK(lines(shown.out) == 1);
  CHECK(contains(shown.err, "refused"));
  const Result failed = told.bench.with_ledger({"budget", "nowhere", "--format", "csv"});
  CHECK(failed.exit == 3);
  CHECK(failed.out.empty());
  CHECK(contains(failed.err, "nowhere"));
  // No row at all is a header all the same.
  const Workbench fresh(kClinicPolicy);
  for (const char* verb : {"history", "pending"}) {
    const Result empty = fresh.with_ledger({verb, "--format", "csv"});
    CHECK(empty.exit == 0);
    CHECK(lines(empty.out) == 1);
    CHECK(CsvTable::read(empty.out).rows.empty());
  }
}

TEST_CASE("csv: numbers are exact, texts are taken for no formula, and nothing is painted", "[cli][csv]") {
  const Told told;
  const CsvTable history = CsvTable::read(told.bench.with_ledger({"history", "--format", "csv"}).out);
  CHECK(history.at(0, "key") == "'=1+1");
  CHECK(history.at(1, "where") == "ward in ('it''s, C', 'A')");
  CHECK(history.at(1, "epsilon.requested") == "1/7");
  CHECK(history.at(1, "epsilon.charged") == "0.142857142857");
  const CsvTable credentials =
      CsvTable::read(told.bench.with_ledger({"credentials", "list", "--format", "csv"}).out);
  CHECK(credentials.at(0, "why") == "'-hired, in \"January\"");
  CHECK(credentials.at(1, "why") == "''quoted");
  CHECK(credentials.at(1, "revoked.why") == "'@home");

  const Workbench bench(replaced(kClinicPolicy, "      auc: {bounds: [0, 1], sensitivity: 0.01}",
                                 "      auc: {bounds: [-100, -50], sensitivity: 0.01}"));
  const Result negative = bench.with_ledger({"release", "clinic", "value:auc", "--epsilon", "1", "--value",
                                             "-75", "--key", "k", "--format", "csv"});
  CAPTURE(negative.out);
  const CsvTable values = CsvTable::read(negative.out);
  REQUIRE(values.rows.size() == 1);
  CHECK(values.at(0, "group").empty());
  for (const char* column : {"value", "value_decimal", "value_hex", "interval.0.low", "interval.0.high"}) {
    CAPTURE(column);
    CHECK(values.at(0, column).substr(0, 1) == "-");
  }
  const Result dummy = bench.run({"release", "clinic", "count", "--by", "ward", "--epsilon", "1", "--dummy",
                                  "--policy", "policy.yaml", "--format", "csv"});
  CAPTURE(dummy.err);
  const CsvTable dummies = CsvTable::read(dummy.out);
  REQUIRE(dummies.rows.size() == 3);
  for (std::size_t row = 0; row < 3; ++row) {
    CHECK(dummies.at(row, "dummy") == "true");
    CHECK(dummies.at(row, "decision_id").empty());
  }
  CHECK(dummies.at(2, "group") == "it's, C");
  // A table of requests is CSV in any case.
  Streams table;
  table.input = "epsilon\n0.1\n";
  const Words batch = {"plan", "clinic", "count", "--batch", "-"};
  CHECK(bench.with_ledger(batch + Words{"--format", "csv"}, table).out ==
        bench.with_ledger(batch, table).out);

  if (!terminals_exist()) return;
  Streams terminal;
  terminal.terminal = true;
  const std::string told_there = told.bench.with_ledger({"budget", "--format", "csv"}, terminal).out;
  CHECK(contains(told_there, "dataset,scope,measure"));
  CHECK_FALSE(contains(told_there, "\x1b"));
}
