// The keys that a ledger says sign its checkpoints: records like any other, with who and why. They tell a
// reader of the history which keys there were; who is to be convinced by a signature has the key from
// somebody else.
#pragma once

#include <functional>
#include <string>

#include "epsilog/engine/signed_note.hpp"
#include "epsilog/ledger/ledger.hpp"

namespace epsilog::engine {

enum class KeyChange { add, retire };

struct KeyReport {
  bool changed = false;  ///< false: it was so already, and nothing was recorded
  std::string at;        ///< "" unless changed
};

/// Records that the key signs checkpoints of the ledger from now on, or does no more.
/// Throws  InvalidParameter: no key of this ledger, or who says so or why is missing; NotFound: one is
///         retired that never was added; as Ledger::begin and commit.
KeyReport record_key_change(ledger::Ledger& ledger, const std::string& verifier_key, KeyChange change,
                            const std::string& by, const std::string& why);

/// Tells of each of these records that cannot be: its number, and why.
void each_unfounded_key(ledger::Snapshot& ledger,
                        const std::function<void(std::int64_t seq, const std::string& why)>& tell);

}  // namespace epsilog::engine
