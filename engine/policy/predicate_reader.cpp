#include "predicate_reader.hpp"

#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/engine/date.hpp"

namespace epsilog::engine {
namespace {

using accounting::Rational;
using Operator = Comparison::Operator;
using Kind = Condition::Kind;

constexpr std::size_t kNumberMax = 400;  // as parse_rational
/// What was typed with at most 400 characters and an exponent is recorded with less.
constexpr std::size_t kRecordedNumberMax = 1'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ReadPredicate parse() {
    result_.condition = any(false);
    skip_blanks();
    if (at_ < text_.size()) fail("'and', 'or' or the end");
    return std::move(result_);
  }

 private:
  /// What is read under a `not` is joined and compared the other way.
  Condition any(bool negated) {
    std::vector<Condition> parts;
    do {
      parts.push_back(all(negated));
    } while (take_word("or"));
    return join_conditions(negated ? Kind::all : Kind::any, std::move(parts));
  }

  Condition all(bool negated) {
    std::vector<Condition> parts;
    do {
      parts.push_back(term(negated));
    } while (take_word("and"));
    return join_conditions(negated ? Kind::any : Kind::all, std::move(parts));
  }

  Condition term(bool negated) {
    while (take_not()) negated = !negated;
    skip_blanks();
    const std::size_t begin = at_;
    if (!take('(')) return comparison(negated);
    enter(begin);
    Condition result = any(negated);
    if (!take(')')) fail("'and', 'or' or ')'");
    --depth_;
    return result;
  }

  void enter(std::size_t begin) {
    if (++depth_ <= Predicate::kDepthMax) return;
    fail_at(begin, "at most " + std::to_string(Predicate::kDepthMax) +
                       " parentheses within one another (`between` is one)");
  }

  Condition comparison(bool negated) {
    Comparison result;
    result.column = column();
    if (take_word("is")) {
      if (take_word("not")) negated = !negated;
      if (!take_word("missing")) fail("'missing' or 'not missing'");
      result.op = negated ? Operator::not_missing : Operator::missing;
      return add_comparison(std::move(result));
    }
    const bool not_in = take_word("not");
    if (not_in) negated = !negated;
    skip_blanks();
    const std::size_t begin = at_;
    if (take_word("between")) {
      enter(begin);  // written out, its two ends may stand in parentheses
      Condition ends = between(result.column, negated);
      --depth_;
      return ends;
    }
    if (take_word("in")) {
      result.op = negated ? Operator::not_in : Operator::in;
      if (!take('(')) fail("'(' and a list of constants");
      do {
        result.constants.push_back(constant());
      } while (take(','));
      if (!take(')')) fail("',' or ')'");
      return add_comparison(std::move(result));
    }
    if (not_in) fail("'in' or 'between'");
    result.op = comparison_operator();
    if (negated) result.op = opposite(result.op);
    result.constants.push_back(constant());
    return add_comparison(std::move(result));
  }

  /// Both ends included.
  Condition between(const std::string& column, bool negated) {
    std::vector<Condition> ends;
    ends.push_back(
        add_comparison({column, negated ? Operator::less : Operator::greater_equal, {constant()}}));
    if (!take_word("and")) fail("'and' and the other end");
    ends.push_back(
        add_comparison({column, negated ? Operator::greater : Operator::less_equal, {constant()}}));
    return join_conditions(negated ? Kind::any : Kind::all, std::move(ends));
  }

  Condition add_comparison(Comparison comparison) {
    Condition result;
    result.index = result_.comparisons.size();
    result_.comparisons.push_back(std::move(comparison));
    return result;
  }

  static Operator opposite(Operator op) {
    switch (op) {
      case Operator::equal:
        return Operator::not_equal;
      case Operator::not_equal:
        return Operator::equal;
      case Operator::less:
        return Operator::greater_equal;
      case Operator::less_equal:
        return Operator::greater;
      case Operator::greater:
        return Operator::less_equal;
      case Operator::greater_equal:
        return Operator::less;
      case Operator::in:
      case Operator::not_in:
      case Operator::missing:
      case Operator::not_missing:
        break;  // told apart where they are read
    }
    EPSILOG_INVARIANT(false);
    return op;
  }

  /// `not` before an operator that is as old as conditions is the name of a column.
  bool take_not() {
    skip_blanks();
    const std::size_t begin = at_;
    if (lower_case(word()) == "not" && !old_operator_follows()) return true;
    at_ = begin;
    return false;
  }

