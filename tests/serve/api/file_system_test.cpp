// What a daemon says of the file system that its ledger lies on.
#include "epsilog/ledger/network_file_system.hpp"
#include "ledger/support/reported_file_system.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;
using ledger_tests::ReportedFileSystem;

namespace {

constexpr std::uint32_t kFuse = 0x65735546;
constexpr std::uint32_t kNfs = 0x6969;

}  // namespace

TEST_CASE("readiness: the curator is told that a ledger lies over FUSE, and nobody else is",
          "[api][network]") {
  ServedClinic clinic;
  const auto ready = [&](bool curator) {
    return clinic.ask(curator ? kRoot : kNobody, "GET", "/readyz", "", {.curator_socket = curator}).body;
  };
  CHECK(ready(true).at("file_system") == "local");
  const std::string ledger = clinic.ledger();
  const ReportedFileSystem there(ledger.substr(0, ledger.rfind('/')), kFuse);
  CHECK(ready(true).at("file_system") == "fuse");
  CHECK_FALSE(ready(false).contains("file_system"));
}

TEST_CASE("engine: a ledger on a network file system is not opened for a daemon", "[api][network]") {
  const ServedClinic clinic;
  const std::string ledger = clinic.ledger();
  const ReportedFileSystem told(ledger.substr(0, ledger.rfind('/')), kNfs);
  CHECK_THROWS_AS(engine::Engine::open(ledger), ledger::NetworkFileSystem);
  CHECK_THROWS_AS(serve::LedgerView(ledger), ledger::NetworkFileSystem);
}
