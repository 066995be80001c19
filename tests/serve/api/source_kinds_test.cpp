// What is at the place of a source, and whether a policy with it is taken: by each way in which one comes in.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>

#include "epsilog/engine/policy_review.hpp"
#include "epsilog/engine/policy_warnings.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

namespace fs = std::filesystem;

void make_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.copy(address.sun_path, sizeof address.sun_path - 1) == path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(socket);
}

/// What the fault says of the source; "" if there is none.
std::string said(const std::vector<PolicyFault>& faults) {
  return faults.empty() ? "" : faults.front().message;
}
std::string said_by(const std::function<void()>& step) {
  try {
    step();
  } catch (const PolicyError& error) {
    return said(error.faults());
  }
  return "";
}

}  // namespace

TEST_CASE("a source that is no file is a fault of its policy, whichever way it comes in", "[api][policy]") {
  const std::vector<std::pair<std::string, std::function<void(const std::string&)>>> things = {
      {"a FIFO", [](const std::string& path) { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }},
      {"a directory", [](const std::string& path) { fs::create_directory(path); }},
      {"a socket", &make_socket},
      {"a device", [](const std::string& path) { fs::create_symlink("/dev/zero", path); }},
      // Data can come later, and a link leads to where they are.
      {"", [](const std::string&) {}},
      {"", [](const std::string& path) { fs::create_symlink("visits.csv", path); }}};
  ServedClinic clinic;
  const std::string source = clinic.folder.path("other.csv");
  std::string text = served_policy() + served_text("concealed_dataset.yaml");
  text.replace(text.find("visits.csv", text.find("  secret:")), 10, "other.csv");
  const std::string file = clinic.folder.write("offered.yaml", text);
  for (const auto& [kind, make] : things) {
    fs::remove_all(source);
    make(source);
    CAPTURE(kind);
    const std::string expected =
        kind.empty() ? "" : "dataset 'secret': its source is " + kind + "; rows are read from a regular file";
    CHECK(said(engine::source_faults(engine::Policy::parse_stored(text, file), file)) == expected);
    CHECK(said_by([&] {
            static_cast<void>(engine::Engine::init(file, clinic.folder.path("new.ledger"), "carol"));
          }) == expected);
    for (const auto& one : fs::directory_iterator(clinic.folder.path(""))) {
      if (one.path().filename().string().starts_with("new.ledger")) fs::remove(one.path());
    }
    const engine::PolicyUpload offered{.yaml = text};
    CHECK(said(clinic.engine->review(file).refused) == expected);
    CHECK(said(clinic.engine->review(offered).refused) == expected);
    const Reply compared = clinic.ask(kCarol, "POST", "/v1/policy/diff", json{{"yaml", text}}.dump());
    CHECK(compared.body.at("refused_by_apply").empty() == kind.empty());
    if (kind.empty()) continue;  // and is applied at the end
    CHECK(said_by([&] { static_cast<void>(clinic.engine->apply_policy(file, "carol", "a test")); }) ==
          expected);
    const std::string tag = clinic.ask(kCarol, "GET", "/v1/policy").header("etag");
    const Reply put = clinic.ask(kCarol, "PUT", "/v1/policy", json{{"yaml", text}, {"why", "a test"}}.dump(),
                                 {.headers = {{"if-match", tag}}, .curator_socket = true});
    CHECK(put.status == 422);
    CHECK(put.body.at("faults").at(0).at("message") == expected);
  }
  CHECK(clinic.engine->apply_policy(file, "carol", "a test").changed);
}
