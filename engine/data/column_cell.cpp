#include "column_cell.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/date.hpp"
#include "epsilog/engine/predicate.hpp"

namespace epsilog::engine {
namespace {

using accounting::Integer;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

bool read_boolean(std::string_view text, Int128& value) {
  const bool yes = text == "true" || text == "True" || text == "TRUE" || text == "1";
  const bool no = text == "false" || text == "False" || text == "FALSE" || text == "0";
  value = yes ? 1 : 0;
  return yes || no;
}

/// Where the parts of a number stand; valid only if it is one.
struct NumberShape {
  bool valid = false;
  bool negative = false;
  std::size_t whole = 0;         ///< first digit
  std::size_t whole_end = 0;     ///< the point, the 'e' or the end
  std::size_t fraction_end = 0;  ///< whole_end without a point
};

NumberShape shape_of(std::string_view text, char decimal_point, bool with_exponent) {
  NumberShape shape;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) shape.whole = 1;
  shape.negative = shape.whole == 1 && text[0] == '-';
  shape.whole_end = shape.fraction_end = digits_end(text, shape.whole);
  if (shape.whole_end == shape.whole) return shape;
  if (shape.whole_end < text.size() && text[shape.whole_end] == decimal_point) {
    shape.fraction_end = digits_end(text, shape.whole_end + 1);
    if (shape.fraction_end == shape.whole_end + 1) return shape;
  }
  std::size_t end = shape.fraction_end;
  if (with_exponent && end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t digits = end + 1;
    if (digits < text.size() && (text[digits] == '-' || text[digits] == '+')) ++digits;
    end = digits_end(text, digits);
    if (end == digits) return shape;
  }
  shape.valid = end == text.size();
  return shape;
}

/// Whether a number that from_chars finds out of range is too large, rather than too small: whether
/// its first significant digit stands before the point once the exponent has moved it.
bool is_huge(std::string_view text) {
  const std::size_t mantissa_end = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), mantissa_end);
  const std::size_t first = text.find_first_of("123456789");
  if (first >= mantissa_end) return false;
  long exponent = 0;
  if (mantissa_end < text.size()) {
    std::size_t digits = mantissa_end + 1;
    const bool negative = text[digits] == '-';
    if (!is_digit(text[digits])) ++digits;
    const auto result = std::from_chars(text.data() + digits, text.data() + text.size(), exponent);
    if (result.ec != std::errc()) exponent = std::numeric_limits<long>::max() / 2;
    if (negative) exponent = -exponent;
  }
  const long lead = first < point ? static_cast<long>(point - first) : -static_cast<long>(first - point - 1);
  return lead + exponent > 0;
}

}  // namespace

CellReader CellReader::of(const Dataset& dataset, const Column& column) {
  return {column.type, column.scale, CellDialect::of(dataset)};
}

CellDialect CellDialect::of(const Dataset& dataset) {
  if (!dataset.csv) return {};
  return {dataset.csv->decimal_point, dataset.csv->thousands, dataset.csv->date_format};
}

void CellReader::read(const RawCell& raw, Cell& cell) const {
  cell.missing = true;
  if (raw.missing || raw.text.empty()) return;
  switch (type_) {
    case ColumnType::integer:
    case ColumnType::decimal:
      cell.missing = !read_fixed(raw.text, cell.fixed);
      break;
    case ColumnType::real:
      cell.missing = !read_real(raw.text, cell.real);
      break;
    case ColumnType::boolean:
      cell.missing = !read_boolean(raw.text, cell.fixed);
      break;
    case ColumnType::date:
      cell.missing = !read_date(raw.text, cell.fixed);
      break;
    case ColumnType::string:
      cell.missing = false;
      cell.text = raw.text;
      break;
  }
}

std::string_view CellReader::without_groups(std::string_view text, std::string& room) const {
  const std::string_view mark = dialect_.thousands;
  const std::size_t first_mark = mark.empty() ? std::string_view::npos : text.find(mark);
  if (first_mark == std::string_view::npos) return text;
  constexpr std::size_t kGroup = 3;
  const std::size_t whole = text[0] == '-' || text[0] == '+' ? 1 : 0;
  std::size_t at = digits_end(text, whole);
  if (at != first_mark || at == whole || at - whole > kGroup || text[whole] == '0') return text;
  room = text.substr(0, at);
  while (text.substr(at).starts_with(mark)) {
    const std::size_t group = at + mark.size();
    at = digits_end(text, group);
    if (at != group + kGroup) return text;
    room += text.substr(group, kGroup);
  }
  room += text.substr(at);
  return room;
}

