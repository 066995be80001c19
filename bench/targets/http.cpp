// The daemon on its Unix socket, clients and all on the cores there are.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <thread>

#include "epsilog/engine/credentials.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "http_load.hpp"
#include "http_stub.hpp"
#include "ledgers.hpp"
#include "processes.hpp"
#include "targets.hpp"

namespace epsilog::bench {
namespace {

constexpr const char* kServedPolicy =
    "version: 1\n"
    "principals: {ann: {}}\n"
    "datasets:\n"
    "  clinic:\n"
    "    source: {csv: visits.csv}\n"
    "    unit: {id: patient_id, max_rows: 3}\n"
    "    rows: {max: 100000}\n"
    "    neighbours: add-remove\n"
    "    budget: {epsilon: 2000000}\n"
    "    columns: {age: {type: int, bounds: [0, 110]}}\n";

engine::Request count_request(const std::string& key) {
  engine::Request request;
  request.dataset = "clinic";
  request.question = engine::parse_question("count", std::nullopt, std::nullopt);
  request.epsilon = accounting::Rational(1, 1000);
  request.principal = "ann";
  request.key = key;
  return request;
}

/// Three ledgers of one policy, over a hundred rows: one is served, one the library writes to, and into one
/// bare rows are put.
class ServedLedgers final {
 public:
  ServedLedgers() {
    std::ofstream csv(folder.file("visits.csv"));
    csv << "patient_id,age\n";
    for (int i = 0; i < 100; ++i) csv << 'P' << i << ',' << i << '\n';
    csv.close();
    std::ofstream(folder.file("policy.yaml")) << kServedPolicy;
    served = ledger_with(folder, "served", count_request("first"));
    library = ledger_with(folder, "library", count_request("first"));
    bare = ledger_with(folder, "bare", count_request("first"));
    line = last_line(bare);
    ledger::Ledger opened = ledger::Ledger::open(served, {});
    token = engine::new_token(opened, {.principal = "ann", .by = "bench", .why = "a benchmark"}).token.text();
    std::ofstream(folder.file("serve.yaml"))
        << "ledger: " << served << "\nsocket: " << socket() << "\ncurator_socket: " << folder.file("curator")
        << "\nsources: [" << folder.file("") << "]\n"
        << "limits: {connections_per_user: 1024, in_flight: 1024, per_second: 1000000, burst: 1000000}\n";
  }

  [[nodiscard]] std::string socket() const { return folder.file("ask"); }
  [[nodiscard]] std::string stub_socket() const { return folder.file("stub"); }
  /// A keyed release over HTTP.
  [[nodiscard]] std::string post(const std::string& key) const {
    const std::string body =
        R"({"dataset":"clinic","statistic":"count","epsilon":"1/1000","key":")" + key + "\"}";
    return "POST /v1/releases HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

