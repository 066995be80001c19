// The whole reader of HTTP requests: whatever the bytes are and however they are cut, there is one way to read them.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"
#include "request_transcript.hpp"

namespace {

/// Where the bytes are cut follows from them, so that what is found is found again.
std::vector<std::size_t> cuts_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::vector<std::size_t> cuts(hash % 6);
  for (std::size_t& cut : cuts) {
    hash = hash * 6364136223846793005U + 1442695040888963407U;
    cut = static_cast<std::size_t>((hash >> 33U) % (bytes.size() + 1));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = epsilog::fuzz::text_of(data, size);
  const std::vector<std::size_t> cuts = cuts_of(bytes);
  epsilog::test::require_unambiguous(bytes, cuts);
  const auto requests = epsilog::test::transcript(bytes);
  if (requests.size() > 1) ++epsilog::fuzz::accepted_count;
  // What takes thousands of bytes, in a few.
  epsilog::test::require_unambiguous(bytes, cuts,
                                     {.head_bytes = 160, .target_bytes = 40, .headers = 4, .parameters = 3});
  return 0;
}
