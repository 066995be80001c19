#include "epsilog/mechanisms/snapping_mechanism.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/snapping.hpp"
#include "support/catch.hpp"
#include "support/invention_forge.hpp"
#include "support/receipt_forge.hpp"
#include "support/replay_bits.hpp"

using namespace epsilog::mechanisms;
using namespace epsilog;
using namespace epsilog::accounting;
using epsilog::ledger::Transaction;
using epsilog::test::SeededBits;
using Options = SnappingMechanism::Options;

namespace {

Options options(const char* epsilon, const char* sensitivity, const char* lower, const char* upper) {
  return {.epsilon = Epsilon::parse_down(epsilon),
          .sensitivity = parse_rational(sensitivity, "sensitivity"),
          .lower = parse_rational(lower, "lower"),
          .upper = parse_rational(upper, "upper")};
}

void refused(const Options& wrong, const std::string& place) {
  CHECK_THAT(epsilog::test::message_thrown<InvalidParameter>([&] { return SnappingMechanism(wrong); }),
             Catch::Matchers::StartsWith(place));
}

class BrokenBits final : public BitSource {
 public:
  void fill(std::span<std::byte>) override { throw EntropyUnavailable("no bits"); }
};

}  // namespace

TEST_CASE("mechanism: lambda, grid and both losses come out as the formulas say",
          "[mechanisms][snapping][exact]") {
  const SnappingMechanism mechanism(options("0.1", "1", "-20", "20"));
  const auto& p = mechanism.parameters();
  const Rational eta = power_of_two(-118);
  CHECK(p.precision == 118);
  CHECK(p.grid == 16);
  CHECK(p.centre == 0);
  CHECK(p.bound == 20);
  const Rational ideal = (1 + 18 * 20 * eta) / (Rational(1, 10) - 10 * eta);
  CHECK(p.scale >= ideal);
  CHECK(p.scale <= ideal * (1 + 2 * eta));
  CHECK(p.adjusted == 1 / p.scale + (18 * 20 / p.scale + 10) * eta);
  CHECK(p.adjusted <= Rational(1, 10));
  CHECK(*p.published == 1 / p.scale + 12 * 20 * eta / p.scale + 2 * eta);
  CHECK(p.charged == Epsilon::parse_down("0.1"));
}

TEST_CASE("mechanism: the exact arithmetic loses exactly what was asked", "[mechanisms][snapping][exact]") {
  Options asked = options("0.3", "7/3", "0", "1e300");
  asked.arithmetic = Arithmetic::exact;
  const SnappingMechanism mechanism(asked);
  CHECK(mechanism.parameters().scale == Rational(70, 9));
  CHECK(mechanism.parameters().grid == 8);
  CHECK(mechanism.parameters().adjusted == Rational(3, 10));
  CHECK_FALSE(mechanism.parameters().published.has_value());
}

TEST_CASE("mechanism: the proved loss never passes the granted one, at any scale", "[mechanisms][snapping]") {
  for (const char* epsilon : {"1e-12", "1e-6", "0.1", "1", "2.5", "1000000"}) {
    for (const char* sensitivity : {"1e-30", "0.7", "1", "3", "1e30"}) {
      for (const char* upper : {"1e-20", "1", "41/3", "1e9", "1e40"}) {
        for (const std::uint64_t coordinates : {1UL, 2UL, 1000UL}) {
          for (const unsigned bits : {0U, 53U, 118U, 300U}) {
            Options asked = options(epsilon, sensitivity, "-1e-25", upper);
            asked.coordinates = coordinates;
            asked.precision.bits = bits;
            try {
              const SnappingMechanism mechanism(asked);
              const auto& p = mechanism.parameters();
              const Rational eta = power_of_two(-static_cast<long>(p.precision));
              CHECK(p.sensitivity / p.scale + coordinates * (18 * p.bound / p.scale + 10) * eta ==
                    p.adjusted);
              CHECK(p.adjusted <= p.charged.rational());
              CHECK(p.bound <= power_of_two(static_cast<long>(p.precision) - 7) * p.scale);
              CHECK(p.centre == round_to_multiple(p.centre, p.grid));
              CHECK(p.centre - p.bound <= asked.lower);
              CHECK(p.centre + p.bound >= asked.upper);
              CHECK(p.grid * (1 + power_of_two(-5)) >= p.scale);
              if (bits == 0) CHECK(p.scale * (1 - power_of_two(-40)) <= p.sensitivity / p.charged.rational());
            } catch (const InvalidParameter&) {
              CHECK(bits != 0);  // auto always finds a precision here
            }
          }
        }
      }
    }
  }
}

