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

HtmlCell time_cell(std::string_view text) {
  const std::size_t gap = text.find(' ');
  const auto kept_together = [](std::string_view part) {
    return "<span class=\"w\">" + html(part) + "</span>";
  };
  if (gap == std::string_view::npos) return {kept_together(text), HtmlCell::Kind::text};
  return {kept_together(text.substr(0, gap)) + " " + kept_together(text.substr(gap + 1)),
          HtmlCell::Kind::text};
}

HtmlCell lines_cell(const std::vector<std::string>& lines) {
  HtmlCell cell;
  for (const std::string& line : lines) cell.markup += (cell.markup.empty() ? "" : "<br/>") + html(line);
  return cell;
}

HtmlTable::HtmlTable(PageSink sink, std::initializer_list<const char*> headings)
    : sink_(std::move(sink)), headings_(headings) {}

void HtmlTable::begin(const std::vector<HtmlCell>& cells) {
  if (begun_) return;
  begun_ = true;
  std::string head = "<div class=\"t\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    const bool numbers = i < cells.size() && cells[i].kind == HtmlCell::Kind::number;
    head += std::string("<th scope=\"col\"") + (numbers ? class_of(HtmlCell::Kind::number) : "") + ">" +
            html(headings_[i]) + "</th>";
  }
  sink_(head + "</tr></thead>\n<tbody>\n");
}

void HtmlTable::row(const std::vector<HtmlCell>& cells) {
  EPSILOG_INVARIANT(cells.size() == headings_.size());
  begin(cells);
  std::string text = "<tr>";
  for (const HtmlCell& cell : cells) {
    text += "<td" + std::string(class_of(cell.kind)) + ">" + cell.markup + "</td>";
  }
  sink_(text + "</tr>\n");
}

void HtmlTable::end() {
  begin({});
  sink_("</tbody>\n</table></div>\n");
}

std::string html_fact(std::string_view name, const HtmlCell& fact) {
  return "<dt>" + html(name) + "</dt><dd" + class_of(fact.kind) + ">" + fact.markup + "</dd>\n";
}

}  // namespace epsilog::command
