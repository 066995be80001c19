// Whether /readyz says what the next release meets: faults of readiness_faults.tsv, injected and mended.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feature_of_test.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

namespace fs = std::filesystem;

/// Makes the files of this process those of a user who may not do everything, as root may.
class AsUser final {
 public:
  AsUser() : before_(::geteuid()) {
    if (before_ == 0) REQUIRE(::seteuid(4711) == 0);
  }
  ~AsUser() { static_cast<void>(::seteuid(before_)); }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

 private:
  uid_t before_;
};

/// A fault of the files of a clinic with a second dataset, and how it is mended.
struct FileFault {
  std::function<void(ServedClinic&)> inject;
  std::function<void(ServedClinic&)> mend = {};
};

/// Read once: who asks later may not be let into the folder of the sources.
const std::string& policy_of_two_sources() {
  static const std::string policy = [] {
    std::string text = served_policy() + served_text("concealed_dataset.yaml");
    const std::size_t second = text.find("visits.csv", text.find("  secret:"));
    return text.replace(second, 10, "other.csv");
  }();
  return policy;
}

FileFault mode(const char* file, fs::perms narrow, fs::perms wide) {
  return {[=](ServedClinic& clinic) { fs::permissions(clinic.folder.path(file), narrow); },
          [=](ServedClinic& clinic) { fs::permissions(clinic.folder.path(file), wide); }};
}

FileFault moved(const std::vector<const char*>& files) {
  return {[=](ServedClinic& clinic) {
            for (const char* file : files)
              fs::rename(clinic.folder.path(file), clinic.folder.path(std::string(file) + ".away"));
          },
          [=](ServedClinic& clinic) {
            for (const char* file : files)
              fs::rename(clinic.folder.path(std::string(file) + ".away"), clinic.folder.path(file));
          }};
}

FileFault removed(const char* file) {
  return {[=](ServedClinic& clinic) { fs::remove(clinic.folder.path(file)); }};
}

FileFault added(const char* file, const char* text) {
  return {[=](ServedClinic& clinic) { clinic.folder.write(file, text); },
          [=](ServedClinic& clinic) { fs::remove(clinic.folder.path(file)); }};
}

