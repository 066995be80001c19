#include "policy_fields.hpp"

#include <algorithm>
#include <unordered_set>

#include "epsilog/engine/nearest.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

constexpr std::size_t kTextMax = 1024;
constexpr std::size_t kNameMax = 64;
constexpr std::size_t kNumberMax = 400;
constexpr const char* kNumberGrammar = " is not a number: write it as 0.25, 1e-6 or 1/3";

std::string_view kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::scalar:
      return "a single value";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::map:
      return "a map";
    case Node::Kind::refused:
      break;
  }
  return "nothing";
}

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string section_name(std::string_view path, const Faults& faults) {
  return path.empty() ? "the " + faults.document() : std::string(path);
}

/// 010 is eight to some YAML readers and ten to others.
bool has_leading_zero(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && is_digit(text[1]);
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

}  // namespace

Fields::Fields(const Node& node, const KeyTable& table, std::string path, const Mark& owner, Faults& faults)
    : node_(node), path_(std::move(path)), owner_(owner) {
  const std::vector<std::string> names = table.names();
  if (!expect(node, Node::Kind::map, section_name(path_, faults), "a map with the keys " + comma_list(names),
              faults))
    return;
  for (const yaml::Entry& entry : node.entries) {
    if (table.find(entry.key) != nullptr) continue;
    misspelled_.push_back(nearest(entry.key, names));
    const std::string allowed =
        " in " + section_name(path_, faults) + "; allowed: " + comma_list(names) + ".";
    if (keys::is_of_a_later_version(entry.key)) {
      faults.add(entry.mark,
                 "the key " + quoted_excerpt(entry.key) + " is not supported by this version" + allowed);
    } else {
      faults.add(entry.mark,
                 "unknown key " + quoted_excerpt(entry.key) + allowed + faults.suggestion(entry.key, names));
    }
  }
  for (const Key& key : table.keys) {
    if (!key.required || !lacks(key.name)) continue;
    faults.add(owner_, section_name(path_, faults) + ": the key '" + std::string(key.name) +
                           "' is missing; write " + std::string(key.hint));
  }
}

const Node* Fields::operator[](std::string_view key) const {
  const Node* node = node_.find(key);
  return node != nullptr && node->kind != Node::Kind::refused ? node : nullptr;
}

Mark Fields::mark_of(std::string_view key) const {
  for (const yaml::Entry& entry : node_.entries) {
    if (entry.key == key) return entry.mark;
  }
  return owner_;
}

std::string Fields::path(std::string_view key) const {
  if (key.empty()) return path_;
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

bool Fields::lacks(std::string_view key) const {
  // A slip in a key that is needed is one mistake, not an unknown and a missing key.
  return node_.kind == Node::Kind::map && !has(key) &&
         std::find(misspelled_.begin(), misspelled_.end(), key) == misspelled_.end();
}

bool expect(const Node& node, Node::Kind kind, std::string_view what, std::string_view expected,
            Faults& faults) {
  if (node.kind == kind) return true;
  if (node.kind != Node::Kind::refused) {
    const std::string found =
        node.kind == Node::Kind::scalar ? quoted_excerpt(node.text) : std::string(kind_name(node.kind));
    faults.add(node.mark, std::string(what) + ": expected " + std::string(expected) + ", found " + found);
  }
  return false;
}

std::optional<std::string> text_of(const Node& node, std::string_view what, Faults& faults,
                                   bool may_be_empty) {
  if (!expect(node, Node::Kind::scalar, what, "a text", faults)) return std::nullopt;
  std::string problem;
  if (node.text.empty() && !may_be_empty) problem = "must not be empty";
  if (node.text.size() > kTextMax) problem = "is longer than " + std::to_string(kTextMax) + " bytes";
  if (has_control_character(node.text)) problem = "has a control character";
  if (problem.empty()) return node.text;
  faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(node.text) + " " + problem);
  return std::nullopt;
}

