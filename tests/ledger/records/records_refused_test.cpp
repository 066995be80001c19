// What is no line of a record: members that are missing, twice, renamed, moved, of another type or empty.
#include "ledger/support/record_faults.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog::ledger_tests;
using namespace epsilog::test;
using epsilog::ledger::JsonValue;
using Texts = std::vector<std::string>;

namespace {

std::vector<SampleRecord> all_samples() {
  std::vector<SampleRecord> samples = minimal_records();
  for (auto& sample : full_records()) samples.push_back(std::move(sample));
  return samples;
}

}  // namespace

TEST_CASE("records: of a line with as little as there can be no member can be missing",
          "[ledger][record][negative]") {
  int removed = 0;
  each_member_of(minimal_records(),
                 [&](const JsonParts& whole, JsonParts& object, std::size_t member, const std::string& path) {
                   const std::string name = member_name(object, member);
                   object.members.erase(object.members.begin() + static_cast<std::ptrdiff_t>(member));
                   INFO(path);
                   CHECK(names(fault(whole.written()), name));
                   ++removed;
                 });
  CHECK(removed == 126);
}

TEST_CASE("records: of a line with as much as there can be only what may not apply can be missing",
          "[ledger][record][negative]") {
  Texts accepted;
  each_member_of(full_records(),
                 [&](const JsonParts& whole, JsonParts& object, std::size_t member, const std::string& path) {
                   const std::string name = member_name(object, member);
                   object.members.erase(object.members.begin() + static_cast<std::ptrdiff_t>(member));
                   const std::string said = fault(whole.written());
                   INFO(path);
                   if (said.empty()) {
                     accepted.push_back(path);
                   } else {
                     CHECK(names(said, name));
                   }
                 });
  std::sort(accepted.begin(), accepted.end());
  accepted.erase(std::unique(accepted.begin(), accepted.end()), accepted.end());
  Texts may_be_missing;
  for (const CaseRow& row :
       case_table(EPSILOG_SOURCE_DIR "/tests/ledger/records/members_that_may_be_missing.tsv")) {
    may_be_missing.push_back(row.at(0));
  }
  CHECK(accepted == may_be_missing);
}

TEST_CASE("records: no member stands twice, under another name or in another place",
          "[ledger][record][negative]") {
  each_member_of(all_samples(), [&](const JsonParts& whole, JsonParts& object, std::size_t member,
                                    const std::string& path) {
    INFO(path);
    const JsonParts before = object;
    const auto at = static_cast<std::ptrdiff_t>(member);
    const std::string name = member_name(object, member);
    object.members.insert(object.members.begin() + at, object.members.at(member));
    CHECK(fault(whole.written()).ends_with(name + ": appears twice"));
    for (const std::string& other : {name + "_", name.substr(0, name.size() - 1), "~" + name, "!" + name}) {
      object = before;
      object.members.at(member).first = other;
      const std::string said = fault(whole.written());
      CHECK((names(said, name) || names(said, other)));
    }
    for (std::size_t next = member + 1; next < before.members.size(); ++next) {
      object = before;
      std::swap(object.members.at(member), object.members.at(next));
      const std::string said = fault(whole.written());
      CHECK((names(said, name) || names(said, member_name(before, next)) ||
             said.ends_with(": is out of order")));
    }
  });
}

TEST_CASE("records: no member is of another type, empty, or 0 where that says nothing",
          "[ledger][record][negative]") {
  const std::vector<std::pair<JsonValue::Kind, Texts>> values{
      {JsonValue::Kind::count, {"0", "7"}},
      {JsonValue::Kind::string, {R"("")", R"("0")", R"("x")"}},
      {JsonValue::Kind::array, {"[]", "[[]]", "[0]", R"([""])"}},
      {JsonValue::Kind::object,
       {"{}", R"({"hex":""})", R"({"hex":"41"})", R"({"hex":"FF"})", R"({"hex":"f"})"}},
      {JsonValue::Kind::truth, {"true", "false"}}};
  Texts empty;
  each_member_of(all_samples(), [&](const JsonParts& whole, JsonParts& object, std::size_t member,
                                    const std::string& path) {
    JsonParts& value = object.members.at(member).second;
    const std::string name = member_name(object, member);
    const JsonValue::Kind kind = value.kind;
    for (const auto& [other, texts] : values) {
      for (const std::string& text : texts) {
        value = JsonParts(std::string("0"));
        value.text = text;
        const std::string said = fault(whole.written());
        INFO(path << " " << text << " " << said);
        const bool json =
            name == "reasons" && other != JsonValue::Kind::count && other != JsonValue::Kind::truth;
        const bool bytes = name == "base_dir" && other == JsonValue::Kind::string;
        if (said.empty() && other == kind &&
            (text == "0" || text == R"("")" || text == "[]" || text == "false")) {
          empty.push_back(path);
        }
        if (other != kind && !json && !bytes) {
          CHECK(names(said, name));
        } else if (!said.empty()) {
          CHECK((names(said, name) || names(said, "new") || names(said, "until") || names(said, "by")));
        }
      }
    }
  });
  std::sort(empty.begin(), empty.end());
  empty.erase(std::unique(empty.begin(), empty.end()), empty.end());
  CHECK(empty == Texts{"account.index",
                       "clock.after_decision",
                       "clock.index",
                       "credential.index",
                       "decision.index",
                       "feature.index",
                       "key.index",
                       "ledger.index",
                       "limit_change.after_decision",
                       "limit_change.index",
                       "limit_removal.after_decision",
                       "limit_removal.index",
                       "place.index",
                       "plan.index",
                       "plan.release.components.coordinates",
                       "policy.after_decision",
                       "policy.index",
                       "recovery.index",
                       "relocation.after_decision",
                       "relocation.index",
                       "seal.index"});
}
