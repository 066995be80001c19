#include "recovery_text.hpp"

#include <fmt/format.h>

namespace epsilog::command {

std::string cut_off_text(std::int64_t from, std::int64_t lines, std::int64_t bytes, bool acknowledged) {
  if (bytes == 0) return "";
  return fmt::format("  cut off  {} lines ({} bytes) of the replica from line {} on, of which {}\n", lines,
                     bytes, from, acknowledged ? "somebody may have been told" : "nobody was told");
}

}  // namespace epsilog::command
