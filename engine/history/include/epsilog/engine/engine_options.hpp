// How an engine opens its ledger, and whom it tells what happens beside what it is asked.
//
// Thread-safety: values. What is handed in is called on the thread that makes the call.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/folders.hpp"
#include "epsilog/ledger/clock.hpp"

namespace epsilog::ledger {
struct Options;
struct Replica;
}  // namespace epsilog::ledger

namespace epsilog::engine {

/// A decision on record that cannot be read. It stays as it is, open if it was; everything else goes on.
struct UnreadableDecision {
  std::string decision_id;  ///< "" where not even that can be read
  std::string message;
};

/// When what was computed from data is recorded and told (docs/daemon.md): at the first tick, a multiple of
/// `every_ms` of the wall clock, that is at least `after_ms` behind the call. Ledger time shows ticks only.
struct TickedAnswers {
  std::int64_t after_ms = 0;  ///< 0 to kTickedAfterMost
  std::int64_t every_ms = 0;  ///< 10 to 1,000, and a whole part of a second

  friend bool operator==(const TickedAnswers&, const TickedAnswers&) = default;
};
inline constexpr std::int64_t kTickedAfterMost = 10'000;
/// Whether ticks may be so many milliseconds apart.
[[nodiscard]] bool is_tick(std::int64_t every_ms) noexcept;

class Policy;

/// Where and how surely a policy has lines written a second time.
[[nodiscard]] std::optional<ledger::Replica> replica_of(const Policy& policy);

struct EngineOptions {
  /// For the ledger's turn, milliseconds >= 0; then LedgerBusy. 0: does not wait.
  std::int64_t wait_ms = 30'000;
  /// Told of each once, by whatever meets it beside what it was called for.
  accounting::Callback<void(const UnreadableDecision&)> unreadable = {};
  ledger::Clock clock = ledger::system_clock_reading;  ///< another one only in tests
  /// Called right before each COMMIT: from here on what is asked may be on record. Must not throw.
  accounting::Callback<void()> before_commit = {};
  /// Told of what failed without harm to what was recorded; of a checkpoint by a thread of the engine.
  accounting::Callback<void(const std::string&)> warn = {};
  /// Told, only after a second, who it is that a call waits for.
  accounting::Callback<void(const std::string&)> report_wait = {};
  /// Stops every wait for another writer: a call that waits, or would have to, throws ledger::WaitStopped.
  std::stop_token stop = {};

  /// Where they are set, a policy is applied and a source relocated only if its files are below them, and a
  /// source that is not is not read.
  std::optional<Folders> folders = {};

  /// Nothing: at once.
  std::optional<TickedAnswers> answers = {};

  /// Whether a dataset is concealed from principals who may not ask it: whatever they ask of it throws
  /// ConcealedDataset, as for a dataset that is not declared, and records nothing. Their retries under a key
  /// are answered. For programs that stand between people and a policy that they cannot read. Without it such
  /// a request is refused on record (principal_not_allowed).
  bool conceals_datasets = false;

  /// Throws  InvalidParameter for `answers` out of their ranges.
  [[nodiscard]] ledger::Options ledger_options() const;
};

}  // namespace epsilog::engine
