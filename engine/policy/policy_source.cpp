#include <algorithm>
#include <unordered_set>

#include "policy_decoder.hpp"

namespace epsilog::engine {

using yaml::Node;

namespace {

/// Characters that cells, numbers and dates themselves are made of, or that quote them.
bool may_delimit(char c) {
  static constexpr std::string_view kDelimiters = "\t!#$%&()*,/:;<=>?@[]^`{|}~";
  return kDelimiters.find(c) != std::string_view::npos;
}

void decode_delimiter(const Node& node, CsvSource& csv, Faults& faults) {
  if (!expect(node, Node::Kind::scalar, "source.delimiter", "one character", faults)) return;
  if (node.text.size() == 1 && may_delimit(node.text[0])) {
    csv.delimiter = node.text[0];
  } else {
    faults.add(node.mark,
               "source.delimiter: " + quoted_excerpt(node.text) +
                   " is not allowed: use ',' ';' '|' \"\\t\" or another single ASCII character that is no "
                   "letter, digit, blank, quote, backslash or one of . - + _");
  }
}

void decode_decimal_point(const Node& node, CsvSource& csv, Faults& faults) {
  if (!expect(node, Node::Kind::scalar, "source.decimal", "'.' or ','", faults)) return;
  if (node.text == "." || node.text == ",") {
    csv.decimal_point = node.text[0];
  } else {
    faults.add(node.mark, "source.decimal: " + quoted_excerpt(node.text) + " is not '.' or ','");
  }
}

void decode_thousands(const Node& node, CsvSource& csv, Faults& faults) {
  static constexpr std::string_view kBetweenGroups[] = {".", ",", " ", "'", "\u00A0", "\u202F", "\u2019"};
  if (!expect(node, Node::Kind::scalar, "source.thousands", "one character", faults)) return;
  if (std::find(std::begin(kBetweenGroups), std::end(kBetweenGroups), node.text) !=
      std::end(kBetweenGroups)) {
    csv.thousands = node.text;
  } else {
    faults.add(node.mark,
               "source.thousands: " + quoted_excerpt(node.text) +
                   " is not allowed: use '.' ',' ' ' \"'\" \"\\u2019\", or a blank that does not break, "
                   "\"\\u00A0\" or \"\\u202F\"");
  }
}

void check_thousands(const Fields& fields, const CsvSource& csv, Faults& faults) {
  if (csv.thousands.empty()) return;
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    faults.add(fields.mark_of("thousands"), "source: the thousands and the " + what + " character are both " +
                                                quoted_excerpt(csv.thousands) + "; write " + remedy);
  };
  if (csv.thousands[0] == csv.decimal_point) {
    refuse("decimal", csv.decimal_point == '.' ? "decimal: ','" : "decimal: '.'");
  } else if (csv.thousands[0] == csv.delimiter) {
    refuse("delimiting", "delimiter: ';'");
  }
}

void decode_null_texts(const Node& node, CsvSource& csv, Faults& faults) {
  if (!expect(node, Node::Kind::sequence, "source.null", "a list of texts", faults)) return;
  std::unordered_set<std::string> seen;
  for (const Node& item : node.items) {
    const auto text = text_of(item, "source.null", faults, true);
    if (!text) continue;
    if (seen.insert(*text).second) {
      csv.null.push_back(*text);
    } else {
      faults.add(item.mark, "source.null: " + quoted_excerpt(*text) + " is listed twice");
    }
  }
}

CsvSource decode_csv(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, keys::csv_source, "source", owner, faults);
  CsvSource csv;
  if (const Node* path = fields["csv"]) csv.path = text_of(*path, "source.csv", faults).value_or("");
  if (const Node* delimiter = fields["delimiter"]) decode_delimiter(*delimiter, csv, faults);
  if (const Node* decimal = fields["decimal"]) decode_decimal_point(*decimal, csv, faults);
  if (const Node* thousands = fields["thousands"]) decode_thousands(*thousands, csv, faults);
  if (const Node* encoding = fields["encoding"]) {
    csv.encoding = word_of(*encoding, keys::encodings, "source.encoding", faults).value_or(csv.encoding);
  }
  if (const Node* format = fields["date_format"]) {
    csv.date_format =
        word_of(*format, keys::date_formats, "source.date_format", faults).value_or(csv.date_format);
  }
  if (const Node* null = fields["null"]) decode_null_texts(*null, csv, faults);
  if (const Node* multiline = fields["multiline"]) {
    csv.multiline = truth_of(*multiline, "source.multiline", faults).value_or(false);
  }
  check_thousands(fields, csv, faults);
  if (csv.delimiter == csv.decimal_point) {
    const std::string_view later = fields.has("decimal") ? "decimal" : "delimiter";
    faults.add(fields.mark_of(later),
               "source: the delimiter and the decimal character are both ','; write delimiter: "
               "';' or decimal: '.'");
  }
  return csv;
}

SqliteSource decode_sqlite(const Node& node, const Mark& owner, Faults& faults) {
  const Fields fields(node, keys::sqlite_source, "source", owner, faults);
  SqliteSource sqlite;
  if (const Node* path = fields["sqlite"]) sqlite.path = text_of(*path, "source.sqlite", faults).value_or("");
  if (const Node* table = fields["table"])
    sqlite.table = text_of(*table, "source.table", faults).value_or("");
  return sqlite;
}

}  // namespace

void decode_source(const Node& node, const Mark& owner, Dataset& dataset, Faults& faults) {
  dataset.source_mark = owner;
  constexpr const char* kForms = "{csv: FILE} or {sqlite: FILE, table: NAME}";
  if (!expect(node, Node::Kind::map, "source", kForms, faults)) return;
  const bool has_csv = node.find("csv") != nullptr;
  const bool has_sqlite = node.find("sqlite") != nullptr;
  if (has_csv && has_sqlite) {
    faults.add(owner, std::string("source: a dataset has one source; write either ") + kForms);
  } else if (has_csv) {
    dataset.csv = decode_csv(node, owner, faults);
  } else if (has_sqlite || node.find("table") != nullptr) {
    dataset.sqlite = decode_sqlite(node, owner, faults);
  } else {
    // Without either key the nearest form is guessed, so that a slip in `csv` is named as such.
    dataset.csv = decode_csv(node, owner, faults);
  }
}

}  // namespace epsilog::engine
