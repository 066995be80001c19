// However a message is cut into pieces, and whatever becomes of its bytes, there is one way to read it.
#include "heads.hpp"
#include "request_transcript.hpp"
#include "support/case_table.hpp"
#include "support/catch.hpp"

using namespace epsilog;

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % limit);
}

std::vector<std::size_t> some_cuts(Random& random, std::size_t size) {
  std::vector<std::size_t> cuts(below(random, 8));
  for (std::size_t& cut : cuts) cut = below(random, size + 1);
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// A request, several, or what becomes of them by a few edits.
std::string mutated(Random& random) {
  static const std::vector<test::CaseRow> kPieces =
      test::case_table(EPSILOG_SOURCE_DIR "/tests/serve/http/pieces.tsv");
  const auto& seeds = test::good_requests();
  std::string text = seeds[below(random, seeds.size())];
  if (below(random, 3) == 0) text += seeds[below(random, seeds.size())];
  for (std::size_t edits = below(random, 5); edits > 0; --edits) {
    const std::size_t at = below(random, text.size() + 1);
    const std::size_t length = std::min(below(random, 12), text.size() - at);
    const std::string& piece = kPieces[below(random, kPieces.size())].at(0);
    switch (below(random, 5)) {
      case 0:
        text.insert(at, piece);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.replace(at, length, piece);
        break;
      case 3:
        text.insert(below(random, text.size() + 1), text.substr(at, length * 4));
        break;
      default:
        if (at < text.size())
          text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << below(random, 8)));
    }
  }
  return text;
}

}  // namespace

TEST_CASE("pieces: every cut of a request in two, and in single bytes, gives the same",
          "[serve][http][reader]") {
  std::vector<std::string> texts = test::good_requests();
  texts.push_back(texts[2] + texts[0] + texts[3]);
  texts.push_back("GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n");
  texts.push_back("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx");
  texts.push_back("GET / HTTP/1.1\nHost: a\n\n");
  texts.push_back("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  for (const std::string& text : texts) {
    const auto whole = test::transcript(text);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) CHECK(test::transcript(text, {cut}) == whole);
    std::vector<std::size_t> everywhere;
    for (std::size_t cut = 1; cut < text.size(); ++cut) everywhere.push_back(cut);
    CHECK(test::transcript(text, everywhere) == whole);
  }
}

TEST_CASE("pieces: every bit of a request that is flipped leaves one way to read it",
          "[serve][http][reader]") {
  Random random(14);
  for (const std::string& text : test::good_requests()) {
    for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
      std::string flipped = text;
      flipped[bit / 8] = static_cast<char>(static_cast<unsigned char>(flipped[bit / 8]) ^ (1U << bit % 8));
      INFO(bit << " of " << text);
      REQUIRE_NOTHROW(test::require_unambiguous(flipped, some_cuts(random, flipped.size())));
    }
  }
}

TEST_CASE("pieces: requests that are edited at random are read in one way or refused",
          "[serve][http][reader]") {
  Random random(2026);
  std::size_t taken = 0;
  std::size_t refused = 0;
  for (int i = 0; i < 12'000; ++i) {
    const std::string text = mutated(random);
    INFO(text);
    REQUIRE_NOTHROW(test::require_unambiguous(text, some_cuts(random, text.size())));
    const auto state = test::transcript(text).front().state;
    taken += state == serve::RequestReader::State::complete ? 1U : 0U;
    refused += state == serve::RequestReader::State::malformed ? 1U : 0U;
  }
  CHECK(taken > 2'000);  // so that both sides were tried
  CHECK(refused > 2'000);
}
