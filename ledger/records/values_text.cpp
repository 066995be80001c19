#include "values_text.hpp"

#include <optional>

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
  [[nodiscard]] std::vector<std::vector<Rational>> drawn(std::span<const ComponentRecord> components) {
    std::vector<std::vector<Rational>> drawn;
    array([&] {
      const bool quantities = rest_.starts_with("[\"") || rest_.starts_with("[]");
      drawn.push_back(quantities ? values() : steps(components, drawn.size()));
    });
    return drawn;
  }
  void require_end() const {
    if (!rest_.empty()) throw_malformed();
  }

 private:
  std::vector<Rational> steps(std::span<const ComponentRecord> components, std::size_t component) {
    if (component >= components.size() || components[component].grid <= 0) {
      throw LedgerCorrupt(std::string("column ") + column_ + " has steps of a grid where there is none");
    }
    std::vector<Rational> values;
    array([&] {
      const std::string_view number = rest_.substr(0, rest_.find_first_of(",]"));
      if (number.find_first_of("./") != std::string_view::npos) throw_malformed();
      values.push_back(accounting::parse_canonical_rational(number, column_) * components[component].grid);
      rest_.remove_prefix(number.size());
    });
    return values;
  }
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
    if (!rest_.starts_with(expected)) throw_malformed();
    rest_.remove_prefix(1);
  }
  [[noreturn]] void throw_malformed() const {
    throw LedgerCorrupt(std::string("column ") + column_ + " is no array of numbers as they are written");
  }

  std::string_view rest_;
  const char* column_;
};

/// Nothing: they are not all steps of the grid, or too few to be worth it.
std::optional<std::vector<Rational>> steps_of(const std::vector<Rational>& values, const Rational& grid) {
  if (values.size() < 2 || grid <= 0) return std::nullopt;
  std::vector<Rational> steps;
  steps.reserve(values.size());
  for (const Rational& value : values) {
    Rational& step = steps.emplace_back(value / grid);
    if (step.get_den() != 1) return std::nullopt;
  }
  return steps;
}

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

std::string drawn_text(const std::vector<std::vector<Rational>>& values,
                       std::span<const ComponentRecord> components) {
  JsonWriter json;
  std::size_t component = 0;
  json.array(values, [&](const std::vector<Rational>& drawn) {
    const auto steps =
        component < components.size() ? steps_of(drawn, components[component].grid) : std::nullopt;
    ++component;
    if (!steps) {
      json.values(drawn);
    } else {
      json.array(*steps, [&](const Rational& step) { json.raw(accounting::text(step)); });
    }
  });
  return json.take();
}

std::vector<std::vector<Rational>> parse_drawn(std::string_view text, const char* column,
                                               std::span<const ComponentRecord> components) {
  ValuesReader reader(text, column);
  auto values = reader.drawn(components);
  reader.require_end();
  return values;
}

}  // namespace epsilog::ledger