bool CellReader::read_date(std::string_view text, Int128& value) const {
  std::string room;
  if (dialect_.dates != DateFormat::year_month_day) {
    const char between = dialect_.dates == DateFormat::day_month_year_dotted ? '.' : '/';
    if (text.size() != 10 || text[2] != between || text[5] != between) return false;
    const std::string_view first = text.substr(0, 2), second = text.substr(3, 2), year = text.substr(6);
    const bool month_first = dialect_.dates == DateFormat::month_day_year;
    room.append(year).append("-").append(month_first ? first : second);
    room.append("-").append(month_first ? second : first);
    text = room;
  }
  std::int64_t days = 0;
  if (!parse_date(text, days)) return false;
  value = days;
  return true;
}

bool CellReader::read_short_fixed(std::string_view text, Int128& value) const {
  const std::size_t size = text.size();
  const bool negative = text[0] == '-';
  std::size_t at = negative || text[0] == '+' ? 1 : 0;
  const std::size_t whole = at;
  std::uint64_t magnitude = 0;
  for (; at < size && is_digit(text[at]); ++at)
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(text[at] - '0');
  if (at == whole) return false;
  std::size_t places = 0;
  if (at < size) {
    if (text[at] != dialect_.decimal_point || type_ == ColumnType::integer || ++at == size) return false;
    for (; at < size && is_digit(text[at]); ++at) {
      if (places < scale_) {
        magnitude = magnitude * 10 + static_cast<std::uint64_t>(text[at] - '0');
        ++places;
      } else if (text[at] != '0') {
        return false;
      }
    }
    if (at < size) return false;
  }
  // 18 digits and a scale of 18 make no more than kFixedMax.
  Int128 result = static_cast<Int128>(magnitude);
  for (; places < scale_; ++places) result *= 10;
  value = negative ? -result : result;
  return true;
}

bool CellReader::read_fixed(std::string_view text, Int128& value) const {
  constexpr std::size_t kShort = 18;
  if (text.size() <= kShort && dialect_.thousands.empty()) return read_short_fixed(text, value);
  std::string room;
  text = without_groups(text, room);
  const NumberShape shape = shape_of(text, dialect_.decimal_point, false);
  const bool has_fraction = shape.fraction_end > shape.whole_end;
  if (!shape.valid || (has_fraction && type_ == ColumnType::integer)) return false;
  const std::size_t fraction = has_fraction ? shape.whole_end + 1 : shape.fraction_end;
  const std::size_t kept_end = std::min(shape.fraction_end, fraction + scale_);
  for (std::size_t i = kept_end; i < shape.fraction_end; ++i) {
    if (text[i] != '0') return false;
  }
  Int128 magnitude = 0;
  const auto append = [&](int digit) { magnitude = std::min(magnitude * 10 + digit, kFixedMax); };
  for (std::size_t i = shape.whole; i < shape.whole_end; ++i) append(text[i] - '0');
  for (std::size_t i = fraction; i < kept_end; ++i) append(text[i] - '0');
  for (std::size_t places = kept_end - fraction; places < scale_; ++places) append(0);
  value = shape.negative ? -magnitude : magnitude;
  return true;
}

bool CellReader::read_real(std::string_view text, double& value) const {
  std::string room;
  text = without_groups(text, room);
  const NumberShape shape = shape_of(text, dialect_.decimal_point, true);
  if (!shape.valid) return false;
  std::string_view digits = text.substr(shape.whole);
  std::string with_point;
  if (dialect_.decimal_point != '.' && shape.fraction_end > shape.whole_end) {
    with_point = digits;
    with_point[shape.whole_end - shape.whole] = '.';
    digits = with_point;
  }
  double magnitude = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (result.ec == std::errc::result_out_of_range) {
    if (is_huge(digits)) return false;
    magnitude = 0;
  } else if (result.ec != std::errc() || !std::isfinite(magnitude)) {
    return false;
  }
  value = shape.negative ? -magnitude : magnitude;
  return true;
}

FixedRounding round_fixed(const Rational& value, unsigned scale) {
  const Rational scaled = value * accounting::power_of_ten(static_cast<long>(scale));
  const Integer limit = to_integer(kFixedMax);
  if (scaled > limit) return {kFixedMax + 1, kFixedMax + 1};
  if (scaled < -limit) return {-kFixedMax - 1, -kFixedMax - 1};
  const auto to_fixed = [](const Integer& integer) {
    const Integer magnitude = abs(integer);
    const Integer high = magnitude >> 64;
    const Integer low = magnitude - (high << 64);
    const Int128 result = (static_cast<Int128>(high.get_ui()) << 64) + static_cast<Int128>(low.get_ui());
    return sgn(integer) < 0 ? -result : result;
  };
  return {to_fixed(accounting::ceil(scaled)), to_fixed(accounting::floor(scaled))};
}

