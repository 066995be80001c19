// Whether a daemon can serve: what `--check` and a start say in every state of startup_states.tsv.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "bound_socket.hpp"
#include "daemon_process.hpp"
#include "descriptor.hpp"
#include "epsilog/engine/engine.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

namespace fs = std::filesystem;
using serve::Descriptor;

/// The user of the daemon, who may not do everything, as root may.
constexpr uid_t kDaemonUser = 4711;

/// A place where a daemon is to start, and what of a state has to last as long.
struct StartPlace {
  DaemonProcess daemon{in_memory()};
  std::string ledger = daemon.ledger();
  std::string ask = daemon.ask_socket();
  std::string curator = daemon.curator_socket();
  std::string more = {};  ///< of the configuration
  rlim_t files = 0;       ///< that the program may have open; 0: as many as this process
  std::vector<Descriptor> held = {};
  /// What is done once everything belongs to the daemon's user.
  std::function<void()> last = [] {};

  [[nodiscard]] std::string path(const std::string& name) const { return daemon.folder.path(name); }
  void configure() const {
    daemon.folder.write("serve.yaml", "ledger: " + ledger + "\nsocket: " + ask + "\ncurator_socket: " +
                                          curator + "\nsources: [" + path("rows") + "]\n" + more);
  }
  void configure(const std::string& text) const { daemon.folder.write("serve.yaml", text); }
  void to_root(const std::string& file) {
    last = [file] { REQUIRE(::lchown(file.c_str(), 0, 0) == 0); };
  }
  void apply(const std::string& policy) const {
    daemon.folder.write("policy.yaml", policy);
    static_cast<void>(
        engine::Engine::open(daemon.ledger()).apply_policy(path("policy.yaml"), "carol", "a test"));
  }
};

using Injection = std::function<void(StartPlace&)>;

Descriptor listening(const std::string& path) {
  return Descriptor(serve::bound_socket(path, 0600));
}

/// A second dataset, whose rows are elsewhere than those of the first.
std::string policy_of_two() {
  std::string text = served_policy() + served_text("concealed_dataset.yaml");
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("visits.csv", "rows/visits.csv");
  const std::size_t second = text.find("  secret:");
  REQUIRE(second != std::string::npos);
  text.replace(second, 9, "  other:");
  text.replace(text.find("rows/visits.csv", second), 15, "rows/other.csv");
  return text;
}

/// Puts what is wrong with a socket at a path that `of` gives.
void add_socket_states(std::map<std::string, Injection>& states, const std::string& name,
                       std::string StartPlace::*socket) {
  const auto add = [&](const std::string& state, const Injection& make) {
    states[state.substr(0, state.find('*')) + name + state.substr(state.find('*') + 1)] = make;
  };
  add("no folder of the *", [=](StartPlace& place) { place.*socket = place.path("none/s"); });
  add("folder of the * is a file",
      [=](StartPlace& place) { place.*socket = place.path("policy.yaml") + "/s"; });
  add("folder of the * read-only", [=](StartPlace& place) {
    fs::create_directory(place.path("narrow"));
    fs::permissions(place.path("narrow"), fs::perms::owner_read | fs::perms::owner_exec);
    place.*socket = place.path("narrow/s");
  });
  add("name of the * too long",
      [=](StartPlace& place) { place.*socket = place.path(std::string(108 - place.path("").size(), 's')); });
  add("file at the *", [=](StartPlace& place) { std::ofstream(place.*socket) << "kept"; });
  add("folder at the *", [=](StartPlace& place) { fs::create_directory(place.*socket); });
  add("link at the *",
      [=](StartPlace& place) { fs::create_symlink(place.path("elsewhere"), place.*socket); });
  add("pipe at the *", [=](StartPlace& place) { REQUIRE(::mkfifo((place.*socket).c_str(), 0600) == 0); });
  add("program listens at the *", [=](StartPlace& place) { place.held.push_back(listening(place.*socket)); });
  add("left *", [=](StartPlace& place) { listening(place.*socket).close(); });
  add("left * of another user", [=](StartPlace& place) {
    listening(place.*socket).close();
    place.to_root(place.*socket);
  });
  add("lock of the * of another user", [=](StartPlace& place) {
    std::ofstream(serve::lock_of_socket(place.*socket)).flush();
    place.to_root(serve::lock_of_socket(place.*socket));
  });
  add("lock of the * is another file",
      [=](StartPlace& place) { std::ofstream(serve::lock_of_socket(place.*socket)) << "kept"; });
}

