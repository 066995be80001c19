// The line of a plan: the question and how it is answered.
#include <array>
#include <type_traits>

#include "epsilog/ledger/ledger_time.hpp"
#include "record_members.hpp"
#include "sha256.hpp"

namespace epsilog::ledger {
namespace {

using accounting::PostProcessing;

/// So many columns a table with totals has.
constexpr std::size_t kTableColumnsMax = 3;

constexpr std::array kRecipes{
    Word<PostProcessing::Kind>{PostProcessing::Kind::mean_about, "mean_about"},
    Word<PostProcessing::Kind>{PostProcessing::Kind::variance_about, "variance_about"},
    Word<PostProcessing::Kind>{PostProcessing::Kind::rounded, "rounded"},
    Word<PostProcessing::Kind>{PostProcessing::Kind::proportion, "proportion"},
    Word<PostProcessing::Kind>{PostProcessing::Kind::ratio, "ratio"},
    Word<PostProcessing::Kind>{PostProcessing::Kind::totals, "totals"},
    Word<PostProcessing::Kind>{PostProcessing::Kind::whole_totals, "whole_totals"},
    Word<PostProcessing::Kind>{PostProcessing::Kind::consistent_totals, "consistent_totals"}};

constexpr std::array kBounds{Word<accounting::ComposedBy>{accounting::ComposedBy::sum, "sum"},
                             Word<accounting::ComposedBy>{accounting::ComposedBy::zcdp, "zcdp"},
                             Word<accounting::ComposedBy>{accounting::ComposedBy::pld, "pld"}};

constexpr auto kComponent = [](auto& members, auto& component) {
  members.number("adjusted", component.adjusted);
  members.number_if("adjusted_delta", component.adjusted_delta);
  members.number_if("bound", component.bound);
  members.number_if("centre", component.centre);
  members.count("coordinates", component.coordinates);
  members.number_if("delta", component.delta);
  members.number("epsilon", component.epsilon);
  members.number("grid", component.grid);
  members.number_if("grid_sensitivity", component.grid_sensitivity);
  members.number_if("grid_sensitivity_l2_squared", component.grid_sensitivity_l2_squared);
  members.count_if("precision", component.precision);
  members.number_if("published", component.published);
  members.bytes_if("published_note", component.published_note);
  members.number_if("rho", component.rho);
  members.number("scale", component.scale);
  members.number("sensitivity", component.sensitivity);
  members.number_if("sensitivity_l2_squared", component.sensitivity_l2_squared);
  members.bytes_if("statistic", component.statistic);
};

constexpr auto kPostProcessing = [](auto& members, auto& recipe) {
  const bool centred = members.number_when("centre", recipe.centre, accounting::has_centre(recipe.kind));
  members.word("kind", recipe.kind, kRecipes);
  const bool low = members.number_when("lower", recipe.lower, accounting::has_range(recipe.kind));
  const bool high = members.number_when("upper", recipe.upper, accounting::has_range(recipe.kind));
  members.require_agreement(
      centred == accounting::has_centre(recipe.kind),
      "centre: is there unless it is rounded, a proportion, a ratio or a table with totals");
  members.require_agreement(high == accounting::has_range(recipe.kind),
                            "upper: is there unless it is a table with totals");
  members.require_agreement(low == accounting::has_range(recipe.kind),
                            "lower: is there unless it is a table with totals");
};

constexpr auto kPostProcessingIf = [](auto& members, auto& recipe) {
  members.object_if("post_processing", recipe.kind != PostProcessing::Kind::none,
                    [&](auto& inner) { kPostProcessing(inner, recipe); });
};

/// That a table with totals has cells, follows from how its values do.
constexpr auto kTotals = [](auto& members, auto& cells, const PostProcessing& recipe,
                            std::uint64_t components) {
  const bool totals = accounting::has_totals(recipe.kind);
  const bool table = !cells.empty() && cells.lists().size() <= kTableColumnsMax;
  members.require_agreement(!totals || (table && components == std::uint64_t{1} << cells.lists().size()),
                            "post_processing: is of a table with a component for each of its margins");
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(cells)>>) cells.set_totals(totals && table);
};

constexpr auto kRow = [](auto& members, auto& row) {
  members.number("adjusted", row.adjusted);
  members.bytes_if("arithmetic", row.arithmetic);
  members.cells_if("cells", row.cells);
  members.number("charged", row.charged);
  members.count("components", row.components, 1);
  members.bytes("mechanism", row.mechanism);
  kPostProcessingIf(members, row.post_processing);
  kTotals(members, row.cells, row.post_processing, static_cast<std::uint64_t>(row.components));
  members.number_if("published", row.published);
  members.number("requested", row.requested);
};

constexpr auto kComposed = [](auto& members, auto& composed) {
  members.word("accountant", composed.by, kBounds);
  members.number("delta", composed.delta);
  const accounting::Delta none;
  members.require_agreement(composed.delta > none && composed.delta.rational() < 1,
                            "delta: is above 0 and below 1");
};

/// The rows of a batch share all components out among them; what else answers a question they have
/// themselves.
bool is_batch_or_has_no_rows(const PlanRecord& plan) {
  const ReleaseRecord& release = *plan.release;
  if (release.rows.empty()) return release.mechanism != kBatch && !release.composed;
  std::uint64_t components = 0;
  for (const ReleaseRow& row : release.rows) {
    if (row.mechanism == kBatch) return false;
    if (__builtin_add_overflow(components, static_cast<std::uint64_t>(row.components), &components))
      return false;
  }
  return release.mechanism == kBatch && release.arithmetic.empty() && release.cells.empty() &&
         components == release.components.size() && plan.post_processing.kind == PostProcessing::Kind::none;
}

/// Of a plan that has a release.
constexpr auto kRelease = [](auto& members, auto& plan) {
  auto& release = members.value_in(plan.release);
  members.number("adjusted", release.adjusted);
  members.bytes_if("arithmetic", release.arithmetic);
  members.cells_if("cells", release.cells);
  members.number("charged", release.charged);
  members.objects_if("components", release.components, kComponent);
  members.object_if("composed", release.composed.has_value(),
                    [&](auto& inner) { kComposed(inner, inner.value_in(release.composed)); });
  members.bytes("mechanism", release.mechanism);
  members.bytes("neighbours", release.neighbours);
  kPostProcessingIf(members, plan.post_processing);
  if (release.mechanism != kBatch)
    kTotals(members, release.cells, plan.post_processing, release.components.size());
  members.number_if("published", release.published);
  members.number("requested", release.requested);
  members.objects_if("rows", release.rows, kRow);
  members.bytes("unit", release.unit);
  members.require_agreement(is_batch_or_has_no_rows(plan),
                            "rows: are those of a batch, and share its components");
};

constexpr auto kPlan = [](auto& members, auto& plan) {
  members.blind();
  members.index();
  members.kind("plan");
  members.count("number", plan.number, 1);
  members.count("policy_version", plan.policy_version, 1);
  members.object_text("question", plan.question);
  members.object_if("release", plan.release.has_value(), [&](auto& inner) { kRelease(inner, plan); });
  members.text("time", plan.first_at, is_time);
};

}  // namespace

void each_member(MemberWriter& members, const PlanRecord& plan) {
  kPlan(members, plan);
}
void each_member(MemberReader& members, PlanRecord& plan) {
  kPlan(members, plan);
}

Sha256 plan_digest(const PlanRecord& plan) {
  JsonWriter json;
  json.raw("{");
  MemberWriter members(json, nullptr, {});
  members.count("policy_version", plan.policy_version);
  members.object_text("question", plan.question);
  members.object_if("release", plan.release.has_value(), [&](auto& inner) { kRelease(inner, plan); });
  return sha256(json.raw("}").take());
}

std::string release_text(const PlanRecord& plan) {
  if (!plan.release) return "";
  JsonWriter json;
  json.raw("{");
  MemberWriter members(json, nullptr, {});
  kRelease(members, plan);
  return json.raw("}").take();
}

void parse_release_text(std::string_view text, PlanRecord& plan) {
  plan.release.reset();
  plan.post_processing = {};
  if (text.empty()) return;
  CanonicalTokens tokens(text);
  MemberReader members(tokens, nullptr, {});
  kRelease(members, plan);
  members.close();
  if (!tokens.done()) tokens.fail("something follows the value");
}

}  // namespace epsilog::ledger
