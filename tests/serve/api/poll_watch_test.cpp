// What long polls wait by: whom news wake, and that a client that is gone is noticed.
#include "poll_watch.hpp"

#include <sys/socket.h>

#include <array>
#include <mutex>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace epsilog;
using namespace std::chrono_literals;
using serve::Awaited;
using serve::News;
using serve::PollWatch;

namespace {

/// News that the test puts there; each is told once.
class Source final {
 public:
  News operator()(bool first) {
    const std::scoped_lock lock(mutex_);
    ++looks_;
    return first ? News{.all = true, .askers = {}} : std::exchange(next_, {});
  }
  /// Returns once the look that found the news is over: the one after it has begun.
  void tell(PollWatch& watch, const News& news) {
    const int before = put(news);
    while (looks() < before + 2) watch.recorded();
  }
  int looks() {
    const std::scoped_lock lock(mutex_);
    return looks_;
  }

 private:
  int put(const News& news) {
    const std::scoped_lock lock(mutex_);
    next_ = news;
    return looks_;
  }

  std::mutex mutex_;
  int looks_ = 0;
  News next_;
};

bool wakes_now(PollWatch::Waiting& waiting) {
  return waiting.wait(PollWatch::Clock::now());
}

PollWatch::Clock::time_point later() {
  return PollWatch::Clock::now() + 60s;
}

}  // namespace

TEST_CASE("poll watch: news wake the polls that they can concern, and no others", "[api][polls]") {
  const std::vector<Awaited> polls = {{.asker = "alice"},
                                      {.asker = "bob"},
                                      {.asker = ""},
                                      {.decisions = false},
                                      {.decisions = false, .ended = [] { return true; }}};
  const std::vector<std::pair<News, std::vector<bool>>> cases = {
      {{.all = false, .askers = {"alice"}}, {true, false, true, false, true}},
      {{.all = false, .askers = {"carol"}}, {false, false, true, false, true}},
      {{.all = false, .askers = {"alice", "bob"}}, {true, true, true, false, true}},
      {{.all = true, .askers = {}}, {true, true, true, true, true}},
      {{.all = false, .askers = {}}, {false, false, false, false, true}}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const auto& [news, wanted] = cases[i];
    Source source;
    PollWatch watch([&](bool first) { return source(first); });
    std::vector<std::unique_ptr<PollWatch::Waiting>> waiting;
    for (const Awaited& awaited : polls) {
      waiting.push_back(std::make_unique<PollWatch::Waiting>(watch, -1));
      waiting.back()->await(awaited);
    }
    source.tell(watch, {});  // the look at which the first of them came is over
    for (const auto& one : waiting) CHECK(one->wait(later()));
    source.tell(watch, news);
    std::vector<bool> woken;
    for (const auto& one : waiting) woken.push_back(wakes_now(*one));
    CHECK(woken == wanted);
  }
}

TEST_CASE("poll watch: one look is told to all, and what fails to look wakes them to look themselves",
          "[api][polls]") {
  std::atomic<int> looks = 0;
  PollWatch watch([&](bool) -> News {
    ++looks;
    throw std::runtime_error("no");
  });
  std::vector<std::unique_ptr<PollWatch::Waiting>> waiting;
  for (int i = 0; i < 64; ++i) waiting.push_back(std::make_unique<PollWatch::Waiting>(watch, -1));
  for (const auto& one : waiting) CHECK(one->wait(later()));
  const int before = looks;
  watch.recorded();
  for (const auto& one : waiting) CHECK(one->wait(later()));
  CHECK(looks <= before + 5);  // what time brings as well
}

TEST_CASE("poll watch: a client that closes ends its poll, one that sends on or sends no more does not",
          "[api][polls]") {
  Source source;
  PollWatch watch([&](bool first) { return source(first); });
  PollWatch::Waiting other(watch, -1);  // so that there is somebody all the time
  for (const char* what : {"closes", "sends on", "sends no more"}) {
    CAPTURE(what);
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    serve::Descriptor ours(ends[0]), theirs(ends[1]);
    PollWatch::Waiting waiting(watch, ours.get());
    source.tell(watch, {});
    static_cast<void>(wakes_now(waiting));
    if (what == std::string("closes")) {
      theirs.close();
      const auto begun = PollWatch::Clock::now();
      CHECK_FALSE(waiting.wait(later()));
      CHECK(PollWatch::Clock::now() < begun + 30s);
      continue;
    }
    if (what == std::string("sends on")) {
      CHECK(::send(theirs.get(), "x", 1, 0) == 1);
    } else {
      CHECK(::shutdown(theirs.get(), SHUT_WR) == 0);
    }
    source.tell(watch, {.all = false, .askers = {"alice"}});
    CHECK(wakes_now(waiting));
  }
}
