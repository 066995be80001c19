// The structured columns of the ledger: JSON texts and exact numbers, written and read back.
//
// Writing throws InvalidParameter (text that is not UTF-8); reading throws LedgerCorrupt saying what
// is wrong, and whoever reads adds which record it was.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/ledger/record.hpp"

namespace epsilog::ledger {

using accounting::Rational;

[[nodiscard]] std::string accounts_json(const std::vector<AccountState>& accounts);
/// The dataset is the decision's own and is not repeated in the text.
[[nodiscard]] std::vector<AccountState> parse_accounts(std::string_view json, const std::string& dataset);

[[nodiscard]] std::string components_json(const std::vector<ComponentRecord>& components,
                                          const std::vector<std::vector<Rational>>& values);
void parse_components(std::string_view json, std::vector<ComponentRecord>& components,
                      std::vector<std::vector<Rational>>& values);

[[nodiscard]] std::string texts_json(const std::vector<std::string>& texts);
[[nodiscard]] std::vector<std::string> parse_texts(std::string_view json);

[[nodiscard]] std::string rationals_json(const std::vector<Rational>& values);
[[nodiscard]] std::vector<Rational> parse_rationals(std::string_view json);

[[nodiscard]] std::string post_processing_json(const accounting::PostProcessing& recipe);
[[nodiscard]] accounting::PostProcessing parse_post_processing(std::string_view json);

}  // namespace epsilog::ledger
