// Compiled as a part of accounting: what it may include, and what it must not find.
#include "epsilog/accounting/quantity.hpp"
#ifdef EPSILOG_INCLUDE_mechanisms
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#endif
#ifdef EPSILOG_INCLUDE_ledger
#include "epsilog/ledger/ledger.hpp"
#endif
#ifdef EPSILOG_INCLUDE_engine
#include "epsilog/engine/engine.hpp"
#endif
