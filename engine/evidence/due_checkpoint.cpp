#include "due_checkpoint.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/ledger/canonical_json.hpp"
#include "epsilog/ledger/ledger_time.hpp"
#include "epsilog/ledger/open_ledgers.hpp"
#include "note_file.hpp"

namespace epsilog::engine {
namespace {

/// For another who signs, where twice as much as is due has come: to hash a million lines takes less.
constexpr std::chrono::milliseconds kWait(10'000);

/// To open and close a file of a ledger would take SQLite's locks away, to append to one destroy it.
void require_no_file_of_ledger(const std::string& ledger_path, const CheckpointRule& rule) {
  for (const std::string& path : {rule.key, rule.file}) {
    if (ledger::is_name_of_ledger(path, ledger_path) || ledger::is_file_of_open_ledger(path)) {
      throw KeyUnusable(path + " is a file of a ledger");
    }
  }
}

std::int64_t time_of_line(ledger::Snapshot& view, std::uint64_t index) {
  std::int64_t time = 0;
  const auto number = static_cast<std::int64_t>(index);
  view.each_line(number, number + 1, [&time](std::string_view line) {
    time = ledger::parse_time(ledger::parse_canonical(line).at("time").text());
  });
  return time;
}

/// How the file ends, and a view of the ledger that was opened after that was read: an older one may lack
/// what another signed meanwhile, and would look as if it had been put back.
struct SignedSoFar {
  NotesEnd end;
  ledger::Snapshot view;
};

/// Throws  NotVerified unless the ledger has the lines of the last note.
SignedSoFar read_signed_so_far(const ledger::Ledger& ledger, const std::string& file) {
  NotesEnd end = notes_end(file);
  SignedSoFar found{std::move(end), ledger.snapshot()};
  // Due or not: whoever looks sees whether the ledger still has what was signed.
  if (found.end.last) require_contained(found.view, *found.end.last);
  return found;
}

/// What is due by the last note, where there is one.
struct DueStatus {
  bool due = false;
  bool overdue = false;  ///< twice as much as is due has come
  NextDue next = {};
};

DueStatus due_status(SignedSoFar& at, const CheckpointRule& rule) {
  DueStatus now;
  ledger::Snapshot& view = at.view;
  const std::uint64_t size = view.tree().size;
  const std::uint64_t signed_size = at.end.last ? at.end.last->tree.size : 0;
  const auto measured = [&now, first = !at.end.last](auto has, auto since, auto every) {
    now.due = first || has - since >= every;
    now.overdue = has - since >= 2 * every;
  };
  if (rule.lines > 0) {
    const auto lines = static_cast<std::uint64_t>(rule.lines);
    now.next.size = signed_size + lines;
    now.next.time_ms = INT64_MAX;
    measured(size, signed_size, lines);
  } else {
    const std::int64_t since = time_of_line(view, signed_size == 0 ? 0 : signed_size - 1);
    now.next.size = UINT64_MAX;
    now.next.time_ms = since + rule.seconds * 1000;
    measured(time_of_line(view, size - 1), since, rule.seconds * 1000);
  }
  return now;
}

/// What the key signed last and was being written when it broke off, as it would stand in the file.
void require_cut_short(const NotesEnd& end, const KeyFile& key, const std::string& origin,
                       const std::string& file) {
  SignedNote note{.text = checkpoint_text(origin, key.state().of(origin).tree)};
  note.signatures.push_back(key.key().sign(note.text));
  if (((end.last ? "\n" : "") + note_text(note)).starts_with(end.rest)) return;
  throw NotVerified(file +
                    " does not end with a checkpoint, nor with how the one that was signed last begins");
}

/// Signs what the ledger has, and puts it at the end of the file.
Checkpoint sign_and_append(SignedSoFar& at, KeyFile& key, const std::string& file) {
  if (!at.end.rest.empty()) require_cut_short(at.end, key, ledger_origin(at.view.ledger_id()), file);
  Checkpoint checkpoint = sign_checkpoint(at.view, key);
  append_note(file, at.end, checkpoint.note);
  return checkpoint;
}

}  // namespace

DueCheckpoint append_due_checkpoint(ledger::Ledger& ledger, const std::string& ledger_path,
                                    const CheckpointRule& rule) {
  require_no_file_of_ledger(ledger_path, rule);
  std::chrono::milliseconds wait(0);
  {
    SignedSoFar found = read_signed_so_far(ledger, rule.file);
    const DueStatus before = due_status(found, rule);
    if (!before.due) return {.outcome = DueOutcome::not_yet, .next = before.next};
    wait = before.overdue ? kWait : std::chrono::milliseconds(0);
  }
  std::optional<KeyFile> held;
  try {
    held.emplace(rule.key, wait);
  } catch (const KeyBusy&) {
    if (wait == kWait) throw;
    return {.outcome = DueOutcome::left};
  }
  KeyFile& key = *held;
  SignedSoFar found = read_signed_so_far(ledger, rule.file);
  const DueStatus now = due_status(found, rule);
  if (!now.due) return {.outcome = DueOutcome::not_yet, .next = now.next};
  static_cast<void>(sign_and_append(found, key, rule.file));
  return {.outcome = DueOutcome::appended};
}

RequestedCheckpoint append_checkpoint(ledger::Ledger& ledger, const std::string& ledger_path,
                                      const CheckpointRule& rule, std::chrono::milliseconds wait) {
  require_no_file_of_ledger(ledger_path, rule);
  KeyFile key(rule.key, wait);
  SignedSoFar found = read_signed_so_far(ledger, rule.file);
  const std::optional<Checkpoint>& last = found.end.last;
  if (last && last->tree == found.view.tree()) return {*last, key.key().verifier(), false};
  return {sign_and_append(found, key, rule.file), key.key().verifier(), true};
}

std::optional<Checkpoint> last_checkpoint(ledger::Ledger& ledger, const CheckpointRule& rule) {
  return read_signed_so_far(ledger, rule.file).end.last;
}

}  // namespace epsilog::engine
