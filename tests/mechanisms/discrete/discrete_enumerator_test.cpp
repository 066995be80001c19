// Every choice of random words of a sampler, walked as a tree: exact rational bounds of the probability
// of each output, without a model of the sampler beside the shipped code. Words of 2 to 5 bits go
// through the same code as the 64 bits of a release, and are undecided often enough to be looked at.
#include "directed_functions.hpp"
#include "discrete_sampler.hpp"
#include "mechanisms/walked_words.hpp"
#include "support/catch.hpp"

using namespace epsilog::mechanisms;
using epsilog::accounting::parse_rational;
using namespace epsilog::test;

namespace {

constexpr unsigned kPrecision = 256;

Masses walked_attempts(const DiscreteSampler& sampler, unsigned word_bits, std::size_t depth) {
  Masses masses;
  walk(masses, word_bits, depth, [&](RandomWords& words) -> std::optional<long> {
    WipedInteger noise;
    if (!sampler.attempt(noise, words)) return std::nullopt;
    return mpz_get_si(noise.get());
  });
  return masses;
}

Masses walked_draws(const DiscreteSampler& sampler, unsigned word_bits, std::size_t depth) {
  Masses masses;
  walk(masses, word_bits, depth, [&](RandomWords& words) -> std::optional<long> {
    WipedInteger noise;
    sampler.draw(noise, words);
    return mpz_get_si(noise.get());
  });
  return masses;
}

struct Bounds {
  Rational down;
  Rational up;
};

/// Weight of x, and the sum of all weights.
Bounds laplace_weight(const Rational& scale, long x) {
  const Rational exponent = -Rational(std::labs(x)) / scale;
  return {exp_down(exponent, kPrecision), exp_up(exponent, kPrecision)};
}
Bounds gaussian_weight(const Rational& scale, long x) {
  const Rational exponent = -Rational(x) * x / (2 * scale * scale);
  return {exp_down(exponent, kPrecision), exp_up(exponent, kPrecision)};
}
Bounds laplace_total(const Rational& scale) {
  const Rational q_down = exp_down(-1 / scale, kPrecision);
  const Rational q_up = exp_up(-1 / scale, kPrecision);
  return {(1 + q_down) / (1 - q_down), (1 + q_up) / (1 - q_up)};
}
Bounds gaussian_total(const Rational& scale) {
  // Beyond last >= 20 s each weight is below e^-10 of the one before; the rest is below twice the first.
  const long last = epsilog::accounting::ceil(20 * scale).get_si() + 20;
  Bounds total{1, 1};
  for (long x = 1; x <= last; ++x) {
    total.down += 2 * gaussian_weight(scale, x).down;
    total.up += 2 * gaussian_weight(scale, x).up;
  }
  total.up += 4 * gaussian_weight(scale, last + 1).up;
  return total;
}

struct Law {
  const char* name;
  DiscreteSampler (*sampler)(const Rational&, SamplerTier, unsigned);
  Bounds (*weight)(const Rational&, long);
  Bounds (*total)(const Rational&);
};
const std::array<Law, 2> kLaws = {
    Law{"laplace", &DiscreteSampler::laplace, &laplace_weight, &laplace_total},
    Law{"gaussian", &DiscreteSampler::gaussian, &gaussian_weight, &gaussian_total}};

Bounds probability(const Law& law, const Rational& scale, long x) {
  const Bounds weight = law.weight(scale, x);
  const Bounds total = law.total(scale);
  return {weight.down / total.up, weight.up / total.down};
}

/// P(output), an attempt repeated until it is accepted, from the masses of one attempt.
Bounds repeated(const Masses& masses, long output) {
  const Rational accepted = masses.accepted();
  const auto found = masses.outputs.find(output);
  const Rational mass = found == masses.outputs.end() ? Rational(0) : found->second;
  return {mass / (accepted + masses.undecided), (mass + masses.undecided) / (accepted + masses.undecided)};
}

}  // namespace

TEST_CASE("enumerator: every output of the discrete samplers has its exact probability",
          "[mechanisms][discrete][enumerator][exact]") {
  struct Setting {
    const char* scale;
    unsigned word_bits;
    std::size_t depth;
  };
  // The last has t = 37, or 38, so the offset takes two words and GMP.
  const std::array<Setting, 8> settings = {{{"1/3", 3, 6},
                                            {"1/2", 3, 7},
                                            {"1", 4, 5},
                                            {"3/2", 4, 5},
                                            {"5/3", 3, 6},
                                            {"7", 4, 5},
                                            {"15/4", 4, 5},
                                            {"37/10", 3, 6}}};
  for (const Law& law : kLaws) {
    for (const Setting& s : settings) {
      const Rational scale = parse_rational(s.scale, "scale");
      for (const SamplerTier tier : {SamplerTier::machine, SamplerTier::exact}) {
        if (tier == SamplerTier::exact && (s.word_bits > 3 || scale != Rational(1, 2))) continue;
        const DiscreteSampler sampler = law.sampler(scale, tier, s.word_bits);
        const Masses masses = walked_attempts(sampler, s.word_bits, s.depth);
        CAPTURE(law.name, s.scale, masses.undecided.get_d());
        CHECK(masses.accepted() + masses.rejected + masses.undecided == 1);
        CHECK(masses.undecided < Rational(1, 20));
        REQUIRE(masses.outputs.size() > 2);
        for (long x = -40; x <= 40; ++x) {
          const Bounds walked = repeated(masses, x);
          const Bounds exact = probability(law, scale, x);
          if (walked.down > exact.up || walked.up < exact.down)
            FAIL("P(" << x << ") = " << exact.up.get_d() << ", walked " << walked.down.get_d() << " to "
                      << walked.up.get_d());
        }
      }
    }
  }
}

TEST_CASE("enumerator: whole draws, rejections included, enclose the same law",
          "[mechanisms][discrete][enumerator][exact]") {
  for (const Law& law : kLaws) {
    for (const char* text : {"1/2", "1", "3/2"}) {
      const Rational scale = parse_rational(text, "scale");
      const DiscreteSampler sampler = law.sampler(scale, SamplerTier::machine, 2);
      const Masses masses = walked_draws(sampler, 2, 8);
      CAPTURE(law.name, text, masses.undecided.get_d());
      CHECK(masses.undecided < Rational(3, 5));
      for (long x = -8; x <= 8; ++x) {
        const Bounds exact = probability(law, scale, x);
        const auto found = masses.outputs.find(x);
        const Rational mass = found == masses.outputs.end() ? Rational(0) : found->second;
        CHECK(mass <= exact.up);
        CHECK(mass + masses.undecided >= exact.down);
      }
    }
  }
}

TEST_CASE("enumerator: the walked Laplace loses what is charged, exactly",
          "[mechanisms][discrete][enumerator][exact]") {
  // Answers d steps apart release x with probabilities P(x) and P(x - d): the ratio is at most e^(d/s),
  // and reaches it.
  const Rational scale(5, 3);
  const Masses masses = walked_attempts(DiscreteSampler::laplace(scale, SamplerTier::machine, 4), 4, 6);
  for (long d = 1; d <= 6; ++d) {
    const Rational charged_up = exp_up(d / scale, kPrecision);
    Rational best = 0;
    for (long x = -8; x <= 8; ++x) {
      const Bounds near = repeated(masses, x);
      const Bounds far = repeated(masses, x - d);
      CHECK(near.down <= charged_up * far.up);
      if (far.up > 0) best = std::max<Rational>(best, near.up / far.down);
    }
    CHECK(best >= charged_up);
  }
}
