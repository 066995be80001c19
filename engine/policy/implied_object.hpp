// What a policy implies, as one object that needs no reader of YAML: docs/record_format.md says every field.
//
// It holds all that decides what may be asked, by whom, at which cost and with what distribution: defaults
// written out, inherited values resolved, limits as the accounts they open. It does not hold how the policy
// spells it (order of keys, units of time, comments), nor where data are found.
//
// The bytes are kept in the lines of ledgers for ever: a field that is added later is left out of the object
// of a policy that does not use it, so that what an older program wrote is what a newer one computes.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// Requires  a policy that was read, by Policy::parse_stored() or checked_policy().
/// Ensures   one value of canonical JSON (epsilog/ledger/canonical_json.hpp); equal for policies that differ
///           in spelling or places alone, on every host.
/// Throws    nothing but std::bad_alloc.
[[nodiscard]] std::string implied_object(const Policy& policy);

}  // namespace epsilog::engine
