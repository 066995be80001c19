#include "epsilog/accounting/filter_theorem.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {

std::string_view filter_theorem(FilterKind kind) {
  switch (kind) {
    case FilterKind::pure:
      return "pure DP filter: the sum of epsilons (Rogers, Roth, Ullman and Vadhan 2016)";
    case FilterKind::approximate:
      return "approximate DP filter: the sums of epsilons and of deltas (Rogers, Roth, Ullman and Vadhan "
             "2016)";
    case FilterKind::zcdp:
      return "zCDP filter: the sum of rhos (Whitehouse, Ramdas, Rogers and Wu 2023)";
    case FilterKind::renyi:
      return "Renyi filter: the sum of divergences of one fixed order (Feldman and Zrnic 2021)";
  }
  throw InvalidParameter("kind: is no kind of filter");
}

}  // namespace epsilog::accounting
