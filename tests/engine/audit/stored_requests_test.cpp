// Texts of requests that were read before are those that are read.
#include "stored_requests.hpp"

#include <malloc.h>

#include "epsilog/ledger/digest.hpp"
#include "epsilog/ledger/unreadable_row.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using engine::StoredRequests;

namespace {

std::string text_of(int number, const std::string& more = "") {
  return R"({"dataset":"clinic","epsilon":")" + std::to_string(number) + R"(","purpose":"p)" + more +
         R"(","statistic":"count"})";
}

}  // namespace

TEST_CASE("stored requests: each is what reading it alone gives, however many and however long",
          "[engine][audit]") {
  StoredRequests requests;
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < 2'500; ++i) {
      const std::string text = text_of(i, i % 7 == 0 ? std::string(3'000, 'x') : "");
      const bool digest = requests.digest(text) == ledger::sha256_hex(text);
      const StoredRequests::ParsedText& read = requests.read(text);
      const bool same = read.canonical == text && read.conflicting.empty() &&
                        read.stored.request.epsilon == accounting::Rational(i);
      if (!digest || !same) FAIL_CHECK(i);
    }
  }
}

TEST_CASE("stored requests: what is not written as it would be says so", "[engine][audit][negative]") {
  StoredRequests requests;
  for (int round = 0; round < 2; ++round) {
    CHECK_THROWS_AS(requests.read("{"), ledger::UnreadableRow);
    CHECK(requests.digest("{") == ledger::sha256_hex("{"));
    const std::string spaced = R"({"dataset":"clinic", "epsilon":"1.0","purpose":"p","statistic":"count"})";
    CHECK(requests.read(spaced).canonical == text_of(1));
    const std::string conflict =
        R"({"conflicting_key":"k","dataset":"clinic","epsilon":"1","purpose":"p","statistic":"count"})";
    CHECK(requests.read(conflict).conflicting == conflict);
    CHECK(requests.read(conflict).canonical == text_of(1));
  }
}

TEST_CASE("stored requests: memory does not grow with the texts", "[engine][audit]") {
  StoredRequests requests;
  const std::size_t before = ::mallinfo2().uordblks;
  std::size_t most = 0;
  for (int i = 0; i < 5'000; ++i) {
    (void)requests.read(text_of(i + 1, std::string(1'900, 'x')));
    most = std::max<std::size_t>(most, ::mallinfo2().uordblks);
  }
  CHECK(most < before + 12 * 1024 * 1024);  // all of them take more than 30
}
