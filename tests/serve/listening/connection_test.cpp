// Connections: requests and answers by real sockets, and what slow, odd and hostile clients come to.
#include "connection.hpp"

#include <sys/socket.h>

#include "served.hpp"
#include "support/case_table.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace std::chrono_literals;

TEST_CASE("a connection: it answers one request after the other, until one is the last",
          "[serve][connection]") {
  Served served;
  Client client = served.connect();
  CHECK(client.ask(post("/echo", "first")).body == "POST /echo first");
  const Answer second = client.ask(get("/echo"));
  CHECK(second.body == "GET /echo ");
  CHECK(second.headers.count("Connection") == 0);
  const Answer last = client.ask(get("/echo", "Connection: close\r\n"));
  CHECK(last.headers.at("Connection") == "close");
  CHECK(client.rest().empty());

  Client other = served.connect();
  CHECK(other.ask(get("/last")).headers.at("Connection") == "close");
  CHECK(other.rest().empty());
}

TEST_CASE("a connection: requests that are sent at once are answered in order", "[serve][connection]") {
  Served served;
  Client client = served.connect();
  std::string all;
  for (int i = 0; i < 200; ++i) all += post("/echo", std::to_string(i) + "\r\n\r\n") + get("/begun");
  client.send(all);
  for (int i = 0; i < 200; ++i) {
    CHECK(client.read().body == "POST /echo " + std::to_string(i) + "\r\n\r\n");
    CHECK(client.read().body == "empty");
  }
}

TEST_CASE("a connection: after an answer to HEAD the next one begins where it should",
          "[serve][connection]") {
  Served served;
  Client client = served.connect();
  const Answer head = client.ask("HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD");
  CHECK(head.status == 200);
  CHECK(head.headers.at("Content-Length") == "11");
  CHECK(client.ask(get("/echo")).body == "GET /echo ");
}

TEST_CASE("a connection: a body that another reader would find reaches nobody", "[serve][connection]") {
  const std::string hidden = get("/echo?hidden=1");
  serve::ConnectionLimits limits = test::patient();
  limits.linger = 1ms;
  Served served(limits);
  for (const CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/listening/hiding_bodies.tsv")) {
    INFO(row.at(0));
    Client client = served.connect();
    const Answer answer = client.ask(row.at(0) + hidden);
    CHECK(answer.status >= 400);
    CHECK(answer.headers.at("Connection") == "close");
    CHECK(client.rest().empty());
  }
  CHECK(served.service.finished().empty());
}

TEST_CASE("a connection: a refusal says why, and nothing that was sent", "[serve][connection]") {
  Served served;
  Client client = served.connect();
  const Answer answer = client.ask("GET /zqjx/../ HTTP/1.1\r\n");
  CHECK(answer.status == 400);
  CHECK(answer.body.starts_with("malformed_request: "));
  CHECK(answer.body.find("zqjx") == std::string::npos);
}

TEST_CASE("a connection: a refusal arrives although its client sends on", "[serve][connection]") {
  Served served;
  Client client = served.connect();
  bool sent = false;
  std::thread sender([&] { sent = client.send("GET /echo HTTP/1.0\r\n\r\n" + std::string(4'000'000, 'x')); });
  CHECK(client.read().status == 505);
  sender.join();
  CHECK(sent);
  client.end_sending();
  CHECK(client.rest().empty());
}

