// The vectors in tests/vectors/records.json, which any program can run, made by tests/reference/records.py.
#include <nlohmann/json.hpp>

#include "epsilog/accounting/errors.hpp"
#include "ledger/support/reference_tree.hpp"
#include "records.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger;
using namespace epsilog::ledger_tests;
using nlohmann::json;

namespace {

json vectors() {
  std::ifstream file(EPSILOG_RECORD_VECTORS);
  REQUIRE(file);
  return json::parse(file);
}

/// The accounts of a history as its lines tell of them.
struct Accounts {
  std::map<std::int64_t, std::string> measures;
  std::map<std::int64_t, epsilog::accounting::Balance> balances;

  [[nodiscard]] int decimals(std::int64_t account) const {
    const auto found = measures.find(account);
    if (found == measures.end()) throw epsilog::LedgerCorrupt("has no line");
    return grid_decimals(found->second);
  }
  void follow(const Record& record) {
    if (const auto* opened = std::get_if<AccountRecord>(&record)) {
      measures[opened->id] = opened->name.measure;
      balances[opened->id] = {.limit = opened->limit};
    } else if (const auto* change = std::get_if<LimitChange>(&record)) {
      CHECK(balances.at(change->account).limit == change->old_limit);
      balances[change->account].limit = change->new_limit;
    } else if (const auto* decision = std::get_if<DecisionRecord>(&record)) {
      for (const Movement& movement : decision->movements) {
        auto& balance = balances.at(movement.account);
        balance.spent += movement.spent_change;
        balance.reserved += movement.reserved_change;
        CHECK(balance.spent == movement.balance.spent);
        CHECK(balance.reserved == movement.balance.reserved);
        CHECK(balance.limit == movement.balance.limit);
      }
    }
  }
};

}  // namespace

TEST_CASE("records: the vectors for other programs hold for this one", "[ledger][record][exact]") {
  const json all = vectors();
  Accounts accounts;
  for (const auto& [account, measure] : all.at("measures").items())
    accounts.measures[std::stoll(account)] = measure;
  const auto decimals = [&accounts](std::int64_t account) { return accounts.decimals(account); };
  std::set<std::size_t> kinds;
  for (const json& vector : all.at("accepted")) {
    INFO(vector.at("name"));
    const std::string text = vector.at("line");
    const Line line = parse_line(text, decimals);
    CHECK(line_text(line, decimals) == text);
    CHECK(to_hex(leaf_hash(text)) == vector.at("leaf").get<std::string>());
    kinds.insert(line.record.index());
  }
  CHECK(kinds.size() == std::variant_size_v<Record>);
  for (const json& vector : all.at("refused")) {
    INFO(vector.at("name"));
    std::string fault;
    try {
      static_cast<void>(parse_line(vector.at("line").get<std::string>(), decimals));
    } catch (const epsilog::LedgerCorrupt& error) {
      fault = error.what();
    }
    INFO(fault);
    const std::string member = vector.at("member");
    CHECK(!fault.empty());
    CHECK((fault.find(member + ": ") != std::string::npos ||
           fault.find("where " + member) != std::string::npos || member.empty()));
  }
  CHECK(all.at("accepted").size() == 35);
  CHECK(all.at("refused").size() == 242);
}

TEST_CASE("records: the history among the vectors follows on itself and has its roots",
          "[ledger][record][exact]") {
  const json history = vectors().at("history");
  Accounts accounts;
  const auto decimals = [&accounts](std::int64_t account) { return accounts.decimals(account); };
  Frontier tree;
  std::set<std::size_t> kinds;
  const auto root = [&] { return history.at("roots").at(tree.size()).get<std::string>(); };
  CHECK(to_hex(tree.root()) == root());
  for (const json& text : history.at("lines")) {
    INFO(text);
    const Line line = parse_line(text.get<std::string>(), decimals);
    CHECK(line.index == tree.size());
    accounts.follow(line.record);
    CHECK(line_text(line, decimals) == text.get<std::string>());
    tree.append(leaf_hash(text.get<std::string>()), [](unsigned, std::uint64_t, const Hash&) {});
    CHECK(to_hex(tree.root()) == root());
    kinds.insert(line.record.index());
  }
  CHECK(tree.size() + 1 == history.at("roots").size());
  CHECK(kinds.size() == std::variant_size_v<Record> - 1);  // it announces no feature
}
