// Members of JSON objects, held to what they should be.
#pragma once

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

namespace epsilog::test {

/// Holds members of an object to what a text of JSON gives them; the object may have others.
inline void check_members(const nlohmann::json& object, const std::string& members) {
  const nlohmann::json wanted = nlohmann::json::parse(members);
  for (const auto& [key, value] : wanted.items()) {
    CAPTURE(key, object.dump());
    CHECK(object.at(key) == value);
  }
}

}  // namespace epsilog::test
