// What is said against a line of a record, and lines of the samples with one thing changed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ledger/support/json_parts.hpp"
#include "ledger/support/sample_records.hpp"

namespace epsilog::ledger_tests {

/// What is said against the line; "" nothing, and then it is what is written of what was read.
std::string fault(const std::string& line);

/// Whether the fault is that of the member, or that of another which it stands in for.
bool names(const std::string& fault, const std::string& member);

/// Hands every member of the samples, those of objects within them too, to `change`, with the whole to be
/// written after it was changed. `path`: "plan.release.charged".
using Change = std::function<void(const JsonParts& whole, JsonParts& object, std::size_t member,
                                  const std::string& path)>;
void each_member_of(const std::vector<SampleRecord>& samples, const Change& change);

const std::string& member_name(const JsonParts& object, std::size_t member);

/// The line of a sample with this text for a member; of several of one path, for the last.
std::string with(const std::vector<SampleRecord>& samples, const std::string& path, const std::string& text);

}  // namespace epsilog::ledger_tests
