// What is stored can be read: every text of every request, however long its numbers are written out.
#include <functional>
#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "first_cells.hpp"
#include "old_rows.hpp"
#include "refused_for.hpp"
#include "request_act.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace accounting;
using namespace engine;

namespace {

constexpr std::uint64_t kSeed = 20'300'202;

/// 2^650, whose inverse has 650 decimals; an epsilon of about a tenth that is typed in 392 characters.
std::string tenth_of_two_to_650() {
  const Rational whole = accounting::power_of_two(650);
  return accounting::floor(whole / 10).get_str() + "/" + whole.get_str();
}

/// "age in (1e-300, 2e-300, …)": typed in 8 bytes each, written out in 302.
std::string long_list(int constants) {
  std::string list = "40";  // some cell is read so
  for (int i = 1; i < constants; ++i) list += ", " + std::to_string(i % 9 + 1) + "e-300";
  return "age in (" + list + ")";
}

/// "age between -1e-300 and 1e-300 or …": two comparisons of 302 digits each.
std::string written_twice(int times) {
  std::string where;
  for (int i = 0; i < times; ++i)
    where += std::string(i == 0 ? "" : " or ") + "age between -1e-300 and 1e-300";
  return where;
}

/// Requests whose typed text the door takes and whose canonical text once could not be read back.
struct Extreme {
  const char* name;
  std::string epsilon;
  std::optional<std::string> where = std::nullopt;
};
std::vector<Extreme> extremes() {
  return {
      {"a number of 402 digits in a condition", "0.1", "age > 1e-400"},
      {"numbers of both ends of every length", "0.1", "age in (40, -1e400, 1e400, -1e-400, 123456789e-400)"},
      {"numbers of 402 digits on both sides of an or, a not and a between", "0.1",
       "ward is missing or not age between -1e400 and 1e-400 and not (ward = 'B' or age > 1e400)"},
      {"an epsilon of 399 characters with 400 decimals", std::string(394, '3') + "e-400", std::nullopt},
      {"an epsilon that is a part of 2^650", tenth_of_two_to_650(), std::nullopt},
      {"a list of numbers of 302 digits", "0.1", long_list(200)},
  };
}

/// Those, and one that only the program before wrote: more than 64 KiB written out.
std::vector<Extreme> old_extremes() {
  std::vector<Extreme> result = extremes();
  result.push_back({"a list of 75 KiB", "0.1", long_list(250)});
  return result;
}

Request request_of(const Extreme& extreme, const std::string& key = "",
                   const std::string& statistic = "count") {
  return request(statistic, extreme.epsilon, key, std::nullopt, extreme.where);
}

/// Ids of the history, every row of which can be read.
std::vector<std::string> whole_history(const std::string& path) {
  std::vector<std::string> unreadable;
  engine::EngineOptions options;
  options.unreadable = [&](const engine::UnreadableDecision& one) { unreadable.push_back(one.message); };
  std::vector<std::string> ids;
  Engine::open(path, options).history("", 0, [&](const Answer& answer) {
    ids.push_back(answer.recorded.decision_id);
  });
  CHECK(unreadable.empty());
  return ids;
}

/// Everything that reads the history reads all of it.
void check_readable(const WaitingClinic& waiting, std::size_t records) {
  CHECK(waiting.audit().empty());
  const std::vector<std::string> ids = whole_history(waiting.clinic.ledger());
  CHECK(ids.size() == records);
  const Engine fresh = Engine::open(waiting.clinic.ledger());
  for (const std::string& id : ids) CHECK_FALSE(fresh.show(id, {}).recorded.decision_id.empty());
  engine::ReaccountQuestion question;
  question.accountants = {accounting::kAccountants.begin(), accounting::kAccountants.end()};
  for (const engine::Reaccount& answer : engine::reaccount(waiting.clinic.ledger(), question)) {
    CHECK(answer.unreadable == 0);
    CHECK(answer.charged.has_value());
  }
}

constexpr const char* kNoApprovals = "";

}  // namespace

TEST_CASE("stored texts: a request with numbers of any length is released, replayed, shown and verified",
          "[engine][texts]") {
  for (const Extreme& extreme : extremes()) {
    CAPTURE(extreme.name);
    WaitingClinic waiting(kNoApprovals);
    const Answer granted = release(waiting.engine, request_of(extreme, "k"));
    REQUIRE(granted.recorded.granted);
    const Answer again = release(waiting.engine, request_of(extreme, "k"));
    CHECK(again.recorded.replayed);
    CHECK(again.released.values == granted.released.values);
    check_readable(waiting, 1);
  }
}

