// The server: places, crowds, other users, lack of descriptors, stopping.
#include "server.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <list>

#include "epsilog/accounting/errors.hpp"
#include "served.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace std::chrono_literals;

namespace {

std::size_t open_descriptors() {
  const auto listed = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(listed), end(listed)));
}

/// Connects as another user, which one thread can be by itself. None unless this is root.
std::optional<Client> connect_as(uid_t uid, const std::string& path) {
  std::optional<Client> client;
  std::thread([&] {
    constexpr auto kSame = static_cast<uid_t>(-1);
    if (::syscall(SYS_setresuid, kSame, uid, kSame) == 0) client.emplace(path);
  }).join();
  return client;
}

void let_others_in(const Served& served) {
  std::filesystem::permissions(served.folder(), std::filesystem::perms(0711));
}

}  // namespace

TEST_CASE("the server: it says who is at the other end, and by which socket", "[serve][server]") {
  Served served(test::patient(), 0666);
  let_others_in(served);
  const std::string own = std::to_string(::geteuid());
  CHECK(served.connect().ask(get("/uid")).body == own);
  CHECK(served.connect_curator().ask(get("/uid")).body == own + " curator");
  if (auto other = connect_as(4711, served.path())) CHECK(other->ask(get("/uid")).body == "4711");
}

TEST_CASE("the server: who has all places is refused the next one, and others are not", "[serve][server]") {
  serve::ConnectionLimits limits = test::patient();
  limits.per_uid = 3;
  limits.connections = 5;
  Served served(limits, 0666);
  let_others_in(served);
  std::list<Client> mine;
  for (int i = 0; i < 3; ++i) CHECK(mine.emplace_back(served.connect()).ask(get("/echo")).status == 200);
  Client refused = served.connect();
  const Answer answer = refused.read();
  CHECK(answer.status == 503);
  CHECK(answer.body.starts_with("too_many_connections: "));
  CHECK(answer.headers.at("Connection") == "close");
  CHECK(refused.rest().empty());
  CHECK(served.connect_curator().ask(get("/echo")).status == 200);

  std::list<Client> theirs;
  for (int i = 0; i < 2; ++i) {
    auto client = connect_as(4711, served.path());
    if (!client) return;  // not root
    CHECK(theirs.emplace_back(std::move(*client)).ask(get("/echo")).status == 200);
  }
  CHECK(connect_as(4711, served.path())->read().status == 503);  // five in all

  mine.pop_front();
  int status = 0;
  for (int tries = 0; tries < 1000 && status != 200; ++tries) {
    status = connect_as(4711, served.path())->ask(get("/echo")).status;
    if (status != 200) std::this_thread::sleep_for(2ms);
  }
  CHECK(status == 200);  // a place that is given back is taken again
}

