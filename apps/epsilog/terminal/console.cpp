#include "console.hpp"

#include <fcntl.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "printable.hpp"
#include "progress_text.hpp"

namespace epsilog::command {
namespace {

bool environment_sets(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// Columns of COLUMNS, else of the terminal, else 80; what is too narrow for any table is not heeded.
unsigned width_of(int descriptor) {
  constexpr long kLeast = 40;
  constexpr long kMost = 1000;
  const char* columns = std::getenv("COLUMNS");
  long width = columns != nullptr ? std::strtol(columns, nullptr, 10) : 0;
  struct winsize size {};
  if (width <= 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width <= 0 ? 80U : static_cast<unsigned>(std::clamp(width, kLeast, kMost));
}

Style style_for(int descriptor, Console::Detail detail) {
  const char* name = std::getenv("TERM");
  const bool dumb = name == nullptr || std::strcmp(name, "dumb") == 0;
  Style style;
  style.terminal = isatty(descriptor) == 1;
  style.colour = style.terminal && !environment_sets("NO_COLOR") && !dumb;
  style.utf8 = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  style.width = width_of(descriptor);
  style.verbose = detail == Console::Detail::verbose;
  return style;
}

[[noreturn]] void throw_output_error() {
  if (errno == EPIPE)
    throw ReaderGone(std::string("cannot write to standard output: ") + std::strerror(EPIPE));
  throw OutputError(std::string("cannot write to standard output: ") + std::strerror(errno));
}

}  // namespace

std::string Style::ansi_text(const std::string& text, const char* code) const {
  return colour ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
}

Console::Console(bool json, bool quiet, Detail detail) : json_(json), quiet_(quiet) {
  [[maybe_unused]] static const char* const locale =
      std::setlocale(LC_CTYPE, "");  // reads files: once will do
  style_ = style_for(STDOUT_FILENO, detail);
  message_style_ = style_for(STDERR_FILENO, detail);
}

void Console::write(std::string_view text) {
  std::string rows;
  if (rows_) text = rows = rows_(text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw_output_error();
}

void Console::flush() {
  if (std::fflush(stdout) != 0) throw_output_error();
}

void Console::message(std::string_view text) {
  message_line("epsilog: " + printable(text));
}

void Console::message_line(std::string_view line) {
  end_progress();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

accounting::Callback<void(double)> Console::progress(const std::string& label) {
  if (quiet_ || json_ || isatty(STDERR_FILENO) != 1) return {};
  const auto begin = std::chrono::steady_clock::now();
  return [this, label = printable(label), begin, shown = -1](double fraction) mutable {
    using std::chrono::milliseconds;
    const auto elapsed = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    if (elapsed < milliseconds(300)) return;
    const int percent = static_cast<int>(fraction * 100);
    if (percent == shown) return;
    shown = percent;
    progress_shown_ = true;
    std::fprintf(stderr, "\r%s\x1b[K", progress_text(label, fraction, elapsed).c_str());
    std::fflush(stderr);
  };
}

void Console::end_progress() {
  if (!progress_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  progress_shown_ = false;
}

namespace {

sigset_t blocked_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void block_signals() {
  const sigset_t signals = blocked_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void unblock_signals() {
  const sigset_t signals = blocked_signals();
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
