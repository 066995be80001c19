// The filters, on transcripts short enough to enumerate: an analyst who picks each mechanism by the answers
// so far, until nothing more fits the limit.
#include "composition_reference.hpp"
#include "epsilog/accounting/advanced_composition.hpp"
#include "epsilog/accounting/concentrated_loss.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/filter.hpp"
#include "epsilog/accounting/filter_theorem.hpp"
#include "epsilog/accounting/zcdp.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using namespace epsilog::accounting;
using epsilog::test::number;

namespace {

/// Randomised response: four answers, of which the first is impossible on one data set and the last on the
/// other unless delta is 0.
struct Response {
  double epsilon;
  double delta;
};

/// What the analyst asks after these answers (0..3), and what it costs in units of each account.
struct Question {
  Response response;
  std::vector<std::int64_t> cost;
};
using Strategy = std::function<Question(const std::vector<int>& answers)>;

struct Transcript {
  long double p;
  long double q;
};

std::vector<Transcript> pair_of(const Response& response) {
  const long double likely = 1 / (1 + std::exp(-static_cast<long double>(response.epsilon)));
  const long double rest = 1 - static_cast<long double>(response.delta);
  return {{response.delta, 0},
          {rest * likely, rest * (1 - likely)},
          {rest * (1 - likely), rest * likely},
          {0, response.delta}};
}

/// All transcripts of `rounds` questions, of which those that do not fit an account are refused.
void enumerate(const Strategy& strategy, const std::vector<Balance>& balances, int rounds,
               const Transcript& so_far, std::vector<int>& answers, std::vector<Transcript>& all) {
  if (rounds == 0) {
    all.push_back(so_far);
    return;
  }
  const Question question = strategy(answers);
  std::vector<Balance> after = balances;
  bool fits = true;
  for (std::size_t i = 0; i < after.size(); ++i) {
    fits = fits && filter(after[i], question.cost[i]).granted;
    after[i].spent += question.cost[i];
  }
  const std::vector<Transcript> answered =
      fits ? pair_of(question.response) : std::vector<Transcript>{{1, 1}};
  for (std::size_t y = 0; y < answered.size(); ++y) {
    if (answered[y].p == 0 && answered[y].q == 0) continue;
    answers.push_back(static_cast<int>(y));
    enumerate(strategy, fits ? after : balances, rounds - 1,
              {so_far.p * answered[y].p, so_far.q * answered[y].q}, answers, all);
    answers.pop_back();
  }
}

std::vector<Transcript> transcripts(const Strategy& strategy, const std::vector<std::int64_t>& limits,
                                    int rounds = 7) {
  std::vector<Balance> balances;
  for (const std::int64_t limit : limits) balances.push_back({limit, 0, 0});
  std::vector<Transcript> all;
  std::vector<int> answers;
  enumerate(strategy, balances, rounds, {1, 1}, answers, all);
  return all;
}

long double largest_loss(const std::vector<Transcript>& all) {
  long double largest = 0;
  for (const Transcript& one : all) largest = std::max(largest, std::log(one.p / one.q));
  return largest;
}

long double delta_at(const std::vector<Transcript>& all, long double epsilon) {
  long double delta = 0;
  for (const Transcript& one : all) delta += std::max(0.0L, one.p - std::exp(epsilon) * one.q);
  return delta;
}

long double divergence(const std::vector<Transcript>& all, long double order) {
  long double moment = 0;
  for (const Transcript& one : all) {
    if (one.q > 0) moment += one.q * std::pow(one.p / one.q, order);
  }
  return std::log(moment) / (order - 1);
}

/// A quarter, a half or an eighth of a nat, by the last two answers.
double adaptive_epsilon(const std::vector<int>& answers) {
  if (answers.empty()) return 0.5;
  if (answers.back() == 2) return 0.125;
  return answers.size() > 1 && answers[answers.size() - 2] == 1 ? 0.5 : 0.25;
}

constexpr long double kRounding = 1e-15L;

/// Units of 10^-12, rounded up as a charge is.
std::int64_t units_up(const Rational& cost) {
  return ceil(cost * power_of_ten(12)).get_si();
}
std::int64_t units_down(const Rational& limit) {
  return floor(limit * power_of_ten(12)).get_si();
}

}  // namespace

TEST_CASE("filters: every path of pure rounds stays within the limit, and some reach it",
          "[accounting][filter]") {
  const Strategy strategy = [](const std::vector<int>& answers) {
    const double epsilon = adaptive_epsilon(answers);
    return Question{{epsilon, 0}, {static_cast<std::int64_t>(epsilon * 8)}};
  };
  for (const std::int64_t eighths : {4, 12, 16}) {
    const auto all = transcripts(strategy, {eighths});
    CAPTURE(eighths);
    CHECK(largest_loss(all) <= static_cast<long double>(eighths) / 8 + kRounding);
    CHECK(largest_loss(all) >= static_cast<long double>(eighths) / 8 - kRounding);
  }
}

TEST_CASE("filters: every path of approximate rounds stays within both limits", "[accounting][filter]") {
  const Strategy strategy = [](const std::vector<int>& answers) {
    const double epsilon = adaptive_epsilon(answers);
    const double delta = !answers.empty() && answers.back() == 1 ? 1.0 / 64 : 1.0 / 128;
    return Question{{epsilon, delta},
                    {static_cast<std::int64_t>(epsilon * 8), static_cast<std::int64_t>(delta * 128)}};
  };
  for (const std::int64_t eighths : {4, 8, 12}) {
    for (const std::int64_t parts : {1, 3, 8}) {
      const auto all = transcripts(strategy, {eighths, parts});
      CAPTURE(eighths, parts);
      const long double delta = delta_at(all, static_cast<long double>(eighths) / 8);
      CHECK(delta <= static_cast<long double>(parts) / 128 + kRounding);
      CHECK(delta >= 1.0L / 128 - kRounding);
    }
  }
}

