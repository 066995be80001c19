// The floor: the rows of a release put into the same file by SQLite alone, without the library that makes
// them.
//
// What is written is what the library wrote last: decision, movements, accounts, line, nodes of the tree and
// meta, with the same columns, indexes, triggers and settings. The line is as long, has 16 fresh random bytes
// and is hashed, and the tree is hashed up; nothing is looked up or decided.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "epsilog/ledger/merkle_proof.hpp"

namespace epsilog::bench {

/// Of a ledger that only the library wrote to.
[[nodiscard]] std::string last_line(const std::string& path);

/// One connection. Thread-safety: one thread at a time.
class BareLedger final {
 public:
  /// Requires  a ledger whose last decision is a grant, and the line of one: each release will be like it.
  BareLedger(const std::string& path, std::string line);
  BareLedger(const BareLedger&) = delete;
  BareLedger& operator=(const BareLedger&) = delete;
  ~BareLedger();

  /// One durable transaction of so many releases, 1 or more.
  void release(std::int64_t count);
  /// Everything out of the log, into the file.
  void checkpoint();

 private:
  using Values = std::vector<sqlite3_value*>;

  [[nodiscard]] sqlite3_stmt* prepared(const char* sql);
  void step(sqlite3_stmt* statement);
  [[nodiscard]] std::vector<Values> rows_of(const char* sql);
  void bind(sqlite3_stmt* statement, const Values& values);
  void read_counts();
  void insert_release();
  void insert_line(std::int64_t index);

  sqlite3* db_ = nullptr;
  std::vector<sqlite3_stmt*> statements_;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* counts_ = nullptr;
  sqlite3_stmt* account_ = nullptr;
  sqlite3_stmt* decision_ = nullptr;
  sqlite3_stmt* movement_ = nullptr;
  sqlite3_stmt* line_ = nullptr;
  sqlite3_stmt* node_ = nullptr;
  sqlite3_stmt* meta_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  std::vector<Values> like_;       // the decision
  std::vector<Values> movements_;  // of it
  std::string text_;               // its line
  bool keyed_ = false;
  std::int64_t decisions_ = 0;
  std::int64_t lines_ = 0;
  std::array<ledger::Hash, 64> edge_{};
};

}  // namespace epsilog::bench