TEST_CASE("a connection: a head that trickles is refused when its time is over", "[serve][connection]") {
  serve::ConnectionLimits limits = test::patient();
  limits.head = 40ms;
  limits.linger = 1ms;
  Served served(limits);
  Client client = served.connect();
  const std::string request = get("/echo", "X-Long: " + std::string(10'000, 'x') + "\r\n");
  for (std::size_t at = 0; at < request.size() && client.send(request.substr(at, 1)); ++at) {
    std::this_thread::sleep_for(2ms);
  }
  const Answer answer = client.read();
  CHECK(answer.status == 408);
  CHECK(answer.body.starts_with("head_too_slow: "));
  CHECK(client.rest().empty());
  CHECK(served.service.finished().empty());
}

TEST_CASE("a connection: one on which nothing is asked ends without a word", "[serve][connection]") {
  serve::ConnectionLimits limits = test::patient();
  limits.idle = 20ms;
  Served served(limits);
  Client silent = served.connect();
  CHECK(silent.rest().empty());
  for (int tries = 0; tries < 100; ++tries) {  // until this thread is quick enough
    Client once = served.connect();
    if (once.ask(get("/echo")).status == 0) continue;
    CHECK(once.rest().empty());
    return;
  }
  FAIL("no request is quick enough");
}

TEST_CASE("a connection: who sends no more is still answered", "[serve][connection]") {
  Served served;
  Client whole = served.connect();
  whole.send(get("/echo") + post("/echo", "b"));
  whole.end_sending();
  CHECK(whole.read().body == "GET /echo ");
  CHECK(whole.read().body == "POST /echo b");
  CHECK(whole.rest().empty());

  Client half = served.connect();
  half.send("GET /echo HTTP/1.1\r\nHost");
  half.end_sending();
  const Answer answer = half.read();
  CHECK(answer.status == 400);
  CHECK(answer.body.starts_with("head_broken_off: "));
  CHECK(half.rest().empty());

  Client nothing = served.connect();
  nothing.end_sending();
  CHECK(nothing.rest().empty());
}

namespace {
const std::string kTenBytesToCome = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n";
}  // namespace

TEST_CASE("a body: one that is late or trickles is given up", "[serve][connection]") {
  serve::ConnectionLimits limits = test::patient();
  limits.body = 30ms;
  limits.linger = 1ms;
  Served served(limits);
  Client late = served.connect();
  CHECK(late.ask(kTenBytesToCome).body == "too_slow");
  CHECK(served.service.finished().back() == "POST /echo too_slow");
  late.close();
  Client trickles = served.connect();
  trickles.send(kTenBytesToCome + "x");
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(5ms);
    trickles.send("x");
  }
  CHECK(trickles.read().body == "too_slow");
  trickles.close();
  Client floods = served.connect();  // something is always there
  floods.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999999\r\n\r\n");
  const std::string much(65536, 'x');
  std::thread sender([&] {
    while (floods.send(much)) {
    }
  });
  CHECK(floods.read().body == "too_slow");
  sender.join();
}

TEST_CASE("a body: one that breaks off says whether it had begun", "[serve][connection]") {
  Served served;
  Client ends = served.connect();
  ends.send(kTenBytesToCome + "nine byte");
  ends.end_sending();
  CHECK(ends.read().body == "broken_off");
  CHECK(ends.rest().empty());
  Client empty = served.connect();
  empty.send(kTenBytesToCome);
  empty.end_sending();
  CHECK(empty.read().body == "broken_off");
  Client gone = served.connect();
  gone.send(kTenBytesToCome + "x");
  gone.close();
  REQUIRE(served.service.wait_until_finished(3));
  const std::vector<std::string> wanted = {"POST /echo begun broken_off", "POST /echo broken_off",
                                           "POST /echo begun broken_off"};
  CHECK(served.service.finished() == wanted);
}

TEST_CASE("a body: it is asked for when it is read, and only if its sender waits", "[serve][connection]") {
  Served served;
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
  Client waits = served.connect();
  CHECK(waits.ask(head).status == 100);
  CHECK(waits.ask("hello").body == "POST /echo hello");
  CHECK(waits.ask(get("/begun", "Expect: 100-continue\r\n")).body == "empty");  // no body, nothing to ask for

  Client unread = served.connect();
  CHECK(unread.ask("POST /ignore" + head.substr(10)).status == 200);
  unread.close();

  Client some = served.connect();  // who has begun is not asked any more
  some.send(head + "he");
  REQUIRE(served.service.wait_until_begun(4));
  CHECK(some.ask("llo").body == "POST /echo hello");

  Client asked_once = served.connect();
  asked_once.send("POST /begun" + head.substr(10));
  CHECK(asked_once.read().status == 100);
  asked_once.send("h");
  CHECK(asked_once.read().body == "begun");
  asked_once.close();
}

TEST_CASE("a body: one that is not read ends the connection, after an answer that arrives",
          "[serve][connection]") {
  Served served;
  for (const char* const path : {"/ignore", "/begun"}) {
    Client client = served.connect();
    bool sent = false;  // also what nobody reads
    std::thread sender([&] { sent = client.send(post(path, std::string(4'000'000, 'x'))); });
    const Answer answer = client.read();
    CHECK(answer.status == 200);
    CHECK(answer.headers.at("Connection") == "close");
    sender.join();
    CHECK(sent);
    client.end_sending();
    CHECK(client.rest().empty());
  }
  Client none = served.connect();
  CHECK(none.ask(get("/ignore", "Content-Length: 0\r\n")).headers.count("Connection") == 0);
  CHECK(none.ask(get("/echo")).status == 200);
}

TEST_CASE("an answer: whoever does not read it loses the connection, nobody else waits",
          "[serve][connection]") {
  serve::ConnectionLimits limits = test::patient();
  limits.write = 30ms;
  limits.connections = 1;
  Served served(limits);
  Client slow = served.connect();
  slow.send(get("/large"));
  // Its place is free when it is given up.
  for (int tries = 0; tries < 1000; ++tries) {
    Client next = served.connect();
    if (next.ask(get("/echo")).status == 200) break;
    std::this_thread::sleep_for(5ms);
  }
  REQUIRE(served.service.wait_until_finished(2));
  CHECK(served.service.finished()[0] == "GET /large");
  CHECK(served.service.finished()[1] == "GET /echo");
  CHECK_THROWS(slow.read());  // breaks off
}

TEST_CASE("an answer: a large one comes whole, and the next after it", "[serve][connection]") {
  Served served;
  Client client = served.connect();
  client.send(get("/large") + get("/echo"));
  CHECK(client.read().body == std::string(std::size_t{16} << 20U, 'x'));
  CHECK(client.read().body == "GET /echo ");
}

TEST_CASE("an answer: one that would split is a fault of the server, and so is one that is thrown",
          "[serve][connection]") {
  serve::ConnectionLimits limits = test::patient();
  limits.linger = 1ms;
  Served served(limits);
  Client client = served.connect();
  const Answer answer = client.ask(get("/split"));
  CHECK(answer.status == 500);
  CHECK(answer.headers.count("x-b") == 0);
  CHECK(client.rest().empty());
  Client thrown = served.connect();
  CHECK(thrown.ask(get("/throw")).status == 0);
  CHECK(served.connect().ask(get("/echo")).status == 200);
}

TEST_CASE("a request: one that is there when the server stops is refused", "[serve][connection]") {
  for (const bool stops : {false, true}) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const serve::Descriptor ours(ends[0]);
    Client client{serve::Descriptor(ends[1])};
    client.send(get("/echo"));
    client.end_sending();
    test::StubService service;
    const serve::CurrentLimits limits(test::patient());
    serve::Bell stopping;
    const serve::Bell abandoned;
    const serve::ConnectionContext shared{service, limits, stopping, abandoned};
    if (stops) stopping.ring();
    serve::Connection(ours.get(), {}, shared).serve();
    const Answer answer = client.read();
    CHECK(answer.status == (stops ? 503 : 200));
    CHECK(service.finished().size() == (stops ? 0U : 1U));
  }
}

