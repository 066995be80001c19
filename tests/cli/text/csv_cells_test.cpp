// No verb that reads a CSV file for the curator shows a cell of it.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

const std::filesystem::path kFiles = std::filesystem::path(EPSILOG_SOURCE_DIR) / "tests/fixtures/csv";

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Cells, titles and comments of the kept files.
constexpr const char* kCells[] = {"1017",    "1018",     "120.5",   "410.25", "120,5",    "1O5",   "999",
                                  "fell",    "hospital", "clinic,", "31.01",  "1/31",     "13:45", "31-Jan",
                                  "2024/01", "Visits",   "F,34",    "M,71",   "exported", "88.00", "34,A"};

void check_unshown(const Result& result) {
  for (const char* cell : kCells) {
    CAPTURE(cell, result.out, result.err);
    CHECK_FALSE(contains(result.out, cell));
    CHECK_FALSE(contains(result.err, cell));
  }
}

}  // namespace

TEST_CASE("policy init and data check: no cell of a kept file is shown, whatever shape the file has",
          "[cli]") {
  const Workbench bench;
  int drafted = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFiles)) {
    if (entry.path().extension() != ".csv") continue;
    CAPTURE(entry.path().filename().string());
    bench.write("kept.csv", content(entry.path()));
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--json"}, {"--output", "draft.yaml"}}) {
      const Words arguments = with({"policy", "init", "--from-csv", "kept.csv", "--dataset", "ward"}, more);
      const Result made = bench.run(arguments);
      check_unshown(made);
      CHECK((made.exit == 0 || made.exit == 3));
      const bool written = std::filesystem::exists(bench.path("draft.yaml"));
      CHECK(written == (made.exit == 0 && more.size() == 2));
      std::filesystem::remove(bench.path("draft.yaml"));
      if (made.exit == 3) CHECK((made.out.empty() || more.size() == 1));
      (made.exit == 0 ? drafted : refused) += 1;
    }
    for (const char* encoding : {"utf-8", "windows-1252"}) {
      bench.write("p.yaml",
                  std::string("version: 1\ndatasets:\n  clinic:\n    source: {csv: kept.csv, encoding: ") +
                      encoding +
                      "}\n    unit: row\n    rows: {max: 9}\n    neighbours: add-remove\n"
                      "    budget: {epsilon: 1}\n    columns: {age: {type: int, bounds: [0, 60]}, "
                      "ward: {type: string, values: [B]}}\n");
      check_unshown(bench.run({"data", "check", "--policy", "p.yaml"}));
      check_unshown(bench.run({"data", "check", "--policy", "p.yaml", "--json"}));
    }
  }
  CHECK(drafted >= 30);
  CHECK(refused >= 20);
}

TEST_CASE("policy init: a first line that is a record ends with 3, and --header takes it for names",
          "[cli]") {
  const Workbench bench;
  bench.write("visits.csv", content(kFiles / "headerless.csv"));
  const Result refused = bench.run({"policy", "init", "--from-csv", "visits.csv"});
  CHECK(refused.exit == 3);
  CHECK(refused.out.empty());
  CHECK(contains(refused.err, "its first line has numbers or dates where names of columns would stand"));
  CHECK(contains(refused.err, "--header"));
  bench.write("years.csv", "region,2019,2020\nnorth,1,2\nsouth,3,4\n");
  CHECK(bench.run({"policy", "init", "--from-csv", "years.csv"}).exit == 3);
  const Result told = bench.run({"policy", "init", "--from-csv", "years.csv", "--header"});
  CHECK(told.exit == 0);
  CHECK(contains(told.out, "_2019: {column: \"2019\", type: int}"));
}
