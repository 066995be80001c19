// What plan, forecast, release and reserve take, and the request it makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger_arguments.hpp"

namespace epsilog::command {

struct AskArguments : LedgerArguments {
  std::optional<std::string> dataset;
  std::optional<std::string> statistic;
  std::optional<std::string> by;
  std::optional<std::string> where;
  std::optional<std::string> suppress_below;
  std::optional<std::string> totals;
  bool consistent = false;
  std::optional<std::string> row_consistent;  ///< of a row of a table, in place of `consistent`
  std::optional<std::string> epsilon;
  std::optional<std::string> delta;
  std::optional<std::string> rho;
  std::optional<std::string> purpose;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::string> alphas;
  bool data_token = false;
  std::optional<std::string> count;         ///< of plan and forecast
  std::optional<std::string> accuracy;      ///< of forecast
  std::optional<std::string> assume_count;  ///< of plan and forecast
  std::optional<std::string> batch;         ///< of plan, release and reserve
  bool together = false;                    ///< of plan, with `batch`
  bool compare = false;                     ///< of plan
  bool dummy = false;                       ///< of release
  std::optional<std::string> policy;        ///< of release, with `dummy`
};

/// DATASET and STAT[:COLUMN].
[[nodiscard]] std::vector<Positional<AskArguments>> question_positionals();
/// What a question is asked at and of, and with `more` behind it.
[[nodiscard]] std::vector<Option<AskArguments>> question_options(
    const std::vector<Option<AskArguments>>& more);

enum class AskKind { plan, forecast, release, reserve, dummy };

/// Who asks, what for, under which key, and whether it is to be held: a request but for what it asks.
/// Throws  UsageError.
[[nodiscard]] engine::Request request_without_question(const AskArguments& arguments, AskKind kind);

/// The delta of --delta; nothing without.
/// Throws  UsageError.
void set_delta(const AskArguments& arguments, engine::Request& request);

/// Epsilon is 0 where none was given. `supplied` comes from --value, whatever it says.
/// Throws  UsageError (--value absent or out of place among others), InvalidParameter (statistic, predicate),
///         InputError.
[[nodiscard]] engine::Request request_of(const AskArguments& arguments, AskKind kind);

/// The number of --assume-count; nothing without.
/// Throws  UsageError.
[[nodiscard]] std::optional<std::int64_t> assumed_count(const AskArguments& arguments);

/// The text of --value; "-" reads all of standard input.
/// Throws  InputError.
[[nodiscard]] std::string value_argument(const std::string& given);

}  // namespace epsilog::command
