// Places of connections: how many, how fast, and that one user's crowd takes nothing from others.
#include "places.hpp"

#include "support/catch.hpp"

using namespace std::chrono_literals;
using epsilog::serve::Arrival;
using epsilog::serve::Limits;
using epsilog::serve::Peer;
using epsilog::serve::Places;

namespace {

Limits few() {
  Limits limits;
  limits.connections = 6;
  limits.per_uid = 3;
  limits.curator_connections = 1;
  limits.uid_second = 2;
  limits.uid_burst = 5;
  return limits;
}

constexpr Peer kCrowd{.uid = 1}, kOther{.uid = 2}, kThird{.uid = 3}, kCurator{.uid = 1, .curator = true};

}  // namespace

TEST_CASE("places: a user has so many, all have so many, and a curator has others", "[serve][places]") {
  Places places;
  const Places::Time now{};
  for (const Peer& peer : {kCrowd, kOther}) {
    for (int i = 0; i < 3; ++i) CHECK(places.take(peer, few(), now) == Arrival::taken);
    CHECK(places.take(peer, few(), now) == Arrival::refused);
  }
  CHECK(places.take(kThird, few(), now) == Arrival::refused);
  CHECK(places.take(kCurator, few(), now) == Arrival::taken);
  CHECK(places.take(kCurator, few(), now) == Arrival::refused);
  places.give_back(kCrowd);
  CHECK(places.take(kThird, few(), now) == Arrival::taken);
}

TEST_CASE("places: a user who comes and goes too fast is refused, then dropped, until time has passed",
          "[serve][places]") {
  Places places;
  Places::Time now{};
  const auto comes = [&](const Peer& peer) {
    const Arrival arrival = places.take(peer, few(), now);
    if (arrival == Arrival::taken) places.give_back(peer);
    return arrival;
  };
  for (int i = 0; i < 5; ++i) CHECK(comes(kCrowd) == Arrival::taken);
  int refused = 0;
  while (refused < 1000 && comes(kCrowd) == Arrival::refused) ++refused;
  CHECK(refused == 32);
  for (int i = 0; i < 1000; ++i) CHECK(comes(kCrowd) == Arrival::dropped);
  CHECK(comes(kOther) == Arrival::taken);
  CHECK(comes(kCurator) == Arrival::taken);
  now += 1s;
  for (int i = 0; i < 2; ++i) CHECK(comes(kCrowd) == Arrival::taken);
  CHECK(comes(kCrowd) == Arrival::refused);
}

TEST_CASE("places: of many users who come once, those who are gone for long are forgotten, and no others",
          "[serve][places]") {
  Places places;
  Places::Time now{};
  for (int i = 0; i < 5; ++i) REQUIRE(places.take(kCrowd, few(), now) != Arrival::dropped);
  for (std::uint32_t uid = 100; uid < 1100; ++uid) {
    const Peer peer{.uid = uid};
    REQUIRE(places.take(peer, few(), now) == Arrival::taken);
    places.give_back(peer);
    now += 1ms;
  }
  now += 1h;
  REQUIRE(places.take(Peer{.uid = 5000}, few(), now) == Arrival::taken);
  CHECK(places.take(kCrowd, few(), now) == Arrival::refused);  // whose three are still there
  for (int i = 0; i < 3; ++i) places.give_back(kCrowd);
  CHECK(places.take(kCrowd, few(), now) == Arrival::taken);
}
