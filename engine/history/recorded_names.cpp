#include "recorded_names.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/utf8.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::engine {

void check_name(const std::string& text, const char* what) {
  constexpr std::size_t kBytesMax = 256;
  if (text.size() > kBytesMax) throw InvalidParameter(std::string(what) + ": is longer than 256 bytes");
  check_text(text, what);
}

void check_via(const std::string& via) {
  check_name(via, "via");
  if (!ledger::is_valid_via(via)) {
    throw InvalidParameter("via: say claimed, or unix: or token: and which, not '" + via + "'");
  }
}

void check_actor(const Actor& by) {
  check_name(by.name, "by");
  check_via(by.via);
}

void check_reason(const std::string& why) {
  check_name(why, "why");
  if (!why.empty() && why.find_first_not_of(' ') == std::string::npos) {
    throw InvalidParameter("why: has blanks only");
  }
}

void check_text(const std::string& text, const char* what) {
  if (!is_utf8(text)) throw InvalidParameter(std::string(what) + ": is not UTF-8");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      throw InvalidParameter(std::string(what) + ": contains a control character");
    }
  }
}

}  // namespace epsilog::engine
