#include "version_text.hpp"

#include <fmt/format.h>
#include <gmp.h>
#include <mpfr.h>
#include <nettle/version.h>
#include <sodium.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "epsilog/ledger/program.hpp"
#include "version.hpp"

namespace epsilog::command {
namespace {

constexpr std::string_view kLabel = "  libraries  ";

std::string fmt_version() {
  constexpr int kMajor = FMT_VERSION / 10'000;
  constexpr int kMinor = FMT_VERSION / 100 % 100;
  return fmt::format("{}.{}.{}", kMajor, kMinor, FMT_VERSION % 100);
}

}  // namespace

std::string version_text() {
  const std::vector<std::string> libraries = {
      fmt::format("SQLite {}", sqlite3_libversion()),
      fmt::format("SQLiteCpp {}", kSqliteCppVersion),
      fmt::format("MPFR {}", mpfr_get_version()),
      fmt::format("GMP {}", gmp_version),
      fmt::format("yaml-cpp {}", kYamlCppVersion),
      fmt::format("libsodium {}", sodium_version_string()),
      fmt::format("Nettle {}.{}", nettle_version_major(), nettle_version_minor()),
      fmt::format("fmt {}", fmt_version()),
      fmt::format("nlohmann_json {}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                  NLOHMANN_JSON_VERSION_PATCH)};
  constexpr std::size_t kWidth = 80;
  std::string list;
  std::size_t used = kLabel.size();
  for (const std::string& library : libraries) {
    const bool first = list.empty();
    const bool fits = used + library.size() + 2 < kWidth;
    list += first ? "" : fits ? ", " : ",\n" + std::string(kLabel.size(), ' ');
    used = (fits ? used + (first ? 0 : 2) : kLabel.size()) + library.size();
    list += library;
  }
  return fmt::format("epsilog {}\n  commit     {}\n  build      {}, {}\n{}{}\n", kVersion,
                     ledger::kThisBuild.commit, EPSILOG_BUILD_TYPE, kCompiler, kLabel, list);
}

}  // namespace epsilog::command
