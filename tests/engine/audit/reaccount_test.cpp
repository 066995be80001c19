// What history cost under each accountant: the same figures as the recorded mechanisms composed by hand.
#include "epsilog/engine/reaccount.hpp"

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "file_text.hpp"
#include "recorded_loss.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using namespace accounting;
using namespace epsilog::test;

namespace {

constexpr const char* kMechanisms =
    "    release:\n"
    "      sum: {mechanism: snapping, arithmetic: exact}\n"
    "      units: {mechanism: discrete_gaussian}\n"
    "      score: {mechanism: discrete_laplace, grid: 1}\n";

Rational number(const std::string& text) {
  return parse_rational(text, "number");
}

ReaccountQuestion everything() {
  ReaccountQuestion question;
  question.accountants = {kAccountants.begin(), kAccountants.end()};
  return question;
}

Reaccount only(const Clinic& clinic, const ReaccountQuestion& question) {
  const std::vector<Reaccount> answers = reaccount(clinic.ledger(), question);
  REQUIRE(answers.size() == 1);
  return answers.front();
}

std::optional<Rational> bound(const Reaccount& answer, Accountant accountant) {
  for (const Reaccount::Figure& figure : answer.figures) {
    if (figure.accountant == accountant) return figure.bound;
  }
  FAIL("no figure of " << accounting::name(accountant));
  return std::nullopt;
}

/// The recorded law of a decision, as many times.
KnownLoss recorded(const Answer& answer, std::uint64_t count) {
  REQUIRE(answer.recorded.granted);
  REQUIRE(answer.planned.record.components.size() == 1);
  KnownLoss loss = recorded_loss(answer.planned.record.mechanism, answer.planned.record.components[0]);
  loss.count = count;
  return loss;
}

void check_figures(const Reaccount& answer, const std::vector<KnownLoss>& losses) {
  for (const Accountant accountant : kAccountants) {
    CAPTURE(accounting::name(accountant));
    CHECK(bound(answer, accountant) ==
          (answer.delta ? accounting::composed_epsilon_up(accountant, losses, *answer.delta)
                        : accounting::composed_delta_up(accountant, losses, *answer.epsilon)));
  }
}

}  // namespace

TEST_CASE("reaccount: snapping releases cost what their recorded noise costs, less than was charged",
          "[engine][reaccount]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 10");
  Answer last;
  for (int i = 0; i < 40; ++i) last = release(engine, request("count", "0.1"));
  REQUIRE_FALSE(release(engine, request("count", "9")).recorded.granted);

  const Reaccount answer = only(clinic, everything());
  CHECK(answer.dataset == "clinic");
  CHECK(answer.scope.empty());
  CHECK(answer.delta == number("1e-6"));
  CHECK(answer.releases == 40);
  CHECK(answer.draws == 40);
  CHECK(answer.laws == 1);
  CHECK(answer.charged == Rational(4));
  check_figures(answer, {recorded(last, 40)});
  CHECK(bound(answer, Accountant::pure).value() <= 4);
  CHECK(bound(answer, Accountant::pld).value() < bound(answer, Accountant::optimal).value());
  CHECK(bound(answer, Accountant::optimal).value() < 3);
  // Laplace noise of the recorded scale, but for the proved extra, which is below 2^-40 of epsilon.
  ComposedLaw laplace;
  laplace.scale = last.planned.record.components[0].scale;
  laplace.sensitivity = last.planned.record.components[0].sensitivity;
  laplace.count = 40;
  const Rational ideal = accounting::pld_epsilon_up({&laplace, 1}, *answer.delta).value();
  CHECK(bound(answer, Accountant::pld).value() >= ideal);
  CHECK(bound(answer, Accountant::pld).value() <= ideal + number("1e-9"));
}

