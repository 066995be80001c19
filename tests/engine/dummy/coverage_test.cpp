// Intervals as they are told, against the answers that they are of: whole releases are drawn from invented
// rows, of which the exact answers are known, and those are counted whose intervals miss.
//
// Size    500 releases of each question, by SeededBits, whose seed stands at each.
// Chance  If an interval at alpha = 1/5 misses with probability 1/5, it misses more than 167 times of 500 with
//         probability 7.7e-13, by the binomial law.
#include <numeric>

#include "clinic.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "epsilog/engine/dummy_release.hpp"
#include "invented_rows.hpp"
#include "row_answer.hpp"
#include "support/catch.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog;
using namespace epsilog::test;
using accounting::Rational;
using namespace engine;

namespace {

constexpr std::uint64_t kReleases = 250;
constexpr std::uint64_t kMissesMost = 98;

/// Of 50 invented rows.
Policy policy_of(const std::string& more) {
  std::string text = clinic_policy(
      "epsilon: 1000, delta: 0.1",
      "    allow: {statistics: [count, units, sum, mean, variance, count_of, proportion, distinct, "
      "private_variance, ratio]}\n" +
          more);
  text.replace(text.find("{max: 100000}"), 13, "{max: 100}");
  return engine::checked_policy(text, "policy.yaml");
}

/// What the rows that a dummy run invents are, exactly.
std::vector<Rational> exact_answer(const Policy& policy, const Request& asked) {
  const engine::Dataset& dataset = policy.dataset(asked.dataset);
  const engine::Derivation derivation = engine::derive(dataset, asked.question);
  engine::InventedRows rows(dataset, engine::wanted_columns(dataset, asked.question));
  const engine::ExactAnswer exact = engine::answer_rows(rows, dataset, asked.question, derivation, {});
  return accounting::post_process(derivation.post_processing, exact.values);
}

/// How often an answer was missed, each by itself and any of them.
struct Misses {
  std::vector<std::uint64_t> each;
  std::uint64_t any = 0;
};

bool misses(const mechanisms::AnswerInterval& interval, const Rational& answer) {
  return answer < interval.low || answer > interval.high;
}

/// `any` of those of all rows together. Ends of ranges in which the exact answers do not lie are none of
/// these.
Misses misses_of(const Policy& policy, const Request& asked, const Rational& alpha, std::uint64_t seed) {
  std::vector<std::vector<Rational>> exact;
  if (asked.rows.empty()) exact.push_back(exact_answer(policy, asked));
  for (std::size_t row = 0; row < asked.rows.size(); ++row)
    exact.push_back(exact_answer(policy, request_of_row(asked, row)));
  Misses found;
  SeededBits bits(seed);
  for (std::uint64_t i = 0; i < kReleases; ++i) {
    const Answer answer = engine::dummy_release(policy, asked, bits, {alpha}).would_be;
    bool any = false;
    std::size_t at = 0;
    for (std::size_t part = 0; part < exact.size(); ++part) {
      const Answer& told = asked.rows.empty() ? answer : answer.rows.at(part);
      const engine::CellIntervals& intervals = told.released.intervals.at(0);
      REQUIRE(intervals.each.size() == exact[part].size());
      for (std::size_t cell = 0; cell < exact[part].size(); ++cell, ++at) {
        found.each.resize(std::max(found.each.size(), at + 1));
        if (misses(intervals.each[cell], exact[part][cell])) ++found.each[at];
        any = any || (!intervals.together.empty() && misses(intervals.together.at(cell), exact[part][cell]));
      }
    }
    if (any) ++found.any;
  }
  return found;
}

}  // namespace

TEST_CASE("coverage: of whole releases no interval misses more often than it says, nor any of all cells",
          "[engine][dummy][intervals][statistical]") {
  const std::string discrete = "    release: {default: {mechanism: discrete_laplace}}\n";
  struct Case {
    std::string release;
    const char* statistic;
    std::optional<std::string> by;
  };
  std::uint64_t seed = 20'261'126, all = 0;
  for (const Case& one : std::vector<Case>{{"", "count", "ward"},
                                           {"", "distinct:ward", {}},
                                           {discrete, "sum:age", {}},
                                           {discrete, "count:age", "ward"},
                                           {discrete, "mean:age", "ward"},
                                           {discrete, "variance:age", {}},
                                           {discrete, "proportion:ward:A", {}},
                                           {discrete, "ratio:cost,age", {}}}) {
    CAPTURE(one.release, one.statistic, seed);
    const Misses found =
        misses_of(policy_of(one.release), request(one.statistic, "9", "", one.by), Rational(1, 5), seed++);
    for (const std::uint64_t count : found.each) CHECK(count <= kMissesMost);
    CHECK(found.any <= kMissesMost);
    all += std::accumulate(found.each.begin(), found.each.end(), std::uint64_t{0});
  }
  CHECK(all > kReleases);  // they do miss
}

TEST_CASE("coverage: those of all rows of a batch miss together no more often than they say",
          "[engine][dummy][intervals][batch][statistical]") {
  const Policy policy = policy_of("    release: {default: {mechanism: discrete_laplace}}\n");
  Request batch = request("count", "1");
  for (const Request& row : {request("count", "9", "", "ward"), request("units", "9"),
                             request("sum:age", "9", "", "ward"), request("count:age", "9")})
    batch.rows.push_back({row.question, row.epsilon});
  batch.question = {};
  batch.epsilon = Rational(0);
  const Misses found = misses_of(policy, batch, Rational(1, 5), 7);
  for (const std::uint64_t count : found.each) CHECK(count <= kMissesMost);
  CHECK((found.any <= kMissesMost && found.any > 0));
}

TEST_CASE("coverage: intervals at three fifths are found to miss more often than those at a fifth may",
          "[engine][dummy][intervals][statistical]") {
  const Policy policy = policy_of("    release: {default: {mechanism: discrete_laplace}}\n");
  CHECK(misses_of(policy, request("sum:age", "9"), Rational(3, 5), 11).each.at(0) > kMissesMost);
}
