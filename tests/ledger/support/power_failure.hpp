// What a disk may hold after a power failure, as files that can be opened.
#pragma once

#include "ledger/support/fixture.hpp"

namespace epsilog::ledger_tests {

/// Puts an image where `from` was, under another directory.
void write_image(const std::map<std::string, std::string>& image, const std::string& from,
                 const std::string& to);

/// The database and its log, by path.
[[nodiscard]] std::map<std::string, std::string> files_of(const LedgerFixture& fixture);

}  // namespace epsilog::ledger_tests