  [[nodiscard]] bool old_operator_follows() const {
    std::size_t at = at_;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    if (at < text_.size() && std::string_view("=!<>").find(text_[at]) != std::string_view::npos) return true;
    std::size_t end = at;
    while (end < text_.size() && continues_bare_name(text_[end])) ++end;
    return lower_case(text_.substr(at, end - at)) == "in";
  }

  std::string column() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '"') return quoted_text('"', "a closing '\"'");
    if (at_ >= text_.size() || !starts_bare_name(text_[at_])) fail("a column name");
    const std::size_t begin = at_;
    const std::string name(word());
    const std::string expected = "a column name (quote it as \"" + name + "\")";
    if (is_condition_word(name)) fail_at(begin, expected);
    if (is_later_condition_word(name)) {
      if (!old_operator_follows()) fail_at(begin, expected);
      if (result_.new_request_fault.empty()) result_.new_request_fault = with_position(begin, expected);
    }
    return name;
  }

  Operator comparison_operator() {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("==")) fail("'=' (one equals sign)");
    if (rest.starts_with("<>")) fail("'!='");
    for (const auto& [spelling, op] : kOperatorSpellings) {
      if (rest.starts_with(spelling)) {
        at_ += spelling.size();
        return op;
      }
    }
    fail("one of = != < <= > >= in, between, is missing");
  }

  /// As word processors write them: U+2018 to U+201F, guillemets and accents.
  static bool begins_with_other_quote(std::string_view rest) {
    if (rest.starts_with("\xE2\x80") && rest.size() > 2)
      return static_cast<unsigned char>(rest[2]) >= 0x98 && static_cast<unsigned char>(rest[2]) <= 0x9F;
    return rest.starts_with('`') || rest.starts_with("\u00B4") || rest.starts_with("\u00AB") ||
           rest.starts_with("\u00BB");
  }

  Comparison::Constant constant() {
    skip_blanks();
    constexpr const char* kExpected = "a number, 'text', true, false or a date such as 2024-01-31";
    if (at_ >= text_.size()) fail(kExpected);
    if (text_[at_] == '\'') return quoted_text('\'', "a closing quote");
    if (text_[at_] == '"') fail("text in single quotes");
    if (begins_with_other_quote(text_.substr(at_))) fail("text in straight single quotes, 'like this'");
    const std::size_t begin = at_;
    if (starts_bare_name(text_[at_])) {
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
    while (at_ < text_.size() && (continues_bare_name(text_[at_]) || is_inside_number(at_))) ++at_;
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
    if (token.size() > kRecordedNumberMax) return accounting::parse_rational(token, "number");
    Rational value;
    try {
      value = accounting::parse_stored_rational(token, "number");
    } catch (const LedgerCorrupt&) {
      return accounting::parse_rational(token, "number");
    }
    if (result_.new_request_fault.empty()) {
      result_.new_request_fault = "where: the number '" + std::string(token.substr(0, 60)) +
                                  "…' is longer than " + std::to_string(kNumberMax) + " characters";
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
    while (at_ < text_.size() && continues_bare_name(text_[at_])) ++at_;
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
    throw InvalidParameter(with_position(at, expected));
  }

  [[nodiscard]] std::string with_position(std::size_t at, const std::string& expected) const {
    std::size_t position = 1;
    for (std::size_t i = 0; i < at; ++i) {
      if ((static_cast<unsigned char>(text_[i]) & 0xC0U) != 0x80U) ++position;
    }
    return "where: at character " + std::to_string(position) + ": expected " + expected;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  ReadPredicate result_;
};

}  // namespace

ReadPredicate read_predicate(std::string_view text) {
  return Parser(text).parse();
}

Condition join_conditions(Condition::Kind kind, std::vector<Condition> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  Condition result;
  result.kind = kind;
  for (Condition& part : parts) {
    if (part.kind != kind) {
      result.parts.push_back(std::move(part));
      continue;
    }
    for (Condition& inner : part.parts) result.parts.push_back(std::move(inner));
  }
  return result;
}

bool starts_bare_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool continues_bare_name(char c) {
  return starts_bare_name(c) || is_digit(c);
}

bool is_condition_word(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == "and" || lower == "in" || lower == "true" || lower == "false";
}

bool is_later_condition_word(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == "or" || lower == "not" || lower == "between" || lower == "is" || lower == "missing";
}

}  // namespace epsilog::engine
