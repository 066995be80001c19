// Compiled as a part of mechanisms: what it may include, and what it must not find.
#include "epsilog/accounting/charge_receipt.hpp"
#include "epsilog/mechanisms/snapping_mechanism.hpp"
#ifdef EPSILOG_INCLUDE_ledger
#include "epsilog/ledger/ledger.hpp"
#endif
#ifdef EPSILOG_INCLUDE_engine
#include "epsilog/engine/engine.hpp"
#endif
