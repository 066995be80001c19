// Text and tables of a page of HTML that is XML as well. Whatever comes from elsewhere goes through html().
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace epsilog::command {

/// Where a page is written, in the order in which it is read.
using PageSink = std::function<void(std::string_view)>;

/// Text as it stands between tags and in quoted attributes: printable(), which shows control characters, what
/// reverses the direction of writing and bytes that are not UTF-8, and no character of HTML left.
[[nodiscard]] std::string html(std::string_view text);

/// A cell: html() of a text, and how it stands.
struct HtmlCell {
  enum class Kind {
    text,
    number,  ///< to the right
    code,    ///< an id or hash, in a fixed width
  };
  std::string markup;
  Kind kind = Kind::text;
};
[[nodiscard]] HtmlCell text_cell(std::string_view text);
[[nodiscard]] HtmlCell number_cell(std::string_view text);
[[nodiscard]] HtmlCell code_cell(std::string_view text);
/// A date, and perhaps a time after a space: neither is broken.
[[nodiscard]] HtmlCell time_cell(std::string_view text);
/// Each text on a line of its own.
[[nodiscard]] HtmlCell lines_cell(const std::vector<std::string>& lines);

/// A table that is written row by row: nothing of it is kept.
class HtmlTable final {
 public:
  /// Headings are ours: no text of elsewhere.
  HtmlTable(PageSink sink, std::initializer_list<const char*> headings);
  HtmlTable(const HtmlTable&) = delete;
  HtmlTable& operator=(const HtmlTable&) = delete;

  /// Requires  as many cells as headings. The heading of a column stands as the cell below it.
  void row(const std::vector<HtmlCell>& cells);
  /// Ends it.
  /// Requires  not ended yet.
  void end();

 private:
  /// Writes the headings, once.
  void begin(const std::vector<HtmlCell>& cells);

  PageSink sink_;
  std::vector<const char*> headings_;
  bool begun_ = false;
};

/// `<dt>…</dt><dd>…</dd>` of a list of facts.
[[nodiscard]] std::string html_fact(std::string_view name, const HtmlCell& fact);

}  // namespace epsilog::command
