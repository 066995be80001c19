#include "body_object.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "epsilog/engine/nearest.hpp"

namespace epsilog::serve {
namespace {

using Kind = BodyValue::Kind;
using Parser = nlohmann::json;

constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kMembersMax = 256;
constexpr std::size_t kValuesMax = 32'768;
constexpr std::size_t kShownMax = 60;

std::string quoted_name(std::string_view name) {
  return "'" + std::string(name.substr(0, kShownMax)) + "'";
}

/// Builds the value from what the parser meets; false ends the parse.
class Builder final : public nlohmann::json_sax<Parser> {
 public:
  explicit Builder(BodyValue& root) : root_(root) {}
  [[nodiscard]] const std::string& fault() const { return fault_; }

  bool null() override { return add({Kind::null, "null", {}, {}}); }
  bool boolean(bool value) override { return add({Kind::boolean, value ? "true" : "false", {}, {}}); }
  bool number_integer(std::int64_t value) override { return number(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) override { return number(std::to_string(value)); }
  bool number_float(double, const std::string& text) override { return number(text); }
  bool string(std::string& value) override { return add({Kind::string, std::move(value), {}, {}}); }
  bool binary(Parser::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    std::vector<std::string>& names = open_.back()->names;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return fail(quoted_name(name) + " stands there twice");
    }
    if (names.size() == kMembersMax) return fail("it has an object of more members than any request");
    names.push_back(std::move(name));
    return true;
  }
  bool parse_error(std::size_t place, const std::string&, const Parser::exception&) override {
    fault_ = "it is no JSON at byte " + std::to_string(place);
    return false;
  }

 private:
  bool number(std::string text) { return add({Kind::number, std::move(text), {}, {}}); }
  bool fail(std::string fault) {
    fault_ = std::move(fault);
    return false;
  }
  bool count_value() { return ++values_ <= kValuesMax || fail("it has more values than any request"); }
  bool add(BodyValue value) {
    if (!count_value()) return false;
    append_value(std::move(value));
    return true;
  }
  BodyValue* append_value(BodyValue value) {
    if (open_.empty()) return &(root_ = std::move(value));
    open_.back()->items.push_back(std::move(value));
    return &open_.back()->items.back();
  }
  bool open(Kind kind) {
    if (open_.size() >= kDepthMax) return fail("it has more levels than any request");
    if (!count_value()) return false;
    // Items of what is open do not move until it closes: only the last of it grows.
    open_.push_back(append_value({kind, "", {}, {}}));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  BodyValue& root_;
  std::vector<BodyValue*> open_;
  std::size_t values_ = 0;
  std::string fault_;
};

}  // namespace

BodyValue parse_body(std::string_view text) {
  BodyValue root;
  Builder builder(root);
  if (!Parser::sax_parse(text.begin(), text.end(), &builder)) {
    throw BadBody("the body: " + (builder.fault().empty() ? "it is no JSON" : builder.fault()));
  }
  return root;
}

BodyObject::BodyObject(std::string_view text)
    : BodyObject(text.empty() ? BodyValue{Kind::object, "", {}, {}} : parse_body(text)) {}

BodyObject::BodyObject(BodyValue value) : object_(std::move(value)) {
  if (object_.kind != Kind::object) throw BadBody("the body: it is no JSON object");
}

const BodyValue* BodyObject::find(std::string_view name) {
  known_.emplace_back(name);
  const auto at = std::find(object_.names.begin(), object_.names.end(), name);
  if (at == object_.names.end()) return nullptr;
  const BodyValue& value = object_.items[static_cast<std::size_t>(at - object_.names.begin())];
  return value.kind == Kind::null ? nullptr : &value;
}

std::optional<std::string> BodyObject::string(std::string_view name) {
  const BodyValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::string) throw BadBody(std::string(name) + ": a string is expected");
  return value->text;
}

std::optional<std::vector<std::string>> BodyObject::strings(std::string_view name) {
  const BodyValue* value = find(name);
  if (value == nullptr || value->kind != Kind::array) return std::nullopt;
  std::vector<std::string> texts;
  for (const BodyValue& item : value->items) {
    if (item.kind != Kind::string)
      throw BadBody(std::string(name) + ": a string is expected, or a list of them");
    texts.push_back(item.text);
  }
  if (texts.empty()) throw BadBody(std::string(name) + ": the list is empty");
  return texts;
}

std::optional<std::string> BodyObject::number(std::string_view name) {
  const BodyValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::number && value->kind != Kind::string) {
    throw BadBody(std::string(name) + ": a number is expected, or a string that holds one");
  }
  return value->text;
}

std::optional<bool> BodyObject::boolean(std::string_view name) {
  const BodyValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::boolean) throw BadBody(std::string(name) + ": true or false is expected");
  return value->text == "true";
}

std::vector<std::string> BodyObject::numbers(std::string_view name) {
  const BodyValue* value = find(name);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  const auto is_number = [](const BodyValue& item) {
    return item.kind == Kind::number || item.kind == Kind::string;
  };
  if (value->kind != Kind::array || !std::all_of(value->items.begin(), value->items.end(), is_number)) {
    throw BadBody(std::string(name) + ": a list of numbers is expected");
  }
  for (const BodyValue& item : value->items) texts.push_back(item.text);
  return texts;
}

std::optional<std::vector<BodyValue>> BodyObject::take_list(std::string_view name) {
  const BodyValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::array) throw BadBody(std::string(name) + ": a list is expected");
  return std::move(object_.items[static_cast<std::size_t>(value - object_.items.data())].items);
}

std::string BodyObject::required_string(std::string_view name) {
  auto text = string(name);
  if (!text || text->empty()) throw BadBody(std::string(name) + ": is required");
  return std::move(*text);
}

void BodyObject::expect_no_more() const {
  for (const std::string& name : object_.names) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string nearest = engine::nearest(name, known_);
    throw BadBody(quoted_name(name) + " is not known here" +
                  (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
}

void expect_empty(std::string_view text) {
  BodyObject(text).expect_no_more();
}

}  // namespace epsilog::serve
