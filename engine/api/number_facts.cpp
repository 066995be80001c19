// Numbers: what a program hands in, and what it is told.
#include "epsilog/number.hpp"

#include <cmath>
#include <ostream>

#include "facts.hpp"

namespace epsilog {

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

Number Maker::number(const accounting::Rational& value) {
  return number(accounting::text(value), value.get_d());
}

Number Maker::number(const std::string& text) {
  return number(accounting::parse_rational(text, "number"));
}

Loss Maker::loss(const engine::Answer& answer) {
  const auto& planned = answer.planned;
  std::optional<Number> delta;
  if (planned.delta) delta = number(planned.delta->charged);
  std::optional<Number> rho;
  if (planned.rho) rho = number(planned.rho->charged);
  return {number(planned.record.charged.text()), std::move(delta), std::move(rho)};
}

AccountBalance Maker::balance(const ledger::AccountState& account, bool active) {
  const auto amount = [&account](std::int64_t units) {
    return number(engine::amount_text(account.measure, units));
  };
  const accounting::Balance& balance = account.balance;
  return {account.dataset,
          account.scope,
          account.measure,
          amount(balance.limit),
          amount(balance.spent),
          amount(balance.reserved),
          amount(balance.remaining()),
          active};
}

}  // namespace detail

}  // namespace epsilog
