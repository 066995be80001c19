// What can fail while a data source is read.
#pragma once

#include <string_view>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

/// A source that has the declared shape could not be read to its end. The same call may succeed later.
class SourceIo final : public Error {
 public:
  enum class Cause {
    unreadable,  ///< damage, an input error or lack of memory: which of them, where and why is not said
    changed,     ///< it is no longer the file that was opened
  };
  /// The message is one fixed text for each cause.
  explicit SourceIo(Cause cause);
  [[nodiscard]] std::string_view code() const noexcept override { return "source_io"; }
};

}  // namespace epsilog::engine
