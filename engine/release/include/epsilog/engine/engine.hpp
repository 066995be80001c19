// The release path: policy -> request -> plan -> decision -> charge -> release.
//
// An engine is four facets: Asking, Requests, LedgerHistory and Curating. A function that needs one takes that one.
// Thread-safety: an Engine may be used from several threads; its transactions take turns.
#pragma once

#include <string>

#include "epsilog/engine/asking.hpp"
#include "epsilog/engine/curating.hpp"
#include "epsilog/engine/engine_options.hpp"
#include "epsilog/engine/ledger_history.hpp"
#include "epsilog/engine/requests.hpp"
#include "epsilog/engine/state_handle.hpp"

namespace epsilog::engine {

struct InitReport {
  std::string ledger;
  std::string ledger_id;
  std::string policy_sha256;
};

/// An engine that was moved from can be assigned to and destroyed; every other call throws InvalidParameter,
/// as does one in a process that was forked after it was opened. What a callback throws comes out unchanged,
/// and std::bad_alloc out of anything. Below, *reading* and *writing* throw LedgerUnusable, LedgerBusy,
/// LedgerIo and LedgerCorrupt; docs/library.md says what is on record after each. What changes nothing can be
/// stopped at its next step, on the thread that calls (epsilog/accounting/stopping.hpp).
class Engine final : public Asking, public Requests, public LedgerHistory, public Curating {
 public:
  /// Nothing is recorded before the first write: until then the connections are held to reading.
  /// Throws  reading.
  [[nodiscard]] static Engine open(const std::string& ledger_path, const EngineOptions& options = {});
  /// Throws  PolicyError; LedgerUnusable if something is at that path already; SourceError if a path
  ///         is relative and the working directory gone; InvalidParameter for `by`; writing.
  /// `forget_ledger`: as of ledger::Ledger::create(). Of the options: how long to wait, and who is warned.
  static InitReport init(const std::string& policy_path, const std::string& ledger_path,
                         const std::string& by, const std::string& forget_ledger = "",
                         const EngineOptions& options = {});

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

 private:
  explicit Engine(const StateHandle& state);
};

}  // namespace epsilog::engine
