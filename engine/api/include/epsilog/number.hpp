// Numbers as a program hands them in and gets them back: exact, and never out of floating point.
//
// Thread-safety: values; const ones may be read by all.
#pragma once

#include <concepts>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace epsilog {

namespace detail {
struct Maker;  // internal to the library

/// A type of numbers: bool and characters are integral, and no numbers.
template <class T>
concept WholeNumber =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;
}  // namespace detail

/// A number that a program hands in: a text, a whole number, or a fraction of two. No double is one.
class Exact final {
 public:
  /// Takes "0.2", "1/5" or "2e-1". What is no number is told by the call that uses it (InvalidParameter).
  Exact(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  Exact(std::string_view text) : text_(text) {}        // NOLINT(google-explicit-constructor)
  Exact(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)
  // clang-format off
  template <detail::WholeNumber Whole>
  Exact(Whole value)  // NOLINT(google-explicit-constructor): a whole number is exact
      : text_(std::to_string(value)) {}
  /// n/d; a d of 0 is told by the call that uses it.
  template <detail::WholeNumber Numerator, detail::WholeNumber Denominator>
  Exact(Numerator n, Denominator d) : text_(fraction_text(std::to_string(n), std::to_string(d))) {}
  // clang-format on
  template <std::floating_point Inexact>
  Exact(Inexact) = delete;
  template <std::floating_point Numerator, class Denominator>
  Exact(Numerator, Denominator) = delete;
  template <std::integral Numerator, std::floating_point Denominator>
  Exact(Numerator, Denominator) = delete;

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  [[nodiscard]] static std::string fraction_text(std::string numerator, std::string denominator);
  std::string text_;
};

/// A number that the library gives back: its exact text, and a double next to it.
class Number final {
 public:
  /// Returns the exact decimal ("12.5"), a fraction where there is none ("1/3"), a day ("2027-01-31") of a
  /// quantile of dates, or "infinity" and "-infinity".
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Returns the double that it is, else one next to it: of what is charged, spent or reserved, an accuracy, an
  /// upper end and a size from which something holds the one above, of a limit, what remains and a lower end the
  /// one below. Of a day, the days since 1970-01-01.
  [[nodiscard]] double as_double() const noexcept { return value_; }
  [[nodiscard]] bool is_finite() const noexcept;

  friend bool operator==(const Number& a, const Number& b) noexcept { return a.text_ == b.text_; }
  /// Writes text().
  friend std::ostream& operator<<(std::ostream& out, const Number& number);

 private:
  friend struct detail::Maker;
  Number(std::string text, double value) : text_(std::move(text)), value_(value) {}
  std::string text_;
  double value_;
};

/// What a release costs, in the terms it was asked in.
class Loss final {
 public:
  /// 0 of a request that is refused before it is planned.
  [[nodiscard]] const Number& epsilon() const noexcept { return epsilon_; }
  /// Nothing where only epsilon is lost.
  [[nodiscard]] const std::optional<Number>& delta() const noexcept { return delta_; }
  /// Only where rho was asked; epsilon and delta follow from it then.
  [[nodiscard]] const std::optional<Number>& rho() const noexcept { return rho_; }
  /// Returns "0.2 epsilon", "0.2 epsilon and 0.000001 delta" or "0.1 rho".
  [[nodiscard]] std::string text() const;

  /// Writes text().
  friend std::ostream& operator<<(std::ostream& out, const Loss& loss);

 private:
  friend struct detail::Maker;
  Loss(Number epsilon, std::optional<Number> delta, std::optional<Number> rho)
      : epsilon_(std::move(epsilon)), delta_(std::move(delta)), rho_(std::move(rho)) {}
  Number epsilon_;
  std::optional<Number> delta_;
  std::optional<Number> rho_;
};

/// One budget, in numbers of its measure.
struct AccountBalance {
  std::string dataset;
  std::string scope;    ///< whose budget it is; "": of the dataset as a whole
  std::string measure;  ///< "epsilon", "delta", "rho" or "rdp(ORDER)"
  Number limit;
  Number spent;
  Number reserved;  ///< for requests that may be released yet
  Number remaining;
  bool active = true;  ///< false: the active policy declares no limit for it any more

  /// Returns "0.25 of 1 epsilon": what is spent of the limit.
  [[nodiscard]] std::string text() const;
};

}  // namespace epsilog