  Folder folder;
  std::string served, library, bare, line, token;
};

/// Waits until somebody listens there.
void await_server(const std::string& socket) {
  for (int i = 0; i < 10'000; ++i) {
    try {
      static_cast<void>(HttpClient(socket));
      return;
    } catch (const std::runtime_error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  throw std::runtime_error("no server at " + socket);
}

[[noreturn]] void become_daemon(const std::string& configuration) {
  ::execl(EPSILOG_SERVE, EPSILOG_SERVE, "--config", configuration.c_str(), nullptr);
  throw std::runtime_error(std::string("cannot run ") + EPSILOG_SERVE);
}

/// What h2load measures of a read: answers a second of 16 connections. 0 if it is not there.
double rate_of_reads(const ServedLedgers& ledgers, const std::string& target) {
  const std::string command = "h2load --h1 -n 60000 -c 16 -t 1 -B 'unix:" + ledgers.socket() +
                              "' -H 'Authorization: Bearer " + ledgers.token + "' 'http://localhost" +
                              target + "' 2>/dev/null";
  std::FILE* const output = ::popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot run h2load");
  double rate = 0;
  long good = 0;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    static_cast<void>(std::sscanf(line.data(), "finished in %*[^,], %lf req/s", &rate));
    static_cast<void>(std::sscanf(line.data(), "status codes: %ld 2xx", &good));
  }
  ::pclose(output);
  return good == 60'000 ? rate : 0;
}

std::string answered_body(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

/// How long `step` takes, in microseconds.
template <class Step>
double time_of(const Step& step) {
  const auto begin = Clock::now();
  step();
  return microseconds(Clock::now() - begin);
}

/// What the same way costs who computes nothing stands beside it: the stub's answer less its bare rows.
Row one_connection(const ServedLedgers& ledgers, std::string& body) {
  constexpr int kReleases = 3'000;
  engine::Engine engine = engine::Engine::open(ledgers.library);
  mechanisms::SystemBits bits;
  HttpClient client(ledgers.socket());
  HttpClient stub_client(ledgers.stub_socket());
  BareLedger rows(ledgers.bare, ledgers.line);
  std::vector<double> over_http;
  std::vector<double> library;
  std::vector<double> stub;
  std::vector<double> bare;
  const auto ask = [](HttpClient& asks, const std::string& request) {
    asks.send(request);
    static_cast<void>(asks.heard(true));
  };
  for (int i = 0; i < kReleases; ++i) {
    const std::string key = "one " + std::to_string(i);
    const std::string request = ledgers.post(key);
    over_http.push_back(time_of([&] { ask(client, request); }));
    library.push_back(time_of([&] { release_one(engine, count_request(key), bits); }));
    stub.push_back(time_of([&] { ask(stub_client, request); }));
    bare.push_back(time_of([&] { rows.release(1); }));
  }
  body = answered_body(client.answer());
  const double more = median(over_http) - median(library);
  return {.what = "HTTP, 1 connection, p50",
          .target = "<= library + 40 us",
          .measured = text("%.0f us", median(over_http)),
          .floor = text("%.0f us library, stub %.0f of %.0f", median(library), median(stub), median(bare)),
          .ratio = text("%+.0f us", more),
          .met = more <= 40};
}

/// Releases a second of so many threads of this process that share an engine.
double rate_of_threads(engine::Engine& engine, std::size_t threads, std::size_t count,
                       const std::function<engine::Request(std::size_t)>& request) {
  std::atomic<std::size_t> asked = 0;
  std::atomic<bool> failed = false;
  std::vector<std::thread> all;
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      mechanisms::SystemBits bits;
      try {
        for (std::size_t next = asked++; next < count; next = asked++)
          release_one(engine, request(next), bits);
      } catch (const std::exception&) {
        failed = true;
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  if (failed) throw std::runtime_error("a release failed");
  return static_cast<double>(count) * 1e6 / microseconds(Clock::now() - begin);
}

/// What the library makes of the same releases, by as many threads and without HTTP, stands beside it.
Row many_connections(const ServedLedgers& ledgers) {
  constexpr std::size_t kClients = 64, kReleases = 4'096;
  constexpr int kRounds = 5;
  engine::Engine engine = engine::Engine::open(ledgers.library);
  std::vector<double> served;
  std::vector<double> stub;
  std::vector<double> library;
  for (int round = 0; round < kRounds; ++round) {
    const auto key = [&](std::size_t i) { return std::to_string(round) + "." + std::to_string(i); };
    const auto post = [&](std::size_t i) { return ledgers.post(key(i)); };
    served.push_back(rate_of_clients(ledgers.socket(), kClients, kReleases, post));
    stub.push_back(rate_of_clients(ledgers.stub_socket(), kClients, kReleases, post));
    library.push_back(
        rate_of_threads(engine, kClients, kReleases, [&](std::size_t i) { return count_request(key(i)); }));
  }
  const double ratio = median(served) / median(stub);
  return {.what = "HTTP, 64 connections",
          .target = ">= 0.4x of stub",
          .measured = text("%.0f/s", median(served)),
          .floor = text("%.0f/s stub, %.0f/s library", median(stub), median(library)),
          .ratio = text("%.2f", ratio),
          .met = ratio >= 0.4};
}

Row reads(const ServedLedgers& ledgers, const std::string& name, const std::string& target) {
  constexpr double kLeast = 15'000;
  const double rate = rate_of_reads(ledgers, target);
  const double stub = rate_of_clients(ledgers.stub_socket(), 16, 60'000, [](std::size_t) {
    return std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  });
  return {.what = "HTTP, GET " + name,
          .target = ">= 15000/s",
          .measured = text("%.0f/s", rate),
          .floor = text("%.0f/s stub, own clients", stub),
          .ratio = text("%.2f", rate / kLeast),
          .met = rate >= kLeast};
}

}  // namespace

std::vector<Row> rows_of_http() {
  const ServedLedgers ledgers;
  const ProcessBeside daemon([&] { become_daemon(ledgers.folder.file("serve.yaml")); });
  await_server(ledgers.socket());
  const std::string body(1'000, 'x');
  const ProcessBeside stub([&] { serve_stub(ledgers.stub_socket(), {ledgers.bare, ledgers.line, body}); });
  await_server(ledgers.stub_socket());
  std::string answered;
  std::vector<Row> rows = {one_connection(ledgers, answered), many_connections(ledgers)};
  constexpr std::string_view kId = "\"decision_id\":\"";
  const std::size_t at = answered.find(kId) + kId.size();
  const std::string id = answered.substr(at, answered.find('"', at) - at);
  rows.push_back(reads(ledgers, "/v1/me", "/v1/me"));
  rows.push_back(reads(ledgers, "/v1/budgets", "/v1/budgets"));
  rows.push_back(reads(ledgers, "/v1/decisions/{id}", "/v1/decisions/" + id));
  return rows;
}

}  // namespace epsilog::bench
