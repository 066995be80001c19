// Releases of batches in the ledger: rows that share out components and values, and what each scope has to
// cover.
#include "epsilog/accounting/fixed_draws.hpp"
#include "ledger/support/fixture.hpp"
#include "records.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using accounting::Epsilon;
using accounting::PostProcessing;
using accounting::Rational;
using mechanisms::ReleaseSealer;

namespace {

const Epsilon kHalf = Epsilon::parse_down("0.05");

ledger::ReleaseRow row(std::int64_t components, std::vector<std::string> cells,
                       PostProcessing::Kind kind = PostProcessing::Kind::none) {
  return {.mechanism = "discrete_laplace",
          .arithmetic = "exact",
          .requested = Rational(1, 20),
          .charged = kHalf,
          .adjusted = Rational(1, 20),
          .components = components,
          .cells = std::move(cells),
          .post_processing = {kind, 0, 0, kind == PostProcessing::Kind::none ? 0 : 1}};
}

/// A count, and the count of a proportion by two cells.
ledger::ReleaseRecord batch_record() {
  ledger::ReleaseRecord record = record_of(kTenth);
  record.mechanism = ledger::kBatch;
  record.arithmetic.clear();
  record.published.reset();
  record.components.assign(2, record.components.front());
  for (auto& component : record.components) component.epsilon = kHalf;
  record.rows = {row(1, {}), row(1, {"A", "B"}, PostProcessing::Kind::proportion)};
  return record;
}

const accounting::Delta kDelta = accounting::Delta::parse_down("0.001");

/// The two draws of batch_record(), fixed in advance.
accounting::FixedDraws fixed_draws() {
  accounting::ComposedLaw law;
  law.kind = accounting::ComposedLaw::Kind::pure;
  law.epsilon = Rational(1, 20);
  return {{accounting::known_loss(law)}, {{kHalf, 0}, {kHalf, 0}}, kDelta};
}

accounting::ComposedCharge as_one() {
  return fixed_draws().all();
}

ledger::ReleaseRecord composed_record() {
  ledger::ReleaseRecord record = batch_record();
  record.charged = as_one().charge().epsilon;
  record.composed = {as_one().by(), kDelta};
  return record;
}

std::vector<accounting::SealedRelease> drawn(accounting::ChargeReceipt receipt,
                                             std::vector<std::vector<Rational>> values) {
  std::vector<accounting::SealedRelease> sealed;
  sealed.push_back(ReleaseSealer::seal(receipt.split(kHalf), kHalf, std::move(values.at(0))));
  sealed.push_back(ReleaseSealer::seal(std::move(receipt), kHalf, std::move(values.at(1))));
  return sealed;
}

}  // namespace

TEST_CASE("batch: its values are those of its rows, one after the other, and are read back",
          "[ledger][batch]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  auto transaction = ledger.begin();
  auto receipt = transaction.charge(granted(), charge_of(kTenth), kTenth);
  transaction.attach(batch_record(), drawn(std::move(receipt), {{7}, {1, 3, 2, 0}}), {});
  const auto stored = ledger.commit(std::move(transaction)).at(0);
  CHECK(stored.values == std::vector<Rational>{7, Rational(1, 4), 1});
  const auto found = ledger.snapshot().find_by_id(stored.id);
  REQUIRE(found);
  CHECK(found->release == std::optional(batch_record()));
  CHECK(found->values == stored.values);
  const auto parts = ledger::release_parts(*found->release, found->post_processing);
  REQUIRE(parts.size() == 2);
  CHECK((parts[1].component == 1 && parts[1].components == 1 && parts[1].value == 1 && parts[1].values == 2));
  CHECK(parts[1].drawn == std::vector<std::size_t>{4});
  CHECK(query_sql(fixture.path, "SELECT \"values\" FROM decision") == R"(["7","0.25","1"])");
  CHECK(ledger::release_parts(record_of(kTenth), {}).size() == 1);
}

