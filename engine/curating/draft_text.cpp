#include "draft_text.hpp"

#include <algorithm>
#include <array>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/checked_policy.hpp"
#include "policy_decoder.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kNameLengthMax = 64;

/// The letters of latin-1 from U+00C0 on as they are written where there is none of them.
constexpr std::array<std::string_view, 64> kLatinLetters = {
    "A", "A", "A", "A", "Ae", "A", "Ae", "C", "E", "E", "E", "E", "I",  "I", "I",  "I",
    "D", "N", "O", "O", "O",  "O", "Oe", "_", "O", "U", "U", "U", "Ue", "Y", "Th", "ss",
    "a", "a", "a", "a", "ae", "a", "ae", "c", "e", "e", "e", "e", "i",  "i", "i",  "i",
    "d", "n", "o", "o", "o",  "o", "oe", "_", "o", "u", "u", "u", "ue", "y", "th", "y"};

/// Letters and digits; every other character is a `_`.
std::string in_ascii(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool digit = byte >= '0' && byte <= '9';
    const bool letter = (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
    if (digit || letter) {
      result += text[at];
    } else if (byte == 0xC3 && at + 1 < text.size()) {  // U+00C0 to U+00FF
      result += kLatinLetters[static_cast<unsigned char>(text[++at]) & 0x3FU];
    } else if ((byte & 0xC0U) != 0x80U) {
      result += '_';
    }
  }
  return result;
}

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

PolicyDraft DraftText::finish() {
  try {
    static_cast<void>(checked_policy(draft_.yaml, "the draft"));
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
  std::string name;
  bool legible = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    legible = legible || digit || letter;
    if (digit && name.empty()) name += '_';
    name += digit || letter ? c : '_';
  }
  return legible ? name.substr(0, kNameLengthMax) : std::string(fallback);
}

std::string column_name_from(std::string_view header) {
  std::string name;
  for (const char c : in_ascii(header)) {
    // What cannot be in a name ends a word.
    if (c != '_' || (!name.empty() && name.back() != '_')) name += c;
  }
  while (name.ends_with('_')) name.pop_back();
  if (name.empty()) return "column";
  if (name[0] >= '0' && name[0] <= '9') name.insert(0, "_");
  name.resize(std::min(name.size(), kNameLengthMax));
  return is_column_name(name) ? name : name + "_column";
}

std::string distinct_name(const std::string& name, std::set<std::string>& taken) {
  std::string candidate = name;
  for (std::size_t number = 2; !taken.insert(candidate).second; ++number) {
    const std::string suffix = "_" + std::to_string(number);
    candidate = name.substr(0, kNameLengthMax - suffix.size()) + suffix;
  }
  return candidate;
}

bool is_column_header(std::string_view header) {
  constexpr std::size_t kBytesMax = 1024;  // of a text in a policy
  return !header.empty() && header.size() <= kBytesMax &&
         std::none_of(header.begin(), header.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace epsilog::engine
