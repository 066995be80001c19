// What a ledger is to cost, each held against its floor in the same run on the same disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epsilog::bench {

struct Row {
  std::string what;
  std::string target;
  std::string measured;
  std::string floor;  ///< of bare rows, or what stands in their place; "" where there is none
  std::string ratio;  ///< of what the target is about
  bool met = false;
};

/// One durable release of the library, interleaved with one bare transaction.
[[nodiscard]] std::vector<Row> rows_of_one_release();
/// release_many of 1,000, and 2,000 submitted at once, against as many bare rows in transactions as large.
[[nodiscard]] std::vector<Row> rows_of_many_releases();
/// 64 threads of one Engine, against a bare group commit and against one thread.
[[nodiscard]] std::vector<Row> rows_of_threads();
/// 8 and 64 processes against one, and bare transactions under the same turn.
[[nodiscard]] std::vector<Row> rows_of_processes();
/// Bytes of a decision in the file, with a shared plan and with its own.
[[nodiscard]] std::vector<Row> rows_of_bytes();
/// Releases that debit 365 and 3,650 blocks.
[[nodiscard]] std::vector<Row> rows_of_blocks();
/// What a replica adds to a release.
[[nodiscard]] std::vector<Row> rows_of_replica();
/// The daemon: keyed releases of one connection and of 64, against the library and against a stub that
/// parses, queues, syncs and answers; reads, by h2load.
[[nodiscard]] std::vector<Row> rows_of_http();
/// A ledger of so many decisions made again from its replica, and the verifier on that.
[[nodiscard]] std::vector<Row> rows_of_history(std::int64_t decisions);
/// Processor time of whole commands.
[[nodiscard]] std::vector<Row> rows_of_commands();
/// Questions about 10^6 rows: a median among 10^6 values, a table, batches, against readings of them.
[[nodiscard]] std::vector<Row> rows_of_questions();
/// `audit verify` of so many decisions on one core.
[[nodiscard]] std::vector<Row> rows_of_audit(std::int64_t decisions);

/// printf's, as a text.
[[gnu::format(printf, 1, 2)]] [[nodiscard]] std::string text(const char* format, ...);

}  // namespace epsilog::bench
