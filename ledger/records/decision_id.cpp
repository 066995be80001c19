#include "decision_id.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <system_error>

#include "epsilog/accounting/errors.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kIdLength = 26;
constexpr std::size_t kTimeLength = 10;  // 48 bits, five each

/// Requires  at most 256 bytes.
void fill_from_system(std::span<unsigned char> bytes) {
  if (getentropy(bytes.data(), bytes.size()) == 0) return;
  throw EntropyUnavailable("the operating system gave no randomness: " +
                           std::generic_category().message(errno));
}

std::string time_digits(std::int64_t ms) {
  std::string digits(kTimeLength, '0');
  for (std::size_t place = kTimeLength; place-- > 0; ms >>= 5) {
    digits[place] = kAlphabet[static_cast<std::size_t>(ms & 31)];
  }
  return digits;
}

std::string successor(std::string id) {
  for (std::size_t place = id.size(); place-- > 0;) {
    const std::size_t digit = kAlphabet.find(id[place]);
    EPSILOG_INVARIANT(digit != std::string_view::npos);
    if (digit + 1 < kAlphabet.size()) {
      id[place] = kAlphabet[digit + 1];
      return id;
    }
    id[place] = kAlphabet[0];
  }
  throw LedgerCorrupt("the ids of this ledger are used up: its last one is the greatest there is");
}

}  // namespace

std::string next_id(const std::string& previous, std::int64_t ms) {
  const std::string now = time_digits(ms);
  if (!previous.empty() && previous.compare(0, kTimeLength, now) >= 0) return successor(previous);
  std::array<unsigned char, kIdLength - kTimeLength> random{};
  fill_from_system(random);
  std::string id = now;
  for (const unsigned char byte : random) id.push_back(kAlphabet[byte & 31]);
  return id;
}

bool may_be_next_id(const std::string& previous, const std::string& id, std::int64_t ms) {
  const std::string now = time_digits(ms);
  if (!previous.empty() && previous.compare(0, kTimeLength, now) >= 0) return id == successor(previous);
  return id.compare(0, kTimeLength, now) == 0;
}

bool is_id(std::string_view text) {
  return text.size() == kIdLength && text.front() <= '7' &&
         text.find_first_not_of(kAlphabet) == std::string_view::npos;
}

std::array<std::uint8_t, 16> id_bytes(std::string_view id) {
  EPSILOG_INVARIANT(is_id(id));
  std::array<std::uint8_t, 16> bytes{};
  std::uint64_t bits = 0;  // the last `held` of them are still to be placed, from the end of the id on
  unsigned held = 0;
  std::size_t place = bytes.size();
  for (std::size_t i = id.size(); i-- > 0 && place > 0;) {
    bits |= static_cast<std::uint64_t>(kAlphabet.find(id[i])) << held;
    held += 5;
    for (; held >= 8 && place > 0; held -= 8, bits >>= 8U) bytes[--place] = static_cast<std::uint8_t>(bits);
  }
  if (place > 0) bytes[--place] = static_cast<std::uint8_t>(bits);
  EPSILOG_INVARIANT(place == 0);
  return bytes;
}

std::string id_text(const std::array<std::uint8_t, 16>& bytes) {
  std::string id(kIdLength, '0');
  std::uint64_t bits = 0;
  unsigned held = 0;
  std::size_t next = bytes.size();
  for (std::size_t i = id.size(); i-- > 0;) {
    if (held < 5 && next > 0) {
      bits |= static_cast<std::uint64_t>(bytes[--next]) << held;
      held += 8;
    }
    id[i] = kAlphabet[bits & 31U];
    bits >>= 5U;
    held = held < 5 ? 0 : held - 5;
  }
  return id;
}

std::array<std::uint8_t, 16> random_128() {
  std::array<std::uint8_t, 16> random{};
  fill_from_system(random);
  return random;
}

std::array<std::uint8_t, 32> random_256() {
  std::array<std::uint8_t, 32> random{};
  fill_from_system(random);
  return random;
}

std::string random_hex_128() {
  return hex_text(random_128());
}

}  // namespace epsilog::ledger
