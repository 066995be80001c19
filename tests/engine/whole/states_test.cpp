// Every path by which a value, a balance, an error or a debit can come about, in every state of a ledger,
// cell by cell of docs/states/paths.tsv.
#include "due_checkpoint.hpp"
#include "epsilog/engine/comparison.hpp"
#include "epsilog/engine/credentials.hpp"
#include "epsilog/engine/forecast.hpp"
#include "epsilog/engine/ledger_events.hpp"
#include "epsilog/engine/ledger_evidence.hpp"
#include "epsilog/engine/ledger_report.hpp"
#include "epsilog/engine/named_keys.hpp"
#include "epsilog/engine/policy.hpp"
#include "epsilog/engine/policy_review.hpp"
#include "epsilog/engine/reaccount.hpp"
#include "epsilog/engine/recovery.hpp"
#include "epsilog/engine/verified_backup.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "ledger_states.hpp"
#include "state_table.hpp"

using namespace epsilog;
using namespace epsilog::test;
using engine::Answer;
using engine::Engine;
using engine::ReservationKind;

namespace {

/// What a path may leave behind.
enum class Leaves { nothing, anything };

struct Path {
  const char* name;
  Leaves leaves;
  std::function<std::string(StateCell& cell)> walk;
};

ledger::RestoreOptions accepted() {
  return {.by = "curator", .why = "test", .accept_rollback = true};
}

using Words = std::function<std::string(StateCell&, Engine&)>;

Path reads(const char* name, const Words& words) {
  return {name, Leaves::nothing, [words](StateCell& cell) {
            Engine engine = cell.opened();
            return words(cell, engine);
          }};
}
Path writes(const char* name, const Words& words) {
  return {name, Leaves::anything, [words](StateCell& cell) {
            Engine engine = cell.opened();
            return words(cell, engine);
          }};
}

/// "withholds" where a released value among many is not told.
struct Listing {
  StateCell& cell;
  bool withheld = false;
  bool operator()(const Answer& answer) {
    withheld = cell.listed_word(answer) == "withholds" || withheld;
    return true;
  }
  [[nodiscard]] std::string word() const { return withheld ? "withholds" : "tells"; }
};

std::string audit_word(const engine::AuditReport& report) {
  return !report.ok ? "faults" : report.notes.empty() && report.stale_replicas.empty() ? "verifies" : "notes";
}

Path showing(const char* name, const char* key) {
  return reads(
      name, [key](StateCell& cell, Engine& engine) { return cell.word(engine.show(cell.ids.at(key), {})); });
}
Path asking(const char* name, const engine::Request& asked) {
  return writes(name, [asked](StateCell& cell, Engine& engine) {
    return cell.word(asked.reservation == ReservationKind::none ? release(engine, asked)
                                                                : engine.reserve(asked, {}));
  });
}
/// Two rows, whose values are told as those of one answer are.
Path batching(const char* name, ReservationKind reservation) {
  return writes(name, [reservation](StateCell& cell, Engine& engine) {
    const engine::Request row = request("count", "0.05");
    engine::Request batch = row;
    batch.question = {};
    batch.epsilon = 0;
    batch.rows = {{row.question, row.epsilon}, {row.question, row.epsilon}};
    batch.reservation = reservation;
    Answer answer = reservation == ReservationKind::none ? release(engine, batch) : engine.reserve(batch, {});
    for (const Answer& one : answer.rows) {
      for (const accounting::Rational& value : one.released.values) answer.released.values.push_back(value);
    }
    return cell.word(answer);
  });
}
Path committing(const char* name, const char* key, std::optional<std::string> value = {},
                const char* by = "alice") {
  return writes(name, [key, value, by](StateCell& cell, Engine& engine) {
    mechanisms::SystemBits bits;
    return cell.word(engine.commit(cell.ids.at(key), by, value, bits, {}));
  });
}
Path acting(const char* name, const char* key,
            const std::function<Answer(Engine&, const std::string&, const engine::Actor&)>& act,
            const char* by) {
  return writes(name, [key, act, by](StateCell& cell, Engine& engine) {
    return cell.word(act(engine, cell.ids.at(key), by));
  });
}
Path applying(const char* name, const std::string& policy) {
  return writes(name, [policy](StateCell& cell, Engine& engine) {
    return engine.apply_policy(cell.policies + policy, "curator", "test").changed ? "applies" : "?";
  });
}
/// As the API does it: a text, in place of the version that was read.
Path offering(const char* name, const std::string& policy, bool read_before,
              std::optional<std::string> acting = {}) {
  return writes(name, [=](StateCell& cell, Engine& engine) {
    engine::PolicyUpload offered{.yaml = file_text(cell.policies + policy), .acting = acting};
    offered.expected_sha256 = read_before ? engine.active_policy_version().sha256 : std::string(64, '0');
    return engine.apply_policy(offered, "curator", "test").changed ? "applies" : "?";
  });
}
/// As a daemon does that tells what was read on a tick.
Path at_tick(const char* name, const Words& words) {
  return {name, Leaves::anything, [words](StateCell& cell) {
            engine::EngineOptions options = cell.options();
            options.answers = engine::TickedAnswers{.after_ms = 0, .every_ms = 10};
            Engine engine = Engine::open(cell.path, options);
            return words(cell, engine);
          }};
}
Path relocating(const char* name, const std::string& file) {
  return writes(name, [file](StateCell& cell, Engine& engine) {
    return engine.relocate("clinic", cell.policies + file, "curator", "test").changed ? "moves" : "?";
  });
}
/// Only the library offers these.
Path library(const char* name, Leaves leaves, const std::function<std::string(StateCell&)>& walk) {
  return {name, leaves, walk};
}

/// Signs by a rule whose key is new.
Path noting(const char* name, std::int64_t lines,
            const std::function<bool(StateCell&, ledger::Ledger&, const engine::CheckpointRule&)>& sign) {
  return library(name, Leaves::nothing, [lines, sign](StateCell& cell) {
    const TemporaryFolder folder;
    ledger::Ledger opened = ledger::Ledger::open_read_only(cell.path, cell.ledger_options());
    const engine::CheckpointRule rule{
        .key = folder.path("key"), .file = folder.path("notes"), .lines = lines};
    (void)engine::generate_key(rule.key, engine::ledger_origin(opened.snapshot().ledger_id()));
    return sign(cell, opened, rule) ? "tells" : "?";
  });
}

/// As Listing, of what the ledger itself tells.
std::string stored_word(StateCell& cell, const ledger::StoredDecision& stored) {
  if (!stored.release) return "tells";
  if (stored.values.empty()) return "withholds";
  cell.told.push_back({stored.id, stored.values});
  return "replays";
}

std::string after_deadlines(StateCell& cell, Engine& engine) {
  cell.clock.pass(std::chrono::hours(3));
  const std::string wrote = cell.word(release(engine, request("count", "2.95")));
  for (const char* key : kLivedKeys) {
    if (key == std::string("unreadable")) continue;  // stays as it is where it cannot be read
    if (key == std::string("committed"))
      continue;  // does not wait, and is not told where its leaf is another
    const Answer ended = engine.show(cell.ids.at(key), {});
    if (ended.recorded.state == engine::RequestState::reserved ||
        ended.recorded.state == engine::RequestState::pending)
      return wrote;
  }
  return "ends";
}

Answer approve(Engine& engine, const std::string& id, const engine::Actor& by) {
  return engine.approve(id, by);
}
Answer approve_as_seen(Engine& engine, const std::string& id, const engine::Actor& by) {
  return engine.approve(id, by, {}, engine.show(id, {}).recorded.tag);
}
Answer approve_unseen(Engine& engine, const std::string& id, const engine::Actor& by) {
  return engine.approve(id, by, {}, "another");
}

std::vector<Path> paths() {
  using engine::Request;
  Request adds_up = request("count", "0.1", "", "ward");
  engine::with_totals(adds_up.question, accounting::Rational(1, 5), true);
  Request mallory = request("count", "0.1");
  mallory.principal = "mallory";
  Request other = lived_request("granted");
  other.epsilon = accounting::Rational(1, 4);
  return {
      reads("plan",
            [](StateCell& cell, Engine& engine) {
              const Answer plan = engine.plan(request("count", "0.1"), {});
              CHECK_FALSE(plan.recorded.log);
              return plan.recorded.state == engine::RequestState::granted ? std::string("tells")
                                                                          : cell.word(plan);
            }),
      reads("plan of a bound key",
            [](StateCell&, Engine& engine) {
              return engine.plan(lived_request("granted"), {}).released.values.empty() ? "tells" : "?";
            }),
      reads("plan of a batch",
            [](StateCell&, Engine& engine) {
              return engine.plan_sequence().next(request("count", "0.1"), {}).recorded.granted ? "tells"
                                                                                               : "refuses";
            }),
      reads("plan of every mechanism",
            [](StateCell&, Engine& engine) {
              const auto mechanisms = engine.compare(request("count", "0.1"), {}).mechanisms;
              return mechanisms.front().plan->recorded.granted ? "tells" : "refuses";
            }),
      reads("forecast",
            [](StateCell&, Engine& engine) {
              return engine.forecast(request("count", "0.1"), {}).releases > 0 ? "tells" : "refuses";
            }),
      reads("budget", [](StateCell&, Engine& engine) { return engine.budget("").empty() ? "?" : "tells"; }),
      reads("pending",
            [](StateCell& cell, Engine& engine) {
              Listing listing{cell};
              engine.pending("", std::ref(listing));
              return listing.word();
            }),
      reads("history",
            [](StateCell& cell, Engine& engine) {
              Listing listing{cell};
              engine.history("", 0, std::ref(listing));
              return listing.word();
            }),
      reads("history, newest first",
            [](StateCell& cell, Engine& engine) {
              Listing listing{cell};
              (void)engine.history({.newest_first = true}, std::ref(listing));
              return listing.word();
            }),
      reads("history, a page",
            [](StateCell& cell, Engine& engine) {
              Listing listing{cell};
              (void)engine.history(engine::HistoryPage{}, std::ref(listing));
              return listing.word();
            }),
      library("history, what else happened", Leaves::nothing,
              [](StateCell& cell) {
                const auto events = engine::ledger_events(cell.path, {}, cell.options());
                return events.empty() ? "?" : "tells";
              }),
      reads("policy show",
            [](StateCell&, Engine& engine) {
              return engine.active_policy().datasets().empty() ? "?" : "tells";
            }),
      reads("policy diff",
            [](StateCell& cell, Engine& engine) {
              const std::string next = cell.policies + "larger.yaml";
              return engine.review(next).refused.empty() ? "tells" : "closed";
            }),
      showing("show, released", "granted"),
      showing("show, committed", "committed"),
      showing("show, reserved", "reserved"),
      showing("show, pending", "pending"),
      showing("show, refused", "refused"),
      showing("show, token issued", "token issued"),
      reads("show, by the token",
            [](StateCell& cell, Engine& engine) { return cell.word(engine.show(cell.token, {})); }),
      showing("show, unreadable", "unreadable"),
      library("audit verify", Leaves::nothing,
              [](StateCell& cell) { return audit_word(engine::audit_verify(cell.path)); }),
      library("audit replay", Leaves::nothing,
              [](StateCell& cell) {
                std::int64_t differing = 0;
                const auto report =
                    engine::audit_replay(cell.path, [&](const engine::ReplayedDecision& decision) {
                      differing += decision.faults.empty() ? 0 : 1;
                    });
                return audit_word(report);
              }),
      library("audit reaccount", Leaves::nothing,
              [](StateCell& cell) {
                engine::ReaccountQuestion question;
                question.accountants = {accounting::Accountant::pure};
                (void)engine::reaccount(cell.path, question, {}, cell.options());
                return "tells";
              }),
      library("audit report", Leaves::nothing,
              [](StateCell& cell) {
                const engine::LedgerReport report = engine::ledger_report(cell.path, {}, cell.options());
                Listing listing{cell};
                const auto part =
                    engine::each_reported_decision(cell.path, report, {}, cell.options(), std::ref(listing));
                CHECK((report.withheld == 0) == (listing.word() != "withholds"));
                if (!report.audit.ok) return std::string("faults");
                return part || !report.unread.empty() ? std::string("?") : listing.word();
              }),
      asking("release", request("count", "0.1")),
      asking("release, computed elsewhere", supplied("3", "0.1")),
      at_tick("release, at its tick",
              [](StateCell& cell, Engine& engine) {
                return cell.word(release(engine, request("count", "0.1")));
              }),
      asking("release, a table that adds up", adds_up),
      asking("release, a median", request("median:age", "0.1")),
      asking("release, distinct values", request("distinct:ward", "0.1")),
      asking("release, a proportion", request("proportion:ward:A", "0.1")),
      asking("release, a ratio", request("ratio:cost,age", "0.1")),
      asking("release, beyond the budget", request("count", "2.5")),
      asking("release, to be approved", request("count", "1.2")),
      asking("release, by nobody declared", mallory),
      batching("release of a batch", ReservationKind::none),
      batching("reserve, a batch", ReservationKind::reserved),
      writes("release, several",
             [](StateCell& cell, Engine& engine) {
               const std::vector<Request> asked{request("count", "0.1"), supplied("3", "0.1"),
                                                lived_request("granted")};
               const auto answers = release_many(engine, asked);
               const std::string first = cell.word(answers.at(0));
               return cell.word(answers.at(1)) == first && cell.word(answers.at(2)) == "replays"
                          ? first
                          : std::string("?");
             }),
      asking("retry, released", lived_request("granted")),
      asking("retry, committed", lived_request("committed")),
      asking("retry, reserved", lived_request("reserved")),
      asking("retry, pending", lived_request("pending")),
      asking("retry, refused", lived_request("refused")),
      asking("retry, unreadable", lived_request("unreadable")),
      asking("retry, another request", other),
      asking("reserve", reservation(request("count", "0.1"))),
      asking("reserve, against a token",
             reservation(request("value:score", "0.1"), ReservationKind::reserved_against_token)),
      committing("commit", "reserved"),
      at_tick(
          "commit, at its tick",
          [](StateCell& cell, Engine& engine) { return cell.word(commit(engine, cell.ids.at("reserved"))); }),
      committing("commit, computed elsewhere", "value", "3"),
      committing("commit, token issued", "token issued", "3"),
      committing("commit, token not issued", "guarded", "3"),
      writes("commit, by the token",
             [](StateCell& cell, Engine& engine) {
               mechanisms::SystemBits bits;
               return cell.word(engine.commit(cell.token, "alice", "3", bits, {}));
             }),
      committing("commit, again", "committed"),
      committing("commit, pending", "pending"),
      committing("commit, by another", "reserved", {}, "bob"),
      committing("commit, unreadable", "unreadable"),
      acting("cancel", "reserved", &Engine::cancel, "alice"),
      acting("cancel, computed elsewhere", "value", &Engine::cancel, "alice"),
      acting("cancel, token not issued", "guarded", &Engine::cancel, "alice"),
      acting("cancel, token issued", "token issued", &Engine::cancel, "alice"),
      acting("cancel, pending", "pending", &Engine::cancel, "alice"),
      acting("cancel, committed", "committed", &Engine::cancel, "alice"),
      acting("cancel, unreadable", "unreadable", &Engine::cancel, "alice"),
      acting("token", "guarded", &Engine::issue_token, "alice"),
      acting("token, again", "token issued", &Engine::issue_token, "alice"),
      acting("approve", "pending", approve, "carol"),
      acting("approve, last", "approved once", approve, "dave"),
      acting("approve, by who asked", "pending", approve, "alice"),
      acting("approve, as it was seen", "pending", approve_as_seen, "carol"),
      acting("approve, not as it was seen", "pending", approve_unseen, "carol"),
      writes("reject",
             [](StateCell& cell, Engine& engine) {
               return cell.word(engine.reject(cell.ids.at("pending"), "carol", "no"));
             }),
      writes("expiry", after_deadlines),
      applying("policy apply", "again.yaml"),
      applying("policy apply, a larger budget", "larger.yaml"),
      applying("policy apply, less than is spent", "less.yaml"),
      offering("policy apply, a text", "again.yaml", true),
      offering("policy apply, a text for another version", "again.yaml", false),
      offering("policy apply, a text that locks out", "again.yaml", true, "curator"),
      relocating("relocate", "elsewhere.csv"),
      relocating("relocate, to what is not there", "absent.csv"),
      library("key add", Leaves::anything,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open(cell.path, cell.ledger_options());
                const engine::VerifierKey key{.name = engine::ledger_origin(opened.ledger_id())};
                return engine::record_key_change(opened, key.text(), engine::KeyChange::add, "curator",
                                                 "test")
                               .changed
                           ? "adds"
                           : "?";
              }),
      library("credentials add", Leaves::anything,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open(cell.path, cell.ledger_options());
                static_cast<void>(engine::add_uid(
                    opened, {.principal = "alice", .id = "u1", .by = "curator", .why = "test"}, 1000));
                return "maps";
              }),
      library("credentials revoke", Leaves::anything,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open(cell.path, cell.ledger_options());
                const auto issued =
                    engine::new_token(opened, {.principal = "alice", .by = "curator", .why = "test"});
                static_cast<void>(engine::revoke_credential(opened, issued.credential.id, "curator", "test"));
                auto view = opened.snapshot();
                const auto book = engine::CredentialBook::of(view);
                return book.by_token(issued.token.text(), view.now()) ? "?" : "revokes";
              }),
      library("clock confirm", Leaves::anything,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open(cell.path, cell.ledger_options());
                auto transaction = opened.begin();
                transaction.confirm_clock("curator");
                (void)opened.commit(std::move(transaction));
                return "confirms";
              }),
      library("init", Leaves::nothing,
              [](StateCell& cell) {
                (void)Engine::init(cell.policies + "again.yaml", cell.path, "curator");
                return "?";
              }),
      library("recover", Leaves::anything,
              [](StateCell& cell) {
                return engine::recover(cell.path, "curator").was_poisoned ? "recovers" : "tells";
              }),
      library("recover, from the replica", Leaves::anything,
              [](StateCell& cell) {
                const auto recovery = engine::recover_from(cell.path, cell.replica,
                                                           {.by = "curator", .why = "test"}, cell.options());
                if (!recovery.faults.empty()) return "faults";
                return recovery.restored > 0 ? "recovers" : "tells";
              }),
      library("backup", Leaves::nothing,
              [](StateCell& cell) {
                const TemporaryFolder folder;
                const auto made = engine::backup(cell.path, folder.path("copy"), cell.options());
                if (made.faults.empty()) CHECK(engine::audit_verify(folder.path("copy")).ok);
                CHECK(std::filesystem::exists(folder.path("copy")) == made.faults.empty());
                return made.faults.empty() ? "copies" : "faults";
              }),
      library("restore, over the ledger", Leaves::nothing,
              [](StateCell& cell) {
                (void)engine::restore(cell.path, cell.policies + "backup", accepted(), cell.options());
                return "?";
              }),
      library("restore, the ledger being the backup", Leaves::nothing,
              [](StateCell& cell) {
                const TemporaryFolder folder;
                const bool replicated = std::filesystem::exists(cell.replica);
                const std::string lines = replicated ? file_text(cell.replica) : "";
                const auto restored =
                    engine::restore(folder.path("ledger"), cell.path, accepted(), cell.options());
                // It is not the ledger that the cell goes on with.
                if (replicated) write_private(cell.replica, lines);
                if (!restored.faults.empty()) return "faults";
                CHECK(engine::audit_verify(folder.path("ledger")).ok);
                return restored.replica.empty() ? "forgets" : "restores";
              }),
      library("restore, a sealed ledger being the backup", Leaves::nothing,
              [](StateCell& cell) {
                const TemporaryFolder folder;
                ledger::RestoreOptions steps = accepted();
                steps.sealed = true;
                const auto restored =
                    engine::restore(folder.path("ledger"), cell.path, steps, cell.options());
                if (!restored.faults.empty()) return "faults";
                CHECK(engine::audit_verify(folder.path("ledger")).ok);
                return "restores";
              }),
      library("seal", Leaves::anything,
              [](StateCell& cell) {
                return ledger::Ledger::seal(cell.path, "curator", "moved", cell.ledger_options()).changed
                           ? "seals"
                           : "tells";
              }),
      library("audit checkpoint", Leaves::nothing,
              [](StateCell& cell) {
                const TemporaryFolder folder;
                auto view = ledger::Ledger::open_read_only(cell.path, cell.ledger_options()).snapshot();
                const std::string file = folder.path("key");
                (void)engine::generate_key(file, engine::ledger_origin(view.ledger_id()));
                engine::KeyFile key(file);
                return engine::sign_checkpoint(view, key).tree == view.tree() ? "tells" : "?";
              }),
      noting("checkpoint of the policy", 1,
             [](StateCell& cell, ledger::Ledger& opened, const engine::CheckpointRule& rule) {
               const auto outcome = engine::append_due_checkpoint(opened, cell.path, rule).outcome;
               return outcome == engine::DueOutcome::appended;
             }),
      noting("checkpoint asked for", 1'000'000,
             [](StateCell& cell, ledger::Ledger& opened, const engine::CheckpointRule& rule) {
               return engine::append_checkpoint(opened, cell.path, rule, {}).fresh;
             }),
      library("newest checkpoint", Leaves::nothing,
              [](StateCell& cell) {
                const TemporaryFolder folder;
                ledger::Ledger opened = ledger::Ledger::open_read_only(cell.path, cell.ledger_options());
                ledger::Snapshot view = opened.snapshot();
                const std::string origin = engine::ledger_origin(view.ledger_id());
                engine::SignedNote note{.text = engine::checkpoint_text(origin, view.tree())};
                const auto key = engine::SigningKey::generate(origin, engine::SignatureType::ed25519);
                note.signatures.push_back(key.sign(note.text));
                const engine::CheckpointRule rule{.key = folder.path("key"),
                                                  .file = folder.write("notes", engine::note_text(note))};
                const auto last = engine::last_checkpoint(opened, rule);
                return last && last->note == note ? "tells" : "?";
              }),
      library("audit export", Leaves::nothing,
              [](StateCell& cell) {
                auto view = ledger::Ledger::open_read_only(cell.path, cell.ledger_options()).snapshot();
                bool told = false;
                view.each_line(0, [&told](std::string_view) { told = true; });
                return told ? "tells" : "?";
              }),
      library("audit prove", Leaves::nothing,
              [](StateCell& cell) {
                auto view = ledger::Ledger::open_read_only(cell.path, cell.ledger_options()).snapshot();
                const engine::Checkpoint checkpoint{
                    .origin = engine::ledger_origin(view.ledger_id()), .tree = view.tree(), .note = {}};
                const auto line = view.find_by_id(cell.ids.at("granted")).value().line;
                return engine::prove_line(view, static_cast<std::uint64_t>(line), checkpoint).line.empty()
                           ? "?"
                           : "tells";
              }),
      library("Snapshot::find_key", Leaves::nothing,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open_read_only(cell.path, cell.ledger_options());
                return stored_word(cell, opened.snapshot().find_by_key("alice", "granted").value());
              }),
      library("Snapshot::each_decision", Leaves::nothing,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open_read_only(cell.path, cell.ledger_options());
                std::string said = "tells";
                opened.snapshot().each_decision("", 0,
                                                [&](const ledger::StoredDecision& stored) {
                                                  if (stored.release) said = stored_word(cell, stored);
                                                },
                                                {});
                return said;
              }),
      library("Snapshot::accounts", Leaves::nothing,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open_read_only(cell.path, cell.ledger_options());
                return opened.snapshot().accounts("").empty() ? "?" : "tells";
              }),
      library("Transaction::find_key", Leaves::nothing,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open(cell.path, cell.ledger_options());
                auto transaction = opened.begin();
                return stored_word(cell, transaction.find_by_key("alice", "granted").value());
              }),
      library("Transaction::accounts", Leaves::nothing,
              [](StateCell& cell) {
                auto opened = ledger::Ledger::open(cell.path, cell.ledger_options());
                auto transaction = opened.begin();
                return transaction.accounts("clinic").empty() ? "?" : "tells";
              }),
  };
}

