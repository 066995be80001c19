// Places of connections: that one user's crowd takes nothing from others.
#include "connection_slots.hpp"

#include "support/catch.hpp"

using namespace std::chrono_literals;
using epsilog::serve::ConnectionLimits;
using epsilog::serve::ConnectionSlots;
using epsilog::serve::Peer;
using epsilog::serve::SlotOutcome;

namespace {

ConnectionLimits few() {
  ConnectionLimits limits;
  limits.uid_arrivals_per_second = 2;
  limits.uid_arrivals_burst = 5;
  return limits;
}

constexpr Peer kCrowd{.uid = 1}, kOther{.uid = 2}, kCurator{.uid = 1, .curator = true};

}  // namespace

TEST_CASE("places: a user who comes and goes too fast is refused, then dropped, until time has passed",
          "[serve][places]") {
  ConnectionSlots places;
  ConnectionSlots::Time now{};
  const auto comes = [&](const Peer& peer) {
    const SlotOutcome arrival = places.take(peer, few(), now);
    if (arrival == SlotOutcome::taken) places.give_back(peer);
    return arrival;
  };
  for (int i = 0; i < 5; ++i) CHECK(comes(kCrowd) == SlotOutcome::taken);
  int refused = 0;
  while (refused < 1000 && comes(kCrowd) == SlotOutcome::refused) ++refused;
  CHECK(refused == 32);
  for (int i = 0; i < 1000; ++i) CHECK(comes(kCrowd) == SlotOutcome::dropped);
  CHECK(comes(kOther) == SlotOutcome::taken);
  CHECK(comes(kCurator) == SlotOutcome::taken);
  now += 1s;
  for (int i = 0; i < 2; ++i) CHECK(comes(kCrowd) == SlotOutcome::taken);
  CHECK(comes(kCrowd) == SlotOutcome::refused);
}
