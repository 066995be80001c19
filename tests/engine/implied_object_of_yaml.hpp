// The object that the bytes of a policy imply.
#pragma once

#include <optional>
#include <string>

#include "epsilog/accounting/errors.hpp"
#include "implied_object.hpp"

namespace epsilog::test {

/// Returns nothing if Policy::parse_stored() refuses the bytes.
inline std::optional<std::string> implied_object_of_yaml(const std::string& yaml) {
  try {
    return engine::implied_object(engine::Policy::parse_stored(yaml, "policy"));
  } catch (const PolicyError&) {
    return std::nullopt;
  }
}

}  // namespace epsilog::test
