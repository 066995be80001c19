// Where the rows of a dataset are found: where its policy says, or where `relocate` put them since.
#pragma once

#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/folders.hpp"
#include "epsilog/engine/policy.hpp"
#include "plan_cache.hpp"

namespace epsilog::engine {

/// The path from the root on, as its text tells: no link is followed.
/// Throws  SourceError, beginning with `what`, if it is relative and the current directory is gone.
[[nodiscard]] std::string absolute_path(const std::string& path, std::string_view what);
/// Requires  dataset.has_source().
[[nodiscard]] const std::string& written_path(const Dataset& dataset);
/// The path as it is written, from `base_dir` on.
[[nodiscard]] std::string declared_location(const Dataset& dataset, const std::string& base_dir);
/// The same dataset with its source at an absolute path.
[[nodiscard]] Dataset with_source_at(Dataset dataset, const std::string& path);
/// The dataset as it may be read: where folders are set, with its source where it really is, so that what was
/// looked at is what is opened.
/// Requires  dataset.has_source().
/// Throws    SourceError, which says nothing but the dataset's name, where it is not below one of them.
[[nodiscard]] Dataset with_source_in_folders(Dataset dataset, const std::string& base_dir,
                                             const Folders& folders);
/// What a curator can do about a source that is not where its dataset says, as the rest of a sentence; ""
/// where something is there.
/// Requires  dataset.has_source().
[[nodiscard]] std::string advice_on_missing(const Dataset& dataset, const std::string& base_dir);
/// Opens the source of a dataset as a ledger has it.
/// Throws  as `open`, with that advice.
template <class Open>
[[nodiscard]] auto open_with_advice(const Dataset& dataset, const std::string& base_dir, const Open& open) {
  try {
    return open();
  } catch (const SourceError& error) {
    const std::string advice = advice_on_missing(dataset, base_dir);
    if (advice.empty()) throw;
    std::throw_with_nested(SourceError(error.what() + advice));
  }
}
/// Whether both lead to one place, as far as their texts tell: no link is followed.
[[nodiscard]] bool same_location(const std::string& path, const std::string& other);

/// Where the source is found, as the ledger stands where `reader` looks.
/// Requires  dataset.has_source(), and the policy is the active one there.
template <class Reader>
[[nodiscard]] std::string location(Reader& reader, const AppliedPolicy& active, const Dataset& dataset) {
  if (auto moved = reader.location(dataset.name)) return std::move(*moved);
  return declared_location(dataset, active.version.base_dir);
}

/// Of every dataset with a source, by name.
using Locations = std::map<std::string, std::string>;
template <class Reader>
[[nodiscard]] Locations locations(Reader& reader, const AppliedPolicy& active) {
  Locations found;
  for (const Dataset& dataset : active.policy.datasets()) {
    if (dataset.has_source()) found.emplace(dataset.name, location(reader, active, dataset));
  }
  return found;
}

/// Whether a later policy, applied from `base_dir`, leaves the file where it is: written as before, which
/// keeps the place, or so that it leads there. Another table of that file is not looked at.
[[nodiscard]] bool keeps_file(const Dataset& before, const std::string& location, const Dataset& after,
                              const std::string& base_dir);

}  // namespace epsilog::engine
