#include "record_members.hpp"

#include <algorithm>

#include "epsilog/ledger/canonical_json.hpp"
#include "stored_bytes.hpp"

namespace epsilog::ledger {
namespace {

/// A record is an object, so that what is in it is one deeper.
constexpr unsigned kDepthOfMembers = 1;

/// Names that are known are shorter.
constexpr std::size_t kNameShown = 40;

/// Whether it can be put into a record as it is.
bool is_canonical(std::string_view text, bool arrays) {
  if (!text.starts_with('{') && !(arrays && text.starts_with('['))) return false;
  try {
    static_cast<void>(parse_canonical(text, kDepthOfMembers));
    return true;
  } catch (const LedgerCorrupt&) {
    return false;
  }
}

}  // namespace

bool is_any_text(std::string_view /*text*/) {
  return true;
}

bool is_sha256(std::string_view text) {
  Sha256 hash;
  return text.size() == 2 * hash.size() && read_hex(text, hash.data());
}

void MemberWriter::out_of_range(std::string_view name) {
  throw InvalidParameter("ledger: " + std::string(name) + " of a record is out of its range");
}

void MemberWriter::blind() {
  json_->field("blind").raw("\"").raw(hex_text(head_->blind)).raw("\"");
}

void MemberWriter::hash_if(std::string_view name, const std::optional<Sha256>& hash) {
  if (hash) json_->field(name, hex_text(*hash));
}

void MemberWriter::change(std::string_view name, std::int64_t units, int decimals) {
  if (units > accounting::kUnitsMax || units < -accounting::kUnitsMax) out_of_range(name);
  json_->field(name).raw("\"").raw(UnitsText(units, decimals).view()).raw("\"");
}

void MemberWriter::number_lists_if(std::string_view name,
                                   const std::vector<std::vector<accounting::Rational>>& lists) {
  if (lists.empty()) return;
  json_->field(name).array(lists, [&](const auto& numbers) { json_->values(numbers); });
}

void MemberWriter::cells_if(std::string_view name, const CellKeys& cells) {
  if (cells.empty()) return;
  const auto list = [&](const std::vector<std::string>& keys) {
    json_->array(keys, [&](const std::string& key) { json_->bytes(key); });
  };
  if (cells.lists().size() > 1 && cells.table_size() > kCellsOfTableMax) out_of_range(name);
  json_->field(name);
  if (cells.lists().size() == 1) return list(cells.lists().front());
  json_->array(cells.lists(), list);
}

void MemberWriter::object_text(std::string_view name, const std::string& object) {
  if (!is_canonical(object, false)) out_of_range(name);
  json_->field(name).raw(object);
}

void MemberWriter::json_text_if(std::string_view name, const std::string& text, std::string_view nothing) {
  if (text == nothing) return;
  if (!is_canonical(text, true)) out_of_range(name);
  json_->field(name).raw(text);
}

MemberReader::MemberReader(CanonicalTokens& tokens, Line* head, DecimalsOfAccount decimals)
    : tokens_(&tokens), head_(head), decimals_(decimals) {
  require(tokens_->take('{'), "is no object");
}

void MemberReader::refuse(std::string_view name, std::string_view what) {
  throw LedgerCorrupt(std::string(name) + ": " + std::string(what));
}

bool MemberReader::take_name(std::string_view name) {
  std::string_view rest = tokens_->rest();
  const std::size_t comma = first_ ? 0 : 1;
  const std::size_t size = comma + name.size() + 3;
  if (rest.size() < size || (comma == 1 && rest.front() != ',')) return false;
  rest = rest.substr(comma, size - comma);
  if (rest.front() != '"' || !rest.ends_with("\":") || rest.substr(1, name.size()) != name) return false;
  tokens_->skip(size);
  first_ = false;
  last_ = name;
  return true;
}

void MemberReader::refuse_next(std::string_view name) {
  if (!name.empty() && tokens_->next() == '}') refuse(name, "is missing");
  if (!first_ && !tokens_->take(',')) refuse(last_, "neither a comma nor a brace follows it");
  if (tokens_->next() != '"') tokens_->fail("a name is missing");
  const std::string_view found = tokens_->string(decoded_);
  if (found == name) tokens_->fail("a colon is missing");
  if (!first_ && found == last_) refuse(found, "appears twice");
  if (!first_ && found < last_) refuse(found, "is out of order");
  if (name.empty() || found < name) refuse(found, "is unknown");
  refuse(name, "is missing where " + std::string(found.substr(0, kNameShown)) + " stands");
}

void MemberReader::close() {
  if (!tokens_->take('}')) refuse_next("");
  if (disagreement_ != nullptr) throw LedgerCorrupt(disagreement_);
}

void MemberReader::blind() {
  required("blind", [&] {
    const std::string_view text = string_value();
    require(text.size() == 2 * head_->blind.size() && read_hex(text, head_->blind.data()),
            "is not 32 lower-case hexadecimal digits");
  });
}

void MemberReader::constant(std::string_view name, std::uint64_t value) {
  required(name, [&] { require(count_value(0) == value, "is not known"); });
}

void MemberReader::rules(std::string_view name, Rules& rules) {
  required(name, [&] {
    require(count_value(0) == static_cast<std::uint64_t>(kRules), "are none that this program knows");
    rules = kRules;
  });
}

void MemberReader::hash_if(std::string_view name, std::optional<Sha256>& hash) {
  optional(name, [&] {
    const std::string_view text = string_value();
    Sha256& read = hash.emplace();
    require(text.size() == 2 * read.size() && read_hex(text, read.data()), "is no SHA-256");
  });
}

void MemberReader::amount_of_measure(std::string_view name, std::int64_t& /*units*/,
                                     const std::string& /*measure*/) {
  amount_name_ = name;
  required(name, [&] { amount_ = string_value(); });
}

void MemberReader::measure(std::string_view name, std::string& measure, std::int64_t& amount) {
  int decimals = 0;
  text(name, measure);
  within(name, [&] {
    try {
      decimals = grid_decimals(measure);
    } catch (const InvalidParameter&) {
      throw LedgerCorrupt("is none that an account has");
    }
  });
  within(amount_name_, [&] { amount = amount_value(amount_, decimals); });
}

void MemberReader::read_numbers(std::vector<accounting::Rational>& numbers) {
  array([&] { read_number(numbers.emplace_back()); });
}

void MemberReader::numbers_if(std::string_view name, std::vector<accounting::Rational>& numbers) {
  optional(name, [&] {
    read_numbers(numbers);
    require(!numbers.empty(), "is empty, and then left out");
  });
}

void MemberReader::number_lists_if(std::string_view name,
                                   std::vector<std::vector<accounting::Rational>>& lists) {
  optional(name, [&] {
    array([&] { read_numbers(lists.emplace_back()); });
    require(!lists.empty(), "is empty, and then left out");
  });
}

void MemberReader::cells_if(std::string_view name, CellKeys& cells) {
  optional(name, [&] {
    std::vector<std::string> keys;
    std::vector<std::vector<std::string>> lists;
    array([&] {
      if (tokens_->next() != '[') return keys.push_back(bytes_or_empty());
      auto& list = lists.emplace_back();
      array([&] { list.push_back(bytes_or_empty()); });
      require(!list.empty(), "has a list of no keys");
    });
    require(keys.empty() || lists.empty(), "has keys beside lists of keys");
    require(lists.size() != 1, "has one list of keys, which then stand in none");
    require(!keys.empty() || !lists.empty(), "is empty, and then left out");
    const bool several = !lists.empty();
    cells = several ? CellKeys(std::move(lists)) : CellKeys(std::move(keys));
    require(!several || cells.size() <= kCellsOfTableMax, "combine to more than 10000 cells");
  });
}

void MemberReader::read_object_text(std::string& object) {
  require(tokens_->next() == '{', "is no object");
  const std::string_view text = tokens_->extent();
  require(text != "{}", "says nothing");
  static_cast<void>(parse_canonical(text, kDepthOfMembers));
  object = text;
}

void MemberReader::json_text_if(std::string_view name, std::string& text, std::string_view nothing) {
  optional(name, [&] {
    require(tokens_->next() == '[' || tokens_->next() == '{', "is no array or object");
    text = tokens_->extent();
    static_cast<void>(parse_canonical(text, kDepthOfMembers));
    require(text != nothing, "says nothing, and then is left out");
  });
}

std::uint64_t MemberReader::count_value(std::uint64_t least) {
  require(is_digit(tokens_->next()), "is no count");
  const std::uint64_t value = tokens_->count();
  if (value < least) throw LedgerCorrupt("is less than " + std::to_string(least));
  return value;
}

std::string_view MemberReader::string_value() {
  require(tokens_->next() == '"', "is no string");
  return tokens_->string(decoded_);
}

std::string MemberReader::text_value(TextCheck check) {
  const std::string_view text = string_value();
  require(!text.empty(), "is empty");
  require(check(text), "is not of its form");
  return std::string(text);
}

std::string MemberReader::bytes_or_empty() {
  if (tokens_->next() != '{') return std::string(string_value());
  std::string bytes;
  read_object([&](MemberReader& members) {
    members.required("hex", [&] { bytes = bytes_of_hex(members.string_value()); });
  });
  return bytes;
}

std::string MemberReader::bytes_value() {
  std::string bytes = bytes_or_empty();
  require(!bytes.empty(), "is empty");
  return bytes;
}

std::int64_t MemberReader::amount_value(std::string_view text, int decimals) {
  const std::int64_t units = parse_units(text, decimals);
  if (units < 0) throw LedgerCorrupt("is negative");
  return units;
}

}  // namespace epsilog::ledger
