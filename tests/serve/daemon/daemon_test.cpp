// The daemon as a process: killed, told to end, told to read again, talked to over its sockets.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <mutex>
#include <sstream>

#include "daemon_process.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/engine.hpp"
#include "feature_of_test.hpp"
#include "served_clinic.hpp"
#include "support/sanitized_time.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

std::map<std::string, std::string> as_alice(const DaemonProcess& daemon) {
  return {{"Authorization", "Bearer " + daemon.token}};
}

std::string release(const std::string& key, const std::string& epsilon = "0.0001") {
  return R"({"dataset":"clinic","statistic":"count","epsilon":")" + epsilon + R"(","key":")" + key + "\"}";
}

/// What clients were told under their keys: a later answer with the same key has to be the same.
struct Told {
  std::mutex mutex;
  std::map<std::string, std::string> values;
  std::vector<std::string> changed;  // keys that were answered otherwise than before
  int again = 0;                     // answers to keys that were decided before
};

/// Asks with keys of its own until the daemon is gone. Every other key is one of the round before, in which
/// it may have been asked and not been told: what it asks is the same again.
void ask_until_killed(const DaemonProcess& daemon, int client, int round, Told& told,
                      std::atomic<unsigned>& answered, std::atomic<bool>& over) {
  Connection connection(daemon.ask_socket());
  const auto headers = as_alice(daemon);
  for (int i = 0; !over; ++i) {
    const int turn = i / 2;
    const std::string key = std::to_string(client) + "-" + std::to_string(i % 2 == 0 ? round - 1 : round) +
                            "-" + std::to_string(turn);
    const bool reserve = (client + turn) % 3 == 0;
    const auto heard =
        connection.ask("POST", reserve ? "/v1/reservations" : "/v1/releases", release(key), headers);
    if (!heard) return;
    ++answered;
    if (heard->status != 200 && heard->status != 201) continue;
    // What became of a reservation may have come between: it is the same one if it is of the same key.
    const std::string what = reserve ? "reserved" : heard->body.at("value").get<std::string>();
    {
      const std::scoped_lock lock(told.mutex);
      const auto [at, fresh] = told.values.emplace(key, what);
      if (at->second != what) told.changed.push_back(key);
      told.again += heard->status == 200 ? 1 : 0;
    }
    if (!reserve) continue;
    const std::string id = heard->body.at("decision_id");
    static_cast<void>(
        connection.ask("POST", "/v1/requests/" + id + (turn % 2 == 0 ? "/commit" : "/cancel"), "", headers));
  }
}

void kill_rounds(int rounds) {
  DaemonProcess daemon;
  Told told;
  std::mt19937 random(14);
  for (int round = 1; round <= rounds; ++round) {
    daemon.start();
    std::atomic<bool> over = false;
    std::atomic<unsigned> answered = 0;
    std::vector<std::thread> clients;
    for (int client = 0; client < 8; ++client) {
      clients.emplace_back([&, client] { ask_until_killed(daemon, client, round, told, answered, over); });
    }
    // After so many answers, wherever the other clients are then; and a moment later, between two answers.
    const auto answers = random() % 24;
    while (answered < answers) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2'000));
    daemon.signal(SIGKILL);
    CHECK(daemon.ended() == 128 + SIGKILL);
    over = true;
    for (std::thread& client : clients) client.join();
  }
  // Each key has one decision, with the value that was told; and the books are right.
  std::map<std::string, std::string> found;
  engine::Engine engine = engine::Engine::open(daemon.ledger());
  engine.history("", 0, [&](const engine::Answer& answer) {
    if (answer.asked.key.empty()) return;
    const bool reserve = answer.asked.reservation != engine::ReservationKind::none;
    CHECK(
        found.emplace(answer.asked.key, reserve ? "reserved" : accounting::text(answer.released.values.at(0)))
            .second);
  });
  CHECK(told.changed == std::vector<std::string>{});
  CHECK(told.values.size() > static_cast<std::size_t>(rounds));
  CHECK(told.again > rounds);
  for (const auto& [key, what] : told.values) {
    CAPTURE(key);
    CHECK(found[key] == what);
  }
  CHECK(engine::audit_verify(daemon.ledger()).ok);
}

}  // namespace

