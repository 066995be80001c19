// Values of a decision as its row has them: in steps of a grid and by their digest where there are many.
#include "stored_values.hpp"

#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fixture.hpp"
#include "values_text.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using ledger::StoredValues;

namespace {

const accounting::PostProcessing kAsDrawn;

ledger::ReleaseRecord table_of(std::size_t cells, const Rational& grid = Rational(1, 4)) {
  ledger::ReleaseRecord record = record_of(kTenth);
  record.components.front().grid = grid;
  std::vector<std::string> keys;
  for (std::size_t cell = 0; cell < cells; ++cell) keys.push_back("k" + std::to_string(cell));
  record.cells = keys;
  return record;
}

ledger::DecisionRecord decision_with(std::vector<Rational> drawn) {
  ledger::DecisionRecord record;
  record.outcome = ledger::Outcome::granted;
  record.values = drawn;
  record.component_values = {std::move(drawn)};
  return record;
}

std::string digest(const std::string& values) {
  return R"({"sha256":")" + ledger::sha256_hex(values) + "\"}";
}

ledger::DecisionRecord read(const StoredValues& stored, const ledger::ReleaseRecord* release) {
  ledger::DecisionRecord record;
  ledger::read_values(stored, release, kAsDrawn, record);
  return record;
}

/// What becomes of the texts: read as another decision's values, read as these, or refused.
enum class Fate { other, same, refused };
Fate fate(const StoredValues& stored, const ledger::ReleaseRecord& release,
          const ledger::DecisionRecord& whole) {
  try {
    const ledger::DecisionRecord found = read(stored, &release);
    const bool same = found.values == whole.values && found.component_values == whole.component_values;
    return same ? Fate::same : Fate::other;
  } catch (const LedgerCorrupt&) {
    return Fate::refused;
  }
}

bool refused_saying(const std::string& refusal, const std::string& words) {
  return refusal.find(words) != std::string::npos;
}

std::vector<Rational> many() {
  std::vector<Rational> values;
  for (int i = 0; i < 20; ++i) values.emplace_back(7 * i - 50, 4);
  for (Rational& value : values) value.canonicalize();
  return values;
}

}  // namespace

TEST_CASE("stored values: of several cells the draws are steps of the grid", "[ledger][values][exact]") {
  const auto drawn = [](std::vector<Rational> values, const Rational& grid) {
    const ledger::ReleaseRecord release = table_of(values.size(), grid);
    return ledger::stored_values(decision_with(std::move(values)), &release, kAsDrawn).component_values;
  };
  CHECK(drawn({Rational(3), Rational(-1, 2), Rational(0)}, Rational(1, 4)) == "[[12,-2,0]]");
  CHECK(drawn({Rational(32), Rational(-48)}, 16) == "[[2,-3]]");
  CHECK(drawn({Rational(3)}, Rational(1, 4)) == R"([["3"]])");                        // one reads better so
  CHECK(drawn({Rational(3), Rational(1, 3)}, Rational(1, 4)) == R"([["3","1/3"]])");  // between two steps
  const auto of_grid = [](const Rational& grid) { return table_of(2, grid).components; };
  CHECK(ledger::drawn_text({{1, 2}, {3, 4}}, of_grid(1)) == R"([[1,2],["3","4"]])");
  CHECK(ledger::drawn_text({{1, 2}}, of_grid(0)) == R"([["1","2"]])");
  CHECK(ledger::drawn_text({}, {}) == "[]");
  CHECK(ledger::drawn_text({{}}, of_grid(1)) == "[[]]");
}

TEST_CASE("stored values: what follows is a digest where that is shorter", "[ledger][values][exact]") {
  const ledger::ReleaseRecord few = table_of(3);
  const StoredValues short_text = ledger::stored_values(decision_with({1, 2, 3}), &few, kAsDrawn);
  CHECK(short_text.values == R"(["1","2","3"])");

  // 77 bytes are as long as a digest, 78 longer.
  const std::string digits(75 - 2 - 3 * 4, '1');
  for (const std::size_t more : {0, 1}) {
    const Rational number(accounting::Integer(digits + std::string(more, '1')));
    const ledger::DecisionRecord record = decision_with({number, 1, 2, 3});
    const ledger::ReleaseRecord release = table_of(4);
    const std::string text = ledger::values_text(record.values);
    CHECK(text.size() == 77 + more);
    const StoredValues stored = ledger::stored_values(record, &release, kAsDrawn);
    CHECK(stored.values == (more == 0 ? text : digest(text)));
  }
}

TEST_CASE("stored values: nothing is left out that does not follow, or of which no plan is known",
          "[ledger][values]") {
  ledger::DecisionRecord record = decision_with(many());
  CHECK(ledger::stored_values(record, nullptr, kAsDrawn) == ledger::values_at_length(record));
  const ledger::ReleaseRecord release = table_of(record.values.size());
  record.values.front() += 1;
  CHECK(ledger::stored_values(record, &release, kAsDrawn).values == ledger::values_text(record.values));
  record.values.pop_back();
  CHECK(ledger::stored_values(record, &release, kAsDrawn).values == ledger::values_text(record.values));
  record.outcome = ledger::Outcome::refused;
  CHECK(ledger::stored_values(record, &release, kAsDrawn) == StoredValues());
  // A single answer is written out, however long.
  const ledger::ReleaseRecord scalar = record_of(kTenth);
  const ledger::DecisionRecord one = decision_with({Rational(accounting::Integer(std::string(100, '7')))});
  CHECK(ledger::stored_values(one, &scalar, kAsDrawn) == ledger::values_at_length(one));
}

