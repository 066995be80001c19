#include "request_reader.hpp"

#include <algorithm>

#include "ascii.hpp"
#include "epsilog/accounting/errors.hpp"
#include "header_rules.hpp"
#include "request_target.hpp"

namespace epsilog::serve {
namespace {

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
