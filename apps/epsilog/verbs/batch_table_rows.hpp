// The rows of --batch as what they ask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ask_arguments.hpp"
#include "batch_table.hpp"
#include "console.hpp"
#include "epsilog/engine/engine.hpp"

namespace epsilog::command {

class BatchTableRows final {
 public:
  enum class RowMeaning {
    requests,  ///< each is decided by itself, whoever asks it
    batch,     ///< all are decided as one
  };
  /// `defaults`: what the command line gives, for cells that are empty and columns that are not there.
  /// Requires  they outlive this.
  /// Throws  UsageError for a column that is none.
  BatchTableRows(const BatchTable& table, const AskArguments& defaults, RowMeaning of);

  /// The row at which the table stands, with what the command line gives.
  /// Throws  UsageError where something needed is in neither.
  [[nodiscard]] AskArguments arguments() const;
  [[nodiscard]] bool has(std::string_view column) const;
  /// What it asks.
  /// Throws  as arguments() and request_of().
  [[nodiscard]] engine::Request request() const;

 private:
  using Target = std::optional<std::string> AskArguments::*;

  const BatchTable& table_;
  const AskArguments& defaults_;
  std::vector<Target> targets_;
};

/// What a table asks of a batch.
struct BatchRequest {
  engine::Request request;
  std::vector<accounting::Exact> accuracies = {};         ///< [row], wanted in place of epsilons; else empty
  std::vector<std::optional<std::int64_t>> assumed = {};  ///< [row], how many rows; with accuracies alone
  std::optional<accounting::Exact> total = {};            ///< of the epsilons, where accuracies are wanted
  accounting::Rational alpha = 0;                         ///< of these
};

/// A batch of the rows of arguments.batch; who asks, what for and under which key is the command line's.
/// Requires  arguments.batch
/// Throws    as request_of(); SourceError, UsageError, InvalidParameter, of a row naming its line.
[[nodiscard]] BatchRequest batch_request(const AskArguments& arguments, AskKind kind, Console& console);

/// Of the rows of --batch, or without it of the question on the command line.
/// Throws  as batch_request(), request_of(); UsageError for what goes with --batch alone.
[[nodiscard]] BatchRequest batch_or_question_request(const AskArguments& arguments, AskKind kind,
                                                     Console& console);

/// What is asked of an engine: with the epsilons of the accuracies that are wanted, of which `console` is
/// told.
/// Throws  as Engine::accurate_batch().
[[nodiscard]] engine::Request with_epsilons(BatchRequest asked, const engine::Engine& engine,
                                            Console& console);

}  // namespace epsilog::command
