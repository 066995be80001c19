#include "source_location.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "epsilog/accounting/errors.hpp"
#include "folder_faults.hpp"

namespace epsilog::engine {

std::string absolute_path(const std::string& path, std::string_view what) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  if (error) {
    throw SourceError(std::string(what) + ": '" + path + "' begins at the current directory, " +
                      (error == std::errc::no_such_file_or_directory ? "which does not exist any more"
                                                                     : "of which " + error.message()));
  }
  return whole.lexically_normal().string();
}

const std::string& written_path(const Dataset& dataset) {
  EPSILOG_INVARIANT(dataset.has_source());
  return dataset.csv ? dataset.csv->path : dataset.sqlite->path;
}

std::string declared_location(const Dataset& dataset, const std::string& base_dir) {
  return (std::filesystem::path(base_dir) / written_path(dataset)).string();
}

Dataset with_source_at(Dataset dataset, const std::string& path) {
  EPSILOG_INVARIANT(dataset.has_source());
  (dataset.csv ? dataset.csv->path : dataset.sqlite->path) = path;
  return dataset;
}

Dataset with_source_in_folders(Dataset dataset, const std::string& base_dir, const Folders& folders) {
  const auto place = resolve_below(folders.sources, declared_location(dataset, base_dir));
  if (!place) throw SourceError("dataset '" + dataset.name + "': its source may not be read here");
  return with_source_at(std::move(dataset), *place);
}

std::string advice_on_missing(const Dataset& dataset, const std::string& base_dir) {
  std::error_code error;
  const auto found = std::filesystem::symlink_status(declared_location(dataset, base_dir), error).type();
  if (found != std::filesystem::file_type::not_found) return "";
  return ". If it was moved, a curator says where it is now: epsilog relocate " + dataset.name +
         " --source FILE --why TEXT";
}

bool same_location(const std::string& path, const std::string& other) {
  return std::filesystem::path(path).lexically_normal() == std::filesystem::path(other).lexically_normal();
}

bool keeps_file(const Dataset& before, const std::string& location, const Dataset& after,
                const std::string& base_dir) {
  if (!before.has_source() || !after.has_source()) return false;
  if (before.csv.has_value() != after.csv.has_value()) return false;
  return written_path(before) == written_path(after) ||
         same_location(location, declared_location(after, base_dir));
}

}  // namespace epsilog::engine
