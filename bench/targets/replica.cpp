// What a replica adds to a release, what it costs to make a ledger of one, and what the verifier takes to
// read it.
#include <filesystem>

#include "ledgers.hpp"
#include "processes.hpp"
#include "replica_file.hpp"
#include "targets.hpp"

namespace epsilog::bench {
namespace {

Clock::time_point write_begun;
double written_in = 0;  // microseconds of the last write and sync of a replica

/// While one lives, the calls that write to replicas are timed.
class TimedReplica final {
 public:
  TimedReplica() : before_(ledger::replica_calls()) {
    real() = before_;
    ledger::replica_calls().write = [](int file, const void* bytes, std::size_t count, off_t at) {
      write_begun = Clock::now();
      return real().write(file, bytes, count, at);
    };
    ledger::replica_calls().sync = [](int file) {
      const int outcome = real().sync(file);
      written_in = microseconds(Clock::now() - write_begun);
      return outcome;
    };
  }
  TimedReplica(const TimedReplica&) = delete;
  TimedReplica& operator=(const TimedReplica&) = delete;
  ~TimedReplica() { ledger::replica_calls() = before_; }

 private:
  static ledger::ReplicaCalls& real() {
    static ledger::ReplicaCalls calls{};
    return calls;
  }
  ledger::ReplicaCalls before_;
};

/// What anybody has to do who writes every line a second time.
class Appended final {
 public:
  explicit Appended(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  Appended(const Appended&) = delete;
  Appended& operator=(const Appended&) = delete;
  ~Appended() { ::close(file_); }

  double append(std::size_t count) {
    bytes_.resize(count, 'x');
    const auto begin = Clock::now();
    if (::write(file_, bytes_.data(), count) != static_cast<ssize_t>(count) || ::fdatasync(file_) != 0) {
      throw std::runtime_error("cannot append");
    }
    return microseconds(Clock::now() - begin);
  }

 private:
  int file_;
  std::string bytes_;
};

std::string replicated_policy(const std::string& replica) {
  return std::string(kFilledPolicy) + "replica: {file: " + replica + "}\n";
}

Row held_to(const std::string& what, double target, double measured, double floor) {
  return {.what = what,
          .target = text("<= %.1fx", target),
          .measured = text("%.1f us", measured),
          .floor = text("%.1f us append, sync", floor),
          .ratio = text("%.2f", measured / floor),
          .met = measured <= target * floor};
}

}  // namespace

std::vector<Row> rows_of_replica() {
  constexpr std::int64_t kReleases = 4'000;
  const Ledgers ledgers;
  const Folder& folder = ledgers.folder;
  const std::string replica = folder.file("replica");
  std::ofstream(folder.file("replicated.yaml")) << replicated_policy(replica);
  engine::Engine::init(folder.file("replicated.yaml"), folder.file("replicated"), "bench");
  engine::Engine alone = engine::Engine::open(ledgers.path);
  engine::Engine replicated = engine::Engine::open(folder.file("replicated"));
  Appended appended(folder.file("appended"));
  const TimedReplica timed;
  mechanisms::BufferedBits bits;
  std::vector<double> without, with, own, bare;
  const auto time_of = [&bits](engine::Engine& engine, const engine::Request& request) {
    const auto begin = Clock::now();
    release_one(engine, request, bits);
    return microseconds(Clock::now() - begin);
  };
  for (std::int64_t i = 0; i < kReleases; ++i) {
    const auto size = std::filesystem::file_size(replica);
    without.push_back(time_of(alone, keyed_release(i)));
    with.push_back(time_of(replicated, keyed_release(i)));
    own.push_back(written_in);
    bare.push_back(appended.append(std::filesystem::file_size(replica) - size));
  }
  return {held_to("replica, its write and sync, p50", 1.3, median(own), median(bare)),
          held_to("replica, a release is longer by, p50", 1.3, median(with) - median(without), median(bare)),
          held_to("replica, its write and sync, p99", 1.3, quantile(own, 0.99), quantile(bare, 0.99))};
}

namespace {

Row seconds_row(const std::string& what, double most, double measured, const std::string& floor,
                double ratio) {
  return {.what = what,
          .target = text("<= %.1f s", most),
          .measured = text("%.1f s", measured),
          .floor = floor,
          .ratio = text("%.2f", ratio),
          .met = measured <= most};
}

}  // namespace

std::vector<Row> rows_of_history(std::int64_t decisions) {
  const Folder folder;
  const std::string ledger = folder.file("ledger");
  const std::string replica = folder.file("replica");
  in_own_process([&] {
    fill_ledger(ledger, decisions);
    std::ofstream(folder.file("replicated.yaml")) << replicated_policy(replica);
    engine::Engine::open(ledger).apply_policy(folder.file("replicated.yaml"), "bench", "");
  });
  const std::string of = " of " + std::to_string(decisions);
  const double scale = 1e-6 * static_cast<double>(decisions);
  std::vector<Row> rows;
  const auto verifier = [&](const char* jobs) {
    return usage_of_program(
        {"python3", EPSILOG_VERIFIER, replica, "--quiet", "--jobs", jobs, "--accept-unchecked", "implies"});
  };
  const Usage two = verifier("2");
  rows.push_back(seconds_row("verifier" + of + ", two processes", 60 * scale, two.elapsed, "",
                             two.elapsed / (60 * scale)));
  const OneCore pinned;
  const Usage one = verifier("1");
  rows.push_back(seconds_row("verifier" + of + ", one process", 110 * scale, one.seconds, "",
                             one.seconds / (110 * scale)));
  const Usage verified = usage_of({"audit", "verify", "--ledger", ledger});
  for (const char* suffix : {"", "-wal", "-shm", ".lock", ".queue"}) std::filesystem::remove(ledger + suffix);
  const Usage rebuilt = usage_of({"recover", "--from", replica, "--why", "bench", "--ledger", ledger});
  const std::string floor = text("%.1f s audit verify", verified.seconds);
  rows.push_back(seconds_row("recover --from" + of + ", one core", 4 * verified.seconds, rebuilt.seconds,
                             floor, rebuilt.seconds / verified.seconds));
  rows.push_back({.what = "recover --from" + of + ", one core",
                  .target = "<= 128 MiB",
                  .measured = text("%.0f MiB", rebuilt.mebibytes),
                  .floor = text("%.0f MiB audit verify", verified.mebibytes),
                  .ratio = text("%.2f", rebuilt.mebibytes / verified.mebibytes),
                  .met = rebuilt.mebibytes <= 128});
  return rows;
}

}  // namespace epsilog::bench