TEST_CASE("reaccount: every mechanism by its own law, equal ones counted together", "[engine][reaccount]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 10, delta: 1e-4", kMechanisms);
  Answer count, sum, units, score, histogram;
  for (int i = 0; i < 3; ++i) {
    count = release(engine, request("count", "0.1"));
    sum = release(engine, request("sum:cost", "0.2"));
    Request gaussian = request("units", "0.3");
    gaussian.delta = number("1e-6");
    units = release(engine, gaussian);
    score = release(engine, test::supplied("7", "0.25"));
    histogram = release(engine, request("count", "0.1", "", "ward"));
  }
  const Reaccount answer = only(clinic, everything());
  CHECK(answer.delta == number("1e-4"));
  CHECK(answer.releases == 15);
  CHECK(answer.laws == 5);
  CHECK(answer.charged == number("2.85"));

  const KnownLoss exact = recorded(sum, 3);
  CHECK(exact.law->kind == ComposedLaw::Kind::snapping);
  CHECK(exact.law->extra == 0);
  CHECK(exact.guarantee->epsilon == number("0.2"));
  const KnownLoss gaussian = recorded(units, 3);
  CHECK(gaussian.law->kind == ComposedLaw::Kind::discrete_gaussian);
  CHECK(gaussian.rho == units.planned.record.components[0].rho);
  const KnownLoss discrete = recorded(score, 3);
  CHECK(discrete.law->kind == ComposedLaw::Kind::discrete_laplace);
  CHECK(discrete.law->sensitivity == 1);
  CHECK(discrete.law->scale == 4);
  const KnownLoss cells = recorded(histogram, 3);
  CHECK(cells.law->sensitivity == 3);
  CHECK(cells.law->extra > recorded(count, 3).law->extra);

  // In any order: the sums are exact or of the same grid, to the digits of a bound.
  const std::vector<KnownLoss> losses{recorded(count, 3), exact, gaussian, discrete, cells};
  for (const Accountant accountant : kAccountants) {
    CAPTURE(accounting::name(accountant));
    const auto found = bound(answer, accountant);
    const auto expected = accounting::composed_epsilon_up(accountant, losses, *answer.delta);
    REQUIRE(found.has_value() == expected.has_value());
    if (found) CHECK(abs(*found - *expected) < number("1e-6"));
  }
  CHECK_FALSE(bound(answer, Accountant::pure));
  CHECK(bound(answer, Accountant::approximate).value() <= number("2.85"));

  // At a delta below the three that were charged, the charges promise nothing.
  ReaccountQuestion question = everything();
  question.delta = number("2e-6");
  CHECK_FALSE(only(clinic, question).charged);
  CHECK_FALSE(bound(only(clinic, question), Accountant::approximate));
}

TEST_CASE("reaccount: one accountant, at a delta or at an epsilon", "[engine][reaccount]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 10");
  Answer last;
  for (int i = 0; i < 10; ++i) last = release(engine, request("count", "0.2"));
  ReaccountQuestion question;
  question.accountants = {Accountant::zcdp};
  question.delta = number("1e-9");
  const Reaccount at_delta = only(clinic, question);
  REQUIRE(at_delta.figures.size() == 1);
  CHECK(bound(at_delta, Accountant::zcdp) ==
        accounting::zcdp_epsilon_up(10 * accounting::zcdp_rho_of_pure(recorded(last, 1).guarantee->epsilon),
                                    number("1e-9")));
  question = everything();
  question.epsilon = number("1.5");
  const Reaccount at_epsilon = only(clinic, question);
  CHECK_FALSE(at_epsilon.delta);
  CHECK_FALSE(at_epsilon.charged);  // 2 were charged
  check_figures(at_epsilon, {recorded(last, 10)});
  question.epsilon = 2;
  CHECK(only(clinic, question).charged == Rational(0));
  CHECK(bound(only(clinic, question), Accountant::pure) == Rational(0));
}

TEST_CASE("reaccount: a dataset without releases cost nothing", "[engine][reaccount]") {
  const Clinic clinic("epsilon: 1");
  const Reaccount answer = only(clinic, everything());
  CHECK(answer.releases == 0);
  CHECK(answer.charged == Rational(0));
  for (const Accountant accountant : kAccountants) CHECK(bound(answer, accountant) == Rational(0));
}

TEST_CASE("reaccount: nothing is written, and progress only grows", "[engine][reaccount]") {
  const Clinic clinic("epsilon: 1");
  {
    Engine engine = clinic.open();
    for (int i = 0; i < 3; ++i) static_cast<void>(release(engine, request("count", "0.1")));
  }
  const std::string before = file_text(clinic.ledger());
  double last = 0;
  bool grows = true;
  static_cast<void>(reaccount(clinic.ledger(), everything(), [&](double part) {
    grows = grows && part >= last && part <= 1;
    last = part;
  }));
  CHECK(grows);
  CHECK(last == 1);
  CHECK(file_text(clinic.ledger()) == before);
}

TEST_CASE("reaccount: no more different laws are composed than were asked for", "[engine][reaccount]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 10");
  for (const char* epsilon : {"0.1", "0.2", "0.3", "0.3"}) (void)release(engine, request("count", epsilon));
  ReaccountQuestion question = everything();
  question.laws_max = 3;
  CHECK(only(clinic, question).laws == 3);
  question.laws_max = 2;
  CHECK_THROWS_AS(reaccount(clinic.ledger(), question), TooManyLaws);
}

