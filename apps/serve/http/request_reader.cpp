#include "request_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "ascii.hpp"
#include "epsilog/accounting/errors.hpp"
#include "malformed.hpp"
#include "message.hpp"
#include "request_target.hpp"

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

/// Sets `content_length` and `keep_alive` of a head whose other members are there. Refused, in this order: no
/// Host, or one that is no name or address with or without a port (400); Content-Length beside
/// Transfer-Encoding (400); Transfer-Encoding: chunked (411, RFC 9112, 6.3: a server may insist on a length),
/// or any other (501, RFC 9112, 6.1); a Content-Length that is no number of 1–18 digits without leading zeros
/// (400); an Expect that is not 100-continue (417); a Connection that is no list of tokens (400).
/// Requires       no name twice, so that a value is the only one.
/// Thread-safety  pure function.
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

constexpr std::size_t kMethodBytesMax = 16;

/// RFC 9112, 2.3: HTTP-version.
bool is_version(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) && text[6] == '.' &&
         is_digit(text[7]);
}

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
  return lowered;
}

}  // namespace

std::size_t RequestReader::read_head(std::string_view bytes) {
  EPSILOG_INVARIANT(state_ == State::idle || state_ == State::head);
  std::size_t taken = 0;
  while (taken < bytes.size() && (state_ == State::idle || state_ == State::head)) {
    state_ = State::head;
    take(bytes[taken]);
    ++taken;
  }
  return taken;
}

const RequestHead& RequestReader::head() const {
  EPSILOG_INVARIANT(state_ == State::body || state_ == State::complete);
  return head_;
}

const MalformedRequest& RequestReader::fault() const {
  EPSILOG_INVARIANT(state_ == State::malformed);
  return fault_;
}

void RequestReader::consume_body(std::uint64_t bytes) {
  EPSILOG_INVARIANT(bytes <= body_left_);
  body_left_ -= bytes;
  if (state_ == State::body && body_left_ == 0) state_ = State::complete;
}

void RequestReader::refuse(const MalformedRequest& fault) {
  state_ = State::malformed;
  fault_ = fault;
}

void RequestReader::take(char c) {
  ++head_bytes_;
  if (head_bytes_ > limits_.head_bytes) {
    return refuse({431, "head_too_large", "The head of the request is too large."});
  }
  if (c == '\n') {
    if (!after_cr_) return refuse(malformed("A line of the head does not end with CR LF."));
    after_cr_ = false;
    return end_line();
  }
  if (after_cr_) return refuse(malformed("The head has a CR without LF."));
  if (c == '\r') {
    after_cr_ = true;
    return;
  }
  if (!is_printable(c)) {
    return refuse(malformed("The head has a byte that is neither printable ASCII nor a blank."));
  }
  if (first_line_) take_first_line(c);
  line_ += c;
}

/// What is too long is told before it ends.
void RequestReader::take_first_line(char c) {
  if (c == ' ') {
    ++blanks_;
  } else if (blanks_ == 0 && ++method_bytes_ > kMethodBytesMax) {
    refuse({501, "not_implemented", "There is no method with so long a name."});
  } else if (blanks_ == 1 && ++target_bytes_ > limits_.target_bytes) {
    refuse({414, "target_too_long", "The target of the request is too long."});
  }
}

void RequestReader::end_line() {
  if (!first_line_ && line_.empty()) return end_head();
  if (const auto fault = first_line_ ? read_request_line() : read_header()) return refuse(*fault);
  first_line_ = false;
  line_.clear();
}

std::optional<MalformedRequest> RequestReader::read_request_line() {
  if (blanks_ != 2) {
    return malformed("The first line is not METHOD TARGET HTTP/1.1 with one blank between each.");
  }
  const std::string_view line = line_;
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first + 1);
  const std::string_view method = line.substr(0, first);
  const std::string_view version = line.substr(second + 1);
  if (!is_token(method)) return malformed("The method is not a token.");
  if (!is_version(version)) return malformed("The first line does not end with the version of HTTP.");
  if (version != "HTTP/1.1") {
    return MalformedRequest{505, "version_not_supported", "Only HTTP/1.1 is spoken here."};
  }
  RequestTarget target;
  if (auto fault = read_target(line.substr(first + 1, second - first - 1), limits_.parameters, target)) {
    return fault;
  }
  head_.method = method;
  head_.path = std::move(target.path);
  head_.query = std::move(target.query);
  return std::nullopt;
}

std::optional<MalformedRequest> RequestReader::read_header() {
  const std::string_view line = line_;
  if (line.front() == ' ') return malformed("A line of a header begins with a blank.");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return malformed("A line of a header has no ':'.");
  const std::string_view name = line.substr(0, colon);
  if (name.ends_with(' ')) return malformed("A header has a blank before its ':'.");
  if (!is_token(name)) return malformed("The name of a header is not a token.");
  Header header{lower_case(name), std::string(without_blanks_around(line.substr(colon + 1)))};
  if (head_.header(header.name) != nullptr) return malformed("A header comes twice.");
  if (head_.headers.size() == limits_.headers) {
    return MalformedRequest{431, "head_too_large", "The request has too many headers."};
  }
  head_.headers.push_back(std::move(header));
  return std::nullopt;
}

void RequestReader::end_head() {
  if (const auto fault = apply_headers(head_)) return refuse(*fault);
  body_left_ = head_.content_length.value_or(0);
  state_ = body_left_ > 0 ? State::body : State::complete;
  line_ = {};
}

}  // namespace epsilog::serve
