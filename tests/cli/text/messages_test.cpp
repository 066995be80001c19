// Messages that once misled, each with what it says now.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/workbench.hpp"

using namespace epsilog::test;
namespace {

void check_says(const Result& result, int exit, const std::string& part) {
  CAPTURE(result.err, part);
  CHECK(result.exit == exit);
  CHECK(lines(result.err) == 1);
  CHECK(contains(result.err, part));
}

}  // namespace

TEST_CASE("messages: what is missing is named at once, with an example that has it",
          "[cli][message][negative]") {
  const Workbench bench;
  check_says(bench.run({"release"}), 2,
             "DATASET and STAT are required, as in `epsilog release clinic count --epsilon 0.1`");
  check_says(bench.run({"init"}), 2,
             "--policy is required, as in `epsilog init --policy clinic.yaml --ledger clinic.epsilog`");
  check_says(bench.run({"forecast", "clinic"}), 2,
             "STAT is required, as in `epsilog forecast clinic count --epsilon 0.1`");
}

TEST_CASE("messages: options are compared without their dashes", "[cli][message][negative]") {
  const Workbench bench;
  check_says(bench.run({"budget", "--verbos"}), 2, "did you mean --verbose?");
  check_says(bench.run({"budget", "--version-of"}), 2, "did you mean --version?");
  const Result far = bench.run({"budget", "--debug"});
  check_says(far, 2, "unknown option --debug");
  CHECK_FALSE(contains(far.err, "did you mean"));
}

TEST_CASE("messages: a statistic that is not offered says what is", "[cli][message][negative]") {
  const Workbench bench(kClinicPolicy);
  const auto ask = [&](const char* statistic) {
    return bench.with_ledger({"release", "clinic", statistic, "--epsilon", "0.1"});
  };
  const Result percentile = ask("percentile:cost");
  check_says(percentile, 2,
             "it is one of count, units, sum, mean, variance, value, quantile, proportion, distinct, "
             "ratio, quantiles, median, histogram; "
             "median:COLUMN is a quantile, and so is quantile:COLUMN:0.9");
  CHECK_FALSE(contains(percentile.err, "did you mean"));
  check_says(ask("max:cost"), 2, "no extreme is offered, since one person's row decides it");
  check_says(ask("avg:cost"), 2, "did you mean 'mean'?");
  check_says(ask("std:cost"), 2, "its square is variance:COLUMN");
  for (const char* none : {"covariance:cost,age", "cov:cost", "correlation:cost,age", "corr:cost"}) {
    check_says(ask(none), 2, "; no covariance and no correlation is offered");
    CHECK_FALSE(contains(ask(none).err, "did you mean"));
  }
  check_says(ask("meen:cost"), 2, "did you mean 'mean'?");
}

TEST_CASE("messages: a query asked as a statistic or a column is told how it is asked",
          "[cli][message][negative]") {
  const Workbench bench(kClinicPolicy);
  check_says(bench.with_ledger({"release", "clinic", "auc", "--epsilon", "0.1", "--value", "0.5"}), 2,
             "a query that the policy names is asked as value:auc");
  check_says(bench.with_ledger({"release", "clinic", "sum:auc", "--epsilon", "0.1"}), 3,
             "declares no column 'auc', but a query of that name: it is asked as value:auc");
}

TEST_CASE("messages: where nothing fits, nothing fits", "[cli][message][negative]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "1"}).exit == 0);
  const Words again = {"release", "clinic", "count", "--epsilon", "0.25"};
  const Result refused = bench.with_ledger(again);
  check_ended(refused, 4, "over by 0.25; nothing fits");
  CHECK_FALSE(contains(refused.err, "at most 0"));
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);  // what is on record is as it was
}

TEST_CASE("messages: a type that others have is told what it is called here", "[cli][message][negative]") {
  const Workbench bench;
  const auto check = [&](const char* type) {
    bench.write("p.yaml",
                replaced(kClinicPolicy, "{type: int, bounds", std::string("{type: ") + type + ", bounds"));
    return bench.run({"policy", "check", "p.yaml"});
  };
  check_says(
      check("float"), 3,
      "'float' is not one of int, decimal, double, string, bool, date. Write double, or decimal with a scale "
      "where amounts are exact");
  check_says(check("varchar"), 3, "Write string");
  check_says(check("integer"), 3, "Did you mean 'int'?");
}

TEST_CASE("messages: who waits for the ledger is told whom for, and nothing with --quiet",
          "[cli][message][negative]") {
  const Workbench bench(kClinicPolicy);
  const int lock = ::open(bench.path("L.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  const Words ask = {"release", "clinic", "count", "--epsilon", "0.1", "--wait", "1.2"};
  const std::string whom = "epsilog: waiting for process " + std::to_string(::getpid()) + " (";
  const Result patient = bench.with_ledger(ask);
  CHECK(patient.exit == 7);
  CHECK(lines(patient.err) == 2);
  CHECK(contains(patient.err, whom));
  CHECK(contains(patient.err, "is in use by process " + std::to_string(::getpid())));
  Words quiet = ask;
  quiet.emplace_back("--quiet");
  const Result silent = bench.with_ledger(quiet);
  check_says(silent, 7, "is in use by process ");
  ::close(lock);
}

TEST_CASE("messages: a ledger that may not be read says whose it is, and not to retry",
          "[cli][message][negative]") {
  const Workbench bench(kClinicPolicy);
  std::filesystem::permissions(bench.path("L"), std::filesystem::perms::none);
  Streams heeding;
  heeding.heed_permissions = true;
  for (const Words& words : {Words{"budget"}, {"history"}, {"audit", "verify"}}) {
    const Result result = bench.with_ledger(words, heeding);
    check_says(result, 3, "may not be read by this user");
    check_parts(result.err, {"it belongs to user ", "Trying again does not help"});
  }
  std::filesystem::permissions(bench.path("L"), std::filesystem::perms::owner_all);
  CHECK(bench.with_ledger({"budget"}, heeding).exit == 0);
}

TEST_CASE("messages: verify names the ledger, the hash of its policy and what was counted",
          "[cli][message][audit]") {
  const Workbench bench(kClinicPolicy);
  REQUIRE(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.5"}).exit == 0);
  const nlohmann::json policy = bench.with_ledger({"policy", "show", "--json"}).json();
  const nlohmann::json verified = bench.with_ledger({"audit", "verify", "--json"}).json();
  for (const char* field : {"ledger_id", "policy_version", "policy_sha256"})
    CHECK(verified[field] == policy[field]);
  check_members(verified, R"({"accounts": 1, "policy_versions": 1})");
  const std::string text = bench.with_ledger({"audit", "verify"}).out;
  CAPTURE(text);
  CHECK(contains(text, "verified: 1 decision, nothing wrong\n"));
  CHECK(contains(text, policy["ledger_id"].get<std::string>() + ", 1 account\n"));
  CHECK(contains(text, "version 1 of 1\n"));
  CHECK(contains(text, policy["policy_sha256"].get<std::string>() + "\n"));
}
