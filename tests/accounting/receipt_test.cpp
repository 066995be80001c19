#include <type_traits>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/fixed_draws.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "support/catch.hpp"

// Stands in for the ledger's transaction, the only class that may make a receipt.
namespace epsilog::ledger {
class Transaction {
 public:
  static accounting::ChargeReceipt receipt(std::shared_ptr<const accounting::TransactionLiveness> liveness,
                                           const accounting::ApproximateLoss& loss = one()) {
    return {7, loss, std::move(liveness)};
  }
  static accounting::ChargeReceipt receipt(std::shared_ptr<const accounting::TransactionLiveness> liveness,
                                           const accounting::ComposedCharge& charge) {
    return {7, charge, std::move(liveness)};
  }
  static accounting::ApproximateLoss one() { return accounting::Epsilon::parse_down("1"); }
};
}  // namespace epsilog::ledger

using namespace epsilog;
using namespace epsilog::accounting;

static_assert(!std::is_copy_constructible_v<ChargeReceipt> && !std::is_copy_assignable_v<ChargeReceipt>);
static_assert(!std::is_copy_constructible_v<SealedRelease> &&
              !std::is_default_constructible_v<SealedRelease>);
static_assert(!std::is_default_constructible_v<ComposedCharge> &&
              !std::is_constructible_v<ChargeReceipt, std::int64_t, const ComposedCharge&>);
static_assert(!std::is_default_constructible_v<ChargeReceipt> &&
              !std::is_constructible_v<ChargeReceipt, std::int64_t, Epsilon>);

namespace {
auto open_transaction() {
  return std::make_shared<TransactionLiveness>();
}
}  // namespace

TEST_CASE("receipt: is consumed once, for exactly the loss it covers", "[accounting][receipt][exact]") {
  ChargeReceipt receipt = ledger::Transaction::receipt(open_transaction());
  CHECK_THROWS_AS(receipt.consume(Epsilon::parse_down("0.5")), InvalidParameter);
  CHECK(receipt.live());
  CHECK(receipt.consume(Epsilon::parse_down("1")) == 7);
  CHECK_FALSE(receipt.live());
  CHECK_THROWS_AS(receipt.consume(Epsilon::parse_down("1")), InvalidParameter);
}

TEST_CASE("receipt: parts cover together what the whole covered", "[accounting][receipt][exact]") {
  ChargeReceipt whole = ledger::Transaction::receipt(open_transaction());
  ChargeReceipt part = whole.split(Epsilon::parse_down("0.3"));
  CHECK(part.amount().text() == "0.3");
  CHECK(whole.amount().text() == "0.7");
  CHECK(part.decision() == whole.decision());
  CHECK_THROWS_AS(whole.split(Epsilon::parse_down("0.8")), InvalidParameter);
}

TEST_CASE("receipt: both parts of the loss are split and consumed, exactly", "[accounting][receipt][exact]") {
  const auto loss = [](const char* epsilon, const char* delta) {
    return ApproximateLoss{Epsilon::parse_down(epsilon), Delta::parse_down(delta)};
  };
  ChargeReceipt whole = ledger::Transaction::receipt(open_transaction(), loss("1", "1e-6"));
  CHECK_THROWS_AS(whole.split(loss("0.5", "2e-6")), InvalidParameter);
  CHECK_THROWS_AS(whole.split(loss("2", "1e-7")), InvalidParameter);
  CHECK(whole.amount() == loss("1", "1e-6"));
  ChargeReceipt part = whole.split(loss("0.25", "1e-7"));
  CHECK(part.amount() == loss("0.25", "1e-7"));
  CHECK(whole.amount() == loss("0.75", "9e-7"));
  CHECK_THROWS_AS(whole.consume(Epsilon::parse_down("0.75")), InvalidParameter);
  CHECK_THROWS_AS(whole.consume(loss("0.75", "8e-7")), InvalidParameter);
  CHECK_THROWS_AS(whole.consume(loss("0.74", "9e-7")), InvalidParameter);
  CHECK(whole.consume(loss("0.75", "9e-7")) == 7);
  CHECK(part.live());
}