TEST_CASE("stored texts: one that is refused, or asked by nobody the policy knows, stands in nobody's way",
          "[engine][texts][negative]") {
  for (const Extreme& extreme : extremes()) {
    CAPTURE(extreme.name);
    WaitingClinic waiting(kNoApprovals, "epsilon: 1e-7");
    CHECK_FALSE(release(waiting.engine, request_of(extreme, "k")).recorded.granted);
    Request stranger = request_of(extreme);
    stranger.principal = "mallory";
    CHECK(release(waiting.engine, stranger).recorded.reasons.at(0).code ==
          RefusalCode::principal_not_allowed);
    CHECK(release(waiting.engine, request_of(extreme, "k")).recorded.replayed);
    Request conflicting = request_of(extreme, "k");
    conflicting.epsilon = 2;
    CHECK(release(waiting.engine, conflicting).recorded.reasons.at(0).code == RefusalCode::key_conflict);
    check_readable(waiting, 3);
  }
}

TEST_CASE("stored texts: one that is reserved is listed, committed, cancelled and ended by its deadline",
          "[engine][texts]") {
  for (const Extreme& extreme : extremes()) {
    CAPTURE(extreme.name);
    WaitingClinic waiting(kNoApprovals);
    const auto reserved = [&] {
      return waiting.engine.reserve(held(request_of(extreme)), {}).recorded.decision_id;
    };
    CHECK(waiting.commit(reserved()).recorded.granted);
    CHECK(text(waiting.engine.cancel(reserved(), "alice").recorded.state) == "cancelled");
    const std::string overdue = reserved();
    std::vector<std::string> pending;
    waiting.engine.pending("", [&](const Answer& answer) { pending.push_back(answer.recorded.decision_id); });
    CHECK(pending == std::vector<std::string>{overdue});
    waiting.clock.pass_seconds(3600);
    CHECK(release(waiting.engine, request("count", "0.1")).recorded.granted);
    CHECK(text(waiting.engine.show(overdue, {}).recorded.state) == "expired");
    check_readable(waiting, 8);  // reserved, token, granted; reserved, voided; reserved, voided, granted
  }
}

TEST_CASE("stored texts: rows that the program wrote before the door had caps work again",
          "[engine][texts]") {
  for (const Extreme& extreme : old_extremes()) {
    CAPTURE(extreme.name);
    WaitingClinic waiting(kNoApprovals, "epsilon: 1");
    OldProgram old(waiting.clinic.ledger(), waiting.clock.options().clock);
    const std::string granted = old.record(request_of(extreme, "k"), ledger::Outcome::granted, {{{4}}});
    const std::string first = old.record(held(request_of(extreme, "r")), ledger::Outcome::reserved);
    const std::string second = old.record(held(request_of(extreme)), ledger::Outcome::reserved);
    const std::string third = old.record(held(request_of(extreme)), ledger::Outcome::reserved);

    const Answer again = release(waiting.engine, request_of(extreme, "k"));
    CHECK(again.recorded.replayed);
    CHECK(again.recorded.decision_id == granted);
    CHECK(waiting.engine.reserve(held(request_of(extreme, "r")), {}).recorded.decision_id == first);
    CHECK(waiting.commit(first).recorded.granted);
    CHECK(text(waiting.engine.cancel(second, "alice").recorded.state) == "cancelled");
    waiting.clock.pass_seconds(3600);
    CHECK(release(waiting.engine, request("count", "0.1")).recorded.granted);
    CHECK(text(waiting.engine.show(third, {}).recorded.state) == "expired");
    check_readable(waiting, 9);
  }
}

TEST_CASE("stored texts: components of every precision are composed again", "[engine][texts]") {
  for (const char* precision : {"118", "400", "4096"}) {
    CAPTURE(precision);
    auto [clinic, engine] = Open<Clinic>(
        "epsilon: 3", std::string("    release:\n      default: {precision: ") + precision + "}\n");
    REQUIRE(release(engine, request("count", "0.1")).recorded.granted);
    REQUIRE(release(engine, request("mean:cost", "1/3")).recorded.granted);
    engine::ReaccountQuestion question;
    question.accountants = {accounting::kAccountants.begin(), accounting::kAccountants.end()};
    const auto answers = engine::reaccount(clinic.ledger(), question);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].releases == 2);
    for (const auto& figure : answers[0].figures) CHECK(figure.bound.has_value());
    CHECK(engine::audit_verify(clinic.ledger()).ok);
  }
}