TEST_CASE("reaccount: what is asked wrongly is refused", "[engine][reaccount][negative]") {
  const Clinic clinic("epsilon: 1");
  ReaccountQuestion question = everything();
  question.dataset = "clinc";
  CHECK_THROWS_AS(reaccount(clinic.ledger(), question), NotFound);
  question = everything();
  question.delta = Rational(1);
  CHECK_THROWS_AS(reaccount(clinic.ledger(), question), InvalidParameter);
  question.delta = Rational(0);
  question.epsilon = Rational(1);
  CHECK_THROWS_AS(reaccount(clinic.ledger(), question), InvalidParameter);
  question.delta.reset();
  question.epsilon = Rational(-1);
  CHECK_THROWS_AS(reaccount(clinic.ledger(), question), InvalidParameter);
}

namespace {

/// Reserves the charges and forfeits them, or leaves them reserved.
void reserve(const Clinic& clinic, const std::vector<ledger::Charge>& charges, bool forfeit) {
  ledger::Ledger ledger = ledger::Ledger::open(clinic.ledger(), {});
  ledger::Transaction transaction = ledger.begin();
  ledger::DecisionDraft draft;
  draft.principal = "alice";
  draft.request = "{}";
  draft.request_digest = ledger::sha256_hex(draft.request);
  draft.dataset = "clinic";
  draft.policy_version = 1;
  draft.outcome = ledger::Outcome::reserved;
  draft.reasons = "[]";
  draft.deadline = "9999-12-31T23:59:59.999Z";
  transaction.reserve(draft, charges);
  const std::string parent = ledger.commit(std::move(transaction)).front().id;
  if (!forfeit) return;
  ledger::Transaction second = ledger.begin();
  draft.outcome = ledger::Outcome::forfeited;
  draft.parent = parent;
  draft.deadline.clear();
  second.resolve(draft);
  static_cast<void>(ledger.commit(std::move(second)));
}

}  // namespace

