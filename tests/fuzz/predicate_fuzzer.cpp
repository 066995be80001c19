// The text of a condition: its canonical text is read as the same condition, and written alike.
#include "epsilog/engine/predicate.hpp"

#include "epsilog/accounting/errors.hpp"
#include "epsilog/engine/utf8.hpp"
#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace epsilog;
  const std::string_view text = fuzz::text_of(data, size);
  if (!engine::is_utf8(text)) return 0;  // the caller has seen to that
  try {
    const engine::Predicate predicate = engine::Predicate::parse(text);
    ++fuzz::accepted_count;
    const std::string written = predicate.text();
    const engine::Predicate again = engine::Predicate::parse(written);
    fuzz::require(again == predicate, "the canonical text is read as the same condition");
    fuzz::require(again.text() == written, "the canonical text is written alike");
  } catch (const InvalidParameter&) {
  }
  return 0;
}
