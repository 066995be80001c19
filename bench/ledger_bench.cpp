// What durability costs, against what the disk alone costs in the same run.
//
// The raw figure is an fdatasync of 4 KiB overwritten in place; a durable release cannot be cheaper. The bare
// figures are the same rows, as texts that are there already, put into the same schema by SQLite alone.
// Compare medians: `--benchmark_repetitions=9 --benchmark_report_aggregates_only=true`.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/accounting/sealed_release.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::mechanisms {

/// A drawn value without the cost of drawing it: this bench is about storing. Only for an executable
/// that does not link the mechanisms.
class ReleaseSealer {
 public:
  static accounting::SealedRelease seal(accounting::ChargeReceipt receipt,
                                        const accounting::ApproximateLoss& loss) {
    const std::int64_t decision = receipt.consume(loss);
    return {decision, loss, {accounting::Rational(48)}};
  }
};

}  // namespace epsilog::mechanisms

namespace {

using namespace epsilog;

// SHA-256 of the empty text, which is what these ledgers have for a policy.
constexpr const char* kDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const accounting::Epsilon kUnit = accounting::Epsilon::from_units(1);

class Directory final {
 public:
  Directory() {
    std::string pattern = (std::filesystem::current_path() / "ledger-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

ledger::DecisionDraft draft_with(const std::string& key) {
  ledger::DecisionDraft draft;
  draft.principal = "bench";
  draft.key = key;
  draft.request_digest = kDigest;
  draft.request = R"({"dataset":"clinic","epsilon":"0.000000000001","statistic":"count"})";
  draft.dataset = "clinic";
  draft.policy_version = 1;
  draft.outcome = ledger::Outcome::granted;
  draft.reasons = "[]";
  return draft;
}

ledger::ReleaseRecord record() {
  ledger::ComponentRecord component;
  component.statistic = "count";
  component.epsilon = kUnit;
  component.sensitivity = 1;
  component.lambda = accounting::Rational(10) + accounting::power_of_ten(-35);
  component.grid = 16;
  component.centre = 50000;
  component.bound = 50000;
  component.precision = 118;
  component.adjusted = kUnit.rational();
  component.published = accounting::Rational(11) * accounting::power_of_ten(-13);
  ledger::ReleaseRecord release;
  release.mechanism = "snapping";
  release.arithmetic = "mpfr";
  release.requested = release.adjusted = kUnit.rational();
  release.charged = kUnit;
  release.components = {component};
  return release;
}

void record_one(ledger::Transaction& transaction, const std::string& key) {
  static const ledger::ReleaseRecord kRecord = record();
  const std::vector<ledger::Charge> charges = {{.account = 1, .amount = 1}};
  if (transaction.find_key("bench", key)) throw std::runtime_error("key taken");
  std::vector<accounting::SealedRelease> sealed;
  sealed.push_back(
      mechanisms::ReleaseSealer::seal(transaction.charge(draft_with(key), charges, kUnit), kUnit));
  transaction.attach(kRecord, std::move(sealed), {});
}

/// A ledger with that many releases in it, made once a run.
struct Filled {
  explicit Filled(std::int64_t rows) : path(directory.file("L")) {
    ledger::PolicyVersion policy;
    policy.sha256 = kDigest;
    policy.applied_by = "bench";
    ledger::AccountState account;
    account.dataset = "clinic";
    account.measure = "epsilon";
    account.balance.limit = accounting::kUnitsMax;
    ledger::Ledger::create(path, policy, {account});
    auto ledger = ledger::Ledger::open(path, {});
    constexpr std::int64_t kBatch = 5'000;
    while (next < rows) {
      auto transaction = ledger.begin();
      for (std::int64_t i = 0; i < kBatch && next < rows; ++i)
        record_one(transaction, std::to_string(next++));
      benchmark::DoNotOptimize(ledger.commit(std::move(transaction)));
    }
  }
  Directory directory;
  std::string path;
  std::int64_t next = 0;
};

Filled& filled(std::int64_t rows) {
  static std::map<std::int64_t, std::unique_ptr<Filled>> ledgers;
  auto& found = ledgers[rows];
  if (found == nullptr) found = std::make_unique<Filled>(rows);
  return *found;
}

void raw_fdatasync_4k(benchmark::State& state) {
  const Directory directory;
  const int fd = ::open(directory.file("raw").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  std::vector<char> block(4096, 'x');
  const auto write_block = [&] {
    return ::pwrite(fd, block.data(), block.size(), 0) == 4096 && ::fdatasync(fd) == 0;
  };
  if (!write_block()) state.SkipWithError("cannot write");
  for (auto _ : state) {
    block[0] = static_cast<char>(block[0] + 1);
    if (!write_block()) state.SkipWithError("cannot write");
  }
  ::close(fd);
}
BENCHMARK(raw_fdatasync_4k)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// The rows of a release without the library that makes them.
class BareRows final {
 public:
  explicit BareRows(const std::string& path) {
    const std::string uri = "file:" + path + "?psow=0";
    if (::sqlite3_open_v2(uri.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, nullptr) != SQLITE_OK) {
      throw std::runtime_error("cannot open");
    }
    run("PRAGMA synchronous=FULL");
    run("PRAGMA foreign_keys=ON");
    run("PRAGMA recursive_triggers=ON");
    for (const char* const sql : kInserts) {
      ::sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &inserts_.emplace_back(), nullptr);
    }
    last_ = number("SELECT coalesce(max(seq), 0) FROM decision");
  }
  BareRows(const BareRows&) = delete;
  BareRows& operator=(const BareRows&) = delete;
  ~BareRows() {
    for (sqlite3_stmt* insert : inserts_) ::sqlite3_finalize(insert);
    ::sqlite3_close(db_);
  }

  void run(const char* sql) {
    if (::sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(::sqlite3_errmsg(db_));
    }
  }
  /// Copies what the first decision of the ledger has, under the next number, an id and a key, with a line of
  /// the length of its own hashed for the log.
  void insert_release() {
    constexpr std::size_t kIdLength = 26;
    constexpr std::size_t kHashBytes = 32;
    std::string id = std::to_string(++last_);
    id = '7' + std::string(kIdLength - 1 - id.size(), '0') + id;  // behind every id that bears a time
    line_.replace(0, id.size(), id);
    const std::string leaf = ledger::sha256_hex(line_).substr(0, kHashBytes);
    for (sqlite3_stmt* insert : inserts_) {
      ::sqlite3_bind_int64(insert, 1, last_);
      ::sqlite3_bind_text(insert, 2, id.c_str(), -1, SQLITE_STATIC);
      ::sqlite3_bind_text(insert, 3, leaf.c_str(), -1, SQLITE_STATIC);
      if (::sqlite3_step(insert) != SQLITE_DONE) throw std::runtime_error(::sqlite3_errmsg(db_));
      ::sqlite3_reset(insert);
    }
  }

 private:
  static constexpr std::size_t kLineBytes = 700;  ///< of a decision with one account
  static constexpr std::array kInserts = {
      "UPDATE account SET spent = ?1, checksum = ?1 WHERE id = 1",
      "INSERT INTO decision(seq, line, id, time, principal, via, key, parent, deadline, outcome, reasons, "
      "rules,"
      " build, policy_version, decided_under, dataset, plan, purpose, holding, conflicting_key, verb, why,"
      " component_values, \"values\", token) SELECT ?1, (SELECT max(idx) + 1 FROM log),"
      " CAST(substr(?2, 11) AS BLOB), time, principal, via, ?2, parent, deadline, outcome, reasons, rules, "
      "build,"
      " policy_version, decided_under, dataset, plan, purpose, holding, conflicting_key, verb, why,"
      " component_values, \"values\", token FROM decision WHERE seq = 1",
      "INSERT INTO movement(seq, account, position, spent_change, reserved_change, spent, reserved, "
      "\"limit\")"
      " SELECT ?1, account, position, spent_change, reserved_change, spent, reserved, \"limit\" FROM movement"
      " WHERE seq = 1",
      "INSERT INTO log(idx, kind, row, blind, leaf)"
      " SELECT max(idx) + 1, 8, ?1, CAST(substr(?2, 11) AS BLOB), CAST(?3 AS BLOB) FROM log",
      "INSERT INTO node(level, number, hash) SELECT 8, idx / 256, leaf FROM log"
      " WHERE idx = (SELECT max(idx) FROM log) AND idx % 256 = 255",
      "UPDATE meta SET decisions = ?1, log_size = log_size + 1, wall_clock = wall_clock + 1"};

  [[nodiscard]] std::int64_t number(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    ::sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr);
    const std::int64_t found =
        ::sqlite3_step(statement) == SQLITE_ROW ? ::sqlite3_column_int64(statement, 0) : 0;
    ::sqlite3_finalize(statement);
    return found;
  }

  sqlite3* db_ = nullptr;
  std::vector<sqlite3_stmt*> inserts_;
  std::int64_t last_ = 0;
  std::string line_ = std::string(kLineBytes, 'x');
};

/// Arg: how many releases a transaction holds.
void bare_rows(benchmark::State& state) {
  const Filled ledger_file(1);
  BareRows rows(ledger_file.path);
  for (auto _ : state) {
    rows.run("BEGIN IMMEDIATE");
    for (std::int64_t i = 0; i < state.range(0); ++i) rows.insert_release();
    rows.run("COMMIT");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(bare_rows)->Arg(1)->Arg(1'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

void durable_release(benchmark::State& state) {
  Filled& ledger_file = filled(state.range(0));
  auto ledger = ledger::Ledger::open(ledger_file.path, {});
  for (auto _ : state) {
    auto transaction = ledger.begin();
    record_one(transaction, std::to_string(ledger_file.next++));
    benchmark::DoNotOptimize(ledger.commit(std::move(transaction)));
  }
}
BENCHMARK(durable_release)->Arg(0)->Arg(1'000)->Arg(1'000'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

void durable_releases_in_one_transaction(benchmark::State& state) {
  constexpr std::int64_t kReleases = 1'000;
  Filled& ledger_file = filled(state.range(0));
  auto ledger = ledger::Ledger::open(ledger_file.path, {});
  for (auto _ : state) {
    auto transaction = ledger.begin();
    for (std::int64_t i = 0; i < kReleases; ++i) record_one(transaction, std::to_string(ledger_file.next++));
    benchmark::DoNotOptimize(ledger.commit(std::move(transaction)));
  }
  state.SetItemsProcessed(state.iterations() * kReleases);
}
BENCHMARK(durable_releases_in_one_transaction)
    ->Arg(0)
    ->Arg(1'000'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void open_for_writing(benchmark::State& state) {
  const Filled& ledger_file = filled(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(ledger::Ledger::open(ledger_file.path, {}).ledger_id());
}
BENCHMARK(open_for_writing)->Arg(0)->Arg(1'000'000)->UseRealTime()->Unit(benchmark::kMillisecond);

void read_every_decision(benchmark::State& state) {
  const Filled& ledger_file = filled(state.range(0));
  std::int64_t read = 0;
  for (auto _ : state) {
    auto snapshot = ledger::Ledger::open_read_only(ledger_file.path).snapshot();
    snapshot.each_decision("", 0, [&](const ledger::StoredDecision&) { ++read; });
  }
  state.SetItemsProcessed(read);
}
BENCHMARK(read_every_decision)->Arg(1'000'000)->UseRealTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
