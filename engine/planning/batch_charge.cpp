#include "batch_charge.hpp"

#include <string>
#include <unordered_map>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "loss_caps.hpp"
#include "recorded_loss.hpp"

namespace epsilog::engine {
namespace {

std::vector<std::size_t> first_draws(const Plan& batch) {
  std::vector<std::size_t> first{0};
  for (const auto& row : batch.rows) first.push_back(first.back() + row->mechanisms.size());
  return first;
}

/// What each draw loses is read off what will be recorded of it, as whoever checks the record does.
accounting::FixedDraws fixed_draws(const Plan& batch, accounting::Delta delta) {
  std::vector<accounting::KnownLoss> laws;
  std::vector<accounting::FixedDraw> draws;
  std::unordered_map<std::string, std::size_t> numbers;
  for (const auto& row : batch.rows) {
    for (std::size_t i = 0; i < row->mechanisms.size(); ++i) {
      const std::string& mechanism = row->record.mechanism;
      const ledger::ComponentRecord& component = row->record.components[i];
      const auto [number, fresh] = numbers.emplace(loss_key(mechanism, component), laws.size());
      if (fresh) laws.push_back(recorded_loss(mechanism, component));
      draws.push_back({row->mechanisms[i].charged(), number->second});
    }
  }
  return {std::move(laws), std::move(draws), delta};
}

}  // namespace

BatchCharge::BatchCharge(const Plan& batch, accounting::Delta delta)
    : first_(first_draws(batch)), draws_(fixed_draws(batch, delta)) {}

accounting::ComposedCharge BatchCharge::of(const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> numbers;
  for (const std::size_t row : rows) {
    for (std::size_t draw = first_.at(row); draw < first_.at(row + 1); ++draw) numbers.push_back(draw);
  }
  return draws_.charge_of_part(numbers);
}

std::optional<accounting::Delta> delta_of_batch(const Dataset& dataset, const Request& request,
                                                accounting::Delta lost) {
  if (!request.delta) return std::nullopt;
  if (*request.delta <= 0 || *request.delta >= 1) {
    throw InvalidParameter("delta: must lie strictly between 0 and 1");
  }
  const auto delta = accounting::Delta::from_rational_down(*request.delta);
  if (delta == accounting::Delta()) {
    throw InvalidParameter("delta: " + accounting::text(*request.delta) +
                           " is below the smallest one kept, 0.000000000000000001");
  }
  if (lost > delta) {
    throw InvalidParameter("delta: the rows lose " + lost.text() + " together, more than the " +
                           delta.text() + " of the whole batch");
  }
  if (!counts_delta(dataset)) {
    throw InvalidParameter("delta: no budget of '" + dataset.name +
                           "' counts epsilon and delta, and in every other measure a batch costs the sum of "
                           "its rows; leave the delta of the whole batch out");
  }
  return delta;
}

}  // namespace epsilog::engine