void limit_files(rlim_t bytes) {
  static_cast<void>(::signal(SIGXFSZ, SIG_IGN));
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = bytes;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

std::map<std::string, FileFault> faults() {
  constexpr auto kNone = fs::perms::none, kRead = fs::perms::owner_read;
  constexpr auto kBoth = kRead | fs::perms::owner_write;
  constexpr auto kEnter = kRead | fs::perms::owner_exec;
  std::map<std::string, FileFault> all;
  all["none"] = {[](ServedClinic&) {}};
  all["poisoned"] = {added("clinic.ledger.poisoned", "boot\nwhy\n").inject};
  all["sealed"] = {[](ServedClinic& clinic) {
    static_cast<void>(ledger::Ledger::seal(clinic.ledger(), "carol", "moves"));
  }};
  all["newer program"] = {[](ServedClinic& clinic) {
    const ledger::FeatureOfTest known("of tomorrow");
    ledger::Ledger newer = ledger::Ledger::open(clinic.ledger(), {});
    ledger::Transaction transaction = newer.begin();
    transaction.announce_feature("of tomorrow");
    static_cast<void>(newer.commit(std::move(transaction)));
  }};
  all["ledger deleted"] = removed("clinic.ledger");
  all["ledger moved"] = moved({"clinic.ledger"});
  all["ledger replaced by a copy"] = {[](ServedClinic& clinic) {
    fs::copy_file(clinic.ledger(), clinic.folder.path("copy"));
    fs::rename(clinic.folder.path("copy"), clinic.ledger());
  }};
  all["ledger replaced by a link"] = {[](ServedClinic& clinic) {
    fs::rename(clinic.ledger(), clinic.folder.path("elsewhere"));
    fs::create_symlink(clinic.folder.path("elsewhere"), clinic.ledger());
  }};
  all["ledger with a second name"] = {
      [](ServedClinic& clinic) { fs::create_hard_link(clinic.ledger(), clinic.folder.path("second")); },
      [](ServedClinic& clinic) { fs::remove(clinic.folder.path("second")); }};
  all["log deleted"] = removed("clinic.ledger-wal");
  all["index of the log deleted"] = removed("clinic.ledger-shm");
  all["lock deleted"] = removed("clinic.ledger.lock");
  all["queue deleted"] = removed("clinic.ledger.queue");
  all["ledger read-only"] = mode("clinic.ledger", kRead, kBoth);
  all["ledger closed"] = mode("clinic.ledger", kNone, kBoth);
  all["log read-only"] = mode("clinic.ledger-wal", kRead, kBoth);
  all["lock closed"] = mode("clinic.ledger.lock", kNone, kBoth);
  all["folder read-only"] = mode("", kEnter, fs::perms::owner_all);
  all["folder closed"] = mode("", kNone, fs::perms::owner_all);
  all["journal beside the ledger"] = added("clinic.ledger-journal", "x");
  all["ledger emptied"] = {[](ServedClinic& clinic) { fs::resize_file(clinic.ledger(), 0); }};
  all["no room"] = {[](ServedClinic&) { limit_files(8192); },
                    [](ServedClinic&) { limit_files(RLIM_INFINITY); }};
  all["source of another dataset missing"] = moved({"other.csv"});
  all["source of another dataset closed"] = mode("other.csv", kNone, kBoth);
  all["source of another dataset a folder"] = {[](ServedClinic& clinic) {
    fs::remove(clinic.folder.path("other.csv"));
    fs::create_directory(clinic.folder.path("other.csv"));
  }};
  all["source missing"] = moved({"visits.csv"});
  all["source closed"] = mode("visits.csv", kNone, kBoth);
  all["source a pipe"] = {[](ServedClinic& clinic) {
    fs::remove(clinic.folder.path("visits.csv"));
    REQUIRE(::mkfifo(clinic.folder.path("visits.csv").c_str(), 0600) == 0);
  }};
  all["every source missing"] = moved({"visits.csv", "other.csv"});
  all["no folder of the replica"] = {[](ServedClinic& clinic) {
    fs::create_directory(clinic.folder.path("replica"));
    const std::string text =
        policy_of_two_sources() + "replica: {file: " + clinic.folder.path("replica/lines") + "}\n";
    static_cast<void>(clinic.engine->apply_policy(clinic.folder.write("next.yaml", text), "carol", "a test"));
    REQUIRE(clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.001")).status == 201);
    fs::remove_all(clinic.folder.path("replica"));
  }};
  return all;
}

/// Alice's release of the clinic that is computed here, of which the table has datasets listed as missing.
int release(ServedClinic& clinic) {
  return clinic.ask(kAlice, "POST", "/v1/releases", clinic.asks("0.001")).status;
}

std::string listed(const Reply& ready) {
  std::string text;
  if (!ready.body.contains("missing_sources")) return text;
  for (const json& one : ready.body.at("missing_sources"))
    text += (text.empty() ? "" : ",") + one.at("dataset").get<std::string>();
  return text;
}

void check_ready(ServedClinic& clinic, const std::string& code, const std::string& missing) {
  const Reply curator = clinic.ask(kRoot, "GET", "/readyz", "", {.curator_socket = true});
  const Reply stranger = clinic.ask(kNobody, "GET", "/readyz");
  INFO(curator.response.body);
  const bool ready = code == "ready";
  CHECK(curator.status == (ready ? 200 : 503));
  CHECK(stranger.status == curator.status);
  CHECK(curator.body.at(ready ? "status" : "code") == code);
  CHECK(listed(curator) == missing);
  if (!ready) CHECK(stranger.body.at("code") == "not_ready");
  CHECK_FALSE(stranger.body.contains("missing_sources"));
  CHECK(curator.response.body.find(clinic.folder.path("")) == std::string::npos);
  // What is ready records the next release of a dataset that is not listed, and what is not records none.
  const bool recorded = release(clinic) == 201;
  CHECK(recorded == (ready && missing.find("clinic") == std::string::npos));
}

}  // namespace

TEST_CASE("readiness: it is yes exactly where the next release is recorded, under every fault of the table",
          "[api][readiness]") {
  const std::vector<CaseRow> rows = case_table(EPSILOG_SOURCE_DIR "/tests/serve/api/readiness_faults.tsv");
  const std::string policy = served_policy();
  const std::string& policy_of_two = policy_of_two_sources();
  const AsUser user;
  const std::map<std::string, FileFault> known = faults();
  std::size_t walked = 0;
  for (const CaseRow& row : rows) {
    CAPTURE(row.at(0));
    const FileFault& fault = known.at(row.at(0));
    ++walked;
    ServedClinic clinic(policy, ServedClinic::generous(), 600, in_memory());
    clinic.folder.write("other.csv", kServedRows);
    static_cast<void>(
        clinic.engine->apply_policy(clinic.folder.write("two.yaml", policy_of_two), "carol", "a test"));
    REQUIRE(release(clinic) == 201);
    REQUIRE(clinic.ask(kNobody, "GET", "/readyz").status == 200);
    fault.inject(clinic);
    const std::size_t logged = clinic.log().size();
    check_ready(clinic, row.at(1), row.at(2));
    const bool well = row.at(1) == "ready" && row.at(2).empty();
    CHECK((clinic.log().size() == logged) == well);
    if (!fault.mend) continue;
    fault.mend(clinic);
    check_ready(clinic, row.at(3), "");
  }
  CHECK(walked == known.size());
}

TEST_CASE("readiness: it is decided once for all who ask while a look counts", "[api][readiness]") {
  ServedClinic clinic;
  serve::Readiness ready(*clinic.engine, clinic.ledger(), std::chrono::hours(1));
  const auto first = ready.current_report();
  std::vector<std::thread> threads;
  std::atomic<int> others = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) others += ready.current_report() == first ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(others == 0);
  CHECK(first->ready());
}

TEST_CASE("readiness: it is no while another writer holds the ledger for longer than a moment",
          "[api][readiness]") {
  ServedClinic clinic;
  const auto code = [&] { return clinic.readiness->current_report()->code; };
  {
    ledger::Ledger other = ledger::Ledger::open(clinic.ledger(), {});
    const ledger::Transaction held = other.begin();
    CHECK(code() == "ledger_busy");
  }
  CHECK(code() == "");
  CHECK(release(clinic) == 201);
}
