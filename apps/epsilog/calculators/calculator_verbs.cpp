#include "calculator_verbs.hpp"

namespace epsilog::command {

std::vector<VerbSpec> calculator_verbs() {
  return {accuracy_snapping_verb(),
          accuracy_discrete_gaussian_verb(),
          accuracy_discrete_laplace_verb(),
          calibrate_snapping_verb(),
          calibrate_gaussian_verb(),
          tolerance_laplace_verb(),
          tolerance_gaussian_verb(),
          tolerance_mean_verb(),
          compose_verb()};
}

}  // namespace epsilog::command
