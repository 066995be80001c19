#include "epsilog/ledger/canonical_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/json_writer.hpp"

namespace epsilog::ledger {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Without leading zero.
bool is_natural(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit) &&
         (text.front() != '0' || text == "0");
}

/// Nothing that is not UTF-8 has a JSON text.
bool is_utf8(std::string_view bytes) {
  std::string unused;
  return append_json_string(unused, bytes);
}

}  // namespace

/// Takes one way through the line, and each byte for what the grammar has there.
class CanonicalReader final {
 public:
  explicit CanonicalReader(std::string_view line) : line_(line) {}

  JsonValue read_all() {
    if (line_.size() > kLineBytesMax) fail("is too long");
    JsonValue value = read(0);
    if (at_ != line_.size()) fail("something follows the value");
    return value;
  }

 private:
  using Kind = JsonValue::Kind;

  [[noreturn]] void fail(std::string_view what) const {
    throw LedgerCorrupt("canonical JSON, byte " + std::to_string(at_) + ": " + std::string(what));
  }
  [[nodiscard]] char next() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  /// '\0' is never wanted, so that the end is none of what is.
  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (line_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  JsonValue read(unsigned depth) {
    JsonValue value;
    if (next() == '"') {
      value.kind_ = Kind::string;
      value.text_ = string();
    } else if (is_digit(next())) {
      value.kind_ = Kind::count;
      value.count_ = count();
    } else if (take('{')) {
      object(value, depth);
    } else if (take('[')) {
      array(value, depth);
    } else {
      value.kind_ = Kind::truth;
      value.count_ = take("true") ? 1 : 0;
      if (value.count_ == 0 && !take("false")) fail("no value begins here");
    }
    return value;
  }

  void object(JsonValue& value, unsigned depth) {
    value.kind_ = Kind::object;
    if (depth == kLineDepthMax) fail("is nested too deeply");
    if (take('}')) return;
    do {
      std::string name = this->name();
      if (!value.names_.empty() && name <= value.names_.back()) {
        fail(name == value.names_.back() ? "a name appears twice" : "names are not in order");
      }
      if (!take(':')) fail("a colon is missing");
      value.names_.push_back(std::move(name));
      value.items_.push_back(read(depth + 1));
    } while (take(','));
    if (!take('}')) fail("an object goes on with a comma or ends with a brace");
  }

  void array(JsonValue& value, unsigned depth) {
    value.kind_ = Kind::array;
    if (depth == kLineDepthMax) fail("is nested too deeply");
    if (take(']')) return;
    do {
      value.items_.push_back(read(depth + 1));
    } while (take(','));
    if (!take(']')) fail("an array goes on with a comma or ends with a bracket");
  }

  std::string name() {
    if (next() != '"') fail("a name is missing");
    std::string name = string();
    if (!is_plain_json(name)) fail("a name is not plain ASCII");
    return name;
  }

  std::string string() {
    const std::size_t begin = at_++;
    while (next() != '"') {
      if (at_ + 2 > line_.size()) fail("a string does not end");
      at_ += next() == '\\' ? 2 : 1;
    }
    ++at_;
    const std::string_view token = line_.substr(begin, at_ - begin);
    const std::string_view inner = token.substr(1, token.size() - 2);
    if (is_plain_json(inner)) return std::string(inner);
    // What it says is written again: one text for each string, whatever escapes and encodings there are.
    const auto said = nlohmann::json::parse(token.begin(), token.end(), nullptr, false);
    std::string written;
    if (!said.is_string()) fail("a string before this is none");
    std::string text = said.get<std::string>();
    if (!append_json_string(written, text) || written != token)
      fail("a string before this is written otherwise");
    return text;
  }

  std::uint64_t count() {
    const std::size_t begin = at_;
    while (is_digit(next())) ++at_;
    const std::string_view digits = line_.substr(begin, at_ - begin);
    constexpr std::size_t kDigitsMax = 16;
    if (!is_natural(digits)) fail("a number begins with zero");
    std::uint64_t value = 0;
    if (digits.size() <= kDigitsMax) {
      for (const char digit : digits) value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    if (digits.size() > kDigitsMax || value > kJsonCountMax) fail("a number is too large");
    return value;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

void JsonValue::require(Kind kind) const {
  constexpr std::array kWords{"an object", "an array", "a string", "a number", "true or false"};
  if (kind_ != kind) {
    throw LedgerCorrupt(std::string("is ") + kWords.at(static_cast<std::size_t>(kind_)) + ", not " +
                        kWords.at(static_cast<std::size_t>(kind)));
  }
}

const std::string& JsonValue::text() const {
  require(Kind::string);
  return text_;
}

std::string JsonValue::bytes() const {
  if (kind_ == Kind::string) return text_;
  const std::string& hex = at("hex").text();
  const auto digit = [](char c) {
    if (is_digit(c)) return c - '0';
    if (c < 'a' || c > 'f') throw LedgerCorrupt("hex has other characters than 0-9 and a-f");
    return c - 'a' + 10;
  };
  if (names_.size() != 1 || hex.size() % 2 != 0) throw LedgerCorrupt("hex does not stand for bytes");
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  if (is_utf8(bytes)) throw LedgerCorrupt("hex stands for a text");
  return bytes;
}

accounting::Rational JsonValue::quantity() const {
  return accounting::parse_canonical_rational(text(), "quantity");
}

std::uint64_t JsonValue::count() const {
  require(Kind::count);
  return count_;
}

bool JsonValue::truth() const {
  require(Kind::truth);
  return count_ != 0;
}

const std::vector<JsonValue>& JsonValue::items() const {
  require(Kind::array);
  return items_;
}

const std::vector<std::string>& JsonValue::names() const {
  require(Kind::object);
  return names_;
}

const JsonValue* JsonValue::find(std::string_view name) const {
  require(Kind::object);
  const auto found = std::lower_bound(names_.begin(), names_.end(), name);
  if (found == names_.end() || *found != name) return nullptr;
  return &items_[static_cast<std::size_t>(found - names_.begin())];
}

const JsonValue& JsonValue::at(std::string_view name) const {
  const JsonValue* found = find(name);
  if (found == nullptr) throw LedgerCorrupt("has no " + std::string(name));
  return *found;
}

JsonValue parse_canonical(std::string_view line) {
  return CanonicalReader(line).read_all();
}

}  // namespace epsilog::ledger
