#include "daemon.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "api.hpp"
#include "bound_socket.hpp"
#include "configuration.hpp"
#include "epsilog/engine/audit.hpp"
#include "epsilog/engine/engine.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "printable.hpp"
#include "problem.hpp"
#include "server.hpp"
#include "service_manager.hpp"
#include "startup.hpp"

namespace epsilog::serve {
namespace {

using command::ExitCode;

/// How long what is under way may take once the daemon was told to end.
constexpr std::chrono::seconds kDrain{30};
/// How long a verification may take to notice that.
constexpr std::chrono::milliseconds kAuditEnd{200};
/// How long all callers are told of one look whether a release would be recorded.
constexpr std::chrono::seconds kReadinessCounts{1};
constexpr mode_t kAskersMode = 0660;
constexpr mode_t kCuratorMode = 0600;

void say(const std::string& text) {
  // One write, so that lines of several threads do not mix.
  std::cerr << "epsilog-serve: " + command::printable(text) + "\n" << std::flush;
}

void warn(const std::string& text) {
  say("warning: " + text);
}

ExitCode exit_code_of(const std::exception& error, const command::Failure& failure) {
  if (const auto* socket = dynamic_cast<const SocketError*>(&error)) {
    return socket->may_pass() ? ExitCode::try_again : ExitCode::invalid;
  }
  // The arguments were read by now: what is wrong is in the configuration or where it leads.
  return failure.exit == ExitCode::usage ? ExitCode::invalid : failure.exit;
}

/// Says why nothing is served, with paths of `known` and no other; all of them without it.
/// Returns the exit code.
int report_failure(const std::exception& error, const std::vector<std::string>* known = nullptr) {
  const command::Failure failure = command::describe(error);
  const bool of_socket = dynamic_cast<const SocketError*>(&error) != nullptr;
  const auto shown = [&](const std::string& text) {
    return known == nullptr ? text : without_paths(text, *known);
  };
  if (failure.faults.empty()) say(shown(of_socket ? error.what() : failure.message));
  for (PolicyFault fault : failure.faults) {
    fault.message = shown(fault.message);
    std::cerr << command::printable(fault.text()) << "\n";
  }
  return static_cast<int>(exit_code_of(error, failure));
}

/// What this process has in its memory stays there: true values pass through it.
void protect_memory() {
  const rlimit none{0, 0};
  static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
  static_cast<void>(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
  static_cast<void>(::umask(0077));
}

/// Each connection is a descriptor, and so is each file of the ledger: as many as this user may have.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

engine::Folders folders_of(const Configuration& configuration) {
  return {configuration.folders.sources, configuration.folders.replicas, configuration.folders.checkpoints};
}

engine::EngineOptions engine_options(const Configuration& configuration) {
  engine::EngineOptions options;
  options.wait_ms = 10'000;
  options.folders = folders_of(configuration);
  if (configuration.answers) options.answers = {configuration.answers->after, configuration.answers->every};
  options.conceals_datasets = true;
  options.warn = [](const std::string& text) { say("warning: " + without_paths(text)); };
  options.unreadable = [](const engine::UnreadableDecision& one) {
    say("warning: decision " + (one.decision_id.empty() ? "of an id that cannot be read" : one.decision_id) +
        " cannot be read; `epsilog audit verify` says why");
  };
  return options;
}

void warn_of(const std::vector<MissingSource>& missing) {
  for (const MissingSource& one : missing) say("warning: dataset '" + one.dataset + "': " + one.why);
}

/// Throws  as check_ledger_writable() and Engine::open().
engine::Engine open_engine(const Configuration& configuration) {
  check_ledger_writable(configuration.ledger);
  return engine::Engine::open(configuration.ledger, engine_options(configuration));
}

AdmissionLimits admission_limits(const WorkLimits& limits, const ConnectionLimits& connections) {
  AdmissionLimits result;
  result.running = limits.running;
  result.curator_running = connections.curator_connections;
  result.waiting = limits.waiting;
  result.in_flight = limits.in_flight;
  result.long_polls = limits.long_polls;
  result.per_second = limits.per_second;
  result.burst = limits.burst;
  result.body_bytes = limits.body_mebibytes << 20;
  return result;
}

CostLimits cost_limits(const WorkLimits& limits) {
  CostLimits result;
  result.planning_steps = limits.planning_steps;
  result.processor.per_second = std::chrono::milliseconds(limits.processor_milliseconds);
  result.processor.burst = std::chrono::milliseconds(limits.processor_burst_milliseconds);
  return result;
}

/// The signals that are taken by the loop, blocked in every thread that is made afterwards.
sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

std::string microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::to_string(static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000);
}

class Daemon final {
 public:
  Daemon(std::string file, Configuration configuration)
      : file_(std::move(file)),
        configuration_(std::move(configuration)),
        connection_limits_(connection_limits(configuration_.limits, descriptors_allowed(), &warn)),
        engine_(open_engine(configuration_)),
        serve_lock_(configuration_.ledger),
        view_(configuration_.ledger),
        admission_(admission_limits(configuration_.limits, connection_limits_)),
        audits_(
            [ledger = configuration_.ledger](const engine::Progress& progress, engine::StorageCheck storage) {
              return engine::audit_verify(ledger, progress, storage);
            }),
        readiness_(engine_, configuration_.ledger, kReadinessCounts, &warn,
                   [this] { stop_for_replaced_files(); }),
        api_(ApiContext{engine_, view_, admission_, refusals_, metrics_, audits_, readiness_,
                        engine_.ledger_id(), configuration_.ledger, ::geteuid(), &warn,
                        [this] { stop_for_replaced_files(); }},
             configuration_.limits.refusals, cost_limits(configuration_.limits)),
        server_(api_, connection_limits_) {
    check_policy(engine_);
    warn_of(source_availability(engine_).missing);
  }

