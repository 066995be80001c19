#include "row_codec.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/json_writer.hpp"

namespace epsilog::ledger {
namespace {

using Json = nlohmann::ordered_json;
using accounting::PostProcessing;
using accounting::Quantity;

constexpr std::array kKinds{PostProcessing::Kind::none,
                            PostProcessing::Kind::mean_about,
                            PostProcessing::Kind::variance_about,
                            PostProcessing::Kind::rounded,
                            PostProcessing::Kind::proportion,
                            PostProcessing::Kind::ratio,
                            PostProcessing::Kind::totals,
                            PostProcessing::Kind::whole_totals,
                            PostProcessing::Kind::consistent_totals};

/// The members of a component in the order in which they are written, `values` aside. Where one does not
/// apply, those that were always there are empty; those that came later are left out, so that older rows stay
/// as they are.
template <class Component, class Visitor>
void each_member(Component& component, Visitor&& visitor) {
  visitor.always("statistic", component.statistic);
  visitor.always("epsilon", component.epsilon);
  visitor.if_any("delta", component.delta);
  visitor.always("sensitivity", component.sensitivity);
  visitor.if_any("sensitivity_l2_squared", component.sensitivity_l2_squared);
  visitor.if_any("inflated", component.inflated);
  visitor.always("lambda", component.lambda);
  visitor.always("grid", component.grid);
  visitor.always("centre", component.centre);
  visitor.always("bound", component.bound);
  visitor.always("coordinates", component.coordinates);
  visitor.always("precision", component.precision);
  visitor.always("adjusted", component.adjusted);
  visitor.if_any("adjusted_delta", component.adjusted_delta);
  visitor.if_any("rho", component.rho);
  visitor.always("published", component.published);
  visitor.always("published_note", component.published_note);
}

/// Writes the members of a component into the JSON object that is begun.
struct MemberWriter {
  JsonWriter& json;

  void always(const char* name, const std::string& field) const { json.field(name, field); }
  void always(const char* name, std::int64_t field) const { json.field(name, field); }
  void always(const char* name, const Rational& field) const { json.field(name, accounting::text(field)); }
  void always(const char* name, const std::optional<Rational>& field) const {
    json.field(name, number_text(field));
  }
  template <class Measure>
  void always(const char* name, const Quantity<Measure>& field) const {
    json.field(name, field.text());
  }
  template <class Number>
  void if_any(const char* name, const std::optional<Number>& field) const {
    if (field) always(name, *field);
  }
};

/// Reads the numbers of members and columns.
class NumberReader final {
 public:
  explicit NumberReader(RecordedNumbers& numbers) : numbers_(&numbers) {}

  void read(std::string_view text, const char* name, Rational& number) const {
    number = numbers_->rational(text, name);
  }
  template <class Measure>
  void read(std::string_view text, const char* name, Quantity<Measure>& number) const {
    number = accounting::parse_canonical_quantity<Measure>(text, name);
  }
  /// "" is nothing.
  template <class Number>
  void read(std::string_view text, const char* name, std::optional<Number>& number) const {
    number.reset();
    if (!text.empty()) read(text, name, number.emplace());
  }

 private:
  RecordedNumbers* numbers_;
};

/// Parses and hands to `read`; whatever does not have the expected shape is corruption.
template <class Read>
auto read_json(std::string_view text, const char* column, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw LedgerCorrupt(std::string("column ") + column + " is malformed: " + error.what());
  }
}

/// nlohmann reads any number as an integer if asked to; an amount of 1.5 must not become 1.
std::int64_t integer(const Json& json, const char* field) {
  const Json& value = json.at(field);
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
    throw LedgerCorrupt(std::string("field ") + field + " is not an integer");
  }
  return value.get<std::int64_t>();
}

std::vector<Rational> to_rationals(const Json& array) {
  if (!array.is_array()) throw LedgerCorrupt("values are not an array");
  std::vector<Rational> values;
  values.reserve(array.size());
  for (const Json& value : array)
    values.push_back(accounting::parse_stored_rational(value.get_ref<const std::string&>(), "value"));
  return values;
}

/// Fills the members of a component from a JSON object.
struct MemberReader {
  const Json& json;
  NumberReader numbers;

  void always(const char* name, std::string& field) const { json.at(name).get_to(field); }
  void always(const char* name, std::int64_t& field) const { field = integer(json, name); }
  template <class Number>
  void always(const char* name, Number& field) const {
    numbers.read(json.at(name).get<std::string>(), name, field);
  }
  template <class Number>
  void if_any(const char* name, std::optional<Number>& field) const {
    numbers.read(json.value(name, ""), name, field);
  }
};

/// Steps through the very text that JsonWriter makes of arrays and objects, without the cost of a tree of
/// JSON; from what is written otherwise on, it takes nothing.
class WrittenJson {
 public:
  explicit WrittenJson(std::string_view json) : rest_(json) {}

