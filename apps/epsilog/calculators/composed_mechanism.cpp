#include "composed_mechanism.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "checked_arguments.hpp"
#include "epsilog/accounting/optimal_composition.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

using accounting::ComposedLaw;
using Kind = ComposedLaw::Kind;

/// What a mechanism may be given, each alternative in full.
struct Syntax {
  std::string_view name;
  std::string_view words;
};
constexpr Syntax kSyntaxes[] = {
    {"laplace", "scale=S sensitivity=D"},
    {"gaussian", "sigma=S sensitivity=D"},
    {"discrete-laplace", "scale=S sensitivity=D"},
    {"discrete-gaussian", "sigma=S sensitivity=D"},
    {"snapping", "epsilon=E, or scale=S sensitivity=D [bound=B precision=P [coordinates=M]]"},
    {"pure", "epsilon=E"},
    {"approximate", "epsilon=E delta=D"},
};

[[noreturn]] void refuse(const std::string& why) {
  throw UsageError("--mechanism: " + why);
}

std::string quoted_word(const std::string& text) {
  return "'" + text.substr(0, 60) + "'";
}

const Syntax& syntax_of(const std::string& name) {
  std::string names;
  for (const Syntax& syntax : kSyntaxes) {
    if (syntax.name == name) return syntax;
    names += (names.empty() ? "" : ", ") + std::string(syntax.name);
  }
  refuse("unknown mechanism " + quoted_word(name) + "; there are " + names);
}

/// The words NAME=VALUE behind a mechanism, each asked for once.
class Words final {
 public:
  Words(const Syntax& syntax, std::istringstream& text) : syntax_(syntax) {
    for (std::string word; text >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0)
        refuse(quoted_word(word) + " must be NAME=VALUE; " + usage());
      if (!values_.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
        refuse(quoted_word(word.substr(0, equals)) + " is given twice");
      }
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) == 1; }

  [[nodiscard]] std::string take(const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) refuse(std::string(syntax_.name) + " needs " + name + "; " + usage());
    std::string value = found->second;
    values_.erase(found);
    return value;
  }
  [[nodiscard]] Rational take_positive(const std::string& name) {
    return positive_argument(take(name), in(name));
  }
  [[nodiscard]] Rational take_not_negative(const std::string& name) {
    return non_negative_argument(take(name), in(name));
  }
  [[nodiscard]] std::uint64_t take_whole(const std::string& name, std::uint64_t most) {
    return static_cast<std::uint64_t>(
        whole_number_argument(take(name), in(name), static_cast<std::int64_t>(most)));
  }

  void require_nothing_left() const {
    if (!values_.empty())
      refuse(std::string(syntax_.name) + " takes no " + quoted_word(values_.begin()->first) + "; " + usage());
  }
  [[noreturn]] void refuse_value(const std::string& name, const std::string& why) const {
    throw UsageError(in(name) + ": " + why);
  }

 private:
  [[nodiscard]] std::string usage() const {
    return std::string(syntax_.name) + " " + std::string(syntax_.words) + " [count=N]";
  }
  [[nodiscard]] std::string in(const std::string& name) const {
    return "--mechanism: " + std::string(syntax_.name) + " " + name;
  }

  const Syntax& syntax_;
  std::map<std::string, std::string> values_;
};

Figure number_figure(std::string name, const Rational& value) {
  return {std::move(name), accounting::text(value)};
}

void read_noise(Words& words, Kind kind, ComposedMechanism& mechanism) {
  const bool gaussian = kind == Kind::gaussian || kind == Kind::discrete_gaussian;
  const std::string scale = gaussian && words.has("sigma") ? "sigma" : "scale";
  mechanism.law.kind = kind;
  mechanism.law.scale = words.take_positive(gaussian && !words.has("scale") ? "sigma" : scale);
  mechanism.law.sensitivity = words.take_positive("sensitivity");
  const bool discrete = kind == Kind::discrete_laplace || kind == Kind::discrete_gaussian;
  if (discrete && mechanism.law.sensitivity.get_den() != 1) {
    words.refuse_value("sensitivity", "must be a whole number, as the noise is");
  }
  mechanism.figures.push_back(number_figure(gaussian ? "sigma" : "scale", mechanism.law.scale));
  mechanism.figures.push_back(number_figure("sensitivity", mechanism.law.sensitivity));
}

