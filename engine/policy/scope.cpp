#include "scope.hpp"

#include <array>

namespace epsilog::engine {
namespace {

struct Spelling {
  Scope::Kind kind;
  std::string_view text;
  bool named;
};

constexpr std::array<Spelling, 7> kSpellings{{{Scope::Kind::dataset, "", false},
                                              {Scope::Kind::period, "period:", true},
                                              {Scope::Kind::lifetime, "lifetime", false},
                                              {Scope::Kind::block, "block:", true},
                                              {Scope::Kind::principal, "principal:", true},
                                              {Scope::Kind::role, "role:", true},
                                              {Scope::Kind::purpose, "purpose:", true}}};

constexpr bool is_in_order_of_kinds() {
  for (std::size_t i = 0; i < kSpellings.size(); ++i) {
    if (static_cast<std::size_t>(kSpellings.at(i).kind) != i) return false;
  }
  return true;
}
static_assert(is_in_order_of_kinds());

}  // namespace

std::string Scope::text() const {
  return std::string(kSpellings.at(static_cast<std::size_t>(kind)).text) + name;
}

std::optional<Scope> parse_scope(std::string_view text) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.named ? text.starts_with(spelling.text) : text == spelling.text) {
      return Scope{spelling.kind, std::string(text.substr(spelling.text.size()))};
    }
  }
  return std::nullopt;
}

std::optional<DayRange> named_period(std::string_view scope) {
  const auto parsed = parse_scope(scope);
  if (!parsed || parsed->kind != Scope::Kind::period) return std::nullopt;
  for (const auto kind : {CalendarPeriod::day, CalendarPeriod::week, CalendarPeriod::month,
                          CalendarPeriod::quarter, CalendarPeriod::year}) {
    if (const auto days = parse_period(kind, parsed->name)) return days;  // each is written in its own way
  }
  return std::nullopt;
}

}  // namespace epsilog::engine
