// Which files that a policy names are not below the folders for them, and which sources are no files.
//
// Thread-safety: functions of their arguments and of the file system.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/folders.hpp"
#include "epsilog/engine/policy.hpp"

namespace epsilog::engine {

/// Where that file is, every link followed, if that is below one of the folders, whose links are followed
/// too; else nothing. A file that is not there yet is where its folder is; a link that leads nowhere, and
/// what cannot be looked at, is nowhere.
/// Requires  an absolute path.
[[nodiscard]] std::optional<std::string> resolve_below(const std::vector<std::string>& folders,
                                                       const std::string& path);

/// The fault, at its key, of a source that is found at that absolute path; none if it lies below a folder for
/// sources. `file` is the name to show.
[[nodiscard]] std::optional<PolicyFault> source_fault(const Dataset& dataset, const std::string& path,
                                                      const Folders& folders, const std::string& file);
/// The same of each source, replica and checkpoint whose file is not below a folder for such.
/// Requires  `base_dir` is where relative paths of sources start; `file` is the name to show in faults.
[[nodiscard]] std::vector<PolicyFault> folder_faults(const Policy& policy, const std::string& base_dir,
                                                     const Folders& folders, const std::string& file);
/// The same with sources that are found elsewhere than the policy says: absolute paths by dataset.
[[nodiscard]] std::vector<PolicyFault> folder_faults(const Policy& policy,
                                                     const std::map<std::string, std::string>& sources,
                                                     const Folders& folders, const std::string& file);

/// Where the sources of a policy are as it is written, by dataset. Relative paths start at `base_dir`.
[[nodiscard]] std::map<std::string, std::string> declared_sources(const Policy& policy,
                                                                  const std::string& base_dir);
/// Reports each source at whose place there is something else than a regular file: a FIFO, for example. A
/// source that is missing, or cannot be looked at, is no fault: it can come later.
[[nodiscard]] std::vector<PolicyFault> source_kind_faults(const Policy& policy,
                                                          const std::map<std::string, std::string>& sources,
                                                          const std::string& file);

}  // namespace epsilog::engine
