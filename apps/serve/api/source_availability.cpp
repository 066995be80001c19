#include "source_availability.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "epsilog/engine/policy.hpp"

namespace epsilog::serve {
namespace {

/// Why the file cannot be read; "" if it can.
std::string fault_of_source(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return errno == ENOENT || errno == ENOTDIR
               ? "its source is missing"
               : "its source cannot be read: " + std::generic_category().message(errno);
  }
  if (!S_ISREG(found.st_mode)) return "its source is not a file";
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
    return "its source cannot be read: " + std::generic_category().message(errno);
  }
  return "";
}

}  // namespace

SourceAvailability source_availability(const engine::Engine& engine) {
  SourceAvailability found;
  const engine::Policy policy = engine.active_policy();
  for (const engine::Dataset& dataset : policy.datasets()) {
    std::string why = dataset.has_source() ? fault_of_source(engine.source_of(dataset.name)) : "";
    if (why.empty()) {
      found.any_readable = true;
    } else {
      found.missing.push_back({dataset.name, std::move(why)});
    }
  }
  return found;
}

}  // namespace epsilog::serve
