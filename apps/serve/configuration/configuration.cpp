#include "configuration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/engine_options.hpp"
#include "policy_faults.hpp"
#include "policy_fields.hpp"
#include "yaml_tree.hpp"

namespace epsilog::serve {
namespace {

using engine::Faults;
using engine::Fields;
using engine::KeyTable;
using engine::Mark;
using engine::yaml::Node;

const KeyTable kKeys{"",
                     {{"ledger", true, "ledger: /var/lib/epsilog/clinic.epsilog"},
                      {"socket", true, "socket: /run/epsilog/ask.socket"},
                      {"curator_socket", true, "curator_socket: /run/epsilog/curator.socket"},
                      {"sources"},
                      {"replicas"},
                      {"checkpoints"},
                      {"limits"},
                      {"answers"}}};
const KeyTable kAnswerKeys{"answers", {{"after", true, "after: 2s"}, {"every", true, "every: 250ms"}}};

struct Limit {
  std::string_view name;
  std::size_t WorkLimits::*value;
  std::size_t most;
};
constexpr std::array<Limit, 13> kLimits = {
    {{"connections", &WorkLimits::connections, 65'536},
     {"connections_per_user", &WorkLimits::connections_per_user, 65'536},
     {"running", &WorkLimits::running, 1'024},
     {"waiting", &WorkLimits::waiting, 65'536},
     {"in_flight", &WorkLimits::in_flight, 1'024},
     {"long_polls", &WorkLimits::long_polls, 1'024},
     {"per_second", &WorkLimits::per_second, 1'000'000},
     {"burst", &WorkLimits::burst, 1'000'000},
     {"refusals_per_hour", &WorkLimits::refusals, 1'000'000'000},
     {"body_mebibytes", &WorkLimits::body_mebibytes, 65'536},
     {"planning_steps", &WorkLimits::planning_steps, 1'000'000'000'000},
     {"processor_milliseconds", &WorkLimits::processor_milliseconds, 1'000'000},
     {"processor_burst_milliseconds", &WorkLimits::processor_burst_milliseconds, 1'000'000'000}}};

KeyTable limit_keys() {
  KeyTable table{"limits", {}};
  for (const Limit& limit : kLimits) table.keys.push_back({limit.name});
  return table;
}

/// An absolute path whose text needs no resolving: what is shown is where it is.
std::optional<std::string> path_of(const Node& node, const std::string& what, Faults& faults) {
  const auto text = engine::text_of(node, what, faults);
  if (!text) return std::nullopt;
  const std::filesystem::path path(*text);
  if (path.is_absolute() && path.lexically_normal() == path) return text;
  faults.add(node.mark, what + ": " + engine::quoted_excerpt(*text) +
                            " is not an absolute path without '.', '..' and '//'");
  return std::nullopt;
}

std::string required_path(const Fields& fields, std::string_view key, Faults& faults) {
  const Node* node = fields[key];
  return node == nullptr ? "" : path_of(*node, fields.path(key), faults).value_or("");
}

std::vector<std::string> folders(const Fields& fields, std::string_view key, Faults& faults) {
  std::vector<std::string> paths;
  const Node* node = fields[key];
  if (node == nullptr) return paths;
  return engine::names_of(*node, fields.path(key), faults, [&](const Node& item) {
    return path_of(item, fields.path(key), faults).has_value();
  });
}

WorkLimits limits(const Node& node, const Mark& owner, Faults& faults) {
  WorkLimits limits;
  const KeyTable table = limit_keys();
  const Fields fields(node, table, "limits", owner, faults);
  for (const Limit& limit : kLimits) {
    const Node* one = fields[limit.name];
    if (one == nullptr) continue;
    const auto count = engine::count_of(*one, fields.path(limit.name), faults);
    if (!count) continue;
    if (*count > limit.most) {
      faults.add(one->mark, fields.path(limit.name) + ": at most " + std::to_string(limit.most));
      continue;
    }
    limits.*limit.value = static_cast<std::size_t>(*count);
  }
  return limits;
}

/// Milliseconds: a whole number, then `ms` or `s`.
std::optional<std::int64_t> milliseconds_of(const Node& node, const std::string& what, Faults& faults) {
  const auto text = engine::text_of(node, what, faults);
  if (!text) return std::nullopt;
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text->data() + text->size() - end));
  const bool shortest = text->front() != '-' && (text->front() != '0' || number == 0);
  if (error == std::errc() && shortest && number <= 1'000'000 && (unit == "ms" || unit == "s")) {
    return unit == "s" ? number * 1'000 : number;
  }
  faults.add(node.mark, what + ": " + engine::quoted_excerpt(*text) +
                            " is no duration: write a whole number and ms or s, as in 250ms or 2s");
  return std::nullopt;
}

std::optional<Ticks> ticks(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, kAnswerKeys, "answers", owner, faults);
  const Node* const after = fields["after"];
  const Node* const every = fields["every"];
  if (after == nullptr || every == nullptr) return std::nullopt;
  const auto waits = milliseconds_of(*after, fields.path("after"), faults);
  const auto step = milliseconds_of(*every, fields.path("every"), faults);
  if (waits && *waits > engine::kTickedAfterMost) {
    faults.add(after->mark, fields.path("after") + ": at most 10s");
  }
  if (step && !engine::is_tick(*step)) {
    faults.add(every->mark, fields.path("every") +
                                ": from 10ms to 1s, and so many of them have to make a second, as of 250ms");
  }
  if (!waits || !step) return std::nullopt;
  return Ticks{*waits, *step};
}

/// Reports sockets whose names, or those of their locks, are another socket's or the ledger's.
void check_names(const Configuration& configuration, const Fields& fields, Faults& faults) {
  using Names = std::vector<std::string>;
  const auto of_socket = [](const std::string& path) {
    return path.empty() ? Names() : Names{path, path + ".lock"};
  };
  Names of_ledger;
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".lock", ".queue", ".poisoned", ".serve"}) {
    if (!configuration.ledger.empty()) of_ledger.push_back(configuration.ledger + suffix);
  }
  const auto report = [&](std::string_view key, const Names& names, const Names& taken,
                          const std::string& owner) {
    const bool meet =
        std::find_first_of(names.begin(), names.end(), taken.begin(), taken.end()) != names.end();
    if (meet) faults.add(fields.mark_of(key), std::string(key) + ": must not be " + owner);
  };
  const Names ask = of_socket(configuration.socket), curator = of_socket(configuration.curator_socket);
  const std::string ledger = "the ledger or a file beside it; the socket's lock is PATH.lock";
  report("socket", ask, of_ledger, ledger);
  report("curator_socket", curator, of_ledger, ledger);
  report("curator_socket", curator, ask, "the socket of those who ask, or its lock");
}

}  // namespace

Configuration parse_configuration(const std::string& yaml, const std::string& file) {
  Faults faults(file, {"configuration", "ledger, socket and curator_socket"});
  const Node root = engine::yaml::read(yaml, faults);
  Configuration configuration;
  const Fields fields(root, kKeys, "", root.mark, faults);
  configuration.ledger = required_path(fields, "ledger", faults);
  configuration.socket = required_path(fields, "socket", faults);
  configuration.curator_socket = required_path(fields, "curator_socket", faults);
  configuration.folders = {folders(fields, "sources", faults), folders(fields, "replicas", faults),
                           folders(fields, "checkpoints", faults)};
  if (const Node* node = fields["limits"])
    configuration.limits = limits(*node, fields.mark_of("limits"), faults);
  if (const Node* node = fields["answers"])
    configuration.answers = ticks(*node, fields.mark_of("answers"), faults);
  check_names(configuration, fields, faults);
  if (!faults.none()) throw faults.error();
  return configuration;
}

Configuration read_configuration(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(engine::yaml::kBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.eof() || file.bad())
    throw InvalidParameter("the configuration " + path +
                           " cannot be read: it has to be a file of at most 256 KiB that this user may read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_configuration(text, path);
}

std::string needs_restart(const Configuration& running, const Configuration& next) {
  if (running.ledger != next.ledger) return "ledger";
  if (running.socket != next.socket) return "socket";
  if (running.curator_socket != next.curator_socket) return "curator_socket";
  if (!(running.folders == next.folders)) return "sources, replicas or checkpoints";
  if (running.answers != next.answers) return "answers";
  return "";
}

}  // namespace epsilog::serve
