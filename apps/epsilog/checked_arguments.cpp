#include "checked_arguments.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "console.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

constexpr std::size_t kNameMax = 256;

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

/// All of standard input, of which no more is kept than a value may have and one byte. Whatever it holds is
/// a value; that it cannot be read is the only thing that can be wrong with it.
std::string value_from_standard_input() {
  std::string text;
  std::array<char, 65'536> piece;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got == 0) return text;
    if (got > 0) {
      const std::size_t room = engine::kSuppliedSizeMax + 1 - text.size();
      text.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
    } else if (errno != EINTR) {
      throw InputError("--value -: standard input could not be read; nothing was asked");
    }
  }
}

std::string value_text(const std::string& given) {
  return given == "-" ? value_from_standard_input() : given;
}

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
  if (named != nullptr && !engine::is_utf8(named)) throw UsageError("EPSILOG_LEDGER: is not UTF-8");
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

namespace {

constexpr std::size_t kNumberMax = 400;  // as parse_rational

/// A number of a request, as typed or as it is recorded. One longer than may be typed is noted in `too_long`:
/// it is taken from whoever repeats what is on record, and the key says who does.
Rational request_number(const std::string& text, const std::string& option, std::string& too_long) {
  if (text.size() <= kNumberMax) return number_argument(text, option);
  Rational value;
  try {
    value = accounting::parse_stored_rational(text, option);
  } catch (const LedgerCorrupt&) {
    return number_argument(text, option);  // which says why not
  }
  if (too_long.empty()) {
    too_long = option + ": '" + text.substr(0, kShownMax) + "…' is too long: at most " +
               std::to_string(kNumberMax) + " characters";
  }
  return value;
}

Rational checked_epsilon(const Rational& value, const std::string& text) {
  if (value <= 0) refuse_number(text, "--epsilon", "be greater than 0");
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

Rational checked_delta(const Rational& value, const std::string& text) {
  if (value <= 0 || value >= 1) throw UsageError("--delta: '" + text + "' must lie between 0 and 1");
  if (accounting::Delta::from_rational_down(value).units() == 0) {
    throw UsageError("--delta: '" + text + "' is smaller than the smallest one kept, 0.000000000000000001");
  }
  return value;
}

}  // namespace

Rational epsilon_argument(const std::string& text) {
  return checked_epsilon(number_argument(text, "--epsilon"), text);
}

Rational delta_argument(const std::string& text) {
  return checked_delta(number_argument(text, "--delta"), text);
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
  if (!arguments.quiet) {
    options.waiting = [](const std::string& message) {
      std::fprintf(stderr, "epsilog: %s\n", printable(message).c_str());
    };
  }
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

namespace {

Rational rho_argument(const std::string& text) {
  const Rational value = positive_argument(text, "--rho");
  accounting::Rho on_grid;
  try {
    on_grid = accounting::Rho::from_rational_down(value);
  } catch (const InvalidParameter& error) {
    throw UsageError(std::string("--") + error.what());
  }
  if (on_grid.units() == 0) {
    throw UsageError("--rho: '" + text + "' is smaller than the smallest loss kept, 0.000000000000001");
  }
  return value;
}

/// What it may lose: epsilon, with or without delta, or rho. A forecast may seek it.
void set_loss(const Arguments& arguments, engine::Request& request) {
  if (arguments.rho && (arguments.epsilon || arguments.delta)) {
    throw UsageError("--rho: stands in place of --epsilon and --delta; give either");
  }
  if (!arguments.rho && !arguments.epsilon && arguments.verb != Verb::forecast) {
    throw UsageError("--epsilon is required, or --rho in its place");
  }
  if (arguments.rho) request.rho = rho_argument(*arguments.rho);
  if (arguments.epsilon) {
    const std::string& text = *arguments.epsilon;
    request.epsilon = checked_epsilon(request_number(text, "--epsilon", request.too_long), text);
  }
  if (arguments.delta) {
    const std::string& text = *arguments.delta;
    request.delta = checked_delta(request_number(text, "--delta", request.too_long), text);
  }
}

}  // namespace

engine::Request request_of(const Arguments& arguments) {
  engine::Request request;
  request.dataset = *arguments.dataset;
  set_loss(arguments, request);
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
