// Splits bytes into CSV records and fields (RFC 4180), streaming and in bounded memory.
//
// Without `multiline` a record is one physical line, whatever is in it, so that no record can change
// how another is read. Malformed: a quote that opens inside a field, is not closed, or is followed by
// anything but a delimiter; bytes that are none of the encoding; more than kRecordSizeMax bytes; once their
// number is known, more or fewer fields. Thread-safety: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/callback.hpp"
#include "epsilog/engine/source_dialect.hpp"

namespace epsilog::engine {

class CsvRecords final {
 public:
  static constexpr std::size_t kRecordSizeMax = std::size_t{16} << 20;

  struct Dialect {
    char delimiter = ',';
    bool multiline = false;  ///< a quoted field may contain line ends
    Encoding encoding = Encoding::utf_8;
  };
  /// Puts up to `size` bytes at `data`, returns how many; 0 at the end.
  using Read = accounting::Callback<std::size_t(char* data, std::size_t size)>;

  CsvRecords(Dialect dialect, Read read);

  /// Moves to the next record; false at the end. A line end is LF or CRLF, and optional after the
  /// last record; under UTF-8 a byte order mark before the first record is no part of it.
  bool next();
  /// The line at which the record begins, from 1.
  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
  [[nodiscard]] bool malformed() const noexcept { return malformed_; }
  /// From the next record on another number of fields is malformed. A line of nothing but delimiters then
  /// takes no more memory than another.
  void expect_fields(std::size_t count) { expected_ = count; }
  /// The fields of a record that is not malformed, unquoted and in UTF-8; an empty line has one empty field.
  /// Valid until next().
  [[nodiscard]] const std::vector<std::string_view>& fields() const noexcept { return fields_; }

 private:
  enum class ParseState { field_start, unquoted, quoted, after_quote, broken };

  void skip_byte_order_mark();
  [[nodiscard]] bool take_line(std::string_view& line, bool& overlong);
  void count_line_ends(std::string_view within_a_record);
  /// The same in UTF-8; false if it is none of the encoding.
  [[nodiscard]] bool decode(std::string_view& line);
  [[nodiscard]] std::size_t find_line_end(std::size_t from);
  [[nodiscard]] bool refill();
  /// False, soon, when there are more than expected.
  [[nodiscard]] bool add_field(std::string_view field);
  [[nodiscard]] bool split(std::string_view line);
  [[nodiscard]] bool split_quoted(std::string_view line);
  [[nodiscard]] bool take_quoted_field(std::string_view line, std::size_t& at);

  Dialect dialect_;
  Read read_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool exhausted_ = false;
  bool first_ = true;
  ParseState state_ = ParseState::field_start;
  bool malformed_ = false;
  std::size_t expected_ = 0;  ///< 0: any number
  std::vector<std::string_view> fields_;
  std::uint64_t line_ = 0;
  std::uint64_t next_line_ = 1;
  std::string decoded_;   ///< the record, where its bytes are not UTF-8 already
  std::string unquoted_;  ///< fields whose doubled quotes had to be undone
};

}  // namespace epsilog::engine
