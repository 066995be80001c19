#include "recordable.hpp"

#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

/// What the key, the asker and the supplied value are is no part of the text.
bool same_request(const Request& one, const Request& other) {
  const Question& first = one.question;
  const Question& second = other.question;
  return one.dataset == other.dataset && one.epsilon == other.epsilon && one.delta == other.delta &&
         one.rho == other.rho && one.purpose == other.purpose && one.holding == other.holding &&
         first.statistic.kind == second.statistic.kind &&
         first.statistic.subject == second.statistic.subject &&
         first.statistic.quantiles == second.statistic.quantiles &&
         first.statistic.value == second.statistic.value &&
         first.statistic.divisor == second.statistic.divisor && first.by == second.by &&
         first.where == second.where && first.suppress_below == second.suppress_below;
}

[[noreturn]] void refuse() {
  throw InvalidParameter("request: it cannot be recorded so that it reads back as what is asked");
}

}  // namespace

void require_recordable(const Request& request, const std::string& canonical) {
  try {
    const Request read = parse_stored_request(canonical).request;
    if (!same_request(read, request) || canonical_request(read) != canonical) refuse();
  } catch (const LedgerCorrupt&) {
    refuse();
  }
}

std::string recordable_reasons(const Decision& decision) {
  std::string text = reasons_text(decision, ledger::kRules);
  if (reasons_text(parse_reasons(text), ledger::kRules) != text) {
    throw Error("reasons: they would not be read back as what they are; nothing was recorded");
  }
  return text;
}

}  // namespace epsilog::engine
