#include "header_rules.hpp"

#include <algorithm>
#include <cstddef>

#include "ascii.hpp"

namespace epsilog::serve {
namespace {

constexpr std::size_t kLengthDigitsMax = 18;  // below 2^63 whatever the digits are

/// "[…]" of hexadecimal digits, ':' and '.', or a name of letters, digits and "-._"; then ":PORT" or nothing.
bool is_host(std::string_view text) {
  std::size_t end = 0;
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    const std::string_view address = text.substr(1, end - 1);
    const auto fits = [](char c) {
      return is_digit(c) || c == ':' || c == '.' || (lower(c) >= 'a' && lower(c) <= 'f');
    };
    if (!std::all_of(address.begin(), address.end(), fits)) return false;
    ++end;
  } else {
    const auto fits = [](char c) { return is_digit(c) || is_letter(c) || c == '-' || c == '.' || c == '_'; };
    end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), fits) - text.begin());
    if (end == 0) return false;
  }
  const std::string_view rest = text.substr(end);
  return rest.empty() || (rest.front() == ':' && rest.size() <= 6 && all_digits(rest.substr(1)));
}

std::optional<MalformedRequest> apply_length(RequestHead& head) {
  const std::string* const length = head.header("content-length");
  if (const std::string* const coding = head.header("transfer-encoding")) {
    if (length != nullptr) {
      return malformed("The request has Content-Length and Transfer-Encoding.");
    }
    if (equals_ignoring_case(*coding, "chunked")) {
      return MalformedRequest{411, "length_required", "Chunked bodies are not read: send Content-Length."};
    }
    return MalformedRequest{501, "not_implemented", "No Transfer-Encoding is read: send Content-Length."};
  }
  if (length == nullptr) return std::nullopt;
  if (!all_digits(*length) || length->size() > kLengthDigitsMax ||
      (length->size() > 1 && length->front() == '0')) {
    return malformed("Content-Length is not one number of at most 18 digits without leading zeros.");
  }
  std::uint64_t bytes = 0;
  for (const char digit : *length) bytes = bytes * 10 + static_cast<std::uint64_t>(digit - '0');
  head.content_length = bytes;
  return std::nullopt;
}

std::optional<MalformedRequest> apply_connection(RequestHead& head) {
  const std::string* const options = head.header("connection");
  if (options == nullptr) return std::nullopt;
  std::string_view rest = *options;
  for (bool more = true; more;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view option = without_blanks_around(rest.substr(0, end));
    if (!is_token(option)) return malformed("Connection is not a list of options.");
    if (equals_ignoring_case(option, "close")) head.keep_alive = false;
    more = end < rest.size();
    rest.remove_prefix(more ? end + 1 : end);
  }
  return std::nullopt;
}

}  // namespace

std::optional<MalformedRequest> apply_headers(RequestHead& head) {
  const std::string* const host = head.header("host");
  if (host == nullptr) return malformed("The request has no Host.");
  if (!is_host(*host)) return malformed("Host is not a name or an address, with or without a port.");
  if (auto fault = apply_length(head)) return fault;
  const std::string* const expected = head.header("expect");
  if (expected != nullptr && !equals_ignoring_case(*expected, "100-continue")) {
    return MalformedRequest{417, "expectation_failed", "Nothing can be expected but 100-continue."};
  }
  return apply_connection(head);
}

}  // namespace epsilog::serve
