// The JSON object that a request brings, read so that nothing in it can be taken in two ways.
//
// A name twice, a name that is not known, anything after the object and anything that is no JSON is refused.
// Numbers stay the text that was sent: none passes through a double. Thread-safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::serve {

/// What a body says cannot be asked; the message names the member.
class BadBody : public Error {
 public:
  using Error::Error;
};

struct BodyValue {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  std::string text;                ///< of a string its content, of a number and a truth value as it was sent
  std::vector<std::string> names;  ///< of an object, of its items
  std::vector<BodyValue> items;    ///< of an array and an object
};

/// Throws  BadBody unless it is one JSON value of at most 16 levels, 256 members in an object and 32,768
/// values in all: what is read takes memory and time by those, not by its bytes.
[[nodiscard]] BodyValue parse_body(std::string_view text);

/// The members of an object, each of which is asked for by name.
class BodyObject final {
 public:
  /// Throws  BadBody unless `text` is an object; "" is one without members.
  explicit BodyObject(std::string_view text);
  /// Throws  BadBody unless it is one.
  explicit BodyObject(BodyValue value);

  // Nothing where it is absent or null. Each throws BadBody for a value of another kind.
  [[nodiscard]] std::optional<std::string> string(std::string_view name);
  /// Of a list of strings; nothing of anything else, which string() is asked for then.
  [[nodiscard]] std::optional<std::vector<std::string>> strings(std::string_view name);
  /// A number, or a string, that holds one: its text.
  [[nodiscard]] std::optional<std::string> number(std::string_view name);
  [[nodiscard]] std::optional<bool> boolean(std::string_view name);
  /// A list of what number() takes.
  [[nodiscard]] std::vector<std::string> numbers(std::string_view name);
  /// The items of a list, whatever they are; they are taken out of it.
  [[nodiscard]] std::optional<std::vector<BodyValue>> take_list(std::string_view name);

  /// Throws  BadBody if there is none.
  [[nodiscard]] std::string required_string(std::string_view name);
  /// Throws  BadBody for a member that was not asked for, with the nearest name that was.
  void expect_no_more() const;

 private:
  [[nodiscard]] const BodyValue* find(std::string_view name);

  BodyValue object_;
  std::vector<std::string> known_;  // names that were asked for
};

/// Of a route that takes no member.
/// Throws  BadBody unless the body is "" or {}.
void expect_empty(std::string_view text);

}  // namespace epsilog::serve
