// Tells a caller how far a scan is, a few times a second.
#pragma once

#include <chrono>
#include <cstdint>

#include "epsilog/engine/exact_answer.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

class ScanProgress final {
 public:
  explicit ScanProgress(const Progress& tell) : tell_(tell) {}

  /// Called for every row; looks at the clock only now and then.
  void row(const RowSource& rows) {
    if (!tell_ || ++rows_ % kRowsBetweenLooks != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kInterval) return;
    last_ = now;
    tell_(rows.fraction_read());
  }
  void done() {
    if (tell_) tell_(1.0);
  }

 private:
  static constexpr std::uint64_t kRowsBetweenLooks = 4096;
  static constexpr std::chrono::milliseconds kInterval{250};

  const Progress& tell_;
  std::uint64_t rows_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace epsilog::engine
