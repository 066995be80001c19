#include "epsilog/ledger/canonical_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "canonical_tokens.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/json_writer.hpp"

namespace epsilog::ledger {

/// Takes one way through the line, and each byte for what the grammar has there.
class CanonicalReader final {
 public:
  explicit CanonicalReader(std::string_view line) : tokens_(line) {
    if (line.size() > kLineBytesMax) tokens_.fail("is too long");
  }

  JsonValue read_all(unsigned depth) {
    JsonValue value = read(depth);
    if (!tokens_.done()) tokens_.fail("something follows the value");
    return value;
  }

 private:
  using Kind = JsonValue::Kind;

  JsonValue read(unsigned depth) {
    JsonValue value;
    if (tokens_.next() == '"') {
      value.kind_ = Kind::string;
      value.text_ = tokens_.string(decoded_);
    } else if (is_digit(tokens_.next())) {
      value.kind_ = Kind::count;
      value.count_ = tokens_.count();
    } else if (tokens_.take('{')) {
      object(value, depth);
    } else if (tokens_.take('[')) {
      array(value, depth);
    } else {
      value.kind_ = Kind::truth;
      value.count_ = tokens_.take("true") ? 1 : 0;
      if (value.count_ == 0 && !tokens_.take("false")) tokens_.fail("no value begins here");
    }
    return value;
  }

  void object(JsonValue& value, unsigned depth) {
    value.kind_ = Kind::object;
    if (depth == kLineDepthMax) tokens_.fail("is nested too deeply");
    if (tokens_.take('}')) return;
    do {
      std::string name = this->name();
      if (!value.names_.empty() && name <= value.names_.back()) {
        tokens_.fail(name == value.names_.back() ? "a name appears twice" : "names are not in order");
      }
      if (!tokens_.take(':')) tokens_.fail("a colon is missing");
      value.names_.push_back(std::move(name));
      value.items_.push_back(read(depth + 1));
    } while (tokens_.take(','));
    if (!tokens_.take('}')) tokens_.fail("an object goes on with a comma or ends with a brace");
  }

  void array(JsonValue& value, unsigned depth) {
    value.kind_ = Kind::array;
    if (depth == kLineDepthMax) tokens_.fail("is nested too deeply");
    if (tokens_.take(']')) return;
    do {
      value.items_.push_back(read(depth + 1));
    } while (tokens_.take(','));
    if (!tokens_.take(']')) tokens_.fail("an array goes on with a comma or ends with a bracket");
  }

  std::string name() {
    if (tokens_.next() != '"') tokens_.fail("a name is missing");
    std::string name(tokens_.string(decoded_));
    if (!is_plain_json(name)) tokens_.fail("a name is not plain ASCII");
    return name;
  }

  CanonicalTokens tokens_;
  std::string decoded_;  // of a string with escapes
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
  if (names_.size() != 1) throw LedgerCorrupt("hex does not stand for bytes");
  return bytes_of_hex(hex);
}

accounting::Rational JsonValue::quantity() const {
  if (text().size() > kQuantityCharactersMax) throw LedgerCorrupt("quantity: is longer than any quantity");
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

JsonValue parse_canonical(std::string_view line, unsigned depth) {
  return CanonicalReader(line).read_all(depth);
}

}  // namespace epsilog::ledger
