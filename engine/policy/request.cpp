#include "epsilog/engine/request.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

constexpr long kAlphaExponentMin = -16'384;

}  // namespace

Request request_of_row(const Request& request, std::size_t row) {
  const RequestRow& asked = request.rows.at(row);
  Request result;
  result.dataset = request.dataset;
  result.question = asked.question;
  result.epsilon = asked.epsilon;
  result.delta = asked.delta;
  result.rho = asked.rho;
  result.principal = request.principal;
  result.via = request.via;
  result.purpose = request.purpose;
  result.reservation = request.reservation;
  return result;
}

Rational Alphas::least() {
  return accounting::power_of_two(kAlphaExponentMin);
}

void Alphas::add(const accounting::Exact& value) {
  if (value <= 0 || value >= 1) throw InvalidParameter("alpha: must lie strictly between 0 and 1");
  if (value < least()) {
    throw InvalidParameter("alpha: is below the smallest probability an accuracy is told at, 2^-16384");
  }
  values_.push_back(value);
}

}  // namespace epsilog::engine
