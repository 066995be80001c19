// Writing and reading the members of a record from one table of them: a function template that names every
// member once, in byte order, and is handed a MemberWriter and what to write, or a MemberReader and what to
// fill. The verbs of both are the same:
//
//   verb(name, field)     the member is always there
//   verb_if(name, field)  left out while the field says nothing: "", 0, false, nothing, no items; and then
//                         never there with such a value, so that each record has one line
//
// Writing throws InvalidParameter for text that is not UTF-8 and numbers that are not written; reading throws
// LedgerCorrupt naming the member. What depends on another member is for the table to see.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "canonical_tokens.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/rational.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/cell_keys.hpp"
#include "epsilog/ledger/json_writer.hpp"
#include "grid_units.hpp"
#include "records.hpp"

namespace epsilog::ledger {

/// A value of an enumeration and its word.
template <class Value>
using Word = std::pair<Value, std::string_view>;

/// What a text has to be beside a string.
using TextCheck = bool (*)(std::string_view);

[[nodiscard]] bool is_any_text(std::string_view text);
/// 64 lower-case hexadecimal digits.
[[nodiscard]] bool is_sha256(std::string_view text);

/// Writes the members of one object, whose braces are the caller's.
class MemberWriter final {
 public:
  /// `head`: of the line; nullptr within what is no line.
  MemberWriter(JsonWriter& json, const Line* head, DecimalsOfAccount decimals)
      : json_(&json), head_(head), decimals_(decimals) {}

  void blind();
  void index() { count("index", head_->index); }
  void kind(std::string_view word) { json_->field("kind", word); }
  /// A number that says which form this is.
  void constant(std::string_view name, std::uint64_t value) { count(name, value); }

  template <class Number>
  void count(std::string_view name, Number value, std::uint64_t /*least*/ = 0) {
    if (std::cmp_less(value, 0) || std::cmp_greater(value, kJsonCountMax)) out_of_range(name);
    json_->field(name).count(static_cast<std::uint64_t>(value));
  }
  template <class Number>
  void count_if(std::string_view name, Number value) {
    if (value != 0) count(name, value);
  }
  void bytes(std::string_view name, std::string_view bytes) { json_->field(name).bytes(bytes); }
  void bytes_if(std::string_view name, std::string_view bytes) {
    if (!bytes.empty()) this->bytes(name, bytes);
  }
  void text(std::string_view name, std::string_view text, TextCheck /*check*/ = is_any_text) {
    json_->field(name, text);
  }
  void text_if(std::string_view name, std::string_view text, TextCheck /*check*/ = is_any_text) {
    if (!text.empty()) json_->field(name, text);
  }
  template <class Value, class Words>
  void word(std::string_view name, Value value, const Words& words) {
    for (const auto& [known, word] : words) {
      if (known == value) return static_cast<void>(json_->field(name, word));
    }
    out_of_range(name);
  }
  template <class Value, class Words>
  void word_if(std::string_view name, Value value, const Words& words) {
    if (value != Value{}) word(name, value, words);
  }
  void mark_if(std::string_view name, bool marked) {
    if (marked) json_->field(name).raw("true");
  }
  void rules(std::string_view name, Rules rules) { count(name, static_cast<std::int64_t>(rules)); }
  void hash_if(std::string_view name, const std::optional<Sha256>& hash);
  void amount(std::string_view name, std::int64_t units, int decimals) {
    if (units < 0) out_of_range(name);
    change(name, units, decimals);
  }
  void change_if(std::string_view name, std::int64_t units, int decimals) {
    if (units != 0) change(name, units, decimals);
  }
  [[nodiscard]] int decimals_of(std::int64_t account) const { return decimals_(account); }
  /// An amount before the measure that it is of.
  void amount_of_measure(std::string_view name, std::int64_t units, const std::string& measure) {
    amount(name, units, grid_decimals(measure));
  }
  void measure(std::string_view name, std::string_view measure, std::int64_t /*amount*/) {
    json_->field(name, measure);
  }
  void number(std::string_view name, const accounting::Rational& number) {
    json_->field(name, accounting::text(number));
  }
  template <class Measure>
  void number(std::string_view name, const accounting::Quantity<Measure>& number) {
    json_->field(name, number.text());
  }
  template <class Number>
  void number_if(std::string_view name, const std::optional<Number>& number) {
    if (number) this->number(name, *number);
  }
  /// Returns  whether it is there.
  bool number_when(std::string_view name, const accounting::Rational& number, bool there) {
    if (there) this->number(name, number);
    return there;
  }
  void numbers_if(std::string_view name, const std::vector<accounting::Rational>& numbers) {
    if (!numbers.empty()) json_->field(name).values(numbers);
  }
  void number_lists_if(std::string_view name, const std::vector<std::vector<accounting::Rational>>& lists);
  /// Those of one column as a list, those of several as lists.
  void cells_if(std::string_view name, const CellKeys& cells);
  /// The text of a canonical object.
  void object_text(std::string_view name, const std::string& object);
  void object_text_if(std::string_view name, const std::string& object) {
    if (!object.empty()) object_text(name, object);
  }
  /// The text of a canonical array or object; `nothing` is left out.
  void json_text_if(std::string_view name, const std::string& text, std::string_view nothing);