  /// Whether all of it was taken.
  [[nodiscard]] bool done() const { return as_written_ && rest_.empty(); }
  [[nodiscard]] bool as_written() const { return as_written_; }
  void take(std::string_view expected) {
    as_written_ = as_written_ && rest_.starts_with(expected);
    if (as_written_) rest_.remove_prefix(expected.size());
  }
  /// Takes an array, an element by `element` each.
  template <class Element>
  void array(const Element& element) {
    take("[");
    for (bool first = true; as_written_ && !rest_.starts_with(']'); first = false) {
      if (!first) take(",");
      element();
    }
    take("]");
  }
  void begin_object() {
    take("{");
    first_ = true;
  }
  [[nodiscard]] bool has_name(std::string_view name) const {
    return rest_.starts_with(",\"") && rest_.substr(2).starts_with(name) &&
           rest_.substr(2 + name.size()).starts_with("\":");
  }
  void take_name(std::string_view name) {
    take(std::exchange(first_, false) ? "\"" : ",\"");
    take(name);
    take("\":");
  }
  /// One that stands in its quotes as it is.
  std::string_view text() {
    take("\"");
    const std::string_view text = rest_.substr(0, rest_.find('"'));
    as_written_ = as_written_ && is_plain_json(text);
    rest_.remove_prefix(text.size());
    take("\"");
    return text;
  }
  std::int64_t integer() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const std::string_view digits = rest_.substr(0, static_cast<std::size_t>(end - rest_.data()));
    as_written_ = as_written_ && error == std::errc{} && digits == std::to_string(value);
    rest_.remove_prefix(digits.size());
    return value;
  }
  /// Throws  LedgerCorrupt for a number that is written otherwise.
  std::vector<Rational> rationals() {
    std::vector<Rational> values;
    array([&] {
      const std::string_view value = text();
      if (as_written_) values.push_back(accounting::parse_canonical_rational(value, "value"));
    });
    return values;
  }

 private:
  std::string_view rest_;
  bool as_written_ = true;
  bool first_ = true;  // of the members of an object
};

/// Reads components from the very text that is written of them; whatever is written otherwise is left to a
/// tree of JSON.
class ComponentScanner final {
 public:
  ComponentScanner(std::string_view json, RecordedNumbers& numbers) : json_(json), numbers_(numbers) {}

  /// False: it is no such text, and what was read is of no use.
  bool read(std::vector<ComponentRecord>& components, std::vector<std::vector<Rational>>& values) {
    try {
      json_.array([&] {
        json_.begin_object();
        each_member(components.emplace_back(), *this);
        json_.take_name("values");
        values.push_back(json_.rationals());
        json_.take("}");
      });
    } catch (const LedgerCorrupt&) {  // a number
      return false;
    }
    return json_.done();
  }

  void always(const char* name, std::string& field) { field = member(name); }
  void always(const char* name, std::int64_t& field) {
    json_.take_name(name);
    field = json_.integer();
  }
  template <class Number>
  void always(const char* name, Number& field) {
    const std::string_view text = member(name);
    if (json_.as_written()) numbers_.read(text, name, field);
  }
  template <class Number>
  void if_any(const char* name, std::optional<Number>& field) {
    if (json_.has_name(name)) always(name, field.emplace());
  }

 private:
  std::string_view member(std::string_view name) {
    json_.take_name(name);
    return json_.text();
  }

  WrittenJson json_;
  NumberReader numbers_;
};

/// Nothing: it is no text that accounts_json() writes.
std::optional<std::vector<AccountState>> written_accounts(std::string_view text, const std::string& dataset) {
  WrittenJson json(text);
  std::vector<AccountState> accounts;
  const auto number = [&json](std::string_view name) {
    json.take_name(name);
    return json.integer();
  };
  const auto word = [&json](std::string_view name) {
    json.take_name(name);
    return std::string(json.text());
  };
  json.array([&] {
    json.begin_object();
    AccountState& account = accounts.emplace_back();
    account.id = number("id");
    account.dataset = dataset;
    account.scope = word("scope");
    account.measure = word("measure");
    account.balance.limit = number("limit");
    account.balance.spent = number("spent");
    account.balance.reserved = number("reserved");
    json.take("}");
  });
  if (!json.done()) return std::nullopt;
  return accounts;
}

/// Nothing: it is no text that rationals_json() writes.
std::optional<std::vector<Rational>> written_rationals(std::string_view text) {
  WrittenJson json(text);
  try {
    std::vector<Rational> values = json.rationals();
    if (json.done()) return values;
  } catch (const LedgerCorrupt&) {  // a number
  }
  return std::nullopt;
}

/// A member that is an exact number.
Rational rational(const Json& object, const char* field) {
  return accounting::parse_stored_rational(object.at(field).get_ref<const std::string&>(), field);
}

}  // namespace

std::string accounts_json(const std::vector<AccountState>& accounts) {
  JsonWriter json;
  json.array(accounts, [&](const AccountState& account) {
    json.raw("{")
        .field("id", account.id)
        .field("scope", account.scope)
        .field("measure", account.measure)
        .field("limit", account.balance.limit)
        .field("spent", account.balance.spent)
        .field("reserved", account.balance.reserved)
        .raw("}");
  });
  return json.take();
}

