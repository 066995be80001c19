// Each statistic on its way from the question to the audit. A row of the table is a question with the
// declarations it is answered under: its answer without noise, what it is released with, which spellings are
// the same question and which are another.
#include "banded_clinic.hpp"
#include "checked_rows.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/dummy_release.hpp"
#include "epsilog/engine/forecast.hpp"
#include "later_policy.hpp"
#include "plan.hpp"
#include "replaced_text.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

constexpr const char* kTable = EPSILOG_SOURCE_DIR "/tests/engine/release/statistics.tsv";

/// Every statistic is allowed.
std::string rules(const std::string& more) {
  return "    allow: {statistics: [default, count_of, proportion, distinct, private_variance, ratio, "
         "quantile]}\n" +
         (more.empty() ? "" : "    " + more + "\n");
}

std::optional<std::string> part(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Returns "NAME=VALUE" of a cell's words as VALUE by NAME.
std::map<std::string, std::string> members(const std::string& cell) {
  std::map<std::string, std::string> result;
  for (const std::string& word : words_of(cell)) {
    const std::size_t sign = word.find('=');
    result[word.substr(0, sign)] = sign == std::string::npos ? "" : word.substr(sign + 1);
  }
  return result;
}

/// Returns the request of "STATISTIC / BY / WHERE / OPTIONS", where the last parts may be missing.
engine::Request asked(const std::string& question, const std::string& loss, const std::string& key = "") {
  std::vector<std::string> parts(1);
  for (std::size_t at = 0; at < question.size(); ++at) {
    const bool ends = question.compare(at, 3, " / ") == 0;
    if (ends) {
      parts.emplace_back();
      at += 2;
    } else {
      parts.back().push_back(question[at]);
    }
  }
  parts.resize(4);
  engine::Request result = request(parts[0], "0", key, part(parts[1]), part(parts[2]));
  auto options = members(parts[3]);
  if (options.contains("totals")) {
    engine::with_totals(result.question, accounting::parse_rational(options["totals"], "totals"),
                        options.contains("consistent"));
  }
  if (options.contains("below"))
    engine::suppress_below(result.question, accounting::parse_rational(options["below"], "below"));
  auto losses = members(loss);
  if (losses.contains("epsilon")) result.epsilon = accounting::parse_rational(losses["epsilon"], "epsilon");
  if (losses.contains("delta")) result.delta = accounting::parse_rational(losses["delta"], "delta");
  if (losses.contains("rho")) result.rho = accounting::parse_rational(losses["rho"], "rho");
  return result;
}

/// Returns the released cells as words: "x" for one that is suppressed.
std::vector<std::string> cell_words(const Answer& answer) {
  std::vector<std::string> words;
  for (std::size_t cell = 0; cell < answer.released.values.size(); ++cell)
    words.push_back(is_suppressed(answer, cell) ? "x" : answer.released.values[cell].get_str());
  return words;
}

/// Returns whether a released cell is the exact one: "*" is any, ">=N" any of at least N, "N|M" one of the two, and
/// what is divided or in cents may be 1 part in 500 away.
bool matches(const std::string& released, const std::string& exact) {
  if (exact == "*" || released == "x" || exact == "x") return exact == "*" || released == exact;
  const std::size_t either = exact.find('|');
  if (either != std::string::npos)
    return released == exact.substr(0, either) || released == exact.substr(either + 1);
  const Rational value(released);
  if (exact.starts_with(">=")) return value >= accounting::parse_rational(exact.substr(2), "exact");
  const Rational wanted = accounting::parse_rational(exact, "exact");
  return 500 * abs(Rational(value - wanted)) <= abs(wanted);
}

/// Ratios and variances without noise are at most 1/50 away, too; several quantiles of one cell do not descend.
void check_nearness(const std::string& question, const Answer& answer,
                    const std::vector<std::string>& exact) {
  const std::vector<Rational>& values = answer.released.values;
  const std::vector<std::vector<std::string>>& keys = answer.planned.record.cells.lists();
  const bool divided = question.starts_with("ratio:") || question.starts_with("variance:age");
  const std::size_t together = question.starts_with("quantiles:") ? keys.back().size() : 1;
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    const bool number = exact.at(cell).find_first_not_of("0123456789./") == std::string::npos;
    if (divided && number)
      CHECK(50 * abs(Rational(values[cell] - accounting::parse_rational(exact[cell], "exact"))) < 1);
    if (cell % together != 0) CHECK(values[cell - 1] <= values[cell]);
  }
}

