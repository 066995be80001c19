// The structured columns of the ledger: JSON texts and exact numbers, written and read back.
//
// Writing throws InvalidParameter (text that is not UTF-8); reading throws LedgerCorrupt saying what
// is wrong, and whoever reads adds which record it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/accounting/rational.hpp"
#include "epsilog/ledger/record.hpp"
#include "recorded_numbers.hpp"

namespace epsilog::ledger {

using accounting::Rational;

[[nodiscard]] std::string accounts_json(const std::vector<AccountState>& accounts);
/// The dataset is the decision's own and is not repeated in the text.
[[nodiscard]] std::vector<AccountState> parse_accounts(std::string_view json, const std::string& dataset);

[[nodiscard]] std::string components_json(const std::vector<ComponentRecord>& components,
                                          const std::vector<std::vector<Rational>>& values);
struct Components {
  std::vector<ComponentRecord> records;
  std::vector<std::vector<Rational>> values;  ///< [component][cell]
};
[[nodiscard]] Components parse_components(std::string_view json, RecordedNumbers& numbers);
/// components_json(…) == json, and cheaper.
[[nodiscard]] bool is_components_json(std::string_view json, const std::vector<ComponentRecord>& components,
                                      const std::vector<std::vector<Rational>>& values,
                                      RecordedNumbers& numbers);

/// The columns of a release that only mean something when there is one component; else 0 and "".
struct SingleComponent {
  std::int64_t precision = 0;
  std::string sensitivity;
  std::string bound;
  std::string scale;
  std::string grid;

  friend bool operator==(const SingleComponent&, const SingleComponent&) = default;
};
[[nodiscard]] SingleComponent single_component(const std::vector<ComponentRecord>& components);

[[nodiscard]] std::string texts_json(const std::vector<std::string>& texts);
[[nodiscard]] std::vector<std::string> parse_texts(std::string_view json);

/// A number as its column or member has it; "" for nothing.
[[nodiscard]] std::string number_text(const std::optional<Rational>& number);
/// Throws  LedgerCorrupt unless number_text() writes it so.
[[nodiscard]] std::optional<Rational> parse_number(std::string_view text, const char* column,
                                                   RecordedNumbers& numbers);

[[nodiscard]] std::string rationals_json(const std::vector<Rational>& values);
[[nodiscard]] std::vector<Rational> parse_rationals(std::string_view json);

[[nodiscard]] std::string post_processing_json(const accounting::PostProcessing& recipe);
[[nodiscard]] accounting::PostProcessing parse_post_processing(std::string_view json);

}  // namespace epsilog::ledger
