#include "canonical_request.hpp"

#include <nlohmann/json.hpp>

#include "each_question.hpp"
#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/unreadable_row.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kCanonicalMax = 65'536;
constexpr std::size_t kCanonicalBatchMax = 1'048'576;

constexpr std::string_view kPlain = "plain";
constexpr std::string_view kAgainstToken = "data_token";

std::string_view reservation_text(ReservationKind reservation) {
  return reservation == ReservationKind::reserved_against_token ? kAgainstToken : kPlain;
}

ReservationKind parse_reservation(const std::optional<std::string>& text) {
  if (!text) return ReservationKind::none;
  if (*text == kPlain) return ReservationKind::reserved;
  if (*text == kAgainstToken) return ReservationKind::reserved_against_token;
  throw LedgerCorrupt("unknown reservation '" + *text + "'");
}

/// Of a request or a row of one: a question, and what it may cost.
template <class Asked>
void add_question(const Asked& asked, nlohmann::json& json) {
  const Question& question = asked.question;
  json["statistic"] = question.statistic.text();
  // One of the two, so that a text says one thing.
  if (asked.rho) {
    json["rho"] = accounting::text(*asked.rho);
  } else {
    json["epsilon"] = accounting::text(asked.epsilon);
  }
  if (asked.delta) json["delta"] = accounting::text(*asked.delta);
  if (question.by.size() == 1) json["by"] = question.by.front();
  if (question.by.size() > 1) json["by"] = question.by;
  if (question.totals) json["totals"] = accounting::text(*question.totals);
  if (question.consistent) json["consistent"] = true;
  if (const auto& least = question.suppress_below) json["suppress_below"] = accounting::text(*least);
  if (question.where) json["where"] = question.where->text();
}

nlohmann::json members(const Request& request) {
  nlohmann::json json = {{"dataset", request.dataset}};
  if (request.unread) return json;
  if (request.rows.empty()) add_question(request, json);
  for (const RequestRow& row : request.rows) add_question(row, json["rows"].emplace_back());
  if (!request.rows.empty() && request.delta) json["delta"] = accounting::text(*request.delta);
  if (!request.purpose.empty()) json["purpose"] = request.purpose;
  if (request.reservation != ReservationKind::none)
    json["reservation"] = reservation_text(request.reservation);
  return json;
}

std::string dump_checked(const nlohmann::json& request) {
  try {
    return request.dump();
  } catch (const nlohmann::json::type_error&) {
    throw InvalidParameter(
        "request: the names of its dataset, statistic and columns and its texts must be UTF-8");
  }
}

/// One column stands there as its name, several as a list.
std::vector<std::string> stored_columns(const nlohmann::json& json) {
  const auto by = json.find("by");
  if (by == json.end()) return {};
  if (!by->is_array()) return {by->get<std::string>()};
  auto columns = by->get<std::vector<std::string>>();
  if (columns.size() < 2) throw LedgerCorrupt("its `by` is a list of fewer than two columns");
  return columns;
}

std::optional<std::string> optional_member(const nlohmann::json& json, const char* name) {
  if (!json.contains(name)) return std::nullopt;
  return json.at(name).get<std::string>();
}

template <class Asked>
void read_question(const nlohmann::json& json, Asked& asked) {
  if (const auto rho = optional_member(json, "rho")) {
    if (json.contains("epsilon") || json.contains("delta")) {
      throw LedgerCorrupt("it asks for rho, and for epsilon or delta too");
    }
    asked.rho = accounting::parse_stored_rational(*rho, "rho");
  } else {
    asked.epsilon = accounting::parse_stored_rational(json.at("epsilon").get<std::string>(), "epsilon");
  }
  if (const auto delta = optional_member(json, "delta")) {
    asked.delta = accounting::parse_stored_rational(*delta, "delta");
  }
  asked.question = parse_question_by(json.at("statistic").get<std::string>(), stored_columns(json),
                                     optional_member(json, "where"));
  const bool consistent = json.contains("consistent");
  if (consistent && json.at("consistent") != true) throw LedgerCorrupt("its `consistent` is not true");
  if (const auto share = optional_member(json, "totals")) {
    with_totals(asked.question, accounting::parse_stored_rational(*share, "totals"), consistent);
  } else if (consistent) {
    throw LedgerCorrupt("it is to be consistent, and has no totals");
  }
  if (const auto least = optional_member(json, "suppress_below")) {
    suppress_below(asked.question, accounting::parse_stored_rational(*least, "suppress_below"));
  }
}

/// What a batch is about stands in its rows alone; beside them, which delta goes with all of it, if it says
/// so.
void read_rows(const nlohmann::json& json, Request& request) {
  const nlohmann::json& rows = json.at("rows");
  if (!rows.is_array() || rows.empty()) throw LedgerCorrupt("its rows are no list, or none");
  for (const char* const name :
       {"by", "consistent", "epsilon", "rho", "statistic", "suppress_below", "totals", "where"}) {
    if (json.contains(name)) throw LedgerCorrupt(std::string("it has rows, and beside them ") + name);
  }
  for (const nlohmann::json& row : rows) read_question(row, request.rows.emplace_back());
  if (const auto delta = optional_member(json, "delta")) {
    request.delta = accounting::parse_stored_rational(*delta, "delta");
  }
}

}  // namespace

std::string canonical_request(const Request& request) {
  return dump_checked(members(request));
}

std::string conflicting_request(const Request& request) {
  nlohmann::json json = members(request);
  json["conflicting_key"] = request.key;
  return dump_checked(json);
}

StoredRequest parse_stored_request(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    StoredRequest stored;
    stored.request.dataset = json.at("dataset").get<std::string>();
    if (json.size() == 1) {
      stored.request.unread = true;
    } else if (json.contains("rows")) {
      read_rows(json, stored.request);
    } else {
      read_question(json, stored.request);
    }
    stored.request.purpose = optional_member(json, "purpose").value_or("");
    stored.request.reservation = parse_reservation(optional_member(json, "reservation"));
    stored.conflicting_key = optional_member(json, "conflicting_key").value_or("");
    return stored;
  } catch (const nlohmann::json::exception& error) {
    throw ledger::UnreadableRow(std::string("stored request: ") + error.what());
  } catch (const InvalidParameter& error) {
    throw ledger::UnreadableRow(std::string("stored request: ") + error.what());
  } catch (const LedgerCorrupt& error) {
    throw ledger::UnreadableRow(std::string("stored request: ") + error.what());
  }
}

void require_within_caps(const Request& request, const std::string& canonical) {
  if (!request.too_long.empty()) throw InvalidParameter(request.too_long);
  if (request.rows.size() > kBatchRowsMax) {
    throw InvalidParameter("batch: it has " + std::to_string(request.rows.size()) + " rows, more than " +
                           std::to_string(kBatchRowsMax) + "; ask it as several");
  }
  each_question(request, [](const Request& asked) {
    const auto& where = asked.question.where;
    if (where && !where->new_request_fault().empty()) throw InvalidParameter(where->new_request_fault());
  });
  const std::size_t most = request.rows.empty() ? kCanonicalMax : kCanonicalBatchMax;
  if (canonical.size() > most) {
    throw InvalidParameter("request: in canonical form it has " + std::to_string(canonical.size()) +
                           " bytes, more than " + std::to_string(most) +
                           "; numbers are written out there, 1e-300 with 302 characters");
  }
}

}  // namespace epsilog::engine
