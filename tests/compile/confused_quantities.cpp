// Amounts of privacy loss and what may be done with them; each macro is what may not.
#include "epsilog/accounting/composition.hpp"
#include "epsilog/accounting/quantity.hpp"

using epsilog::accounting::compose_sequential;
using epsilog::accounting::Delta;
using epsilog::accounting::Epsilon;
using epsilog::accounting::Rho;

Epsilon both(Epsilon first, Epsilon second) {
  return compose_sequential(first, second);
}
Epsilon parsed() {
  return Epsilon::parse_down("0.1");
}
Epsilon counted() {
  return Epsilon::from_units(100);
}
bool less(Epsilon first, Epsilon second) {
  return first < second;
}

#ifdef EPSILOG_ADD
Epsilon added(Epsilon first, Epsilon second) {
  return first + second;
}
#endif
#ifdef EPSILOG_FROM_DOUBLE
Epsilon rounded() {
  return Epsilon(0.1);
}
#endif
#ifdef EPSILOG_FROM_INTEGER
Epsilon unitless() {
  return Epsilon(std::int64_t{1});
}
#endif
#ifdef EPSILOG_TO_DOUBLE
double approximated(Epsilon epsilon) {
  return epsilon;
}
#endif
#ifdef EPSILOG_DELTA_AS_EPSILON
Epsilon confused(Delta delta, Epsilon epsilon) {
  return compose_sequential(delta, epsilon);
}
#endif
#ifdef EPSILOG_COMPARE_MEASURES
bool compared(Rho rho, Epsilon epsilon) {
  return rho < epsilon;
}
#endif
