// Dummy runs: the plan, the refusals and the noise of a release, from rows that nobody has, with no file
// opened.
#include "epsilog/engine/dummy_release.hpp"

#include "banded_clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "invented_rows.hpp"
#include "row_answer.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::parse_rational;
using namespace engine;

namespace {

Policy policy_of(const std::string& yaml) {
  return engine::checked_policy(yaml, "policy.yaml");
}

/// What a ledger would be given, with the rows that a dummy run invents as its source.
struct Twin {
  explicit Twin(const std::string& yaml) : policy(policy_of(yaml)), folder(in_memory()) {
    const engine::Dataset& dataset = policy.dataset("clinic");
    std::vector<std::string> columns{"patient_id", "age", "cost", "ward"};
    if (dataset.unit.is_row()) columns.erase(columns.begin());
    std::string csv;
    for (const std::string& column : columns) csv += (csv.empty() ? "" : ",") + column;
    csv += '\n';
    engine::InventedRows rows(dataset, columns);
    std::vector<engine::RawCell> cells(columns.size());
    while (rows.next(cells) != engine::RowSource::Record::none) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        csv += (i == 0 ? "" : ",") + std::string(cells[i].text);
      }
      csv += '\n';
    }
    folder.write("visits.csv", csv);
    folder.write("policy.yaml", yaml);
    (void)Engine::init(folder.path("policy.yaml"), folder.path("L"), "curator");
  }

  [[nodiscard]] Engine open() const { return Engine::open(folder.path("L")); }

  Policy policy;
  TemporaryFolder folder;
};

DummyAnswer dummy(const Policy& policy, const Request& request, std::uint64_t seed = 7) {
  SeededBits bits(seed);
  return engine::dummy_release(policy, request, bits, {accounting::Rational(1, 20)});
}

std::string small(const std::string& budget, const std::string& more = "") {
  std::string text = clinic_policy(budget, more);
  const std::string from = "{max: 100000}";
  return text.replace(text.find(from), from.size(), "{max: 600}");
}

/// Of a policy that keeps its number of rows, so that means and variances are drawn by themselves.
std::string exact_rows() {
  return "version: 1\n"
         "datasets:\n"
         "  clinic:\n"
         "    source: {csv: visits.csv}\n"
         "    unit: row\n"
         "    rows: {exact: 300}\n"
         "    neighbours: replace-one\n"
         "    budget: {epsilon: 9}\n"
         "    columns:\n"
         "      age:  {type: int, bounds: [0, 110], missing: 50}\n"
         "      cost: {type: decimal, scale: 2, bounds: [0, 5000], missing: 0}\n"
         "      ward: {type: string, values: [A, B, C]}\n";
}

void same_accuracy(const Answer& one, const Answer& other) {
  REQUIRE(one.planned.accuracy.size() == other.planned.accuracy.size());
  for (std::size_t i = 0; i < one.planned.accuracy.size(); ++i) {
    REQUIRE(one.planned.accuracy[i].size() == 1);
    REQUIRE(other.planned.accuracy[i].size() == 1);
    CHECK(one.planned.accuracy[i][0].a == other.planned.accuracy[i][0].a);
  }
}

void same_release(const Twin& twin, const Request& request) {
  CAPTURE(request.question.statistic.text(), engine::by_text(request.question.by));
  SeededBits bits(7);
  Engine engine = twin.open();
  const Answer released = engine.release(request, bits, {accounting::Rational(1, 20)});
  REQUIRE(released.recorded.granted);
  const DummyAnswer run = dummy(twin.policy, request);
  CHECK(run.would_be.released.component_values == released.released.component_values);
  CHECK(run.would_be.released.values == released.released.values);
  REQUIRE(run.would_be.rows.size() == released.rows.size());
  for (std::size_t row = 0; row < released.rows.size(); ++row) {
    CHECK_FALSE(released.rows[row].released.values.empty());
    CHECK(run.would_be.rows[row].released.values == released.rows[row].released.values);
  }
  REQUIRE(run.would_be.released.intervals.size() == released.released.intervals.size());
  for (std::size_t i = 0; i < released.released.intervals.size(); ++i) {
    CHECK(run.would_be.released.intervals[i].together.size() ==
          released.released.intervals[i].together.size());
  }
  CHECK(run.would_be.planned.record == released.planned.record);
  same_accuracy(run.would_be, released);
  CHECK(run.would_be.planned.notes == released.planned.notes);
  CHECK(run.would_be.planned.precision_reasons == released.planned.precision_reasons);
  CHECK(run.would_be.planned.post_processing == released.planned.post_processing);
  CHECK(run.rows == engine::invented_rows(twin.policy.dataset("clinic")));
}