/// The loss proved in mechanisms/proofs/snapping.md: D/lambda in exact arithmetic, D/lambda + M (18 B/lambda
/// + 10) 2^-p with p bits, for B <= 2^(p-7) lambda. Given as an epsilon, it is any mechanism of that epsilon.
void read_snapping(Words& words, ComposedMechanism& mechanism) {
  if (words.has("epsilon")) {
    mechanism.law.kind = Kind::pure;
    mechanism.law.epsilon = words.take_positive("epsilon");
  } else {
    const Rational lambda = words.take_positive("scale");
    const Rational sensitivity = words.take_positive("sensitivity");
    mechanism.law.kind = Kind::snapping;
    mechanism.law.scale = lambda;
    mechanism.law.sensitivity = sensitivity;
    mechanism.figures.push_back(number_figure("scale", lambda));
    mechanism.figures.push_back(number_figure("sensitivity", sensitivity));
    if (words.has("bound") || words.has("precision")) {
      constexpr std::uint64_t kPrecisionMost = 4096;
      const Rational bound = words.take_positive("bound");
      const std::uint64_t precision = words.take_whole("precision", kPrecisionMost);
      if (precision != 53 && precision < 118) words.refuse_value("precision", "must be 53 or at least 118");
      if (bound > accounting::power_of_two(static_cast<long>(precision) - 7) * lambda) {
        words.refuse_value("bound", "must be at most 2^(precision - 7) scale: beyond it nothing is proved");
      }
      const std::uint64_t coordinates =
          words.has("coordinates") ? words.take_whole("coordinates", accounting::kComposedMax) : 1;
      mechanism.law.extra = accounting::Integer(static_cast<unsigned long>(coordinates)) *
                            (18 * bound / lambda + 10) *
                            accounting::power_of_two(-static_cast<long>(precision));
      mechanism.figures.push_back(number_figure("bound", bound));
      mechanism.figures.push_back({"precision", precision});
      mechanism.figures.push_back({"coordinates", coordinates});
    }
    mechanism.law.epsilon = sensitivity / lambda + mechanism.law.extra;
  }
  mechanism.figures.push_back(number_figure("epsilon", mechanism.law.epsilon));
}

void read_loss(Words& words, bool approximate, ComposedMechanism& mechanism) {
  mechanism.law.kind = approximate ? Kind::approximate : Kind::pure;
  mechanism.law.epsilon = approximate ? words.take_not_negative("epsilon") : words.take_positive("epsilon");
  mechanism.figures.push_back(number_figure("epsilon", mechanism.law.epsilon));
  if (!approximate) return;
  mechanism.law.delta = words.take_not_negative("delta");
  if (mechanism.law.delta > 1) words.refuse_value("delta", "must be at most 1");
  if (mechanism.law.delta == 0 && mechanism.law.epsilon == 0)
    words.refuse_value("epsilon", "and delta are both 0");
  mechanism.figures.push_back(number_figure("delta", mechanism.law.delta));
}

ComposedMechanism parse_mechanism(const std::string& text) {
  std::istringstream stream(text);
  std::string name;
  if (!(stream >> name)) refuse("must name a mechanism, such as laplace scale=1 sensitivity=1 count=100");
  const Syntax& syntax = syntax_of(name);
  Words words(syntax, stream);
  ComposedMechanism mechanism;
  mechanism.figures.push_back({"mechanism", name});
  if (name == "laplace") read_noise(words, Kind::laplace, mechanism);
  if (name == "gaussian") read_noise(words, Kind::gaussian, mechanism);
  if (name == "discrete-laplace") read_noise(words, Kind::discrete_laplace, mechanism);
  if (name == "discrete-gaussian") read_noise(words, Kind::discrete_gaussian, mechanism);
  if (name == "snapping") read_snapping(words, mechanism);
  if (name == "pure" || name == "approximate") read_loss(words, name == "approximate", mechanism);
  mechanism.law.count = words.has("count") ? words.take_whole("count", accounting::kComposedMax) : 1;
  mechanism.figures.push_back({"count", mechanism.law.count});
  words.require_nothing_left();
  return mechanism;
}

}  // namespace

std::vector<ComposedMechanism> parse_mechanisms(const std::string& text) {
  std::vector<ComposedMechanism> mechanisms;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    mechanisms.push_back(parse_mechanism(text.substr(begin, end - begin)));
    if (end == text.size()) return mechanisms;
    begin = end + 1;
  }
}

}  // namespace epsilog::command