TEST_CASE("receipt: of a composed charge it is split into its draws, in order, each once, and into no others",
          "[accounting][receipt][privacy]") {
  ComposedLaw law;
  law.kind = ComposedLaw::Kind::pure;
  law.epsilon = Rational(1, 10);
  std::vector<FixedDraw> draws(10, {Epsilon::parse_down("0.1"), 0});
  draws[1].charged.epsilon = Epsilon::parse_down("0.2");
  const FixedDraws fixed({known_loss(law)}, draws, Delta::parse_down("1e-3"));
  REQUIRE(fixed.all().charge().epsilon < fixed.all().sum().epsilon);
  const auto liveness = open_transaction();
  ChargeReceipt whole = ledger::Transaction::receipt(liveness, fixed.all());
  CHECK(whole.amount().text() == "1.1");
  // By the sum all of these are covered; the certificate says nothing of them.
  CHECK_THROWS_AS(whole.consume(Epsilon::parse_down("1.1")), InvalidParameter);
  CHECK_THROWS_AS(whole.split(Epsilon::parse_down("1.1")), InvalidParameter);
  CHECK_THROWS_AS(whole.split(Epsilon::parse_down("0.2")), InvalidParameter);
  CHECK_THROWS_AS(whole.split(Epsilon::parse_down("0.05")), InvalidParameter);
  for (const FixedDraw& draw : draws) CHECK(whole.split(draw.charged).consume(draw.charged) == 7);
  CHECK(whole.amount() == ApproximateLoss());
  CHECK_THROWS_AS(whole.split(Epsilon::parse_down("0.1")), InvalidParameter);
  CHECK_THROWS_AS(whole.split(Epsilon()), InvalidParameter);
  CHECK_THROWS_AS(whole.consume(Epsilon()), InvalidParameter);
}

TEST_CASE("loss: pure when its delta is zero, and named with both parts otherwise", "[accounting][exact]") {
  const ApproximateLoss pure = Epsilon::parse_down("0.5");
  const ApproximateLoss both{Epsilon::parse_down("0.5"), Delta::from_units(1)};
  CHECK(pure.pure());
  CHECK_FALSE(both.pure());
  CHECK(pure.text() == "0.5");
  CHECK(both.text() == "(0.5, 0.000000000000000001)");
  CHECK(pure.within(both));
  CHECK_FALSE(both.within(pure));
  CHECK(both.within(both));
}

TEST_CASE("receipt: dies with its transaction", "[accounting][receipt][negative]") {
  const auto transaction = open_transaction();
  ChargeReceipt receipt = ledger::Transaction::receipt(transaction);
  transaction->open = false;
  CHECK_FALSE(receipt.live());
  CHECK_THROWS_AS(receipt.consume(Epsilon::parse_down("1")), InvalidParameter);
  CHECK_THROWS_AS(receipt.split(Epsilon()), InvalidParameter);
}

TEST_CASE("receipt: a moved-from receipt covers nothing", "[accounting][receipt][negative]") {
  ChargeReceipt first = ledger::Transaction::receipt(open_transaction());
  const ChargeReceipt second = std::move(first);
  CHECK(second.live());
  CHECK_FALSE(first.live());  // NOLINT(bugprone-use-after-move): that it is harmless is the point
}

TEST_CASE("post-processing: a mean is the sum over at least one, about its centre, clamped",
          "[accounting][release][exact]") {
  const PostProcessing mean{PostProcessing::Kind::mean_about, 50, 0, 100};
  CHECK(post_process(mean, {{Rational(30)}, {Rational(3)}}) == std::vector<Rational>{60});
  CHECK(post_process(mean, {{Rational(30)}, {Rational(-3)}}) == std::vector<Rational>{80});
  CHECK(post_process(mean, {{Rational(-900)}, {Rational(3)}}) == std::vector<Rational>{0});
  CHECK(post_process(mean, {{Rational(1), Rational(9)}, {Rational(3), Rational(2)}}) ==
        std::vector<Rational>{Rational(151, 3), Rational(109, 2)});
}

