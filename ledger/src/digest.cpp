#include "epsilog/ledger/digest.hpp"

#include "sha256.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {

std::string sha256_hex(std::string_view bytes) {
  return hex_text(sha256(bytes));
}

}  // namespace epsilog::ledger