std::optional<bool> truth_of(const Node& node, std::string_view what, Faults& faults) {
  if (!expect(node, Node::Kind::scalar, what, "true or false", faults)) return std::nullopt;
  if (!node.quoted && node.text == "true") return true;
  if (!node.quoted && node.text == "false") return false;
  faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(node.text) + " is not true or false" +
                            (node.quoted ? " (without quotes)" : ""));
  return std::nullopt;
}

std::optional<std::uint64_t> count_of(const Node& node, std::string_view what, Faults& faults) {
  if (!expect(node, Node::Kind::scalar, what, "a whole number", faults)) return std::nullopt;
  constexpr std::uint64_t kCountMax = 1'000'000'000'000;
  const bool digits = !node.text.empty() && std::all_of(node.text.begin(), node.text.end(), is_digit);
  // Thirteen digits hold 10^12 and cannot overflow.
  if (digits && node.text[0] != '0' && node.text.size() <= 13) {
    const std::uint64_t value = std::stoull(node.text);
    if (value <= kCountMax) return value;
  }
  faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(node.text) +
                            " is not a whole number from 1 to 1000000000000, written in digits");
  return std::nullopt;
}

std::optional<Rational> number_of(const Node& node, std::string_view what, Faults& faults) {
  if (!expect(node, Node::Kind::scalar, what, "a number", faults)) return std::nullopt;
  const std::string& text = node.text;
  const auto refuse = [&](const std::string& why) {
    faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(text) + why);
    return std::nullopt;
  };
  // Foreign characters are refused here, so that only printable ASCII gets into other messages.
  const bool plausible = std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || c == '.' || c == '/' || c == '-' || c == '+' || c == 'e' || c == 'E';
  });
  if (text.empty() || !plausible) return refuse(kNumberGrammar);
  if (text.size() > kNumberMax)
    return refuse(" is longer than " + std::to_string(kNumberMax) + " characters");
  if (has_leading_zero(text)) return refuse(" has a leading zero: remove it");
  try {
    return accounting::parse_rational(text, what);
  } catch (const InvalidParameter& error) {
    faults.add(node.mark, error.what());
    return std::nullopt;
  }
}

std::optional<Rational> positive_of(const Node& node, std::string_view what, Faults& faults) {
  std::optional<Rational> value = number_of(node, what, faults);
  if (!value || *value > 0) return value;
  faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(node.text) + " is not above 0");
  return std::nullopt;
}

std::optional<Rational> probability_of(const Node& node, std::string_view what, Faults& faults) {
  std::optional<Rational> value = number_of(node, what, faults);
  if (!value || (*value > 0 && *value < 1)) return value;
  faults.add(node.mark,
             std::string(what) + ": " + quoted_excerpt(node.text) + " is not between 0 and 1, both excluded");
  return std::nullopt;
}

template <class Quantity>
std::optional<Quantity> amount_of(const Node& node, std::string_view what, Faults& faults) {
  const std::optional<Rational> value = positive_of(node, what, faults);
  if (!value) return std::nullopt;
  try {
    const Quantity amount = Quantity::from_rational_down(*value);
    if (amount.units() > 0) return amount;
    faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(node.text) +
                              " is below the smallest amount kept, " + Quantity::from_units(1).text());
  } catch (const InvalidParameter&) {
    faults.add(node.mark,
               std::string(what) + ": " + quoted_excerpt(node.text) + " is above the largest amount kept");
  }
  return std::nullopt;
}
template std::optional<Epsilon> amount_of<Epsilon>(const Node&, std::string_view, Faults&);
template std::optional<Delta> amount_of<Delta>(const Node&, std::string_view, Faults&);
template std::optional<Rho> amount_of<Rho>(const Node&, std::string_view, Faults&);

