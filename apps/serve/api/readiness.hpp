// Whether a release would be recorded now.
//
// A look begins to record and undoes it, tries whether there is room beside the ledger, and asks whether the
// sources can be read. There is at most one a second, for all callers together. What changed since the look
// before is logged.
//
// Thread-safety: may be used from several threads.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"

namespace epsilog::serve {

/// A dataset whose source cannot be read now.
struct MissingSource {
  std::string dataset;
  std::string why;  ///< "its source is missing"; names no path
};

/// What was found of the sources of a policy.
struct SourceAvailability {
  std::vector<MissingSource> missing;
  bool any_readable = false;  ///< of some dataset, or it has no source
};

/// Looks at the sources of the active policy. None is opened: closing one would take SQLite's locks away.
/// Throws  what reading the ledger throws.
[[nodiscard]] SourceAvailability source_availability(const engine::Engine& engine);

class Readiness final {
 public:
  using Clock = std::chrono::steady_clock;

  /// What a look found.
  struct ReadinessReport {
    std::string code = {};    ///< of the problem that a release would be told; "": it would be recorded
    std::string detail = {};  ///< what is wrong, in words for the curator; names no path
    std::vector<MissingSource> missing = {};
    Clock::time_point at = {};
    [[nodiscard]] bool ready() const noexcept { return code.empty(); }
  };

  /// `fresh` is how long a look counts. `log` is told what changed. `files_replaced` is told when the engine
  /// has files open that are the ledger's no more. Both are called by a thread that looks.
  Readiness(const engine::Engine& engine, std::string ledger_path, std::chrono::milliseconds fresh,
            std::function<void(const std::string&)> log = {}, std::function<void()> files_replaced = {});

  /// Returns what the last look found, or looks again if that was too long ago.
  [[nodiscard]] std::shared_ptr<const ReadinessReport> current_report();
  /// Looks again where an answer of that status may mean that something changed.
  void note_answer_status(int status);

 private:
  [[nodiscard]] ReadinessReport check_now() const;
  void log_change(const ReadinessReport& found);

  const engine::Engine& engine_;
  const std::string ledger_path_;
  const std::chrono::milliseconds fresh_;
  const std::function<void(const std::string&)> log_;
  const std::function<void()> files_replaced_;
  std::mutex mutex_;  // guards what follows; held during a look, so that there is one at a time
  std::shared_ptr<const ReadinessReport> last_report_;
  std::string logged_;  // what is wrong, as it was logged last; "": nothing
};

}  // namespace epsilog::serve
