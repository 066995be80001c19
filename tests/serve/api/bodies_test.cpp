// Bodies that are declared and come late, in pieces or never: what they keep from others, by every route.
#include <condition_variable>
#include <mutex>

#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// A body of which as much arrives as the test says, and that breaks off or goes on when the test says so.
class LateBody final : public serve::Body {
 public:
  explicit LateBody(std::string text) : text_(std::move(text)) {}

  std::size_t read(std::span<char> into) override {
    await(at_ + 1);
    const std::size_t size = std::min(into.size(), arrived_ - at_);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), size, into.begin());
    at_ += size;
    return size;
  }
  bool begun() override {
    await(1);
    return true;
  }
  /// So many bytes have arrived; with `breaks_off` no more will.
  void arrive(std::size_t bytes, bool breaks_off = false) {
    const std::scoped_lock lock(mutex_);
    arrived_ = std::min(bytes, text_.size());
    broken_ = breaks_off;
    changed_.notify_all();
  }
  /// Whether the reader waits, within ten seconds, for the byte that follows the first so many.
  bool await_reader(std::size_t bytes) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return wanted_ > bytes; });
  }

 private:
  void await(std::size_t bytes) {
    std::unique_lock lock(mutex_);
    wanted_ = std::max(wanted_, bytes);
    changed_.notify_all();
    changed_.wait(lock, [&] { return arrived_ >= bytes || broken_ || at_ == text_.size(); });
    if (arrived_ < bytes && broken_) throw serve::BodyFault(serve::BodyFault::Kind::broken_off);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::string text_;
  std::size_t arrived_ = 0;
  std::size_t at_ = 0;
  bool broken_ = false;
  std::size_t wanted_ = 0;
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
    if (!route.takes_body || route.who == serve::Who::curator_socket) continue;
    std::string target(route.path);
    if (const std::size_t at = target.find("{id}"); at != std::string::npos)
      target.replace(at, 4, reserved("count"));
    const std::uint32_t uid = route.who == serve::Who::asker     ? kAlice
                              : route.who == serve::Who::auditor ? kDora
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
    LateBody body(std::string(taken.declared, ' '));
    Reply told;
    std::thread asks([&] { told = clinic.ask(taken.uid, taken.method, taken.target, body, taken.declared); });
    CHECK(body.await_reader(0));
    CHECK(clinic.admission->figures().body_bytes == 0);
    CHECK(clinic.admission->figures().running == 0);
    body.arrive(1);
    CHECK(body.await_reader(1));
    CHECK(clinic.admission->figures().body_bytes <= 4096);
    CHECK(clinic.admission->figures().running == 0);
    CHECK(clinic.ask(kAdam, "POST", "/v1/plans", clinic.asks("0.1")).status == 200);
    body.arrive(1, true);
    asks.join();
    CHECK(told.status == taken.broken_off);
  }
  CHECK(clinic.admission->figures().body_bytes == 0);
}

TEST_CASE("a body without room waits until there is some, and keeps nobody else waiting", "[api][bodies]") {
  serve::AdmissionLimits limits = ServedClinic::generous();
  limits.body_bytes = 4000;
  limits.patience = std::chrono::hours(1);
  ServedClinic clinic(served_policy(), limits);
  const auto padded = [&] { return clinic.asks("0.1") + std::string(2000, ' '); };
  const std::string first_text = padded(), second_text = padded();
  LateBody first(first_text), second(second_text);
  std::array<int, 2> told{};
  const auto ask = [&](LateBody& body, std::size_t size, int& status) {
    return std::thread([&, size] { status = clinic.ask(kAlice, "POST", "/v1/releases", body, size).status; });
  };
  std::thread one = ask(first, first_text.size(), told[0]);
  first.arrive(1);
  while (clinic.admission->figures().body_bytes == 0) std::this_thread::yield();
  std::thread two = ask(second, second_text.size(), told[1]);
  second.arrive(second_text.size());
  while (clinic.admission->figures().bodies_waiting == 0) std::this_thread::yield();
  CHECK(clinic.ask(kAdam, "POST", "/v1/plans", clinic.asks("0.1")).status == 200);
  first.arrive(first_text.size());
  one.join();
  two.join();
  CHECK(told == std::array<int, 2>{201, 201});
}
