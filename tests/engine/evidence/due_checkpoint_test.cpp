// Checkpoints that are signed by themselves: when one is due, how the file ends, and what keeps one from it.
#include "due_checkpoint.hpp"

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>

#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/engine/named_keys.hpp"
#include "file_text.hpp"
#include "note_file.hpp"
#include "refused_for.hpp"
#include "replica_file.hpp"
#include "support/catch.hpp"
#include "waiting.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;
namespace fs = std::filesystem;

namespace {

/// A ledger, its key, and the file that checkpoints go into.
struct Signing {
  Signing() {
    folder.write("visits.csv", kVisits);
    const std::string policy = folder.write("policy.yaml", clinic_policy("epsilon: 1000"));
    id = engine::Engine::init(policy, path, "curator").ledger_id;
    vkey = engine::generate_key(rule.key, engine::ledger_origin(id));
    ask();
  }
  void ask(int times = 1) {
    engine::Engine engine = engine::Engine::open(path, clock.options());
    for (int i = 0; i < times; ++i) static_cast<void>(release(engine, request("count", "0.1")));
  }
  [[nodiscard]] ledger::Ledger ledger(const std::string& of = "") const {
    return ledger::Ledger::open_read_only(of.empty() ? path : of);
  }
  [[nodiscard]] DueOutcome sign(const std::string& of = "") const {
    ledger::Ledger opened = ledger(of);
    return engine::append_due_checkpoint(opened, of.empty() ? path : of, rule).outcome;
  }
  /// Signs, though no more than one line came.
  void sign_now() {
    const CheckpointRule before = rule;
    rule.lines = 1;
    rule.seconds = 0;
    REQUIRE(sign() == DueOutcome::appended);
    rule = before;
  }
  [[nodiscard]] std::string notes() const { return file_text(rule.file); }
  void write_notes(const std::string& text) const {
    std::ofstream(rule.file, std::ios::binary | std::ios::trunc) << text;
  }
  [[nodiscard]] std::string state() const { return engine::state_text(KeyFile(rule.key).state()); }
  /// All of the file are the key's, of the ledger, and larger than the one before.
  void require_sound(std::size_t count) const {
    const std::vector<Checkpoint> all = engine::parse_checkpoints(notes());
    REQUIRE(all.size() == count);
    ledger::Snapshot view = ledger().snapshot();
    std::uint64_t size = 0;
    for (const Checkpoint& one : all) {
      CHECK(engine::verify_attestation(one, {.log = vkey}).signed_by_log);
      engine::require_contained(view, one);
      CHECK(one.tree.size > size);
      size = one.tree.size;
    }
  }
  [[nodiscard]] std::uint64_t size() const { return ledger().snapshot().tree().size; }
  [[nodiscard]] std::string copy(const std::string& name) const {
    fs::copy_file(path, folder.path(name));
    return folder.path(name);
  }

  TemporaryFolder folder;
  MovedClock clock;
  std::string path = folder.path("clinic.ledger");
  CheckpointRule rule{.key = folder.path("log.key"), .file = folder.path("notes"), .lines = 3};
  std::string id;
  engine::VerifierKey vkey;
};

/// What another process does just when the first view of a ledger has begun, before whoever opened it looks
/// at anything else: of a ledger that is opened while this lives.
class WhenViewBegins {
 public:
  explicit WhenViewBegins(std::function<void()> act) : act_(std::move(act)) {
    sqlite3_auto_extension(kOpened);
  }
  WhenViewBegins(const WhenViewBegins&) = delete;
  WhenViewBegins& operator=(const WhenViewBegins&) = delete;
  ~WhenViewBegins() {
    sqlite3_cancel_auto_extension(kOpened);
    waiting = nullptr;
  }
  void from_now_on() { waiting = this; }
  [[nodiscard]] bool happened() const { return waiting == nullptr; }

 private:
  static int opened(sqlite3* connection, char**, const sqlite3_api_routines*) {
    return sqlite3_trace_v2(connection, SQLITE_TRACE_ROW, &read, nullptr);
  }
  static int read(unsigned, void*, void* statement, void*) {
    // The first row within a transaction is that by which a view begins.
    sqlite3* connection = sqlite3_db_handle(static_cast<sqlite3_stmt*>(statement));
    if (waiting != nullptr && sqlite3_get_autocommit(connection) == 0)
      std::exchange(waiting, nullptr)->act_();
    return 0;
  }
  inline static const auto kOpened = reinterpret_cast<void (*)()>(&opened);
  inline static WhenViewBegins* waiting = nullptr;
  std::function<void()> act_;
};

/// What it is refused for, and that nothing was signed.
template <class Exception>
std::string refused(const Signing& one, const std::string& of = "") {
  const std::string state = one.state();
  const std::string why = refused_for<Exception>([&] { return one.sign(of); });
  CHECK(one.state() == state);
  return why;
}

}  // namespace

