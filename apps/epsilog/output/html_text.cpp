#include "html_text.hpp"

#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "printable.hpp"

namespace epsilog::command {
namespace {

const char* class_of(HtmlCell::Kind kind) {
  switch (kind) {
    case HtmlCell::Kind::text:
      return "";
    case HtmlCell::Kind::number:
      return " class=\"n\"";
    case HtmlCell::Kind::code:
      return " class=\"c\"";
  }
  EPSILOG_INVARIANT(false);
}

std::string escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {c};
  }
}

}  // namespace

std::string html(std::string_view text) {
  constexpr std::string_view kNoneAtAll = "\xEF\xBF";  // of U+FFFE and U+FFFF, which no XML has
  const std::string shown = printable(text);
  std::string escaped;
  for (std::size_t at = 0; at < shown.size(); ++at) {
    const bool none = shown.compare(at, kNoneAtAll.size(), kNoneAtAll) == 0 && at + 2 < shown.size() &&
                      (shown[at + 2] == '\xBE' || shown[at + 2] == '\xBF');
    if (none) {
      escaped += shown[at + 2] == '\xBE' ? "\\ufffe" : "\\uffff";
      at += 2;
      continue;
    }
    escaped += escape_of(shown[at]);
  }
  return escaped;
}

HtmlCell text_cell(std::string_view text) {
  return {html(text), HtmlCell::Kind::text};
}

HtmlCell number_cell(std::string_view text) {
  return {html(text), HtmlCell::Kind::number};
}

HtmlCell code_cell(std::string_view text) {
  return {html(text), HtmlCell::Kind::code};
}

HtmlCell lines_cell(const std::vector<std::string>& lines) {
  HtmlCell cell;
  for (const std::string& line : lines) cell.markup += (cell.markup.empty() ? "" : "<br/>") + html(line);
  return cell;
}

HtmlTable::HtmlTable(PageSink sink, std::initializer_list<const char*> headings)
    : sink_(std::move(sink)), columns_(headings.size()) {
  std::string head = "<div class=\"t\"><table>\n<thead><tr>";
  for (const char* heading : headings) head += "<th scope=\"col\">" + html(heading) + "</th>";
  sink_(head + "</tr></thead>\n<tbody>\n");
}

void HtmlTable::row(const std::vector<HtmlCell>& cells) {
  EPSILOG_INVARIANT(cells.size() == columns_);
  std::string text = "<tr>";
  for (const HtmlCell& cell : cells) {
    text += "<td" + std::string(class_of(cell.kind)) + ">" + cell.markup + "</td>";
  }
  sink_(text + "</tr>\n");
}

void HtmlTable::end() {
  sink_("</tbody>\n</table></div>\n");
}

std::string html_fact(std::string_view name, const HtmlCell& fact) {
  return "<dt>" + html(name) + "</dt><dd" + class_of(fact.kind) + ">" + fact.markup + "</dd>\n";
}

}  // namespace epsilog::command
