#include "epsilog/ledger/base64.hpp"

#include <sodium.h>

namespace epsilog::ledger {

std::string base64_text(std::span<const unsigned char> bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // the NUL
  return text;
}

std::string base64_text(std::string_view bytes) {
  return base64_text(std::span(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::optional<std::string> base64_bytes(std::string_view text) {
  std::string bytes(text.size(), '\0');
  std::size_t size = 0;
  const int failed =
      sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0) return std::nullopt;
  bytes.resize(size);
  if (base64_text(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace epsilog::ledger