TEST_CASE("totals: values are those of each margin, and what is made to add up follows from the draws alone",
          "[ledger][totals]") {
  const auto stored_by = [](PostProcessing::Kind kind) {
    ledger::ReleaseRecord record = record_of(kTenth);
    record.components.assign(2, record.components.front());
    for (auto& component : record.components) component.epsilon = kHalf;
    record.cells = std::vector<std::string>{"A", "B"};
    record.cells.set_totals(true);
    const LedgerFixture fixture;
    auto ledger = fixture.open();
    auto transaction = ledger.begin();
    auto receipt = transaction.charge(granted(), charge_of(kTenth), kTenth);
    transaction.attach(record, drawn(std::move(receipt), {{4, 2}, {9}}), {.kind = kind});
    const auto stored = ledger.commit(std::move(transaction)).at(0);
    const auto found = ledger.snapshot().find_by_id(stored.id);
    REQUIRE(found);
    CHECK(found->release == std::optional(record));
    CHECK(found->post_processing.kind == kind);
    CHECK(found->values == stored.values);
    return std::pair(found->values, query_sql(fixture.path, "SELECT \"values\" FROM decision"));
  };
  using Values = std::vector<Rational>;
  CHECK(stored_by(PostProcessing::Kind::totals) ==
        std::pair(Values{4, 2, 9}, std::string(R"(["4","2","9"])")));
  CHECK(stored_by(PostProcessing::Kind::consistent_totals) == std::pair(Values{5, 3, 8}, std::string("[]")));
  ledger::ReleaseRecord batch = batch_record();
  batch.rows = {row(1, {}), row(2, {"A", "B"})};
  batch.rows[1].cells.set_totals(true);
  batch.rows[1].post_processing = {.kind = PostProcessing::Kind::consistent_totals};
  CHECK(ledger::recorded_values(batch, {}, {7, 5, 3, 8}) == Values{7});
  CHECK(ledger::has_unrecorded_values(batch, {}));
  CHECK_FALSE(ledger::has_unrecorded_values(batch_record(), {}));
}

TEST_CASE("totals: a release that has not what its margins take is not recorded",
          "[ledger][totals][negative]") {
  const LedgerFixture fixture;
  const auto refuses = [&](const auto& change, std::vector<std::vector<Rational>> values) {
    auto ledger = fixture.open();
    auto transaction = ledger.begin();
    auto receipt = transaction.charge(granted(), charge_of(kTenth), kTenth);
    ledger::ReleaseRecord record = record_of(kTenth);
    record.components.assign(2, record.components.front());
    for (auto& component : record.components) component.epsilon = kHalf;
    record.cells = std::vector<std::string>{"A", "B"};
    record.cells.set_totals(true);
    change(record);
    CHECK_THROWS_AS(transaction.attach(record, drawn(std::move(receipt), std::move(values)),
                                       {.kind = PostProcessing::Kind::totals}),
                    Error);
  };
  const auto nothing = [](ledger::ReleaseRecord&) {};
  refuses(nothing, {{4, 2}, {9, 1}});
  refuses(nothing, {{4, 2, 1}, {9}});
  refuses([](ledger::ReleaseRecord& record) { record.cells = ledger::CellKeys(); }, {{4}, {9}});
  refuses([](ledger::ReleaseRecord& record) { record.cells.set_totals(false); }, {{4, 2}, {9, 1}});
}

TEST_CASE("batch: rows that do not share out what was drawn are not recorded", "[ledger][batch][negative]") {
  const LedgerFixture fixture;
  const auto refuses = [&](const auto& change, std::vector<std::vector<Rational>> values) {
    auto ledger = fixture.open();
    auto transaction = ledger.begin();
    auto receipt = transaction.charge(granted(), charge_of(kTenth), kTenth);
    ledger::ReleaseRecord record = batch_record();
    change(record);
    CHECK_THROWS_AS(transaction.attach(record, drawn(std::move(receipt), std::move(values)), {}), Error);
  };
  const std::vector<std::vector<Rational>> right{{7}, {1, 3, 2, 0}};
  refuses([](auto&) {}, {{7}, {1, 3}});
  refuses([](auto&) {}, {{7, 8}, {1, 3, 2, 0}});
  refuses([](auto& record) { record.rows.pop_back(); }, right);
  refuses([](auto& record) { record.rows[0].components = 2; }, right);
  refuses([](auto& record) { record.rows.push_back(row(1, {})); }, right);
  CHECK(fixture.open().snapshot().decision_count() == 0);
}

