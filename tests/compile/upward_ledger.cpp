// Compiled as a part of ledger: what it may include, and what it must not find.
#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/ledger/ledger.hpp"
#ifdef EPSILOG_INCLUDE_mechanisms
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#endif
#ifdef EPSILOG_INCLUDE_engine
#include "epsilog/engine/engine.hpp"
#endif
