#include "run.hpp"

#include <fmt/format.h>
#include <gmp.h>
#include <mpfr.h>
#include <nettle/version.h>
#include <sodium.h>
#include <sqlite3.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "calculator_verbs.hpp"
#include "command_line.hpp"
#include "console.hpp"
#include "epsilog/ledger/program.hpp"
#include "failure.hpp"
#include "figures_json.hpp"
#include "printable.hpp"
#include "verbs.hpp"
#include "version.hpp"

namespace epsilog::command {
namespace {

constexpr std::string_view kLabel = "  libraries  ";

std::string fmt_version() {
  constexpr int kMajor = FMT_VERSION / 10'000;
  constexpr int kMinor = FMT_VERSION / 100 % 100;
  return fmt::format("{}.{}.{}", kMajor, kMinor, FMT_VERSION % 100);
}

/// "epsilog 0.1.0" on a line of its own, then the commit, how it was built and the libraries as they are
/// loaded.
std::string version_text() {
  const std::vector<std::string> libraries = {
      fmt::format("SQLite {}", sqlite3_libversion()),
      fmt::format("SQLiteCpp {}", kSqliteCppVersion),
      fmt::format("MPFR {}", mpfr_get_version()),
      fmt::format("GMP {}", gmp_version),
      fmt::format("yaml-cpp {}", kYamlCppVersion),
      fmt::format("libsodium {}", sodium_version_string()),
      fmt::format("Nettle {}.{}", nettle_version_major(), nettle_version_minor()),
      fmt::format("fmt {}", fmt_version()),
      fmt::format("nlohmann_json {}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                  NLOHMANN_JSON_VERSION_PATCH)};
  constexpr std::size_t kWidth = 80;
  std::string list;
  std::size_t used = kLabel.size();
  for (const std::string& library : libraries) {
    const bool first = list.empty();
    const bool fits = used + library.size() + 2 < kWidth;
    list += first ? "" : fits ? ", " : ",\n" + std::string(kLabel.size(), ' ');
    used = (fits ? used + (first ? 0 : 2) : kLabel.size()) + library.size();
    list += library;
  }
  return fmt::format("epsilog {}\n  commit     {}\n  build      {}, {}\n{}{}\n", kVersion,
                     ledger::kThisBuild.revision, EPSILOG_BUILD_TYPE, kCompiler, kLabel, list);
}

VerbTable every_verb() {
  return VerbTable({&policy_verbs, &policy_draft_verbs, &data_verbs, &ask_verbs, &request_verbs,
                    &ledger_verbs, &audit_verbs, &key_verbs, &credential_verbs, &upkeep_verbs, &backup_verbs,
                    &serve_verbs, &calculator_verbs});
}

/// Whether failures to understand the command line are to be said in JSON too.
bool asks_for_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

/// Says it on standard error and, with --json, as {"error": …} on standard output.
ExitCode report(const Failure& failure, Console& console) {
  console.end_progress();
  if (failure.faults.empty()) {
    console.message(failure.message);
  } else {
    for (const PolicyFault& fault : failure.faults) console.message_line(printable(fault.text()));
  }
  if (console.json() && !console.prints_rows() && failure.code != "output") {
    try {
      console.write(error_json(failure));
      console.flush();
    } catch (const OutputError& error) {
      console.message(error.what());
    } catch (const std::bad_alloc&) {
      return failure.exit;  // the message is out, on standard error
    }
  }
  return failure.exit;
}

template <class Work>
ExitCode run_guarded(Console& console, const Work& work) {
  try {
    const ExitCode exit = work();
    console.flush();
    return exit;
  } catch (const std::exception& error) {
    Failure failure = describe(error);
    // The reader had enough: no more is said than by other commands, unless it lost what was made.
    const bool reader_gone = dynamic_cast<const ReaderGone*>(&error) != nullptr;
    if (reader_gone && console.recorded_note().empty()) return failure.exit;
    // What was recorded stays so: whoever lost the line must not lose it.
    if (failure.code == "output" && !console.recorded_note().empty())
      failure.message += "; " + console.recorded_note();
    return report(failure, console);
  }
}

ExitCode run_words(const std::vector<std::string>& words) {
  Console plain(asks_for_json(words), false);
  return run_guarded(plain, [&] {
    VerbTable verbs = every_verb();
    const auto parsed = parse_command_line(verbs, words, plain.style().width);
    if (const auto* line = std::get_if<CommandLine>(&parsed)) {
      Console console(line->has("--json"), line->has("--quiet"),
                      line->has("--verbose") ? Console::Detail::verbose : Console::Detail::brief);
      return run_guarded(console, [&] { return line->verb->run(*line, console); });
    }
    const auto* text = std::get_if<TextRequest>(&parsed);
    plain.write(text != nullptr ? text->text : version_text());
    return ExitCode::done;
  });
}

}  // namespace

int run(int argc, char** argv) noexcept {
  secure_standard_streams();
  end_without_memory_where_nothing_else_can();
  // Nobody asks how much SQLite has allocated, and counting it costs a lock at each allocation.
  static_cast<void>(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0));
  const ExitCode exit = run_words(std::vector<std::string>(argv + 1, argv + argc));
  unblock_signals();
  return static_cast<int>(exit);
}

}  // namespace epsilog::command