TEST_CASE("post-processing: a variance is the mean square less the squared mean, clamped",
          "[accounting][release][exact]") {
  const PostProcessing variance{PostProcessing::Kind::variance_about, 5, 0, 25};
  CHECK(post_process(variance, {{Rational(40)}, {Rational(4)}, {Rational(4)}}) == std::vector<Rational>{9});
  CHECK(post_process(variance, {{Rational(-40)}, {Rational(4)}, {Rational(4)}}) == std::vector<Rational>{0});
  CHECK(post_process(variance, {{Rational(400)}, {Rational(0)}, {Rational(4)}}) == std::vector<Rational>{25});
}

TEST_CASE("post-processing: a proportion is a count over at least one, of pairs of counts, clamped",
          "[accounting][release][exact]") {
  const PostProcessing share{PostProcessing::Kind::proportion, 0, 0, 1};
  CHECK(post_process(share, {{3, 1, 0, 0, -2, 5, 7, -9, Rational(1, 2), 0, -3, -4}}) ==
        std::vector<Rational>{Rational(3, 4), 0, 0, 1, Rational(1, 2), 0});
  CHECK(accounting::values_of_a_cell(share.kind) == 2);
  CHECK(accounting::values_of_a_cell(PostProcessing::Kind::mean_about) == 1);
  CHECK_THROWS_AS(post_process(share, {{3, 1, 0}}), InvalidParameter);
  CHECK_THROWS_AS(post_process(share, {{3}, {1}}), InvalidParameter);
}

TEST_CASE("post-processing: a ratio is a quotient, clamped, and an end of its range where nothing divides it",
          "[accounting][release][exact]") {
  const PostProcessing ratio{PostProcessing::Kind::ratio, 0, -2, 6};
  CHECK(post_process(ratio,
                     {{3, 3, -3, 0, 3, -3, 0, Rational(1, 8)}, {2, Rational(1, 9), 4, 5, 0, -1, -4, 1}}) ==
        std::vector<Rational>{Rational(3, 2), 6, Rational(-3, 4), 0, 6, -2, 0, Rational(1, 8)});
  const PostProcessing above{PostProcessing::Kind::ratio, 0, 1, 6};
  CHECK(post_process(above, {{0, -1, 5}, {0, 2, -1}}) == std::vector<Rational>{1, 1, 6});
  CHECK(accounting::values_of_a_cell(ratio.kind) == 1);
  CHECK_FALSE(accounting::has_centre(ratio.kind));
  CHECK(name(ratio.kind) == "ratio");
  CHECK_THROWS_AS(post_process(ratio, {{3}}), InvalidParameter);
  CHECK_THROWS_AS(post_process(ratio, {{3}, {1, 2}}), InvalidParameter);
}

TEST_CASE("post-processing: components that do not fit together are refused",
          "[accounting][release][negative]") {
  const PostProcessing mean{PostProcessing::Kind::mean_about, 0, 0, 1};
  CHECK_THROWS_AS(post_process(mean, {{Rational(1)}}), InvalidParameter);
  CHECK_THROWS_AS(post_process(mean, {{Rational(1)}, {Rational(1), Rational(2)}}), InvalidParameter);
  const PostProcessing rounded{PostProcessing::Kind::rounded, 0, 0, 9};
  CHECK(post_process(rounded, {{Rational(7, 2), Rational(-1)}}) == std::vector<Rational>{4, 0});
  CHECK_THROWS_AS(post_process(rounded, {{Rational(1)}, {Rational(1)}}), InvalidParameter);
  const PostProcessing empty{PostProcessing::Kind::rounded, 0, 1, 0};
  CHECK_THROWS_AS(post_process(empty, {{Rational(1)}}), InvalidParameter);
}
