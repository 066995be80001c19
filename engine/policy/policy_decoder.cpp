#include "policy_decoder.hpp"

#include <filesystem>

namespace epsilog::engine {

using yaml::Node;

namespace {

UnitOfPrivacy decode_unit(const Node& node, const Mark& owner, Faults& faults) {
  if (node.kind == Node::Kind::scalar) {
    if (node.text != "row") {
      faults.add(node.mark,
                 "unit: " + quoted_excerpt(node.text) +
                     " is not row; for units that are a column's values write {id: COLUMN, max_rows: K}");
    }
    return {};
  }
  const Fields fields(node, keys::unit, "unit", owner, faults);
  UnitOfPrivacy unit;
  if (const Node* id = fields["id"]) {
    unit.id = text_of(*id, "unit.id", faults).value_or("");
  }
  if (const Node* max_rows = fields["max_rows"]) {
    unit.max_rows = count_of(*max_rows, "unit.max_rows", faults).value_or(1);
  }
  return unit;
}

Rows decode_rows(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, keys::rows, "rows", owner, faults);
  Rows rows;
  if (node.kind != Node::Kind::map) return rows;
  if (fields.has("max") == fields.has("exact")) {
    faults.add(owner,
               "rows: write either {max: N}, a public upper bound, or {exact: N}, a public exact number");
    return rows;
  }
  rows.exact = fields.has("exact");
  const std::string_view key = rows.exact ? "exact" : "max";
  if (const Node* count = fields[key]) rows.count = count_of(*count, fields.path(key), faults).value_or(0);
  return rows;
}

void decode_neighbours(const Node& node, Dataset& dataset, Faults& faults) {
  dataset.neighbours = word_of(node, keys::neighbours, "neighbours", faults).value_or(dataset.neighbours);
}

/// Who may ask for what, and with whose consent.
void decode_askers_sections(const Fields& fields, const Askers& askers, Dataset& dataset, Faults& faults) {
  const std::size_t faults_before = faults.size();
  if (const Node* purposes = fields["purposes"]) dataset.purposes = decode_purposes(*purposes, faults);
  // What names a purpose would be reported a second time.
  const bool purposes_readable = faults.size() == faults_before;
  const Node* limits = purposes_readable ? fields["limits"] : nullptr;
  const Node* forbid = purposes_readable ? fields["forbid"] : nullptr;
  if (limits != nullptr) decode_limits(*limits, askers, dataset, faults);
  if (const Node* allow = fields["allow"]) {
    decode_allow(*allow, fields.mark_of("allow"), askers, dataset, faults);
  }
  if (forbid != nullptr) decode_forbid(*forbid, askers, dataset, faults);
  if (const Node* approvals = fields["approvals"]) {
    dataset.approvals = decode_approvals(*approvals, fields.mark_of("approvals"), askers, faults);
  }
  if (const Node* reservations = fields["reservations"]) {
    decode_reservations(*reservations, fields.mark_of("reservations"), dataset, faults);
  }
}

Dataset decode_dataset(const yaml::Entry& entry, const Askers& askers, Faults& faults) {
  Dataset dataset;
  dataset.name = entry.key;
  dataset.mark = entry.mark;
  const std::size_t faults_before = faults.size();
  const Fields fields(entry.value, keys::dataset, "dataset '" + entry.key + "'", entry.mark, faults);
  if (entry.value.kind != Node::Kind::map) return dataset;

  const auto section = [&](std::string_view key, const auto& decode) {
    if (const Node* node = fields[key]) decode(*node, fields.mark_of(key));
  };
  section("source", [&](const Node& n, const Mark& m) { decode_source(n, m, dataset, faults); });
  section("unit", [&](const Node& n, const Mark& m) { dataset.unit = decode_unit(n, m, faults); });
  section("rows", [&](const Node& n, const Mark& m) { dataset.rows = decode_rows(n, m, faults); });
  section("neighbours", [&](const Node& n, const Mark&) { decode_neighbours(n, dataset, faults); });
  SectionMarks marks;
  marks.unit = fields.mark_of("unit");
  marks.rows = fields.mark_of("rows");
  section("budget", [&](const Node& n, const Mark& m) { decode_budget(n, m, dataset, marks, faults); });
  section("lifetime",
          [&](const Node& n, const Mark& m) { dataset.lifetime = decode_lifetime(n, m, faults); });
  section("per_release", [&](const Node& n, const Mark& m) {
    const Fields cap(n, keys::per_release, "per_release", m, faults);
    if (n.kind == Node::Kind::map) dataset.per_release = decode_cap(cap, faults);
  });
  section("columns", [&](const Node& n, const Mark&) { dataset.columns = decode_columns(n, faults); });
  section("queries",
          [&](const Node& n, const Mark&) { dataset.queries = decode_queries(n, askers, faults); });
  section("mean_split", [&](const Node& n, const Mark&) {
    dataset.mean_split = probability_of(n, "mean_split", faults).value_or(Rational(1, 2));
  });
  if (fields.has("source") && !fields.has("rows")) {
    faults.add(entry.mark,
               "dataset '" + entry.key +
                   "': the key 'rows' is missing; write rows: {max: N}, or {exact: N} if the size is public");
  }
  section("blocks",
          [&](const Node& n, const Mark& m) { dataset.blocks = decode_blocks(n, m, dataset, faults); });
  decode_askers_sections(fields, askers, dataset, faults);
  decode_release(fields["release"], dataset, faults);
  // Rules between sections would misread a section that could not be read.
  if (faults.size() == faults_before) check_rules(dataset, marks, faults);
  return dataset;
}

/// "" and a fault, unless it is one.
std::string absolute_path_of(const Node& node, std::string_view what, Faults& faults) {
  std::string path = text_of(node, what, faults).value_or("");
  if (path.empty() || path.starts_with('/')) return path;
  faults.add(node.mark, std::string(what) + ": " + quoted_excerpt(path) +
                            " is not an absolute path: where a policy is applied from must not move it");
  return "";
}

std::optional<ReplicaFile> decode_replica(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, keys::replica, "replica", owner, faults);
  if (node.kind != Node::Kind::map) return std::nullopt;
  ReplicaFile replica;
  replica.mark = owner;
  if (const Node* file = fields["file"]) {
    replica.path = absolute_path_of(*file, "replica.file", faults);
  }
  if (const Node* sync = fields["sync"]) {
    replica.sync = word_of(*sync, keys::replica_syncs, "replica.sync", faults).value_or(replica.sync);
  }
  return replica;
}

