// How long the write-ahead log gets while everybody reads and somebody writes all the time.
#include <sys/stat.h>

#include "epsilog/ledger/inspection.hpp"
#include "ledger/support/fixture.hpp"
#include "ledger_files.hpp"
#include "reading_gate.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

std::int64_t size_of_log(const LedgerFixture& fixture) {
  struct stat log {};
  return ::stat(fixture.sibling("-wal").c_str(), &log) == 0 ? log.st_size : 0;
}

ledger::Ledger with_limit(const LedgerFixture& fixture, std::int64_t bytes) {
  ledger::Options options;
  options.log_limit = bytes;
  return ledger::Ledger::open(fixture.path, options);
}

/// One COMMIT of a few pages.
void write(ledger::Ledger& ledger, int decisions = 1) {
  auto transaction = ledger.begin();
  for (int i = 0; i < decisions; ++i) static_cast<void>(record_outcome(transaction, refused(), kTenth));
  static_cast<void>(ledger.commit(std::move(transaction)));
}

ledger::ReadingGate& gate_of(const LedgerFixture& fixture) {
  return ledger::ReadingGate::gate_of(ledger::require_single_regular_file(ledger::locate(fixture.path)));
}

/// Threads that read until this ends, so that at each instant somebody does: each holds a snapshot for that
/// long, and begins the next one at once.
class Readers final {
 public:
  Readers(const LedgerFixture& fixture, int count, std::chrono::milliseconds each) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, &fixture, each, i, count] {
        const auto ledger = ledger::Ledger::open_read_only(fixture.path);
        std::this_thread::sleep_for(each * i / count);
        while (!over_) {
          auto view = ledger.snapshot();
          const std::int64_t decisions = view.decision_count();
          std::this_thread::sleep_for(each);
          if (view.decision_count() != decisions) changed_ = true;
          ++read_;
        }
      });
    }
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;
  ~Readers() { end(); }
  void end() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  [[nodiscard]] int read() const { return read_; }
  /// Whether a snapshot showed two things.
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  std::atomic<bool> over_ = false;
  std::atomic<int> read_ = 0;
  std::atomic<bool> changed_ = false;
  std::vector<std::thread> threads_;
};

struct Load {
  std::int64_t longest = 0;  ///< bytes that the log had
  std::int64_t written = 0;  ///< bytes, as far as one COMMIT is like the next
  std::int64_t each = 0;     ///< bytes of one COMMIT
  int commits = 0;
};

/// Writes until so many bytes went through the log, and looks at it after each COMMIT.
Load write_through(const LedgerFixture& fixture, ledger::Ledger& ledger, std::int64_t bytes,
                   std::int64_t each = 0) {
  constexpr int kDecisions = 32;
  constexpr int kFirst = 8;
  Load load;
  load.each = each;
  const std::int64_t before = size_of_log(fixture);
  for (const auto end = Clock::now() + 100s; load.written < bytes && Clock::now() < end; ++load.commits) {
    write(ledger, kDecisions);
    const std::int64_t now = size_of_log(fixture);
    load.longest = std::max(load.longest, now);
    if (each == 0 && load.commits < kFirst) load.each = (now - before) / (load.commits + 1);
    load.written += load.each;
  }
  return load;
}

}  // namespace

TEST_CASE("log: readers that overlap one another do not let it grow with what is written",
          "[ledger][log][threads]") {
  const LedgerFixture fixture;
  ledger::Ledger ledger = with_limit(fixture, 256 * kKiB);
  // Long enough that no moment without an old reader is met by waiting for it alone.
  Readers readers(fixture, 8, 12ms);
  const Load load = write_through(fixture, ledger, 8 * kMiB);
  readers.end();
  CAPTURE(load.commits, readers.read(), gate_of(fixture).longest_wait().count());
  CHECK_FALSE(readers.changed());
  CHECK(load.written >= 8 * kMiB);
  CHECK(load.longest < load.written / 2);
}

namespace {

/// Reads the whole history again and again, as an audit does, and is slow to look at what it is told.
class SlowAudit final {
 public:
  enum class Reads { in_slices, at_once };
  SlowAudit(const LedgerFixture& fixture, Reads reads)
      : thread_([this, &fixture, reads] {
          const auto ledger = ledger::Ledger::open_read_only(fixture.path);
          while (!over_) {
            auto view = ledger.snapshot();
            ledger::Inspection inspection(view);
            const ledger::HistoryEnd end = inspection.end();
            if (reads == Reads::in_slices) view.close_between_reads();
            std::int64_t seen = 0;
            inspection.each_decision(
                end, 1ms,
                [&](const ledger::StoredDecision& stored) {
                  if (stored.seq != ++seen) ++wrong_;
                  if (!over_) std::this_thread::sleep_for(2ms);
                },
                [&](const ledger::MalformedRecord&) { ++wrong_; },
                [&](const ledger::StoredFault&) { ++wrong_; });
            if (seen != end.decision) ++wrong_;
          }
        }) {}
  SlowAudit(const SlowAudit&) = delete;
  SlowAudit& operator=(const SlowAudit&) = delete;
  ~SlowAudit() { static_cast<void>(wrong()); }
  /// Ends it. How much it was told that is not so.
  [[nodiscard]] int wrong() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return wrong_;
  }

 private:
  std::atomic<bool> over_ = false;
  std::atomic<int> wrong_ = 0;
  std::thread thread_;
};

}  // namespace

