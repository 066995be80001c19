#include "recordable.hpp"

#include <algorithm>

#include "canonical_request.hpp"
#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {
namespace {

bool same_question(const Question& one, const Question& other) {
  return one.statistic.kind == other.statistic.kind && one.statistic.subject == other.statistic.subject &&
         one.statistic.quantiles == other.statistic.quantiles &&
         one.statistic.value == other.statistic.value && one.statistic.divisor == other.statistic.divisor &&
         one.by == other.by && one.where == other.where && one.totals == other.totals &&
         one.consistent == other.consistent && one.suppress_below == other.suppress_below;
}

template <class Asked>
bool same_asked(const Asked& one, const Asked& other) {
  return one.epsilon == other.epsilon && one.delta == other.delta && one.rho == other.rho &&
         same_question(one.question, other.question);
}

/// What the key, the asker and the supplied value are is no part of the text.
bool same_request(const Request& one, const Request& other) {
  return one.dataset == other.dataset && one.unread == other.unread && one.purpose == other.purpose &&
         one.reservation == other.reservation && same_asked(one, other) &&
         std::equal(one.rows.begin(), one.rows.end(), other.rows.begin(), other.rows.end(),
                    [](const RequestRow& a, const RequestRow& b) { return same_asked(a, b); });
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
  std::string text = reasons_text(decision);
  if (reasons_text(parse_reasons(text)) != text) {
    throw Error("reasons: they would not be read back as what they are; nothing was recorded");
  }
  return text;
}

}  // namespace epsilog::engine
