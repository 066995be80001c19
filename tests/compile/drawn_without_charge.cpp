// What is drawn without a charge is drawn from invented answers alone; each macro hands in another number.
#include <span>
#include <string_view>
#include <vector>

#include "epsilog/mechanisms/discrete_mechanism.hpp"
#include "epsilog/mechanisms/hypothetical_answer.hpp"
#include "epsilog/mechanisms/quantile_mechanism.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"

using epsilog::accounting::SealedRelease;
using epsilog::mechanisms::BitSource;
using epsilog::mechanisms::CandidateRows;
using epsilog::mechanisms::DiscreteMechanism;
using epsilog::mechanisms::HypotheticalAnswer;
using epsilog::mechanisms::InventedAnswer;
using epsilog::mechanisms::InventedCounts;
using epsilog::mechanisms::QuantileMechanism;
using epsilog::mechanisms::Rational;
using epsilog::mechanisms::SnappingMechanism;

std::vector<Rational> drawn(const SnappingMechanism& mechanism, std::span<const InventedAnswer> invented,
                            BitSource& bits) {
  return mechanism.draw_invented(invented, bits);
}
std::vector<Rational> selected_of_nobody(const QuantileMechanism& mechanism,
                                         std::span<const InventedCounts> cells, BitSource& bits) {
  return mechanism.draw_invented(cells, bits);
}

#ifdef EPSILOG_DRAW_SNAPPED
std::vector<Rational> revealed(const SnappingMechanism& mechanism, std::span<const Rational> answers,
                               BitSource& bits) {
  return mechanism.draw_invented(answers, bits);
}
#endif
#ifdef EPSILOG_DRAW_DISCRETE
std::vector<Rational> revealed(const DiscreteMechanism& mechanism, std::span<const Rational> answers,
                               BitSource& bits) {
  return mechanism.draw_invented(answers, bits);
}
#endif
#ifdef EPSILOG_DRAW_SELECTED
std::vector<Rational> selected(const QuantileMechanism& mechanism,
                               std::span<const std::vector<CandidateRows>> cells, BitSource& bits) {
  return mechanism.draw_invented(cells, bits);
}
#endif
#ifdef EPSILOG_MAKE_COUNTS
InventedCounts wrapped(const std::vector<CandidateRows>& rows) {
  return InventedCounts(rows);
}
#endif
#ifdef EPSILOG_DRAW_UNSEEN
std::vector<Rational> revealed(const SnappingMechanism& mechanism, std::span<const Rational> answers,
                               BitSource& bits) {
  return mechanism.draw_values(answers, bits);
}
#endif
#ifdef EPSILOG_MAKE_INVENTED
InventedAnswer wrapped(const Rational& answer) {
  return InventedAnswer(answer);
}
#endif
#ifdef EPSILOG_TYPED_INVENTED
std::vector<Rational> typed(const SnappingMechanism& mechanism, std::string_view text, BitSource& bits) {
  const std::vector<HypotheticalAnswer> answers{HypotheticalAnswer::parse(text)};
  return mechanism.draw_invented(answers, bits);
}
#endif
#ifdef EPSILOG_DEFAULT_INVENTED
InventedAnswer empty() {
  return InventedAnswer();
}
#endif
#ifdef EPSILOG_SEAL_INVENTED
SealedRelease sealed(const SnappingMechanism& mechanism, std::span<const InventedAnswer> invented,
                     BitSource& bits) {
  return mechanism.draw_invented(invented, bits);
}
#endif