TEST_CASE("stored values: what is written is read again, and so is what stands at length",
          "[ledger][values][property]") {
  std::mt19937_64 random(20261126);
  for (int round = 0; round < 300; ++round) {
    const Rational grid = round % 3 == 0 ? Rational(1, 1 << (round % 7)) : Rational(round % 5);
    std::vector<Rational> values(random() % 40);
    for (Rational& value : values) {
      value =
          Rational(static_cast<long>(random() % 2'000'001) - 1'000'000) * (grid > 0 ? grid : Rational(1, 3));
      if (random() % 400 == 0) value += Rational(1, 7);
    }
    const ledger::DecisionRecord record = decision_with(values);
    const ledger::ReleaseRecord release = table_of(values.size(), grid);
    CAPTURE(round, values.size());
    CHECK(fate(ledger::stored_values(record, &release, kAsDrawn), release, record) == Fate::same);
    CHECK(fate(ledger::values_at_length(record), release, record) == Fate::same);
  }
}

TEST_CASE("stored values: no bit of them can change and tell other values", "[ledger][values][exhaustive]") {
  const ledger::DecisionRecord record = decision_with(many());
  const ledger::ReleaseRecord release = table_of(record.values.size());
  const StoredValues stored = ledger::stored_values(record, &release, kAsDrawn);
  REQUIRE(stored.values.starts_with('{'));
  for (std::string StoredValues::*column : {&StoredValues::component_values, &StoredValues::values}) {
    for (std::size_t bit = 0; bit < 8 * (stored.*column).size(); ++bit) {
      StoredValues flipped = stored;
      (flipped.*column)[bit / 8] = static_cast<char>((flipped.*column)[bit / 8] ^ (1 << (bit % 8)));
      CAPTURE(flipped.component_values, flipped.values);
      CHECK(fate(flipped, release, record) == Fate::refused);
    }
  }
}

TEST_CASE("stored values: what is not written so is refused by the name of its column",
          "[ledger][values][negative]") {
  const ledger::ReleaseRecord release = table_of(2);
  const auto refused = [&release](const StoredValues& stored, const ledger::ReleaseRecord* plan) {
    try {
      static_cast<void>(read(stored, plan));
    } catch (const LedgerCorrupt& fault) {
      return std::string(fault.what());
    }
    return std::string();
  };
  for (const char* drawn :
       {"[[01,2]]", "[[-0,2]]", "[[1.5,2]]", "[[1/2,2]]", "[[1, 2]]", "[[1,\"2\"]]", "[[\"1\",2]]", "[[1,]]",
        "[[,1]]", "[[1,2]", "[1,2]", "[[1,2]]]", "[[+1,2]]", "[[1e3,2]]", "[[1,2],[3,4]]"}) {
    CAPTURE(drawn);
    CHECK(refused_saying(refused({drawn, R"(["1","2"])"}, &release), "component_values"));
  }
  CHECK(refused({"[[1,2]]", R"(["1","2"])"}, nullptr) ==
        "column component_values has steps of a grid where there is none");
  const std::string brief = "[[4,8]]";
  CHECK(read({brief, digest(R"(["1","2"])")}, &release).values == std::vector<Rational>{1, 2});
  CHECK(refused_saying(refused({R"([["1","2"]])", digest(R"(["1","2"])")}, nullptr), "no plan"));
  for (const std::string& values : {digest(R"(["1","3"])"), digest(R"(["1"])"), digest(R"(["1","2"])") + " ",
                                    std::string("{}"), std::string(R"({"sha256":""})")}) {
    CAPTURE(values);
    CHECK(refused_saying(refused({brief, values}, &release), "does not follow"));
  }
}

TEST_CASE("stored values: of a table in a ledger, brief, and a fault where a row has them otherwise",
          "[ledger][values][G3]") {
  const LedgerFixture fixture;
  const std::vector<Rational> values = many();
  std::string id;
  {
    auto ledger = fixture.open();
    auto transaction = ledger.begin();
    auto receipt = transaction.charge(granted(), charge_of(kTenth), kTenth);
    transaction.attach(table_of(values.size()), sealed(std::move(receipt), kTenth, values), {});
    id = ledger.commit(std::move(transaction)).at(0).id;
  }
  const auto told = [&] {
    auto snapshot = fixture.look();
    return snapshot.find_by_id(id)->values;
  };
  const auto faults = [&] { return decision_faults(fixture.look()); };
  CHECK(query_sql(fixture.path, "SELECT \"values\" FROM decision") == digest(ledger::values_text(values)));
  CHECK(query_sql(fixture.path, "SELECT substr(component_values, 1, 12) FROM decision") == "[[-50,-43,-3");
  CHECK(told() == values);
  CHECK(faults().empty());

  const StoredValues whole = ledger::values_at_length(decision_with(values));
  tamper_with(fixture.path, "UPDATE decision SET \"values\" = '" + whole.values + "'");
  CHECK(told() == values);
  CHECK(faults() == std::vector<std::string>{"text_changed"});
  tamper_with(fixture.path, "UPDATE decision SET component_values = '" + whole.component_values + "'");
  CHECK(told() == values);
  CHECK(faults() == std::vector<std::string>{"text_changed", "text_changed"});

  tamper_with(fixture.path,
              "UPDATE decision SET component_values = replace(component_values, '-12.5', '-12')");
  CHECK_THROWS_AS(told(), LedgerCorrupt);
}
