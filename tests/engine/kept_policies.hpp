// Every policy that there is to read: those shipped, and one for each key that a policy may have.
#pragma once

#include "file_text.hpp"
#include "policy_key_changes.hpp"
#include "support/catch.hpp"

namespace epsilog::test {

/// By where it stands.
inline std::map<std::string, std::string> kept_policies(const std::filesystem::path& source) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> policies;
  for (const auto& file : fs::directory_iterator(source / "configs")) {
    if (file.path().extension() == ".yaml") policies[file.path().filename()] = file_text(file.path());
  }
  for (const auto& [key, change] : key_changes()) {
    policies["before " + key] = before_and_after(change).before;
    policies["after " + key] = before_and_after(change).after;
  }
  return policies;
}

}  // namespace epsilog::test
