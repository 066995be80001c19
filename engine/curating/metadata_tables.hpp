// Tables as the metadata of other systems describe them, before they are translated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epsilog/engine/policy_draft.hpp"
#include "policy_faults.hpp"
#include "yaml_tree.hpp"

namespace epsilog::engine {

enum class MetadataType { integer, real, string, boolean, datetime, unknown };

struct MetadataColumn {
  std::string name;
  MetadataType type = MetadataType::unknown;
  bool private_id = false;
  std::optional<Rational> lower;
  std::optional<Rational> upper;
  bool dated_bounds = false;                 ///< lower or upper of a datetime
  std::optional<std::string> missing_value;  ///< as written
  std::optional<Rational> missing_number;    ///< the same, if it is a number
  std::vector<std::string> categories;       ///< as written
  std::optional<Rational> cardinality;       ///< as written, 0: not known
  std::vector<std::string> unused;           ///< keys that say how to be more precise; not used here
};

struct MetadataTable {
  std::string schema;
  std::string name;  ///< "" where the format has none
  std::optional<std::uint64_t> max_ids;
  std::optional<std::uint64_t> rows;
  bool rows_exact = false;
  bool row_privacy = false;
  std::vector<std::string> differing;  ///< options set to what this program does not do
  std::vector<MetadataColumn> columns;
};

/// Throws  PolicyError with one fault.
[[nodiscard]] std::vector<MetadataTable> read_metadata(std::string_view yaml, const std::string& file,
                                                       std::optional<MetadataFormat> from);

}  // namespace epsilog::engine
