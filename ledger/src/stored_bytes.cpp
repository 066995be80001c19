#include "stored_bytes.hpp"

#include <sodium.h>

namespace epsilog::ledger {

std::string hex_text(std::string_view bytes) {
  std::string hex(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  hex.pop_back();  // the NUL
  return hex;
}

}  // namespace epsilog::ledger
