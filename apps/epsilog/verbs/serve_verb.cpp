// serve: the daemon is a program of its own, so that this one needs nothing of what a server needs.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "ledger_arguments.hpp"
#include "printable.hpp"
#include "usage_error.hpp"
#include "verbs.hpp"

namespace epsilog::command {
namespace {

struct ServeArguments {
  std::optional<std::string> config;
  bool check = false;
};

/// Where the daemon's program is, from where this one is: both are installed, or built, together.
std::filesystem::path daemon_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw InputError("serve: this program cannot be found in /proc");
  return (self.parent_path() / EPSILOG_SERVE_FROM_PROGRAMS).lexically_normal();
}

/// Returns only if the program cannot be run.
ExitCode serve(const ServeArguments& arguments, Console& console) {
  const std::string program = daemon_program().string();
  std::string name = "epsilog-serve", config = "--config", file = *arguments.config, check = "--check";
  std::vector<char*> words = {name.data(), config.data(), file.data()};
  if (arguments.check) words.push_back(check.data());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  const int failed = errno;
  console.message("serve: " + printable(program) + " cannot be run: " + std::strerror(failed) +
                  (failed == ENOENT ? "; this epsilog was built or installed without its daemon" : ""));
  return ExitCode::try_again;
}

}  // namespace

std::vector<VerbSpec> serve_verbs() {
  return {Verb<ServeArguments>{
      .words = "serve",
      .summary = "answer questions over a Unix socket, for people who may touch neither data nor ledger",
      .examples = "epsilog serve --config /etc/epsilog/clinic.yaml\n"
                  "epsilog serve --config /etc/epsilog/clinic.yaml --check",
      .details =
          "Runs until SIGTERM, and then ends what is under way; SIGHUP reads FILE again. With --check only\n"
          "FILE and the active policy are looked at. docs/daemon.md leads from a policy to the first answer\n"
          "in ten minutes, docs/api.md says what can be asked. This command works beside the daemon.",
      .options = {{"--config", &ServeArguments::config, true, "the daemon's configuration"},
                  {"--check", &ServeArguments::check}},
      .run = &serve}};
}

}  // namespace epsilog::command
