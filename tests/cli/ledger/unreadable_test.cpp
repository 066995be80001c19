// A row that cannot be read, and what may be typed.
#include "cli/workbench.hpp"

using namespace epsilog::test;

namespace {

const std::vector<std::string> kCount = {"release", "clinic", "count", "--epsilon", "0.1"};

/// The first of three decisions is a reservation whose request is damaged and which is overdue.
struct DamagedBench {
  DamagedBench() {
    bench.init(kClinicPolicy);
    for (const auto& words :
         {std::vector<std::string>{"reserve", "clinic", "count", "--epsilon", "0.1"},
          std::vector<std::string>{"reserve", "clinic", "count", "--epsilon", "0.2"}, kCount}) {
      REQUIRE(bench.with_ledger(words).exit == 0);
    }
    id = decision_id(bench.path("L"), 1);
    const std::string triggers =
        query(bench.path("L"), "SELECT group_concat(sql, ';') FROM sqlite_master WHERE type = 'trigger'");
    std::string drops =
        query(bench.path("L"),
              "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_master WHERE type = 'trigger'");
    tamper(bench.path("L"), drops +
                                ";UPDATE decision SET plan = 0 WHERE seq = 1;"
                                "UPDATE open_decision SET deadline = 946684800000 WHERE seq = 1;" +
                                triggers);
  }
  [[nodiscard]] std::string warning() const {
    return "warning: decision " + id + " cannot be read and stays as it is: ";
  }
  Workbench bench;
  std::string id;
};

}  // namespace

TEST_CASE("unreadable: the row is named on standard error, lists show the others and end with 6",
          "[cli][unreadable][negative]") {
  const DamagedBench damaged;
  const Result history = damaged.bench.with_ledger({"history"});
  CHECK(history.exit == 6);
  CHECK(lines(history.out) ==
        10);  // the question on a line of its own; two events and two decisions, each on two
  CHECK(contains(history.err, damaged.warning()));
  CHECK(lines(history.err) == 1);
  const Result pending = damaged.bench.with_ledger({"pending", "--quiet"});
  CHECK(pending.exit == 6);
  CHECK(lines(pending.out) == 1);
  CHECK(contains(pending.err, damaged.warning()));
  CHECK(damaged.bench.with_ledger({"show", damaged.id}).exit == 6);
  const Result verified = damaged.bench.with_ledger({"audit", "verify"});
  CHECK(verified.exit == 6);
  CHECK(contains(verified.out, damaged.id));
}

TEST_CASE("unreadable: writers warn of it and go on", "[cli][unreadable]") {
  const DamagedBench damaged;
  for (int i = 0; i < 2; ++i) {
    const Result released = damaged.bench.with_ledger(kCount);
    check_ended(released, 0, damaged.warning());
  }
  CHECK(damaged.bench.with_ledger({"forecast", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  CHECK(damaged.bench.with_ledger({"plan", "clinic", "count", "--epsilon", "0.1"}).exit == 0);
  CHECK(damaged.bench.with_ledger({"budget"}).exit == 0);
}

TEST_CASE("typed: caps end with 2, and whatever is on record under the key is answered",
          "[cli][unreadable]") {
  const Workbench bench(kClinicPolicy);
  const Result released =
      bench.with_ledger(with(kCount, {"--where", "age > 1e-400", "--key", "k", "--json"}));
  REQUIRE(released.exit == 0);
  const std::string printed = released.json()["where"];
  REQUIRE(printed.size() > 400);
  const Result again = bench.with_ledger(with(kCount, {"--where", printed, "--key", "k", "--json"}));
  CHECK(again.exit == 0);
  CHECK(again.json()["replayed"] == true);
  const Result fresh = bench.with_ledger(with(kCount, {"--where", printed}));
  check_ended(fresh, 2, "is longer than 400 characters");

  const std::string epsilon = "0.1" + std::string(398, '1');  // 401 characters
  const Result too_long = bench.with_ledger({"release", "clinic", "count", "--epsilon", epsilon});
  CHECK(too_long.exit == 2);
  check_parts(too_long.err, {"--epsilon: '0.1", "is too long: at most 400 characters"});
  CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", "1" + std::string(400, '0') + "e-401"})
            .exit == 2);
  CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", "1e999999999"}).exit == 2);
  CHECK(bench.with_ledger({"release", "clinic", "count", "--epsilon", "0.1", "--where", "age > 1e999999999"})
            .exit == 2);
  CHECK(lines(decisions_of(bench.with_ledger({"history", "--json"}).out)) >= 1);
  CHECK(query(bench.path("L"), "SELECT count(*) FROM decision") == "1");

  // An epsilon of 400 decimals is typed in 399 characters and repeated as it is recorded.
  const std::string typed = std::string(394, '3') + "e-400";
  const std::vector<std::string> long_epsilon = {"release", "clinic", "count",    "--key",
                                                 "e",       "--json", "--epsilon"};
  REQUIRE(bench.with_ledger(with(long_epsilon, {typed})).exit == 0);
  const Result repeated = bench.with_ledger(with(long_epsilon, {"0.000000" + std::string(394, '3')}));
  CHECK(repeated.exit == 0);
  CHECK(repeated.json()["replayed"] == true);
  CHECK(bench.with_ledger({"audit", "verify"}).exit == 0);
}
