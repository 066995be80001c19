// What one account of a dataset is for. Scopes are stored as texts that never change their meaning:
//
//   ""                 the dataset                       "principal:NAME"  one asker
//   "period:2026-11"   its budget of one period          "role:NAME"       all who have the role, together
//   "lifetime"         what is never renewed             "purpose:NAME"    all requests for the purpose
//   "block:2024-01"    one block of the data
//
// Thread-safety: immutable values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "calendar.hpp"

namespace epsilog::engine {

struct Scope {
  enum class Kind : std::uint8_t { dataset, period, lifetime, block, principal, role, purpose };
  Kind kind = Kind::dataset;
  std::string name = {};  ///< "" of a dataset and its lifetime

  [[nodiscard]] std::string text() const;
  friend bool operator==(const Scope&, const Scope&) = default;
};

/// Inverse of Scope::text(); nothing for a text that names no scope.
[[nodiscard]] std::optional<Scope> parse_scope(std::string_view text);

/// The days of the period that a scope names; nothing for every other scope.
[[nodiscard]] std::optional<DayRange> named_period(std::string_view scope);

}  // namespace epsilog::engine
