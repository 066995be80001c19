// Places of connections: that one user's crowd takes nothing from others.
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
  limits.uid_second = 2;
  limits.uid_burst = 5;
  return limits;
}

constexpr Peer kCrowd{.uid = 1}, kOther{.uid = 2}, kCurator{.uid = 1, .curator = true};

}  // namespace

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
