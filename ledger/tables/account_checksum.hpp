// What tells an account's row from one in which a bit has flipped.
#pragma once

#include <cstdint>

#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

/// Of id, dataset, scope, measure, limit, spent and reserved, as docs/ledger_format.md defines it: the
/// first eight bytes of the SHA-256 of the seven as netstrings, as a big-endian two's complement number. It
/// is against accidents, not against forgers: whoever writes the file can compute it.
/// Thread-safety: pure function.
[[nodiscard]] std::int64_t account_checksum(const AccountState& account);

}  // namespace epsilog::ledger
