// A ledger's folder on a network file system is refused by every way in. Over FUSE, which cannot be told,
// every way works and warns. statfs(2) is interposed; one test asks the kernel about a real mount.
#include <sched.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>

#include "epsilog/ledger/network_file_system.hpp"
#include "file_system.hpp"
#include "ledger/support/fuse_mount.hpp"
#include "ledger/support/power_failure.hpp"
#include "ledger/support/replicated.hpp"
#include "ledger/support/reported_file_system.hpp"
#include "poison.hpp"

using namespace epsilog;
using namespace epsilog::ledger_tests;
namespace fs = std::filesystem;

namespace {

using Kind = ledger::FileSystem::Kind;

/// Two folders: one on the file system in question, one that is local. Each has a ledger with a replica
/// beside it, and the replica and a backup of it in the other folder.
struct TwoFolders {
  TwoFolders() {
    release(there.open(), kHundredth, Rational(1), "1");
    static_cast<void>(ledger::Ledger::backup(there.path, backup_there, {}, options_of(there)));
    fs::copy_file(there.replica, replica_here);
    lines = lines_of(there.look());
  }
  [[nodiscard]] ledger::Options options_of(const ReplicatedLedger& one) const {
    ledger::Options options = replicating(one.directory.path());
    options.warn = [this](const std::string& text) { warnings.push_back(text); };
    return options;
  }

