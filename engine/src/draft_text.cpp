#include "draft_text.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "policy_decoder.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {
namespace {

std::string margin(int depth) {
  return std::string(static_cast<std::size_t>(depth) * 2, ' ');
}

}  // namespace

void DraftText::append(const std::string& lines) {
  draft_.yaml += lines;
  lines_ += static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
}

void DraftText::line(int depth, std::string_view yaml) {
  append(margin(depth) + std::string(yaml) + "\n");
}

void DraftText::explain(int depth, std::string_view text) {
  append(text.empty() ? margin(depth) + "#\n" : yaml::comment(text, margin(depth)));
}

void DraftText::todo(int depth, const std::string& message) {
  draft_.todos.push_back({lines_ + 1, message});
  append(yaml::comment("TODO: " + message, margin(depth)));
}

void DraftText::note(int depth, const std::string& message) {
  draft_.notes.push_back({lines_ + 1, message});
  append(yaml::comment("NOTE: " + message, margin(depth)));
}

void DraftText::commented_out(int depth, std::string_view yaml) {
  append(yaml::comment(yaml, margin(depth), std::string::npos));
}

PolicyDraft DraftText::finish() {
  try {
    static_cast<void>(Policy::parse(draft_.yaml, "the draft"));
    draft_.valid = true;
  } catch (const PolicyError&) {
    draft_.valid = false;
  }
  return std::move(draft_);
}

void write_release(DraftText& out) {
  out.explain(2, "Counts are whole numbers: noise of whole numbers is smaller for them than the default.");
  out.line(2, "release: {count: {mechanism: discrete_laplace}, units: {mechanism: discrete_laplace}}");
}

std::string dataset_name_from(std::string_view text, std::string_view fallback) {
  constexpr std::size_t kLengthMax = 64;
  std::string name;
  bool legible = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    legible = legible || digit || letter;
    if (digit && name.empty()) name += '_';
    name += digit || letter ? c : '_';
  }
  return legible ? name.substr(0, kLengthMax) : std::string(fallback);
}

std::string column_name_from(std::string_view text) {
  const std::string name = dataset_name_from(text, "column");
  return is_column_name(name) ? name : name + "_column";
}

}  // namespace epsilog::engine
