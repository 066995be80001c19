// A bit that flipped in the id of a row, which the index of ids does not have then.

#include "epsilog/accounting/errors.hpp"
#include "file_text.hpp"
#include "sql_rows.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;

namespace {

/// The id in the row, not in the index.
std::string id_in_row(const std::string& path, std::int64_t seq) {
  return sql_value(path, "SELECT hex(id) FROM decision NOT INDEXED WHERE seq = " + std::to_string(seq));
}

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// Requires  a ledger that nobody has open, whose log was brought into the file.
void flip_id_in_row(const std::string& path, std::int64_t seq) {
  const std::string before = id_in_row(path, seq);
  const std::string id = bytes_of(before);
  const std::string file = file_text(path);
  for (std::size_t at = file.find(id); at != std::string::npos; at = file.find(id, at + 1)) {
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](char byte) {
      out.seekp(static_cast<std::streamoff>(at + id.size() - 1));
      out.put(byte).flush();
    };
    put(static_cast<char>(id.back() ^ 4));
    if (id_in_row(path, seq) != before) return;
    put(id.back());
  }
  FAIL("the id is nowhere");
}

}  // namespace

TEST_CASE("damaged id: whoever repeats the request is told of no id that nobody has",
          "[engine][damaged_id]") {
  WaitingClinic waiting("");
  REQUIRE(release(waiting.engine, request("count", "0.25", "k")).recorded.granted);
  { const Engine closed = std::move(waiting.engine); }
  flip_id_in_row(waiting.clinic.ledger(), 1);
  Engine engine = Engine::open(waiting.clinic.ledger(), waiting.clock.options());
  CHECK_THROWS_AS(release(engine, request("count", "0.25", "k")), LedgerCorrupt);
  CHECK(release(engine, request("count", "0.25", "other")).recorded.granted);
  CHECK(waiting.audit() != "");
}

TEST_CASE("damaged id: a request with such a vote stays open, is named, and stops nobody",
          "[engine][damaged_id]") {
  WaitingClinic waiting(kTwoApprovals);
  const std::string pending = waiting.reserve("count", "1").recorded.decision_id;
  (void)waiting.engine.approve(pending, "carol");
  { const Engine closed = std::move(waiting.engine); }
  flip_id_in_row(waiting.clinic.ledger(), 2);
  std::vector<std::string> told;
  engine::EngineOptions options = waiting.clock.options();
  options.unreadable = [&](const engine::UnreadableDecision& one) { told.push_back(one.decision_id); };
  waiting.clock.pass_seconds(3 * 3600);  // it is overdue
  Engine engine = Engine::open(waiting.clinic.ledger(), options);
  CHECK(release(engine, request("count", "0.25")).recorded.granted);
  CHECK(told == std::vector<std::string>{pending});
}
