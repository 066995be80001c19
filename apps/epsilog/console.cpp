#include "console.hpp"

#include <fcntl.h>
#include <langinfo.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "printable.hpp"

namespace epsilog::command {
namespace {

bool environment_says(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

Style style_for(int descriptor) {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return {isatty(descriptor) == 1 && !environment_says("NO_COLOR") && !dumb,
          std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
}

[[noreturn]] void output_failed() {
  throw OutputError(std::string("cannot write to standard output: ") + std::strerror(errno));
}

}  // namespace

std::string Style::painted(const std::string& text, const char* code) const {
  return colour ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
}

Console::Console(bool json, bool quiet) : json_(json), quiet_(quiet) {
  std::setlocale(LC_CTYPE, "");
  style_ = style_for(STDOUT_FILENO);
  message_style_ = style_for(STDERR_FILENO);
}

void Console::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_failed();
}

void Console::flush() {
  if (std::fflush(stdout) != 0) output_failed();
}

void Console::message(std::string_view text) {
  message_line("epsilog: " + printable(text));
}

void Console::message_line(std::string_view line) {
  end_progress();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

engine::Progress Console::progress(const std::string& label) {
  if (quiet_ || isatty(STDERR_FILENO) != 1) return {};
  const auto begin = std::chrono::steady_clock::now();
  return [this, label, begin, shown = -1](double fraction) mutable {
    if (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300)) return;
    const int percent = static_cast<int>(fraction * 100);
    if (percent == shown) return;
    shown = percent;
    progress_shown_ = true;
    std::fprintf(stderr, "\r%s %d %%", label.c_str(), percent);
    std::fflush(stderr);
  };
}

void Console::end_progress() {
  if (!progress_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  progress_shown_ = false;
}

namespace {

sigset_t signals_to_hold() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void hold_back_signals() {
  const sigset_t signals = signals_to_hold();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void deliver_signals() {
  const sigset_t signals = signals_to_hold();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void secure_standard_streams() {
  // The wrong way round, so that reading a closed standard input and writing to a closed standard output are
  // seen to fail.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) static_cast<void>(std::signal(signal, SIG_IGN));
}

}  // namespace epsilog::command
