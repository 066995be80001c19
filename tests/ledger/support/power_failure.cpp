#include "ledger/support/power_failure.hpp"

namespace epsilog::ledger_tests {

void write_image(const std::map<std::string, std::string>& image, const std::string& from,
                 const std::string& to) {
  std::filesystem::remove_all(to);
  std::filesystem::create_directory(to);
  for (const auto& [path, content] : image) {
    if (path.starts_with(from + "/"))
      std::ofstream(to + path.substr(from.size()), std::ios::binary) << content;
  }
}

std::map<std::string, std::string> files_of(const LedgerFixture& fixture) {
  std::map<std::string, std::string> files;
  for (const char* suffix : {"", "-wal"}) {
    if (std::filesystem::exists(fixture.sibling(suffix)))
      files[fixture.sibling(suffix)] = read_file(fixture.sibling(suffix));
  }
  return files;
}

}  // namespace epsilog::ledger_tests
