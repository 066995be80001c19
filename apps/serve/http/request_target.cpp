#include "request_target.hpp"

#include <algorithm>

#include "ascii.hpp"
#include "epsilog/engine/utf8.hpp"

namespace epsilog::serve {
namespace {

/// RFC 3986, 3.3: pchar, but for '%'.
bool stands_for_itself(char c) {
  return is_digit(c) || is_letter(c) ||
         std::string_view("-._~!$&'()*+,;=:@").find(c) != std::string_view::npos;
}

/// -1: no hexadecimal digit.
int hexadecimal(char c) {
  if (is_digit(c)) return c - '0';
  if (lower(c) >= 'a' && lower(c) <= 'f') return lower(c) - 'a' + 10;
  return -1;
}

/// The byte that "%XY" at `at` stands for; none unless that is there.
std::optional<char> escaped(std::string_view text, std::size_t at) {
  if (text.size() - at < 3) return std::nullopt;
  const int high = hexadecimal(text[at + 1]);
  const int low = hexadecimal(text[at + 2]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(static_cast<unsigned char>(high * 16 + low));
}

/// UTF-8 without control characters: U+0000–001F, U+007F–009F.
bool is_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const engine::CodePoint point = engine::code_point_at(text, at);
    if (point.bytes == 0 || point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)) return false;
    at += point.bytes;
  }
  return true;
}

/// Decodes what consists of pchar and `also`.
std::optional<MalformedRequest> decode(std::string_view text, std::string_view also, std::string& into) {
  into.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '%') {
      const std::optional<char> byte = escaped(text, at);
      if (!byte) return malformed("The target has a '%' without two hexadecimal digits after it.");
      into += *byte;
      at += 2;
    } else if (stands_for_itself(c) || also.find(c) != std::string_view::npos) {
      into += c;
    } else {
      return malformed("The target has a character that must be percent-encoded.");
    }
  }
  if (!is_text(into)) {
    return malformed("The target does not stand for UTF-8 without control characters.");
  }
  return std::nullopt;
}

std::optional<MalformedRequest> read_path(std::string_view text, std::string& path) {
  for (std::size_t begin = 0; begin < text.size();) {  // at a '/'
    const std::size_t end = std::min(text.find('/', begin + 1), text.size());
    std::string segment;
    if (auto fault = decode(text.substr(begin + 1, end - begin - 1), "", segment)) return fault;
    if (segment.find('/') != std::string::npos) return malformed("The path has an encoded '/'.");
    if (segment == "." || segment == "..") return malformed("The path has a segment that is '.' or '..'.");
    if (segment.empty() && end != text.size()) return malformed("The path has an empty segment.");
    path += '/';
    path += segment;
    begin = end;
  }
  return std::nullopt;
}

std::optional<MalformedRequest> read_query(std::string_view text, std::size_t parameters_max,
                                           RequestTarget& target) {
  if (text.find('+') != std::string_view::npos) {
    return malformed("The query has a '+': write a blank as %20, a plus as %2B.");
  }
  for (bool more = true; more;) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    more = end < text.size();
    text.remove_prefix(more ? end + 1 : end);
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return malformed("The query is not NAME=VALUE joined by '&'.");
    }
    auto& [name, value] = target.query.emplace_back();
    if (auto fault = decode(pair.substr(0, equals), "/?", name)) return fault;
    if (auto fault = decode(pair.substr(equals + 1), "/?", value)) return fault;
    if (target.query.size() > parameters_max) return malformed("The query has too many parameters.");
    const auto same = [&wanted = name](const auto& parameter) { return parameter.first == wanted; };
    if (std::count_if(target.query.begin(), target.query.end(), same) > 1) {
      return malformed("The query has a parameter twice.");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<MalformedRequest> read_target(std::string_view text, std::size_t parameters_max,
                                            RequestTarget& target) {
  target = {};
  if (text.empty() || text.front() != '/') {
    return malformed("The target is not a path that begins with '/'.");
  }
  const std::size_t question = text.find('?');
  if (auto fault = read_path(text.substr(0, question), target.path)) return fault;
  if (question == std::string_view::npos) return std::nullopt;
  return read_query(text.substr(question + 1), parameters_max, target);
}

}  // namespace epsilog::serve
