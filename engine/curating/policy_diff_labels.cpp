// What derived columns say of the cells of others.
#include "calendar.hpp"
#include "policy_changes.hpp"
#include "yaml_writer.hpp"

namespace epsilog::engine {
namespace {

/// Labels that come at an end leave the others as they are.
void compare_end(const DiffPath& place, const LabelRule& before, const LabelRule& after, bool first,
                 bool blocks) {
  const std::int64_t old_day = first ? before.first_day : before.last_day;
  const std::int64_t day = first ? after.first_day : after.last_day;
  if (old_day == day) return;
  const bool more = first ? day < old_day : day > old_day;
  Meaning meaning =
      more ? Meaning{Direction::looser, "more groups"} : Meaning{Direction::tighter, "fewer groups"};
  if (blocks) meaning = more ? kMoreBlocks : kFewerBlocks;
  place.report(meaning.direction, period_name(*before.per, old_day), period_name(*after.per, day),
               meaning.why);
}

}  // namespace

void compare_label_rules(const DiffPath& place, const std::optional<LabelRule>& was,
                         const std::optional<LabelRule>& is, bool blocks) {
  const Meaning other_labels{Direction::incomparable,
                             blocks ? "rows lie in other blocks" : "the same cells have other labels"};
  if (!was || !is) {
    place.at("from").report(Direction::incomparable, was ? yaml::scalar(was->from) : "",
                            is ? yaml::scalar(is->from) : "",
                            "it is a column of the source on one side only");
    return;
  }
  const auto& [from, bins, per, first_day, last_day, map, other] = *was;
  const auto& [from_now, bins_now, per_now, first_day_now, last_day_now, map_now, other_now] = *is;
  place.at("from").compare(yaml::scalar(from), yaml::scalar(from_now),
                           {Direction::incomparable, "its cells are those of another column"});
  const auto edges = [](const std::vector<Rational>& list) { return list.empty() ? "" : value_text(list); };
  place.at("bins").compare(edges(bins), edges(bins_now), other_labels);
  const auto kind = [](const std::optional<CalendarPeriod>& period) {
    return period ? std::string(engine::name(*period)) : "";
  };
  place.at("per").compare(kind(per), kind(per_now), other_labels);
  if (per && per == per_now) {
    compare_end(place.at("first"), *was, *is, true, blocks);
    compare_end(place.at("last"), *was, *is, false, blocks);
  }
  const auto entries = [](const auto& list) { return list.empty() ? "" : value_text(list); };
  place.at("map").compare(entries(map), entries(map_now), other_labels);
  const auto label = [](const std::optional<std::string>& text) { return text ? yaml::scalar(*text) : ""; };
  place.at("other").compare(label(other), label(other_now), other_labels);
}

}  // namespace epsilog::engine
