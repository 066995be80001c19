// Standard output and standard error: data on one, messages on the other.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "epsilog/engine/exact_answer.hpp"

namespace epsilog::command {

/// Standard output did not take what was written.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Nobody reads standard output any more: `epsilog history | head -1` has all it wanted.
class ReaderGone : public OutputError {
 public:
  using OutputError::OutputError;
};

/// How the terminal may be written to.
struct Style {
  bool colour = false;  ///< a terminal, and neither NO_COLOR nor TERM=dumb
  bool utf8 = false;    ///< the locale's character set is UTF-8: block characters in bars
  unsigned width = 80;  ///< columns: COLUMNS, else the terminal's
  bool terminal = false;
  bool verbose = false;  ///< also the mechanism, the loss proved, and every digit

  [[nodiscard]] std::string bold(const std::string& text) const { return ansi_text(text, "1"); }
  [[nodiscard]] std::string good(const std::string& text) const { return ansi_text(text, "32"); }
  [[nodiscard]] std::string bad(const std::string& text) const { return ansi_text(text, "31"); }
  [[nodiscard]] std::string faint(const std::string& text) const { return ansi_text(text, "2"); }

 private:
  [[nodiscard]] std::string ansi_text(const std::string& text, const char* code) const;
};

class Console final {
 public:
  enum class Detail { brief, verbose };
  Console(bool json, bool quiet, Detail detail = Detail::brief);

  /// Throws  OutputError.
  void write(std::string_view text);
  /// From now on json(), and each object that is written is printed as `rows` makes of it.
  void write_as(std::function<std::string(std::string_view object)> rows) { rows_ = std::move(rows); }
  /// Hands everything written to the operating system.
  /// Throws  OutputError.
  void flush();
  /// Says what is on record now, as the rest of a sentence: told on standard error if standard output does
  /// not take the answer.
  void set_recorded_note(std::string what) { recorded_note_ = std::move(what); }
  [[nodiscard]] const std::string& recorded_note() const { return recorded_note_; }

  /// "epsilog: MESSAGE" on standard error, on one line.
  void message(std::string_view text);
  /// A line of standard error as it stands.
  void message_line(std::string_view line);

  /// Whether what is written shall be JSON; failures are told so, too, unless it is printed as rows.
  [[nodiscard]] bool json() const { return json_ || rows_; }
  /// Whether what is written is printed as rows: what is no row is a message then.
  [[nodiscard]] bool prints_rows() const { return static_cast<bool>(rows_); }
  [[nodiscard]] bool quiet() const { return quiet_; }
  [[nodiscard]] const Style& style() const { return style_; }                  ///< of standard output
  [[nodiscard]] const Style& message_style() const { return message_style_; }  ///< of standard error

  /// Percentages and an estimate (progress_text.hpp) on standard error once the work has taken 0.3 s; empty
  /// when that is no terminal, and with --json and --quiet.
  [[nodiscard]] accounting::Callback<void(double)> progress(const std::string& label);
  /// Takes the percentage away again.
  void end_progress();

 private:
  bool json_;
  bool quiet_;
  std::function<std::string(std::string_view object)> rows_;
  Style style_;
  Style message_style_;
  bool progress_shown_ = false;
  std::string recorded_note_;
};

/// From here on until the end of the command SIGINT, SIGTERM and SIGHUP wait: what is being recorded is also
/// told. Repeatable.
void block_signals();
/// Delivers what was held back.
void unblock_signals();

/// Makes sure that descriptors 0 to 2 are taken, so that no ledger is ever opened as one of them and
/// written to as if it were the terminal. Ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a file
/// too large are errors to report rather than a silent death.
void secure_standard_streams();

}  // namespace epsilog::command
