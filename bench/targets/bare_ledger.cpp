#include "bare_ledger.hpp"

#include <sys/random.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "epsilog/ledger/ledger.hpp"

namespace epsilog::bench {
namespace {

constexpr const char* kInsertDecision =
    "INSERT INTO decision(seq, line_index, id, key, time, principal, via, parent, deadline, outcome, reasons,"
    " rules, build, policy_version, decided_under, dataset, plan, purpose, reservation, conflicting_key,"
    " verb, why, component_values, \"values\", data_token, data_token_sha256)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,"
    " ?22, ?23, ?24, ?25, ?26)";
constexpr const char* kLastDecision =
    "SELECT seq, line_index, id, key, time, principal, via, parent, deadline, outcome, reasons, rules, build,"
    " policy_version, decided_under, dataset, plan, purpose, reservation, conflicting_key, verb, why,"
    " component_values, \"values\", data_token, data_token_sha256 FROM decision ORDER BY seq DESC LIMIT 1";
constexpr const char* kLastMovements =
    "SELECT seq, account, position, spent_change, reserved_change, spent, reserved, \"limit\" FROM movement"
    " WHERE seq = (SELECT max(seq) FROM decision) ORDER BY account";
constexpr const char* kInsertMovement =
    "INSERT INTO movement(seq, account, position, spent_change, reserved_change, spent, reserved, \"limit\")"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

}  // namespace

std::string last_line(const std::string& path) {
  std::string last;
  ledger::Ledger::open_read_only(path).snapshot().each_line(0,
                                                            [&last](std::string_view line) { last = line; });
  return last;
}

BareLedger::BareLedger(const std::string& path, std::string line) : text_(std::move(line)) {
  const std::string uri = "file:" + path + "?psow=0";
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  if (::sqlite3_open_v2(uri.c_str(), &db_, kFlags, nullptr) != SQLITE_OK) {
    throw std::runtime_error("cannot open " + path);
  }
  ::sqlite3_busy_timeout(db_, 10'000);
  for (const char* const setting :
       {"PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON", "PRAGMA recursive_triggers=ON",
        "PRAGMA cell_size_check=ON", "PRAGMA mmap_size=0", "PRAGMA temp_store=2"}) {
    if (::sqlite3_exec(db_, setting, nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(::sqlite3_errmsg(db_));
    }
  }
  begin_ = prepared("BEGIN IMMEDIATE");
  counts_ = prepared("SELECT decisions, log_size FROM meta");
  account_ = prepared("UPDATE account SET spent = spent + 1, checksum = ?2 WHERE id = ?1");
  decision_ = prepared(kInsertDecision);
  movement_ = prepared(kInsertMovement);
  line_ = prepared("INSERT INTO log(line_index, kind, row, blind, leaf) VALUES(?1, 8, ?2, ?3, ?4)");
  node_ = prepared("INSERT INTO node(level, number, hash) VALUES(?1, ?2, ?3)");
  meta_ = prepared("UPDATE meta SET decisions = ?1, log_size = ?2, wall_clock = wall_clock + 1");
  commit_ = prepared("COMMIT");
  like_ = rows_of(kLastDecision);
  movements_ = rows_of(kLastMovements);
  if (like_.size() != 1 || movements_.empty()) throw std::runtime_error("no decision to be like");
  keyed_ = ::sqlite3_value_bytes(like_.front()[3]) > 0;
}

BareLedger::~BareLedger() {
  for (const std::vector<Values>* rows : {&like_, &movements_}) {
    for (const Values& row : *rows) {
      for (sqlite3_value* value : row) ::sqlite3_value_free(value);
    }
  }
  for (sqlite3_stmt* statement : statements_) ::sqlite3_finalize(statement);
  ::sqlite3_close(db_);
}

void BareLedger::release(std::int64_t count) {
  step(begin_);
  read_counts();
  for (std::int64_t i = 0; i < count; ++i) insert_release();
  ::sqlite3_bind_int64(meta_, 1, decisions_);
  ::sqlite3_bind_int64(meta_, 2, lines_);
  step(meta_);
  step(commit_);
}

void BareLedger::checkpoint() {
  ::sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
}

sqlite3_stmt* BareLedger::prepared(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (::sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    throw std::runtime_error(::sqlite3_errmsg(db_));
  }
  statements_.push_back(statement);
  return statement;
}

void BareLedger::step(sqlite3_stmt* statement) {
  if (::sqlite3_step(statement) != SQLITE_DONE) throw std::runtime_error(::sqlite3_errmsg(db_));
  ::sqlite3_reset(statement);
}

std::vector<BareLedger::Values> BareLedger::rows_of(const char* sql) {
  std::vector<Values> rows;
  sqlite3_stmt* const statement = prepared(sql);
  while (::sqlite3_step(statement) == SQLITE_ROW) {
    Values& row = rows.emplace_back();
    for (int i = 0; i < ::sqlite3_column_count(statement); ++i) {
      row.push_back(::sqlite3_value_dup(::sqlite3_column_value(statement, i)));
    }
  }
  ::sqlite3_reset(statement);
  return rows;
}

void BareLedger::bind(sqlite3_stmt* statement, const Values& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    ::sqlite3_bind_value(statement, static_cast<int>(i) + 1, values[i]);
  }
}

/// What another process wrote comes before what follows.
void BareLedger::read_counts() {
  if (::sqlite3_step(counts_) != SQLITE_ROW) throw std::runtime_error(::sqlite3_errmsg(db_));
  decisions_ = ::sqlite3_column_int64(counts_, 0);
  lines_ = ::sqlite3_column_int64(counts_, 1);
  ::sqlite3_reset(counts_);
}

void BareLedger::insert_release() {
  const std::int64_t seq = ++decisions_;
  for (const Values& movement : movements_) {
    ::sqlite3_bind_value(account_, 1, movement[1]);
    ::sqlite3_bind_int64(account_, 2, seq * 0x5851f42d4c957f2d);  // as long as a checksum is
    step(account_);
  }
  // Ids ascend with the number.
  std::array<unsigned char, 16> id{};
  const auto* const first = static_cast<const unsigned char*>(::sqlite3_value_blob(like_.front()[2]));
  std::copy_n(first, id.size(), id.begin());
  id[0] = 0xf0;
  for (int i = 0; i < 8; ++i) {
    id[static_cast<std::size_t>(8 - i)] = static_cast<unsigned char>(seq >> (8 * i));
  }
  bind(decision_, like_.front());
  ::sqlite3_bind_int64(decision_, 1, seq);
  ::sqlite3_bind_int64(decision_, 2, lines_);
  ::sqlite3_bind_blob(decision_, 3, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
  const std::string key = "bare " + std::to_string(seq);
  if (keyed_) ::sqlite3_bind_text(decision_, 4, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
  step(decision_);
  for (const Values& movement : movements_) {
    bind(movement_, movement);
    ::sqlite3_bind_int64(movement_, 1, seq);
    step(movement_);
  }
  insert_line(lines_++);
}

void BareLedger::insert_line(std::int64_t index) {
  std::array<unsigned char, 16> blind{};
  if (::getrandom(blind.data(), blind.size(), 0) != static_cast<ssize_t>(blind.size())) {
    throw std::runtime_error("no random bytes");
  }
  text_.replace(text_.size() / 2, blind.size(), reinterpret_cast<const char*>(blind.data()), blind.size());
  ledger::Hash hash = ledger::leaf_hash(text_);
  ::sqlite3_bind_int64(line_, 1, index);
  ::sqlite3_bind_int64(line_, 2, decisions_);
  ::sqlite3_bind_blob(line_, 3, blind.data(), static_cast<int>(blind.size()), SQLITE_STATIC);
  ::sqlite3_bind_blob(line_, 4, hash.data(), static_cast<int>(hash.size()), SQLITE_STATIC);
  step(line_);
  std::int64_t number = index;
  for (std::size_t level = 0;; ++level, number /= 2) {
    if (level > 0 && level % 8 == 0) {
      ::sqlite3_bind_int64(node_, 1, static_cast<std::int64_t>(level));
      ::sqlite3_bind_int64(node_, 2, number);
      ::sqlite3_bind_blob(node_, 3, hash.data(), static_cast<int>(hash.size()), SQLITE_STATIC);
      step(node_);
    }
    if (number % 2 == 0) {
      edge_[level] = hash;
      return;
    }
    hash = ledger::node_hash(edge_[level], hash);
  }
}

}  // namespace epsilog::bench
