#include "sha256.hpp"

#include <nettle/sha2.h>

namespace epsilog::ledger {

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  return sha256({bytes});
}

std::array<std::uint8_t, 32> sha256(std::initializer_list<std::string_view> parts) {
  sha256_ctx context;
  ::sha256_init(&context);
  for (const std::string_view part : parts) {
    ::sha256_update(&context, part.size(), reinterpret_cast<const std::uint8_t*>(part.data()));
  }
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  ::sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

}  // namespace epsilog::ledger