/// Who writes nothing changes none of these.
std::string balances(const std::string& path) {
  auto opened = ledger::Ledger::open_read_only(path);
  auto view = opened.snapshot();
  std::string text = std::to_string(view.decision_count()) + " decisions";
  for (const ledger::AccountState& account : view.accounts("")) {
    text += ", " + account.scope + " " + std::to_string(account.balance.limit) + "/" +
            std::to_string(account.balance.spent) + "/" + std::to_string(account.balance.reserved);
  }
  return text;
}

/// In a process of its own, which is that of another user where tests may become one.
std::string walked_by_another(const Path& path, StateCell& cell) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool became = ::geteuid() != 0 ||
                        (::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
    std::string said = "?";
    if (became) said = cell.word_of([&] { return path.walk(cell); });
    const auto written = ::write(ends[1], said.data(), said.size());
    ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  for (char c = 0; ::read(ends[0], &c, 1) == 1;) said += c;
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(::chmod(cell.folder().c_str(), 0700) == 0);
  return said;
}

bool is_failure(const std::string& word) {
  static const std::set<std::string> kFailures{"busy",        "io",       "corrupt",     "unusable",
                                               "forbids",     "fails",    "invalid",     "closed",
                                               "moved",       "unknown",  "contradicts", "unavailable",
                                               "rolled back", "replaced", "sealed",      "lines missing"};
  return kFailures.contains(word);
}

