#include "stored_bytes.hpp"

#include <sodium.h>

namespace epsilog::ledger {

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  // Without sodium_init(), which ends the process where there is no randomness: a digest needs none.
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return digest;
}

std::string hex_text(std::string_view bytes) {
  std::string hex(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  hex.pop_back();  // the NUL
  return hex;
}

}  // namespace epsilog::ledger