TEST_CASE("killed a hundred times under eight clients that ask again, it decides each key once",
          "[daemon][crash]") {
  kill_rounds(100);
}

TEST_CASE("killed a thousand times likewise", "[daemon][crash][.long]") {
  kill_rounds(1000);
}

TEST_CASE("told to end it decides what it has begun, tells it, and takes nothing new", "[daemon]") {
  DaemonProcess daemon;
  daemon.start();
  const auto headers = as_alice(daemon);
  Connection waits(daemon.ask_socket());
  const auto since = Connection(daemon.ask_socket()).ask("GET", "/v1/events?limit=1000", "", headers);
  REQUIRE(since);
  std::atomic<int> granted = 0;
  std::atomic<int> others = 0;
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&, client] {
      Connection connection(daemon.ask_socket());
      for (int i = 0;; ++i) {
        const auto heard = connection.ask("POST", "/v1/releases",
                                          release(std::to_string(client) + "." + std::to_string(i)), headers);
        if (!heard) return;
        others += heard->status == 201 || heard->status == 503 ? 0 : 1;
        granted += heard->status == 201 ? 1 : 0;
        if (heard->status == 503) return;
      }
    });
  }
  std::thread polls([&] {
    const auto heard = waits.ask("GET", "/v1/events?wait=60&after=1000000", "", headers);
    others += heard && heard->status != 200 ? 1 : 0;
  });
  while (granted < 20) std::this_thread::yield();
  daemon.signal(SIGTERM);
  CHECK(daemon.ended() == 0);
  for (std::thread& client : clients) client.join();
  polls.join();
  int recorded = 0;
  engine::Engine::open(daemon.ledger()).history("", 0, [&](const engine::Answer& answer) {
    recorded += answer.recorded.granted ? 1 : 0;
  });
  CHECK(recorded == granted);
  CHECK(others == 0);
}

