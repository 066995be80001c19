#include "epsilog/ledger/digest.hpp"

#include <sodium.h>

#include <array>

namespace epsilog::ledger {

std::string sha256_hex(std::string_view bytes) {
  // Without sodium_init(), which ends the process where there is no randomness: a digest needs none.
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::array<char, crypto_hash_sha256_BYTES * 2 + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
  return hex.data();
}

}  // namespace epsilog::ledger