void add_configuration_states(std::map<std::string, Injection>& states) {
  const auto text = [](const std::string& yaml) {
    return [yaml](StartPlace& place) { place.last = [&place, yaml] { place.configure(yaml); }; };
  };
  states["configuration missing"] = [](StartPlace& place) {
    place.last = [&place] { fs::remove(place.path("serve.yaml")); };
  };
  states["configuration is a folder"] = [](StartPlace& place) {
    place.last = [&place] {
      fs::remove(place.path("serve.yaml"));
      fs::create_directory(place.path("serve.yaml"));
    };
  };
  states["configuration empty"] = text("");
  states["configuration is a list"] = text("[a, b]\n");
  states["configuration of two documents"] = text("ledger: /a\n---\nledger: /b\n");
  states["configuration too large"] = text("# " + std::string(300'000, 'x') + "\n");
  states["configuration without a socket"] = text("ledger: /a\nsocket: /b\n");
  states["configuration with an unknown key"] = [](StartPlace& place) { place.more = "port: 80\n"; };
  // Always 64 files, 3 for each of 64 requests, and 4 for each connection of the curator.
  states["files for all connections"] = [](StartPlace& place) { place.files = 64 + 3 * 64 + 4 * 64 + 1024; };
  states["files for some connections"] = [](StartPlace& place) { place.files = 400; };
  states["files for no connection"] = [](StartPlace& place) { place.files = 64 + 3 * 64 + 4 * 8; };
  states["files for one connection"] = [](StartPlace& place) { place.files = 64 + 3 * 64 + 4 * 8 + 1; };
  states["socket of the curator too"] = [](StartPlace& place) { place.curator = place.ask; };
  states["socket is the ledger"] = [](StartPlace& place) { place.ask = place.ledger; };
  states["socket is the log of the ledger"] = [](StartPlace& place) { place.ask = place.ledger + "-wal"; };
  states["socket whose lock is the ledger"] = [](StartPlace& place) { place.ledger = place.ask + ".lock"; };
  states["curator socket is the lock of the socket"] = [](StartPlace& place) {
    place.curator = serve::lock_of_socket(place.ask);
  };
}

void add_ledger_states(std::map<std::string, Injection>& states) {
  states["no ledger"] = [](StartPlace& place) { place.ledger = place.path("none.ledger"); };
  states["no folder of the ledger"] = [](StartPlace& place) {
    place.ledger = place.path("none/clinic.ledger");
  };
  states["ledger is a folder"] = [](StartPlace& place) { place.ledger = place.path("rows"); };
  states["ledger is another file"] = [](StartPlace& place) { place.ledger = place.path("policy.yaml"); };
  states["ledger read-only"] = [](StartPlace& place) {
    fs::permissions(place.ledger, fs::perms::owner_read);
  };
  states["locks of the ledger closed to its owner"] = [](StartPlace& place) {
    for (const char* lock : {".lock", ".queue"}) fs::permissions(place.ledger + lock, fs::perms::none);
  };
  states["queue of the ledger of another user"] = [](StartPlace& place) {
    place.to_root(place.ledger + ".queue");
  };
  states["serve lock of another user"] = [](StartPlace& place) {
    std::ofstream(place.ledger + ".serve").flush();
    fs::permissions(place.ledger + ".serve", fs::perms::owner_read | fs::perms::owner_write);
    place.to_root(place.ledger + ".serve");
  };
  states["folder of the ledger read-only"] = [](StartPlace& place) {
    place.ask = place.path("rows/ask.socket");
    place.curator = place.path("rows/curator.socket");
    place.last = [&place] { fs::permissions(place.path(""), fs::perms::owner_read | fs::perms::owner_exec); };
  };
  states["another daemon serves"] = [](StartPlace& place) {
    const Descriptor& lock = place.held.emplace_back(
        ::open((place.ledger + ".serve").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
    place.held.push_back(listening(place.ask));
    place.held.push_back(listening(place.curator));
  };
  states["policy without principals"] = [](StartPlace& place) {
    std::string policy = read_file(place.path("policy.yaml"));
    const std::size_t from = policy.find("principals:");
    policy.erase(from, policy.find("datasets:") - from);
    for (const char* gone : {"    approvals:", "    limits:", "      - {principal:", "    allow:"}) {
      for (std::size_t at = policy.find(gone); at != std::string::npos; at = policy.find(gone))
        policy.erase(at, policy.find('\n', at) + 1 - at);
    }
    const std::string supplied = ", supplied_by: [sam]";
    policy.erase(policy.find(supplied), supplied.size());
    place.apply(policy);
  };
}

void add_source_states(std::map<std::string, Injection>& states) {
  states["source outside the folders"] = [](StartPlace& place) {
    fs::rename(place.path("rows/other.csv"), place.path("other.csv"));
    fs::create_symlink(place.path("other.csv"), place.path("rows/other.csv"));
  };
  states["source of one dataset missing"] = [](StartPlace& place) {
    fs::remove(place.path("rows/other.csv"));
  };
  states["source of one dataset is a folder"] = [](StartPlace& place) {
    fs::remove(place.path("rows/other.csv"));
    fs::create_directory(place.path("rows/other.csv"));
  };
  states["source of one dataset unreadable"] = [](StartPlace& place) {
    fs::permissions(place.path("rows/other.csv"), fs::perms::none);
  };
  states["source of every dataset missing"] = [](StartPlace& place) {
    fs::remove(place.path("rows/other.csv"));
    fs::remove(place.path("rows/visits.csv"));
  };
}

std::map<std::string, Injection> injections() {
  std::map<std::string, Injection> all = {{"sound", [](StartPlace&) {}}};
  add_configuration_states(all);
  add_ledger_states(all);
  add_source_states(all);
  add_socket_states(all, "socket", &StartPlace::ask);
  add_socket_states(all, "curator socket", &StartPlace::curator);
  return all;
}

/// What a run of the program did: its exit code, "serves" if it had to be told to end.
struct Ran {
  std::string exit;
  std::string said;  ///< on both outputs
};

Ran run_serve(const StartPlace& place, bool check, uid_t user) {
  std::string program = EPSILOG_SERVE, file = place.path("serve.yaml");
  std::vector<std::string> words = {program, "--config", file};
  if (check) words.push_back("--check");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const TemporaryFolder outside;
  const std::string said = outside.path("said");
  const int opened = ::open(program.c_str(), O_RDONLY | O_CLOEXEC);
  const int output = ::open(said.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  REQUIRE((opened >= 0 && output >= 0));
  const pid_t process = ::fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    const rlimit files{place.files, place.files};
    if (place.files > 0 && ::setrlimit(RLIMIT_NOFILE, &files) != 0) ::_exit(126);
    if (user != ::geteuid() && (::setgid(user) != 0 || ::setuid(user) != 0)) ::_exit(126);
    ::fexecve(opened, arguments.data(), environ);
    ::_exit(127);
  }
  ::close(opened);
  ::close(output);
  int status = 0;
  bool served = false;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (!served && read_file(said).find("serving ledger") != std::string::npos) {
      served = true;
      ::kill(process, SIGTERM);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::string exit = std::to_string(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  return {served && exit == "0" ? "serves" : exit, read_file(said)};
}

/// Two datasets with rows of their own, and everything the daemon's user's.
void prepare_start(StartPlace& place, const Injection& make, uid_t user) {
  fs::create_directory(place.path("rows"));
  place.daemon.folder.write("rows/visits.csv", kServedRows);
  place.daemon.folder.write("rows/other.csv", kServedRows);
  place.apply(policy_of_two());
  make(place);
  place.configure();
  if (user != ::geteuid()) {
    std::vector<fs::path> all = {place.path("")};
    for (const auto& one : fs::recursive_directory_iterator(place.path(""))) all.push_back(one.path());
    for (const fs::path& one : all) {
      std::string path = one.string();
      if (path.ends_with('/')) path.pop_back();
      REQUIRE(::lchown(path.c_str(), user, user) == 0);
    }
  }
  place.last();
}

/// One line, in words for an operator, with no path but those of the configuration.
void check_failure_line(const StartPlace& place, const std::string& said) {
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  CHECK(said.find("internal error") == std::string::npos);
  for (std::size_t at = said.find('/'); at != std::string::npos; at = said.find('/', at + 1)) {
    if (at > 0 && std::string(" '\"(").find(said[at - 1]) == std::string::npos) continue;
    const std::string rest = said.substr(at);
    // The hint at a key that is missing shows an example.
    if (rest.starts_with("/run/epsilog/")) continue;
    const auto is_of = [&](const std::string& one) { return rest.starts_with(one); };
    CHECK((is_of(place.ledger) || is_of(place.ask) || is_of(place.curator) ||
           is_of(place.path("serve.yaml")) || is_of(fs::path(place.ledger).parent_path().string() + "'")));
  }
}

}  // namespace

TEST_CASE("a check and a start say, in every state of the table, with what code and line they end",
          "[daemon][startup]") {
  const uid_t user = ::geteuid() == 0 ? kDaemonUser : ::geteuid();
  const std::map<std::string, Injection> known = injections();
  std::vector<std::string> walked;
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/daemon/startup_states.tsv")) {
    const std::string& name = walked.emplace_back(row.at(0));
    CAPTURE(name);
    REQUIRE(known.count(name) == 1);
    if (::geteuid() != 0 && name.find("of another user") != std::string::npos) continue;
    StartPlace place;
    prepare_start(place, known.at(name), user);
    const auto files = [&] {
      std::vector<std::string> names;
      for (const auto& one : fs::directory_iterator(place.path(""))) names.push_back(one.path().filename());
      std::sort(names.begin(), names.end());
      return names;
    };
    const std::vector<std::string> before = files();
    const Ran checked = run_serve(place, true, user);
    INFO("--check: " << checked.said);
    CHECK(checked.exit == row.at(1));
    CHECK(checked.said.find(row.at(2)) != std::string::npos);
    CHECK(checked.said.find("internal error") == std::string::npos);
    CHECK(files() == before);
    const Ran started = run_serve(place, false, user);
    INFO("start: " << started.said);
    CHECK(started.exit == row.at(3));
    CHECK(started.said.find(row.at(4)) != std::string::npos);
    if (started.exit != "serves") check_failure_line(place, started.said);
    fs::permissions(place.path(""), fs::perms::owner_all);
  }
  CHECK(walked.size() == known.size());
}
