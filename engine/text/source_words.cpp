#include "source_words.hpp"

namespace epsilog::engine {

std::string_view name(Encoding encoding) {
  return kEncodingWords.of(encoding);
}

std::string_view name(DateFormat format) {
  return kDateFormatWords.of(format);
}

std::string_view name(CalendarPeriod period) {
  return kPeriodWords.of(period);
}

}  // namespace epsilog::engine