  /// Throws  what opening the sockets throws.
  void listen() {
    std::vector<HandedSocket> handed = handed_sockets();
    const auto socket = [&](const std::string& name, const std::string& path, mode_t mode) {
      for (HandedSocket& one : handed) {
        if (one.name == name) return std::exchange(one.descriptor, -1);
      }
      return bound_socket(path, mode);
    };
    server_.listen(socket("curator", configuration_.curator_socket, kCuratorMode), true);
    server_.listen(socket("ask", configuration_.socket, kAskersMode), false);
    for (const HandedSocket& one : handed) {
      if (one.descriptor < 0) continue;
      throw InvalidParameter("the service manager handed over a socket of the name '" + one.name +
                             "'; 'ask' and 'curator' are the names that are known");
    }
  }

  int run(int signals) {
    const int stop = ::eventfd(0, EFD_CLOEXEC);
    std::thread accepting([&] { server_.run(stop); });
    notify("READY=1\nSTATUS=serving");
    say("serving ledger " + engine_.ledger_id());
    wait_for_end_signal(signals);
    notify("STOPPING=1\nSTATUS=ending");
    say("ending: what is under way is finished, nothing new is taken");
    admission_.stop();
    audits_.stop();
    view_.stop();
    const std::uint64_t one = 1;
    static_cast<void>(!::write(stop, &one, sizeof one));
    accepting.join();
    const bool drained = server_.drain(std::chrono::duration_cast<std::chrono::milliseconds>(kDrain));
    ::close(stop);
    if (!drained) {
      say("some requests took longer; what they record is theirs to find out with their keys");
      std::_Exit(static_cast<int>(ExitCode::try_again));  // their threads use what is destroyed otherwise
    }
    say("ended");
    // A verification that reads a large file looks up seldom, and leaves nothing behind.
    if (!audits_.wait_until_idle(std::chrono::steady_clock::now() + kAuditEnd)) {
      std::_Exit(static_cast<int>(exit_code()));
    }
    return static_cast<int>(exit_code());
  }