/// A token is told where it is durable and here, always the same one, and nowhere else.
void require_tokens(const LedgerState& state, const StateCell& cell, const LivedLedger& lived) {
  for (const AcknowledgedToken& told : cell.tokens) {
    CAPTURE(told.reservation);
    if (!told.durable) {
      CHECK(told.token.empty());
    } else if (told.reservation == lived.ids.at("token issued")) {
      CHECK(told.token == (state.token == Token::hash ? std::string() : cell.token));
    } else {
      CHECK((told.token.empty() || told.token.size() == 2 * std::tuple_size_v<ledger::DataToken::Bytes>));
      CHECK(told.token != lived.token);
    }
  }
}

std::string word_in(const LedgerState& state, const Path& path, const LivedLedger& lived,
                    const std::string& prepared, const SharedClock& clock) {
  CAPTURE(state.name, path.name);
  StateCell cell(prepared, clock, lived);
  const std::string before = state.readable ? balances(prepared) : "";
  if (state.enter) state.enter(cell);
  const std::string word =
      state.other_user ? walked_by_another(path, cell) : cell.word_of([&] { return path.walk(cell); });
  cell.turn.reset();
  cell.kept.reset();
  if (state.forgotten) forget_end(cell.path);
  cell.require_clean_messages();
  if (!state.readable) {
    for (const AcknowledgedValues& one : cell.told) {
      if (lived.values.contains(one.decision)) CHECK(lived.values.at(one.decision) == one.values);
    }
    return word;
  }
  const bool unchanged = balances(cell.path) == before;
  if (path.leaves == Leaves::nothing) CHECK(unchanged);
  if (is_failure(word) && word != "forbids") CHECK(unchanged);
  std::filesystem::remove(cell.sibling(".poisoned"));
  // In a ledger with a replica it says which lines that holds.
  if (!state.replicated) std::filesystem::remove(cell.sibling(".lock"));
  cell.require_kept();
  if (state.tree == Tree::lost) {
    for (const AcknowledgedLeaf& place : cell.places) CHECK_FALSE(place.log);
  } else {
    cell.require_places(
        state.tree == Tree::told ? lived.places : std::map<std::string, ledger::LogPosition>(),
        state.tree != Tree::changed);
  }
  require_tokens(state, cell, lived);
  if (!unchanged && (state.verifies || state.name == std::string("poisoned"))) CHECK(cell.faults() == "");
  return word;
}

