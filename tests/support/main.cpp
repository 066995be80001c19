// Catch2's implementation and main, compiled once.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  Catch::Session session;
  session.configData().filenamesAsTags = true;  // "[#scopes_test]": the label of a room names its files
  return session.run(argc, argv);
}
