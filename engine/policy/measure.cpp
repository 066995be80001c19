#include "epsilog/engine/measure.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/filter_theorem.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/stored_rational.hpp"

namespace epsilog::engine {
namespace {

using accounting::FilterKind;
using accounting::Rational;

constexpr std::string_view kRenyiOpens = "rdp(";
constexpr std::string_view kRenyiCloses = ")";

[[noreturn]] void refuse(std::string_view measure) {
  throw LedgerCorrupt("account: unknown measure '" + std::string(measure) + "'");
}

}  // namespace

std::string renyi_measure(const Rational& order) {
  EPSILOG_INVARIANT(order > 1);
  return std::string(kRenyiOpens) + accounting::text(order) + std::string(kRenyiCloses);
}

std::optional<Rational> renyi_order(std::string_view measure) {
  if (!measure.starts_with(kRenyiOpens) || !measure.ends_with(kRenyiCloses)) return std::nullopt;
  measure.remove_prefix(kRenyiOpens.size());
  measure.remove_suffix(kRenyiCloses.size());
  try {
    const Rational order = accounting::parse_stored_rational(measure, "order");
    if (order > 1 && accounting::text(order) == measure) return order;
  } catch (const LedgerCorrupt&) {
    return std::nullopt;
  }
  return std::nullopt;
}

std::string amount_text(std::string_view measure, std::int64_t units) {
  if (measure == accounting::EpsilonMeasure::name) return accounting::Epsilon::from_units(units).text();
  if (measure == accounting::DeltaMeasure::name) return accounting::Delta::from_units(units).text();
  if (measure == accounting::RhoMeasure::name) return accounting::Rho::from_units(units).text();
  if (renyi_order(measure)) return accounting::Epsilon::from_units(units).text();
  refuse(measure);
}

std::string amount_text(std::string_view measure, const accounting::Integer& units) {
  int decimals = accounting::EpsilonMeasure::decimals;
  if (measure == accounting::DeltaMeasure::name) {
    decimals = accounting::DeltaMeasure::decimals;
  } else if (measure == accounting::RhoMeasure::name) {
    decimals = accounting::RhoMeasure::decimals;
  } else if (measure != accounting::EpsilonMeasure::name && !renyi_order(measure)) {
    refuse(measure);
  }
  return accounting::text(Rational(units) * accounting::power_of_ten(-decimals));
}

std::string_view filter_theorem(std::string_view measure) {
  if (measure == accounting::EpsilonMeasure::name) return accounting::filter_theorem(FilterKind::pure);
  if (measure == accounting::DeltaMeasure::name) return accounting::filter_theorem(FilterKind::approximate);
  if (measure == accounting::RhoMeasure::name) return accounting::filter_theorem(FilterKind::zcdp);
  if (renyi_order(measure)) return accounting::filter_theorem(FilterKind::renyi);
  refuse(measure);
}

}  // namespace epsilog::engine
