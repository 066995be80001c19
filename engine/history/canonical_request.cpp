#include "canonical_request.hpp"

#include <nlohmann/json.hpp>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/accounting/stored_rational.hpp"
#include "epsilog/ledger/unreadable_row.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kCanonicalMax = 65'536;

constexpr std::string_view kPlain = "plain";
constexpr std::string_view kAgainstToken = "data_token";

std::string_view reservation_text(Holding holding) {
  return holding == Holding::reserved_against_token ? kAgainstToken : kPlain;
}

Holding parse_reservation(const std::optional<std::string>& text) {
  if (!text) return Holding::none;
  if (*text == kPlain) return Holding::reserved;
  if (*text == kAgainstToken) return Holding::reserved_against_token;
  throw LedgerCorrupt("unknown reservation '" + *text + "'");
}

nlohmann::json members(const Request& request) {
  nlohmann::json json = {{"dataset", request.dataset}, {"statistic", request.question.statistic.text()}};
  // One of the two, so that a text says one thing.
  if (request.rho) {
    json["rho"] = accounting::text(*request.rho);
  } else {
    json["epsilon"] = accounting::text(request.epsilon);
  }
  if (request.delta) json["delta"] = accounting::text(*request.delta);
  if (!request.purpose.empty()) json["purpose"] = request.purpose;
  if (request.holding != Holding::none) json["reservation"] = reservation_text(request.holding);
  const std::vector<std::string>& by = request.question.by;
  if (by.size() == 1) json["by"] = by.front();
  if (by.size() > 1) json["by"] = by;
  if (const auto& least = request.question.suppress_below) json["suppress_below"] = accounting::text(*least);
  if (request.question.where) json["where"] = request.question.where->text();
  return json;
}

std::string dumped(const nlohmann::json& request) {
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

}  // namespace

std::string canonical_request(const Request& request) {
  return dumped(members(request));
}

std::string conflicting_request(const Request& request) {
  nlohmann::json json = members(request);
  json["conflicting_key"] = request.key;
  return dumped(json);
}

StoredRequest parse_stored_request(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const auto optional_member = [&json](const char* name) -> std::optional<std::string> {
      if (!json.contains(name)) return std::nullopt;
      return json.at(name).get<std::string>();
    };
    StoredRequest stored;
    stored.request.dataset = json.at("dataset").get<std::string>();
    if (const auto rho = optional_member("rho")) {
      if (json.contains("epsilon") || json.contains("delta")) {
        throw LedgerCorrupt("it asks for rho, and for epsilon or delta too");
      }
      stored.request.rho = accounting::parse_stored_rational(*rho, "rho");
    } else {
      stored.request.epsilon =
          accounting::parse_stored_rational(json.at("epsilon").get<std::string>(), "epsilon");
    }
    if (const auto delta = optional_member("delta")) {
      stored.request.delta = accounting::parse_stored_rational(*delta, "delta");
    }
    stored.request.question = parse_question_by(json.at("statistic").get<std::string>(), stored_columns(json),
                                                optional_member("where"));
    if (const auto least = optional_member("suppress_below")) {
      suppress_below(stored.request.question, accounting::parse_stored_rational(*least, "suppress_below"));
    }
    stored.request.purpose = optional_member("purpose").value_or("");
    stored.request.holding = parse_reservation(optional_member("reservation"));
    stored.conflicting_key = optional_member("conflicting_key").value_or("");
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
  const auto& where = request.question.where;
  if (where && !where->door_fault().empty()) throw InvalidParameter(where->door_fault());
  if (canonical.size() > kCanonicalMax) {
    throw InvalidParameter("request: in canonical form it has " + std::to_string(canonical.size()) +
                           " bytes, more than " + std::to_string(kCanonicalMax) +
                           "; numbers are written out there, 1e-300 with 302 characters");
  }
}

}  // namespace epsilog::engine