TEST_CASE("mechanism: more epsilon never means more noise", "[mechanisms][snapping]") {
  Rational before = power_of_two(200);
  for (int tenths = 1; tenths <= 60; ++tenths) {
    Options asked = options("1", "1", "0", "1000");
    asked.epsilon = Epsilon::from_units(100'000'000'000LL * tenths);
    const SnappingMechanism mechanism(asked);
    CHECK(mechanism.parameters().scale < before);
    before = mechanism.parameters().scale;
  }
}

TEST_CASE("mechanism: auto takes the least sufficient precision and says why", "[mechanisms][snapping]") {
  CHECK(SnappingMechanism(options("1", "1", "0", "1000")).parameters().precision == 118);
  const SnappingMechanism wide(options("1", "1", "0", "1e60"));
  const auto& p = wide.parameters();
  CHECK(p.precision > 118);
  const auto rounding = [&](unsigned bits) {
    return Rational((18 * p.bound / p.scale + 10) * power_of_two(-static_cast<long>(bits)));
  };
  CHECK(rounding(p.precision) <= power_of_two(-40));
  CHECK(rounding(p.precision - 1) > power_of_two(-40));
  CHECK(p.precision_reason.find("2^-40") != std::string::npos);
  Options declared = options("1", "1", "0", "1000");
  declared.precision.bits = 200;
  CHECK(SnappingMechanism(declared).parameters().precision_reason == "declared");
}

TEST_CASE("mechanism: off-centre ranges are shifted by a multiple of the grid",
          "[mechanisms][snapping][exact]") {
  const SnappingMechanism mechanism(options("1", "4", "100", "120.5"));
  CHECK(mechanism.parameters().grid == 4);
  CHECK(mechanism.parameters().centre == 112);
  CHECK(mechanism.parameters().bound == 12);
}

TEST_CASE("mechanism: a binding probability widens the bound by whole grid steps", "[mechanisms][snapping]") {
  Options asked = options("1", "1", "-50", "50");
  asked.binding_probability = Rational(1, 20);
  // 1/2 + ln 20 = 3.4957…, so four steps.
  CHECK(SnappingMechanism(asked).parameters().bound == 54);
}

TEST_CASE("mechanism: the published form is called a bound only where it is one", "[mechanisms][snapping]") {
  Options asked = options("0.3", "1", "-64", "64");
  CHECK(SnappingMechanism(asked).parameters().published_note.find("p bits") != std::string::npos);
  asked.answer_step = 1;
  CHECK(SnappingMechanism(asked).parameters().published_note.empty());
  asked.epsilon = Epsilon::parse_down("1");  // lambda is a hair above the grid 1
  CHECK(SnappingMechanism(asked).parameters().published_note.find("grid") != std::string::npos);
  asked.bound = Rational(1, 2);
  CHECK(SnappingMechanism(asked).parameters().published_note.find("B above lambda") != std::string::npos);
}

TEST_CASE("mechanism: each impossible option is refused by name", "[mechanisms][snapping]") {
  const Options right = options("1", "1", "0", "10");
  const auto with = [&](auto change) {
    Options wrong = right;
    change(wrong);
    return wrong;
  };
  refused(with([](Options& o) { o.epsilon = Epsilon(); }), "epsilon");
  refused(with([](Options& o) { o.sensitivity = 0; }), "sensitivity");
  refused(with([](Options& o) { o.sensitivity = -1; }), "sensitivity");
  refused(with([](Options& o) { o.coordinates = 0; }), "coordinates");
  refused(with([](Options& o) { o.upper = 0; }), "range");
  refused(with([](Options& o) { o.lower = 11; }), "range");
  refused(with([](Options& o) { o.bound = 0; }), "bound");
  refused(with([](Options& o) { o.binding_probability = 0; }), "binding_probability");
  refused(with([](Options& o) { o.binding_probability = 1; }), "binding_probability");
  refused(with([](Options& o) { o.bound = 1, o.binding_probability = Rational(1, 2); }),
          "bound, binding_probability");
  for (const unsigned bits : {1U, 52U, 54U, 117U, 4097U}) {
    refused(with([bits](Options& o) { o.precision.bits = bits; }), "precision");
  }
  refused(with([](Options& o) { o.arithmetic = Arithmetic::exact, o.precision.bits = 118; }), "precision");
  refused(with([](Options& o) { o.precision.bits = 53, o.upper = power_of_two(60); }), "bound");
  refused(with([](Options& o) {
            o.precision.bits = 53;
            o.coordinates = 1ULL << 50;
            o.epsilon = Epsilon::parse_down("1");
          }),
          "epsilon");
}

TEST_CASE("mechanism: a release takes one live receipt of the right amount", "[mechanisms][snapping]") {
  const SnappingMechanism mechanism(options("0.5", "1", "0", "100"));
  const std::vector<Rational> answers{Rational(10), Rational(20)};
  SeededBits bits(1);
  Transaction transaction;
  const auto release = mechanism.release(answers, transaction.receipt(Epsilon::parse_down("0.5"), 7), bits);
  CHECK(release.decision() == 7);
  CHECK(release.charged() == Epsilon::parse_down("0.5"));
  CHECK(release.size() == 2);
  CHECK_THROWS_AS(mechanism.release(answers, transaction.receipt(Epsilon::parse_down("0.4")), bits),
                  InvalidParameter);
  CHECK_THROWS_AS(mechanism.release({}, transaction.receipt(Epsilon::parse_down("0.5")), bits),
                  InvalidParameter);
  auto late = transaction.receipt(Epsilon::parse_down("0.5"));
  transaction.end();
  CHECK_THROWS_AS(mechanism.release(answers, std::move(late), bits), InvalidParameter);
}

TEST_CASE("mechanism: without randomness there is no release", "[mechanisms][snapping]") {
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    Options asked = options("0.5", "1", "0", "100");
    asked.arithmetic = arithmetic;
    BrokenBits broken;
    Transaction transaction;
    const std::vector<Rational> answer{Rational(1)};
    CHECK_THROWS_AS(
        SnappingMechanism(asked).release(answer, transaction.receipt(Epsilon::parse_down("0.5")), broken),
        EntropyUnavailable);
  }
}

