// Accuracy at one answer is for answers a caller typed; each macro hands it one that was computed.
#include <string_view>

#include "epsilog/mechanisms/snapping_mechanism.hpp"

using epsilog::mechanisms::HypotheticalAnswer;
using epsilog::mechanisms::Rational;
using epsilog::mechanisms::SnappingMechanism;

Rational asked(const SnappingMechanism& mechanism, std::string_view typed, const Rational& alpha) {
  return mechanism.accuracy_at_up(HypotheticalAnswer::parse(typed), alpha);
}

#ifdef EPSILOG_ANSWER_ITSELF
Rational revealed(const SnappingMechanism& mechanism, const Rational& answer, const Rational& alpha) {
  return mechanism.accuracy_at_up(answer, alpha);
}
#endif
#ifdef EPSILOG_MAKE_HYPOTHETICAL
HypotheticalAnswer wrapped(const Rational& answer) {
  return HypotheticalAnswer(answer);
}
#endif
#ifdef EPSILOG_TYPED_NUMBER
HypotheticalAnswer converted(const Rational& answer) {
  return HypotheticalAnswer::parse(answer);
}
#endif
#ifdef EPSILOG_BRACED_HYPOTHETICAL
Rational braced(const SnappingMechanism& mechanism, const Rational& answer, const Rational& alpha) {
  return mechanism.accuracy_at_up({answer}, alpha);
}
#endif
#ifdef EPSILOG_DEFAULT_HYPOTHETICAL
HypotheticalAnswer empty() {
  return HypotheticalAnswer();
}
#endif
