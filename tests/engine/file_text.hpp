// The text of a file, of those beside the tests too.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace epsilog::test {

/// Returns all bytes of a file.
/// Throws  std::runtime_error without the file.
inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace epsilog::test