TEST_CASE("log: a reader of the whole history in slices does not let it grow, one that reads at once does",
          "[ledger][log][threads]") {
  for (const auto reads : {SlowAudit::Reads::in_slices, SlowAudit::Reads::at_once}) {
    const LedgerFixture fixture;
    ledger::Ledger ledger = with_limit(fixture, 256 * kKiB);
    const std::int64_t each = write_through(fixture, ledger, 512 * kKiB).each;
    SlowAudit audit(fixture, reads);
    Readers readers(fixture, 2, 2ms);
    const Load load = write_through(fixture, ledger, 3 * kMiB, each);
    readers.end();
    CHECK(audit.wrong() == 0);
    CHECK((load.longest < load.written / 2) == (reads == SlowAudit::Reads::in_slices));
  }
}

TEST_CASE("log: beside sixteen readers, through half a gibibyte of groups, it stays below 64 MiB",
          "[ledger][log][.long]") {
  const LedgerFixture fixture;
  ledger::Ledger ledger = fixture.open();
  Readers readers(fixture, 16, 12ms);
  const Load load = write_through(fixture, ledger, 512 * kMiB);
  readers.end();
  WARN("longest " << load.longest << " of " << load.written << " bytes, " << load.commits << " commits, "
                  << readers.read() << " snapshots; one waited for "
                  << gate_of(fixture).longest_wait().count() / 1000 << " us");
  CHECK_FALSE(readers.changed());
  CHECK(load.written >= 512 * kMiB);
  CHECK(load.longest < 64 * kMiB);
}

TEST_CASE("log: one that grew beyond its limit under a reader that stayed is cut down once it is gone",
          "[ledger][log]") {
  const LedgerFixture fixture;
  ledger::Ledger ledger = with_limit(fixture, 256 * kKiB);
  {
    auto stays = fixture.look();
    const Load load = write_through(fixture, ledger, 18 * kMiB);
    CHECK(load.longest > 17 * kMiB);
    CHECK(stays.decision_count() == 0);
  }
  // The pause after an attempt that failed is over sooner or later.
  for (const auto end = Clock::now() + 30s; size_of_log(fixture) > 16 * kMiB && Clock::now() < end;)
    write(ledger);
  CHECK(size_of_log(fixture) <= 16 * kMiB);
}

TEST_CASE("log: who reads may write, and make another snapshot while the gate is closed to it",
          "[ledger][log][lock]") {
  const LedgerFixture fixture;
  ledger::Ledger ledger = with_limit(fixture, 0);  // every COMMIT closes the gate, or would but for the pause
  auto view = ledger.snapshot();
  for (int i = 0; i < 5; ++i) write(ledger);
  CHECK(view.decision_count() == 0);
  CHECK(ledger.snapshot().decision_count() == 5);
  const auto begun = Clock::now();
  {
    ledger::ReadingGate::ClosedScope closed(gate_of(fixture));
    auto another = ledger.snapshot();  // the gate is still closed by then, and opens to nobody else
    CHECK(another.decision_count() == 5);
    CHECK_FALSE(closed.await_readers(1'000ms));
    CHECK(closed.left() == 0ms);
  }
  CHECK(Clock::now() - begun >= ledger::ReadingGate::kLongestClosing);
  // Within a callback of a reader.
  std::vector<std::string> seen;
  auto reads = ledger.snapshot();
  reads.each_decision("", 0, [&](const ledger::StoredDecision& stored) {
    write(ledger);
    CHECK(ledger.snapshot().decision_count() == 6 + static_cast<std::int64_t>(seen.size()));
    seen.push_back(stored.id);
  });
  CHECK(seen.size() == 5);
}

TEST_CASE("gate: readers are counted over all ledgers of a file, and wait for no other file",
          "[ledger][log][lock]") {
  const LedgerFixture fixture;
  const LedgerFixture other;
  auto first = fixture.open();
  auto second = ledger::Ledger::open_read_only(fixture.path);
  std::optional<ledger::Snapshot> held(second.snapshot());
  std::thread leaves;
  {
    ledger::ReadingGate::ClosedScope closed(gate_of(fixture));
    CHECK_FALSE(closed.await_readers(0ms));
    CHECK(other.look().decision_count() == 0);
    leaves = std::thread([&held] { held.reset(); });
    leaves.join();
    CHECK(closed.await_readers(0ms));
  }
  CHECK(gate_of(other).longest_wait() == 0ns);
  std::atomic<bool> read = false;
  std::optional<std::thread> waits;
  {
    ledger::ReadingGate::ClosedScope closed(gate_of(fixture));
    waits.emplace([&] {
      CHECK_NOTHROW(static_cast<void>(first.snapshot().decision_count()));
      read = true;
    });
  }
  waits->join();
  CHECK(read);
}

TEST_CASE("gate: a forked child waits for nobody of its parent, and counts none of its readers",
          "[ledger][log]") {
  const LedgerFixture fixture;
  auto view = fixture.look();
  const ledger::ReadingGate::ClosedScope closed(gate_of(fixture));
  const int status = in_child([&] {
    ledger::ReadingGate& own = gate_of(fixture);
    const auto child = ledger::Ledger::open_read_only(fixture.path);
    REQUIRE(child.snapshot().decision_count() == 0);
    REQUIRE(own.longest_wait() == 0ns);
    ledger::ReadingGate::ClosedScope of_child(own);
    REQUIRE(of_child.await_readers(0ms));
  });
  CHECK(status == 0);
}
