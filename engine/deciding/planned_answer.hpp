// What an answer says of a request that was planned and judged, before anything is recorded or drawn.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "epsilog/engine/answer.hpp"
#include "judgement.hpp"

namespace epsilog::engine {

/// As accuracies().
using Accuracies = std::vector<std::vector<Accuracy>>;

/// Whether the rows of a batch are told. A list that leaves them out leaves out what they share too: their
/// components and records.
enum class BatchRows : std::uint8_t { included, left_out };

/// The public part of an answer: what is asked, and what is or would be recorded. It names no ledger.
/// `of_rows`: of a batch the accuracies of its rows; none are told of those it does not have.
[[nodiscard]] Answer planned_answer(const Request& request, const Plan& plan, std::int64_t policy_version,
                                    Accuracies accuracy, std::vector<Accuracies> of_rows = {},
                                    BatchRows rows = BatchRows::included);

/// What is said of a request that admitted_request() left unread: that who asks may not ask this dataset.
[[nodiscard]] Answer access_refusal_answer(const Policy& policy, const Dataset& dataset,
                                           const Request& unread, std::int64_t policy_version);

/// What would become of the request: the balances are told unless who asks may know nothing of them.
void add_judgement(Answer& answer, const Judgement& judgement, const std::vector<Debit>& debits);

}  // namespace epsilog::engine