std::string what(const auto& work) {
  try {
    (void)work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE(
    "dummy run: is bit for bit the release of a ledger whose source has the invented rows, under every "
    "mechanism",
    "[engine][dummy][G1]") {
  for (const std::string mechanism :
       {"", "arithmetic: exact", "binding_probability: 1e-6", "mechanism: discrete_laplace"}) {
    CAPTURE(mechanism);
    const Twin twin(
        small("epsilon: 9", mechanism.empty() ? "" : "    release: {default: {" + mechanism + "}}\n"));
    same_release(twin, request("count", "0.3"));
    same_release(twin, request("units", "0.3", "", std::nullopt, "age >= 40 and ward != 'A'"));
    same_release(twin, request("sum:cost", "0.3", "", "ward"));
    same_release(twin, request("mean:age", "0.3"));
    same_release(twin, request("variance:cost", "0.6", "", "ward"));
  }
}

TEST_CASE("dummy run: is the release of those rows by the Gaussians and of an exact number of rows too",
          "[engine][dummy][G1]") {
  for (const std::string mechanism : {"gaussian", "discrete_gaussian"}) {
    const Twin twin(
        small("epsilon: 9, delta: 1e-4", "    release: {default: {mechanism: " + mechanism + "}}\n"));
    Request asked = request("sum:cost", "0.3", "", "ward");
    asked.delta = parse_rational("1e-6", "delta");
    same_release(twin, asked);
  }
  const Twin exact(exact_rows());
  for (const std::string statistic : {"mean:cost", "variance:age", "sum:age"}) {
    same_release(exact, request(statistic, "0.3"));
  }
  same_release(exact, request("count", "0.3", "", "ward"));
  CHECK(what([&] { return dummy(exact.policy, request("count", "0.3")); }) ==
        what([&] { return exact.open().plan(request("count", "0.3"), {}); }));
}

TEST_CASE("dummy run: is the release of those rows whatever is asked, of tables, totals and batches too",
          "[engine][dummy][quantile][counted][table][totals][batch][G1]") {
  std::string yaml = banded("epsilon: 100, delta: 1e-4",
                            "    allow: {statistics: [count, units, sum, mean, variance, quantile, count_of, "
                            "proportion, distinct, ratio, private_variance]}\n"
                            "    release: {default: {mechanism: discrete_laplace}}\n");
  yaml.replace(yaml.find("{max: 100000}"), 13, "{max: 600}");
  const Twin twin(yaml);
  Request batch = request("count", "1");
  batch.question = {};
  batch.epsilon = accounting::Rational(0);
  batch.delta = parse_rational("1e-6", "delta");
  for (const char* statistic : {"count", "median:age", "quantiles:age:0.25,0.5,0.75", "count:age",
                                "proportion:ward:B", "distinct:ward", "ratio:cost,age", "variance:age"}) {
    for (const char* by : {"", "ward", "band,ward"}) {
      const Request asked =
          request(statistic, "0.3", "", *by == '\0' ? std::nullopt : std::optional<std::string>(by));
      same_release(twin, asked);
      batch.rows.push_back({asked.question, asked.epsilon});
    }
  }
  for (const bool consistent : {false, true}) {
    Request asked = request("count", "0.5", "", "band,ward");
    engine::with_totals(asked.question, accounting::Rational(1, 3), consistent);
    same_release(twin, asked);
  }
  same_release(twin, batch);
}

TEST_CASE("dummy run: refuses what a plan on an unspent ledger refuses, with the same reasons",
          "[engine][dummy]") {
  const std::string people =
      "    allow: {statistics: [count, mean], by: [ward]}\n"
      "    forbid: [{columns: [cost]}]\n"
      "    per_release: {epsilon: 1/2}\n"
      "    purposes: [care]\n"
      "    limits: [{each: principal, epsilon: 0.2}]\n";
  std::string yaml = small("epsilon: 0.4", people);
  yaml.replace(yaml.find("datasets:"), 9, "principals:\n  alice: {roles: [research]}\ndatasets:");
  const Twin twin(yaml);
  const Engine engine = twin.open();
  std::size_t refused = 0;
  for (const std::string statistic : {"count", "sum:age", "mean:cost", "mean:age"}) {
    for (const std::string epsilon : {"0.1", "0.3", "0.6"}) {
      for (const std::string who : {"alice", "mallory"}) {
        for (const std::string purpose : {"", "care", "fame"}) {
          Request asked = request(statistic, epsilon);
          asked.principal = who;
          asked.purpose = purpose;
          CAPTURE(statistic, epsilon, who, purpose);
          const Answer plan = engine.plan(asked, {});
          const DummyAnswer run = dummy(twin.policy, asked);
          CHECK(run.would_be.recorded.reasons == plan.recorded.reasons);
          CHECK(run.would_be.recorded.reasons_count == plan.recorded.reasons_count);
          CHECK(run.would_be.recorded.granted == plan.recorded.granted);
          CHECK(run.would_be.recorded.state == plan.recorded.state);
          CHECK(run.would_be.released.values.empty() == !plan.recorded.granted);
          CHECK(run.would_be.released.component_values.empty() == !plan.recorded.granted);
          CHECK((run.rows == 0) == !plan.recorded.granted);
          refused += plan.recorded.granted ? 0 : 1;
        }
      }
    }
  }
  CHECK(refused == 4 * 3 * 2 * 3 - 2);  // count and mean:age at 0.1 by alice for care
}

TEST_CASE("dummy run: a mechanism that a budget cannot express is refused as a plan refuses it",
          "[engine][dummy]") {
  const Twin twin(small("epsilon: 1", "    release: {count: {mechanism: gaussian}}\n"));
  Request asked = request("count", "0.1");
  asked.delta = parse_rational("1e-6", "delta");
  const Answer plan = twin.open().plan(asked, {});
  REQUIRE(plan.recorded.reasons.front().code == engine::RefusalCode::measure_not_expressible);
  CHECK(dummy(twin.policy, asked).would_be.recorded.reasons == plan.recorded.reasons);
}

TEST_CASE("dummy run: what cannot be asked is told in the words of a plan", "[engine][dummy][negative]") {
  const Twin twin(small("epsilon: 1"));
  const Engine engine = twin.open();
  Request elsewhere = request("count", "0.1");
  elsewhere.dataset = "clinik";
  Request long_number = request("count", "0.1");
  long_number.too_long = "--epsilon: too long";
  Request delta = request("count", "0.1");
  delta.delta = parse_rational("1e-6", "delta");
  std::set<std::string> messages;
  for (const Request& asked :
       {elsewhere, long_number, delta, request("mean:ward", "0.1"), request("mean:agee", "0.1"),
        request("distinct:cost", "0.1"), request("count", "0.1", "", "age"),
        request("count", "0.1", "", std::nullopt, "age > 5 and age < 3"),
        request("count", "0.1", "", std::nullopt, "ward = 'a'"), request("count", "1e-18")}) {
    const std::string message = what([&] { return dummy(twin.policy, asked); });
    CHECK_FALSE(message.empty());
    CHECK(message == what([&] { return engine.plan(asked, {}); }));
    messages.insert(message);
  }
  CHECK(messages.size() == 10);
}

TEST_CASE("dummy run: takes no key, no value, no hold and no query, before anything is drawn",
          "[engine][dummy][negative]") {
  const Policy policy = policy_of(clinic_policy("epsilon: 1"));
  SeededBits bits(1);
  const auto refused = [&](const Request& asked) {
    try {
      (void)engine::dummy_release(policy, asked, bits);
    } catch (const InvalidParameter& error) {
      return std::string(error.what());
    }
    FAIL("was answered");
    return std::string();
  };
  CHECK(refused(request("count", "0.1", "monthly")).starts_with("key: "));
  CHECK(refused(supplied("17", "0.1")).starts_with("value: "));
  CHECK(refused(request("value:score", "0.1")).starts_with("'value:score' "));
  Request held = request("count", "0.1");
  held.reservation = engine::ReservationKind::reserved;
  CHECK(refused(held).starts_with("reserve: "));
  CHECK(bits.fills() == 0);
}

TEST_CASE("dummy run: names no ledger, decision, version, account or time", "[engine][dummy]") {
  const DummyAnswer run = dummy(policy_of(clinic_policy("epsilon: 1")), request("mean:cost", "0.1"));
  const Answer::Recorded& recorded = run.would_be.recorded;
  CHECK(recorded.decision_id.empty());
  CHECK(recorded.seq == 0);
  CHECK(recorded.ledger_id.empty());
  CHECK(recorded.created_at.empty());
  CHECK_FALSE(recorded.durable.has_value());
  CHECK_FALSE(recorded.log.has_value());
  CHECK_FALSE(recorded.replayed);
  CHECK(recorded.accounts.empty());
  CHECK(recorded.token.empty());
  CHECK(run.would_be.planned.policy_version == 0);
  CHECK(run.would_be.released.values.size() == 1);
}

TEST_CASE("dummy run: what would wait for approvals is answered, and says that it would wait",
          "[engine][dummy]") {
  std::string yaml = clinic_policy("epsilon: 1", "    approvals: {required: 1, by: {principals: [carol]}}\n");
  yaml.replace(yaml.find("datasets:"), 9, "principals:\n  alice: {}\n  carol: {}\ndatasets:");
  const DummyAnswer run = dummy(policy_of(yaml), request("count", "0.1"));
  CHECK(run.would_be.recorded.state == engine::RequestState::pending);
  CHECK(run.would_be.planned.approvals_required == 1);
  CHECK(run.would_be.released.values.size() == 1);
}

TEST_CASE("dummy run: the largest data that can be declared take a hundred thousand rows",
          "[engine][dummy]") {
  std::string yaml = clinic_policy("epsilon: 1");
  const std::string from = "{max: 100000}";
  yaml.replace(yaml.find(from), from.size(), "{max: 1000000000000}");
  const DummyAnswer run = dummy(policy_of(yaml), request("count", "0.1"));
  CHECK(run.rows == 100'000);
  CHECK(abs(run.would_be.released.values.front() - 100'000) < 5000);  // scale 30: false by chance e^-160
}

TEST_CASE("dummy run: a generator that fails is told, and nothing is answered", "[engine][dummy][negative]") {
  struct Broken final : mechanisms::BitSource {
    void fill(std::span<std::byte>) override { throw EntropyUnavailable("no bits"); }
  } broken;
  const Policy policy = policy_of(clinic_policy("epsilon: 1"));
  CHECK_THROWS_AS(engine::dummy_release(policy, request("count", "0.1"), broken), EntropyUnavailable);
}
