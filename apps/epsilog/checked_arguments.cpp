#include "checked_arguments.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "console.hpp"
#include "epsilog/accounting/errors.hpp"
#include "printable.hpp"

namespace epsilog::command {
namespace {

constexpr std::size_t kNameMax = 256;
constexpr std::size_t kValueMax = 4096;

constexpr std::size_t kShownMax = 60;

[[noreturn]] void refuse_number(const std::string& text, const std::string& option, const std::string& why) {
  const std::string shown = text.size() > kShownMax ? text.substr(0, kShownMax) + "…" : text;
  throw UsageError(option + ": '" + shown + "' must " + why);
}

/// Names end up in the ledger and on terminals, so they must be text on one line.
std::string name(const std::string& text, const std::string& option) {
  if (text.empty()) throw UsageError(option + ": must not be empty");
  if (text.size() > kNameMax)
    throw UsageError(option + ": is longer than " + std::to_string(kNameMax) + " bytes");
  if (!is_printable(text)) throw UsageError(option + ": must be UTF-8 without control characters");
  return text;
}

std::string trimmed(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string value_from_standard_input() {
  std::string text(kValueMax + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  if (text.size() > kValueMax) throw UsageError("--value -: standard input is longer than one number can be");
  text = trimmed(text);
  if (text.empty()) throw UsageError("--value -: standard input is empty");
  if (text.find('\n') != std::string::npos)
    throw UsageError("--value -: standard input has more than one line");
  return text;
}

std::string value_text(const std::string& given) {
  const std::string text = given == "-" ? value_from_standard_input() : trimmed(given);
  try {
    static_cast<void>(engine::parse_supplied_value(text, engine::NamedQuery{}));
  } catch (const InvalidParameter& error) {
    throw UsageError(std::string("--") + error.what());  // which never repeats the text
  }
  return text;
}

/// Read and checked for syntax here, so that a misspelt number is found before the ledger is opened.
std::optional<std::string> supplied_value(const Arguments& arguments, const engine::Question& question) {
  const bool takes_value = question.statistic.kind == engine::StatisticKind::value;
  if (!arguments.value) {
    if (takes_value && arguments.verb == Verb::release) {
      throw UsageError("--value is required: " + question.statistic.text() + " is computed elsewhere");
    }
    return std::nullopt;
  }
  if (!takes_value) {
    throw UsageError("--value: only value:NAME takes it; " + question.statistic.text() +
                     " is computed from the data source");
  }
  return value_text(*arguments.value);
}

}  // namespace

std::string ledger_path(const Arguments& arguments) {
  if (arguments.ledger) {
    if (arguments.ledger->empty()) throw UsageError("--ledger: must not be empty");
    return *arguments.ledger;
  }
  const char* named = std::getenv("EPSILOG_LEDGER");
  if (named != nullptr && *named != '\0') return named;
  throw UsageError("no ledger named: give --ledger FILE or set EPSILOG_LEDGER");
}

Rational number_argument(const std::string& text, const std::string& option) {
  try {
    return accounting::parse_rational(text, option);
  } catch (const InvalidParameter& error) {
    throw UsageError(error.what());
  }
}

Rational positive_argument(const std::string& text, const std::string& option) {
  const Rational value = number_argument(text, option);
  if (value <= 0) refuse_number(text, option, "be greater than 0");
  return value;
}

Rational non_negative_argument(const std::string& text, const std::string& option) {
  const Rational value = number_argument(text, option);
  if (value < 0) refuse_number(text, option, "not be negative");
  return value;
}

Rational probability_argument(const std::string& text, const std::string& option) {
  const Rational value = number_argument(text, option);
  if (value <= 0 || value >= 1) refuse_number(text, option, "lie between 0 and 1");
  return value;
}

Rational epsilon_argument(const std::string& text) {
  const Rational value = positive_argument(text, "--epsilon");
  accounting::Epsilon on_grid;
  try {
    on_grid = accounting::Epsilon::from_rational_down(value);
  } catch (const InvalidParameter& error) {
    throw UsageError(std::string("--") + error.what());
  }
  if (on_grid.units() == 0) {
    throw UsageError("--epsilon: '" + text + "' is smaller than the smallest loss kept, 0.000000000001");
  }
  return value;
}

Rational delta_argument(const std::string& text) {
  const Rational value = number_argument(text, "--delta");
  if (value <= 0 || value >= 1) throw UsageError("--delta: '" + text + "' must lie between 0 and 1");
  if (accounting::Delta::from_rational_down(value).units() == 0) {
    throw UsageError("--delta: '" + text + "' is smaller than the smallest one kept, 0.000000000000000001");
  }
  return value;
}

std::vector<Rational> alpha_arguments(const Arguments& arguments) {
  if (arguments.alphas.empty()) return {Rational(1, 20)};
  std::vector<Rational> alphas;
  for (const std::string& text : arguments.alphas) alphas.push_back(probability_argument(text, "--alpha"));
  return alphas;
}

Rational single_alpha_argument(const Arguments& arguments) {
  if (arguments.alphas.size() != 1) throw UsageError("--alpha: only once here");
  return probability_argument(arguments.alphas.front(), "--alpha");
}

engine::EngineOptions engine_options(const Arguments& arguments) {
  engine::EngineOptions options;
  options.before_commit = hold_back_signals;
  options.warn = [](const std::string& message) {
    std::fprintf(stderr, "epsilog: warning: %s\n", printable(message).c_str());
  };
  if (!arguments.wait) return options;
  const Rational seconds = number_argument(*arguments.wait, "--wait");
  if (seconds < 0 || seconds > 86'400) {
    throw UsageError("--wait: '" + *arguments.wait + "' must be a number of seconds from 0 to 86400");
  }
  options.wait = std::chrono::milliseconds(accounting::floor(seconds * 1000).get_si());
  return options;
}

std::int64_t whole_number_argument(const std::string& text, const std::string& option, std::int64_t most) {
  const bool digits = !text.empty() && text.size() <= 18 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::int64_t value = digits ? std::stoll(text) : 0;
  if (value < 1 || value > most) {
    throw UsageError(option + ": '" + text.substr(0, 60) + "' must be a whole number from 1 to " +
                     std::to_string(most));
  }
  return value;
}

std::int64_t count_argument(const std::string& text) {
  return whole_number_argument(text, "--count", 1'000'000'000'000'000);
}

std::string principal_argument(const Arguments& arguments) {
  if (arguments.principal) return name(*arguments.principal, "--as");
  const uid_t user = geteuid();
  const passwd* entry = getpwuid(user);
  return entry != nullptr && *entry->pw_name != '\0' ? entry->pw_name : "uid:" + std::to_string(user);
}

engine::Request request_of(const Arguments& arguments) {
  engine::Request request;
  request.dataset = *arguments.dataset;
  if (arguments.epsilon) request.epsilon = epsilon_argument(*arguments.epsilon);
  if (arguments.delta) request.delta = delta_argument(*arguments.delta);
  request.question = engine::parse_question(*arguments.statistic, arguments.by, arguments.where);
  request.principal = principal_argument(arguments);
  if (arguments.purpose) request.purpose = name(*arguments.purpose, "--purpose");
  if (arguments.key) request.key = name(*arguments.key, "--key");
  request.supplied = supplied_value(arguments, request.question);
  if (arguments.verb == Verb::reserve) {
    request.holding =
        arguments.data_token ? engine::Holding::reserved_against_token : engine::Holding::reserved;
  }
  return request;
}

std::optional<std::string> commit_value(const Arguments& arguments) {
  if (!arguments.value) return std::nullopt;
  return value_text(*arguments.value);
}

std::string why_argument(const Arguments& arguments) {
  return arguments.why ? name(*arguments.why, "--why") : "";
}

std::string policy_path(const Arguments& arguments) {
  if (arguments.policy && arguments.policy_file)
    throw UsageError("the policy is named twice: as a word and by --policy");
  const std::optional<std::string>& path = arguments.policy ? arguments.policy : arguments.policy_file;
  if (!path || path->empty()) throw UsageError("no policy named: give its file");
  return *path;
}

}  // namespace epsilog::command
