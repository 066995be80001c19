// Bodies that are declared and come late, in pieces or never: what they keep from others, by every route.
#include <atomic>

#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// A body of which as much arrives as the test says, until it breaks off.
class LateBody final : public serve::Body {
 public:
  std::size_t read(std::span<char> into) override {
    await(read_ + 1);
    const std::size_t size = std::min(into.size(), arrived - read_);
    std::fill_n(into.begin(), size, ' ');
    read_ += size;
    return size;
  }
  bool wait_for_first_byte() override {
    await(1);
    return true;
  }

  std::atomic<std::size_t> arrived = 0;
  std::atomic<std::size_t> wanted = 0;  // that the reader waits for
  std::atomic<bool> breaks_off = false;

 private:
  void await(std::size_t bytes) {
    wanted = std::max<std::size_t>(wanted, bytes);
    while (arrived < bytes && !breaks_off) std::this_thread::yield();
    if (arrived < bytes) throw serve::BodyFault(serve::BodyFault::Kind::broken_off);
  }

  std::size_t read_ = 0;
};

/// A request with a body that a route takes, and what it is answered when the body breaks off after a byte.
struct Taken {
  std::string method;
  std::string target;
  std::uint32_t uid;
  std::size_t declared;
  int broken_off = 408;
};

/// One for each route that takes a body, and for each of the two ways to commit.
std::vector<Taken> all_taken(ServedClinic& clinic) {
  const auto reserved = [&](const char* statistic) {
    return clinic.ask(kAlice, "POST", "/v1/reservations", clinic.asks("0.1", statistic)).id();
  };
  std::vector<Taken> all = {
      {"POST", "/v1/requests/" + reserved("value:score") + "/commit", kSam, 20'000'000, 201}};
  for (const serve::Route& route : serve::routes()) {
    if (!route.takes_body || route.access == serve::RouteAccess::curator_socket) continue;
    std::string target(route.path);
    if (const std::size_t at = target.find("{id}"); at != std::string::npos)
      target.replace(at, 4, reserved("count"));
    const std::uint32_t uid = route.access == serve::RouteAccess::asker     ? kAlice
                              : route.access == serve::RouteAccess::auditor ? kDora
                                                                            : kCarol;
    all.push_back({std::string(route.method), target, uid, 60'000});
  }
  return all;
}

}  // namespace

TEST_CASE(
    "bodies that are declared hold no place before they are whole and no memory before they begin, by every "
    "route",
    "[api][bodies]") {
  ServedClinic clinic;
  const std::vector<Taken> all = all_taken(clinic);
  REQUIRE(all.size() > 12);
  for (const Taken& taken : all) {
    CAPTURE(taken.method, taken.target, taken.declared);
    LateBody body;
    Reply told;
    std::thread asks([&] { told = clinic.ask(taken.uid, taken.method, taken.target, body, taken.declared); });
    for (const std::size_t arrived : {0U, 1U}) {
      body.arrived = arrived;
      while (body.wanted <= arrived) std::this_thread::yield();
      CHECK(clinic.admission->figures().body_bytes <= 4096 * arrived);
      CHECK(clinic.admission->figures().running == 0);
      CHECK(clinic.ask(kAdam, "POST", "/v1/plans", clinic.asks("0.1")).status == 200);
    }
    body.breaks_off = true;
    asks.join();
    CHECK(told.status == taken.broken_off);
  }
  CHECK(clinic.admission->figures().body_bytes == 0);
}
