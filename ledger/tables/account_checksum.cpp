#include "account_checksum.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "epsilog/accounting/errors.hpp"
#include "sha256.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::size_t kInt64Digits = 20;

void append_number(std::string& text, std::int64_t value) {
  std::array<char, kInt64Digits> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  EPSILOG_INVARIANT(error == std::errc());
  text.append(digits.data(), end);
}

void append_netstring(std::string& text, std::string_view value) {
  append_number(text, static_cast<std::int64_t>(value.size()));
  text.append(1, ':').append(value).append(1, ',');
}

void append_netstring(std::string& text, std::int64_t value) {
  std::string digits;
  append_number(digits, value);
  append_netstring(text, std::string_view(digits));
}

}  // namespace

std::int64_t account_checksum(const AccountState& account) {
  std::string text;
  text.reserve(account.dataset.size() + account.scope.size() + account.measure.size() + 96);
  append_netstring(text, account.id);
  append_netstring(text, account.dataset);
  append_netstring(text, account.scope);
  append_netstring(text, account.measure);
  append_netstring(text, account.balance.limit);
  append_netstring(text, account.balance.spent);
  append_netstring(text, account.balance.reserved);
  const std::array<std::uint8_t, 32> digest = sha256(text);
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < sizeof first; ++i) first = first << 8U | digest.at(i);
  return static_cast<std::int64_t>(first);
}

}  // namespace epsilog::ledger