TEST_CASE("the server: three hundred who say nothing delay no curator", "[serve][server]") {
  serve::ConnectionLimits limits = test::patient();
  limits.connections = 300;
  limits.per_uid = 300;
  limits.curator_connections = 2;
  const std::size_t before = open_descriptors();
  {
    Served served(limits);
    std::list<Client> idle;
    for (int i = 0; i < 300; ++i) {
      idle.emplace_back(served.connect());
      if (i % 3 == 1) idle.back().send("GET /echo HTTP/1.1\r\nHo");
      if (i % 3 == 2) idle.back().send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nx");
    }
    REQUIRE(served.service.wait_until_begun(100));
    Client curator = served.connect_curator();
    for (int i = 0; i < 20; ++i) CHECK(curator.ask(get("/echo")).status == 200);
    CHECK(served.connect().read().status == 503);
    Client second = served.connect_curator();
    CHECK(second.ask(get("/echo")).status == 200);
    CHECK(served.connect_curator().read().status == 503);
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("the server: without a descriptor it refuses, and goes on when there is one", "[serve][server]") {
  Served served;
  std::vector<serve::Descriptor> sockets;
  for (int i = 0; i < 4; ++i) sockets.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(open_descriptors()) + 40;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<serve::Descriptor> all;
  do {
    all.emplace_back(::fcntl(sockets.front().get(), F_DUPFD_CLOEXEC, 0));
  } while (all.back().valid());
  std::vector<int> statuses;
  std::list<Client> clients;  // which keep their descriptors
  for (int i = 0; i < 3; ++i) {
    Client& client = clients.emplace_back(std::move(sockets.back()), served.path());
    sockets.pop_back();
    statuses.push_back(client.read().status);
    statuses.push_back(client.rest().empty() ? 0 : 1);
  }
  all.clear();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(statuses == std::vector<int>{503, 0, 503, 0, 503, 0});
  Client client(std::move(sockets.back()), served.path());
  CHECK(client.ask(get("/echo")).status == 200);
}

TEST_CASE("the server: changed limits hold from the next connection and request on", "[serve][server]") {
  Served served;
  Client client = served.connect();
  CHECK(client.ask(get("/echo", "X: " + std::string(500, 'x') + "\r\n")).status == 200);
  serve::ConnectionLimits limits = test::patient();
  limits.head_bytes = 100;
  limits.connections = 1;
  served.server->change(limits);
  CHECK(served.connect().read().status == 503);
  CHECK(client.ask(get("/echo")).status == 200);
  CHECK(client.ask(get("/echo", "X: " + std::string(500, 'x') + "\r\n")).status == 431);
}

TEST_CASE("the server: stopping ends what waits and finishes what runs", "[serve][server]") {
  Served served;
  Client idle = served.connect();
  CHECK(idle.ask(get("/echo")).status == 200);
  Client half = served.connect();
  half.send("GET /echo HTT");
  Client runs = served.connect();
  runs.send(post("/hold", "value") + get("/echo"));
  REQUIRE(served.service.wait_until_begun(2));
  served.stop();
  CHECK(idle.rest().empty());
  CHECK_THROWS(served.connect());
  const Answer stopped = half.read();
  CHECK((stopped.status == 503 && stopped.body.starts_with("stopping: ")));
  CHECK(half.rest().empty());
  CHECK(!served.server->drain(1ms));
  served.service.release();
  CHECK(served.server->drain(10s));
  const Answer answer = runs.read();
  CHECK(answer.body == "POST /hold value");
  CHECK(answer.headers.at("Connection") == "close");
  CHECK(runs.rest().empty());  // the second was never begun
  CHECK(served.service.finished() == std::vector<std::string>{"GET /echo", "POST /hold"});
}

TEST_CASE("the server: stopping lets a body come in that has begun, and no other", "[serve][server]") {
  Served served;
  const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
  Client none = served.connect();
  none.send(head);
  Client some = served.connect();
  some.send(head + "he");
  Client never = served.connect();
  never.send(head + "x");
  REQUIRE(served.service.wait_until_begun(3));
  served.stop();
  CHECK(none.read().body == "stopped");
  some.send("llo");
  CHECK(some.read().body == "POST /echo hello");
  REQUIRE(served.service.wait_until_finished(2));
  CHECK(!served.server->drain(1ms));  // breaks off the last one
  CHECK(served.server->drain(10s));
  const auto finished = served.service.finished();
  CHECK(std::count(finished.begin(), finished.end(), "POST /echo stopped") == 1);
  CHECK(std::count(finished.begin(), finished.end(), "POST /echo") == 1);
  CHECK(std::count(finished.begin(), finished.end(), "POST /echo begun stopped") == 1);
}

TEST_CASE("the server: when the time to drain is over, an answer that nobody reads is broken off",
          "[serve][server]") {
  Served served;
  Client slow = served.connect();
  slow.send(get("/large"));
  REQUIRE(served.service.wait_until_finished(1));
  served.stop();
  CHECK(!served.server->drain(1ms));
  CHECK(served.server->drain(10s));
}

TEST_CASE("the server: many come and go at once, each with what it asked for", "[serve][server]") {
  const std::size_t before = open_descriptors();
  {
    Served served;
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 40; ++i) {
          Client client = served.connect();
          const std::string text = std::to_string(thread) + '/' + std::to_string(i);
          if (client.ask(post("/echo", text)).body != "POST /echo " + text) ++wrong;
          if (i % 2 == 0 && client.ask(get("/echo")).body != "GET /echo ") ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(served.service.finished().size() == 8 * 60);
    served.stop();
    CHECK(served.server->drain(10s));
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("the server: it listens on nothing but a Unix stream socket that listens", "[serve][server]") {
  test::StubService service;
  serve::Server server(service, test::patient());
  std::vector<serve::Descriptor> wrong;
  wrong.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  wrong.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  wrong.emplace_back(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  wrong.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (const serve::Descriptor& fd : wrong) {
    CHECK_THROWS_AS(server.listen(fd.get(), false), InvalidParameter);
    CHECK(::fcntl(fd.get(), F_GETFD) >= 0);  // still ours
  }
  CHECK_THROWS_AS(server.listen(-1, false), InvalidParameter);
}