  /// `each(members)` of an object that is there.
  template <class Each>
  void object(std::string_view name, const Each& each) {
    json_->field(name).raw("{");
    each(*this);
    json_->raw("}");
  }
  template <class Each>
  void object_if(std::string_view name, bool there, const Each& each) {
    if (there) object(name, each);
  }
  /// `each(members, item)` of every item.
  template <class Item, class Each>
  void objects_if(std::string_view name, const std::vector<Item>& items, const Each& each) {
    if (items.empty()) return;
    json_->field(name).array(items, [&](const Item& item) {
      json_->raw("{");
      each(*this, item);
      json_->raw("}");
    });
  }
  template <class Value>
  const Value& value_in(const std::optional<Value>& value) const {
    return *value;
  }
  /// What a reader refuses.
  void require_agreement(bool /*holds*/, const char* /*what*/) const {}

 private:
  [[noreturn]] static void out_of_range(std::string_view name);
  void change(std::string_view name, std::int64_t units, int decimals);

  JsonWriter* json_;
  const Line* head_;
  DecimalsOfAccount decimals_;
};

/// Reads the members of one object from its brace on.
class MemberReader final {
 public:
  /// `head`: is filled; nullptr within what is no line.
  /// Requires  what is referred to outlives this.
  MemberReader(CanonicalTokens& tokens, Line* head, DecimalsOfAccount decimals);

  /// After the last member.
  void close();

  void blind();
  void index() { count("index", head_->index); }
  /// By which the table was chosen.
  void kind(std::string_view /*word*/) {
    required("kind", [&] { string_value(); });
  }
  void constant(std::string_view name, std::uint64_t value);

