// What is told of a stored decision is what was recorded, or nothing.
#include "epsilog/ledger/unreadable_row.hpp"
#include "ledger/support/full_history.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

/// All that a caller can see of it.
std::string told(const ledger::StoredDecision& decision) {
  std::string text = std::to_string(decision.seq) + " " + decision.id + " " + decision.created_at + " " +
                     decision.via + " " + decision.draft.principal + " " + decision.draft.key + " " +
                     decision.draft.dataset + " " + decision.draft.request + " " + decision.draft.reasons +
                     " " + decision.draft.parent + " " + decision.draft.deadline + " " +
                     ledger::outcome_name(decision.draft.outcome) + " " +
                     std::to_string(decision.draft.policy_version);
  for (const auto& value : decision.values) text += " v" + value.get_str();
  for (const auto& values : decision.component_values) {
    for (const auto& value : values) text += " d" + value.get_str();
  }
  for (const auto& charge : decision.charges) {
    text += " c" + std::to_string(charge.account) + ":" + std::to_string(charge.amount);
  }
  for (const auto& account : decision.accounts) {
    text += " a" + std::to_string(account.balance.spent) + "/" + std::to_string(account.balance.limit);
  }
  if (decision.release) text += " " + decision.release->mechanism + " " + decision.release->charged.text();
  return text;
}

/// What each reader tells, by reader and decision; a decision that is withheld is not there.
std::map<std::string, std::string> told_by_all(const std::string& path, const std::vector<std::string>& ids) {
  std::map<std::string, std::string> all;
  const auto reading = [](const auto& read) {
    try {
      read();
    } catch (const Error&) {  // withheld, by name
    }
  };
  reading([&] {
    ledger::Snapshot view = ledger::Ledger::open_read_only(path).snapshot();
    const auto tell = [&all](const std::string& reader, const ledger::StoredDecision& decision) {
      if (decision.durable) all[reader + " " + std::to_string(decision.seq)] = told(decision);
    };
    const auto skip = [](const ledger::MalformedRecord&) {};
    reading([&] {
      view.each_decision(
          "", 0, [&](const auto& d) { tell("history", d); }, skip);
    });
    reading([&] {
      static_cast<void>(view.each_decision(
          {.limit = 100, .newest_first = true}, [&](const auto& d) { tell("page", d); }, skip));
    });
    reading([&] {
      view.each_open(
          "", [&](const auto& d) { tell("open", d); }, skip);
    });
    for (const std::string& id : ids) {
      reading([&] {
        if (const auto found = view.find_by_id(id)) tell("show", *found);
      });
      reading([&] {
        for (const auto& child : view.children(id)) tell("children", child);
      });
    }
    reading([&] {
      if (const auto found = view.find_by_key("ada", "k")) tell("retry", *found);
    });
  });
  reading([&] {
    auto ledger = ledger::Ledger::open(path, {});
    auto transaction = ledger.begin();
    if (const auto found = transaction.find_by_key("ada", "k")) {
      all["retry of a writer"] = told(*found);
    }
  });
  return all;
}

struct Told {
  explicit Told(const std::string& path) {
    auto view = ledger::Ledger::open_read_only(path).snapshot();
    view.each_decision("", 0, [&](const auto& decision) { ids.push_back(decision.id); });
    before = told_by_all(path, ids);
  }
  /// How many readings were withheld. Each that was told is as it was before.
  std::size_t withheld_after_change(const std::string& path) const {
    const auto after = told_by_all(path, ids);
    for (const auto& [reader, text] : after) {
      CAPTURE(reader);
      const auto then = before.find(reader);
      REQUIRE(then != before.end());
      REQUIRE(text == then->second);
    }
    return before.size() - after.size();
  }

  std::vector<std::string> ids;
  std::map<std::string, std::string> before;
};

void flip_bits(const std::string& only_tag, int flips) {
  CAPTURE(only_tag);
  const FullHistory history(2);
  const Told known(history.path);
  REQUIRE(known.before.size() > 40);
  const std::string whole = read_file(history.path);
  REQUIRE_FALSE(fs::exists(history.path + "-journal"));
  const std::string copy = history.sibling(".flipped");
  std::mt19937_64 random(20'261'126);
  std::size_t withheld = 0;
  for (int i = 0; i < flips; ++i) {
    std::string flipped = whole;
    const std::size_t bit = random() % (8 * flipped.size());
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ static_cast<char>(1U << (bit % 8)));
    write_file(copy, flipped);
    CAPTURE(i, bit);
    withheld += known.withheld_after_change(copy);
    remove_ledger(copy);
    fs::remove(copy + ".lock");
  }
  CHECK(withheld > 0);
}

}  // namespace

TEST_CASE("recorded line: no flipped bit of a ledger makes a reader tell another answer",
          "[ledger][recorded_line][integrity]") {
  flip_bits("sample", 300);
}

TEST_CASE("recorded line: none of 10,000 flipped bits makes a reader tell another answer",
          "[.long][ledger][recorded_line]") {
  flip_bits("long", 10'000);
}

TEST_CASE(
    "recorded line: a changed value, plan, policy or parent withholds just the answers that are made of it",
    "[ledger][recorded_line][integrity]") {
  const FullHistory history(2);
  const Told known(history.path);
  const std::string copy = history.sibling(".changed");
  struct Change {
    const char* sql;
    bool everything;
  };
  for (const Change& change : std::vector<Change>{
           {"UPDATE decision SET component_values = replace(component_values, '7', '8') WHERE key = 'k'",
            false},
           {"UPDATE decision SET via = 'unix:7' WHERE key = 'k'", false},
           {"UPDATE decision SET purpose = 'x' WHERE key = 'k'", false},
           {"UPDATE movement SET spent = spent + 1, \"limit\" = \"limit\" + 1 WHERE seq = 1", false},
           {"UPDATE plan SET release = replace(release, '\"scale\":\"', '\"scale\":\"1') WHERE release <> ''",
            false},
           {"UPDATE plan SET question = replace(question, 'count', 'units')", false},
           {"UPDATE policy_version SET yaml = yaml || '#'", true},
           {"UPDATE policy_version SET applied_by = 'eve'", true},
           {"UPDATE name SET name = 'eve' WHERE name = 'ada'", false},
           {"UPDATE log SET leaf = zeroblob(32) WHERE kind = (SELECT kind FROM log WHERE line_index ="
            " (SELECT line_index FROM decision WHERE seq = 1)) AND row = 1",
            false},
           {"UPDATE log SET blind = zeroblob(16)", true}}) {
    CAPTURE(change.sql);
    remove_ledger(copy);
    copy_ledger(history.path, copy);
    tamper_with(copy, change.sql);
    const std::size_t withheld = known.withheld_after_change(copy);
    CHECK(withheld > 0);
    if (change.everything) CHECK(withheld == known.before.size());
    if (!change.everything) CHECK(withheld < known.before.size());
  }
}
