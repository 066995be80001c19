#include "epsilog/engine/policy_change.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

std::string_view name(Direction direction) {
  switch (direction) {
    case Direction::looser:
      return "looser";
    case Direction::tighter:
      return "tighter";
    case Direction::neutral:
      return "neutral";
    case Direction::incomparable:
      return "incomparable";
  }
  EPSILOG_INVARIANT(false);
}

std::string PolicyChange::path_text() const {
  std::string text;
  for (const std::string& key : path) {
    if (!text.empty() && !key.starts_with('[')) text += '.';
    text += key;
  }
  return text;
}

}  // namespace epsilog::engine
