#include "epsilog/engine/predicate.hpp"

#include <array>
#include <optional>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/engine/date.hpp"

namespace epsilog::engine {
namespace {

using accounting::Rational;
using Operator = Comparison::Operator;

constexpr std::size_t kTextMax = 65'536;
constexpr std::size_t kNumberMax = 400;  // as parse_rational

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) {
  return starts_name(c) || is_digit(c);
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_word_of_grammar(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == "and" || lower == "in" || lower == "true" || lower == "false";
}

std::string in_quotes(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    result += c;
    if (c == quote) result += c;
  }
  return result + quote;
}

struct Spelling {
  std::string_view text;
  Operator op;
};
// Two-character operators first, so that "<=" is not read as "<".
constexpr std::array<Spelling, 6> kSpellings = {{{"!=", Operator::not_equal},
                                                 {"<=", Operator::less_equal},
                                                 {">=", Operator::greater_equal},
                                                 {"=", Operator::equal},
                                                 {"<", Operator::less},
                                                 {">", Operator::greater}}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Comparison> parse() {
    std::vector<Comparison> result;
    do {
      result.push_back(comparison());
      skip_blanks();
    } while (take_word("and"));
    if (at_ < text_.size()) fail("'and' or the end");
    return result;
  }
  /// After parse().
  [[nodiscard]] const std::string& too_long() const noexcept { return too_long_; }

 private:
  Comparison comparison() {
    Comparison result;
    result.column = column();
    result.op = comparison_operator();
    if (result.op != Operator::in) {
      result.constants.push_back(constant());
      return result;
    }
    if (!take('(')) fail("'(' and a list of constants");
    do {
      result.constants.push_back(constant());
    } while (take(','));
    if (!take(')')) fail("',' or ')'");
    return result;
  }

  std::string column() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '"') return quoted_text('"', "a closing '\"'");
    if (at_ >= text_.size() || !starts_name(text_[at_])) fail("a column name");
    const std::size_t begin = at_;
    const std::string_view name = word();
    if (is_word_of_grammar(name)) fail_at(begin, "a column name (quote it as \"" + std::string(name) + "\")");
    return std::string(name);
  }

  Operator comparison_operator() {
    if (take_word("in")) return Operator::in;
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("==")) fail("'=' (one equals sign)");
    if (rest.starts_with("<>")) fail("'!='");
    for (const auto& [spelling, op] : kSpellings) {
      if (rest.starts_with(spelling)) {
        at_ += spelling.size();
        return op;
      }
    }
    fail("one of = != < <= > >= in");
  }

  Comparison::Constant constant() {
    skip_blanks();
    constexpr const char* kExpected = "a number, 'text', true, false or a date such as 2024-01-31";
    if (at_ >= text_.size()) fail(kExpected);
    if (text_[at_] == '\'') return quoted_text('\'', "a closing quote");
    if (text_[at_] == '"') fail("text in single quotes");
    const std::size_t begin = at_;
    if (starts_name(text_[at_])) {
      const std::string lower = lower_case(word());
      if (lower == "true") return true;
      if (lower == "false") return false;
      fail_at(begin, kExpected);
    }
    return number_or_date(begin, kExpected);
  }

  /// Three numbers in one of the ways that people write days.
  static bool is_another_date(std::string_view token) {
    const std::size_t first = token.find_first_not_of("0123456789");
    if (first == std::string_view::npos || first == 0) return false;
    const std::size_t second = token.find_first_not_of("0123456789", first + 1);
    return second != std::string_view::npos && token[second] == token[first] && second > first + 1 &&
           second + 1 < token.size() &&
           token.find_first_not_of("0123456789", second + 1) == std::string_view::npos;
  }

  Comparison::Constant number_or_date(std::size_t begin, const char* expected) {
    while (at_ < text_.size() && (continues_name(text_[at_]) || is_inside_number(at_))) ++at_;
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (token.empty()) fail_at(begin, expected);
    if (token.size() == 10 && token[4] == '-' && token[7] == '-') {
      Comparison::Date date;
      if (!parse_date(token, date.days)) fail_at(begin, "a date that exists, such as 2024-01-31");
      return date;
    }
    try {
      return token.size() > kNumberMax ? long_number(token) : accounting::parse_rational(token, "number");
    } catch (const InvalidParameter& error) {
      if (is_another_date(token)) fail_at(begin, "dates as in 2024-01-31, however the source writes them");
      fail_at(begin, std::string(expected) + " (" + error.what() + ")");
    }
  }

  /// One that is longer than may be typed, as it was recorded; any other is refused for its length.
  Rational long_number(std::string_view token) {
    Rational value;
    try {
      value = accounting::parse_stored_rational(token, "number");
    } catch (const LedgerCorrupt&) {
      return accounting::parse_rational(token, "number");
    }
    if (too_long_.empty()) {
      too_long_ = "where: the number '" + std::string(token.substr(0, 60)) + "…' is longer than " +
                  std::to_string(kNumberMax) + " characters";
    }
    return value;
  }

  [[nodiscard]] bool is_inside_number(std::size_t at) const {
    const char c = text_[at];
    return c == '.' || c == '+' || c == '-' || c == '/';
  }

  std::string quoted_text(char quote, const char* expected) {
    std::string result;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != quote) {
          ++at_;
          return result;
        }
        ++at_;
      }
      result += text_[at_];
    }
    fail(expected);
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool take_word(std::string_view wanted) {
    skip_blanks();
    const std::size_t begin = at_;
    if (lower_case(word()) == wanted) return true;
    at_ = begin;
    return false;
  }

  bool take(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  [[noreturn]] void fail(const std::string& expected) {
    skip_blanks();
    fail_at(at_, expected);
  }

  [[noreturn]] void fail_at(std::size_t at, const std::string& expected) const {
    std::size_t position = 1;
    for (std::size_t i = 0; i < at; ++i) {
      if ((static_cast<unsigned char>(text_[i]) & 0xC0U) != 0x80U) ++position;
    }
    throw InvalidParameter("where: at character " + std::to_string(position) + ": expected " + expected);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string too_long_;
};

std::string column_text(const std::string& column) {
  bool bare = !column.empty() && starts_name(column[0]) && !is_word_of_grammar(column);
  for (const char c : column) bare = bare && continues_name(c);
  return bare ? column : in_quotes(column, '"');
}

std::string operator_text(Operator op) {
  if (op == Operator::in) return "in";
  for (const Spelling& spelling : kSpellings) {
    if (spelling.op == op) return std::string(spelling.text);
  }
  EPSILOG_INVARIANT(false);
  return "";
}

std::string constant_text(const Comparison::Constant& constant) {
  if (const auto* number = std::get_if<Rational>(&constant)) return accounting::text(*number);
  if (const auto* string = std::get_if<std::string>(&constant)) return in_quotes(*string, '\'');
  if (const auto* boolean = std::get_if<bool>(&constant)) return *boolean ? "true" : "false";
  return date_text(std::get<Comparison::Date>(constant).days);
}

}  // namespace

Predicate Predicate::parse(std::string_view text) {
  Predicate result;
  Parser parser(text);
  result.comparisons_ = parser.parse();
  result.too_long_ = text.size() > kTextMax ? "where: longer than 65536 bytes" : parser.too_long();
  return result;
}

std::string Comparison::text() const {
  const std::string start = column_text(column) + " " + operator_text(op) + " ";
  if (op != Operator::in) return start + constant_text(constants.front());
  std::string list;
  for (const auto& constant : constants) list += (list.empty() ? "" : ", ") + constant_text(constant);
  return start + "(" + list + ")";
}

std::string Predicate::text() const {
  std::string result;
  for (const Comparison& comparison : comparisons_) {
    if (!result.empty()) result += " and ";
    result += comparison.text();
  }
  return result;
}

}  // namespace epsilog::engine