TEST_CASE("due checkpoint: by lines the first is due at once, and each next after so many more",
          "[evidence][checkpoint][due]") {
  Signing one;
  CHECK(one.sign() == DueOutcome::appended);
  struct stat about {};
  REQUIRE(stat(one.rule.file.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777U & ~0644U) == 0);
  std::uint64_t noted = one.size();
  CHECK(engine::notes_end(one.rule.file).last->tree.size == noted);
  for (int i = 0; i < 7; ++i) {
    one.ask();
    const bool due = one.size() - noted >= 3;
    ledger::Ledger opened = one.ledger();
    const engine::DueCheckpoint found = engine::append_due_checkpoint(opened, one.path, one.rule);
    CHECK(found.outcome == (due ? DueOutcome::appended : DueOutcome::not_yet));
    if (due) noted = one.size();
    if (!due) CHECK(found.next.size == noted + 3);
  }
  one.require_sound(3);
}

TEST_CASE("due checkpoint: by time it is the time of the lines that counts, and no other clock",
          "[evidence][checkpoint][due]") {
  Signing one;
  one.rule.lines = 0;
  one.rule.seconds = 3600;
  CHECK(one.sign() == DueOutcome::appended);
  one.clock.pass_seconds(59 * 60);
  one.ask();
  CHECK(one.sign() == DueOutcome::not_yet);
  one.clock.pass_seconds(2 * 60);
  CHECK(one.sign() == DueOutcome::not_yet);  // nothing was recorded since
  one.ask();
  CHECK(one.sign() == DueOutcome::appended);
  CHECK(one.sign() == DueOutcome::not_yet);
  one.clock.pass_seconds(61 * 60);
  one.ask();
  // As a copy of the file has it: when it was written says nothing.
  fs::last_write_time(one.rule.file, fs::file_time_type::clock::now() + std::chrono::hours(24));
  CHECK(one.sign() == DueOutcome::appended);
  one.require_sound(3);
}

TEST_CASE(
    "due checkpoint: what is taken away from the file is due again, what is signed by hand is not there",
    "[evidence][checkpoint][due]") {
  Signing one;
  CHECK(one.sign() == DueOutcome::appended);
  fs::remove(one.rule.file);
  CHECK(one.sign() == DueOutcome::appended);
  one.require_sound(1);
  one.ask(4);
  {
    KeyFile key(one.rule.key);
    ledger::Snapshot view = one.ledger().snapshot();
    static_cast<void>(engine::sign_checkpoint(view, key));
  }
  CHECK(one.sign() == DueOutcome::appended);
  one.require_sound(2);
}

TEST_CASE("due checkpoint: a note that was cut short at any byte is no note, and the next takes its place",
          "[evidence][checkpoint][due][faults]") {
  Signing one;
  one.sign_now();
  const std::string first = one.notes();
  one.ask(2);
  one.sign_now();
  const std::string both = one.notes();
  one.ask(4);
  const std::string kept = one.state();
  for (std::size_t size = 0; size < both.size(); ++size) {
    CAPTURE(size);
    one.write_notes(both.substr(0, size));
    const engine::NotesEnd end = engine::notes_end(one.rule.file);
    CHECK(end.last.has_value() == (size >= first.size()));
    CHECK(end.size == (size >= first.size() ? first.size() : 0));
    CHECK(end.size + end.rest.size() == size);
    // The first one, cut short, is not how the last one begins that the key signed.
    if (size > 0 && size < first.size() && first.substr(0, size) != both.substr(first.size() + 1, size)) {
      CHECK_THAT(refused<NotVerified>(one), says("nor with how the one that was signed last begins"));
      CHECK(one.notes() == both.substr(0, size));
      continue;
    }
    if (size % 16 != 0 && size + 3 < both.size()) continue;  // signing takes a while
    std::ofstream state(one.rule.key + ".state", std::ios::trunc);
    state << kept;
    state.close();
    CHECK(one.sign() == DueOutcome::appended);
    CHECK(one.notes().starts_with(both.substr(0, end.size)));
    one.require_sound(end.last ? 2 : 1);
  }
}

