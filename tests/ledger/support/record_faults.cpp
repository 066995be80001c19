#include "ledger/support/record_faults.hpp"

#include "epsilog/accounting/errors.hpp"
#include "records.hpp"
#include "support/catch.hpp"

namespace epsilog::ledger_tests {
namespace {

using ledger::JsonValue;

/// Objects and the members in them.
struct Place {
  JsonParts* object;
  std::string path;  ///< of the object, "plan.release."
};

/// Those in which members are given; not those that are texts.
void collect(JsonParts& parts, const std::string& path, std::vector<Place>& places) {
  if (parts.kind == JsonValue::Kind::array) {
    for (JsonParts& item : parts.items) collect(item, path, places);
  }
  if (parts.kind != JsonValue::Kind::object) return;
  places.push_back({&parts, path});
  for (auto& [name, value] : parts.members) {
    const bool free = name == "question" || name == "implies" || name == "reasons";
    const bool bytes = value.members.size() == 1 && value.members.front().first == "hex";
    if (!free && !bytes) collect(value, path + name + ".", places);
  }
}

}  // namespace

std::string fault(const std::string& line) {
  try {
    const std::string again = ledger::line_text(ledger::parse_line(line, sample_decimals), sample_decimals);
    if (again != line) FAIL("read, and written otherwise: " << line << "\n" << again);
  } catch (const LedgerCorrupt& error) {
    return error.what();
  }
  return "";
}

bool names(const std::string& fault, const std::string& member) {
  const auto says = [&fault](const std::string& words) { return fault.find(words) != std::string::npos; };
  // An addition has a value.
  if (member == "revoked" && says("value: is there unless it is revoked")) return true;
  return says(member + ": ") || says("where " + member + " stands");
}

void each_member_of(const std::vector<SampleRecord>& samples, const Change& change) {
  for (const auto& [name, line] : samples) {
    JsonParts whole(ledger::line_text(line, sample_decimals));
    std::vector<Place> places;
    collect(whole, name + ".", places);
    // From within: an object that is put back as it was takes the place of those within it.
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      const auto& [object, path] = *place;
      const JsonParts before = *object;
      for (std::size_t i = 0; i < before.members.size(); ++i) {
        change(whole, *object, i, path + before.members.at(i).first);
        *object = before;
      }
    }
  }
}

const std::string& member_name(const JsonParts& object, std::size_t member) {
  return object.members.at(member).first;
}

std::string with(const std::vector<SampleRecord>& samples, const std::string& wanted,
                 const std::string& value) {
  std::string line;
  each_member_of(samples,
                 [&](const JsonParts& whole, JsonParts& object, std::size_t member, const std::string& path) {
                   if (path != wanted || !line.empty()) return;
                   JsonParts text(std::string("0"));
                   text.text = value;
                   object.members.at(member).second = text;
                   line = whole.written();
                 });
  INFO(wanted);
  REQUIRE(!line.empty());
  return line;
}

}  // namespace epsilog::ledger_tests
