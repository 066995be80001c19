// What has to hold before a daemon can serve. `epsilog serve --check` looks at all of it and changes nothing.
//
// Thread-safety: for one thread, before there are others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "configuration.hpp"
#include "connection_limits.hpp"
#include "descriptor.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::serve {

/// A lock that is held as long as a daemon serves the ledger. It is on a file of its own: closing a
/// descriptor of the ledger would take SQLite's locks away.
class ServeLock final {
 public:
  /// Throws  LedgerBusy: another daemon serves the ledger; LedgerUnusable: the lock cannot be opened.
  explicit ServeLock(const std::string& ledger);

 private:
  Descriptor lock_;
};

/// Throws  LedgerBusy while a daemon serves the ledger.
void check_not_served(const std::string& ledger);

/// Throws  LedgerUnusable: this user may not write one of the ledger's files, or make files beside it.
void check_ledger_writable(const std::string& ledger);

/// Returns how many files this process may have open at most, once it has taken what it may.
[[nodiscard]] std::uint64_t descriptors_allowed();

/// Returns the limits of connections that so many descriptors allow. Where they are too few for all
/// connections, those who ask get fewer places, so that the curator and the ledger keep theirs, and `warn` is
/// told how many.
/// Throws  InvalidParameter if they do not even suffice for the requests that are answered at a time.
[[nodiscard]] ConnectionLimits connection_limits(const WorkLimits& limits, std::uint64_t descriptors,
                                                 const std::function<void(const std::string&)>& warn);

/// Throws  PolicyError for an active policy under which nothing can be served.
void check_policy(const engine::Engine& engine);

/// The paths that the configuration names: what the daemon logs names no other.
[[nodiscard]] std::vector<std::string> paths_of(const Configuration& configuration);

}  // namespace epsilog::serve