/// A number of lines, or a duration.
void decode_every(const Node& node, AutomaticCheckpoint& checkpoint, Faults& faults) {
  constexpr std::string_view kWhat = "checkpoint.every";
  if (!expect(node, Node::Kind::scalar, kWhat, "a duration or a number of lines, 1h or 1000", faults)) return;
  const bool digits = node.text.find_first_not_of("0123456789") == std::string::npos;
  if (!node.text.empty() && digits) {
    checkpoint.lines = static_cast<std::int64_t>(count_of(node, kWhat, faults).value_or(1));
  } else if (!node.text.empty() &&
             std::string_view("smhd").find(node.text.back()) != std::string_view::npos) {
    checkpoint.seconds = duration_of(node, kWhat, faults).value_or(1);
  } else {
    faults.add(node.mark,
               std::string(kWhat) + ": " + quoted_excerpt(node.text) +
                   " is neither a duration, as in 90m, 1h or 7d, nor a number of lines, as in 1000");
  }
}

std::optional<AutomaticCheckpoint> decode_checkpoint(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, keys::checkpoint, "checkpoint", owner, faults);
  if (node.kind != Node::Kind::map) return std::nullopt;
  AutomaticCheckpoint checkpoint;
  checkpoint.mark = owner;
  if (const Node* key = fields["key"]) checkpoint.key = absolute_path_of(*key, "checkpoint.key", faults);
  if (const Node* file = fields["file"]) checkpoint.path = absolute_path_of(*file, "checkpoint.file", faults);
  if (const Node* every = fields["every"]) decode_every(*every, checkpoint, faults);
  return checkpoint;
}

/// What is written to by one must not be what the other writes or reads.
void check_file_paths(const std::optional<ReplicaFile>& replica, const AutomaticCheckpoint& checkpoint,
                      Faults& faults) {
  const auto same = [](const std::string& one, const std::string& other) {
    using std::filesystem::path;
    return !one.empty() && path(one).lexically_normal() == path(other).lexically_normal();
  };
  const auto taken = [&](const std::string& path, std::string_view what) {
    faults.add(checkpoint.mark,
               "checkpoint: " + quoted_excerpt(path) + " is named twice, also as " + std::string(what));
  };
  for (const char* suffix : {"", ".state", ".state.new"}) {
    const std::string of_key = checkpoint.key.empty() ? "" : checkpoint.key + suffix;
    const std::string what = std::string("the key") + (*suffix != '\0' ? "'s state" : "");
    if (same(checkpoint.path, of_key)) taken(checkpoint.path, what);
    if (replica && same(replica->path, of_key)) taken(replica->path, what);
  }
  if (replica && same(replica->path, checkpoint.path)) taken(checkpoint.path, "the replica");
}

bool is_version_one(const Node& root, Faults& faults) {
  const Node* version = root.find("version");
  if (version == nullptr || version->kind == Node::Kind::refused) return true;  // reported as missing
  if (!expect(*version, Node::Kind::scalar, "version", "1", faults)) return false;
  if (version->text == "1") return true;
  faults.add(version->mark,
             "version: " + quoted_excerpt(version->text) + " is not known; this program reads version 1");
  return false;
}

}  // namespace

DecodedPolicy decode_policy(const Node& root, Faults& faults) {
  DecodedPolicy policy;
  // Under another version the same keys may mean something else: every further fault would mislead.
  if (!is_version_one(root, faults)) return policy;
  const Fields fields(root, keys::policy, "", root.mark, faults);
  Askers askers;
  const Node* principals = fields["principals"];
  if (principals != nullptr) {
    policy.principals_mark = fields.mark_of("principals");
    askers = decode_principals(*principals, policy.principals_mark, faults);
  } else {
    askers.readable = !fields.has("principals");
  }
  if (const Node* replica = fields["replica"]) {
    policy.replica = decode_replica(*replica, fields.mark_of("replica"), faults);
  }
  if (const Node* checkpoint = fields["checkpoint"]) {
    policy.checkpoint = decode_checkpoint(*checkpoint, fields.mark_of("checkpoint"), faults);
    if (policy.checkpoint) check_file_paths(policy.replica, *policy.checkpoint, faults);
  }
  const Node* declared = fields["datasets"];
  if (declared == nullptr ||
      !expect(*declared, Node::Kind::map, "datasets", "a map of datasets by name", faults)) {
    return policy;
  }
  if (declared->entries.empty() && faults.none())
    faults.add(declared->mark, "datasets: declare at least one dataset");
  for (const yaml::Entry& entry : declared->entries) {
    if (!expect_name(entry.key, entry.mark, "dataset", faults)) continue;
    policy.datasets.push_back(decode_dataset(entry, askers, faults));
  }
  if (principals != nullptr && faults.none()) check_principal_purposes(*principals, policy.datasets, faults);
  policy.principals = std::move(askers.principals);
  return policy;
}

}  // namespace epsilog::engine
