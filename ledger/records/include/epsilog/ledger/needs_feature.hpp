// The error for a ledger that needs a newer program.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::ledger {

/// A line announces a feature that this program does not know (docs/record_format.md, "Features"). Nothing
/// was recorded, and nothing from that line on was judged.
class NeedsFeature : public LedgerUnusable {
 public:
  /// `what` names the ledger, file or line. `feature` is the name in the line.
  NeedsFeature(const std::string& what, const std::string& feature)
      : LedgerUnusable(what + " needs feature " + feature + ": use a newer Epsilog"), feature_(feature) {}
  [[nodiscard]] const std::string& feature() const noexcept { return feature_; }
  [[nodiscard]] std::string_view code() const noexcept override { return "needs_feature"; }

 private:
  std::string feature_;
};

}  // namespace epsilog::ledger