/// "?" where the table has no such cell.
std::string cell_of(const StateTable& table, const std::string& row, const std::string& column) {
  const auto place = std::find(table.columns.begin(), table.columns.end(), column) - table.columns.begin();
  for (const auto& [name, cells] : table.rows) {
    if (name == row && place < static_cast<std::ptrdiff_t>(cells.size())) {
      return cells[static_cast<std::size_t>(place)];
    }
  }
  return "?";
}

/// Walks one cell in `part` of each row and column, those on diagonals, and one row whole; 1: all of them.
void walk_cells(std::size_t part) {
  const StateTable written = state_table("paths");
  const LivedLedger lived;
  (void)engine::backup(lived.path, lived.folder.path("backup"));
  StateTable found;
  for (const Path& path : paths()) found.rows.emplace_back(path.name, std::vector<std::string>{});
  for (const LedgerState& state : ledger_states()) {
    const std::size_t column = found.columns.size();
    found.columns.emplace_back(state.name);
    const TemporaryFolder folder;
    const std::string prepared = folder.path("prepared.ledger");
    std::filesystem::copy_file(lived.path, prepared);
    const SharedClock clock(lived.clock.reading());
    state.prepare(prepared, clock);
    // Only root can be somebody else.
    const bool walked = !state.other_user || ::geteuid() == 0;
    if (!walked) WARN("not root: the column '" << state.name << "' is not walked");
    std::size_t row = 0;
    for (const Path& path : paths()) {
      // She is refused before an account is read, and so the first to meet what another finds while planning.
      const bool always = path.name == std::string("release, by nobody declared");
      const bool chosen = walked && (always || (row + column) % part == 0);
      found.rows[row++].second.push_back(chosen ? word_in(state, path, lived, prepared, clock)
                                                : cell_of(written, path.name, state.name));
    }
  }
  require_as_found("paths", found, "Path");
}

}  // namespace

TEST_CASE("states: a path in a state of a ledger does what docs/states says, one cell in twelve",
          "[engine][states]") {
  walk_cells(12);
}

TEST_CASE("states: every path in every state of a ledger does what docs/states says",
          "[engine][states][.long]") {
  walk_cells(1);
}

TEST_CASE("states: the page explains every word that it uses and counts its cells", "[engine][states]") {
  require_explained({"paths", "later_versions", "group_members"});
}
