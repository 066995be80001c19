// What a caller acts on is not what there is any more. Nothing was recorded: look again, then decide again.
#pragma once

#include <string>
#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

/// Another policy is active than the one that the caller's replaces.
class PolicyConflict : public Error {
 public:
  explicit PolicyConflict(const std::string& active_sha256)
      : Error("another policy was applied meanwhile; the active one has SHA-256 " + active_sha256),
        active_sha256_(active_sha256) {}
  [[nodiscard]] const std::string& active_sha256() const noexcept { return active_sha256_; }
  [[nodiscard]] std::string_view code() const noexcept override { return "policy_conflict"; }

 private:
  std::string active_sha256_;
};

/// The request, or the policy by which it is decided, is not what the approver saw.
class RequestChanged : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "request_changed"; }
};

}  // namespace epsilog::engine
