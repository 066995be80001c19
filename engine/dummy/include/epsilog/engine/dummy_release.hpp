// A release without data, charge or record: the answer to a question about rows that are invented from the
// policy, with the noise that a release under this policy would have.
//
// Rows    A function of the dataset's declarations alone (docs/planning.md): the same in every run and on
//         every machine. Only the noise differs.
// Reads   No file: neither the source nor a ledger is opened, whatever the policy names. What is refused is
//         what a ledger made of this policy would refuse while nothing is spent.
// Thread-safety: may run concurrently if the bit sources may.
#pragma once

#include <cstdint>

#include "epsilog/engine/answer.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/request.hpp"
#include "epsilog/mechanisms/bit_source.hpp"

namespace epsilog::engine {

/// A type of its own, so that nothing that takes an answer takes one of these by mistake.
struct DummyAnswer {
  /// As `plan` would say it, with `released` drawn from invented rows. `recorded` has neither id, key,
  /// ledger, time nor accounts; its state is that of the release it stands for: granted, pending where that
  /// would wait for approvals (values are there all the same), or refused, and then nothing is drawn.
  Answer would_be;
  std::uint64_t rows = 0;  ///< invented; 0 where it is refused
};

/// Requires  `policy` by checked_policy(); `bits` as unpredictable as those of a release, should the noise
///           look like one.
/// Ensures   plan, mechanisms and parameters are those of Engine::release() of the request under this policy,
///           and the draws have their law.
/// Throws    NotFound, Underivable, InvalidParameter as Engine::plan(); InvalidParameter for a key, which is
///           bound by nothing, a value handed in, which could be true, a request to be held, and value:NAME,
///           of which no row says anything; EntropyUnavailable.
[[nodiscard]] DummyAnswer dummy_release(const Policy& policy, const Request& request,
                                        mechanisms::BitSource& bits, const Alphas& alphas = {});

}  // namespace epsilog::engine
