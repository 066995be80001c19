#include "stored_bytes.hpp"

#include <sodium.h>

namespace epsilog::ledger {

std::string hex_text(std::span<const unsigned char> bytes) {
  std::string hex(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), bytes.data(), bytes.size());
  hex.pop_back();  // the NUL
  return hex;
}

std::string hex_text(std::string_view bytes) {
  return hex_text(std::span(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace epsilog::ledger
