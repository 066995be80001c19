#include "folder_faults.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "policy_faults.hpp"

namespace epsilog::engine {
namespace {

namespace fs = std::filesystem;

/// With every link followed; nothing if that fails.
std::optional<fs::path> real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error || real.empty()) return std::nullopt;
  return real;
}

std::optional<fs::path> resolved_path(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type != fs::file_type::not_found) return real_path(path);
  const fs::path name = path.filename();
  if (name.empty() || name == "." || name == "..") return std::nullopt;
  const auto folder = real_path(path.parent_path());
  if (!folder || !fs::is_directory(*folder, error)) return std::nullopt;
  return *folder / name;
}

bool is_below(const fs::path& folder, const fs::path& path) {
  const auto [end, other] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() && other != path.end();
}

std::optional<PolicyFault> fault_of(const std::vector<std::string>& folders, const std::string& path,
                                    const std::string& key, const Mark& mark, const std::string& file) {
  if (resolve_below(folders, path)) return std::nullopt;
  return PolicyFault{
      file, mark.line, mark.column,
      key + ": " + quoted_excerpt(path) + " is not below a folder that is open to policies here"};
}

/// What is there, in a word, if it is no regular file; "" if it is one, if nothing is there, and if it cannot
/// be looked at.
std::string other_kind(const std::string& path) {
  std::error_code error;
  switch (fs::status(path, error).type()) {
    case fs::file_type::directory:
      return "a directory";
    case fs::file_type::fifo:
      return "a FIFO";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::block:
    case fs::file_type::character:
      return "a device";
    default:
      return "";
  }
}

}  // namespace

std::optional<std::string> resolve_below(const std::vector<std::string>& folders, const std::string& path) {
  const auto place = resolved_path(path);
  if (!place) return std::nullopt;
  for (const std::string& folder : folders) {
    const auto real = real_path(folder);
    if (real && is_below(*real, *place)) return place->string();
  }
  return std::nullopt;
}

std::optional<PolicyFault> source_fault(const Dataset& dataset, const std::string& path,
                                        const Folders& folders, const std::string& file) {
  return fault_of(folders.sources, path, "source", dataset.source_mark, file);
}

std::vector<PolicyFault> folder_faults(const Policy& policy,
                                       const std::map<std::string, std::string>& sources,
                                       const Folders& folders, const std::string& file) {
  std::vector<PolicyFault> faults;
  const auto add = [&faults](std::optional<PolicyFault> fault) {
    if (fault) faults.push_back(std::move(*fault));
  };
  for (const Dataset& dataset : policy.datasets()) {
    if (dataset.has_source()) add(source_fault(dataset, sources.at(dataset.name), folders, file));
  }
  if (const auto& replica = policy.replica()) {
    add(fault_of(folders.replicas, replica->path, "replica", replica->mark, file));
  }
  if (const auto& checkpoint = policy.checkpoint()) {
    for (const std::string& path : {checkpoint->key, checkpoint->key + ".state", checkpoint->path}) {
      add(fault_of(folders.checkpoints, path, "checkpoint", checkpoint->mark, file));
    }
  }
  std::stable_sort(faults.begin(), faults.end(), [](const PolicyFault& one, const PolicyFault& other) {
    return std::pair(one.line, one.column) < std::pair(other.line, other.column);
  });
  return faults;
}

std::map<std::string, std::string> declared_sources(const Policy& policy, const std::string& base_dir) {
  std::map<std::string, std::string> sources;
  for (const Dataset& dataset : policy.datasets()) {
    if (!dataset.has_source()) continue;
    const std::string& written = dataset.csv ? dataset.csv->path : dataset.sqlite->path;
    sources.emplace(dataset.name, (fs::path(base_dir) / written).string());
  }
  return sources;
}

std::vector<PolicyFault> folder_faults(const Policy& policy, const std::string& base_dir,
                                       const Folders& folders, const std::string& file) {
  return folder_faults(policy, declared_sources(policy, base_dir), folders, file);
}

std::vector<PolicyFault> source_kind_faults(const Policy& policy,
                                            const std::map<std::string, std::string>& sources,
                                            const std::string& file) {
  std::vector<PolicyFault> faults;
  for (const Dataset& dataset : policy.datasets()) {
    if (!dataset.has_source()) continue;
    const std::string kind = other_kind(sources.at(dataset.name));
    if (kind.empty()) continue;
    faults.push_back(
        {file, dataset.source_mark.line, dataset.source_mark.column,
         "dataset '" + dataset.name + "': its source is " + kind + "; rows are read from a regular file"});
  }
  return faults;
}

}  // namespace epsilog::engine
