// A test program of somebody else: the installed matchers with Catch2 of either major version.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "epsilog/testing/noisy_matchers.hpp"

using namespace epsilog::testing;

TEST_CASE("the installed matchers judge a noisy count") {
  const AddedNoise noise = AddedNoise::discrete_laplace(2);
  CHECK_THAT(1003, NoisyEquals(1000, noise, Flakiness::ten_to_the_minus(12)));
  CHECK_FALSE(NoisyEquals(1000, noise, Flakiness::ten_to_the_minus(12)).match(1060));
}

int main(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}