TEST_CASE("batch: a text whose rows are not those of a batch is not read", "[ledger][batch][negative]") {
  ledger::PlanRecord plan;
  plan.release = batch_record();
  const std::string text = ledger::release_text(plan);
  ledger::PlanRecord read;
  ledger::parse_release_text(text, read);
  CHECK(read.release == plan.release);
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const auto at = other.find(from);
    CAPTURE(from, text);
    REQUIRE(at != std::string::npos);
    other.replace(at, from.size(), to);
    CAPTURE(other);
    CHECK_THROWS_AS(ledger::parse_release_text(other, read), LedgerCorrupt);
  };
  refused(R"("mechanism":"batch")", R"("mechanism":"snapping")");
  refused(R"("mechanism":"discrete_laplace")", R"("mechanism":"batch")");
  refused(R"("charged":"0.05","components":1)", R"("charged":"0.05","components":2)");
  refused(R"("charged":"0.05","components":1)", R"("charged":"0.05","components":0)");
  refused(R"("charged":"0.05","components":1)", R"("charged":"0.05","components":9007199254740991)");
  refused(R"("adjusted":"0.1",)", R"("adjusted":"0.1","arithmetic":"exact",)");
  refused(R"("neighbours":"add-remove",)",
          R"("neighbours":"add-remove","post_processing":{"kind":"rounded","lower":"0","upper":"1"},)");
  plan.release->rows.clear();
  CHECK_THROWS_AS(ledger::parse_release_text(ledger::release_text(plan), read), LedgerCorrupt);
}

