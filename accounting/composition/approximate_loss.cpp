#include "epsilog/accounting/approximate_loss.hpp"

namespace epsilog::accounting {

std::string ApproximateLoss::text() const {
  return pure() ? epsilon.text() : "(" + epsilon.text() + ", " + delta.text() + ")";
}

}  // namespace epsilog::accounting
