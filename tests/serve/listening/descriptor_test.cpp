// Waiting for sockets: what comes first of bytes, the end, a deadline and a bell.
#include "descriptor.hpp"

#include <sys/socket.h>

#include "support/catch.hpp"

using namespace epsilog;
using namespace std::chrono_literals;
using serve::Descriptor;
using serve::IoOutcome;

namespace {

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours = Descriptor(ends[0]);
    theirs = Descriptor(ends[1]);
  }
  IoOutcome receive(serve::Deadline due) {
    std::array<char, 3> into{};
    std::size_t count = 0;
    const IoOutcome came = serve::receive(ours.get(), into, count, due, bell);
    received.assign(into.data(), count);
    return came;
  }
  IoOutcome send(std::string_view first, std::string_view second, serve::Deadline due) const {
    return serve::send_all(ours.get(), first, second, due, bell);
  }

  Descriptor ours;
  Descriptor theirs;
  serve::Bell bell;
  std::string received;
};

const serve::Deadline kOver = serve::deadline_after(-1ms);
serve::Deadline later() {
  return serve::deadline_after(60s);
}

}  // namespace

TEST_CASE("receiving: what is there comes before the bell, but not after the deadline",
          "[serve][descriptor]") {
  Pair pair;
  serve::send_at_once(pair.theirs.get(), "abcd");
  CHECK(pair.receive(kOver) == IoOutcome::late);
  CHECK(pair.received.empty());
  CHECK(pair.receive(later()) == IoOutcome::ready);
  CHECK(pair.received == "abc");
  pair.bell.ring();
  CHECK(pair.receive(later()) == IoOutcome::ready);
  CHECK(pair.received == "d");
  CHECK(pair.receive(later()) == IoOutcome::stopped);
  pair.theirs.close();
  CHECK(pair.receive(later()) == IoOutcome::ended);
  CHECK(pair.receive(kOver) == IoOutcome::late);
}

TEST_CASE("receiving: it waits for bytes, the end, the deadline and the bell", "[serve][descriptor]") {
  Pair pair;
  CHECK(pair.receive(serve::deadline_after(5ms)) == IoOutcome::late);
  std::thread([&] { serve::send_at_once(pair.theirs.get(), "a"); }).join();
  CHECK(pair.receive(later()) == IoOutcome::ready);
  std::thread sender([&] {
    std::this_thread::sleep_for(5ms);
    serve::send_at_once(pair.theirs.get(), "b");
  });
  CHECK(pair.receive(later()) == IoOutcome::ready);
  CHECK(pair.received == "b");
  sender.join();
  std::thread ringer([&] {
    std::this_thread::sleep_for(5ms);
    pair.bell.ring();
  });
  CHECK(pair.receive(later()) == IoOutcome::stopped);
  ringer.join();
}

TEST_CASE("sending: it ends with everything sent, the deadline, the bell, or nobody there",
          "[serve][descriptor]") {
  Pair pair;
  CHECK(pair.send("a", "b", kOver) == IoOutcome::late);
  CHECK(pair.send("", "", kOver) == IoOutcome::ready);
  CHECK(pair.send("a", "bc", later()) == IoOutcome::ready);
  CHECK(pair.send("", "d", later()) == IoOutcome::ready);
  std::string received(8, '\0');
  received.resize(static_cast<std::size_t>(::recv(pair.theirs.get(), received.data(), received.size(), 0)));
  CHECK(received == "abcd");
  const std::string much(4'000'000, 'x');  // more than a socket takes
  CHECK(pair.send("head", much, serve::deadline_after(5ms)) == IoOutcome::late);
  pair.bell.ring();
  CHECK(pair.send(much, "", later()) == IoOutcome::stopped);
  pair.theirs.close();
  CHECK(pair.send("a", "", later()) == IoOutcome::gone);
  serve::send_at_once(pair.ours.get(), "a");  // no SIGPIPE
}

TEST_CASE("a bell: it is heard until it is silenced, and again", "[serve][descriptor]") {
  serve::Bell bell;
  CHECK(!bell.rung());
  for (int i = 0; i < 3; ++i) {
    bell.ring();
    bell.ring();
    CHECK(bell.rung());
    bell.silence();
    CHECK(!bell.rung());
    bell.silence();
  }
}

TEST_CASE("a descriptor: it has one owner, and is closed with it", "[serve][descriptor]") {
  Pair pair;
  Descriptor moved(std::move(pair.theirs));
  CHECK(!pair.theirs.valid());
  CHECK(pair.receive(serve::deadline_after(1ms)) == IoOutcome::late);
  moved = Descriptor();
  CHECK(pair.receive(later()) == IoOutcome::ended);
  CHECK(Descriptor(7).release() == 7);
}
