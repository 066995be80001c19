#include "request_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/json_writer.hpp"

namespace epsilog::ledger {
namespace {

constexpr std::string_view kConflictingKey = "conflicting_key";
constexpr std::string_view kPurpose = "purpose";
constexpr std::string_view kReservation = "reservation";
constexpr std::string_view kPlain = "plain";
constexpr std::string_view kAgainstToken = "data_token";

/// Members by name, each with its value as JSON.
using Members = std::vector<std::pair<std::string, std::string>>;

std::string json_text(std::string_view text) {
  return JsonWriter().text(text).take();
}

/// The members of a canonical object. Where each value begins and ends is not kept by who parses it; but
/// canonical values are written one way only, and names are plain.
Members members_of(std::string_view object, const JsonValue& parsed) {
  Members members;
  std::size_t at = 1;
  const auto& names = parsed.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t value = at + names[i].size() + 3;
    std::size_t end = value;
    unsigned depth = 0;
    bool quoted = false;
    for (; end < object.size(); ++end) {
      const char c = object[end];
      if (quoted) {
        if (c == '\\') {
          ++end;
        } else if (c == '"') {
          quoted = false;
        }
        continue;
      }
      if (c == '"') quoted = true;
      if (c == '{' || c == '[') ++depth;
      if (depth == 0 && (c == ',' || c == '}')) break;
      if (c == '}' || c == ']') --depth;
    }
    members.emplace_back(names[i], object.substr(value, end - value));
    at = end + 1;
  }
  return members;
}

std::string object_of(const Members& members) {
  std::string text = "{";
  for (const auto& [name, value] : members) {
    if (text.size() > 1) text += ',';
    text.append(1, '"').append(name).append("\":").append(value);
  }
  return text + "}";
}

std::string act_of(const RequestParts& parts, std::string_view parent) {
  JsonWriter json;
  json.raw("{").field("decision", parent).field("verb", parts.verb);
  if (!parts.why.empty()) json.field("why", parts.why);
  return json.raw("}").take();
}

/// A string that says something; nothing of any other value.
const std::string* words(const JsonValue& value) {
  const bool says = value.kind() == JsonValue::Kind::string && !value.text().empty();
  return says ? &value.text() : nullptr;
}

bool take_own(const std::string& name, const JsonValue& value, RequestParts& parts) {
  const std::string* const text = words(value);
  if (text == nullptr) return false;
  if (name == kPurpose) {
    parts.purpose = *text;
  } else if (name == kConflictingKey) {
    parts.conflicting_key = *text;
  } else if (*text == kPlain) {
    parts.reservation_kind = ReservationKind::plain;
  } else if (*text == kAgainstToken) {
    parts.reservation_kind = ReservationKind::data_token;
  } else {
    return false;
  }
  return true;
}

bool is_own(std::string_view name) {
  return name == kPurpose || name == kConflictingKey || name == kReservation;
}

std::optional<RequestParts> parts_of(std::string_view request, const JsonValue& parsed,
                                     std::string_view parent) {
  RequestParts parts;
  const JsonValue* const verb = parsed.find("verb");
  const JsonValue* const decision = parsed.find("decision");
  if (verb != nullptr && decision != nullptr && !parent.empty()) {
    if (const std::string* const text = words(*verb)) parts.verb = *text;
    if (const JsonValue* const why = parsed.find("why")) {
      if (const std::string* const text = words(*why)) parts.why = *text;
    }
    if (!parts.verb.empty() && act_of(parts, parent) == request) return parts;
    return std::nullopt;
  }
  bool own = false;
  for (std::size_t i = 0; i < parsed.names().size(); ++i) {
    if (!is_own(parsed.names()[i])) continue;
    own = true;
    if (!take_own(parsed.names()[i], parsed.at(parsed.names()[i]), parts)) return std::nullopt;
  }
  if (!own) {
    parts.question = request;
    return parts;
  }
  Members members = members_of(request, parsed);
  std::erase_if(members, [](const auto& member) { return is_own(member.first); });
  parts.question = object_of(members);
  return parts;
}

JsonValue parse_object(std::string_view text) {
  JsonValue value = parse_canonical(text);
  if (value.kind() != JsonValue::Kind::object) throw LedgerCorrupt("a request is no JSON object");
  return value;
}

}  // namespace

std::optional<RequestParts> request_parts(std::string_view request, std::string_view parent) {
  try {
    return parts_of(request, parse_object(request), parent);
  } catch (const LedgerCorrupt&) {
    return std::nullopt;
  }
}

std::string request_of(const RequestParts& parts, std::string_view parent) {
  if (!parts.verb.empty()) return act_of(parts, parent);
  Members own;
  if (!parts.conflicting_key.empty()) own.emplace_back(kConflictingKey, json_text(parts.conflicting_key));
  if (!parts.purpose.empty()) own.emplace_back(kPurpose, json_text(parts.purpose));
  if (parts.reservation_kind != ReservationKind::none) {
    own.emplace_back(kReservation,
                     json_text(parts.reservation_kind == ReservationKind::plain ? kPlain : kAgainstToken));
  }
  if (own.empty()) return parts.question;
  Members members = members_of(parts.question, parse_object(parts.question));
  members.insert(members.end(), own.begin(), own.end());
  std::sort(members.begin(), members.end());
  return object_of(members);
}

}  // namespace epsilog::ledger