namespace {

/// Processor time of the process so far, in ticks of a hundredth of a second.
long ticks_used(pid_t process) {
  const std::string stat = read_file("/proc/" + std::to_string(process) + "/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

std::string plan_of_means() {
  nlohmann::json rows = nlohmann::json::array();
  for (int i = 0; i < 1000; ++i)
    rows.push_back({{"statistic", "mean:cost"}, {"epsilon", "0.000" + std::to_string(1000 + i)}});
  return nlohmann::json{{"dataset", "clinic"}, {"rows", rows}}.dump();
}

}  // namespace

TEST_CASE("a plan of many seconds ends with its client, and with the daemon within one",
          "[daemon][computing]") {
  DaemonProcess daemon;
  daemon.configure("limits: {burst: 10000, per_second: 10000}\n");
  daemon.start();
  const std::string body = plan_of_means();
  const std::string request =
      "POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + daemon.token +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
      body;
  const auto compute = [&](const Connection& connection) {
    const long before = ticks_used(daemon.process());
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    REQUIRE(connection.send(request));
    while (ticks_used(daemon.process()) < before + 10) REQUIRE(std::chrono::steady_clock::now() < until);
  };
  {
    const Connection leaves(daemon.ask_socket());
    compute(leaves);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const long left = ticks_used(daemon.process());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(ticks_used(daemon.process()) - left <= 2);
  Connection stays(daemon.ask_socket());
  compute(stays);
  const auto told = std::chrono::steady_clock::now();
  daemon.signal(SIGTERM);
  CHECK(daemon.ended() == 0);
  CHECK(std::chrono::steady_clock::now() - told < std::chrono::seconds(1) * kSanitizedTimes);
  const auto heard = stays.hear();
  REQUIRE(heard);
  CHECK(heard->status == 503);
  CHECK(heard->body.at("code") == "stopping");
}

TEST_CASE(
    "told to read its configuration again it takes limits over, and keeps what it has where that is not "
    "valid",
    "[daemon]") {
  DaemonProcess daemon;
  daemon.start();
  const auto status = [&] {
    Connection connection(daemon.ask_socket());
    const auto heard = connection.ask("GET", "/v1/me", "", as_alice(daemon));
    return heard ? heard->status : 0;
  };
  const auto said = [&](const std::string& what) {
    for (int i = 0; i < 5000; ++i) {
      if (daemon.log().find(what) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  };
  CHECK(status() == 200);
  daemon.configure("limits: {refusals: 3}\n");
  daemon.signal(SIGHUP);
  CHECK(said("serve.yaml:5:"));
  CHECK(said("the one so far stays"));
  daemon.configure("sources: [/srv]\n");
  daemon.configure("limits: {in_flight: 5}\n");
  daemon.signal(SIGHUP);
  CHECK(said("the configuration was read again"));
  CHECK(status() == 200);
}

TEST_CASE("a daemon whose ledger was moved away tells nothing more of it and ends, to be started again",
          "[daemon][held]") {
  namespace fs = std::filesystem;
  DaemonProcess daemon;
  daemon.start();
  const auto headers = as_alice(daemon);
  {
    Connection connection(daemon.ask_socket());
    REQUIRE(connection.ask("POST", "/v1/releases", release("k"), headers)->status == 201);
    fs::rename(daemon.ledger(), daemon.ledger() + ".away");
    const auto heard = connection.ask("POST", "/v1/releases", release("k"), headers);
    REQUIRE(heard);
    CHECK(heard->status == 503);
    CHECK(heard->body.at("code") == "ledger_files_replaced");
  }
  CHECK(daemon.ended() == 7);
  CHECK(daemon.log().find("start the daemon again") != std::string::npos);
  fs::rename(daemon.ledger() + ".away", daemon.ledger());
  daemon.start();
  CHECK(Connection(daemon.ask_socket()).ask("POST", "/v1/releases", release("k"), headers)->status == 200);
}

TEST_CASE("a daemon names the feature that a newer program announced while it ran", "[daemon][feature]") {
  DaemonProcess daemon;
  daemon.start();
  const auto headers = as_alice(daemon);
  REQUIRE(Connection(daemon.ask_socket()).ask("POST", "/v1/releases", release("k"), headers)->status == 201);
  {
    const ledger::FeatureOfTest known("of tomorrow");
    ledger::Ledger newer = ledger::Ledger::open(daemon.ledger(), {});
    ledger::Transaction transaction = newer.begin();
    transaction.announce_feature("of tomorrow");
    static_cast<void>(newer.commit(std::move(transaction)));
  }
  for (const auto& [method, route] : {std::pair("POST", "/v1/releases"), std::pair("GET", "/readyz")}) {
    CAPTURE(route);
    const bool asks = method == std::string("POST");
    Connection connection(daemon.ask_socket());
    const auto heard =
        asks ? connection.ask(method, route, release("k"), headers) : connection.ask(method, route);
    REQUIRE(heard);
    CHECK(heard->status == 503);
    // A stranger learns whether the daemon is ready, and not why.
    CHECK(heard->body.at("code") == (asks ? "needs_feature" : "not_ready"));
    const std::string why = "needs feature of tomorrow: use a newer Epsilog";
    if (asks) CHECK(heard->body.at("detail").get<std::string>().find(why) != std::string::npos);
    const auto curator = Connection(daemon.curator_socket()).ask("GET", "/readyz");
    REQUIRE(curator);
    CHECK(curator->body.at("detail").get<std::string>().find(why) != std::string::npos);
  }
  CHECK(Connection(daemon.ask_socket()).ask("GET", "/healthz")->status == 200);
  daemon.signal(SIGTERM);
  CHECK(daemon.ended() == 0);
}

TEST_CASE("one daemon serves a ledger, and the command works beside it", "[daemon]") {
  DaemonProcess daemon;
  daemon.start();
  engine::Engine beside = engine::Engine::open(daemon.ledger());
  CHECK(beside.newest_seq() == 0);
  const std::string second = std::string(EPSILOG_SERVE) + " --config " + daemon.folder.path("serve.yaml") +
                             " 2>" + daemon.folder.path("second");
  CHECK(WEXITSTATUS(std::system(second.c_str())) == 7);
  CHECK_THAT(read_file(daemon.folder.path("second")), says("another daemon serves this ledger"));
}

TEST_CASE("its sockets are for the group and for its own user, and its memory is nobody else's", "[daemon]") {
  DaemonProcess daemon;
  // What root runs belongs to root there, dumpable or not.
  constexpr uid_t kSomebody = 4711;
  const uid_t user = ::geteuid() == 0 ? kSomebody : ::geteuid();
  daemon.start_as(user);
  struct stat of {};
  REQUIRE(::stat(daemon.ask_socket().c_str(), &of) == 0);
  CHECK((of.st_mode & 0777) == 0660);
  REQUIRE(::stat(daemon.curator_socket().c_str(), &of) == 0);
  CHECK((of.st_mode & 0777) == 0600);
  CHECK(of.st_uid == user);
  const std::string proc = "/proc/" + std::to_string(daemon.process());
  CHECK_THAT(read_file(proc + "/limits"), says("Max core file size        0                    0"));
  // The files of a process that is not dumpable are root's, whoever runs it.
  REQUIRE(::stat((proc + "/mem").c_str(), &of) == 0);
  CHECK(of.st_uid == 0);
}

TEST_CASE("it says nothing of tokens, answers or where the data are, whatever it is asked", "[daemon]") {
  DaemonProcess daemon;
  daemon.start();
  Connection connection(daemon.ask_socket());
  // A value that nothing else looks like: each is clamped to 0 about every other time.
  std::string value;
  for (int i = 0; i < 200 && value.size() < 5; ++i) {
    const auto granted = connection.ask(
        "POST", "/v1/releases",
        R"({"dataset":"clinic","statistic":"sum:cost","epsilon":"0.1","key":")" + std::to_string(i) + "\"}",
        as_alice(daemon));
    REQUIRE(granted);
    CHECK(granted->status == 201);
    value = granted->body.at("value").get<std::string>();
  }
  REQUIRE(value.size() >= 5);
  std::filesystem::remove(daemon.folder.path("visits.csv"));
  static_cast<void>(connection.ask("POST", "/v1/releases", release("b"), as_alice(daemon)));
  static_cast<void>(connection.ask("GET", "/v1/me", "", {{"Authorization", "Bearer eps_forged"}}));
  daemon.signal(SIGTERM);
  CHECK(daemon.ended() == 0);
  const std::string log = daemon.log();
  for (const std::string& hidden :
       {daemon.token, std::string("eps_"), daemon.folder.path(""), std::string("visits"), value}) {
    CAPTURE(hidden);
    CHECK(log.find(hidden) == std::string::npos);
  }
}

TEST_CASE(
    "beyond a thousand idle connections it tells who comes so, answers its curator, and records nothing",
    "[daemon]") {
  constexpr std::size_t kPlaces = 1024, kMore = 50;
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4 * kPlaces);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
  REQUIRE(files.rlim_cur > kPlaces + kMore + 100);
  DaemonProcess daemon;
  daemon.configure("limits: {connections: 1024, connections_per_user: 4096}\n");
  daemon.start();
  {
    std::vector<std::unique_ptr<Connection>> idle;
    const auto of_curator = [&] {
      Connection connection(daemon.curator_socket());
      const auto heard = connection.ask("GET", "/v1/me");
      return heard ? heard->status : 0;
    };
    for (std::size_t i = 0; i < kPlaces; ++i) {
      idle.push_back(std::make_unique<Connection>(daemon.ask_socket()));
      REQUIRE(idle.back()->open());
    }
    // Who says half a head keeps a place as who says nothing.
    for (std::size_t i = 0; i < kPlaces; i += 2) idle[i]->send("GET /v1/me HTTP/1.1\r\nHo");
    int refused = 0;
    for (std::size_t i = 0; i < kMore; ++i) {
      Connection one(daemon.ask_socket());
      const auto heard =
          one.ask("POST", "/v1/releases", release("more" + std::to_string(i)), as_alice(daemon));
      refused += !heard || heard->status == 503 ? 1 : 0;
    }
    CHECK(refused == static_cast<int>(kMore));
    CHECK(of_curator() == 200);
  }
  engine::Engine engine = engine::Engine::open(daemon.ledger());
  CHECK(engine.newest_seq() == 0);
  // Once they are gone there is room.
  for (int i = 0; i < 5000; ++i) {
    const auto heard =
        Connection(daemon.ask_socket()).ask("POST", "/v1/releases", release("after"), as_alice(daemon));
    if (heard && heard->status == 201) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(engine.newest_seq() == 1);
}

TEST_CASE("with few descriptors the curator and the ledger have theirs, however many connect", "[daemon]") {
  DaemonProcess daemon;
  daemon.files = 200;  // with 8 requests at a time 80 are left for connections
  daemon.configure("limits: {connections_per_user: 4096, running: 8}\n");
  daemon.start();
  CHECK_THAT(daemon.log(), says("there are places for 80 connections"));
  std::vector<std::unique_ptr<Connection>> all;
  for (int i = 0; i < 150; ++i) {
    all.push_back(std::make_unique<Connection>(daemon.ask_socket()));
    REQUIRE(all.back()->open());
  }
  std::vector<std::unique_ptr<Connection>> of_curator;
  for (int i = 0; i < 8; ++i) {
    of_curator.push_back(std::make_unique<Connection>(daemon.curator_socket()));
    const auto heard = of_curator.back()->ask("GET", "/v1/budgets");
    REQUIRE(heard);
    CHECK(heard->status == 200);
  }
  std::vector<std::thread> threads;
  std::atomic<int> recorded = 0;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      const auto heard = all[static_cast<std::size_t>(i)]->ask(
          "POST", "/v1/releases", release("few" + std::to_string(i)), as_alice(daemon));
      recorded += heard && heard->status == 201 ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(recorded == 16);
}

TEST_CASE("a policy without principals is not served", "[daemon]") {
  DaemonProcess daemon;
  std::string policy = served_policy();
  const std::size_t from = policy.find("principals:");
  policy.erase(from, policy.find("datasets:") - from);
  for (const char* gone : {"    approvals: {required: 1, by: {principals: [bob]}, above: {epsilon: 1/2}}\n",
                           "    limits:\n      - {principal: adam, epsilon: 1}\n", ", supplied_by: [sam]"}) {
    const std::size_t at = policy.find(gone);
    REQUIRE(at != std::string::npos);
    policy.erase(at, std::string(gone).size());
  }
  daemon.folder.write("policy.yaml", policy);
  static_cast<void>(engine::Engine::open(daemon.ledger())
                        .apply_policy(daemon.folder.path("policy.yaml"), "carol", "everybody"));
  const std::string command = std::string(EPSILOG_SERVE) + " --config " + daemon.folder.path("serve.yaml") +
                              " 2>" + daemon.folder.path("said");
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 3);
}

TEST_CASE("a ledger of a development version is not served", "[daemon]") {
  const DaemonProcess daemon;
  {
    // The application_id is the four bytes at 68 of the file.
    std::fstream file(daemon.ledger(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(68).write("EPSL", 4);
    REQUIRE(file);
  }
  for (const char* check : {"", " --check"}) {
    CAPTURE(check);
    const std::string command = std::string(EPSILOG_SERVE) + " --config " + daemon.folder.path("serve.yaml") +
                                check + " 2>" + daemon.folder.path("said");
    CHECK(WEXITSTATUS(std::system(command.c_str())) == 3);
    CHECK_THAT(read_file(daemon.folder.path("said")),
               says("written by a development version of Epsilog; not readable"));
  }
}

TEST_CASE("a ledger on a network file system is not served, and one over FUSE with a warning",
          "[daemon][network]") {
  if (std::system("strace -qq -o /dev/null -e inject=statfs:poke_exit=@arg2=69690000 true 2>/dev/null") !=
      0) {
    WARN("strace is not here, or cannot change what a call answers: not tested");
    return;
  }
  const DaemonProcess daemon;
  const auto run = [&](const std::string& type, const std::string& check) {
    const std::string ledger = daemon.ledger();
    const std::string folder = ledger.substr(0, ledger.rfind('/'));
    // LeakSanitizer does not run beside another tracer.
    const std::string command = "ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null -e trace=statfs -P " +
                                folder + " -e inject=statfs:poke_exit=@arg2=" + type + " " +
                                std::string(EPSILOG_SERVE) + " --config " + daemon.folder.path("serve.yaml") +
                                check + " >" + daemon.folder.path("out") + " 2>" + daemon.folder.path("said");
    return WEXITSTATUS(std::system(command.c_str()));
  };
  const auto said = [&] { return read_file(daemon.folder.path("said")); };
  for (const char* check : {"", " --check"}) {
    CAPTURE(check);
    CHECK(run("69690000", check) == 3);
    CHECK_THAT(said(), says("network file system (NFS)"));
    CHECK_THAT(said(), says("local disk"));
  }
  CHECK(run("46557365", " --check") == 0);
  CHECK_THAT(said(), says("FUSE"));
}
