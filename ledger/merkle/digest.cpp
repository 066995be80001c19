#include "epsilog/ledger/digest.hpp"

#include <sodium.h>

#include "sha256.hpp"

namespace epsilog::ledger {

std::string sha256_hex(std::string_view bytes) {
  return hex_text(sha256(bytes));
}

std::string hex_text(std::span<const unsigned char> bytes) {
  std::string hex(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), bytes.data(), bytes.size());
  hex.pop_back();  // the NUL
  return hex;
}

}  // namespace epsilog::ledger
