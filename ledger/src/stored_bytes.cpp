#include "stored_bytes.hpp"

#include <sodium.h>

namespace epsilog::ledger {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return digest;
}

std::string hex_text(const std::string& bytes) {
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

std::string bytes_of_hex(const std::string& hex, const char* what) {
  if (hex.size() % 2 != 0 || hex.find_first_not_of(kDigits) != std::string::npos) {
    throw LedgerCorrupt(std::string(what) + " is not written in lower-case hexadecimal digits");
  }
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(kDigits.find(hex[i]) << 4U | kDigits.find(hex[i + 1]));
  }
  return bytes;
}

}  // namespace epsilog::ledger
