#include "ask_arguments.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>

#include "checked_arguments.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/engine/csv_records.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/nearest.hpp"
#include "epsilog/engine/policy.hpp"
#include "ledger_arguments.hpp"
#include "usage_error.hpp"

namespace epsilog::command {
namespace {

constexpr std::size_t kShownMax = 60;
constexpr std::int64_t kAssumedCountMax = 1'000'000'000'000'000;
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
void set_loss(const AskArguments& arguments, AskKind kind, engine::Request& request) {
  if (arguments.rho && (arguments.epsilon || arguments.delta)) {
    throw UsageError("--rho: stands in place of --epsilon and --delta; give either");
  }
  if (!arguments.rho && !arguments.epsilon && kind != AskKind::forecast) {
    throw UsageError("--epsilon is required, or --rho in its place");
  }
  if (arguments.rho) request.rho = rho_argument(*arguments.rho);
  if (arguments.epsilon) {
    const std::string& text = *arguments.epsilon;
    request.epsilon = checked_epsilon(request_number(text, "--epsilon", request.too_long), text);
  }
  set_delta(arguments, request);
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

std::optional<std::string> supplied_value(const AskArguments& arguments, AskKind kind,
                                          const engine::Question& question) {
  const bool takes_value = question.statistic.kind == engine::StatisticKind::value;
  if (!arguments.value) {
    if (takes_value && kind == AskKind::release) {
      throw UsageError("--value is required: " + question.statistic.text() + " is computed elsewhere");
    }
    return std::nullopt;
  }
  if (!takes_value) {
    throw UsageError("--value: only value:NAME takes it; " + question.statistic.text() +
                     " is computed from the data source");
  }
  return value_argument(*arguments.value);
}

bool asks_consistency(const AskArguments& arguments) {
  if (!arguments.row_consistent) return arguments.consistent;
  if (*arguments.row_consistent == "true") return true;
  if (*arguments.row_consistent == "false") return false;
  throw UsageError("consistent: '" + arguments.row_consistent->substr(0, kShownMax) +
                   "' is neither true nor false");
}

void set_totals(const AskArguments& arguments, engine::Question& question) {
  const bool consistent = asks_consistency(arguments);
  if (arguments.totals) {
    engine::with_totals(question, positive_argument(*arguments.totals, "--totals"), consistent);
  } else if (consistent) {
    throw UsageError("--consistent: goes with --totals, to which cells are made to add up");
  }
}

bool is_statistic(const std::string& text) {
  try {
    static_cast<void>(engine::parse_question(text, std::nullopt, std::nullopt));
    return true;
  } catch (const InvalidParameter&) {
    return false;
  }
}

/// Names of the datasets that the ledger's policy declares; nothing where that cannot be read now.
std::optional<std::vector<std::string>> declared_datasets(const AskArguments& arguments) {
  try {
    std::vector<std::string> names;
    const engine::Policy policy = engine::Engine::open(ledger_path(arguments)).active_policy();
    for (const engine::Dataset& dataset : policy.datasets()) names.push_back(dataset.name);
    return names;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Throws  UsageError if dataset and statistic stand in each other's place.
void refuse_word_order(const AskArguments& arguments) {
  const std::string &first = *arguments.dataset, &second = *arguments.statistic;
  if (!is_statistic(first) || is_statistic(second)) return;
  const auto datasets = declared_datasets(arguments);
  const auto has = [&datasets](const std::string& name) {
    return datasets && std::find(datasets->begin(), datasets->end(), name) != datasets->end();
  };
  if (has(first)) return;
  const std::string order =
      "'" + first.substr(0, kShownMax) + "' is a statistic: the dataset comes first, as in `";
  if (!datasets || has(second))
    throw UsageError(order + second.substr(0, kShownMax) + " " + first.substr(0, kShownMax) + "`" +
                     (datasets ? "" : ", if that is the name of one"));
  const std::string near = engine::nearest(second, *datasets);
  throw UsageError(order + "DATASET " + first.substr(0, kShownMax) + "`; the policy declares no dataset '" +
                   second.substr(0, kShownMax) + "'" +
                   (near.empty() ? "" : " (did you mean '" + near + "'?)"));
}

engine::Question question_of(const AskArguments& arguments) {
  try {
    return engine::parse_question(*arguments.statistic, arguments.by, arguments.where);
  } catch (const InvalidParameter&) {
    refuse_word_order(arguments);
    throw;
  }
}

}  // namespace

std::vector<Positional<AskArguments>> question_positionals() {
  return {{"DATASET", &AskArguments::dataset, true, "name of a dataset in the policy"},
          {"STAT[:COLUMN]", &AskArguments::statistic, true,
           "count, units, sum:C, mean:C, variance:C (over n), histogram:C (= count --by C), median:C, "
           "quantile:C:Q, "
           "quantiles:C:Q1,Q2, count:C, proportion:C:V, distinct:C, ratio:A,B, value:NAME"}};
}

std::vector<Option<AskArguments>> question_options(const std::vector<Option<AskArguments>>& more) {
  return joined<AskArguments>({{"--epsilon", &AskArguments::epsilon},
                               {"--delta", &AskArguments::delta},
                               {"--rho", &AskArguments::rho},
                               {"--by", &AskArguments::by},
                               {"--where", &AskArguments::where},
                               {"--totals", &AskArguments::totals},
                               {"--consistent", &AskArguments::consistent},
                               {"--suppress-below", &AskArguments::suppress_below}},
                              more);
}

void set_delta(const AskArguments& arguments, engine::Request& request) {
  if (!arguments.delta) return;
  const std::string& text = *arguments.delta;
  request.delta = checked_delta(request_number(text, "--delta", request.too_long), text);
}

std::optional<std::int64_t> assumed_count(const AskArguments& arguments) {
  if (!arguments.assume_count) return std::nullopt;
  return whole_number_argument(*arguments.assume_count, "--assume-count", kAssumedCountMax);
}

std::string value_argument(const std::string& given) {
  return given == "-" ? value_from_standard_input() : given;
}

engine::Request request_without_question(const AskArguments& arguments, AskKind kind) {
  engine::Request request;
  request.principal = principal_argument(arguments);
  if (arguments.purpose) request.purpose = name_argument(*arguments.purpose, "--purpose");
  if (arguments.key) request.key = name_argument(*arguments.key, "--key");
  if (kind == AskKind::reserve) {
    request.reservation = arguments.data_token ? engine::ReservationKind::reserved_against_token
                                               : engine::ReservationKind::reserved;
  }
  return request;
}

engine::Request request_of(const AskArguments& arguments, AskKind kind) {
  engine::Request request = request_without_question(arguments, kind);
  request.dataset = *arguments.dataset;
  set_loss(arguments, kind, request);
  request.question = question_of(arguments);
  set_totals(arguments, request.question);
  if (arguments.suppress_below)
    engine::suppress_below(request.question,
                           positive_argument(*arguments.suppress_below, "--suppress-below"));
  request.supplied = supplied_value(arguments, kind, request.question);
  return request;
}

}  // namespace epsilog::command