TEST_CASE("a request: it is finished although its sender has gone", "[serve][connection]") {
  Served served;
  Client client = served.connect();
  client.send(post("/hold", "value"));
  REQUIRE(served.service.wait_until_begun(1));
  client.close();
  served.service.release();
  REQUIRE(served.service.wait_until_finished(1));
  CHECK(served.service.finished().front() == "POST /hold");
  CHECK(served.connect().ask(get("/echo")).status == 200);  // no SIGPIPE
}

TEST_CASE("an answer: one that is held back is sent when the server stops, and ends when its client is gone",
          "[serve][connection]") {
  serve::ConnectionLimits limits = test::patient();
  limits.connections = 2;
  Served served(limits);
  Client waits = served.connect(), gone = served.connect();
  waits.send(get("/later", "Connection: close\r\n"));
  gone.send(get("/later"));
  REQUIRE(served.service.wait_until_finished(2));
  gone.close();
  std::optional<Client> other;
  int status = 0;
  for (int tries = 0; tries < 1000 && status != 200; ++tries) {  // until its place is free
    other.emplace(served.connect());
    status = other->ask(get("/echo")).status;
    if (status != 200) std::this_thread::sleep_for(2ms);
  }
  CHECK(status == 200);
  CHECK(served.connect().read().status == 503);  // the one that waits has its place still
  served.stop();
  CHECK(waits.read().body == "GET /later ");
}
