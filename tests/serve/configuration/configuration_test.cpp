#include "configuration.hpp"

#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"

using namespace epsilog;
using serve::Configuration;
using serve::parse_configuration;

namespace {

constexpr const char* kLeast =
    "ledger: /var/lib/epsilog/clinic.epsilog\n"
    "socket: /run/epsilog/ask.socket\n"
    "curator_socket: /run/epsilog/curator.socket\n";

std::string fault(const std::string& yaml) {
  try {
    static_cast<void>(parse_configuration(yaml, "serve.yaml"));
  } catch (const PolicyError& error) {
    return error.faults().front().text();
  }
  return "";
}

}  // namespace

TEST_CASE("a configuration needs a ledger and two sockets, and says the rest itself", "[configuration]") {
  const Configuration configuration = parse_configuration(kLeast, "serve.yaml");
  CHECK(configuration.ledger == "/var/lib/epsilog/clinic.epsilog");
  CHECK(configuration.socket == "/run/epsilog/ask.socket");
  CHECK(configuration.curator_socket == "/run/epsilog/curator.socket");
  CHECK(configuration.folders == serve::AllowedFolders{});
  CHECK(configuration.limits == serve::WorkLimits{});
  CHECK_FALSE(configuration.answers);
}

TEST_CASE("everything that can be configured is read", "[configuration]") {
  const Configuration configuration = parse_configuration(
      std::string(kLeast) +
          "sources: [/srv/a, /srv/b]\n"
          "replicas: [/mnt/second]\n"
          "checkpoints: [/mnt/third]\n"
          "answers: {after: 2s, every: 250ms}\n"
          "limits: {connections: 10, connections_per_user: 5, running: 3, waiting: 4, in_flight: 6,\n"
          "  long_polls: 7, per_second: 8, burst: 9, refusals_per_hour: 11, body_mebibytes: 12,\n"
          "  planning_steps: 13, processor_milliseconds: 14, processor_burst_milliseconds: 15}\n",
      "serve.yaml");
  CHECK(configuration.folders.sources == std::vector<std::string>{"/srv/a", "/srv/b"});
  CHECK(configuration.folders.replicas == std::vector<std::string>{"/mnt/second"});
  CHECK(configuration.folders.checkpoints == std::vector<std::string>{"/mnt/third"});
  CHECK(configuration.limits == serve::WorkLimits{10, 5, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15});
  CHECK(configuration.answers == serve::Ticks{2'000, 250});
}

TEST_CASE("what is wrong with a configuration is said with its place", "[configuration]") {
  const std::string least = kLeast;
  CHECK(fault("socket: /a\ncurator_socket: /b\n").find("ledger") != std::string::npos);
  CHECK(fault(least + "port: 80\n").find("serve.yaml:4:1: ") == 0);
  CHECK(fault(least + "limits: {in_flight: 0}\n").find("serve.yaml:4:") == 0);
  CHECK(fault(least + "limits: {in_flight: 1e3}\n").find("limits.in_flight") != std::string::npos);
  CHECK(fault(least + "limits: {running: 1025}\n").find("at most 1024") != std::string::npos);
  CHECK(fault(least + "sources: [data]\n").find("not an absolute path") != std::string::npos);
  CHECK(fault(least + "sources: [/srv/../etc]\n").find("not an absolute path") != std::string::npos);
  CHECK(fault(least + "answers: {after: 2s}\n").find("every") != std::string::npos);
  CHECK(fault(least + "answers: {after: 11s, every: 250ms}\n").find("answers.after: at most 10s") !=
        std::string::npos);
  for (const char* every : {"300ms", "0ms", "5ms", "2s", "1001ms"}) {
    CHECK(fault(least + "answers: {after: 2s, every: " + every + "}\n").find("answers.every: from 10ms") !=
          std::string::npos);
  }
  for (const char* after : {"2", "2m", "-2s", "02s", "2.5s", "s", "99999999999999999999s", "' 2s'"}) {
    CHECK(fault(least + "answers: {after: " + after + ", every: 1s}\n").find("is no duration") !=
          std::string::npos);
  }
  CHECK(fault("ledger: a\nsocket: /a\ncurator_socket: /b\n").find("not an absolute path") !=
        std::string::npos);
  CHECK(fault("ledger: /l\nsocket: /a\ncurator_socket: /a\n").find("must not be the socket") !=
        std::string::npos);
  CHECK(fault(least + least).find("serve.yaml:4:1: ") == 0);
  CHECK_THROWS_AS(serve::read_configuration("/nowhere/serve.yaml"), InvalidParameter);
}

TEST_CASE("what a running daemon cannot change is named", "[configuration]") {
  const Configuration running = parse_configuration(kLeast, "serve.yaml");
  Configuration next = running;
  next.limits.running = 5;
  CHECK(serve::needs_restart(running, next).empty());
  next.folders.sources = {"/srv"};
  CHECK_FALSE(serve::needs_restart(running, next).empty());
  next = running;
  next.answers = serve::Ticks{0, 10};
  CHECK(serve::needs_restart(running, next) == "answers");
  next = running;
  next.ledger = "/other";
  CHECK(serve::needs_restart(running, next) == "ledger");
}
