#include "body_memory.hpp"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using epsilog::serve::BodyMemory;

TEST_CASE("body room: a principal and a user hold a quarter of it at most, and others have the rest",
          "[admission][bodies]") {
  BodyMemory room({.bytes = 400, .wait_max = 0ms});
  std::optional<BodyMemory::Claim> precedes(std::in_place, room, "alice", 1U);
  CHECK(precedes->try_take_memory(101));  // nobody precedes: some body always goes on
  BodyMemory::Claim same_principal(room, "alice", 2), same_user(room, "bob", 1), other(room, "carol", 3);
  CHECK_FALSE(same_principal.try_take_memory(1));
  CHECK_FALSE(same_user.try_take_memory(1));
  CHECK(other.try_take_memory(100));
  CHECK_FALSE(other.try_take_memory(1));
  CHECK(precedes->try_take_memory(1000));
  CHECK(room.bytes() == 1201);
  precedes.reset();
  CHECK(room.bytes() == 100);
  CHECK(same_principal.try_take_memory(100));
  CHECK(other.try_take_memory(1));  // which precedes from now on
  CHECK_FALSE(same_principal.try_take_memory(1));
  CHECK(room.waiting() == 0);
}

TEST_CASE("body room: after a stop only a body that cannot be refused waits on", "[admission][bodies]") {
  BodyMemory room({.bytes = 400, .wait_max = 1h});
  std::optional<BodyMemory::Claim> precedes(std::in_place, room, "alice", 1U);
  REQUIRE(precedes->try_take_memory(500));
  BodyMemory::Claim surely(room, "bob", 2), refusable(room, "carol", 3);
  std::thread waits([&] { surely.take_memory(10); });
  std::thread gives_up([&] { CHECK_FALSE(refusable.try_take_memory(10)); });
  while (room.waiting() < 2) std::this_thread::yield();
  room.stop();
  gives_up.join();
  CHECK(room.waiting() == 1);
  precedes.reset();
  waits.join();
  CHECK(room.bytes() == 10);
}

TEST_CASE("body room: bodies that come in pieces all end, however little room there is for them together",
          "[admission][bodies]") {
  constexpr std::size_t kPieces = 20, kPiece = 50, kBodies = 8;
  for (const std::size_t bytes : {1, 200, 1000, 4000, 100'000}) {
    for (const std::uint32_t users : {1U, 3U}) {
      CAPTURE(bytes, users);
      BodyMemory room({.bytes = bytes, .wait_max = 1h});
      std::atomic<std::size_t> whole = 0, too_much = 0;
      std::vector<std::thread> readers;
      for (std::uint32_t i = 0; i < kBodies; ++i) {
        readers.emplace_back([&, i] {
          BodyMemory::Claim claim(room, std::to_string(i % 5), i % users);
          for (std::size_t piece = 0; piece < kPieces; ++piece) {
            if (!claim.try_take_memory(kPiece)) return;
            if (room.bytes() > bytes + kPieces * kPiece) ++too_much;
            std::this_thread::yield();
          }
          ++whole;
        });
      }
      for (std::thread& reader : readers) reader.join();
      CHECK(whole == kBodies);
      CHECK(too_much == 0);
      CHECK(room.bytes() == 0);
    }
  }
}
