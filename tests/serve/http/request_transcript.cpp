#include "request_transcript.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace epsilog::test {
namespace {

using State = serve::RequestReader::State;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

/// Feeds one reader, as a connection does.
ReadRequest read_one(std::string_view bytes, std::size_t& at, const std::vector<std::size_t>& cuts,
                     const serve::HeadLimits& limits) {
  serve::RequestReader reader(limits);
  ReadRequest read;
  while (at < bytes.size() && (reader.state() == State::idle || reader.state() == State::head)) {
    const auto cut = std::upper_bound(cuts.begin(), cuts.end(), at);
    const std::size_t end = cut == cuts.end() ? bytes.size() : std::min(*cut, bytes.size());
    const std::size_t taken = reader.read_head(bytes.substr(at, end - at));
    read.head_bytes += taken;
    at += taken;
  }
  if (reader.state() == State::body) {
    read.body_bytes = std::min<std::uint64_t>(reader.body_left(), bytes.size() - at);
    reader.consume_body(read.body_bytes);
    at += static_cast<std::size_t>(read.body_bytes);
  }
  read.state = reader.state();
  if (read.state == State::body || read.state == State::complete) read.head = reader.head();
  if (read.state == State::malformed) read.fault = reader.fault();
  return read;
}

std::string percent_encoded(std::string_view text, bool keeps_slash) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c == '/' && keeps_slash)) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return encoded;
}

template <class List, class Name>
bool names_are_unique(const List& list, Name name) {
  std::set<std::string> names;
  return std::all_of(list.begin(), list.end(),
                     [&](const auto& entry) { return names.insert(name(entry)).second; });
}

void require_head(const ReadRequest& read, std::string_view text) {
  const serve::RequestHead& head = read.head;
  require(text.find("\r\n\r\n") == text.size() - 4, "the head ends elsewhere than at its first empty line");
  std::size_t lines = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends_line = text.substr(i, 2) == "\r\n";
    require(ends_line || (text[i] >= ' ' && text[i] <= '~'), "a byte of a head is no text");
    if (ends_line) {
      ++lines;
      ++i;
    }
  }
  require(lines == head.headers.size() + 2, "a line of the head was lost");
  require(names_are_unique(head.headers, [](const auto& header) { return header.name; }),
          "a header is there twice");
  require(names_are_unique(head.query, [](const auto& pair) { return pair.first; }),
          "a parameter is there twice");
  require(head.header("host") != nullptr, "there is no Host");
  require(head.header("transfer-encoding") == nullptr, "there is a Transfer-Encoding");
  const std::string* const length = head.header("content-length");
  require(head.content_length.has_value() == (length != nullptr), "the length is not that of Content-Length");
  require(length == nullptr || *length == std::to_string(*head.content_length),
          "the length is another number");
  const std::string& path = head.path;
  require(path.starts_with('/') && path.find('\0') == std::string::npos, "the path is none");
  require(path.find("//") == std::string::npos, "the path has an empty segment");
  for (const char* const part : {"/./", "/../"}) {
    require((path + "/").find(part) == std::string::npos, "the path is not in normal form");
  }
  // Percent-encoding makes it longer.
  const std::vector<ReadRequest> again = transcript(written(head), {}, {1U << 20U, 1U << 20U, 64, 32});
  require(again.front().state == State::complete || again.front().state == State::body,
          "what is written is refused");
  require(again.front().head == head, "what is written is read as something else");
}

}  // namespace

std::vector<ReadRequest> transcript(std::string_view bytes, const std::vector<std::size_t>& cuts,
                                    const serve::HeadLimits& limits) {
  std::vector<ReadRequest> all;
  std::size_t at = 0;
  do {
    all.push_back(read_one(bytes, at, cuts, limits));
  } while (all.back().state == State::complete);
  return all;
}

std::string written(const serve::RequestHead& head) {
  std::string text = head.method + ' ' + percent_encoded(head.path, true);
  char separator = '?';
  for (const auto& [name, value] : head.query) {
    text += separator + percent_encoded(name, false) + '=' + percent_encoded(value, false);
    separator = '&';
  }
  text += " HTTP/1.1\r\n";
  for (const serve::Header& header : head.headers) text += header.name + ":" + header.value + "\r\n";
  return text + "\r\n";
}

void require_unambiguous(std::string_view bytes, const std::vector<std::size_t>& cuts,
                         const serve::HeadLimits& limits) {
  const std::vector<ReadRequest> whole = transcript(bytes, {}, limits);
  std::size_t at = 0;
  for (const ReadRequest& read : whole) {
    if (read.state == State::body || read.state == State::complete) {
      require_head(read, bytes.substr(at, read.head_bytes));
    }
    at += read.head_bytes + static_cast<std::size_t>(read.body_bytes);
  }
  require(at <= bytes.size(), "more was read than was there");
  require(transcript(bytes, cuts, limits) == whole, "another outcome in other pieces");
}

}  // namespace epsilog::test