TEST_CASE("reaccount: a forfeited reservation counts as any mechanism of its charge, an open one does not",
          "[engine][reaccount]") {
  const Clinic clinic("epsilon: 10");
  Answer last;
  {
    Engine engine = clinic.open();
    for (int i = 0; i < 2; ++i) last = release(engine, request("count", "0.1"));
  }
  const std::int64_t account = last.recorded.accounts.at(0).id;
  reserve(clinic, {{account, 250'000'000'000}}, true);
  reserve(clinic, {{account, 500'000'000'000}}, false);
  const Reaccount answer = only(clinic, everything());
  CHECK(answer.releases == 2);
  CHECK(answer.laws == 2);
  CHECK(answer.inexpressible == 0);
  CHECK(answer.charged == number("0.45"));
  check_figures(answer, {recorded(last, 2), charged_loss({{"epsilon", 250'000'000'000}}).value()});
}

TEST_CASE("reaccount: charges in rho promise what they convert to", "[engine][reaccount]") {
  auto [clinic, engine] = Open<Clinic>("measure: zcdp, rho: 0.5");
  for (int i = 0; i < 3; ++i) REQUIRE(release(engine, request("count", "0.2")).recorded.granted);
  const Reaccount answer = only(clinic, everything());
  CHECK(answer.charged == accounting::zcdp_epsilon_up(number("0.06"), number("1e-6")));
  CHECK(bound(answer, Accountant::zcdp).value() <= answer.charged.value());
}

TEST_CASE("reaccount: a renewing budget is one history, and each scope by itself if asked",
          "[engine][reaccount]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 1, renew: month, accept_unbounded_lifetime: true");
  for (int i = 0; i < 3; ++i) REQUIRE(release(engine, request("count", "0.2")).recorded.granted);
  CHECK(only(clinic, everything()).charged == number("0.6"));
  ReaccountQuestion question = everything();
  question.scopes = true;
  const std::vector<Reaccount> answers = reaccount(clinic.ledger(), question);
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].scope.empty());
  CHECK(answers[1].scope.starts_with("period:"));
  CHECK(answers[1].charged == answers[0].charged);
  CHECK(bound(answers[1], Accountant::pld) == bound(answers[0], Accountant::pld));
}

TEST_CASE("reaccount: each block has the figures of what was charged to it", "[engine][reaccount][blocks]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3", "    lifetime: {epsilon: 9}\n    blocks: {by: ward}\n");
  Answer small, large;
  const auto of_ward = [&](const char* ward, const char* epsilon) {
    return release(engine, request("count", epsilon, "", std::nullopt, "ward = '" + std::string(ward) + "'"));
  };
  for (const char* ward : {"A", "B", "A", "B"}) small = of_ward(ward, "0.1");
  large = of_ward("C", "0.3");
  ReaccountQuestion question = everything();
  question.scopes = true;
  const std::vector<Reaccount> answers = reaccount(clinic.ledger(), question);
  REQUIRE(answers.size() == 5);
  for (const Reaccount& answer : answers) {
    CAPTURE(answer.scope);
    if (answer.scope == "block:A" || answer.scope == "block:B") {
      CHECK(answer.charged == number("0.2"));
      check_figures(answer, {recorded(small, 2)});
    } else if (answer.scope == "block:C") {
      CHECK(answer.charged == number("0.3"));
      check_figures(answer, {recorded(large, 1)});
    } else {
      CHECK((answer.scope.empty() || answer.scope == "lifetime"));
      CHECK(answer.charged == number("0.7"));
      check_figures(answer, {recorded(small, 4), recorded(large, 1)});
    }
  }
}

TEST_CASE("recorded loss: what a lattice law cannot say is left to the proved loss", "[engine][reaccount]") {
  ledger::ComponentRecord vector;
  vector.sensitivity = 3;
  vector.sensitivity_l2_squared = 3;
  vector.grid_sensitivity_l2_squared = 3;
  vector.scale = 20;
  vector.grid = 1;
  vector.coordinates = 3;
  vector.adjusted = number("0.3");
  vector.adjusted_delta = number("0.000001");
  vector.rho = number("0.00375");
  const KnownLoss several = recorded_loss("discrete_gaussian", vector);
  CHECK(several.law->kind == ComposedLaw::Kind::approximate);
  CHECK(several.law->delta == number("1e-6"));
  CHECK(several.rho == number("0.00375"));

  vector.grid_sensitivity_l2_squared = 4;  // a whole number of steps, but of several coordinates
  CHECK(recorded_loss("discrete_gaussian", vector).law->kind == ComposedLaw::Kind::approximate);

  ledger::ComponentRecord fine = vector;
  fine.grid_sensitivity_l2_squared = 1;
  fine.coordinates = 1;
  CHECK(recorded_loss("gaussian", fine).law->kind == ComposedLaw::Kind::discrete_gaussian);
  fine.grid = Rational(1, 1048576);
  CHECK(recorded_loss("gaussian", fine).law->kind == ComposedLaw::Kind::gaussian);
  CHECK(recorded_loss("gaussian", fine).law->extra > 0);

  ledger::ComponentRecord laplace = vector;
  laplace.grid_sensitivity = Rational(7, 2);  // answers on the grid move by whole steps, so by 3 at most
  CHECK(recorded_loss("discrete_laplace", laplace).law->sensitivity == 3);
  laplace.grid = Rational(1, 1000000000);
  CHECK(recorded_loss("discrete_laplace", laplace).law->kind == ComposedLaw::Kind::pure);
}

TEST_CASE("recorded loss: components that lose differently have different keys", "[engine][reaccount]") {
  const ledger::ComponentRecord one;
  const std::string key = loss_key("snapping", one);
  CHECK(loss_key("gaussian", one) != key);
  using Component = ledger::ComponentRecord;
  const auto with = [&one](auto field) {
    Component other = one;
    other.*field = 7;
    return loss_key("snapping", other);
  };
  const std::vector<std::string> others = {with(&Component::sensitivity),
                                           with(&Component::grid_sensitivity),
                                           with(&Component::grid_sensitivity_l2_squared),
                                           with(&Component::scale),
                                           with(&Component::grid),
                                           with(&Component::adjusted),
                                           with(&Component::adjusted_delta),
                                           with(&Component::rho)};
  for (const std::string& other : others) {
    CHECK(other != key);
    CHECK(std::count(others.begin(), others.end(), other) == 1);
  }
  ledger::ComponentRecord several = one;
  several.coordinates = 2;
  CHECK(loss_key("snapping", several) != key);
  ledger::ComponentRecord counted = one;
  counted.statistic = "count";
  CHECK(loss_key("snapping", counted) == key);
}

TEST_CASE("recorded loss: a record of no release is not read", "[engine][reaccount][negative]") {
  ledger::ComponentRecord component;
  component.sensitivity = 1;
  component.scale = 10;
  component.adjusted = number("0.1");
  CHECK(recorded_loss("snapping", component).law->extra == 0);
  CHECK_THROWS_AS(recorded_loss("staircase", component), LedgerCorrupt);
  component.adjusted = number("0.09");
  CHECK_THROWS_AS(recorded_loss("snapping", component), LedgerCorrupt);
  component.adjusted = number("0.1");
  component.grid = 1;
  CHECK_THROWS_WITH(recorded_loss("discrete_laplace", component),
                    "a component: grid_sensitivity: '' is not an exact number");
  component.adjusted = number("0.1");
  component.scale = 0;
  CHECK_THROWS_AS(recorded_loss("snapping", component), LedgerCorrupt);
}

TEST_CASE("recorded loss: a charge without a release is any mechanism of that charge",
          "[engine][reaccount]") {
  const auto pure = charged_loss({{"epsilon", 100'000'000'000}});
  REQUIRE(pure);
  CHECK(pure->law->kind == ComposedLaw::Kind::pure);
  CHECK(pure->law->epsilon == number("0.1"));
  const auto approximate = charged_loss({{"delta", 1'000'000'000'000}, {"epsilon", 100'000'000'000}});
  REQUIRE(approximate);
  CHECK(approximate->law->kind == ComposedLaw::Kind::approximate);
  CHECK(approximate->guarantee->delta == number("1e-6"));
  const auto concentrated = charged_loss({{"rho", 1'000'000'000'000}});
  REQUIRE(concentrated);
  CHECK(concentrated->rho == number("0.001"));
  CHECK_FALSE(concentrated->law);
  CHECK_FALSE(charged_loss({{"rdp(8)", 5}}));
}

TEST_CASE("reaccount: a quantile is known by its epsilon, and the exponential mechanism by its rho too",
          "[engine][reaccount][quantile]") {
  const auto zcdp_of = [](const std::string& mechanism) {
    auto [clinic, engine] = Open<Clinic>(
        "measure: zcdp, rho: 5",
        "    allow: {statistics: [quantile]}\n    release: {quantile: {mechanism: " + mechanism + "}}\n");
    for (int i = 0; i < 2; ++i) REQUIRE(release(engine, request("median:age", "0.4")).recorded.granted);
    ReaccountQuestion question = everything();
    question.delta = number("1e-6");
    const Reaccount answer = only(clinic, question);
    CHECK(bound(answer, Accountant::pure) == std::optional(number("0.8")));
    return bound(answer, Accountant::zcdp).value();
  };
  CHECK(zcdp_of("exponential") == accounting::zcdp_epsilon_up(number("0.04"), number("1e-6")));
  CHECK(zcdp_of("permute_and_flip") == accounting::zcdp_epsilon_up(number("0.16"), number("1e-6")));
}

TEST_CASE("reaccount: counts of cells, proportions and distinct values lose what their one call does",
          "[engine][reaccount][counted]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3",
                                       "    allow: {statistics: [count_of, proportion, distinct]}\n"
                                       "    release: {default: {mechanism: discrete_laplace}}\n");
  for (const char* statistic : {"proportion:ward:A", "distinct:ward", "count:age"}) {
    REQUIRE(release(engine, request(statistic, "0.25", "", "ward")).recorded.granted);
  }
  ReaccountQuestion question = everything();
  question.delta = number("1e-6");
  const Reaccount answer = only(clinic, question);
  CHECK(bound(answer, Accountant::pure) == std::optional(number("0.75")));
  CHECK(bound(answer, Accountant::zcdp) ==
        std::optional(accounting::zcdp_epsilon_up(number("0.09375"), number("1e-6"))));
}

TEST_CASE("reaccount: a ratio and a variance of a private number of rows lose what their parts do",
          "[engine][reaccount][ratio]") {
  auto [clinic, engine] = Open<Clinic>("epsilon: 3",
                                       "    allow: {statistics: [private_variance, ratio]}\n"
                                       "    release: {default: {mechanism: discrete_laplace}}\n");
  REQUIRE(release(engine, request("ratio:cost,age", "0.5", "", "ward")).recorded.granted);
  REQUIRE(release(engine, request("variance:age", "0.75")).recorded.granted);
  ReaccountQuestion question = everything();
  question.delta = number("1e-6");
  const Reaccount answer = only(clinic, question);
  CHECK(bound(answer, Accountant::pure) == std::optional(number("1.25")));
  // Five calls of 1/4: 5/2 of 1/16 in rho.
  CHECK(bound(answer, Accountant::zcdp) ==
        std::optional(accounting::zcdp_epsilon_up(number("0.15625"), number("1e-6"))));
}
