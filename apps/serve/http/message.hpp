// One request's head and one response, as HTTP/1.1 has them, and nothing of how they are written.
//
// Sources: RFC 9110 (semantics), RFC 9112 (messages), RFC 3986 (targets).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace epsilog::serve {

struct Header {
  std::string name;   ///< in lower case
  std::string value;  ///< without the blanks around it

  friend bool operator==(const Header&, const Header&) = default;
};

/// The head of a request that was read whole (request_reader.hpp). Every byte of it is printable ASCII or a
/// blank, but for `path` and `query`, which are decoded: UTF-8 without control characters.
struct RequestHead {
  std::string method;  ///< as sent, a token of at most 16 bytes
  /// Begins with '/'. No segment but the last is empty, none is "." or "..", and each '/' was sent as one.
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;  ///< in order; no name twice
  std::vector<Header> headers;                             ///< in order; no name twice
  std::optional<std::uint64_t> content_length;             ///< none: no body
  bool keep_alive = true;                                  ///< false if the client closes after this one

  /// nullptr if there is none.
  /// Requires  a name in lower case.
  [[nodiscard]] const std::string* header(std::string_view lower_case_name) const;
  /// nullptr if there is none.
  [[nodiscard]] const std::string* parameter(std::string_view name) const;

  friend bool operator==(const RequestHead&, const RequestHead&) = default;
};

/// What is answered. Length, type, caching and whether the connection ends are written by `response_text`.
struct Response {
  int status = 200;               ///< 200–599
  std::vector<Header> headers{};  ///< further ones
  std::string content_type{};     ///< "" if there is no body
  std::string body{};
  bool close = false;                  ///< whether the connection ends with it
  std::chrono::milliseconds pause{0};  ///< it is sent after so long, so that who asks again at once waits
};

}  // namespace epsilog::serve
