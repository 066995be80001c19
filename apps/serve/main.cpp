// epsilog-serve --config FILE [--check]: `epsilog serve` is this program.
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "daemon.hpp"

namespace {

constexpr std::string_view kUsage = "usage: epsilog serve --config FILE [--check]\n";

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  std::string file;
  bool check = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--check" && !check) {
      check = true;
    } else if (words[i] == "--config" && i + 1 < words.size() && file.empty()) {
      file = words[++i];
    } else {
      std::cerr << kUsage;
      return 2;
    }
  }
  if (file.empty()) {
    std::cerr << kUsage;
    return 2;
  }
  return check ? epsilog::serve::check(file) : epsilog::serve::serve(file);
}
