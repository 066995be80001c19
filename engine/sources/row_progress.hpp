// Tells a caller how far a scan is, a few times a second.
#pragma once

#include <chrono>
#include <cstdint>

#include "epsilog/accounting/floating_point.hpp"
#include "epsilog/engine/progress.hpp"
#include "row_source.hpp"

namespace epsilog::engine {

class ScanProgress final {
 public:
  explicit ScanProgress(const Progress& report) : report_(report) {}

  /// Called for every row; looks at the clock only now and then.
  void row(const RowSource& rows) {
    if (!report_ || ++rows_ % kRowsBetweenChecks != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kInterval) return;
    last_ = now;
    report(rows.fraction_read());
  }
  void done() {
    if (report_) report(1.0);
  }

 private:
  static constexpr std::uint64_t kRowsBetweenChecks = 4096;
  static constexpr std::chrono::milliseconds kInterval{250};

  void report(double fraction) {
    const accounting::DefaultFloatingPoint floating_point;  // whoever is told may set it otherwise
    report_(fraction);
  }

  const Progress& report_;
  std::uint64_t rows_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace epsilog::engine
