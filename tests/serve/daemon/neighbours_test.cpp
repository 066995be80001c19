// Whatever happens to a request on its way, at whichever step: over neighbouring data it ends alike, and
// costs the same. What the data are, and what is posted of them, shows in the values of answers alone.
#include <signal.h>

#include <charconv>

#include "daemon_process.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/credentials.hpp"
#include "epsilog/engine/engine.hpp"
#include "epsilog/engine/request_state.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "served_clinic.hpp"

using namespace epsilog;
using namespace epsilog::test;

namespace {

/// One data set, and what is posted of it.
struct Data {
  std::string name;
  std::string rows;
  std::string value;
};

const std::vector<Data>& neighbours() {
  static const std::vector<Data> all = {
      {"as it is", kServedRows, R"({"value": "4"})"},
      {"one person more", kServedRows + std::string("p6,55,3.00,B\np6,56,4.00,A\n"), R"({"value": 9.25})"},
      {"a person whose cells are none", kServedRows + std::string("p6,old,NaN,\"\n"), R"({"value": NaN})"},
      {"nobody", "patient_id,age,cost,ward\n", "no JSON at all"}};
  return all;
}

/// How far a request has come.
enum class Step { connected, half_the_head, head, half_the_body, whole };
constexpr Step kSteps[] = {Step::connected, Step::half_the_head, Step::head, Step::half_the_body,
                           Step::whole};

/// What spends, each once: a release, the commit of a reservation that reads data, and that of a value.
struct Verb {
  std::string name;
  std::string head;
  std::string body;

  [[nodiscard]] std::string sent(Step step) const {
    switch (step) {
      case Step::connected:
        return "";
      case Step::half_the_head:
        return head.substr(0, head.size() / 2);
      case Step::head:
        return head;
      case Step::half_the_body:
        return head + body.substr(0, body.size() / 2);
      case Step::whole:
        break;
    }
    return head + body;
  }
  [[nodiscard]] std::string rest(Step step) const { return (head + body).substr(sent(step).size()); }
};

class Served {
 public:
  Served(const Data& data, const std::string& configuration) {
    daemon.folder.write("visits.csv", data.rows);
    {
      ledger::Ledger opened = ledger::Ledger::open(daemon.ledger(), {});
      sam_ = engine::new_token(opened, {.principal = "sam", .by = "carol", .why = "a test"}).token.text();
    }
    value_ = data.value;
    daemon.configure("answers: {after: 300ms, every: 100ms}\n" + configuration);
  }

  /// The three of them, under a key of their own each.
  /// Requires  the daemon does not run yet, or it may see another write.
  std::vector<Verb> verbs() {
    const std::string number = std::to_string(++asked_);
    engine::Engine engine = engine::Engine::open(daemon.ledger());
    const auto reserved = [&](const std::string& statistic) {
      engine::Request request;
      request.dataset = "clinic";
      request.question = engine::parse_question(statistic, std::nullopt, std::nullopt);
      request.epsilon = accounting::parse_rational("1/10", "epsilon");
      request.principal = "alice";
      request.key = statistic + number;
      request.reservation = engine::ReservationKind::reserved;
      return engine.reserve(request, {}).recorded.decision_id;
    };
    const std::string commit_rows = "/v1/requests/" + reserved("sum:cost") + "/commit";
    const std::string commit_value = "/v1/requests/" + reserved("value:score") + "/commit";
    const std::string release =
        R"({"dataset":"clinic","statistic":"count","epsilon":"0.1","key":"r)" + number + "\"}";
    return {verb("release", "/v1/releases", daemon.token, release),
            verb("commit", commit_rows, daemon.token, "{}"), verb("value", commit_value, sam_, value_)};
  }

