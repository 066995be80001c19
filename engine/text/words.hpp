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

/// Enumerators count from 0, and each has its word.
template <class Enum, std::size_t Count>
struct Words {
  std::array<std::string_view, Count> texts;

  [[nodiscard]] constexpr std::string_view of(Enum value) const {
    const auto index = static_cast<std::size_t>(value);
    EPSILOG_INVARIANT(index < Count);
    return texts[index];
  }
  /// Inverse of of(); nothing for another word.
  [[nodiscard]] constexpr std::optional<Enum> find(std::string_view word) const {
    for (std::size_t index = 0; index < Count; ++index) {
      if (texts[index] == word) return static_cast<Enum>(index);
    }
    return std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> list() const { return {texts.begin(), texts.end()}; }
};

}  // namespace epsilog::engine