  ReplicatedLedger there;
  TemporaryDirectory here;
  const std::string backup_there = there.directory.path() + "/backup";
  const std::string new_there = there.directory.path() + "/new";
  const std::string new_here = here.path() + "/new";
  const std::string replica_here = here.path() + "/replica";
  std::vector<std::string> lines;
  mutable std::vector<std::string> warnings;
};

struct Way {
  const char* name;
  std::function<void(const TwoFolders&)> go;
};

ledger::RestoreOptions accepting() {
  return {.by = "cleo", .why = "no replica", .accept_rollback = true};
}

/// Every call that opens a ledger there, or makes one.
std::vector<Way> ways() {
  using ledger::Ledger;
  return {
      {"open", [](const TwoFolders& f) { (void)Ledger::open(f.there.path, f.options_of(f.there)); }},
      {"open read-only",
       [](const TwoFolders& f) { (void)Ledger::open_read_only(f.there.path, f.options_of(f.there)); }},
      {"open on demand",
       [](const TwoFolders& f) { (void)Ledger::open_on_demand(f.there.path, f.options_of(f.there)); }},
      {"recovery state", [](const TwoFolders& f) { (void)Ledger::recovery_state(f.there.path); }},
      {"recover from a replica",
       [](const TwoFolders& f) {
         (void)Ledger::recover_from(f.there.path, f.there.replica, {.by = "cleo", .why = "lost"},
                                    f.options_of(f.there));
       }},
      {"make again from a replica",
       [](const TwoFolders& f) {
         (void)Ledger::recover_from(f.new_there, f.replica_here, {.by = "cleo", .why = "lost"},
                                    f.options_of(f.there));
       }},
      {"create",
       [](const TwoFolders& f) {
         (void)Ledger::create(f.new_there, policy(), {account("clinic", "epsilon", 1)},
                              f.options_of(f.there));
       }},
      {"import",
       [](const TwoFolders& f) {
         (void)Ledger::import_lines(f.new_there, each_of(f.lines), f.options_of(f.there));
       }},
      {"backup of it",
       [](const TwoFolders& f) {
         (void)Ledger::backup(f.there.path, f.new_here, {}, f.options_of(f.there));
       }},
      {"restore there",
       [](const TwoFolders& f) {
         const std::string copy = f.here.path() + "/copy";
         fs::copy_file(f.backup_there, copy);
         (void)Ledger::restore(f.new_there, copy, accepting(), f.options_of(f.there));
       }},
      {"restore from there",
       [](const TwoFolders& f) {
         (void)Ledger::restore(f.new_here, f.backup_there, accepting(), f.options_of(f.there));
       }},
  };
}

std::string refusal_of(const std::function<void()>& go) {
  try {
    go();
  } catch (const ledger::NetworkFileSystem& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("network file system: every way in refuses every one of them, and makes nothing there",
          "[ledger][open][network]") {
  std::size_t refused = 0;
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    const TwoFolders folders;
    const std::string folder = folders.there.directory.path();
    const auto before = names_in(folder);
    for (const ledger::FileSystem& one : ledger::listed_file_systems()) {
      if (one.kind != Kind::network) continue;
      CAPTURE(one.name);
      const ReportedFileSystem told(folder, one.type);
      const std::string message = refusal_of([&] { way.go(folders); });
      fs::remove(folders.here.path() + "/copy");
      CHECK(has_part(message, folder));
      CHECK(has_part(message, std::string("(") + one.name + ")"));
      CHECK(has_part(message, "local disk"));
      CHECK(names_in(folder) == before);
      ++refused;
    }
    CHECK(folders.warnings.empty());
  }
  CHECK(refused == ways().size() * 23);
}

TEST_CASE("network file system: over FUSE every way in works, and warns once", "[ledger][open][network]") {
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    const TwoFolders folders;
    const ReportedFileSystem told(folders.there.directory.path(), 0x65735546);
    CHECK_NOTHROW(way.go(folders));
    std::size_t warned = 0;
    for (const std::string& text : folders.warnings) warned += has_part(text, "FUSE") ? 1 : 0;
    CHECK(warned == (std::string(way.name) == "recovery state" ? 0 : 1));
    CHECK(ledger::Ledger::open_read_only(folders.there.path).is_on_fuse());
  }
  const ReplicatedLedger local;
  CHECK_FALSE(local.open().is_on_fuse());
}

TEST_CASE("network file system: a type that is not listed is local, whatever its sign",
          "[ledger][open][network]") {
  for (const std::uint32_t type :
       {0xEF53U, 0x58465342U, 0x9123683EU, 0x794C7630U, 0x01021994U, 0x2FC12FC1U}) {
    CHECK(ledger::file_system_of_type(type).kind == Kind::local);
  }
  CHECK(ledger::file_system_of_type(0xFF534D42).kind == Kind::network);
  std::set<std::uint32_t> types;
  for (const ledger::FileSystem& one : ledger::listed_file_systems()) types.insert(one.type);
  CHECK(types.size() == ledger::listed_file_systems().size());
}

TEST_CASE("network file system: a system that does not say now is asked again", "[ledger][open][network]") {
  const ReplicatedLedger fixture;
  for (const int error : {EIO, ENOMEM}) {
    const FailingStatfs failing(error);
    CHECK_THROWS_AS(fixture.open(), LedgerBusy);
    CHECK_THROWS_AS(fixture.look(), LedgerBusy);
  }
  CHECK(fixture.look().decision_count() == 0);
}

TEST_CASE("network file system: the replica may lie on one, and its failure names it",
          "[ledger][replica][network]") {
  const TemporaryDirectory share;
  const ReportedFileSystem told(share.path(), 0x6969);
  const ReplicatedLedger fixture(share.path() + "/replica");
  auto ledger = fixture.open();
  release(ledger, kHundredth, Rational(1), "1");
  CHECK(replica_fault(fixture.replica, fixture.look()) == "");
  const FailingReplica failing(FailingReplica::Call::write, ESTALE);
  const std::string message =
      message_thrown<ledger::ReplicaBehind>([&] { return release(ledger, kHundredth, Rational(2), "2"); });
  CHECK(has_part(message, fixture.replica));
  CHECK(has_part(message, "network file system (NFS)"));
}

TEST_CASE("network file system: docs/recovery.md names every one", "[ledger][open][network]") {
  const std::string page = read_file(EPSILOG_RECOVERY_PAGE);
  const auto begin = page.find("## Network file systems");
  REQUIRE(begin != std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin) - begin);
  for (const ledger::FileSystem& one : ledger::listed_file_systems()) {
    CAPTURE(one.name);
    CHECK(has_part(section, one.name));
  }
}

TEST_CASE("network file system: the kernel's own word on a FUSE mount is understood",
          "[ledger][open][network]") {
  constexpr int kNoMount = 3;
  const TemporaryDirectory folder;
  const int status = in_child([&] {
    ::alarm(20);  // a mount that nobody serves would wait for ever
    // A namespace of its own: nobody else sees the mount, and it ends with this process.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      ::_exit(kNoMount);
    bool right = false;
    {
      const FuseMount mount(folder.path());
      if (!mount.refusal().empty()) ::_exit(kNoMount);
      std::vector<std::string> warnings;
      ledger::Options options;
      options.warn = [&](const std::string& text) { warnings.push_back(text); };
      bool refused = false;  // nothing can be made in that folder
      try {
        static_cast<void>(ledger::Ledger::create(folder.path() + "/L", policy(), {}, options));
      } catch (const Error&) {
        refused = true;
      }
      right = refused && ledger::file_system_of(folder.path()).kind == Kind::fuse && warnings.size() == 1 &&
              has_part(warnings.front(), "FUSE");
    }
    if (!right) throw std::runtime_error("not told");
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMount) {
    WARN("this process may not mount a FUSE file system: not tested");
    return;
  }
  CHECK(status == 0);
}
