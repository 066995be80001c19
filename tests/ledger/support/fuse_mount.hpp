// A real FUSE mount: an empty folder that this process serves.
#pragma once

#include <string>
#include <thread>

namespace epsilog::ledger_tests {

/// Requires  the calls of a process that may mount (mounted() tells), and one folder that no other thread
/// uses.
class FuseMount final {
 public:
  explicit FuseMount(std::string folder);
  FuseMount(const FuseMount&) = delete;
  FuseMount& operator=(const FuseMount&) = delete;
  ~FuseMount();
  /// Why it is not mounted; "" if it is.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  std::string folder_;
  std::string refusal_;
  int device_ = -1;
  std::thread server_;
};

}  // namespace epsilog::ledger_tests