TEST_CASE("batch: charged as one it covers its two draws in accounts with delta, and their sum in others",
          "[ledger][batch][privacy]") {
  const LedgerFixture fixture;
  const accounting::ComposedCharge composed = as_one();
  REQUIRE(composed.charge().epsilon < kTenth);
  const auto attempt = [&](const Epsilon& epsilon, std::optional<accounting::Delta> delta,
                           const ledger::ReleaseRecord& record) {
    auto ledger = fixture.open();
    auto transaction = ledger.begin();
    const auto first = transaction.open_account(account("clinic", "epsilon", 1'000'000'000'000, "lifetime"));
    std::vector<ledger::Charge> charges{{first.id, epsilon.units()}};
    if (delta) {
      const auto second =
          transaction.open_account(account("clinic", "delta", 1'000'000'000'000'000, "lifetime"));
      charges.push_back({second.id, delta->units()});
    }
    auto receipt = transaction.charge(granted(), charges, composed);
    std::vector<accounting::SealedRelease> sealed;
    sealed.push_back(ReleaseSealer::seal(receipt.split(kHalf), kHalf, {7}));
    sealed.push_back(ReleaseSealer::seal(receipt.split(kHalf), kHalf, {1, 3, 2, 0}));
    transaction.attach(record, std::move(sealed), {});
  };
  const ledger::ReleaseRecord record = composed_record();
  const Epsilon epsilon = composed.charge().epsilon;
  const accounting::Delta delta = composed.charge().delta;
  CHECK_NOTHROW(attempt(epsilon, delta, record));
  CHECK_THROWS_WITH(attempt(Epsilon::from_units(epsilon.units() - 1), delta, record),
                    test::says("below the loss"));
  CHECK_THROWS_WITH(attempt(epsilon, accounting::Delta::from_units(delta.units() - 1), record),
                    test::says("below the delta"));
  CHECK_THROWS_WITH(attempt(epsilon, std::nullopt, record), test::says("below the loss"));
  CHECK_NOTHROW(attempt(kTenth, std::nullopt, record));
  // What is stated of it is what it was charged.
  const auto refused = [&](const auto& change) {
    ledger::ReleaseRecord other = record;
    change(other);
    CHECK_THROWS_AS(attempt(epsilon, delta, other), InvalidParameter);
  };
  refused([](auto& other) { other.charged = kTenth; });
  refused([](auto& other) { other.composed.reset(); });
  refused([](auto& other) { other.composed->by = accounting::ComposedBy::zcdp; });
  refused([](auto& other) { other.composed->delta = accounting::Delta::from_units(1); });
}

TEST_CASE("batch: of a block the rows that touch it are charged as one, within what all are",
          "[ledger][batch]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  accounting::FixedDraws draws = fixed_draws();
  const accounting::ComposedCharge part = draws.charge_of_part(std::vector<std::size_t>{1});
  const auto charged = [&](std::int64_t epsilon, std::vector<ledger::ScopeLoss> parts, bool as_sum = false) {
    auto transaction = ledger.begin();
    const auto first = transaction.open_account(account("clinic", "epsilon", 1'000'000'000'000, "block:A"));
    const auto second =
        transaction.open_account(account("clinic", "delta", 1'000'000'000'000'000, "block:A"));
    const std::vector<ledger::Charge> charges{{first.id, epsilon}, {second.id, kDelta.units()}};
    if (as_sum) {
      (void)transaction.charge(granted(), charges, kTenth, parts);
    } else {
      (void)transaction.charge(granted(), charges, draws.all(), parts);
    }
  };
  const std::int64_t of_part = part.charge().epsilon.units();
  REQUIRE(of_part < draws.all().charge().epsilon.units());
  CHECK_NOTHROW(charged(of_part, {{"block:A", kHalf, part}}));
  CHECK_THROWS_WITH(charged(of_part - 1, {{"block:A", kHalf, part}}), test::says("below the loss"));
  CHECK_THROWS_WITH(charged(of_part, {}), test::says("below the loss"));
  CHECK_NOTHROW(charged(kHalf.units(), {{"block:A", kHalf}}));
  CHECK_THROWS_WITH(charged(of_part, {{"block:A", kHalf}}), test::says("below the loss"));
  CHECK_THROWS_WITH(charged(kTenth.units(), {{"block:A", kTenth, part}}), test::says("charged as one where"));
  CHECK_THROWS_WITH(charged(kTenth.units(), {{"block:A", kHalf, part}}, true),
                    test::says("charged as one where"));
}

TEST_CASE("batch: how it was charged as one is read back, and nothing else is taken for that",
          "[ledger][batch][negative]") {
  ledger::PlanRecord plan;
  plan.release = composed_record();
  const std::string text = ledger::release_text(plan);
  CHECK_THAT(text, test::says(R"("composed":{"accountant":"pld","delta":"0.001"},"mechanism":"batch")"));
  ledger::PlanRecord read;
  ledger::parse_release_text(text, read);
  CHECK(read.release == plan.release);
  const auto refused = [&](const std::string& composed) {
    std::string other = text;
    const std::string from = R"("composed":{"accountant":"pld","delta":"0.001"})";
    other.replace(other.find(from), from.size(), composed);
    CAPTURE(other);
    CHECK_THROWS_AS(ledger::parse_release_text(other, read), LedgerCorrupt);
  };
  refused(R"("composed":{"accountant":"optimal","delta":"0.001"})");
  refused(R"("composed":{"accountant":"pld"})");
  refused(R"("composed":{"delta":"0.001"})");
  refused(R"("composed":{"accountant":"pld","delta":"0"})");
  refused(R"("composed":{"accountant":"pld","delta":"1"})");
  refused(R"("composed":{"accountant":"pld","delta":"0.0000000000000000001"})");
  plan.release = record_of(kTenth);
  plan.release->composed = composed_record().composed;
  CHECK_THROWS_AS(ledger::parse_release_text(ledger::release_text(plan), read), LedgerCorrupt);
}

TEST_CASE("batch: an account of a block covers what is lost in it, every other account all of it",
          "[ledger][batch]") {
  const LedgerFixture fixture;
  auto ledger = fixture.open();
  const auto charged = [&](const std::string& scope, const Epsilon& amount,
                           std::vector<ledger::ScopeLoss> parts) {
    auto transaction = ledger.begin();
    const auto opened = transaction.open_account(account("clinic", "epsilon", 1'000'000'000'000, scope));
    const std::vector<ledger::Charge> charges{{opened.id, amount.units()}};
    (void)transaction.charge(granted(), charges, kTenth, parts);
  };
  CHECK_THROWS_WITH(charged("block:A", kHalf, {}), test::says("below the loss"));
  CHECK_NOTHROW(charged("block:A", kHalf, {{"block:A", kHalf}}));
  CHECK_THROWS_WITH(charged("block:B", kHalf, {{"block:A", kHalf}}), test::says("below the loss"));
  CHECK_THROWS_WITH(charged("lifetime", kHalf, {{"lifetime", kHalf}}), test::says("what is no block"));
  CHECK_THROWS_WITH(charged("block:A", kTenth, {{"block:A", Epsilon::parse_down("0.2")}}),
                    test::says("more than the whole"));
  CHECK_THROWS_WITH(charged("block:A", kHalf, {{"block:A", kHalf}, {"block:A", kHalf}}),
                    test::says("are of one scope"));
}
