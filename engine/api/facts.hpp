// What stands behind the types of epsilog.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/measure.hpp"
#include "epsilog/epsilog.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::detail {

/// An engine with the bits its releases draw from.
struct Session {
  explicit Session(engine::Engine opened) : engine(std::move(opened)) {}
  engine::Engine engine;
  mechanisms::BufferedBits bits;
};

/// An answer of the engine, and of a plan the request it is of.
struct Facts {
  std::shared_ptr<Session> session;
  engine::Answer answer;
  std::optional<engine::Request> planned = {};
};

/// What a question has been given so far.
struct QuestionParts {
  std::shared_ptr<Session> session;
  std::string dataset;
  std::string statistic;
  std::vector<std::string> by = {};
  std::optional<std::string> where = {};
  std::optional<Exact> epsilon = {};
  std::optional<Exact> delta = {};
  std::optional<Exact> rho = {};
  std::optional<Exact> suppress_below = {};
  std::optional<Exact> totals = {};
  std::optional<Exact> supplied = {};
  std::string principal = {};
  std::string purpose = {};
  std::string key = {};
  bool key_was_made = true;
};

/// Makes the types that nobody else makes.
struct Maker {
  [[nodiscard]] static Number number(std::string text, double value) { return {std::move(text), value}; }
  /// The exact value, and the double that it is, or one next to it: any, not below it, not above it.
  [[nodiscard]] static Number number(const accounting::Rational& value);
  [[nodiscard]] static Number number_up(const accounting::Rational& value);
  [[nodiscard]] static Number number_down(const accounting::Rational& value);
  /// A number of an answer, as `made` by one of these: of a quantile of dates, a day.
  [[nodiscard]] static Number number_of(const engine::Answer& answer, const accounting::Rational& value,
                                        Number (*made)(const accounting::Rational&) = number);
  /// What a request was charged, or would be.
  [[nodiscard]] static Loss loss(const engine::Answer& answer);
  [[nodiscard]] static AccountBalance balance(const ledger::AccountState& account, bool active);
  [[nodiscard]] static Interval interval(const engine::Answer& answer, const engine::CellIntervals* of,
                                         const std::vector<mechanisms::AnswerInterval>* cells,
                                         std::size_t cell, bool together);
  [[nodiscard]] static std::vector<RefusalReason> reasons(const engine::Answer& answer);

  template <class Answered>
  [[nodiscard]] static Outcome<Answered> outcome(std::shared_ptr<Session> session, engine::Answer answer);
  [[nodiscard]] static Plan plan(std::shared_ptr<Session> session, engine::Answer answer,
                                 engine::Request request);
  template <class Question>
  [[nodiscard]] static Question question(QuestionParts parts) {
    return Question(std::make_shared<const QuestionParts>(std::move(parts)));
  }
  [[nodiscard]] static Ledger ledger(engine::Engine engine) {
    return Ledger(std::make_shared<Session>(std::move(engine)));
  }
};

/// Returns the number that a program handed in.
/// Throws  InvalidParameter naming `what`.
[[nodiscard]] accounting::Rational rational_of(const Exact& exact, const std::string& what);
/// At which accuracy and intervals are told without looking again: 1/20.
[[nodiscard]] engine::Alphas usual_alphas();
/// Whether the answer, or that of the request if it is not answered, is a table.
[[nodiscard]] bool is_table(const engine::Answer& answer);
/// Returns how far the answer is from the exact one; nothing where there is no single figure.
/// Throws  InvalidParameter for alpha; as Engine::plan() or Engine::show().
[[nodiscard]] std::optional<Number> accuracy_of(const Facts& facts, const Exact& alpha);
/// "mean:age of hospital"; "a question about hospital" where who asked may not ask.
[[nodiscard]] std::string subject_of(const engine::Answer& answer);

}  // namespace epsilog::detail
