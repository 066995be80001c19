// What long polls wait by: whom news wake.
#include "poll_watch.hpp"

#include <mutex>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace epsilog;
using namespace std::chrono_literals;
using serve::News;
using serve::PollCondition;
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
    while (looks() < before + 2) watch.notify_recorded();
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

bool wakes_now(PollWatch::WaitingPoll& waiting) {
  return waiting.wait(PollWatch::Clock::now());
}

}  // namespace

TEST_CASE("poll watch: news wake the polls that they can concern, and no others", "[api][polls]") {
  const std::vector<PollCondition> polls = {{.asker = "alice"},
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
    std::vector<std::unique_ptr<PollWatch::WaitingPoll>> waiting;
    for (const PollCondition& awaited : polls) {
      waiting.push_back(std::make_unique<PollWatch::WaitingPoll>(watch, -1));
      waiting.back()->await(awaited);
    }
    CHECK(waiting.front()->wait(PollWatch::Clock::now() + 10s));  // by the look that its coming began
    source.tell(watch, {});  // that look is over, and told those that were there
    for (const auto& one : waiting) static_cast<void>(wakes_now(*one));
    source.tell(watch, news);
    std::vector<bool> woken;
    for (const auto& one : waiting) woken.push_back(wakes_now(*one));
    CHECK(woken == wanted);
  }
}
