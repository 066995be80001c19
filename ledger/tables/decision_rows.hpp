// Decisions and their movements as rows, and what rows say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "connection.hpp"
#include "data_token.hpp"
#include "epsilog/ledger/record.hpp"
#include "queries.hpp"
#include "records.hpp"
#include "stored_values.hpp"

namespace epsilog::ledger {

/// A decision as its rows have it, and where its line is.
struct DecisionRow {
  DecisionRecord record;
  std::int64_t line = 0;
  TokenColumns token;  ///< as they are stored
};

/// The row a decision query (EPSILOG_DECISION_COLUMNS) stands on, with its movements. Whether it is what was
/// recorded is not looked at (leaf_check.hpp).
/// Throws  UnreadableRow naming it.
[[nodiscard]] DecisionRow record_of_row(Connection& connection, const Query& row);

/// "decision 7 (ID): ", before what is wrong with it.
[[nodiscard]] std::string decision_label(const DecisionRecord& record);

/// What a record says, with the plan, names and accounts it refers to.
/// Throws  UnreadableRow also where its values do not follow from its components, unless `as_stored`.
enum class ValueCheck { checked, as_stored };
[[nodiscard]] StoredDecision decision_of(Connection& connection, DecisionRow recorded,
                                         ValueCheck reading = ValueCheck::checked);

/// Writes the rows; its parent is one that is there, its plan too. `values` are those of the record.
/// Ensures  meta counts the names and programs that were new.
void insert_decision(Connection& connection, Meta& meta, const DecisionRecord& record,
                     const StoredValues& values, std::int64_t line, const TokenColumns& token);

/// The numbers that outcomes are stored by.
[[nodiscard]] std::int64_t outcome_number(Outcome outcome);
/// Throws  LedgerCorrupt if there is no such.
[[nodiscard]] Outcome outcome_of(std::int64_t number);
/// By its word (outcome_name()).
/// Throws  likewise.
[[nodiscard]] Outcome outcome_named(std::string_view word);
/// What the movements of a decision charge: what it spends, or keeps reserved.
[[nodiscard]] std::vector<Charge> charges_of(const DecisionRecord& record);

}  // namespace epsilog::ledger