 private:
  /// What it has open is not the ledger any more. Another start opens what is there.
  void stop_for_replaced_files() {
    if (files_replaced_.exchange(true)) return;
    say("the ledger's files were moved, removed or replaced; start the daemon again to serve what is there "
        "now");
    static_cast<void>(::kill(::getpid(), SIGTERM));
  }
  [[nodiscard]] ExitCode exit_code() const { return files_replaced_ ? ExitCode::try_again : ExitCode::done; }

  void wait_for_end_signal(int signals) {
    for (;;) {
      signalfd_siginfo told{};
      const ssize_t got = ::read(signals, &told, sizeof told);
      if (got < 0 && errno == EINTR) continue;
      if (got != static_cast<ssize_t>(sizeof told) || told.ssi_signo != SIGHUP) return;
      reload();
    }
  }

  /// What cannot be read, or would need another start, leaves everything as it was.
  void reload() {
    notify("RELOADING=1\nMONOTONIC_USEC=" + microseconds());
    try {
      Configuration next = read_configuration(file_);
      const std::string needed = needs_restart(configuration_, next);
      if (needed.empty()) {
        connection_limits_ = connection_limits(next.limits, descriptors_allowed(), &warn);
        admission_.change(admission_limits(next.limits, connection_limits_));
        server_.change(connection_limits_);
        api_.change(next.limits.refusals);
        api_.change(cost_limits(next.limits));
        configuration_ = std::move(next);
        say("the configuration was read again");
      } else {
        say("the configuration was not taken over: to change " + needed + " the daemon has to start anew");
      }
    } catch (const std::exception& error) {
      static_cast<void>(report_failure(error));
      say("the configuration was not taken over: the one so far stays");
    }
    notify("READY=1\nSTATUS=serving");
  }

  const std::string file_;
  std::atomic<bool> files_replaced_ = false;
  Configuration configuration_;
  ConnectionLimits connection_limits_;
  engine::Engine engine_;
  ServeLock serve_lock_;
  LedgerView view_;
  Admission admission_;
  RefusalCount refusals_;
  Metrics metrics_;
  AuditJobs audits_;
  Readiness readiness_;
  Api api_;
  Server server_;
};

}  // namespace

int serve(const std::string& configuration_file) {
  protect_memory();
  raise_descriptor_limit();
  const sigset_t signals = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::optional<std::vector<std::string>> known;
  try {
    const Configuration configuration = read_configuration(configuration_file);
    known = paths_of(configuration);
    Daemon daemon(configuration_file, configuration);
    daemon.listen();
    const int taken = ::signalfd(-1, &signals, SFD_CLOEXEC);
    const int exit = daemon.run(taken);
    ::close(taken);
    return exit;
  } catch (const std::exception& error) {
    return report_failure(error, known ? &*known : nullptr);
  }
}

int check(const std::string& configuration_file) {
  try {
    const Configuration configuration = read_configuration(configuration_file);
    static_cast<void>(connection_limits(configuration.limits, descriptors_allowed(), &warn));
    const engine::Engine engine = open_engine(configuration);
    check_policy(engine);
    const SourceAvailability sources = source_availability(engine);
    warn_of(sources.missing);
    if (!sources.any_readable) {
      throw SourceError("the source of no dataset can be read: no release can be computed");
    }
    // What another daemon has is told last: all else is in order then.
    std::optional<SocketError> taken;
    for (const std::string& path : {configuration.curator_socket, configuration.socket}) {
      try {
        examine_socket(path);
      } catch (const SocketError& error) {
        if (!error.may_pass()) throw;
        taken = error;
      }
    }
    check_not_served(configuration.ledger);
    if (taken) throw SocketError(*taken);
    std::cout << "the configuration and the active policy can be served\n" << std::flush;
    return static_cast<int>(ExitCode::done);
  } catch (const std::exception& error) {
    return report_failure(error);
  }
}

}  // namespace epsilog::serve