std::vector<AccountState> parse_accounts(std::string_view json, const std::string& dataset) {
  if (auto accounts = written_accounts(json, dataset)) return std::move(*accounts);
  return read_json(json, "accounts", [&](const Json& array) {
    if (!array.is_array()) throw LedgerCorrupt("column accounts is not an array");
    std::vector<AccountState> accounts;
    for (const Json& entry : array) {
      AccountState account;
      account.id = integer(entry, "id");
      account.dataset = dataset;
      entry.at("scope").get_to(account.scope);
      entry.at("measure").get_to(account.measure);
      account.balance = {.limit = integer(entry, "limit"),
                         .spent = integer(entry, "spent"),
                         .reserved = integer(entry, "reserved")};
      accounts.push_back(std::move(account));
    }
    return accounts;
  });
}

std::string components_json(const std::vector<ComponentRecord>& components,
                            const std::vector<std::vector<Rational>>& values) {
  EPSILOG_INVARIANT(components.size() == values.size());
  JsonWriter json;
  auto drawn = values.begin();
  json.array(components, [&](const ComponentRecord& component) {
    json.raw("{");
    each_member(component, MemberWriter{json});
    json.field("values").values(*drawn++).raw("}");
  });
  return json.take();
}

Components parse_components(std::string_view json, RecordedNumbers& numbers) {
  Components scanned;
  if (ComponentScanner(json, numbers).read(scanned.records, scanned.values)) return scanned;
  return read_json(json, "components", [&](const Json& array) {
    if (!array.is_array()) throw LedgerCorrupt("column components is not an array");
    Components read;
    for (const Json& entry : array) {
      each_member(read.records.emplace_back(), MemberReader{entry, NumberReader(numbers)});
      read.values.push_back(to_rationals(entry.at("values")));
    }
    return read;
  });
}

bool is_components_json(std::string_view json, const std::vector<ComponentRecord>& components,
                        const std::vector<std::vector<Rational>>& values, RecordedNumbers& numbers) {
  Components scanned;
  if (!ComponentScanner(json, numbers).read(scanned.records, scanned.values)) {
    return components_json(components, values) == json;
  }
  return scanned.records == components && scanned.values == values;
}

SingleComponent single_component(const std::vector<ComponentRecord>& components) {
  if (components.size() != 1) return {};
  const ComponentRecord& single = components.front();
  return {.precision = single.precision,
          .sensitivity = accounting::text(single.sensitivity),
          .bound = number_text(single.bound),
          .scale = accounting::text(single.lambda),
          .grid = accounting::text(single.grid)};
}

std::string texts_json(const std::vector<std::string>& texts) {
  JsonWriter json;
  json.array(texts, [&](const std::string& text) { json.text(text); });
  return json.take();
}

std::vector<std::string> parse_texts(std::string_view json) {
  if (json == "[]") return {};  // of most releases
  return read_json(json, "cells", [](const Json& array) { return array.get<std::vector<std::string>>(); });
}

std::string number_text(const std::optional<Rational>& number) {
  return number ? accounting::text(*number) : "";
}

std::optional<Rational> parse_number(std::string_view text, const char* column, RecordedNumbers& numbers) {
  if (text.empty()) return std::nullopt;
  return numbers.rational(text, column);
}

std::string rationals_json(const std::vector<Rational>& values) {
  return JsonWriter().values(values).take();
}

std::vector<Rational> parse_rationals(std::string_view json) {
  if (auto values = written_rationals(json)) return std::move(*values);
  return read_json(json, "value", [](const Json& array) { return to_rationals(array); });
}

std::string post_processing_json(const PostProcessing& recipe) {
  JsonWriter json;
  json.raw("{").field("kind", name(recipe.kind));
  if (accounting::has_range(recipe.kind)) {
    if (accounting::has_centre(recipe.kind)) json.field("centre", accounting::text(recipe.centre));
    json.field("lower", accounting::text(recipe.lower)).field("upper", accounting::text(recipe.upper));
  }
  return json.raw("}").take();
}

PostProcessing parse_post_processing(std::string_view json) {
  if (json == "{\"kind\":\"none\"}") return {};  // of most releases
  return read_json(json, "post_processing", [](const Json& object) {
    const std::string& wanted = object.at("kind").get_ref<const std::string&>();
    const auto found =
        std::ranges::find_if(kKinds, [&wanted](PostProcessing::Kind kind) { return name(kind) == wanted; });
    if (found == kKinds.end()) {
      throw LedgerCorrupt("column post_processing names an unknown recipe '" + wanted + "'");
    }
    PostProcessing recipe;
    recipe.kind = *found;
    if (!accounting::has_range(recipe.kind)) return recipe;
    if (accounting::has_centre(recipe.kind)) recipe.centre = rational(object, "centre");
    recipe.lower = rational(object, "lower");
    recipe.upper = rational(object, "upper");
    return recipe;
  });
}

}  // namespace epsilog::ledger
