// Numbers that a program hands to the engine: exact ones compile, floating-point ones do not.
#include <vector>

#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/reaccount.hpp"

namespace {

using epsilog::accounting::Integer;
using epsilog::accounting::Rational;
using epsilog::engine::Accuracy;
using epsilog::engine::Alphas;
using epsilog::engine::Answer;
using epsilog::engine::Engine;
using epsilog::engine::ReaccountQuestion;
using epsilog::engine::Request;

[[maybe_unused]] Request exact() {
  Request request;
  request.epsilon = Rational(1, 10);
  request.epsilon = epsilog::accounting::parse_rational("1/5", "epsilon");
  request.epsilon = 1;
  request.epsilon = Rational(1, 3) * 2 + Integer(1);
  request.delta = Rational(1, 1'000'000);
  return request;
}

[[maybe_unused]] void asked(const Engine& engine, const Request& request) {
  const std::vector<Rational> many{Rational(1, 20), Rational(1, 100)};
  static_cast<void>(engine.plan(request, {}));
  static_cast<void>(engine.plan(request, {Rational(1, 20)}));
  static_cast<void>(engine.plan(request, many));
  static_cast<void>(engine.forecast_of_accuracy(request, Accuracy{Rational(1, 20), 3}, many));
  ReaccountQuestion question;
  question.delta = Rational(1, 1'000'000);
  static_cast<void>(question);
}

#if defined(EPSILOG_EPSILON_FROM_DOUBLE)
[[maybe_unused]] void inexact(Request& request) {
  request.epsilon = 0.3;
}
#elif defined(EPSILOG_EPSILON_FROM_FLOAT)
[[maybe_unused]] void inexact(Request& request) {
  request.epsilon = 0.3F;
}
#elif defined(EPSILOG_EPSILON_FROM_ARITHMETIC)
[[maybe_unused]] void inexact(Request& request) {
  request.epsilon = Rational(1, 10) * 0.5;
}
#elif defined(EPSILOG_EPSILON_FROM_BOOL)
[[maybe_unused]] void inexact(Request& request) {
  request.epsilon = true;
}
#elif defined(EPSILOG_DELTA_FROM_DOUBLE)
[[maybe_unused]] void inexact(Request& request) {
  request.delta = 1e-6;
}
#elif defined(EPSILOG_ALPHA_FROM_DOUBLE)
[[maybe_unused]] Answer inexact(const Engine& engine, const Request& request) {
  return engine.plan(request, {0.05});
}
#elif defined(EPSILOG_ALPHAS_FROM_DOUBLES)
[[maybe_unused]] Answer inexact(const Engine& engine, const Request& request) {
  return engine.plan(request, std::vector<double>{0.05});
}
#elif defined(EPSILOG_ACCURACY_FROM_DOUBLE)
[[maybe_unused]] Accuracy inexact() {
  return Accuracy{Rational(1, 20), 2.5};
}
#elif defined(EPSILOG_REACCOUNT_FROM_DOUBLE)
[[maybe_unused]] void inexact(ReaccountQuestion& question) {
  question.delta = 1e-6;
}
#endif

}  // namespace
