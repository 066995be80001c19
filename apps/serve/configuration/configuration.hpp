// What a daemon is told where it is started: its ledger, its sockets, where a policy may name files, and how
// much it takes on. Nothing of what may be asked stands here: that is the policy's.
//
// Thread-safety: immutable values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace epsilog::serve {

/// Directories below which the policy may name files, absolute; none: it may name none of that kind.
struct AllowedFolders {
  std::vector<std::string> sources;
  std::vector<std::string> replicas;
  std::vector<std::string> checkpoints;

  friend bool operator==(const AllowedFolders&, const AllowedFolders&) = default;
};

/// How much is taken on at a time. Each is at least 1.
struct WorkLimits {
  std::size_t connections = 1024;
  std::size_t connections_per_user = 64;
  std::size_t running = 64;                           ///< requests that are being answered
  std::size_t waiting = 1024;                         ///< requests that wait for that
  std::size_t in_flight = 16;                         ///< of one principal
  std::size_t long_polls = 16;                        ///< of one principal
  std::size_t per_second = 100;                       ///< requests of one principal, in the long run
  std::size_t burst = 200;                            ///< and at once
  std::size_t refusals = 600;                         ///< recorded of one principal in the last hour
  std::size_t body_mebibytes = 64;                    ///< of all bodies that are being read
  std::size_t planning_steps = 400'000;               ///< of one request, before it is planned
  std::size_t processor_milliseconds = 200;           ///< of one principal a second, for what changes nothing
  std::size_t processor_burst_milliseconds = 10'000;  ///< and at once

  friend bool operator==(const WorkLimits&, const WorkLimits&) = default;
};

/// Durations in milliseconds, as engine::TickedAnswers, which they become.
struct Ticks {
  std::int64_t after = 0;
  std::int64_t every = 0;

  friend bool operator==(const Ticks&, const Ticks&) = default;
};

struct Configuration {
  std::string ledger;          ///< absolute
  std::string socket;          ///< of those who ask; absolute
  std::string curator_socket;  ///< of the daemon's own user and root; absolute
  AllowedFolders folders;
  WorkLimits limits;
  std::optional<Ticks> answers;  ///< nothing: what was read from data is told at once
};

/// The configuration that a text says: YAML, read as strictly as a policy. `file` is the name shown in
/// faults.
/// Throws  PolicyError with every fault found.
[[nodiscard]] Configuration parse_configuration(const std::string& yaml, const std::string& file);
/// Throws  likewise; InvalidParameter if the file cannot be read, or holds more than 256 KiB.
[[nodiscard]] Configuration read_configuration(const std::string& path);

/// What a configuration that is read again would change and cannot, while the daemon runs; "" for nothing.
[[nodiscard]] std::string needs_restart(const Configuration& running, const Configuration& next);

}  // namespace epsilog::serve