/// Returns "STATISTIC MECHANISM ARITHMETIC POST-PROCESSING: COMPONENT | COMPONENT; KEYS; N accuracies". A
/// component is its name, its sensitivity (for Gaussian noise in L2 squared, after "²"), for other noise its
/// epsilon and, where it is exact, its scale, and the number of draws above 1.
std::string record_text(const Answer& answer) {
  const ledger::ReleaseRecord& record = answer.planned.record;
  std::vector<std::string> parts, keys;
  for (const ledger::ComponentRecord& one : record.components) {
    const std::string scale = record.arithmetic == "exact" ? " scale " + one.scale.get_str() : "";
    parts.push_back(one.statistic + " " +
                    (one.sensitivity_l2_squared ? "²" + one.sensitivity_l2_squared->get_str()
                                                : one.sensitivity.get_str() + " of " + one.epsilon.text()) +
                    (one.sensitivity_l2_squared ? "" : scale) +
                    (one.coordinates == 1 ? "" : " x" + std::to_string(one.coordinates)));
  }
  for (const std::vector<std::string>& list : record.cells.lists()) {
    keys.emplace_back();
    for (const std::string& key : list) keys.back() += (keys.back().empty() ? "" : " ") + key;
  }
  return answer.asked.statistic + " " + record.mechanism + " " + record.arithmetic + " " +
         std::string(name(answer.planned.post_processing)) + ": " + joined(parts) + "; " + joined(keys) +
         "; " + std::to_string(answer.planned.accuracy.size()) + " accuracies";
}

/// The proved losses of the components are together at most what was asked for, and hardly less. Those of a
/// selection that is charged epsilon alone have neither rho nor a bound.
void check_loss(const engine::Request& asked, const ledger::ReleaseRecord& record) {
  for (const ledger::ComponentRecord& part : record.components) {
    if (record.mechanism == "permute_and_flip") CHECK((!part.rho && !part.bound));
  }
  if (!asked.rho) {
    CHECK(record.adjusted <= record.requested);
    CHECK(record.charged.text() == accounting::Epsilon::from_rational_up(record.requested).text());
    return;
  }
  Rational rho = 0;
  for (const ledger::ComponentRecord& part : record.components) rho += part.rho.value();
  CHECK(rho <= asked.rho->rational());
  CHECK(rho > asked.rho->rational() * Rational(98, 100));
}

/// Released values lie in the range of their statistic, and rounded ones are whole.
void check_values(const Answer& answer) {
  using Kind = accounting::PostProcessing::Kind;
  const bool has_range = accounting::has_range(answer.planned.post_processing);
  for (std::size_t cell = 0; cell < answer.released.values.size(); ++cell) {
    const Rational& value = answer.released.values[cell];
    if (answer.planned.post_processing == Kind::rounded) CHECK(value.get_den() == 1);
    for (const engine::CellIntervals& told : answer.released.intervals) {
      CHECK(told.each.at(cell).low <= told.each.at(cell).high);
      const mechanisms::AnswerInterval& range = told.group_of(cell).range;
      if (has_range) CHECK((range.low <= value && value <= range.high));
    }
  }
}

void check_same(const Answer& answer, const Answer& first) {
  CHECK(answer.recorded.decision_id == first.recorded.decision_id);
  CHECK(answer.asked.statistic == first.asked.statistic);
  CHECK(answer.asked.by == first.asked.by);
  CHECK(answer.asked.totals == first.asked.totals);
  CHECK(answer.asked.consistent == first.asked.consistent);
  CHECK(answer.asked.suppress_below == first.asked.suppress_below);
  CHECK(answer.planned.record == first.planned.record);
  CHECK(answer.planned.post_processing == first.planned.post_processing);
  CHECK(answer.released.component_values == first.released.component_values);
  CHECK(cell_words(answer) == cell_words(first));
}

