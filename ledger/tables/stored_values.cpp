#include "stored_values.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/json_writer.hpp"
#include "values_text.hpp"

namespace epsilog::ledger {
namespace {

using accounting::PostProcessing;
using accounting::Rational;

std::string digest_of(const std::string& values) {
  return R"({"sha256":")" + sha256_hex(values) + "\"}";
}

/// {"sha256":"…"}
constexpr std::size_t kDigestSize = 13 + 64;

std::optional<std::vector<Rational>> following_values(const ReleaseRecord& release,
                                                      const PostProcessing& post_processing,
                                                      const std::vector<std::vector<Rational>>& drawn) {
  try {
    return recorded_values(release, post_processing, released_values(release, post_processing, drawn));
  } catch (const InvalidParameter&) {  // not as many components as the recipe takes
    return std::nullopt;
  }
}

std::span<const ComponentRecord> components_of(const ReleaseRecord* release) {
  return release == nullptr ? std::span<const ComponentRecord>() : release->components;
}

}  // namespace

bool may_be_brief(const DecisionRecord& record) {
  return std::any_of(record.component_values.begin(), record.component_values.end(),
                     [](const auto& drawn) { return drawn.size() > 1; }) ||
         record.values.size() > 1;
}

StoredValues values_at_length(const DecisionRecord& record) {
  if (record.outcome != Outcome::granted) return {};
  return {drawn_text(record.component_values, {}), values_text(record.values)};
}

StoredValues stored_values(const DecisionRecord& record, const ReleaseRecord* release,
                           const PostProcessing& post_processing) {
  StoredValues stored = values_at_length(record);
  if (release == nullptr || record.outcome != Outcome::granted || !may_be_brief(record)) return stored;
  stored.component_values = drawn_text(record.component_values, components_of(release));
  if (stored.values.size() > kDigestSize &&
      following_values(*release, post_processing, record.component_values) == record.values) {
    stored.values = digest_of(stored.values);
  }
  return stored;
}

void read_values(const StoredValues& stored, const ReleaseRecord* release,
                 const PostProcessing& post_processing, DecisionRecord& record) {
  if (!stored.component_values.empty())
    record.component_values =
        parse_drawn(stored.component_values, "component_values", components_of(release));
  if (stored.values.empty()) return;
  if (!stored.values.starts_with('{')) {
    record.values = parse_values(stored.values, "values");
    return;
  }
  if (release == nullptr) throw LedgerCorrupt("column values is a digest, and no plan says how they follow");
  auto following = following_values(*release, post_processing, record.component_values);
  if (!following || digest_of(values_text(*following)) != stored.values)
    throw LedgerCorrupt("its value does not follow from its components");
  record.values = std::move(*following);
}

}  // namespace epsilog::ledger