TEST_CASE(
    "stored texts: what is beyond the caps is refused at the door by every verb and nothing is recorded",
    "[engine][texts][negative]") {
  WaitingClinic waiting(kNoApprovals);
  Request typed_too_long = request("count", "0.1");
  typed_too_long.too_long = "--epsilon: is too long";
  for (const auto& [asked, message] : std::vector<std::pair<Request, std::string>>{
           {request("count", "0.1", "", std::nullopt, long_list(250)),
            "request: in canonical form it has 75"},
           {request("count", "0.1", "", std::nullopt, written_twice(140)),
            "request: in canonical form it has 8"},
           {request("count", "0.1", "", std::nullopt, "age > 0." + std::string(399, '1')),
            "where: the number '0." + std::string(58, '1') + "…' is longer than 400 characters"},
           {request("count", "0.1", "", std::nullopt, "age > " + std::string(65'531, ' ') + "1"),
            "where: longer than 65536 bytes"},
           {typed_too_long, "--epsilon: is too long"}}) {
    CAPTURE(message);
    const Engine& engine = waiting.engine;
    for (const std::function<void()>& ask : std::vector<std::function<void()>>{
             [&] { (void)release(waiting.engine, asked); },
             [&] { (void)waiting.engine.reserve(held(asked), {}); }, [&] { (void)engine.plan(asked, {}); },
             [&] { (void)engine.forecast(asked, {}); }, [&] { (void)engine.forecast_of_count(asked, 3, {}); },
             [&] {
               (void)engine.forecast_of_accuracy(asked, {Rational(1, 20), 100}, {});
             },
             [&] { (void)engine.plan_sequence().next(asked, {}); },
             [&] { (void)release_many(waiting.engine, std::vector{asked}); }})
      CHECK(refused_for<InvalidParameter>(ask).starts_with(message));
  }
  check_readable(waiting, 0);
  // 400 characters, 65,536 bytes and a text as long as may be are taken.
  CHECK(release(waiting.engine, request("count", "0.1", "", std::nullopt, "age > 0." + std::string(398, '1')))
            .recorded.granted);
  CHECK(release(waiting.engine,
                request("count", "0.1", "", std::nullopt, "age > " + std::string(65'529, ' ') + "1"))
            .recorded.granted);
  check_readable(waiting, 2);
}

TEST_CASE("stored texts: the key is looked up before any cap", "[engine][texts]") {
  WaitingClinic waiting(kNoApprovals);
  const Request typed = request("count", "0.1", "k", std::nullopt, "age > 1e-400");
  const Answer granted = release(waiting.engine, typed);
  REQUIRE(granted.recorded.granted);
  // As `show` prints it: 402 characters, more than may be typed.
  const Request printed = request("count", "0.1", "k", std::nullopt, granted.asked.where);
  REQUIRE_FALSE(printed.question.where->new_request_fault().empty());
  CHECK(release(waiting.engine, printed).released.values == granted.released.values);
  CHECK(waiting.engine.plan_sequence().next(printed, {}).recorded.replayed);
  Request other_key = printed;
  other_key.key = "k2";
  CHECK_THROWS_AS(release(waiting.engine, other_key), InvalidParameter);
  check_readable(waiting, 1);
}

TEST_CASE("stored texts: predicates read back as themselves, whatever they compare",
          "[engine][texts][exact]") {
  std::mt19937_64 random(kSeed);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::size_t kPowers = 990;  // of what is below 2^-990 the decimals are too many to be recorded
  const auto number = [&]() -> std::string {
    const std::string digits = std::to_string(random() % 1'000'000);
    const std::string sign = below(2) == 0 && digits != "0" ? "-" : "";
    switch (below(4)) {
      case 0:
        return sign + digits + "e" + std::to_string(static_cast<int>(below(801)) - 400);
      case 1:
        return sign + digits + "/" + accounting::power_of_two(static_cast<long>(below(kPowers))).get_str();
      case 2:
        return sign + digits + "/" + std::to_string(1 + below(1'000'000));
      default:
        return sign + digits + "." + std::to_string(below(1'000'000));
    }
  };
  const auto constant = [&]() -> std::string {
    switch (below(6)) {
      case 0:
        return below(2) == 0 ? "true" : "false";
      case 1:
        return engine::date_text(static_cast<std::int64_t>(below(3'652'059)) - 719'528);
      case 2: {
        static const std::vector<std::string> kTexts = {"",  "''",  "A",     "it''s",
                                                        " ", "and", "ü\n\t", "1e-400"};
        return "'" + kTexts[below(kTexts.size())] + "'";
      }
      default:
        return number();
    }
  };
  static const std::vector<std::string> kColumns = {"age",   "\"in\"", "\"say \"\"x\"\"\"",
                                                    "größe", "\"\"",   "_1"};
  static const std::vector<std::string> kOperators = {"=", "!=", "<", "<=", ">", ">="};
  for (int i = 0; i < 2'000; ++i) {
    std::string typed;
    for (std::size_t terms = 1 + below(4); terms > 0; --terms) {
      typed += (typed.empty() ? "" : " and ") + kColumns[below(kColumns.size())];
      if (below(3) > 0) {
        typed += kOperators[below(kOperators.size())];
        typed += constant();
        continue;
      }
      typed += " in(" + constant();
      for (std::size_t more = below(6); more > 0; --more) typed += "," + constant();
      typed += ")";
    }
    CAPTURE(typed);
    const Predicate predicate = Predicate::parse(typed);
    const Predicate read = Predicate::parse(predicate.text());
    REQUIRE(read == predicate);
    REQUIRE(read.text() == predicate.text());
    Request asked = request("count", below(2) == 0 ? "0.1" : std::to_string(below(1000)) + "1e-400");
    asked.question.where = predicate;
    asked.epsilon = Rational(abs(asked.epsilon.rational()));
    if (below(3) == 0) asked.delta = Rational(1, 3) * accounting::power_of_two(-700);
    if (below(3) == 0) asked.question.by = {"ward"};
    if (below(4) == 0) asked.question.by = {"ward", "a,b"};
    if (!asked.question.by.empty() && below(2) == 0)
      engine::with_totals(asked.question, Rational(1, 2 + below(70)), below(2) == 0);
    asked.purpose = below(2) == 0 ? "" : "ü \"x\"\\";
    asked.reservation = below(2) == 0 ? ReservationKind::none : ReservationKind::reserved;
    const std::string canonical = engine::canonical_request(asked);
    const Request stored = engine::parse_stored_request(canonical).request;
    REQUIRE(stored.epsilon == asked.epsilon);
    REQUIRE(stored.delta == asked.delta);
    REQUIRE(stored.question.where == asked.question.where);
    REQUIRE(stored.question.totals == asked.question.totals);
    REQUIRE(stored.question.consistent == asked.question.consistent);
    REQUIRE(engine::canonical_request(stored) == canonical);
  }
  const Predicate list = Predicate::parse(long_list(8'000));  // 64 KiB typed, 2.4 MB written out
  CHECK(Predicate::parse(list.text()) == list);
}

TEST_CASE("stored texts: acts, reasons and measures read back as themselves", "[engine][texts][exact]") {
  for (const Act::Verb verb : {Act::Verb::approve, Act::Verb::reject, Act::Verb::issue_token,
                               Act::Verb::read_source, Act::Verb::cancel, Act::Verb::expire}) {
    for (const std::string& why :
         {std::string(), std::string("no"), std::string("\"ü\\\n"), std::string(65'536, 'x')}) {
      const Act act{verb, "01ARZ3NDEKTSV4RRFFQ69G5FAV", why};
      CHECK(engine::parse_act(engine::act_json(act)) == act);
    }
  }
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 300; ++i) {
    const Integer units = Integer(accounting::floor(accounting::power_of_ten(static_cast<long>(i) * 2))) + i;
    Reason reason;
    reason.code = RefusalCode::principal_limit_exceeded;
    reason.scope = "principal:ü\"";
    reason.measure = i % 2 == 0 ? "rho"
                                : engine::AccountMeasure{engine::AccountMeasure::Kind::renyi,
                                                         1 + accounting::power_of_two(-3 * i)}
                                      .text();
    reason.asked = engine::amount_text(reason.measure, units);
    reason.limit = reason.spent = reason.fits = "0";
    reason.over_by = reason.asked;
    reason.message = std::string(static_cast<std::size_t>(random() % 500), '\\');
    const std::vector<Reason> reasons(static_cast<std::size_t>(1 + i % 3), reason);
    REQUIRE(engine::parse_reasons(engine::reasons_json(reasons)).reasons() == reasons);
  }
  for (const Rational& order :
       {Rational(2), Rational(5, 2), Rational(1 + accounting::power_of_ten(-400)),
        accounting::power_of_ten(400), Rational(1 + accounting::power_of_two(-650)), Rational(4, 3)}) {
    const engine::AccountMeasure renyi{engine::AccountMeasure::Kind::renyi, order};
    const std::string measure = renyi.text();
    CHECK(engine::parse_measure(measure) == renyi);
    CHECK(engine::amount_text(measure, std::int64_t{1}) == "0.000000000001");
  }
}

namespace {

/// A reservation due in an hour whose row is damaged, a sound one, and a granted release; and what was said
/// of the damaged one.
class Damaged {
 public:
  explicit Damaged(const std::string& sql) {
    damaged = waiting.reserve("count", "0.25").recorded.decision_id;
    sound = waiting.reserve("count", "0.125").recorded.decision_id;
    REQUIRE(release(waiting.engine, request("count", "0.25", "k")).recorded.granted);
    tamper(waiting.clinic.ledger(), sql);
    engine::EngineOptions options = waiting.clock.options();
    options.unreadable = [this](const engine::UnreadableDecision& one) { told.push_back(one.decision_id); };
    engine.emplace(Engine::open(waiting.clinic.ledger(), options));
  }
  [[nodiscard]] std::vector<std::string> open_ids() {
    std::vector<std::string> ids;
    engine->pending("", [&](const Answer& answer) { ids.push_back(answer.recorded.decision_id); });
    return ids;
  }

  WaitingClinic waiting{kNoApprovals};
  std::string damaged;
  std::string sound;
  std::vector<std::string> told;
  std::optional<Engine> engine;
};

bool listed_open(const std::string& path, std::int64_t seq) {
  return !sql_rows(path, "SELECT 1 FROM open_decision WHERE seq = " + std::to_string(seq)).empty();
}

const std::vector<std::string> kDamages =
    first_cells(EPSILOG_SOURCE_DIR "/tests/engine/history/unreadable_rows.tsv");

}  // namespace

TEST_CASE("stored texts: a row that cannot be read stays open, is named, and hides and stops nothing",
          "[engine][texts][negative]") {
  for (const std::string& sql : kDamages) {
    CAPTURE(sql);
    Damaged ledger(sql);
    CHECK(ledger.open_ids() == std::vector<std::string>{ledger.sound});
    CHECK(ledger.told == std::vector<std::string>{ledger.damaged});
    std::size_t rows = 0;
    ledger.engine->history("", 0, [&](const Answer&) { ++rows; });
    CHECK(rows == 2);
    CHECK_THROWS_AS(ledger.engine->show(ledger.damaged, {}), LedgerCorrupt);

    // Both are overdue: one ends, the other stays, and writers go on, again and again.
    ledger.waiting.clock.pass_seconds(3600);
    CHECK(release(*ledger.engine, request("count", "0.1")).recorded.granted);
    CHECK(release(*ledger.engine, request("count", "0.1", "k2")).recorded.granted);
    CHECK(release(*ledger.engine, request("count", "0.25", "k")).recorded.replayed);
    CHECK(text(ledger.engine->reserve(held(request("count", "0.1")), {}).recorded.state) == "reserved");
    CHECK(ledger.waiting.balance() == "0.45/0.35");
    ledger.waiting.clinic.folder.write("policy.yaml",
                                       clinic_policy("epsilon: 4", waiting_rules(kNoApprovals)));
    CHECK(ledger.engine->apply_policy(ledger.waiting.clinic.folder.path("policy.yaml"), "curator", "test")
              .changed);
    CHECK(ledger.engine->forecast(request("count", "0.1"), {}).releases == 32);
    CHECK(text(ledger.engine->show(ledger.sound, {}).recorded.state) == "expired");
    CHECK(listed_open(ledger.waiting.clinic.ledger(), 1));
    CHECK(ledger.told.size() == 1);  // once, however often it is met

    const engine::AuditReport report = engine::audit_verify(ledger.waiting.clinic.ledger());
    CHECK_FALSE(report.ok);
    CHECK(std::any_of(report.faults.begin(), report.faults.end(), [&](const engine::AuditFault& fault) {
      return fault.record == ledger.damaged || fault.record == "decision number 1";
    }));
    CHECK(report.records == 7);
  }
}

TEST_CASE(
    "stored texts: a reservation that can be read and not be ended stays open, is named, and stops nobody",
    "[engine][texts][negative]") {
  for (const std::string& sql : first_cells(EPSILOG_SOURCE_DIR "/tests/engine/history/unendable_rows.tsv")) {
    CAPTURE(sql);
    Damaged ledger(sql);
    ledger.waiting.clock.pass_seconds(3600);
    CHECK(release(*ledger.engine, request("count", "0.1")).recorded.granted);
    CHECK(release(*ledger.engine, request("count", "0.1", "k2")).recorded.granted);
    CHECK(listed_open(ledger.waiting.clinic.ledger(), 1));
    CHECK(std::count(ledger.told.begin(), ledger.told.end(), ledger.damaged) == 1);
    CHECK_THROWS_AS(ledger.engine->cancel(ledger.damaged, "alice"), LedgerCorrupt);
    CHECK(release(*ledger.engine, request("count", "0.1", "k3")).recorded.granted);
    // What it holds is held: 3 - 0.55 spent - 0.25.
    const Answer all = release(*ledger.engine, request("count", "2.21"));
    CHECK_FALSE(all.recorded.granted);
    CHECK_FALSE(engine::audit_verify(ledger.waiting.clinic.ledger()).ok);
  }
}

TEST_CASE("stored texts: what the clock showed is no time, which the audit says and nobody else minds",
          "[engine][texts][negative]") {
  for (const char* shown : {"-1", "9223372036854775807"}) {
    CAPTURE(shown);
    WaitingClinic waiting(kNoApprovals);
    REQUIRE(release(waiting.engine, request("count", "0.25")).recorded.granted);
    tamper(waiting.clinic.ledger(), "UPDATE meta SET wall_clock = " + std::string(shown));
    CHECK(waiting.audit().find("which is no time") != std::string::npos);
    CHECK(waiting.balance() == "0.25/0");
    CHECK(release(waiting.engine, request("count", "0.25")).recorded.granted);
    CHECK(waiting.audit().empty());
  }
  WaitingClinic waiting(kNoApprovals);
  tamper(waiting.clinic.ledger(), "UPDATE meta SET boot_offset = 9223372036854775807");
  CHECK(release(waiting.engine, request("count", "0.25")).recorded.granted);
}

TEST_CASE("stored texts: more overdue rows than one transaction ends go by one that cannot be read",
          "[engine][texts][negative]") {
  Damaged ledger(kDamages[0]);
  for (int i = 0; i < 70; ++i)
    REQUIRE(text(ledger.waiting.reserve("count", "0.01").recorded.state) == "reserved");
  ledger.waiting.clock.pass_seconds(3600);
  CHECK(release(*ledger.engine, request("count", "0.1")).recorded.granted);
  CHECK(ledger.open_ids().empty());
  CHECK(ledger.waiting.balance() == "0.35/0.25");
}

TEST_CASE("stored texts: what an unreadable row cost is not known, so that nothing is composed without it",
          "[engine][texts][negative]") {
  WaitingClinic waiting(kNoApprovals);
  REQUIRE(release(waiting.engine, request("count", "0.25")).recorded.granted);
  REQUIRE(release(waiting.engine, request("count", "0.5")).recorded.granted);
  SECTION("the row") {
    tamper(waiting.clinic.ledger(), "UPDATE decision SET \"values\" = '[\"x\"]' WHERE seq = 1");
  }
  SECTION("a number in its plan") {
    tamper(waiting.clinic.ledger(),
           "UPDATE plan SET release = replace(release, '\"scale\":\"', '\"scale\":\"-')"
           " WHERE number = (SELECT plan FROM decision WHERE seq = 1)");
  }
  std::vector<std::string> told;
  engine::ReaccountQuestion question;
  question.accountants = {accounting::kAccountants.begin(), accounting::kAccountants.end()};
  engine::EngineOptions options;
  options.unreadable = [&](const engine::UnreadableDecision& decision) {
    told.push_back(decision.decision_id);
  };
  const auto answers = engine::reaccount(waiting.clinic.ledger(), question, {}, options);
  REQUIRE(answers.size() == 1);
  CHECK(told.size() == 1);
  CHECK(answers[0].unreadable == 1);
  CHECK_FALSE(answers[0].charged.has_value());
  for (const auto& figure : answers[0].figures) CHECK_FALSE(figure.bound.has_value());
}
