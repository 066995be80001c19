// A contradiction that a verification found in what is stored.
#pragma once

#include <string>

namespace epsilog::ledger {

/// Something stored that contradicts something else that is stored.
/// Thread-safety: value.
struct StoredFault {
  std::string record;   ///< what it is about: "account 3", "policy 2", or the id of a decision
  std::string code;     ///< stable word for programs
  std::string message;  ///< for people
};

}  // namespace epsilog::ledger