TEST_CASE("mechanism: answers outside the range are clamped in silence", "[mechanisms][snapping]") {
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    Options asked = options("0.5", "1", "3", "100");
    asked.arithmetic = arithmetic;
    const SnappingMechanism mechanism(asked);
    Transaction transaction;
    const auto drawn = [&](const Rational& answer) {
      SeededBits bits(99);
      const std::vector<Rational> one(50, answer);
      return Transaction::opened(
          mechanism.release(one, transaction.receipt(Epsilon::parse_down("0.5")), bits));
    };
    CHECK(drawn(Rational(power_of_two(500))) == drawn(100));
    CHECK(drawn(-5) == drawn(3));
  }
}

TEST_CASE("mechanism: every release is centre plus a multiple of the grid, or an end",
          "[mechanisms][snapping]") {
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    Options asked = options("0.2", "1", "0", "1/3");
    asked.arithmetic = arithmetic;
    asked.bound = 50;
    const SnappingMechanism mechanism(asked);
    const auto& p = mechanism.parameters();
    SystemBits bits;
    Transaction transaction;
    const std::vector<Rational> answers(500, Rational(1, 7));
    const auto release = mechanism.release(answers, transaction.receipt(p.charged), bits);
    for (const Rational& value : Transaction::opened(release)) {
      const Rational shifted = value - p.centre;
      CHECK(abs(shifted) <= p.bound);
      CHECK((abs(shifted) == p.bound || Rational(shifted / p.grid).get_den() == 1));
    }
  }
}

TEST_CASE("snapping: what is drawn from invented answers is what a release of them draws from the same bits",
          "[mechanisms][snapping]") {
  for (const Arithmetic arithmetic : {Arithmetic::mpfr, Arithmetic::exact}) {
    Options chosen = options("0.3", "1", "-5", "1000");
    chosen.arithmetic = arithmetic;
    const SnappingMechanism mechanism(chosen);
    const std::vector<Rational> answers{-100, 0, Rational(1, 3), 999, 5000};
    Transaction transaction;
    SeededBits of_release(11);
    const auto release =
        mechanism.release(answers, transaction.receipt(mechanism.parameters().charged), of_release);
    SeededBits of_dummy(11);
    CHECK(mechanism.draw_invented(epsilog::engine::InventedData::of(answers), of_dummy) ==
          Transaction::opened(release));
    CHECK(of_dummy.bytes() == of_release.bytes());
  }
}

TEST_CASE("snapping: nothing is drawn of no invented answer, or without bits",
          "[mechanisms][snapping][negative]") {
  const SnappingMechanism mechanism(options("0.3", "1", "0", "1000"));
  SeededBits bits(1);
  CHECK_THROWS_AS(mechanism.draw_invented({}, bits), InvalidParameter);
  CHECK(bits.fills() == 0);
  BrokenBits broken;
  CHECK_THROWS_AS(mechanism.draw_invented(epsilog::engine::InventedData::of({1}), broken),
                  EntropyUnavailable);
}
