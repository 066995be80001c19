#include "values_text.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/json_writer.hpp"

namespace epsilog::ledger {
namespace {

using accounting::Rational;

class ValuesReader final {
 public:
  ValuesReader(std::string_view text, const char* column) : rest_(text), column_(column) {}

  [[nodiscard]] std::vector<Rational> values() {
    std::vector<Rational> values;
    array([&] {
      take('"');
      const std::string_view number = rest_.substr(0, rest_.find('"'));
      values.push_back(accounting::parse_canonical_rational(number, column_));
      rest_.remove_prefix(number.size());
      take('"');
    });
    return values;
  }
  [[nodiscard]] std::vector<std::vector<Rational>> nested() {
    std::vector<std::vector<Rational>> nested;
    array([&] { nested.push_back(values()); });
    return nested;
  }
  void require_end() const {
    if (!rest_.empty()) malformed();
  }

 private:
  template <class Element>
  void array(const Element& element) {
    take('[');
    for (bool first = true; !rest_.starts_with(']'); first = false) {
      if (!first) take(',');
      element();
    }
    take(']');
  }
  void take(char expected) {
    if (!rest_.starts_with(expected)) malformed();
    rest_.remove_prefix(1);
  }
  [[noreturn]] void malformed() const {
    throw LedgerCorrupt(std::string("column ") + column_ + " is no array of numbers as they are written");
  }

  std::string_view rest_;
  const char* column_;
};

}  // namespace

std::string values_text(const std::vector<Rational>& values) {
  return JsonWriter().values(values).take();
}

std::vector<Rational> parse_values(std::string_view text, const char* column) {
  ValuesReader reader(text, column);
  auto values = reader.values();
  reader.require_end();
  return values;
}

std::string nested_values_text(const std::vector<std::vector<Rational>>& values) {
  JsonWriter json;
  json.array(values, [&](const std::vector<Rational>& of_component) { json.values(of_component); });
  return json.take();
}

std::vector<std::vector<Rational>> parse_nested_values(std::string_view text, const char* column) {
  ValuesReader reader(text, column);
  auto values = reader.nested();
  reader.require_end();
  return values;
}

}  // namespace epsilog::ledger
