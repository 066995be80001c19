#include "component_mechanism.hpp"

#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

using mechanisms::DiscreteMechanism;
using mechanisms::DiscreteNoise;
using mechanisms::QuantileMechanism;
using mechanisms::SnappingMechanism;

SnappingMechanism snapping(const Component& component, const MechanismRequest& request) {
  const ReleaseSettings& settings = request.settings;
  return SnappingMechanism({
      .epsilon = request.loss.epsilon,
      .sensitivity = component.sensitivity,
      .coordinates = component.coordinates,
      .lower = component.lower,
      .upper = component.upper,
      .arithmetic = settings.arithmetic == ArithmeticChoice::exact ? mechanisms::Arithmetic::exact
                                                                   : mechanisms::Arithmetic::mpfr,
      .precision = {settings.precision.bits},
      .bound = request.in_units_of_the_answer ? settings.bound : std::nullopt,
      .binding_probability = settings.binding_probability,
      .answer_step = request.published_step,
  });
}

DiscreteMechanism discrete(const Component& component, const MechanismRequest& request) {
  const ReleaseSettings& settings = request.settings;
  const bool gaussian = settings.mechanism == MechanismChoice::gaussian;
  DiscreteMechanism::Options options;
  options.noise = needs_delta(settings.mechanism) ? DiscreteNoise::gaussian : DiscreteNoise::laplace;
  options.loss = request.loss;
  options.rho = request.rho;
  options.sensitivity = component.sensitivity;
  options.sensitivity_l2_squared = component.sensitivity_l2_squared;
  options.coordinates = component.coordinates;
  options.lower = component.lower;
  options.upper = component.upper;
  if (request.in_units_of_the_answer) options.grid = settings.grid;
  // Told no step, `auto` takes a fine grid, which is what the policy's `gaussian` means.
  if (!gaussian || options.grid) options.answer_step = component.step;
  return DiscreteMechanism(options);
}

QuantileMechanism selecting(const Component& component, const MechanismRequest& request) {
  QuantileMechanism::Options options = *component.quantiles;
  options.selection = request.selection == SelectionChoice::exponential
                          ? mechanisms::Selection::exponential
                          : mechanisms::Selection::permute_and_flip;
  options.epsilon = request.loss.epsilon;
  return QuantileMechanism(options);
}

ledger::ComponentRecord component_record(const SnappingMechanism::Parameters& parameters) {
  return {
      .statistic = "",
      .epsilon = parameters.charged,
      .sensitivity = parameters.sensitivity,
      .scale = parameters.scale,
      .grid = parameters.grid,
      .centre = parameters.centre,
      .bound = parameters.bound,
      .coordinates = static_cast<std::int64_t>(parameters.coordinates),
      .precision = static_cast<std::int64_t>(parameters.precision),
      .adjusted = parameters.adjusted,
      .published = parameters.published,
      .published_note = parameters.published_note,
  };
}

ledger::ComponentRecord component_record(const DiscreteMechanism::Parameters& parameters) {
  const bool gaussian = parameters.noise == DiscreteNoise::gaussian;
  const auto of_gaussian = [gaussian](const auto& value) {
    return gaussian ? std::optional(value) : std::nullopt;
  };
  return {
      .statistic = "",
      .epsilon = parameters.charged.epsilon,
      .delta = of_gaussian(parameters.charged.delta),
      .sensitivity = parameters.sensitivity,
      .sensitivity_l2_squared = of_gaussian(parameters.sensitivity_l2_squared),
      .grid_sensitivity = gaussian ? std::nullopt : std::optional(parameters.inflated),
      .grid_sensitivity_l2_squared = of_gaussian(parameters.inflated),
      .scale = parameters.scale,
      .grid = parameters.grid,
      .coordinates = static_cast<std::int64_t>(parameters.coordinates),
      .precision = 0,
      .adjusted = parameters.adjusted,
      .adjusted_delta = of_gaussian(parameters.adjusted_delta),
      .rho = of_gaussian(parameters.rho),
      .published_note = "",
  };
}

