// A machine that gives no randomness, and bytes that are no text.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

constexpr const char* kNotUtf8 =
    "a\xff\xfe"
    "b";

}  // namespace

TEST_CASE("arguments: what is not UTF-8 ends with 2, whichever argument it is",
          "[cli][arguments][negative]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  const std::vector<std::string> release{"release", "clinic", "count", "--epsilon", "0.1"};
  for (const CaseRow& words : cli_table("text/commands_not_utf8.tsv")) {
    for (const bool json : {false, true}) {
      CAPTURE(words, json);
      const Result result = bench.with_ledger(json ? with({"--json"}, words) : words);
      CAPTURE(result.err, result.out);
      CHECK(result.exit == 2);
      CHECK(lines(result.err) == 1);
      if (json) CHECK(result.json()["error"]["code"] == "usage");
    }
  }
  CHECK(bench.run({"budget", "--ledger", kNotUtf8}).exit == 2);
  Workbench named;
  named.environment["EPSILOG_LEDGER"] = kNotUtf8;
  CHECK(named.run({"budget"}).exit == 2);
  CHECK(dump(bench.path("L")) == before);
}

TEST_CASE("policies: what is not UTF-8 in the file ends with 3 and names the place",
          "[cli][policy][negative]") {
  const Workbench bench;
  bench.write("policy.yaml", std::string(kClinicPolicy) + "      # " + kNotUtf8 + "\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"policy", "check", "policy.yaml"},
                                                {"init", "--policy", "policy.yaml", "--ledger", "L"}}) {
    const Result result = bench.run(words);
    CAPTURE(words, result.err);
    CHECK(result.exit == 3);
    check_parts(result.err, {"policy.yaml:15:", "UTF-8"});
  }
}

TEST_CASE("no randomness: every verb that draws or makes an id ends with 7, and nothing is charged",
          "[cli][negative][entropy]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  Streams streams;
  streams.no_randomness = true;
  const Result result =
      bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--json"}, streams);
  if (result.exit == 125) return;  // no filter can be had here
  CAPTURE(result.err);
  CHECK(result.exit == 7);
  CHECK(result.json()["error"]["code"] == "entropy_unavailable");
  CHECK(bench.run({"init", "--policy", "policy.yaml", "--ledger", "M"}, streams).exit == 7);
  CHECK(dump(bench.path("L")) == before);
  // What draws nothing works.
  CHECK(bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1"}, streams).exit == 0);
  CHECK(bench.with_ledger({"audit", "verify"}, streams).exit == 0);
}

// A sanitizer maps terabytes for itself.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("no memory: what does not fit ends with 7, charges nothing, and fits later",
          "[cli][negative][memory]") {
  const Workbench bench(kClinicPolicy);
  const std::string before = dump(bench.path("L"));
  Streams streams;
  streams.input = std::string(16'000'000, '5');
  const std::vector<std::string> words{"release", "clinic", "value:auc", "--epsilon", "0.01", "--value", "-"};
  streams.address_space_max = 48L << 20;
  const Result result = bench.with_ledger(words, streams);
  CAPTURE(result.err);
  check_ended(result, 7, "epsilog: out of memory");
  CHECK(dump(bench.path("L")) == before);
  streams.address_space_max = -1;
  CHECK(bench.with_ledger(words, streams).exit == 0);
}
#endif
