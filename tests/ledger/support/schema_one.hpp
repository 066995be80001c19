// A ledger as the first schema had it: 0001 alone, and rows such as were written then.
#pragma once

#include <string>

namespace epsilog::ledger_tests {

/// Grants numbered 1..grants of 0.01 epsilon with keys "1".."grants" and values 1..grants, a refusal, two
/// policy versions and a limit raised from 1 to 2 between them.
void create_schema_one(const std::string& path, int grants);

}  // namespace epsilog::ledger_tests