/// What is scaled is the error of a rank. The grid is that of the candidates, 1 where they are listed: which
/// they are follows from the policy.
ledger::ComponentRecord component_record(const QuantileMechanism& mechanism, const Component& component) {
  const QuantileMechanism::Parameters& p = mechanism.parameters();
  ledger::ComponentRecord record;
  record.epsilon = p.charged.epsilon;
  record.sensitivity = component.sensitivity;
  record.scale = 2 * component.sensitivity / p.level_epsilon;
  record.grid = p.values.list.empty() ? p.values.step : Rational(1);
  record.coordinates = static_cast<std::int64_t>(component.coordinates);
  record.adjusted = p.adjusted;
  if (p.selection == mechanisms::Selection::exponential) record.rho = p.rho;
  return record;
}

bool on_grid(const Rational& value, const Rational& grid) {
  return Rational(value / grid).get_den() == 1;
}

bool released_by(const SnappingMechanism::Parameters& parameters, const Rational& value) {
  const Rational shifted = value - parameters.centre;
  if (abs(shifted) > parameters.bound) return false;
  return abs(shifted) == parameters.bound || on_grid(shifted, parameters.grid);
}

bool released_by(const DiscreteMechanism::Parameters& parameters, const Rational& value) {
  return on_grid(value, parameters.grid);
}

bool released_by(const QuantileMechanism::Parameters& parameters, const Rational& value) {
  return parameters.values.find(value, parameters.candidates).has_value();
}

}  // namespace

bool needs_delta(MechanismChoice mechanism) {
  return mechanism == MechanismChoice::discrete_gaussian || mechanism == MechanismChoice::gaussian;
}

ComponentMechanism::ComponentMechanism(const Component& component, const MechanismRequest& request)
    : mechanism_(component.quantiles ? decltype(mechanism_)(selecting(component, request))
                 : request.settings.mechanism == MechanismChoice::snapping
                     ? decltype(mechanism_)(snapping(component, request))
                     : decltype(mechanism_)(discrete(component, request))) {
  EPSILOG_INVARIANT(charged() == request.loss);
}

accounting::ApproximateLoss ComponentMechanism::charged() const {
  return std::visit([](const auto& m) -> accounting::ApproximateLoss { return m.parameters().charged; },
                    mechanism_);
}

Rational ComponentMechanism::adjusted() const {
  return std::visit([](const auto& m) { return m.parameters().adjusted; }, mechanism_);
}

Rational ComponentMechanism::adjusted_delta() const {
  const auto* discrete = std::get_if<DiscreteMechanism>(&mechanism_);
  return discrete != nullptr ? discrete->parameters().adjusted_delta : Rational(0);
}

accounting::LossFacts ComponentMechanism::loss_facts() const {
  using Kind = accounting::LossFacts::Kind;
  if (const QuantileMechanism* selected = quantiles()) return selected->loss_facts();
  const auto* discrete = std::get_if<DiscreteMechanism>(&mechanism_);
  if (discrete != nullptr && discrete->parameters().noise == DiscreteNoise::gaussian) {
    return {.kind = Kind::gaussian, .epsilon = 0, .rho = discrete->parameters().rho};
  }
  EPSILOG_INVARIANT(charged().pure());  // a delta would go uncharged in rho and in divergences
  return {.kind = Kind::pure, .epsilon = charged().epsilon.rational(), .rho = 0};
}

std::optional<Rational> ComponentMechanism::published() const {
  const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_);
  return snapping != nullptr ? snapping->parameters().published : std::nullopt;
}

std::string ComponentMechanism::precision_reason() const {
  const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_);
  return snapping != nullptr ? snapping->parameters().precision_reason : "";
}

