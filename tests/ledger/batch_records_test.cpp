// Releases of batches in the ledger: rows that share out components and values, and what each scope has to
// cover.
#include "epsilog/accounting/errors.hpp"
#include "ledger/support/fixture.hpp"
#include "records.hpp"
#include "support/catch.hpp"

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
  const auto found = ledger.snapshot().find_id(stored.id);
  REQUIRE(found);
  CHECK(found->release == std::optional(batch_record()));
  CHECK(found->values == stored.values);
  const auto parts = ledger::release_parts(*found->release, found->post_processing);
  REQUIRE(parts.size() == 2);
  CHECK((parts[1].component == 1 && parts[1].components == 1 && parts[1].value == 1 && parts[1].values == 2));
  CHECK(parts[1].drawn == 4);
  CHECK(query_sql(fixture.path, "SELECT \"values\" FROM decision") == R"(["7","0.25","1"])");
  CHECK(ledger::release_parts(record_of(kTenth), {}).size() == 1);
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
  CHECK(fixture.open().snapshot().decisions() == 0);
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
  refused(R"("mechanism":"batch",)",
          R"("mechanism":"batch","post_processing":{"kind":"rounded","lower":"0","upper":"1"},)");
  plan.release->rows.clear();
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