  template <class Number>
  void count(std::string_view name, Number& value, std::uint64_t least = 0) {
    required(name, [&] { value = static_cast<Number>(count_value(least)); });
  }
  template <class Number>
  void count_if(std::string_view name, Number& value) {
    optional(name, [&] { value = static_cast<Number>(count_value(1)); });
  }
  void bytes(std::string_view name, std::string& bytes) {
    required(name, [&] { bytes = bytes_value(); });
  }
  void bytes_if(std::string_view name, std::string& bytes) {
    optional(name, [&] { bytes = bytes_value(); });
  }
  void text(std::string_view name, std::string& text, TextCheck check = is_any_text) {
    required(name, [&] { text = text_value(check); });
  }
  void text_if(std::string_view name, std::string& text, TextCheck check = is_any_text) {
    optional(name, [&] { text = text_value(check); });
  }
  template <class Value, class Words>
  void word(std::string_view name, Value& value, const Words& words) {
    required(name, [&] { value = word_value<Value>(words); });
  }
  template <class Value, class Words>
  void word_if(std::string_view name, Value& value, const Words& words) {
    optional(name, [&] { value = word_value<Value>(words); });
  }
  void mark_if(std::string_view name, bool& marked) {
    marked = optional(name, [&] { require(tokens_->take("true"), "is not true"); });
  }
  void rules(std::string_view name, Rules& rules);
  void hash_if(std::string_view name, std::optional<Sha256>& hash);
  void amount(std::string_view name, std::int64_t& units, int decimals) {
    required(name, [&] { units = amount_value(string_value(), decimals); });
  }
  void change_if(std::string_view name, std::int64_t& units, int decimals) {
    optional(name, [&] {
      units = parse_units(string_value(), decimals);
      require(units != 0, "is 0, and then left out");
    });
  }
  [[nodiscard]] int decimals_of(std::int64_t account) {
    int decimals = 0;
    within("account", [&] { decimals = decimals_(account); });
    return decimals;
  }
  void amount_of_measure(std::string_view name, std::int64_t& units, const std::string& measure);
  /// Reads the amount before it, too.
  void measure(std::string_view name, std::string& measure, std::int64_t& amount);
  template <class Number>
  void number(std::string_view name, Number& number) {
    required(name, [&] { read_number(number); });
  }
  template <class Number>
  void number_if(std::string_view name, std::optional<Number>& number) {
    optional(name, [&] { read_number(number.emplace()); });
  }
  bool number_when(std::string_view name, accounting::Rational& number, bool /*there*/) {
    return optional(name, [&] { read_number(number); });
  }
  void numbers_if(std::string_view name, std::vector<accounting::Rational>& numbers);
  void number_lists_if(std::string_view name, std::vector<std::vector<accounting::Rational>>& lists);
  void cells_if(std::string_view name, CellKeys& cells);
  void object_text(std::string_view name, std::string& object) {
    required(name, [&] { read_object_text(object); });
  }
  void object_text_if(std::string_view name, std::string& object) {
    optional(name, [&] { read_object_text(object); });
  }
  void json_text_if(std::string_view name, std::string& text, std::string_view nothing);

  template <class Each>
  void object(std::string_view name, const Each& each) {
    required(name, [&] { read_object(each); });
  }
  template <class Each>
  void object_if(std::string_view name, bool /*there*/, const Each& each) {
    optional(name, [&] { read_object(each); });
  }
  template <class Item, class Each>
  void objects_if(std::string_view name, std::vector<Item>& items, const Each& each) {
    optional(name, [&] {
      array([&] { read_object([&](MemberReader& members) { each(members, items.emplace_back()); }); });
      require(!items.empty(), "is empty, and then left out");
    });
  }
  template <class Value>
  Value& value_in(std::optional<Value>& value) const {
    return value.emplace();
  }
  /// What close() says if it does not hold of members that are each in order.
  void require_agreement(bool holds, const char* what) {
    if (!holds) disagreement_ = what;
  }

