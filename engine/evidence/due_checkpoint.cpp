#include "due_checkpoint.hpp"

#include <chrono>
#include <optional>

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
    if (ledger::is_name_of_ledger(path, ledger_path) || ledger::belongs_to_open_ledger(path)) {
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

/// The last note where there is one, and what is due by it.
struct Standing {
  NotesEnd end;
  bool due = false;
  bool overdue = false;  ///< twice as much as is due has come
  NextDue next = {};
};

/// Throws  NotVerified unless the ledger has the lines of the last note.
Standing standing(ledger::Snapshot& view, const CheckpointRule& rule) {
  Standing now{.end = notes_end(rule.file)};
  const std::uint64_t size = view.tree().size;
  const std::uint64_t noted = now.end.last ? now.end.last->tree.size : 0;
  // Due or not: whoever looks sees whether the ledger still has what was signed.
  if (now.end.last) require_contained(view, *now.end.last);
  const auto measured = [&now](auto has, auto since, auto every) {
    now.due = !now.end.last || has - since >= every;
    now.overdue = has - since >= 2 * every;
  };
  if (rule.lines > 0) {
    const auto lines = static_cast<std::uint64_t>(rule.lines);
    now.next.size = noted + lines;
    now.next.time_ms = INT64_MAX;
    measured(size, noted, lines);
  } else {
    const std::int64_t since = time_of_line(view, noted == 0 ? 0 : noted - 1);
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
Checkpoint appended(ledger::Snapshot& view, const NotesEnd& end, KeyFile& key, const std::string& file) {
  if (!end.rest.empty()) require_cut_short(end, key, ledger_origin(view.ledger_id()), file);
  Checkpoint checkpoint = sign_checkpoint(view, key);
  append_note(file, end, checkpoint.note);
  return checkpoint;
}

}  // namespace

DueCheckpoint append_due_checkpoint(ledger::Ledger& ledger, const std::string& ledger_path,
                                    const CheckpointRule& rule) {
  require_no_file_of_ledger(ledger_path, rule);
  std::chrono::milliseconds wait(0);
  {
    ledger::Snapshot view = ledger.snapshot();
    const Standing before = standing(view, rule);
    if (!before.due) return {.outcome = DueOutcome::not_yet, .next = before.next};
    wait = before.overdue ? kWait : std::chrono::milliseconds(0);
  }
  std::optional<KeyFile> held;
  try {
    held.emplace(rule.key, wait);
  } catch (const KeyHeld&) {
    if (wait == kWait) throw;
    return {.outcome = DueOutcome::left};
  }
  KeyFile& key = *held;
  ledger::Snapshot view = ledger.snapshot();
  const Standing now = standing(view, rule);
  if (!now.due) return {.outcome = DueOutcome::not_yet, .next = now.next};
  static_cast<void>(appended(view, now.end, key, rule.file));
  return {.outcome = DueOutcome::appended};
}

CheckpointNow append_checkpoint(ledger::Ledger& ledger, const std::string& ledger_path,
                                const CheckpointRule& rule, std::chrono::milliseconds wait) {
  require_no_file_of_ledger(ledger_path, rule);
  KeyFile key(rule.key, wait);
  ledger::Snapshot view = ledger.snapshot();
  const NotesEnd end = notes_end(rule.file);
  if (end.last) require_contained(view, *end.last);
  if (end.last && end.last->tree == view.tree()) return {*end.last, key.key().verifier(), false};
  return {appended(view, end, key, rule.file), key.key().verifier(), true};
}

std::optional<Checkpoint> last_checkpoint(ledger::Ledger& ledger, const CheckpointRule& rule) {
  std::optional<Checkpoint> last = notes_end(rule.file).last;
  if (!last) return last;
  // After the file was read: an older view may lack what was signed meanwhile.
  ledger::Snapshot view = ledger.snapshot();
  require_contained(view, *last);
  return last;
}

}  // namespace epsilog::engine