TEST_CASE("filters: every path stays within the limit of one Renyi order, of several, and of rho",
          "[accounting][filter]") {
  const auto cost = [](double epsilon) { return LossFacts{LossFacts::Kind::pure, Rational(epsilon), 0}; };
  for (const char* limit : {"0.2", "0.35", "0.6"}) {
    std::vector<std::int64_t> limits(2, units_down(number(limit)));
    limits[1] *= 2;
    const auto both = transcripts(
        [&](const std::vector<int>& answers) {
          const double epsilon = adaptive_epsilon(answers);
          return Question{{epsilon, 0},
                          {units_up(renyi_of_release_up(cost(epsilon), 2)),
                           units_up(renyi_of_release_up(cost(epsilon), 8))}};
        },
        limits);
    CAPTURE(limit);
    CHECK(divergence(both, 2) <= number(limit).get_d() + kRounding);
    CHECK(divergence(both, 8) <= 2 * number(limit).get_d() + kRounding);
    CHECK(divergence(both, 2) > number(limit).get_d() / 10);
    const auto concentrated = transcripts(
        [&](const std::vector<int>& answers) {
          const double epsilon = adaptive_epsilon(answers);
          return Question{{epsilon, 0}, {units_up(rho_of_release_up(cost(epsilon)))}};
        },
        {limits[0]});
    for (const long double order : {1.0625L, 2.0L, 8.0L, 64.0L}) {
      CHECK(divergence(concentrated, order) <= order * number(limit).get_d() + kRounding);
    }
  }
}

TEST_CASE("filters: every path of approximate rounds stays within limits of rho and of delta",
          "[accounting][filter]") {
  const Strategy strategy = [](const std::vector<int>& answers) {
    const double epsilon = adaptive_epsilon(answers);
    const double delta = !answers.empty() && answers.back() == 1 ? 1.0 / 64 : 1.0 / 128;
    const LossFacts loss{LossFacts::Kind::pure, Rational(epsilon), 0};
    return Question{{epsilon, delta},
                    {units_up(rho_of_release_up(loss)), static_cast<std::int64_t>(delta * 128)}};
  };
  for (const Rational& rho : {Rational(1, 8), Rational(3, 8)}) {
    for (const unsigned long parts : {2UL, 4UL, 8UL}) {
      const auto all = transcripts(strategy, {units_down(rho), static_cast<std::int64_t>(parts)});
      const Rational beside(parts, 128UL);
      const long double lost = beside.get_d();
      CAPTURE(text(rho), parts);
      for (const char* epsilon : {"0", "0.25", "0.5", "1", "2", "4"}) {
        CAPTURE(epsilon);
        const long double converted = zcdp_delta_up(rho, number(epsilon)).get_d();
        const long double delta = delta_at(all, number(epsilon).get_d());
        CHECK(delta <= lost + (1 - lost) * converted + kRounding);
        // Without the deltas it would not hold.
        if (number(epsilon) == 4) CHECK(delta > converted + 1.0L / 256);
      }
      // The closed form: S = 2 rho is that of 8 rho epsilons of a half.
      for (const char* slack : {"0.01", "1e-6"}) {
        std::vector<LossGroup> spent;
        for (unsigned long i = 0; i < Rational(8 * rho).get_num().get_ui(); ++i) {
          spent.push_back({Rational(1, 2), beside / (8 * rho), 1});
        }
        const Rational delta = beside + number(slack);
        const Rational epsilon = fully_adaptive_epsilon_up(spent, delta).value();
        CHECK(delta_at(all, epsilon.get_d()) <= delta.get_d() + kRounding);
      }
    }
  }
}

TEST_CASE("filters: a cost settled after the answer would be no filter", "[accounting][filter]") {
  // The same rounds, but an answer that speaks for the one data set is given back, as if it had been free.
  std::vector<Transcript> all;
  const std::function<void(int, int, Transcript)> run = [&](int rounds, int spent, Transcript so_far) {
    if (rounds == 0 || spent == 2) {
      all.push_back(so_far);
      return;
    }
    const auto answered = pair_of({0.5, 0});
    run(rounds - 1, spent, {so_far.p * answered[1].p, so_far.q * answered[1].q});
    run(rounds - 1, spent + 1, {so_far.p * answered[2].p, so_far.q * answered[2].q});
  };
  run(7, 0, {1, 1});
  CHECK(largest_loss(all) > 1.5L);
  CHECK(divergence(all, 2) > 1.0L);
}

TEST_CASE("filter theorem: each kind has one line that names what adds up and its source",
          "[accounting][filter]") {
  const std::vector<std::pair<FilterKind, std::string>> kinds = {{FilterKind::pure, "epsilons (Rogers"},
                                                                 {FilterKind::approximate, "deltas (Rogers"},
                                                                 {FilterKind::zcdp, "rhos (Whitehouse"},
                                                                 {FilterKind::renyi, "fixed order (Feldman"}};
  for (const auto& [kind, words] : kinds) {
    const std::string theorem(filter_theorem(kind));
    CHECK(theorem.find(words) != std::string::npos);
    CHECK(theorem.find('\n') == std::string::npos);
  }
  CHECK_THROWS_AS(filter_theorem(static_cast<FilterKind>(17)), InvalidParameter);
}
