#include "progress_text.hpp"

#include "support/catch.hpp"

using epsilog::command::progress_text;
using namespace std::chrono_literals;

TEST_CASE("progress: how much is done stands first, and in the beginning alone", "[cli]") {
  CHECK(progress_text("verifying", 0, 0ms) == "verifying 0 %");
  CHECK(progress_text("verifying", 0.129, 1'999ms) == "verifying 12 %");
  CHECK(progress_text("reading the source of x", 0.009, 60s) == "reading the source of x 0 %");
  CHECK(progress_text("verifying", 1, 60s) == "verifying 100 %");
}

TEST_CASE("progress: the rest takes as long for each part as what is done, rounded up", "[cli]") {
  CHECK(progress_text("verifying", 0.5, 2s) == "verifying 50 %, about 2 s left");
  CHECK(progress_text("verifying", 0.25, 10'100ms) == "verifying 25 %, about 31 s left");
  CHECK(progress_text("verifying", 0.5, 89s) == "verifying 50 %, about 89 s left");
  CHECK(progress_text("verifying", 0.5, 90s) == "verifying 50 %, about 2 min left");
  CHECK(progress_text("verifying", 0.5, 89min) == "verifying 50 %, about 89 min left");
  CHECK(progress_text("verifying", 0.5, 90min) == "verifying 50 %, about 2 h left");
  CHECK(progress_text("verifying", 0.01, 10h) == "verifying 1 %, about 990 h left");
}