namespace {

/// The doubles next to a magnitude towards zero and away from it, as bits, which are ordered as the numbers
/// are.
struct NextDoubles {
  std::uint64_t inner;
  std::uint64_t outer;  ///< the same if the magnitude is a double
};

/// Requires  magnitude > 0.
NextDoubles next_to(const Rational& magnitude) {
  constexpr int kStored = std::numeric_limits<double>::digits - 1;
  constexpr long kExponentMin = std::numeric_limits<double>::min_exponent - 1;
  constexpr std::uint64_t kInfinity = std::uint64_t{0x7ff} << kStored;
  long exponent = static_cast<long>(mpz_sizeinbase(magnitude.get_num_mpz_t(), 2)) -
                  static_cast<long>(mpz_sizeinbase(magnitude.get_den_mpz_t(), 2));
  if (magnitude < accounting::power_of_two(exponent)) --exponent;
  if (exponent >= std::numeric_limits<double>::max_exponent) return {kInfinity - 1, kInfinity};
  exponent = std::max(exponent, kExponentMin);  // below it the numbers stand as close as there
  const Rational places = magnitude * accounting::power_of_two(kStored - exponent);
  const Integer whole = accounting::floor(places);
  // The leading bit of a normal number adds itself to the exponent.
  const std::uint64_t inner =
      (static_cast<std::uint64_t>(exponent - kExponentMin) << kStored) + whole.get_ui();
  return {inner, inner + (places == Rational(whole) ? 0U : 1U)};
}

}  // namespace

RealRounding round_real(const Rational& value) {
  if (value == 0) return {0, 0};
  const NextDoubles next = next_to(abs(value));
  const auto inner = std::bit_cast<double>(next.inner);
  const auto outer = std::bit_cast<double>(next.outer);
  return value > 0 ? RealRounding{outer, inner} : RealRounding{-inner, -outer};
}

namespace {

constexpr std::size_t kBytes = 256;

/// 0 of an empty text, which stands before all others.
std::size_t first_byte(std::string_view text) {
  return text.empty() ? 0 : static_cast<unsigned char>(text[0]);
}

}  // namespace

DeclaredValues::DeclaredValues(const Column& column) : type_(column.type) {
  const CellReader reader(column.type, column.scale, CellDialect{});
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    if (type_ == ColumnType::string) {
      texts_.emplace_back(column.values[i], i);
      continue;
    }
    const Cell cell = reader.read({column.values[i], false});
    EPSILOG_INVARIANT(!cell.missing);
    numbers_.emplace_back(cell.fixed, i);
  }
  std::sort(texts_.begin(), texts_.end());
  std::sort(numbers_.begin(), numbers_.end());
  if (!texts_.empty()) {
    begins_.reserve(kBytes + 1);
    for (std::size_t first = 0, at = 0; first <= kBytes; ++first) {
      while (at < texts_.size() && first_byte(texts_[at].first) < first) ++at;
      begins_.push_back(static_cast<std::uint32_t>(at));
    }
  }
  constexpr Int128 kNearMax = 4'096;
  if (!numbers_.empty() && numbers_.back().first - numbers_.front().first < kNearMax) {
    near_.assign(static_cast<std::size_t>(numbers_.back().first - numbers_.front().first) + 1, kNoIndex);
    for (const auto& [number, place] : numbers_)
      near_[static_cast<std::size_t>(number - numbers_.front().first)] = place;
  }
  if (column.missing && column.missing->get_den() == 1) {
    Cell cell;
    cell.missing = false;
    cell.fixed = round_fixed(*column.missing, column.scale).up;
    stand_in_ = find(cell);
  }
}

std::size_t DeclaredValues::find(const Cell& cell) const {
  if (cell.missing) return stand_in_;
  return type_ == ColumnType::string ? of_text(cell.text) : of_number(cell.fixed);
}

std::size_t DeclaredValues::of_text(std::string_view text) const {
  if (texts_.empty()) return kNoIndex;
  const std::size_t first = first_byte(text);
  const auto begin = texts_.begin() + begins_[first];
  const auto end = texts_.begin() + begins_[first + 1];
  if (end - begin == 1) return begin->first == text ? begin->second : kNoIndex;
  const auto found = std::lower_bound(
      begin, end, text, [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return found == end || found->first != text ? kNoIndex : found->second;
}

std::size_t DeclaredValues::of_number(Int128 number) const {
  if (!near_.empty()) {
    const Int128 beyond = number - numbers_.front().first;
    return beyond < 0 || beyond >= std::ssize(near_) ? kNoIndex : near_[static_cast<std::size_t>(beyond)];
  }
  const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), number,
                                      [](const auto& entry, Int128 wanted) { return entry.first < wanted; });
  return found == numbers_.end() || found->first != number ? kNoIndex : found->second;
}

}  // namespace epsilog::engine
