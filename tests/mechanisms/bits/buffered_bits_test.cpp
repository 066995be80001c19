#include <sys/wait.h>
#include <unistd.h>

#include "epsilog/accounting/errors.hpp"
#include "epsilog/mechanisms/bit_source.hpp"
#include "key_stream.hpp"
#include "support/catch.hpp"
#include "support/no_randomness.hpp"

using namespace epsilog::mechanisms;

namespace {

using Block = std::array<std::byte, 32>;

Block drawn(BitSource& bits) {
  Block block{};
  bits.fill(block);
  return block;
}

}  // namespace

TEST_CASE("buffered bits: a child process draws other bytes than its parent", "[mechanisms][bits]") {
  BufferedBits bits;
  static_cast<void>(drawn(bits));  // seeds this thread's page
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Block block = drawn(bits);
    const bool sent = write(channel[1], block.data(), block.size()) == static_cast<ssize_t>(block.size());
    _exit(sent ? 0 : 1);
  }
  const Block ours = drawn(bits);
  Block theirs{};
  REQUIRE(read(channel[0], theirs.data(), theirs.size()) == static_cast<ssize_t>(theirs.size()));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(ours != theirs);
  CHECK(theirs != Block{});
  close(channel[0]);
  close(channel[1]);
}

TEST_CASE("buffered bits: threads share no stream", "[mechanisms][bits]") {
  BufferedBits bits;
  std::vector<Block> blocks(8);
  std::vector<std::thread> threads;
  for (Block& block : blocks) threads.emplace_back([&bits, &block] { block = drawn(bits); });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::set<Block>(blocks.begin(), blocks.end()).size() == blocks.size());
}

TEST_CASE("key stream: what was handed out is in the page no more", "[mechanisms][bits]") {
  KeyStream stream;
  REQUIRE(stream.ready());
  for (int i = 0; i < 1000; ++i) {
    Block block{};
    stream.fill(block);
    const auto page = stream.page();
    if (std::search(page.begin(), page.end(), block.begin(), block.begin() + 16) != page.end())
      FAIL("fill " << i);
  }
}

TEST_CASE("key stream: it does not repeat itself across refills and new keys", "[mechanisms][bits]") {
  KeyStream stream;
  REQUIRE(stream.ready());
  std::set<Block> seen;
  constexpr std::size_t kBlocks = 3 * KeyStream::kReseedBytes / sizeof(Block);
  for (std::size_t i = 0; i < kBlocks; ++i) {
    Block block{};
    stream.fill(block);
    seen.insert(block);
  }
  CHECK(seen.size() == kBlocks);
}

TEST_CASE("key stream: fills of every size are filled to the last byte", "[mechanisms][bits]") {
  KeyStream stream;
  REQUIRE(stream.ready());
  for (const std::size_t size : {1U, 7U, 17U, 24U, 7647U, 7648U, 7649U, 20'000U}) {
    // A byte left at zero in each of 12 independent fills has probability 2^-96.
    std::vector<std::byte> any(size, std::byte{0});
    for (int i = 0; i < 12; ++i) {
      std::vector<std::byte> bytes(size, std::byte{0});
      stream.fill(bytes);
      for (std::size_t j = 0; j < size; ++j) any[j] |= bytes[j];
    }
    CHECK(std::count(any.begin(), any.end(), std::byte{0}) == 0);
  }
}

TEST_CASE("key stream: every bit is set about half of the time", "[mechanisms][bits]") {
  // n = 2^20 bytes; a fair bit's count deviates from n/2 by more than 5000 = 9.8 standard deviations
  // with probability below 2e-22; eight bits.
  KeyStream stream;
  REQUIRE(stream.ready());
  std::vector<std::byte> bytes(std::size_t{1} << 20);
  stream.fill(bytes);
  for (int bit = 0; bit < 8; ++bit) {
    const auto set = std::count_if(bytes.begin(), bytes.end(), [bit](std::byte b) {
      return ((std::to_integer<int>(b) >> bit) & 1) != 0;
    });
    CHECK(std::abs(set - (1 << 19)) < 5000);
  }
}

TEST_CASE(
    "buffered bits: without randomness a thread that has no key yet gets no bytes, however often it asks",
    "[mechanisms][bits][negative]") {
  BufferedBits bits;
  const int status = epsilog::test::without_randomness([&bits] {
    int refused = 0;
    std::thread([&] {
      for (int time = 0; time < 3; ++time) {
        try {
          static_cast<void>(drawn(bits));
        } catch (const epsilog::EntropyUnavailable&) {
          ++refused;
        }
      }
    }).join();
    return refused == 3 ? 0 : 1;
  });
  if (status == epsilog::test::kCannotRefuse) return;
  CHECK(status == 0);
}
