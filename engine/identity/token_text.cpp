#include "token_text.hpp"

#include <algorithm>
#include <cstdint>

#include "epsilog/ledger/digest.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kPrefix = "eps_";
constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";  // base 32, none like another
constexpr std::size_t kIdMax = 64;
constexpr std::size_t kSecretDigits = 52;
constexpr std::size_t kCheckDigits = 6;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char digit(unsigned value) {
  return kDigits.at(value & 31U);
}

void append_secret(std::string& text, const TokenSecret& secret) {
  unsigned kept = 0;
  unsigned bits = 0;
  for (const unsigned char byte : secret) {
    kept = (kept << 8U) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += digit(kept >> (bits - 5));
    kept &= 31U;
  }
  text += digit(kept << (5 - bits));
}

/// 30 bits of the SHA-256 of all that stands before.
std::string check_digits(std::string_view text) {
  const std::string hash = ledger::sha256_hex(text);
  std::string digits;
  for (std::size_t i = 0; i < kCheckDigits; ++i) {
    digits += digit(static_cast<unsigned>(std::stoul(hash.substr(2 * i, 2), nullptr, 16)));
  }
  return digits;
}

}  // namespace

bool is_credential_id(std::string_view text) {
  return !text.empty() && text.size() <= kIdMax && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

std::string token_text(std::string_view id, const TokenSecret& secret) {
  std::string text;
  text.reserve(kPrefix.size() + id.size() + 1 + kSecretDigits + kCheckDigits);  // no copy is left behind
  text.append(kPrefix).append(id) += '_';
  append_secret(text, secret);
  text += check_digits(text);
  return text;
}

std::optional<std::string_view> credential_in(std::string_view token) {
  constexpr std::size_t kTail = 1 + kSecretDigits + kCheckDigits;
  if (!token.starts_with(kPrefix) || token.size() < kPrefix.size() + kTail) return std::nullopt;
  const std::string_view id = token.substr(kPrefix.size(), token.size() - kPrefix.size() - kTail);
  const std::string_view tail = token.substr(token.size() - kTail);
  if (!is_credential_id(id) || tail.front() != '_' ||
      tail.find_first_not_of(kDigits, 1) != std::string_view::npos) {
    return std::nullopt;
  }
  if (check_digits(token.substr(0, token.size() - kCheckDigits)) != tail.substr(1 + kSecretDigits)) {
    return std::nullopt;
  }
  return id;
}

}  // namespace epsilog::engine
