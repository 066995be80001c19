#include "metadata_tables.hpp"

#include <algorithm>

#include "policy_fields.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

// Option names of SmartNoise SQL and lomas; the words are theirs.
const KeyTable kTableOptions{"",
                             {{"max_ids"},
                              {"max_contributions"},
                              {"row_privacy"},
                              {"rows"},
                              {"rows_exact"},
                              {"sample_max_ids"},
                              {"censor_dims"},
                              {"clamp_counts"},
                              {"clamp_columns"},
                              {"use_dpsu"}}};

const KeyTable kColumnKeys{"",
                           {{"name"},
                            {"type", true, "type: int, float, string, boolean or datetime"},
                            {"private_id"},
                            {"lower"},
                            {"upper"},
                            {"nullable"},
                            {"missing_value"},
                            {"sensitivity"},
                            {"cardinality"},
                            {"categories"},
                            {"precision"},
                            {"nullable_proportion"},
                            {"max_partition_length"},
                            {"max_influenced_partitions"},
                            {"max_partition_contributions"},
                            {"max_num_partitions"}}};

const Vocabulary kTypes{"", {"int", "float", "string", "boolean", "datetime", "unknown"}};

/// An option and what this program does in its place, as the option would be set to say so.
struct FixedChoice {
  std::string_view option;
  bool here;
  std::string_view instead;
};
constexpr FixedChoice kFixedChoices[] = {
    {"sample_max_ids", true, "further rows of a unit are always left out here"},
    {"censor_dims", true, "groups are the declared values here, whatever is in the data"},
    {"clamp_counts", false, "a count may be negative here; clamp it after the release if need be"},
    {"clamp_columns", true, "cells are always clamped to the bounds here"},
    {"use_dpsu", false, "groups are the declared values here, whatever is in the data"}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The digits of YAML 1.1 as those of a policy: without underscores and plus, a digit on either side of the
/// point. What else YAML 1.1 calls a number (octal, hexadecimal, 1:30, .inf) is left to be refused.
std::string without_liberties(std::string_view text) {
  std::string plain;
  if (text.starts_with('+')) text.remove_prefix(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit_before = i > 0 && is_digit(text[i - 1]);
    const bool digit_after = i + 1 < text.size() && is_digit(text[i + 1]);
    if (text[i] == '_' && digit_before && digit_after) continue;
    if (text[i] == '.' && !digit_before) plain += '0';
    if (text[i] == '.' && !digit_after && digit_before) continue;
    plain += text[i];
  }
  const bool zero = plain.starts_with('-') && plain.find_first_not_of("-0.") == std::string::npos;
  return zero ? "0" : plain;
}

std::optional<Rational> exact_number(const Node& node, const std::string& what, Faults& faults) {
  if (!expect(node, Node::Kind::scalar, what, "a number", faults)) return std::nullopt;
  Node plain = node;
  plain.text = without_liberties(node.text);
  return number_of(plain, what, faults);
}

/// nothing for 0, which stands for "not known" there.
std::optional<std::uint64_t> whole_number(const Node& node, const std::string& what, Faults& faults) {
  const std::optional<Rational> number = exact_number(node, what, faults);
  if (!number || *number == 0) return std::nullopt;
  if (*number > 0 && *number <= 1'000'000'000'000 && number->get_den() == 1) {
    return number->get_num().get_ui();
  }
  faults.add(node.mark,
             what + ": " + quoted_excerpt(node.text) + " is not a whole number from 0 to 1000000000000");
  return std::nullopt;
}

/// As YAML 1.1 spells them.
bool is_true(const Node& node, const std::string& what, Faults& faults) {
  if (!expect(node, Node::Kind::scalar, what, "true or false", faults)) return false;
  static constexpr std::string_view kTrue[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
  static constexpr std::string_view kFalse[] = {"false", "False", "FALSE", "no", "No",
                                                "NO",    "off",   "Off",   "OFF"};
  if (std::find(std::begin(kTrue), std::end(kTrue), node.text) != std::end(kTrue)) return true;
  if (std::find(std::begin(kFalse), std::end(kFalse), node.text) == std::end(kFalse)) {
    faults.add(node.mark, what + ": " + quoted_excerpt(node.text) + " is not true or false");
  }
  return false;
}

void read_bounds(const Fields& fields, MetadataColumn& column, Faults& faults) {
  if (column.type == MetadataType::datetime) {
    column.dated_bounds = fields.has("lower") || fields.has("upper");
    return;
  }
  if (const Node* lower = fields["lower"]) column.lower = exact_number(*lower, fields.path("lower"), faults);
  if (const Node* upper = fields["upper"]) column.upper = exact_number(*upper, fields.path("upper"), faults);
}

void read_missing_value(const Fields& fields, MetadataColumn& column, Faults& faults) {
  const Node* value = fields["missing_value"];
  if (value == nullptr ||
      !expect(*value, Node::Kind::scalar, fields.path("missing_value"), "a value", faults)) {
    return;
  }
  column.missing_value = value->text;
  if (column.type == MetadataType::integer || column.type == MetadataType::real) {
    column.missing_number = exact_number(*value, fields.path("missing_value"), faults);
  }
}

void read_categories(const Fields& fields, MetadataColumn& column, Faults& faults) {
  if (const Node* cardinality = fields["cardinality"]) {
    column.cardinality = exact_number(*cardinality, fields.path("cardinality"), faults);
  }
  const Node* list = fields["categories"];
  if (list == nullptr ||
      !expect(*list, Node::Kind::sequence, fields.path("categories"), "a list of values", faults)) {
    return;
  }
  for (const Node& item : list->items) {
    if (column.type == MetadataType::integer) {
      const auto number = exact_number(item, fields.path("categories"), faults);
      if (number) column.categories.push_back(accounting::text(*number));
    } else if (const auto text = text_of(item, fields.path("categories"), faults, true)) {
      column.categories.push_back(*text);
    }
  }
}

MetadataColumn read_column(const yaml::Entry& entry, Faults& faults) {
  MetadataColumn column;
  column.name = entry.key;
  const Fields fields(entry.value, kColumnKeys, "column " + quoted_excerpt(entry.key), entry.mark, faults);
  const Node* type = fields["type"];
  if (type == nullptr) return column;
  const auto choice = choice_of(*type, kTypes, fields.path("type"), faults);
  if (!choice) return column;
  constexpr MetadataType kInOrder[] = {MetadataType::integer, MetadataType::real,     MetadataType::string,
                                       MetadataType::boolean, MetadataType::datetime, MetadataType::unknown};
  column.type = kInOrder[*choice];
  if (const Node* id = fields["private_id"])
    column.private_id = is_true(*id, fields.path("private_id"), faults);
  read_bounds(fields, column, faults);
  read_missing_value(fields, column, faults);
  read_categories(fields, column, faults);
  for (const std::string_view key : {"sensitivity", "max_partition_length", "max_influenced_partitions",
                                     "max_partition_contributions", "max_num_partitions"}) {
    if (fields.has(key)) column.unused.emplace_back(key);
  }
  return column;
}

void read_option(const yaml::Entry& entry, MetadataTable& table, Faults& faults) {
  const std::string what = entry.key;
  const Node& value = entry.value;
  if (what == "max_ids" || what == "max_contributions") {
    table.max_ids = whole_number(value, what, faults);
  } else if (what == "rows") {
    if (!table.rows_exact) table.rows = whole_number(value, what, faults);
  } else if (what == "rows_exact") {
    table.rows = whole_number(value, what, faults);
    table.rows_exact = table.rows.has_value();
  } else if (what == "row_privacy") {
    table.row_privacy = is_true(value, what, faults);
  } else {
    for (const FixedChoice& choice : kFixedChoices) {
      if (what != choice.option || is_true(value, what, faults) == choice.here) continue;
      table.differing.push_back(what + ": " + value.text + ": " + std::string(choice.instead));
    }
  }
}

MetadataTable read_smartnoise_table(const yaml::Entry& entry, const std::string& schema, Faults& faults) {
  MetadataTable table;
  table.schema = schema;
  table.name = entry.key;
  if (!expect(entry.value, Node::Kind::map, "table " + quoted_excerpt(entry.key),
              "a map of options and columns", faults)) {
    return table;
  }
  for (const yaml::Entry& inner : entry.value.entries) {
    if (kTableOptions.find(inner.key) != nullptr) {
      read_option(inner, table, faults);
    } else if (inner.value.kind == Node::Kind::map) {
      table.columns.push_back(read_column(inner, faults));
    } else {
      faults.add(inner.mark, "table " + quoted_excerpt(entry.key) + ": " + quoted_excerpt(inner.key) +
                                 " is neither a column, which is a map with a type, nor one of the options " +
                                 comma_list(kTableOptions.names()));
    }
  }
  return table;
}

std::vector<MetadataTable> read_smartnoise(const Node& root, Faults& faults) {
  std::vector<MetadataTable> tables;
  const yaml::Entry* collection = nullptr;
  for (const yaml::Entry& entry : root.entries) {
    if (entry.key == "engine") continue;
    if (collection != nullptr) {
      faults.add(entry.mark, quoted_excerpt(entry.key) + ": a second collection beside " +
                                 quoted_excerpt(collection->key) +
                                 "; metadata of SmartNoise have one, with its schemas and their tables");
      return tables;
    }
    collection = &entry;
  }
  if (collection == nullptr) {
    faults.add(root.mark,
               "there is no collection: metadata of SmartNoise are COLLECTION: {SCHEMA: {TABLE: …}}");
    return tables;
  }
  if (!expect(collection->value, Node::Kind::map, "collection " + quoted_excerpt(collection->key),
              "a map of schemas", faults)) {
    return tables;
  }
  for (const yaml::Entry& schema : collection->value.entries) {
    if (!expect(schema.value, Node::Kind::map, "schema " + quoted_excerpt(schema.key), "a map of tables",
                faults))
      continue;
    for (const yaml::Entry& table : schema.value.entries) {
      tables.push_back(read_smartnoise_table(table, schema.key, faults));
    }
  }
  return tables;
}

std::vector<MetadataTable> read_lomas(const Node& root, Faults& faults) {
  MetadataTable table;
  KeyTable keys = kTableOptions;
  keys.keys.push_back({"columns", true, "columns: {COLUMN: {type: …}}"});
  const Fields fields(root, keys, "the metadata", root.mark, faults);
  for (const yaml::Entry& entry : root.entries) {
    if (kTableOptions.find(entry.key) != nullptr) read_option(entry, table, faults);
  }
  const Node* columns = fields["columns"];
  if (columns != nullptr && expect(*columns, Node::Kind::map, "columns", "a map of columns", faults)) {
    for (const yaml::Entry& column : columns->entries) table.columns.push_back(read_column(column, faults));
  }
  return {table};
}

}  // namespace

std::vector<MetadataTable> read_metadata(std::string_view yaml, const std::string& file,
                                         std::optional<MetadataFormat> from) {
  Faults faults(file);
  const Node root = yaml::read(yaml, faults);
  std::vector<MetadataTable> tables;
  if (faults.none() && expect(root, Node::Kind::map, "the metadata", "a map", faults)) {
    const Node* columns = root.find("columns");
    const bool looks_like_lomas = columns != nullptr && columns->kind == Node::Kind::map;
    const MetadataFormat format =
        from.value_or(looks_like_lomas ? MetadataFormat::lomas : MetadataFormat::smartnoise);
    tables = format == MetadataFormat::lomas ? read_lomas(root, faults) : read_smartnoise(root, faults);
    if (faults.none() && tables.empty()) faults.add(root.mark, "there is no table");
  }
  // What follows from one misunderstanding is noise.
  if (!faults.none()) throw PolicyError({faults.error().faults().front()});
  return tables;
}

}  // namespace epsilog::engine