 private:
  static void require(bool holds, const char* what) {
    if (!holds) throw LedgerCorrupt(what);
  }
  /// Takes the name and its colon if the next member is that.
  bool take_name(std::string_view name);
  /// Says what the next member is instead: of a required one `name`, or of "" none more.
  [[noreturn]] void refuse_next(std::string_view name);
  template <class Read>
  void within(std::string_view name, const Read& read) {
    try {
      read();
    } catch (const LedgerCorrupt& error) {
      refuse(name, error.what());
    }
  }
  template <class Read>
  void required(std::string_view name, const Read& read) {
    if (!take_name(name)) refuse_next(name);
    within(name, read);
  }
  template <class Read>
  bool optional(std::string_view name, const Read& read) {
    if (!take_name(name)) return false;
    within(name, read);
    return true;
  }
  template <class Each>
  void read_object(const Each& each) {
    MemberReader members(*tokens_, nullptr, decimals_);
    each(members);
    members.close();
    require(!members.first_, "is empty, and then left out");
  }
  template <class Element>
  void array(const Element& element) {
    require(tokens_->take('['), "is no array");
    if (tokens_->take(']')) return;
    do element();
    while (tokens_->take(','));
    if (!tokens_->take(']')) tokens_->fail("an array goes on with a comma or ends with a bracket");
  }
  [[noreturn]] static void refuse(std::string_view name, std::string_view what);
  template <class Value, class Words>
  Value word_value(const Words& words) {
    const std::string_view text = string_value();
    for (const auto& [value, word] : words) {
      if (word == text) return Value(value);
    }
    throw LedgerCorrupt("is none of its words");
  }
  std::uint64_t count_value(std::uint64_t least);
  std::string_view string_value();
  /// Not empty.
  std::string text_value(TextCheck check);
  std::string bytes_value();
  std::string bytes_or_empty();
  void read_object_text(std::string& object);
  static std::int64_t amount_value(std::string_view text, int decimals);
  void read_number(accounting::Rational& number) {
    const std::string_view text = string_value();
    require(text.size() <= kQuantityCharactersMax, "is longer than any quantity");
    number = accounting::parse_canonical_rational(text, "quantity");
  }
  template <class Measure>
  void read_number(accounting::Quantity<Measure>& number) {
    number = accounting::parse_canonical_quantity<Measure>(string_value(), "quantity");
  }
  void read_numbers(std::vector<accounting::Rational>& numbers);

  CanonicalTokens* tokens_;
  Line* head_;
  DecimalsOfAccount decimals_;
  bool first_ = true;      // no member was taken
  std::string_view last_;  // the one before
  std::string decoded_;    // of a string with escapes
  std::string amount_;     // of a measure that comes later
  std::string amount_name_;
  const char* disagreement_ = nullptr;
};

// The tables.
void each_member(MemberWriter& members, const LedgerRecord& begun);
void each_member(MemberReader& members, LedgerRecord& begun);
void each_member(MemberWriter& members, const PolicyRecord& policy);
void each_member(MemberReader& members, PolicyRecord& policy);
void each_member(MemberWriter& members, const PolicyLocation& place);
void each_member(MemberReader& members, PolicyLocation& place);
void each_member(MemberWriter& members, const Relocation& relocation);
void each_member(MemberReader& members, Relocation& relocation);
void each_member(MemberWriter& members, const AccountRecord& account);
void each_member(MemberReader& members, AccountRecord& account);
void each_member(MemberWriter& members, const LimitChange& change);
void each_member(MemberReader& members, LimitChange& change);
void each_member(MemberWriter& members, const LimitRemoval& removal);
void each_member(MemberReader& members, LimitRemoval& removal);
void each_member(MemberWriter& members, const PlanRecord& plan);
void each_member(MemberReader& members, PlanRecord& plan);
void each_member(MemberWriter& members, const DecisionRecord& decision);
void each_member(MemberReader& members, DecisionRecord& decision);
void each_member(MemberWriter& members, const ClockEvent& event);
void each_member(MemberReader& members, ClockEvent& event);
void each_member(MemberWriter& members, const CredentialEvent& event);
void each_member(MemberReader& members, CredentialEvent& event);
void each_member(MemberWriter& members, const KeyEvent& event);
void each_member(MemberReader& members, KeyEvent& event);
void each_member(MemberWriter& members, const RecoveryEvent& event);
void each_member(MemberReader& members, RecoveryEvent& event);
void each_member(MemberWriter& members, const SealEvent& event);
void each_member(MemberReader& members, SealEvent& event);
void each_member(MemberWriter& members, const FeatureRecord& feature);
void each_member(MemberReader& members, FeatureRecord& feature);

}  // namespace epsilog::ledger