/// What the first account has spent, in its units.
std::int64_t spent_first(const Engine& engine) {
  return engine.budget("clinic").at(0).balance.spent;
}

/// Walks one question through plan, forecast, release, retry, show, history, reservation, batch and dummy run.
/// The ledger has paid for each release once, and for nothing else.
std::string journey(const BandedClinic& clinic, const engine::Policy& policy, const CaseRow& row) {
  const std::string& question = row.at(2);
  const std::string& loss = row.at(3);
  const std::string key = question + loss;
  mechanisms::SystemBits bits;
  const std::vector<Rational> alphas{Rational(1, 20)};
  Engine engine = clinic.open();
  const std::int64_t before = spent_first(engine);

  const Answer planned = engine.plan(asked(question, loss, key), alphas);
  CHECK(planned.recorded.granted);
  CHECK(engine.forecast(asked(question, loss), alphas).each.planned.record == planned.planned.record);
  CHECK(spent_first(engine) == before);

  const Answer first = engine.release(asked(question, loss, key), bits, alphas);
  REQUIRE(first.recorded.granted);
  const std::size_t cells = first.released.values.size();
  const std::int64_t price = spent_first(engine) - before;
  CHECK(price > 0);
  CHECK(first.planned.record == planned.planned.record);
  CHECK(cells == std::max<std::size_t>(first.planned.record.cells.size(), 1));
  check_loss(asked(question, loss), first.planned.record);
  check_values(first);

  Engine other = clinic.open();
  const Answer again = release(other, asked(row.at(4).empty() ? question : row.at(4), loss, key));
  CHECK(again.recorded.replayed);
  check_same(again, first);
  for (std::size_t at = 5; at + 2 < row.size(); ++at) {
    CAPTURE(row[at]);
    if (!row[at].empty()) {
      CHECK(reason_codes(release(other, asked(row[at], loss, key))) ==
            std::vector{RefusalCode::key_conflict});
    }
  }
  check_same(other.show(first.recorded.decision_id, {}), first);
  std::size_t listed = 0;
  other.history("", 0, [&](const Answer& one) {
    if (one.recorded.decision_id != first.recorded.decision_id) return;
    check_same(one, first);
    ++listed;
  });
  CHECK(listed == 1);
  CHECK(spent_first(other) == before + price);

  const Answer waits = engine.reserve(held(asked(question, loss)), {});
  REQUIRE(waits.recorded.state == engine::RequestState::reserved);
  const Answer committed = commit(engine, waits.recorded.decision_id);
  REQUIRE(committed.recorded.granted);
  CHECK(committed.planned.record == first.planned.record);
  CHECK(committed.released.values.size() == cells);
  CHECK(spent_first(engine) == before + 2 * price);

  engine::Request batch = asked("count", loss, "batch " + key);
  const engine::Request single = asked(question, loss);
  batch.rows = {{single.question, single.epsilon, single.delta, single.rho},
                {batch.question, batch.epsilon, batch.delta, batch.rho}};
  batch.question = {};
  batch.epsilon = Rational(0);
  batch.delta = std::nullopt;
  batch.rho = std::nullopt;
  const Answer rows = release(engine, batch);
  REQUIRE(rows.recorded.granted);
  CHECK(rows.rows.at(0).released.values.size() == cells);
  CHECK(rows.rows.at(1).released.values.size() == 1);
  const Answer rows_again = release(other, batch);
  CHECK(rows_again.recorded.replayed);
  for (std::size_t at : {0, 1}) CHECK(cell_words(rows_again.rows.at(at)) == cell_words(rows.rows.at(at)));

  CHECK(engine::dummy_release(policy, asked(question, loss), bits, alphas).would_be.released.values.size() ==
        cells);
  return record_text(first);
}

}  // namespace

