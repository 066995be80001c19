// Numbers: what a program hands in, and what it is told.
#include "epsilog/number.hpp"

#include <cmath>
#include <limits>
#include <ostream>

#include "facts.hpp"

namespace epsilog {
namespace {

using accounting::Rational;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The double that is the value, else the next one on the side of `end`, which is infinity or -infinity.
double double_towards(const Rational& value, double end) {
  const double cut = value.get_d();  // GMP cuts towards zero
  if (std::isinf(cut)) return cut == end ? cut : std::nextafter(cut, 0.0);
  const bool other_side = end < 0 ? Rational(cut) > value : Rational(cut) < value;
  return other_side ? std::nextafter(cut, end) : cut;
}

}  // namespace

std::string Exact::fraction_text(std::string numerator, std::string denominator) {
  bool negative = false;
  for (std::string* part : {&numerator, &denominator}) {
    if (!part->starts_with('-')) continue;
    part->erase(0, 1);
    negative = !negative;
  }
  return (negative && numerator != "0" ? "-" : "") + numerator + "/" + denominator;
}

bool Number::is_finite() const noexcept {
  return text_ != "infinity" && text_ != "-infinity";
}

std::ostream& operator<<(std::ostream& out, const Number& number) {
  return out << number.text_;
}

std::string Loss::text() const {
  if (rho_) return rho_->text() + " rho";
  return epsilon_.text() + " epsilon" + (delta_ ? " and " + delta_->text() + " delta" : "");
}

std::ostream& operator<<(std::ostream& out, const Loss& loss) {
  return out << loss.text();
}

std::string AccountBalance::text() const {
  return spent.text() + " of " + limit.text() + " " + measure;
}

namespace detail {

accounting::Rational rational_of(const Exact& exact, const std::string& what) {
  return accounting::parse_rational(exact.text(), what);
}

Number Maker::number(const Rational& value) {
  return number(accounting::text(value), value.get_d());
}
Number Maker::number_up(const Rational& value) {
  return number(accounting::text(value), double_towards(value, kInfinity));
}
Number Maker::number_down(const Rational& value) {
  return number(accounting::text(value), double_towards(value, -kInfinity));
}

Loss Maker::loss(const engine::Answer& answer) {
  const auto charged = [](const std::string& text) {
    return number_up(accounting::parse_rational(text, "charge"));
  };
  const auto& planned = answer.planned;
  std::optional<Number> delta;
  if (planned.delta) delta = charged(planned.delta->charged);
  std::optional<Number> rho;
  if (planned.rho) rho = charged(planned.rho->charged);
  return {charged(planned.record.charged.text()), std::move(delta), std::move(rho)};
}

AccountBalance Maker::balance(const ledger::AccountState& account, bool active) {
  const auto exact = [&account](std::int64_t units) {
    return accounting::parse_rational(engine::amount_text(account.measure, units), "amount");
  };
  const accounting::Balance& balance = account.balance;
  return {account.dataset,
          account.scope,
          account.measure,
          number_down(exact(balance.limit)),
          number_up(exact(balance.spent)),
          number_up(exact(balance.reserved)),
          number_down(exact(balance.remaining())),
          active};
}

}  // namespace detail

}  // namespace epsilog
