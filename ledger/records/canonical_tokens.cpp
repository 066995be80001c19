#include "canonical_tokens.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/json_writer.hpp"

namespace epsilog::ledger {
namespace {

/// Nothing that is not UTF-8 has a JSON text.
bool is_utf8(std::string_view bytes) {
  std::string unused;
  return append_json_string(unused, bytes);
}

/// -1: none.
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void CanonicalTokens::fail(std::string_view what) const {
  throw LedgerCorrupt("canonical JSON, byte " + std::to_string(at_) + ": " + std::string(what));
}

std::string_view CanonicalTokens::string(std::string& decoded) {
  const std::size_t begin = at_;
  std::size_t end = begin + 1;
  while (end < line_.size() && is_plain_json(line_[end])) ++end;
  if (end == line_.size() || line_[end] != '"') return escaped_string(begin, decoded);
  at_ = end + 1;
  return line_.substr(begin + 1, end - begin - 1);
}

std::string_view CanonicalTokens::escaped_string(std::size_t begin, std::string& decoded) {
  ++at_;
  while (next() != '"') {
    if (at_ + 2 > line_.size()) fail("a string does not end");
    at_ += next() == '\\' ? 2 : 1;
  }
  ++at_;
  const std::string_view token = line_.substr(begin, at_ - begin);
  // What it says is written again: one text for each string, whatever escapes and encodings there are.
  const auto said = nlohmann::json::parse(token.begin(), token.end(), nullptr, false);
  std::string written;
  if (!said.is_string()) fail("a string before this is none");
  decoded = said.get<std::string>();
  if (!append_json_string(written, decoded) || written != token)
    fail("a string before this is written otherwise");
  return decoded;
}

std::uint64_t CanonicalTokens::count() {
  const std::size_t begin = at_;
  while (is_digit(next())) ++at_;
  const std::string_view digits = line_.substr(begin, at_ - begin);
  constexpr std::size_t kDigitsMax = 16;
  if (digits.size() > 1 && digits.front() == '0') fail("a number begins with zero");
  std::uint64_t value = 0;
  if (digits.size() <= kDigitsMax) {
    for (const char digit : digits) value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (digits.size() > kDigitsMax || value > kJsonCountMax) fail("a number is too large");
  return value;
}

std::string_view CanonicalTokens::extent() {
  const std::size_t begin = at_;
  std::string unused;
  std::size_t open = 0;
  do {
    const char first = next();
    if (done()) fail("a value does not end");
    if (first == '"') {
      string(unused);
    } else if (first == '{' || first == '[') {
      ++open;
      ++at_;
    } else if (open != 0) {
      if (first == '}' || first == ']') --open;
      ++at_;
    } else {  // a number or a word
      while (is_digit(next()) || (next() >= 'a' && next() <= 'z')) ++at_;
      if (at_ == begin) fail("no value begins here");
    }
  } while (open != 0);
  return line_.substr(begin, at_ - begin);
}

std::string bytes_of_hex(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  if (hex.size() % 2 != 0 || !read_hex(hex, reinterpret_cast<unsigned char*>(bytes.data()))) {
    throw LedgerCorrupt("hex does not stand for bytes: two of 0-9 and a-f each");
  }
  if (is_utf8(bytes)) throw LedgerCorrupt("hex stands for a text");
  return bytes;
}

bool read_hex(std::string_view hex, unsigned char* bytes) {
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = hex_digit(hex[i]);
    const int low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i / 2] = static_cast<unsigned char>(high * 16 + low);
  }
  return true;
}

}  // namespace epsilog::ledger
