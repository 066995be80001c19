// The built daemon as a process, and somebody who talks to it over its socket.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace epsilog::test {

struct Heard {
  int status = 0;
  std::string head;
  std::string text;
  nlohmann::json body;
};

/// A connection to a socket; nothing is heard once the other side is gone.
class Connection final {
 public:
  explicit Connection(const std::string& path);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] bool open() const { return descriptor_ >= 0; }
  bool send(const std::string& text) const;
  [[nodiscard]] std::optional<Heard> hear();
  [[nodiscard]] std::optional<Heard> ask(const std::string& method, const std::string& target,
                                         const std::string& body = "",
                                         const std::map<std::string, std::string>& headers = {});

 private:
  int descriptor_ = -1;
  std::string heard_;
};

/// A clinic whose ledger this user's uid may ask as alice, and a daemon on it.
class DaemonProcess final {
 public:
  /// In a folder of `parent`.
  explicit DaemonProcess(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  /// Returns once it serves. What it says on standard error goes to `log`.
  void start();
  /// The same as that user, whose everything in the folder is from then on.
  void start_as(uid_t user);
  void signal(int number) const;
  /// Waits for its end: the exit code, or 128 + N for signal N.
  int ended();
  [[nodiscard]] pid_t process() const { return process_; }

  [[nodiscard]] std::string ask_socket() const { return folder.path("ask.socket"); }
  [[nodiscard]] std::string curator_socket() const { return folder.path("curator.socket"); }
  [[nodiscard]] std::string ledger() const { return folder.path("clinic.ledger"); }
  [[nodiscard]] std::string log() const;
  /// Puts `limits` in place of those of the configuration.
  void configure(const std::string& limits);

  TemporaryFolder folder;
  std::string token;  ///< of alice
  rlim_t files = 0;   ///< that the daemon may have open; 0: as many as this process

 private:
  void start_program(uid_t user);

  pid_t process_ = -1;
};

}  // namespace epsilog::test
