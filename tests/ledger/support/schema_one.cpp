#include "ledger/support/schema_one.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

#include "decision_id.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "ledger/support/fixture.hpp"
#include "schema.hpp"

namespace epsilog::ledger_tests {
namespace {

constexpr const char* kTime = "'2025-03-01T12:00:00.000Z'";

std::string text(const std::string& value) {
  return "'" + value + "'";
}

std::string insert_policy(int version) {
  const std::string yaml = "version: 1 # " + std::to_string(version);
  return "INSERT INTO policy_version VALUES(" + std::to_string(version) + ", " + text(yaml) + ", " +
         text(ledger::sha256_hex(yaml)) + ", '/srv/clinic', " + kTime + ", 'curator');";
}

std::string insert_decision(int seq, const std::string& id, const std::string& key, bool granted) {
  const std::string request = R"({"statistic":"count"})";
  return "INSERT INTO decision VALUES(" + std::to_string(seq) + ", " + text(id) + ", " + kTime + ", 'ada', " +
         text(key) + ", " + text(ledger::sha256_hex(request)) + ", " + text(request) + ", 'clinic', 1, " +
         (granted ? "'granted', '[]', " : "'refused', '[{\"code\":\"x\"}]', ") +
         R"('[{"id":1,"scope":"","measure":"epsilon","limit":1000000000000,"spent":)" +
         std::to_string(10'000'000'000LL * (granted ? seq : seq - 1)) + R"(,"reserved":0}]');)";
}

std::string insert_release(int number, const std::string& id) {
  const std::string value = std::to_string(number);
  return "UPDATE account SET spent = spent + 10000000000;"
         "INSERT INTO charge VALUES(" +
         text(id) + ", 1, 10000000000);INSERT INTO release VALUES(" + text(id) +
         ", 'snapping', 'mpfr', 118, '1', '1024', '10', '16', '0.01', '0.01', '0.01', '', '[\"" + value +
         R"("]', '[{"statistic":"count","epsilon":"0.01","sensitivity":"1","lambda":"10","grid":"16",)" +
         R"("centre":"0","bound":"1024","coordinates":1,"precision":118,"adjusted":"0.01","published":"",)" +
         R"("published_note":"","values":[")" + value + R"("]}]', '[]', '{"kind":"none"}');)";
}

}  // namespace

void create_schema_one(const std::string& path, int grants) {
  // SQLite would make the file with the process's umask; a ledger is its owner's alone.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 || ::close(file) != 0) throw std::runtime_error("cannot create " + path);
  std::string sql =
      "PRAGMA journal_mode=WAL; PRAGMA application_id=" + std::to_string(ledger::kApplicationId) +
      "; PRAGMA user_version=1; BEGIN;" + ledger::kSchemaSql[0];
  sql += std::string("INSERT INTO meta VALUES(1, '0123456789abcdef0123456789abcdef', ") + kTime + ", " +
         kTime + ", " + std::to_string(grants + 1) + ", 2, 1);";
  sql += insert_policy(1);
  sql +=
      "INSERT INTO account(dataset, scope, measure, budget, spent, reserved)"
      " VALUES('clinic', '', 'epsilon', 1000000000000, 0, 0);";
  std::string id;
  for (int number = 1; number <= grants; ++number) {
    id = ledger::next_id(id, 1'740'830'400'000);
    sql += insert_decision(number, id, std::to_string(number), true) + insert_release(number, id);
  }
  id = ledger::next_id(id, 1'740'830'400'000);
  sql += insert_decision(grants + 1, id, "refused", false);
  sql += insert_policy(2);
  sql += "UPDATE account SET budget = 2000000000000;INSERT INTO limit_change VALUES(1, " +
         std::to_string(grants + 1) + ", 2, 1, 1000000000000, 2000000000000, " + kTime +
         ", 'curator', 'more');COMMIT;";
  const std::string message = run_sql(path, sql);
  if (message != "not an error" && !message.empty()) throw std::runtime_error(message);
}

}  // namespace epsilog::ledger_tests
