// What an audit finds.
#pragma once

#include <string>

namespace epsilog::engine {

/// One thing `audit verify` found. `record` is a decision id, "account N", "policy N", "schema", …
struct AuditFault {
  std::string record;
  std::string code;
  std::string message;
};

}  // namespace epsilog::engine
