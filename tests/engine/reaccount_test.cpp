// What history cost under each accountant: the same figures as the recorded mechanisms composed by hand.
#include "epsilog/engine/reaccount.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "clinic.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/privacy_loss_distribution.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "recorded_loss.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::engine;
using accounting::Accountant;
using accounting::ComposedLaw;
using accounting::kAccountants;
using accounting::KnownLoss;
using accounting::parse_rational;
using epsilog::test::Clinic;
using epsilog::test::release;
using epsilog::test::request;

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
  REQUIRE(answer.granted);
  REQUIRE(answer.record.components.size() == 1);
  KnownLoss loss = recorded_loss(answer.record.mechanism, answer.record.components[0]);
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

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("reaccount: snapping releases cost what their recorded noise costs, less than was charged",
          "[engine][reaccount]") {
  const Clinic clinic("epsilon: 10");
  Engine engine = clinic.open();
  Answer last;
  for (int i = 0; i < 40; ++i) last = release(engine, request("count", "0.1"));
  REQUIRE_FALSE(release(engine, request("count", "9")).granted);

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
  laplace.scale = number(last.record.components[0].lambda);
  laplace.sensitivity = number(last.record.components[0].sensitivity);
  laplace.count = 40;
  const Rational ideal = accounting::pld_epsilon_up({&laplace, 1}, *answer.delta).value();
  CHECK(bound(answer, Accountant::pld).value() >= ideal);
  CHECK(bound(answer, Accountant::pld).value() <= ideal + number("1e-9"));
}

TEST_CASE("reaccount: every mechanism by its own law, equal ones counted together", "[engine][reaccount]") {
  const Clinic clinic("epsilon: 10, delta: 1e-4", kMechanisms);
  Engine engine = clinic.open();
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
  CHECK(gaussian.rho == number(units.record.components[0].rho));
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
}

TEST_CASE("reaccount: one accountant, at a delta or at an epsilon", "[engine][reaccount]") {
  const Clinic clinic("epsilon: 10");
  Engine engine = clinic.open();
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
  const std::string before = content(clinic.ledger());
  double last = 0;
  bool grows = true;
  static_cast<void>(reaccount(clinic.ledger(), everything(), [&](double part) {
    grows = grows && part >= last && part <= 1;
    last = part;
  }));
  CHECK(grows);
  CHECK(last == 1);
  CHECK(content(clinic.ledger()) == before);
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

TEST_CASE("recorded loss: what a lattice law cannot say is left to the proved loss", "[engine][reaccount]") {
  ledger::ComponentRecord vector;
  vector.sensitivity = "3";
  vector.sensitivity_l2_squared = "3";
  vector.inflated = "3";
  vector.lambda = "20";
  vector.grid = "1";
  vector.coordinates = 3;
  vector.adjusted = "0.3";
  vector.adjusted_delta = "0.000001";
  vector.rho = "0.00375";
  const KnownLoss several = recorded_loss("discrete_gaussian", vector);
  CHECK(several.law->kind == ComposedLaw::Kind::approximate);
  CHECK(several.law->delta == number("1e-6"));
  CHECK(several.rho == number("0.00375"));

  ledger::ComponentRecord fine = vector;
  fine.inflated = "1";
  fine.coordinates = 1;
  CHECK(recorded_loss("gaussian", fine).law->kind == ComposedLaw::Kind::discrete_gaussian);
  fine.grid = "1/1048576";
  CHECK(recorded_loss("gaussian", fine).law->kind == ComposedLaw::Kind::approximate);

  ledger::ComponentRecord laplace = vector;
  laplace.inflated = "7/2";  // answers on the grid move by whole steps, so by 3 at most
  CHECK(recorded_loss("discrete_laplace", laplace).law->sensitivity == 3);
  laplace.grid = "1/1000000000";
  CHECK(recorded_loss("discrete_laplace", laplace).law->kind == ComposedLaw::Kind::pure);
}

TEST_CASE("recorded loss: a record of no release is not read", "[engine][reaccount][negative]") {
  ledger::ComponentRecord component;
  component.sensitivity = "1";
  component.lambda = "10";
  component.adjusted = "0.1";
  CHECK(recorded_loss("snapping", component).law->extra == 0);
  CHECK_THROWS_AS(recorded_loss("staircase", component), LedgerCorrupt);
  component.adjusted = "0.09";
  CHECK_THROWS_AS(recorded_loss("snapping", component), LedgerCorrupt);
  component.adjusted = "";
  CHECK_THROWS_AS(recorded_loss("snapping", component), LedgerCorrupt);
  component.adjusted = "0.1";
  component.lambda = "0";
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
