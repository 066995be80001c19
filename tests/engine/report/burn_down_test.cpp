// The points that are kept of an account's course: all, or those that no line drawn between them lacks.
#include "epsilog/engine/burn_down.hpp"
#include "support/catch.hpp"

using namespace epsilog::engine;

namespace {

constexpr BurnSpan kSpan{1'000, 11'000};

BurnPoint point(std::int64_t seq, std::int64_t at, std::int64_t spent, std::int64_t reserved = 0) {
  return {.after_decision = seq, .at = at, .limit = 1'000'000, .spent = spent, .reserved = reserved};
}

std::vector<BurnPoint> kept(const std::vector<BurnPoint>& points, std::size_t most) {
  Course course(kSpan, most);
  for (const BurnPoint& one : points) course.add(one);
  REQUIRE(course.changes() == static_cast<std::int64_t>(points.size()));
  return course.points();
}

/// What remains between two instants, least and most, of a line of steps.
std::pair<std::int64_t, std::int64_t> range(const std::vector<BurnPoint>& points, std::int64_t from,
                                            std::int64_t until) {
  std::pair<std::int64_t, std::int64_t> found{INT64_MAX, INT64_MIN};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool over = i + 1 < points.size() && points[i + 1].at < from;
    if (points[i].at >= until || over) continue;
    found.first = std::min(found.first, points[i].remaining());
    found.second = std::max(found.second, points[i].remaining());
  }
  return found;
}

}  // namespace

TEST_CASE("burn-down: a course keeps every change while there are not too many", "[engine][report]") {
  std::vector<BurnPoint> points;
  for (int i = 0; i < 40; ++i) points.push_back(point(i, 1'000 + 10 * i, i));
  CHECK(kept(points, 40) == points);
  points.push_back(point(40, 2'000, 40));
  CHECK(kept(points, 40).size() <= 40);
}

TEST_CASE("burn-down: what changes nothing is no point, whoever was decided", "[engine][report]") {
  Course course(kSpan, 8);
  course.add(point(0, 1'000, 0));
  for (int i = 1; i < 100; ++i) course.add(point(i, 1'000 + i, 0));
  course.add(point(100, 2'000, 0, 5));
  course.add(point(101, 2'001, 5));
  CHECK(course.changes() == 3);
  CHECK(course.points() ==
        std::vector<BurnPoint>{point(0, 1'000, 0), point(100, 2'000, 0, 5), point(101, 2'001, 5)});
}

TEST_CASE(
    "burn-down: of many changes first, last, least and most of each part of the time are kept, and no others",
    "[engine][report]") {
  const unsigned seed = GENERATE(1U, 2U, 3U, 4U, 5U);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::vector<BurnPoint> points{point(0, kSpan.from, 0)};
  std::int64_t at = kSpan.from;
  for (int i = 1; i < 5'000; ++i) {
    at = std::min(kSpan.until, at + static_cast<std::int64_t>(random() % (seed % 2 == 0 ? 5 : 3)));
    const auto spent = static_cast<std::int64_t>(random() % 1'000'000);
    points.push_back(point(i, at, spent == points.back().spent ? spent + 1 : spent));
  }
  constexpr std::size_t kMost = 80;
  const std::vector<BurnPoint> found = kept(points, kMost);
  CHECK(found.size() <= kMost);
  CHECK(found.size() > kMost / 4);
  CHECK(found.front() == points.front());
  CHECK(found.back() == points.back());
  // Each is a balance that there was, in order.
  auto next = points.begin();
  for (const BurnPoint& one : found) {
    next = std::find(next, points.end(), one);
    REQUIRE(next != points.end());
  }
  // In each part of the time a line of them goes as low and as high.
  constexpr std::int64_t kPart = (kSpan.until - kSpan.from) / (kMost / Course::kKeptOfPart);
  for (std::int64_t from = kSpan.from; from < kSpan.until; from += kPart) {
    CHECK(range(found, from, from + kPart) == range(points, from, from + kPart));
  }
}

TEST_CASE("burn-down: a clock that runs back, and a span without length, lose no extreme",
          "[engine][report]") {
  std::vector<BurnPoint> points;
  for (int i = 0; i < 100; ++i) points.push_back(point(i, 9'000 - 80 * i, i == 70 ? 999'999 : i));
  const std::vector<BurnPoint> back = kept(points, 12);
  CHECK(back.size() <= 12);
  CHECK(std::find(back.begin(), back.end(), points[70]) != back.end());
  CHECK(back.back() == points.back());
  Course still({5, 5}, 4);
  for (const BurnPoint& one : points) still.add(one);
  CHECK(still.points().size() <= 4);
  CHECK(still.points().front() == points.front());
  CHECK(still.points().back() == points.back());
}

TEST_CASE("burn-down: that a limit ended, if only for a while, is kept", "[engine][report]") {
  std::vector<BurnPoint> points;
  for (int i = 0; i < 50; ++i) points.push_back(point(i, 2'000 + i, i));
  points[25].limited = false;
  const std::vector<BurnPoint> found = kept(points, 4);
  CHECK(std::count_if(found.begin(), found.end(), [](const BurnPoint& one) { return !one.limited; }) == 1);
}
