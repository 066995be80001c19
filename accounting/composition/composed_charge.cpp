#include "epsilog/accounting/composed_charge.hpp"

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {

std::string_view name(ComposedBy by) {
  switch (by) {
    case ComposedBy::sum:
      return "sum";
    case ComposedBy::zcdp:
      return "zcdp";
    case ComposedBy::pld:
      return "pld";
  }
  throw InvalidParameter("composed charge: there is no such bound");
}

}  // namespace epsilog::accounting
