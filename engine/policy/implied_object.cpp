#include "implied_object.hpp"

#include "epsilog/engine/implied_policy.hpp"
#include "epsilog/ledger/digest.hpp"
#include "implied_parts.hpp"
#include "policy_file.hpp"

namespace epsilog::engine {
namespace {

/// Names in byte order. Every field of the model is named, so that a new one cannot be forgotten: this does
/// not compile then.
void write_dataset(JsonWriter& json, const Dataset& dataset) {
  [[maybe_unused]] const auto& [name_of_it, csv, sqlite, source_mark, unit, rows, neighbours, budget, renews,
                                unbounded, lifetime, blocks, limits, purposes, forbid, approvals,
                                reservation_seconds, per_release, columns, queries, allow, release,
                                quantile_selection, mean_split, mark] = dataset;
  // Not here but in what is made of the whole dataset: the accounts, the release, the source and the unit.
  // That nothing bounds a budget that renews was accepted exactly where there is no lifetime: the accounts
  // say so.
  write_accounts(json.raw("{").field("accounts"), dataset);
  write_allow(json.field("allow"), allow);
  if (approvals) write_approvals(json.field("approvals"), *approvals);
  if (blocks) write_blocks(json.field("blocks"), *blocks);
  write_columns(json.field("columns"), columns);
  write_forbid(json.field("forbid"), forbid);
  json.field("mean_split", accounting::text(mean_split)).field("name", name_of_it);
  json.field("neighbours", name(neighbours));
  write_cap_of_one_release(json.field("per_release"), per_release.value_or(LossCap{}));
  field_if(json, "purposes", purposes);
  write_queries(json.field("queries"), queries);
  write_release(json.field("release"), dataset);
  if (renews) json.field("renews", name(*renews));
  json.field("reservations").raw("{").field("expires_seconds", reservation_seconds).raw("}");
  if (rows.count != 0) write_rows(json.field("rows"), rows);
  if (dataset.has_source()) write_source(json.field("source"), dataset);
  write_unit(json.field("unit"), dataset);
  json.raw("}");
}

}  // namespace

std::string implied_object(const Policy& policy) {
  JsonWriter json;
  json.raw("{").field("datasets").array(by_name(policy.datasets()), [&](const Dataset* dataset) {
    write_dataset(json, *dataset);
  });
  if (policy.principals()) write_principals(json.field("principals"), *policy.principals());
  return json.field("version", std::int64_t{1}).raw("}").take();
}

ImpliedPolicy implied_policy_file(const std::string& path) {
  const std::string yaml = policy_text(path);
  return {implied_object(Policy::parse_stored(yaml, path)), ledger::sha256_hex(yaml)};
}

}  // namespace epsilog::engine
