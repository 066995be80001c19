// The words of an enumeration, in one place: what is read, written and listed comes from there.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

/// Enumerators count from 0 to `Last`, and each has its word: more or fewer do not compile.
template <auto Last>
class Words final {
 public:
  using Enum = decltype(Last);
  static constexpr std::size_t kCount = static_cast<std::size_t>(Last) + 1;

  template <std::size_t Count>
  consteval explicit Words(const std::string_view (&texts)[Count]) {
    static_assert(Count == kCount);
    for (std::size_t index = 0; index < kCount; ++index) {
      EPSILOG_INVARIANT(!texts[index].empty());
      texts_[index] = texts[index];
    }
  }

  [[nodiscard]] constexpr std::string_view of(Enum value) const {
    const auto index = static_cast<std::size_t>(value);
    EPSILOG_INVARIANT(index < kCount);
    return texts_[index];
  }
  /// Inverse of of(); nothing for another word.
  [[nodiscard]] constexpr std::optional<Enum> find(std::string_view word) const {
    for (std::size_t index = 0; index < kCount; ++index) {
      if (texts_[index] == word) return static_cast<Enum>(index);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> list() const { return {texts_.begin(), texts_.end()}; }

 private:
  std::array<std::string_view, kCount> texts_;
};

}  // namespace epsilog::engine