TEST_CASE("due checkpoint: a file that ends with something else is left as it is, and nothing is signed",
          "[evidence][checkpoint][due][negative]") {
  Signing one;
  one.sign_now();
  const std::string sound = one.notes();
  one.ask(4);
  const Signing other;
  CHECK(other.sign() == DueOutcome::appended);
  const auto refused_with = [&](const std::string& text) {
    one.write_notes(text);
    const std::string why = refused<NotVerified>(one);
    CHECK(one.notes() == text);
    return why;
  };
  CHECK_THAT(refused_with("patient_id,age\np1,34\n"), says("does not end with a checkpoint"));
  CHECK_THAT(refused_with(sound + "\nnotes of a meeting\n"), says("does not end with a checkpoint"));
  CHECK_THAT(refused_with(sound + "\n\n" + sound.substr(3)), says("the checkpoint is of ilog/"));
  CHECK_THAT(refused_with("text\n\n" + sound.substr(sound.find("\xE2\x80\x94"))),
             says("does not end with a checkpoint"));
  CHECK_THAT(refused_with(std::string(70'000, 'x') + "\n"), says("does not end with a checkpoint"));
  CHECK_THAT(refused_with(other.notes()), says("the checkpoint is of epsilog/" + other.id));
  // Behind what is long, and with a cosignature, it is found.
  std::string many;
  while (many.size() < 70'000) many += sound + "\n";
  one.write_notes(many + sound + "\xE2\x80\x94 board.example/w AAAABBBBCCCC\n");
  CHECK(one.sign() == DueOutcome::appended);
  CHECK(engine::notes_end(one.rule.file).last->tree.size == one.size());
}

TEST_CASE("due checkpoint: a ledger that was put back, or is a fork, is not signed by whatever key",
          "[evidence][checkpoint][due][forks]") {
  Signing one;
  const std::string old = one.copy("old.ledger");
  one.ask(4);
  one.sign_now();
  const std::string notes = one.notes();
  CHECK_THAT(refused<NotVerified>(one, old), says("was put back to an earlier time"));
  {
    engine::Engine fork = engine::Engine::open(old);
    for (int i = 0; i < 8; ++i) static_cast<void>(release(fork, request("count", "0.2")));
  }
  CHECK_THAT(refused<NotVerified>(one, old), says("are not those of the checkpoint"));
  // A new key has forgotten nothing, and knows nothing: the file does.
  one.rule.key = one.folder.path("next.key");
  one.vkey = engine::generate_key(one.rule.key, engine::ledger_origin(one.id));
  CHECK_THAT(refused<NotVerified>(one, old), says("are not those of the checkpoint"));
  CHECK(one.notes() == notes);
  // Nor does a new file help the old key.
  one.rule.key = one.folder.path("log.key");
  fs::remove(one.rule.file);
  CHECK_THROWS_AS(one.sign(old), NotVerified);
  CHECK_FALSE(fs::exists(one.rule.file));
}

TEST_CASE("due checkpoint: what keeps the key from signing is said, and leaves the file as it is",
          "[evidence][checkpoint][due][negative]") {
  Signing one;
  one.sign_now();
  one.ask(5);
  const std::string notes = one.notes();
  const CheckpointRule sound = one.rule;
  one.rule.key = one.folder.path("nowhere.key");
  CHECK_THAT(refused_for<KeyUnusable>([&] { return one.sign(); }), says("cannot open the key"));
  one.rule = sound;
  fs::rename(sound.key + ".state", sound.key + ".kept");
  CHECK_THAT(refused_for<KeyUnusable>([&] { return one.sign(); }), says("--state-from"));
  fs::rename(sound.key + ".kept", sound.key + ".state");
  {
    ledger::Ledger ledger = ledger::Ledger::open(one.path, one.clock.options().ledger_options());
    static_cast<void>(
        engine::record_key_change(ledger, one.vkey.text(), engine::KeyChange::add, "cleo", "first"));
    static_cast<void>(
        engine::record_key_change(ledger, one.vkey.text(), engine::KeyChange::retire, "cleo", "lost"));
  }
  CHECK_THAT(refused<KeyUnusable>(one), says("is retired"));
  {
    ledger::Ledger ledger = ledger::Ledger::open(one.path, one.clock.options().ledger_options());
    static_cast<void>(
        engine::record_key_change(ledger, one.vkey.text(), engine::KeyChange::add, "cleo", "found"));
  }
  CHECK(one.notes() == notes);
  CHECK(one.sign() == DueOutcome::appended);
  one.require_sound(2);
}

TEST_CASE("due checkpoint: neither file nor key is a file of the ledger, by whatever name",
          "[evidence][checkpoint][due][negative]") {
  Signing one;
  const CheckpointRule sound = one.rule;
  fs::create_hard_link(one.path + ".lock", one.folder.path("linked"));
  ledger::Ledger open = ledger::Ledger::open(one.path, one.clock.options().ledger_options());
  for (const char* name : {"clinic.ledger", "clinic.ledger-wal", "clinic.ledger-shm", "clinic.ledger-journal",
                           "clinic.ledger.lock", "clinic.ledger.queue", "clinic.ledger.poisoned", "linked"}) {
    CAPTURE(name);
    one.rule = sound;
    one.rule.file = one.folder.path(name);
    CHECK_THAT(refused<KeyUnusable>(one), says("is a file of a ledger"));
    one.rule.file = sound.file;
    one.rule.key = one.folder.path(std::string("./") + name);
    CHECK_THAT(refused_for<KeyUnusable>([&] { return one.sign(); }), says("is a file of a ledger"));
  }
  CHECK_FALSE(fs::exists(one.path + ".poisoned"));
  CHECK_FALSE(open.poison_reason());
}

TEST_CASE("due checkpoint: a file that cannot be written to is said, and the note comes with the next",
          "[evidence][checkpoint][due][faults]") {
  Signing one;
  one.sign_now();
  one.ask(4);
  const std::string notes = one.notes();
  const CheckpointRule sound = one.rule;
  for (const std::string& file : {std::string("/dev/full"), one.folder.path("no/such/folder/notes")}) {
    one.rule.file = file;
    CHECK_FALSE(refused_for<KeyIo>([&] { return one.sign(); }).empty());
  }
  one.rule.file = one.folder.path("link");
  fs::create_symlink(sound.file, one.rule.file);
  CHECK_THAT(refused<KeyIo>(one), says("cannot open"));
  one.rule = sound;
  // No room for the whole of it: what got there is taken away again.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    ledger::Ledger ledger = one.ledger();
    static_cast<void>(ledger.snapshot().tree());
    const rlimit small{notes.size() + 100, before.rlim_max};
    const std::string why = refused_for<KeyIo>([&] {
      // The state is longer than that, and was written already.
      KeyFile key(one.rule.key);
      ledger::Snapshot view = ledger.snapshot();
      const Checkpoint checkpoint = engine::sign_checkpoint(view, key);
      const engine::NotesEnd end = engine::notes_end(one.rule.file);
      REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
      engine::append_note(one.rule.file, end, checkpoint.note);
      return 0;
    });
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_THAT(why, says("cannot write"));
  }
  std::signal(SIGXFSZ, handler);
  CHECK(one.notes() == notes);
  CHECK(one.sign() == DueOutcome::appended);
  one.require_sound(2);
}

TEST_CASE("due checkpoint: to another who holds the key it is left", "[evidence][checkpoint][due]") {
  Signing one;
  one.sign_now();
  one.ask(2);
  const std::string notes = one.notes();
  {
    const KeyFile held(one.rule.key);
    const std::uint64_t lag = one.size() - engine::notes_end(one.rule.file).last->tree.size;
    one.rule.lines = static_cast<std::int64_t>(lag);
    CHECK(one.sign() == DueOutcome::left);
  }
  CHECK(one.notes() == notes);
  CHECK(one.sign() == DueOutcome::appended);
  one.require_sound(2);
}

TEST_CASE(
    "due checkpoint: what another signs while the ledger is looked at does not look as if it was put back",
    "[evidence][checkpoint][due][forks]") {
  Signing one;
  one.sign_now();
  for (const auto& [name, look] : std::vector<std::pair<std::string, std::function<void(ledger::Ledger&)>>>{
           {"due",
            [&](auto& ledger) {
              CHECK(engine::append_due_checkpoint(ledger, one.path, one.rule).outcome == DueOutcome::not_yet);
            }},
           {"last", [&](auto& ledger) { CHECK(engine::last_checkpoint(ledger, one.rule)); }}}) {
    CAPTURE(name);
    const std::uint64_t before = one.size();
    WhenViewBegins other_signs([&] {
      one.ask(2);
      one.sign_now();
    });
    ledger::Ledger looks = one.ledger();
    other_signs.from_now_on();
    CHECK_NOTHROW(look(looks));
    CHECK(other_signs.happened());
    CHECK(engine::notes_end(one.rule.file).last->tree.size > before);
  }
  one.require_sound(3);
}

TEST_CASE("due checkpoint: what the replica does not have is not signed",
          "[evidence][checkpoint][due][replica]") {
  Signing one;
  const std::string policy =
      clinic_policy("epsilon: 1000") + "replica: {file: " + one.folder.path("R") + "}\n";
  {
    engine::Engine engine = engine::Engine::open(one.path, one.clock.options());
    static_cast<void>(engine.apply_policy(one.folder.write("replicated.yaml", policy), "curator", ""));
  }
  one.sign_now();
  const ledger::ReplicaCalls before = ledger::replica_calls();
  ledger::replica_calls().sync = [](int) {
    errno = EIO;
    return -1;
  };
  {
    engine::Engine engine = engine::Engine::open(one.path, one.clock.options());
    CHECK(release(engine, request("count", "0.1")).recorded.replica_behind);
  }
  one.rule.lines = 1;
  const std::string why = refused<LedgerIo>(one);
  ledger::replica_calls() = before;
  CHECK_THAT(why, says("is not known to be durable"));
  one.require_sound(1);
  one.ask();
  CHECK(one.sign() == DueOutcome::appended);
  one.require_sound(2);
}
