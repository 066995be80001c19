// Evidence that shows nothing.
#pragma once

#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

/// A note, proof or state is not what its form demands, is not signed as is required, or contradicts what it
/// is held against. The message says which, and names the line of a text.
class NotVerified : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "not_verified"; }
};

}  // namespace epsilog::engine