  /// What a gauge of the daemon shows.
  std::size_t gauge(const std::string& name) {
    Connection connection(daemon.curator_socket());
    const auto heard = connection.ask("GET", "/metrics");
    const std::size_t at = heard ? heard->text.find("\n" + name + " ") : std::string::npos;
    std::size_t value = 0;
    if (at == std::string::npos) return value;
    const char* from = heard->text.data() + at + name.size() + 2;
    std::from_chars(from, heard->text.data() + heard->text.size(), value);
    return value;
  }
  void await(const std::string& name, std::size_t least) {
    // What does not come is found missing by what is compared then.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (gauge(name) < least && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// Whether it answers who comes now.
  bool takes_new() {
    Connection connection(daemon.ask_socket());
    const auto heard = connection.ask("GET", "/healthz");
    return heard && heard->status == 200;
  }

  /// Everything that is on record, but values, ids and times: of each key what became of it, in order; and
  /// what each account holds.
  std::string record() {
    std::map<std::string, std::string> keys, lines;
    engine::Engine engine = engine::Engine::open(daemon.ledger());
    engine.history("", 0, [&](const engine::Answer& answer) {
      const std::string& parent = answer.recorded.parent;
      const std::string key = parent.empty() ? answer.asked.key : keys[parent];
      keys[answer.recorded.decision_id] = key;
      lines[key] += " " + std::string(engine::name(answer.recorded.state));
      const bool read = answer.recorded.granted && !answer.asked.statistic.starts_with("value:");
      if (read && ledger::parse_time(answer.recorded.created_at) % 100 != 0) lines[key] += " at no tick";
    });
    std::string text;
    for (const auto& [key, line] : lines) text += key + ":" + line + "\n";
    for (const auto& account : engine.budget("")) {
      text += account.scope + " " + account.measure + ": " + std::to_string(account.balance.spent) + " " +
              std::to_string(account.balance.reserved) + "\n";
    }
    if (!engine::audit_verify(daemon.ledger()).ok) text += "the ledger does not verify\n";
    return text;
  }

  DaemonProcess daemon;

 private:
  static Verb verb(const std::string& name, const std::string& target, const std::string& token,
                   const std::string& body) {
    return {name,
            "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
                "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n",
            body};
  }

  std::string sam_;
  std::string value_;
  int asked_ = 0;
};

std::string status(const std::optional<Heard>& heard) {
  return heard ? std::to_string(heard->status) : "nothing";
}

/// What `run` says of every data set, at once; the first, once all the others were found to be the same.
template <class Run>
std::string alike(const Run& run) {
  std::vector<std::string> ends(neighbours().size());
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Served>> served;
  for (std::size_t i = 0; i < ends.size(); ++i) served.push_back(run.prepared(neighbours()[i]));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    threads.emplace_back([&, i] { ends[i] = run.ends(*served[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    CHECK(served[i]->daemon.ended() == 0);
    ends[i] += served[i]->record();
    CAPTURE(neighbours()[i].name);
    CHECK(ends[i] == ends[0]);
  }
  return ends[0];
}

/// Whether one of its lines is this.
bool says(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

struct Run {
  std::string configuration = {};
  std::function<std::string(Served&, const std::vector<std::vector<Verb>>&)> meets;

  [[nodiscard]] std::unique_ptr<Served> prepared(const Data& data) const {
    auto served = std::make_unique<Served>(data, configuration);
    for (std::size_t i = 0; i < rounds; ++i) verbs[served.get()].push_back(served->verbs());
    served->daemon.start();
    return served;
  }
  [[nodiscard]] std::string ends(Served& served) const { return meets(served, verbs.at(&served)); }

  std::size_t rounds = 1;
  mutable std::map<const Served*, std::vector<std::vector<Verb>>> verbs = {};
};

}  // namespace

TEST_CASE("who goes away at any step leaves the same behind, whatever the data", "[daemon][neighbours]") {
  const std::string end =
      alike(Run{.meets =
                    [](Served& served, const auto& rounds) {
                      for (std::size_t i = 0; i < std::size(kSteps); ++i) {
                        for (const Verb& verb : rounds[i]) {
                          Connection(served.daemon.ask_socket()).send(verb.sent(kSteps[i]));
                        }
                      }
                      // What has begun is finished, though nobody waits for it.
                      served.await("epsilog_decisions_total", 10 + 2 + 2 + 1);
                      served.daemon.signal(SIGTERM);
                      return std::string();
                    },
                .rounds = std::size(kSteps)});
  CAPTURE(end);
  for (const char* step : {"1", "2", "3"}) {
    CHECK(end.find("r" + std::string(step) + ":") == std::string::npos);
    CHECK(says(end, "sum:cost" + std::string(step) + ": reserved"));
    CHECK(says(end, "value:score" + std::string(step) + ": reserved"));
  }
  // From its first byte on a value is posted, and half of one is a value too.
  CHECK(end.find("r4:") == std::string::npos);
  CHECK(says(end, "sum:cost4: reserved"));
  CHECK(says(end, "value:score4: reserved granted"));
  CHECK(says(end, "r5: granted"));
  CHECK(says(end, "sum:cost5: reserved data_accessed granted"));
  CHECK(says(end, "value:score5: reserved granted"));
}

TEST_CASE("told to end at any step it answers and records the same, whatever the data",
          "[daemon][neighbours]") {
  for (const Step step :
       {Step::connected, Step::half_the_head, Step::head, Step::half_the_body, Step::whole}) {
    CAPTURE(static_cast<int>(step));
    const std::string end = alike(Run{.meets = [step](Served& served, const auto& rounds) {
      std::vector<std::unique_ptr<Connection>> connections;
      std::string told;
      for (const Verb& verb : rounds[0]) {
        connections.push_back(std::make_unique<Connection>(served.daemon.ask_socket()));
        connections.back()->send(verb.sent(step));
      }
      // All three have begun; the room of so small ones is that of the whole of them.
      std::size_t begun = 0;
      for (const Verb& verb : rounds[0]) begun += verb.body.size();
      if (step == Step::half_the_body) served.await("epsilog_http_body_bytes", begun);
      if (step == Step::whole) {
        told += "value: " + status(connections[2]->hear()) + "\n";
        served.await("epsilog_http_requests_in_flight", 2);  // they read, or wait for their tick
      }
      served.daemon.signal(SIGTERM);
      while (served.takes_new()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (step < Step::half_the_body) return told;  // they may be told 503, or nothing any more
      for (std::size_t i = 0; i < (step == Step::whole ? 2U : 3U); ++i) {
        connections[i]->send(rounds[0][i].rest(step));
        told += rounds[0][i].name + ": " + status(connections[i]->hear()) + "\n";
      }
      return told;
    }});
    CAPTURE(end);
    // A body that is whole too late is of a request that does not begin; a value has begun with its first
    // byte.
    const bool decided = step == Step::whole;
    const bool posted = step >= Step::half_the_body;
    CHECK(says(end, "r1: granted") == decided);
    CHECK(says(end, decided ? "sum:cost1: reserved data_accessed granted" : "sum:cost1: reserved"));
    CHECK(says(end, posted ? "value:score1: reserved granted" : "value:score1: reserved"));
    CHECK(says(end, "release: 201") == decided);
    CHECK(says(end, "commit: 201") == decided);
    CHECK(says(end, "value: 201") == posted);
  }
}

TEST_CASE("who falls silent at any step is told the same when the time is over, whatever the data",
          "[daemon][neighbours]") {
  const std::string end =
      alike(Run{.meets =
                    [](Served& served, const auto& rounds) {
                      std::vector<std::unique_ptr<Connection>> connections;
                      for (std::size_t i = 1; i < std::size(kSteps); ++i) {
                        for (const Verb& verb : rounds[i]) {
                          connections.push_back(std::make_unique<Connection>(served.daemon.ask_socket()));
                          connections.back()->send(verb.sent(kSteps[i]));
                        }
                      }
                      std::string told;
                      for (std::size_t i = 0; i < connections.size(); ++i) {
                        const std::vector<Verb>& verbs = rounds[1 + i / 3];
                        told += verbs[i % 3].name + std::to_string(1 + i / 3) + ": " +
                                status(connections[i]->hear()) + "\n";
                      }
                      served.daemon.signal(SIGTERM);
                      return told;
                    },
                .rounds = std::size(kSteps)});
  CAPTURE(end);
  for (const char* told :
       {"release1: 408", "commit1: 408", "value1: 408", "release2: 408", "commit2: 408", "value2: 408",
        "release3: 408", "commit3: 408", "value3: 201", "release4: 201", "commit4: 201", "value4: 201"}) {
    CAPTURE(told);
    CHECK(says(end, told));
  }
  CHECK(end.find("r4:") == std::string::npos);
  CHECK(says(end, "value:score4: reserved granted"));
}

TEST_CASE("who finds every place taken is told so before anything is read, whatever the data",
          "[daemon][neighbours]") {
  const std::string end =
      alike(Run{.configuration = "limits: {running: 1, waiting: 1}\n",
                .meets =
                    [](Served& served, const auto& rounds) {
                      Connection runs(served.daemon.ask_socket());
                      runs.send(rounds[0][0].sent(Step::whole));
                      served.await("epsilog_http_requests_in_flight", 1);
                      Connection waits(served.daemon.ask_socket());
                      waits.send(rounds[1][0].sent(Step::whole));
                      std::string told;
                      const auto ask = [&](const Verb& verb) {
                        Connection connection(served.daemon.ask_socket());
                        connection.send(verb.sent(Step::whole));
                        return status(connection.hear());
                      };
                      served.await("epsilog_http_requests_queued", 1);
                      for (const Verb& verb : rounds[2]) told += verb.name + ": " + ask(verb) + "\n";
                      told += "runs: " + status(runs.hear()) + "\nwaits: " + status(waits.hear()) + "\n";
                      served.daemon.signal(SIGTERM);
                      return told;
                    },
                .rounds = 3});
  CAPTURE(end);
  for (const char* told : {"release: 503", "commit: 503", "value: 503", "runs: 201", "waits: 201"}) {
    CAPTURE(told);
    CHECK(says(end, told));
  }
  CHECK(says(end, "sum:cost3: reserved"));
  CHECK(says(end, "value:score3: reserved"));
}
