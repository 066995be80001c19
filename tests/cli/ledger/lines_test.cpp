// audit export and audit import: the records of a ledger as lines, and a read-only ledger of them.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

/// A ledger with a grant, a refusal and a reservation.
void fill(const Workbench& bench) {
  bench.write("policy.yaml", kClinicPolicy);
  REQUIRE(bench.with_ledger({"init", "--policy", bench.path("policy.yaml")}).exit == 0);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "1000"}).exit == 4);
  REQUIRE(bench.with_ledger({"reserve", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
}

}  // namespace

TEST_CASE("audit export: its lines make a ledger that tells and verifies the same, and is read-only",
          "[cli][lines]") {
  const Workbench bench;
  fill(bench);
  const Result exported = bench.with_ledger({"audit", "export"});
  CAPTURE(exported.err);
  REQUIRE(exported.exit == 0);
  bench.write("lines", exported.out);

  const std::string copy = bench.path("copy");
  const Result imported = bench.run({"audit", "import", bench.path("lines"), "--ledger", copy, "--json"});
  CAPTURE(imported.err);
  REQUIRE(imported.exit == 0);
  CHECK(imported.json()["lines"] == lines(exported.out));
  CHECK(imported.json()["read_only"] == true);

  CHECK(bench.run({"audit", "export", "--ledger", copy}).out == exported.out);
  CHECK(bench.run({"audit", "verify", "--ledger", copy}).exit == 0);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"history", "--json"}, {"budget"}}) {
    const Words of_copy = with(words, {"--ledger", copy});
    CHECK(bench.run(of_copy).out == bench.with_ledger(words).out);
  }
  const Result refused = bench.run({"release", "clinic", "count", "--epsilon", "0.1", "--ledger", copy});
  check_ended(refused, 3, "is read-only");
}

TEST_CASE("audit export: --from begins with a line, and may be the number of all", "[cli][lines]") {
  const Workbench bench;
  fill(bench);
  const std::string all = bench.with_ledger({"audit", "export"}).out;
  const std::size_t count = lines(all);
  CHECK(bench.with_ledger({"audit", "export", "--from", "0"}).out == all);
  CHECK(bench.with_ledger({"audit", "export", "--from", "2"}).out ==
        all.substr(all.find('\n', all.find('\n') + 1) + 1));
  const Result none = bench.with_ledger({"audit", "export", "--from", std::to_string(count)});
  CHECK(none.exit == 0);
  CHECK(none.out.empty());
  const Result beyond = bench.with_ledger({"audit", "export", "--from", std::to_string(count + 1)});
  check_ended(beyond, 2, "the ledger has " + std::to_string(count) + " lines");
}

TEST_CASE("audit import: lines that are cut off, changed or missing make no ledger",
          "[cli][lines][negative]") {
  const Workbench bench;
  fill(bench);
  const std::string all = bench.with_ledger({"audit", "export"}).out;
  const auto refused = [&](const std::string& content) {
    bench.write("lines", content);
    const Result result = bench.run({"audit", "import", bench.path("lines"), "--ledger", bench.path("copy")});
    CHECK(result.exit == 6);
    for (const std::string& file : bench.files()) {
      const bool turn =
          file == "copy.lock" || file == "copy.queue";  // of whoever makes a ledger of that name
      CHECK((turn || !file.starts_with("copy")));
    }
    return result.err;
  };
  CHECK(contains(refused(all.substr(0, all.size() - 1)), "the file is not whole"));
  CHECK(contains(refused(all.substr(all.find('\n') + 1)), "line 0"));
  std::string changed = all;
  changed.replace(changed.find("\"kind\":\"ledger\""), 15, "\"kind\":\"Ledger\"");
  CHECK(contains(refused(changed), "line 0"));
  CHECK(contains(refused(""), "there is no line"));
  const Result missing = bench.run({"audit", "import", bench.path("none"), "--ledger", bench.path("copy")});
  CHECK(missing.exit == 2);
}