std::optional<std::int64_t> duration_of(const Node& node, std::string_view what, Faults& faults) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  constexpr std::int64_t kLeast = kMinute, kMost = 365 * kDay;
  constexpr std::size_t kDigitsMax = 9;
  if (!expect(node, Node::Kind::scalar, what, "a duration, 90m, 72h or 7d", faults)) return std::nullopt;
  const std::string_view text = node.text;
  const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  const bool whole = !digits.empty() && digits.size() <= kDigitsMax && digits[0] != '0' &&
                     std::all_of(digits.begin(), digits.end(), is_digit);
  const std::size_t unit = text.empty() ? std::string_view::npos : std::string_view("smhd").find(text.back());
  if (!whole || unit == std::string_view::npos) {
    faults.add(node.mark,
               std::string(what) + ": " + quoted_excerpt(text) +
                   " is not a duration: write a whole number and s, m, h or d, as in 90m, 72h or 7d");
    return std::nullopt;
  }
  constexpr std::int64_t kSeconds[] = {1, kMinute, kHour, kDay};
  const std::int64_t seconds = std::stoll(std::string(digits)) * kSeconds[unit];
  if (seconds >= kLeast && seconds <= kMost) return seconds;
  faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(text) + " is not from 1m to 365d");
  return std::nullopt;
}

std::optional<Bounds> bounds_of(const Node& node, std::string_view what, Faults& faults) {
  if (!expect(node, Node::Kind::sequence, what, "[LOWER, UPPER]", faults)) return std::nullopt;
  if (node.items.size() != 2) {
    faults.add(node.mark, std::string(what) + ": expected [LOWER, UPPER], found a list of " +
                              std::to_string(node.items.size()));
    return std::nullopt;
  }
  const std::optional<Rational> lower = number_of(node.items[0], what, faults);
  const std::optional<Rational> upper = number_of(node.items[1], what, faults);
  if (!lower || !upper) return std::nullopt;
  if (*lower < *upper) return Bounds{*lower, *upper};
  faults.add(node.mark, std::string(what) + ": the lower bound " + node.items[0].text +
                            " is not below the upper bound " + node.items[1].text);
  return std::nullopt;
}

std::optional<std::size_t> choice_of(const Node& node, const Vocabulary& vocabulary, std::string_view what,
                                     Faults& faults) {
  const std::string allowed = comma_list(vocabulary.words);
  if (!expect(node, Node::Kind::scalar, what, "one of " + allowed, faults)) return std::nullopt;
  const auto found = std::find(vocabulary.words.begin(), vocabulary.words.end(), node.text);
  if (found != vocabulary.words.end()) return static_cast<std::size_t>(found - vocabulary.words.begin());
  faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(node.text) + " is not one of " + allowed +
                            "." + faults.suggestion(node.text, vocabulary.words));
  return std::nullopt;
}

std::vector<std::string> names_of(const Node& node, std::string_view what, Faults& faults,
                                  const std::function<bool(const Node&)>& accept) {
  std::vector<std::string> names;
  if (!expect(node, Node::Kind::sequence, what, "a list of names", faults)) return names;
  std::unordered_set<std::string> seen;
  for (const Node& item : node.items) {
    const auto name = text_of(item, what, faults);
    if (!name || !accept(item)) continue;
    if (seen.insert(*name).second) {
      names.push_back(*name);
    } else {
      faults.add(item.mark, std::string(what) + ": " + quoted_excerpt(*name) + " is listed twice");
    }
  }
  return names;
}

bool expect_name(std::string_view name, const Mark& mark, std::string_view kind, Faults& faults) {
  const bool well_formed =
      !name.empty() && name.size() <= kNameMax && is_letter(name[0]) &&
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
  if (well_formed) return true;
  faults.add(mark, std::string(kind) + " name " + quoted_excerpt(name) +
                       ": use letters, digits and _, not starting with a digit, at most " +
                       std::to_string(kNameMax) + " characters");
  return false;
}

}  // namespace epsilog::engine
