#include "invented_rows.hpp"

#include <algorithm>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "exact_sum.hpp"

namespace epsilog::engine {
namespace {

constexpr int kSteps = 1000;
constexpr std::uint64_t kOneMissingIn = 20;
/// A double is written with so many digits: enough for its nearest neighbours to be told apart.
constexpr unsigned kDigitsOfDouble = 17;

/// The finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): public, and no source of noise.
std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// One of `size` places, each as often as the others but for 2^-64.
std::size_t place_among(std::uint64_t hash, std::size_t size) {
  return static_cast<std::size_t>((static_cast<UInt128>(hash) * size) >> 64);
}

std::string number_text(const Column& column, const Rational& value) {
  if (column.type == ColumnType::real) return accounting::text_down(value, kDigitsOfDouble);
  const Rational unit = accounting::power_of_ten(static_cast<long>(column.scale));
  return accounting::text(Rational(accounting::floor(value * unit)) / unit);
}

/// Of the column of the blocks if that is a function of it, else of the first derived one that is; nullptr if
/// there is none.
const LabelRule* label_rule_of(const Dataset& dataset, const Column& column) {
  const Column* blocks = dataset.blocks ? dataset.column(dataset.blocks->by) : nullptr;
  if (blocks != nullptr && blocks->derived && blocks->derived->from == column.name) return &*blocks->derived;
  for (const Column& other : dataset.columns) {
    if (other.derived && other.derived->from == column.name) return &*other.derived;
  }
  return nullptr;
}

std::string other_text(const Column& column, std::int64_t number) {
  std::int64_t first = 0;
  if (column.type != ColumnType::date) return std::to_string(number);
  EPSILOG_INVARIANT(parse_date("2000-01-01", first));
  return date_text(first + number);
}

/// The values that are mapped, and one that is not.
std::vector<std::string> mapped_texts(const Column& column, const LabelRule& rule) {
  std::vector<std::string> texts;
  for (const auto& [value, label] : rule.map) texts.push_back(value);
  for (std::int64_t number = 1;; ++number) {
    std::string text = other_text(column, number);
    if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
    texts.push_back(std::move(text));
    return texts;
  }
}

std::vector<std::string> numbers(const Column& column, const LabelRule* rule) {
  Bounds range = column.bounds.value_or(Bounds{0, 100});
  if (!column.bounds && rule != nullptr) range = {rule->bins.front(), rule->bins.back()};
  std::vector<std::string> texts;
  for (int i = 0; i <= kSteps; ++i) {
    const Rational value = range.lower + (range.upper - range.lower) * i / kSteps;
    std::string text = number_text(column, value);
    if (texts.empty() || texts.back() != text) texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> days(const Dataset& dataset, const Column& column, const LabelRule* rule) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  if (column.bounds) {
    first = column.bounds->lower.get_num().get_si();
    last = column.bounds->upper.get_num().get_si();
  } else if (dataset.blocks && dataset.blocks->per && dataset.blocks->by == column.name) {
    first = dataset.blocks->first_day;
    last = dataset.blocks->last_day;
  } else if (rule != nullptr) {
    first = rule->first_day;
    last = rule->last_day;
  } else {
    EPSILOG_INVARIANT(parse_date("2000-01-01", first) && parse_date("2024-12-31", last));
  }
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i <= kSteps; ++i) {
    std::string text = date_text(first + (last - first) * i / kSteps);
    if (texts.empty() || texts.back() != text) texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> texts_of(const Dataset& dataset, const Column& column) {
  if (!column.values.empty()) return column.values;
  const LabelRule* const rule = label_rule_of(dataset, column);
  const bool in_blocks = dataset.blocks && dataset.blocks->by == column.name;
  if (rule != nullptr && !rule->map.empty() && !column.bounds && !in_blocks)
    return mapped_texts(column, *rule);
  switch (column.type) {
    case ColumnType::integer:
    case ColumnType::decimal:
    case ColumnType::real:
      return numbers(column, rule != nullptr && !rule->bins.empty() ? rule : nullptr);
    case ColumnType::date:
      return days(dataset, column, rule != nullptr && rule->per ? rule : nullptr);
    case ColumnType::boolean:
      return {"false", "true"};
    case ColumnType::string:
      break;
  }
  std::vector<std::string> texts;
  for (int i = 1; i <= 100; ++i) texts.push_back(std::to_string(i));
  return texts;
}

}  // namespace

std::uint64_t invented_rows(const Dataset& dataset) {
  const std::uint64_t wanted =
      dataset.rows.exact ? dataset.rows.count : dataset.rows.count / 2 + dataset.rows.count % 2;
  return std::min(wanted, kInventedRowsMax);
}

InventedRows::InventedRows(const Dataset& dataset, const std::vector<std::string>& wanted)
    : count_(invented_rows(dataset)), max_rows_(dataset.unit.max_rows) {
  for (const std::string& name : wanted) {
    Maker& maker = makers_.emplace_back();
    maker.is_unit = name == dataset.unit.id;
    if (maker.is_unit) continue;
    const Column* const column = dataset.column(name);
    EPSILOG_INVARIANT(column != nullptr);
    maker.salt = mix_bits(static_cast<std::uint64_t>(column - dataset.columns.data()));
    maker.texts = texts_of(dataset, *column);
  }
}

void InventedRows::next_unit_row() {
  if (rows_left_ == 0) {
    rows_of_unit_ = rows_of_unit_ == max_rows_ ? 1 : rows_of_unit_ + 1;
    rows_left_ = rows_of_unit_;
    unit_text_ = std::to_string(++unit_);
  }
  --rows_left_;
}

RowSource::Record InventedRows::next(std::span<RawCell> cells) {
  if (at_ == count_) return Record::none;
  next_unit_row();
  for (std::size_t i = 0; i < makers_.size(); ++i) {
    const Maker& maker = makers_[i];
    if (maker.is_unit) {
      cells[i] = {unit_text_, false};
      continue;
    }
    const std::uint64_t hash = mix_bits(maker.salt ^ at_);
    cells[i] = {};
    if (hash % kOneMissingIn != 0) cells[i] = {maker.texts[place_among(hash, maker.texts.size())], false};
  }
  ++at_;
  return Record::readable;
}

double InventedRows::fraction_read() const {
  return count_ == 0 ? 1 : static_cast<double>(at_) / static_cast<double>(count_);
}

}  // namespace epsilog::engine
