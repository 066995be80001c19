// The keys of a ledger, as it says itself: who trusts a checkpoint got its key from elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace epsilog::ledger {

/// A key signs checkpoints from then on, or no more.
struct KeyEvent {
  std::int64_t seq = 0;      ///< 1, 2, …
  bool retired = false;      ///< else added
  std::string verifier_key;  ///< C2SP signed-note
  std::string at;
  std::string by;
  std::string why = {};

  friend bool operator==(const KeyEvent&, const KeyEvent&) = default;
};

/// What the last event says of a key.
enum class KeyStatus : std::uint8_t { unknown, added, retired };

}  // namespace epsilog::ledger
