#include "response_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ascii.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {
namespace {

/// RFC 9110, 15. A client reads the number alone.
constexpr std::array<std::pair<int, std::string_view>, 29> kReasons = {{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
}};

std::string_view reason(int status) {
  const auto found = std::find_if(kReasons.begin(), kReasons.end(),
                                  [&](const auto& known) { return known.first == status; });
  return found == kReasons.end() ? std::string_view() : found->second;
}

/// Headers that say where a message ends, or that are written for every response.
constexpr std::array<std::string_view, 9> kOurs = {"content-length",         "content-type", "cache-control",
                                                   "x-content-type-options", "connection",   "keep-alive",
                                                   "transfer-encoding",      "trailer",      "upgrade"};

void append(std::string& text, std::string_view name, std::string_view value) {
  if (!std::all_of(value.begin(), value.end(), is_printable)) {
    throw InvalidParameter("a header of a response holds a byte that is not printable");
  }
  text.append(name).append(": ").append(value).append("\r\n");
}

void require_header(const Response& response, const Header& header) {
  const bool lower_case =
      std::none_of(header.name.begin(), header.name.end(), [](char c) { return lower(c) != c; });
  if (!is_token(header.name) || !lower_case) {
    throw InvalidParameter("the name of a header of a response is not a token in lower case");
  }
  if (std::find(kOurs.begin(), kOurs.end(), header.name) != kOurs.end()) {
    throw InvalidParameter("a response has a header that is written for every response: " + header.name);
  }
  const auto same = [&](const Header& other) { return other.name == header.name; };
  if (std::count_if(response.headers.begin(), response.headers.end(), same) != 1) {
    throw InvalidParameter("a response has a header twice: " + header.name);
  }
}

/// RFC 9110, 6.4.1: these have neither a body nor its length.
bool never_has_body(int status) {
  return status == 204 || status == 304;
}

}  // namespace

std::string response_head(const Response& response) {
  if (response.status < 200 || response.status > 599) {
    throw InvalidParameter("the status of a response is not 200-599");
  }
  if (!response.body.empty() && (never_has_body(response.status) || response.content_type.empty())) {
    throw InvalidParameter("a response has a body without a type, or under a status that has none");
  }
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + ' ';
  text.append(reason(response.status)).append("\r\n");
  if (!never_has_body(response.status)) append(text, "Content-Length", std::to_string(response.body.size()));
  if (!response.content_type.empty()) append(text, "Content-Type", response.content_type);
  append(text, "Cache-Control", "no-store");
  append(text, "X-Content-Type-Options", "nosniff");
  if (response.close) append(text, "Connection", "close");
  for (const Header& header : response.headers) {
    require_header(response, header);
    append(text, header.name, header.value);
  }
  return text.append("\r\n");
}

bool sends_body(const Response& response, std::string_view method) {
  return method != "HEAD" && !response.body.empty();
}

}  // namespace epsilog::serve