std::optional<WholeRange> ComponentMechanism::whole_range() const {
  const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_);
  if (snapping == nullptr || snapping->parameters().grid >= 1) return std::nullopt;
  const SnappingMechanism::Parameters& parameters = snapping->parameters();
  const WholeRange range{accounting::ceil(parameters.centre - parameters.bound),
                         accounting::floor(parameters.centre + parameters.bound)};
  return range.least <= range.most ? std::optional(range) : std::nullopt;
}

const QuantileMechanism* ComponentMechanism::quantiles() const {
  return std::get_if<QuantileMechanism>(&mechanism_);
}

std::size_t ComponentMechanism::bytes_drawn(std::size_t values) const {
  if (const QuantileMechanism* selected = quantiles()) return selected->bytes_drawn();
  // A block of words of a discrete mechanism, and some attempts at each value.
  constexpr std::size_t kOfMechanism = 512;
  constexpr std::size_t kOfValue = 64;
  return kOfMechanism + kOfValue * values;
}

Rational ComponentMechanism::accuracy_up(const Rational& alpha) const {
  if (const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_)) return snapping->accuracy_up(alpha);
  const auto* discrete = std::get_if<DiscreteMechanism>(&mechanism_);
  EPSILOG_INVARIANT(discrete != nullptr);
  return discrete->accuracy_up(alpha);
}

std::optional<mechanisms::AnswerIntervals> ComponentMechanism::intervals(const Rational& alpha,
                                                                         mechanisms::Shown shown) const {
  if (const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_)) {
    return snapping->intervals(alpha, shown);
  }
  EPSILOG_INVARIANT(shown == mechanisms::Shown::as_released);
  const auto* discrete = std::get_if<DiscreteMechanism>(&mechanism_);
  return discrete != nullptr ? std::optional(discrete->intervals(alpha)) : std::nullopt;
}

std::optional<mechanisms::AnswerNoise> ComponentMechanism::noise() const {
  if (const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_)) return snapping->noise();
  const auto* discrete = std::get_if<DiscreteMechanism>(&mechanism_);
  return discrete != nullptr ? std::optional(discrete->noise()) : std::nullopt;
}

bool ComponentMechanism::can_release(const Rational& value) const {
  return std::visit([&value](const auto& m) { return released_by(m.parameters(), value); }, mechanism_);
}

ledger::ComponentRecord ComponentMechanism::record(const Component& component) const {
  ledger::ComponentRecord result;
  if (const QuantileMechanism* selected = quantiles()) {
    result = component_record(*selected, component);
  } else if (const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_)) {
    result = component_record(snapping->parameters());
  } else {
    result = component_record(std::get<DiscreteMechanism>(mechanism_).parameters());
  }
  result.statistic = std::string(name(component.quantity));
  return result;
}

accounting::SealedRelease ComponentMechanism::release(const ExactAnswer& answer, std::size_t component,
                                                      accounting::ChargeReceipt receipt,
                                                      mechanisms::BitSource& bits) const {
  if (const QuantileMechanism* selected = quantiles()) {
    return selected->release(answer.counts, std::move(receipt), bits);
  }
  const std::vector<Rational>& values = answer.values[component];
  if (const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_)) {
    return snapping->release(values, std::move(receipt), bits);
  }
  return std::get<DiscreteMechanism>(mechanism_).release(values, std::move(receipt), bits);
}

std::vector<Rational> ComponentMechanism::draw_invented(std::span<const mechanisms::InventedAnswer> answers,
                                                        std::span<const mechanisms::InventedCounts> counts,
                                                        mechanisms::BitSource& bits) const {
  if (const QuantileMechanism* selected = quantiles()) return selected->draw_invented(counts, bits);
  if (const auto* snapping = std::get_if<SnappingMechanism>(&mechanism_))
    return snapping->draw_invented(answers, bits);
  return std::get<DiscreteMechanism>(mechanism_).draw_invented(answers, bits);
}

}  // namespace epsilog::engine
