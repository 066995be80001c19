#include "epsilog/engine/measure.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/filter_theorem.hpp"
#include "epsilog/accounting/quantity.hpp"
#include "epsilog/accounting/stored_rational.hpp"

namespace epsilog::engine {
namespace {

using accounting::Delta;
using accounting::Epsilon;
using accounting::FilterKind;
using accounting::Integer;
using accounting::Rational;
using accounting::Rho;
using Kind = AccountMeasure::Kind;

constexpr std::string_view kRenyiOpens = "rdp(";
constexpr std::string_view kRenyiCloses = ")";

AccountMeasure measure_of_account(std::string_view text) {
  if (auto measure = parse_measure(text)) return *std::move(measure);
  throw LedgerCorrupt("account: unknown measure '" + std::string(text) + "'");
}

std::optional<AccountMeasure> parse_renyi(std::string_view text) {
  if (!text.starts_with(kRenyiOpens) || !text.ends_with(kRenyiCloses)) return std::nullopt;
  text.remove_prefix(kRenyiOpens.size());
  text.remove_suffix(kRenyiCloses.size());
  try {
    Rational order = accounting::parse_stored_rational(text, "order");
    if (order > 1 && accounting::text(order) == text) return AccountMeasure{Kind::renyi, std::move(order)};
  } catch (const LedgerCorrupt&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string AccountMeasure::text() const {
  switch (kind) {
    case Kind::epsilon:
      return accounting::EpsilonMeasure::name;
    case Kind::delta:
      return accounting::DeltaMeasure::name;
    case Kind::rho:
      return accounting::RhoMeasure::name;
    case Kind::renyi:
      EPSILOG_INVARIANT(order > 1);
      return std::string(kRenyiOpens) + accounting::text(order) + std::string(kRenyiCloses);
  }
  EPSILOG_INVARIANT(false);
}

int AccountMeasure::decimals() const {
  switch (kind) {
    case Kind::delta:
      return accounting::DeltaMeasure::decimals;
    case Kind::rho:
      return accounting::RhoMeasure::decimals;
    case Kind::epsilon:
    case Kind::renyi:
      return accounting::EpsilonMeasure::decimals;
  }
  EPSILOG_INVARIANT(false);
}

std::optional<AccountMeasure> parse_measure(std::string_view text) {
  for (const Kind kind : {Kind::epsilon, Kind::delta, Kind::rho}) {
    AccountMeasure measure{kind};
    if (measure.text() == text) return measure;
  }
  return parse_renyi(text);
}

std::string amount_text(std::string_view measure, std::int64_t units) {
  switch (measure_of_account(measure).kind) {
    case Kind::delta:
      return Delta::from_units(units).text();
    case Kind::rho:
      return Rho::from_units(units).text();
    case Kind::epsilon:
    case Kind::renyi:
      return Epsilon::from_units(units).text();
  }
  EPSILOG_INVARIANT(false);
}

std::string amount_text(std::string_view measure, const Integer& units) {
  const int decimals = measure_of_account(measure).decimals();
  return accounting::text(Rational(units) * accounting::power_of_ten(-decimals));
}

std::string_view filter_theorem(std::string_view measure) {
  switch (measure_of_account(measure).kind) {
    case Kind::epsilon:
      return accounting::filter_theorem(FilterKind::pure);
    case Kind::delta:
      return accounting::filter_theorem(FilterKind::approximate);
    case Kind::rho:
      return accounting::filter_theorem(FilterKind::zcdp);
    case Kind::renyi:
      return accounting::filter_theorem(FilterKind::renyi);
  }
  EPSILOG_INVARIANT(false);
}

}  // namespace epsilog::engine