TEST_CASE("statistics: the table's answers without noise are released where the data decide",
          "[engine][statistic][counted][ratio][quantile][table][totals][exact]") {
  auto [clinic, engine] =
      Open<BandedClinic>("epsilon: 2300000", rules("release: {default: {mechanism: discrete_laplace}}"));
  for (const CaseRow& row : rows_of(kTable, "exact")) {
    CAPTURE(row);
    const Answer answer = release(engine, asked(row.at(1), row.at(2)));
    REQUIRE(answer.recorded.granted);
    const std::vector<std::string> exact = words_of(row.at(3)), released = cell_words(answer);
    CAPTURE(released);
    REQUIRE(std::equal(released.begin(), released.end(), exact.begin(), exact.end(), matches));
    check_nearness(row.at(1), answer, exact);
  }
  CHECK(audit_faults(clinic.ledger()) == "");
}

TEST_CASE(
    "statistics: each is planned, released, replayed, shown, reserved and asked in a batch as one thing",
    "[engine][statistic][counted][ratio][quantile][table][totals][G5]") {
  std::map<std::string, std::vector<CaseRow>> by_policy;
  for (CaseRow& row : rows_of(kTable, "journey")) {
    row.erase(row.begin());
    by_policy[row.at(0) + "\n" + row.at(1)].push_back(row);
  }
  for (const auto& [text, rows] : by_policy) {
    CAPTURE(text);
    const std::string more = rules(rows.front().at(1));
    const BandedClinic clinic(rows.front().at(0), more);
    const engine::Policy policy = engine::checked_policy(banded(rows.front().at(0), more), "p.yaml");
    for (const CaseRow& row : rows) {
      CAPTURE(row);
      CHECK(journey(clinic, policy, row) == row.back());
    }
    CHECK(audit_faults(clinic.ledger()) == "");
    tamper(clinic.ledger(), R"(UPDATE decision SET "values" = '["1/7"]' WHERE "values" IS NOT NULL)");
    CHECK_FALSE(engine::audit_verify(clinic.ledger()).ok);
  }
}

TEST_CASE("statistics: what cannot be derived names the declaration, by any way to ask, and costs nothing",
          "[engine][statistic][counted][ratio][G8]") {
  for (const CaseRow& row : rows_of(kTable, "underivable")) {
    CAPTURE(row);
    const std::string yaml = replaced(clinic_policy("epsilon: 3", rules("")), row.at(1), row.at(2));
    TemporaryFolder folder;
    folder.write("visits.csv", kVisits);
    folder.write("policy.yaml", yaml);
    (void)Engine::init(folder.path("policy.yaml"), folder.path("L"), "curator");
    Engine engine = Engine::open(folder.path("L"));
    mechanisms::SystemBits bits;
    const engine::Policy policy = engine::checked_policy(yaml, "p.yaml");
    const engine::Request wrong = asked(row.at(3), "epsilon=0.1"), right = asked(row.at(4), "epsilon=0.1");
    const auto told = says(row.at(5));
    CHECK_THROWS_WITH(release(engine, wrong), told);
    CHECK_THROWS_WITH(engine.plan(wrong, {}), told);
    CHECK_THROWS_WITH(engine.forecast(wrong, {}), told);
    CHECK_THROWS_WITH(engine::dummy_release(policy, wrong, bits, {}), told);
    CHECK(release(engine, right).recorded.granted);
    CHECK(spent(engine) == "0.1");
  }
}

TEST_CASE("statistics: a request that waits is planned otherwise where a declaration says so",
          "[engine][statistic][counted][ratio][later]") {
  const auto terms = [](const std::string& yaml, const std::string& question) {
    engine::Terms result;
    result.plan = std::make_shared<engine::Plan>(engine::make_plan(
        engine::checked_policy(yaml, "p.yaml").datasets()[0], asked(question, "epsilon=0.5")));
    return result;
  };
  const std::string yaml = clinic_policy("epsilon: 3", rules(""));
  check_rows(kTable, "otherwise", [&](const CaseRow& row) {
    const std::string before = replaced(yaml, row.at(1), row.at(2)),
                      after = replaced(yaml, row.at(1), row.at(3));
    return joined(engine::plan_differences(terms(before, row.at(4)), terms(after, row.at(4))));
  });
}
