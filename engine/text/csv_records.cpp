#include "epsilog/engine/csv_records.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "epsilog/engine/utf8.hpp"
#include "text_encoding.hpp"

namespace epsilog::engine {
namespace {

// Most files are small, and of large ones this stays in a cache.
constexpr std::size_t kReadSize = std::size_t{1} << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kNowhere = std::string_view::npos;

std::size_t find(std::string_view text, char wanted, std::size_t from) {
  if (from >= text.size()) return kNowhere;
  const void* found = std::memchr(text.data() + from, wanted, text.size() - from);
  return found == nullptr ? kNowhere
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

CsvRecords::CsvRecords(Dialect dialect, Read read)
    : dialect_(dialect), read_(std::move(read)), buffer_(kReadSize) {}

bool CsvRecords::next() {
  if (first_) skip_byte_order_mark();
  line_ = next_line_;
  std::string_view line;
  bool overlong = false;
  if (!take_line(line, overlong)) return false;
  if (line.ends_with('\r')) line.remove_suffix(1);
  fields_.clear();
  malformed_ = overlong || !decode(line) || !split(line) || (expected_ != 0 && fields_.size() != expected_);
  return true;
}

void CsvRecords::skip_byte_order_mark() {
  first_ = false;
  while (end_ - begin_ < kByteOrderMark.size() && refill()) {
  }
  const std::string_view start(buffer_.data() + begin_, end_ - begin_);
  if (dialect_.encoding == Encoding::utf_8 && start.starts_with(kByteOrderMark))
    begin_ += kByteOrderMark.size();
}

bool CsvRecords::take_line(std::string_view& line, bool& overlong) {
  state_ = ParseState::field_start;
  std::size_t scanned = 0;
  for (;;) {
    const std::size_t line_end = find_line_end(begin_ + scanned);
    if (line_end != kNowhere) {
      line = {buffer_.data() + begin_, line_end - begin_};
      begin_ = line_end + 1;
      break;
    }
    scanned = end_ - begin_;
    if (scanned > kRecordSizeMax) {
      overlong = true;
      count_line_ends({buffer_.data() + begin_, scanned});
      begin_ = end_;
      scanned = 0;
    }
    if (!refill()) {
      if (begin_ == end_ && !overlong) return false;
      line = {buffer_.data() + begin_, end_ - begin_};
      begin_ = end_;
      break;
    }
  }
  overlong = overlong || line.size() > kRecordSizeMax;
  count_line_ends(line);
  ++next_line_;
  return true;
}

void CsvRecords::count_line_ends(std::string_view within_a_record) {
  if (!dialect_.multiline) return;  // there are none
  next_line_ += static_cast<std::uint64_t>(std::count(within_a_record.begin(), within_a_record.end(), '\n'));
}

bool CsvRecords::decode(std::string_view& line) {
  if (dialect_.encoding == Encoding::utf_8) return is_utf8(line);
  if (is_ascii(line)) return true;
  decoded_.clear();
  if (!append_utf8(line, dialect_.encoding, decoded_)) return false;
  line = decoded_;
  return true;
}

std::size_t CsvRecords::find_line_end(std::size_t from) {
  if (!dialect_.multiline) return find({buffer_.data(), end_}, '\n', from);
  for (std::size_t at = from; at < end_; ++at) {
    const char c = buffer_[at];
    if (c == '\n' && state_ != ParseState::quoted) return at;
    switch (state_) {
      case ParseState::field_start:
      case ParseState::unquoted:
        if (c == dialect_.delimiter) {
          state_ = ParseState::field_start;
        } else if (c == '"') {
          state_ = state_ == ParseState::field_start ? ParseState::quoted : ParseState::broken;
        } else {
          state_ = ParseState::unquoted;
        }
        break;
      case ParseState::quoted:
        if (c == '"') state_ = ParseState::after_quote;
        break;
      case ParseState::after_quote:
        if (c == '"') {
          state_ = ParseState::quoted;
        } else {
          // A broken record, like any other, ends at the next line end: the carriage return of a
          // CRLF needs no case of its own.
          state_ = c == dialect_.delimiter ? ParseState::field_start : ParseState::broken;
        }
        break;
      case ParseState::broken:
        break;
    }
  }
  return kNowhere;
}

bool CsvRecords::refill() {
  if (exhausted_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const std::size_t got = read_(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  exhausted_ = got == 0;
  return !exhausted_;
}

bool CsvRecords::add_field(std::string_view field) {
  fields_.push_back(field);
  return expected_ == 0 || fields_.size() <= expected_;
}

bool CsvRecords::split(std::string_view line) {
  if (find(line, '"', 0) != kNowhere) return split_quoted(line);
  std::size_t begin = 0;
  const std::size_t size = line.size();
  for (std::size_t at = 0; at < size; ++at) {
    if (line[at] != dialect_.delimiter) continue;
    if (!add_field(line.substr(begin, at - begin))) return false;
    begin = at + 1;
  }
  return add_field(line.substr(begin));
}

bool CsvRecords::split_quoted(std::string_view line) {
  unquoted_.clear();
  // Views into it are handed out below, so it must not move.
  unquoted_.reserve(line.size());
  std::size_t at = 0;
  for (;;) {
    if (at < line.size() && line[at] == '"') {
      if (!take_quoted_field(line, at)) return false;
    } else {
      const std::size_t end = std::min(find(line, dialect_.delimiter, at), line.size());
      const std::string_view field = line.substr(at, end - at);
      if (find(field, '"', 0) != kNowhere) return false;
      if (!add_field(field)) return false;
      at = end;
    }
    if (at == line.size()) return true;
    if (line[at] != dialect_.delimiter) return false;
    ++at;
  }
}

bool CsvRecords::take_quoted_field(std::string_view line, std::size_t& at) {
  const std::size_t begin = unquoted_.size();
  ++at;
  for (;;) {
    const std::size_t quote = find(line, '"', at);
    if (quote == kNowhere) return false;
    unquoted_.append(line, at, quote - at);
    at = quote + 1;
    if (at >= line.size() || line[at] != '"') break;
    unquoted_ += '"';
    ++at;
  }
  return add_field(std::string_view(unquoted_).substr(begin));
}

}  // namespace epsilog::engine
