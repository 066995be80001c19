// One history, and the states that a ledger which holds it can be in: the columns of docs/states/paths.tsv.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commit_mark.hpp"
#include "copied_ledger.hpp"
#include "epsilog/engine/recovery.hpp"
#include "file_text.hpp"
#include "poison.hpp"
#include "sql_rows.hpp"
#include "tampering.hpp"
#include "waiting.hpp"

namespace epsilog::test {

/// epsilon 3 a day; above 1 two of carol, dave and alice have to agree.
inline std::string lived_policy(const std::string& epsilon = "3") {
  return clinic_policy(
      "epsilon: " + epsilon + ", renew: day, accept_unbounded_lifetime: true",
      "    allow: {statistics: [count, value, quantile, distinct, proportion, ratio]}\n" +
          waiting_rules(
              "{required: 2, by: {principals: [dave, alice], roles: [custodian]}, above: {epsilon: 1}, "
              "expires: 2h}"));
}

inline engine::Request reservation(engine::Request asked,
                                   engine::ReservationKind as = engine::ReservationKind::reserved) {
  asked.reservation = as;
  return asked;
}

/// The requests of the history, by key.
inline engine::Request lived_request(const std::string& key) {
  if (key == "granted") return request("count", "1", key);
  if (key == "refused") return request("count", "2.9", key);
  if (key == "pending" || key == "approved once") return request("count", "1.1", key);
  if (key == "value") return reservation(request("value:score", "0.1", key));
  if (key == "guarded" || key == "token issued") {
    return reservation(request("value:score", "0.1", key), engine::ReservationKind::reserved_against_token);
  }
  return reservation(request("count", "0.1", key));  // "committed", "reserved", "unreadable"
}
inline constexpr std::array kLivedKeys{"granted", "refused", "committed",    "reserved", "unreadable",
                                       "value",   "guarded", "token issued", "pending",  "approved once"};

/// A ledger with a decision of every kind, closed.
struct LivedLedger {
  LivedLedger() : clock(noon_to_come()) {
    // Whoever reads it as another user has to find the rows.
    std::filesystem::permissions(folder.path(""), std::filesystem::perms(0755));
    folder.write("visits.csv", kVisits);
    path = folder.path("clinic.ledger");
    (void)engine::Engine::init(folder.write("policy.yaml", lived_policy()), path, "curator");
    engine::EngineOptions options;
    options.clock = clock.clock();
    engine::Engine engine = engine::Engine::open(path, options);
    for (const std::string key : kLivedKeys) {
      const engine::Request asked = lived_request(key);
      const engine::Answer answer = asked.reservation == engine::ReservationKind::none
                                        ? release(engine, asked)
                                        : engine.reserve(asked, {});
      ids[key] = answer.recorded.decision_id;
      places[ids[key]] = answer.recorded.log.value();
    }
    for (const auto& [name, epsilon] :
         {std::pair("again", "3"), std::pair("larger", "4"), std::pair("less", "1")}) {
      folder.write(std::string(name) + ".yaml", lived_policy(epsilon) + "# another text\n");
    }
    folder.write("elsewhere.csv", kVisits);
    token = engine.issue_token(ids["token issued"], "alice").recorded.token;
    (void)engine.approve(ids["approved once"], "carol");
    mechanisms::SystemBits bits;
    const engine::Answer committed = engine.commit(ids["committed"], "alice", {}, bits, {});
    places[committed.recorded.decision_id] = committed.recorded.log.value();
    engine.history("", 0, [this](const engine::Answer& answer) {
      decisions = answer.recorded.seq;
      if (!answer.released.values.empty()) values[answer.recorded.decision_id] = answer.released.values;
    });
  }

  TemporaryFolder folder;
  SharedClock clock;
  std::string path;
  std::map<std::string, std::string> ids;
  std::string token;  ///< the only one that was issued
  std::map<std::string, std::vector<accounting::Rational>> values;
  std::map<std::string, ledger::LogPosition> places;  ///< as first told
  std::int64_t decisions = 0;
};

/// Writes over the header of the first page of a table or index.
inline void damage(const std::string& path, const std::string& name) {
  const std::int64_t offset = std::stoll(sql_value(
      path,
      "SELECT (rootpage - 1) * (SELECT page_size FROM pragma_page_size) FROM sqlite_master WHERE name = '" +
          name + "'"));
  REQUIRE(offset > 0);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(offset);
  file << std::string(64, '\x5a');
}

/// A file descriptor that is closed with its owner.
struct HeldLock {
  explicit HeldLock(const std::string& path) : descriptor(::open(path.c_str(), O_RDWR | O_CREAT, 0600)) {
    REQUIRE(::flock(descriptor, LOCK_EX | LOCK_NB) == 0);
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() { ::close(descriptor); }
  int descriptor;
};

/// One cell's ledger in the state of its column.
struct StateCell : CopiedLedger {
  StateCell(const std::string& prepared, const SharedClock& at, const LivedLedger& lived)
      : CopiedLedger(prepared, at.reading()),
        ids(lived.ids),
        token(lived.token),
        policies(lived.folder.path("")) {
    recorded = lived.decisions;
  }
  std::map<std::string, std::string> ids;
  std::string token;     ///< that was issued
  std::string policies;  ///< where they are
  std::string replica = "/nowhere/replica";
  std::unique_ptr<HeldLock> turn;
  std::optional<engine::Engine> kept;  ///< that was open before the files became what they are

  /// Who has the ledger open acts.
  [[nodiscard]] engine::Engine opened() {
    if (!kept) return open();
    engine::Engine engine = std::move(*kept);
    kept.reset();
    return engine;
  }
};

/// What became of the log since the history was told.
enum class Tree {
  told,     ///< it is that one, or its continuation
  changed,  ///< a leaf or node is not the hash of what it stands for
  lost,     ///< a leaf or node is not there that the root needs
};

/// What the ledger has of a token that was issued.
enum class Token {
  bytes,
  hash,  ///< it knows the token, and cannot tell it
};

struct LedgerState {
  const char* name;
  /// Done once, to the ledger that is copied for each cell.
  std::function<void(const std::string& path, const SharedClock& clock)> prepare;
  /// Done to each copy.
  std::function<void(StateCell& cell)> enter = {};
  bool verifies = true;     ///< the audit finds nothing wrong with it
  bool readable = true;     ///< by this program
  bool other_user = false;  ///< a process of another user than the owner acts
  Tree tree = Tree::told;
  Token token = Token::bytes;
  bool replicated = false;  ///< the active policy names a replica
  bool forgotten = false;   ///< what `L.lock` remembers is taken away before the cell is looked at
};

inline void write_private(const std::string& path, const std::string& bytes) {
  std::filesystem::remove_all(path);
  std::ofstream(path, std::ios::binary) << bytes;
  std::filesystem::permissions(path, std::filesystem::perms(0600));
}
/// What stands beside a ledger that nobody has open.
inline void remove_siblings(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm", ".lock", ".queue"}) std::filesystem::remove(path + suffix);
}

/// As a process leaves it that is killed in COMMIT.
inline void write_mark(StateCell& cell) {
  std::ofstream(cell.sibling(".lock"), std::ios::binary) << ledger::commit_mark_bytes(
      {.state = ledger::CommitMark::State::committing, .boot_id = ledger::current_boot_id(), .first = 1});
  std::filesystem::permissions(cell.sibling(".lock"), std::filesystem::perms(0600));
}
inline void hold_writer_lock(StateCell& cell) {
  cell.turn = std::make_unique<HeldLock>(cell.sibling(".lock"));
  cell.wait = std::chrono::milliseconds(0);
}
/// Another program puts copies in the place of files that are open.
inline void replace_files(StateCell& cell) {
  cell.kept.emplace(cell.open());
  (void)cell.kept->newest_seq();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::string file = cell.sibling(suffix);
    if (!std::filesystem::exists(file)) continue;
    std::filesystem::copy_file(file, file + ".copy");
    std::filesystem::rename(file + ".copy", file);
  }
}
/// An older copy is put in the place of a ledger that has one decision more.
inline LedgerState shorter_than_remembered() {
  const auto lock = std::make_shared<std::string>();
  return {.name = "log shorter than remembered",
          .prepare =
              [lock](const std::string& path, const SharedClock& clock) {
                std::filesystem::copy_file(path, path + ".older");
                engine::EngineOptions options;
                options.clock = clock.clock();
                {
                  engine::Engine engine = engine::Engine::open(path, options);
                  (void)release(engine, request("count", "9"));
                }
                *lock = file_text(path + ".lock");
                remove_siblings(path);
                std::filesystem::rename(path + ".older", path);
              },
          .enter = [lock](StateCell& cell) { write_private(cell.sibling(".lock"), *lock); },
          .verifies = false,
          .forgotten = true};
}
/// Who walks the paths of a column in which a process without rights does.
inline constexpr uid_t kNobody = 65534;

/// The folder and what is in it, of which that user is the owner or only of its group.
inline void give(const StateCell& cell, bool owner, mode_t folder_mode, mode_t file_mode) {
  const auto change = [&](const std::string& path, mode_t mode) {
    if (::geteuid() == 0) REQUIRE(::chown(path.c_str(), owner ? kNobody : 0, kNobody) == 0);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  };
  change(cell.path, file_mode);
  change(cell.folder(), folder_mode);
}

/// A ledger of its lines is put in its place.
inline void make_of_lines(const std::string& path) {
  std::vector<std::string> lines;
  ledger::Ledger::open_read_only(path).snapshot().each_line(
      0, [&](std::string_view line) { lines.emplace_back(line); });
  std::filesystem::remove(path);
  remove_siblings(path);
  (void)ledger::Ledger::import_lines(path, [&, next = lines.begin()]() mutable -> std::optional<std::string> {
    if (next == lines.end()) return std::nullopt;
    return *next++;
  });
}

/// So many lines that a node is stored of the tree above them.
inline void fill_first_node(const std::string& path, const SharedClock& clock) {
  engine::EngineOptions options;
  options.clock = clock.clock();
  mechanisms::SystemBits bits;
  const std::vector<engine::Request> refused(256, request("count", "9"));
  (void)engine::Engine::open(path, options).release_many(refused, bits, {});
}

/// A replica beside the ledger that cells are copied from, which each puts into its own state.
struct LivedReplica {
  std::string path;
  std::string whole;    ///< what the ledger of the cells has
  std::string further;  ///< with one more decision
};

/// Applies a policy that names it.
inline LivedReplica give_replica(const std::string& path, const SharedClock& clock) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  LivedReplica replica{.path = folder + "/replica", .whole = "", .further = ""};
  const std::string policy = folder + "/replicated.yaml";
  std::ofstream(policy) << lived_policy() << "replica: {file: " << replica.path << "}\n";
  engine::EngineOptions options;
  options.clock = clock.clock();
  (void)engine::Engine::open(path, options).apply_policy(policy, "curator", "");
  replica.whole = file_text(replica.path);
  const std::string kept = folder + "/kept.ledger";
  std::filesystem::copy_file(path, kept);
  {
    engine::Engine engine = engine::Engine::open(path, options);
    (void)release(engine, request("count", "9"));
  }
  replica.further = file_text(replica.path);
  std::filesystem::rename(kept, path);
  remove_siblings(path);
  return replica;
}

/// A state of the replica of a ledger that is as fresh as any.
inline LedgerState replica_state(
    const char* name, std::function<void(StateCell& cell, const LivedReplica& replica)> enter,
    std::function<void(const std::string& path)> prepare = [](const std::string&) {}) {
  const auto lived = std::make_shared<LivedReplica>();
  return {.name = name,
          .prepare =
              [lived, prepare](const std::string& path, const SharedClock& clock) {
                *lived = give_replica(path, clock);
                prepare(path);
              },
          .enter =
              [lived, enter](StateCell& cell) {
                cell.replica = lived->path;
                enter(cell, *lived);
              },
          .replicated = true};
}

inline std::vector<LedgerState> replica_states() {
  return {
      replica_state("replica absent",
                    [](StateCell&, const LivedReplica& replica) { std::filesystem::remove(replica.path); }),
      replica_state("replica of another",
                    [](StateCell& cell, const LivedReplica& replica) {
                      std::string other = replica.whole;
                      other[other.find("\"blind\":\"") + 9] ^= 1;
                      write_private(cell.replica, other);
                    }),
      replica_state("replica behind",
                    [](StateCell& cell, const LivedReplica& replica) {
                      const auto last = replica.whole.rfind("\n= ", replica.whole.size() - 2);
                      const auto before = replica.whole.rfind("\n= ", last - 1);
                      write_private(cell.replica,
                                    replica.whole.substr(0, replica.whole.find('\n', before + 1) + 1));
                    }),
      replica_state(
          "replica ahead",
          [](StateCell& cell, const LivedReplica& replica) { write_private(cell.replica, replica.further); }),
      // As after a power failure, and with more that was not known to be there than one group.
      replica_state(
          "replica not known to be synced",
          [](StateCell& cell, const LivedReplica& replica) { write_private(cell.replica, replica.whole); },
          [](const std::string& path) { tamper(path, "UPDATE meta SET replica_size = 1"); }),
  };
}

/// Made of the replica of a ledger on another machine.
inline LedgerState recovered_from_elsewhere() {
  const auto lived = std::make_shared<LivedReplica>();
  return {.name = "recovered from elsewhere",
          .prepare =
              [lived](const std::string& path, const SharedClock& clock) {
                *lived = give_replica(path, clock);
                write_private(lived->path, lived->whole);
                std::filesystem::remove(path);
                engine::EngineOptions options;
                options.clock = clock.clock();
                (void)engine::recover_from(path, lived->path, {.by = "curator", .why = "moved"}, options);
                lived->whole = file_text(lived->path);
                remove_siblings(path);
              },
          .enter =
              [lived](StateCell& cell) {
                cell.replica = lived->path;
                write_private(cell.replica, lived->whole);
              },
          .token = Token::hash,
          .replicated = true};
}
/// A policy names another replica while the one before it is not there.
inline LedgerState old_replica_untold() {
  const auto second = std::make_shared<LivedReplica>();
  return {.name = "old replica untold",
          .prepare =
              [second](const std::string& path, const SharedClock& clock) {
                const LivedReplica first = give_replica(path, clock);
                const std::string folder = std::filesystem::path(path).parent_path().string();
                write_private(first.path, first.whole);
                const std::string policy = folder + "/second.yaml";
                second->path = folder + "/second";
                std::ofstream(policy) << lived_policy() << "replica: {file: " << second->path << "}\n";
                engine::EngineOptions options;
                options.clock = clock.clock();
                engine::Engine engine = engine::Engine::open(path, options);
                std::filesystem::remove(first.path);
                (void)engine.apply_policy(policy, "curator", "");
                REQUIRE(engine.condition().stale_replicas == std::vector{first.path});
                second->whole = file_text(second->path);
              },
          .enter =
              [second](StateCell& cell) {
                cell.replica = second->path;
                write_private(cell.replica, second->whole);
              },
          .replicated = true};
}

/// Applies a policy that wants checkpoints signed by a key that is not there.
inline void want_checkpoints(const std::string& path, const SharedClock& clock) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::string policy = folder + "/signed.yaml";
  std::ofstream(policy) << lived_policy() << "checkpoint: {key: " << folder
                        << "/nowhere.key, file: " << folder << "/notes, every: 1}\n";
  engine::EngineOptions options;
  options.clock = clock.clock();
  (void)engine::Engine::open(path, options).apply_policy(policy, "curator", "");
}

inline std::vector<LedgerState> ledger_states() {
  using std::chrono::hours;
  using std::chrono::minutes;
  const auto nothing = [](const std::string&, const SharedClock&) {};
  std::vector<LedgerState> states{
      {"fresh", nothing},
      {"not settled", nothing, write_mark},
      {"not settled, turn taken", nothing,
       [](StateCell& cell) {
         write_mark(cell);
         hold_writer_lock(cell);
       }},
      {.name = "poisoned",
       .prepare = nothing,
       .enter = [](StateCell& cell) { cell.write("clinic.ledger.poisoned", "{\"reason\": \"committing\"}"); },
       .verifies = false},
      {"turn taken", nothing, hold_writer_lock},
      {"clock held", [](const std::string&, const SharedClock& clock) { clock.step(hours(24)); }},
      {"clock put back",
       [](const std::string& path, const SharedClock& clock) {
         clock.step(minutes(10));
         auto opened = ledger::Ledger::open(path, {.clock = clock.clock()});
         auto transaction = opened.begin();
         transaction.confirm_clock("curator");
         (void)opened.commit(std::move(transaction));
         clock.step(-minutes(10));
       }},
      {"a day later", [](const std::string&, const SharedClock& clock) { clock.pass(hours(24)); }},
      {.name = "damaged index of keys",
       .prepare = [](const std::string& path, const SharedClock&) { damage(path, "decision_by_key"); },
       .verifies = false},
      {.name = "damaged index of accounts",
       .prepare = [](const std::string& path,
                     const SharedClock&) { damage(path, "sqlite_autoindex_account_1"); },
       .verifies = false,
       .readable = false},
      {.name = "damaged accounts",
       .prepare = [](const std::string& path, const SharedClock&) { damage(path, "account"); },
       .verifies = false,
       .readable = false},
      {.name = "unreadable row",
       .prepare =
           [](const std::string& path, const SharedClock&) {
             tamper(path, "UPDATE decision SET plan = 0 WHERE key = 'unreadable'");
           },
       .verifies = false},
      {.name = "leaf changed",
       .prepare =
           [](const std::string& path, const SharedClock&) {
             tamper(
                 path,
                 "UPDATE log SET leaf = zeroblob(32) WHERE line_index = (SELECT max(line_index) FROM log)");
           },
       .verifies = false,
       .tree = Tree::changed},
      {.name = "leaf lost",
       .prepare =
           [](const std::string& path, const SharedClock&) {
             tamper(path, "UPDATE log SET leaf = x'00' WHERE line_index = (SELECT max(line_index) FROM log)");
           },
       .verifies = false,
       .tree = Tree::lost},
      {.name = "node changed",
       .prepare =
           [](const std::string& path, const SharedClock& clock) {
             fill_first_node(path, clock);
             tamper(path, "UPDATE node SET hash = zeroblob(32)");
           },
       .verifies = false,
       .tree = Tree::changed},
      {.name = "node lost",
       .prepare =
           [](const std::string& path, const SharedClock& clock) {
             fill_first_node(path, clock);
             tamper(path, "DELETE FROM node");
           },
       .verifies = false,
       .tree = Tree::lost},
      {.name = "made of lines",
       .prepare = [](const std::string& path, const SharedClock&) { make_of_lines(path); },
       .token = Token::hash},
      {.name = "of a development version",
       .prepare =
           [](const std::string& path, const SharedClock&) {
             tamper(path, "PRAGMA application_id = 1162892108; UPDATE meta SET one = 1");
           },
       .verifies = false,
       .readable = false},
      {.name = "read-only directory",
       .prepare = nothing,
       .enter = [](StateCell& cell) { give(cell, true, 0500, 0600); },
       .other_user = true},
      {.name = "another of its group",
       .prepare = nothing,
       .enter = [](StateCell& cell) { give(cell, false, 0755, 0640); },
       .other_user = true},
      {.name = "other user",
       .prepare = nothing,
       .enter = [](StateCell& cell) { give(cell, false, 0755, 0600); },
       .other_user = true},
      // The last one: where the rows were there is nothing any more.
      {"source moved",
       [](const std::string& path, const SharedClock& clock) {
         engine::EngineOptions options;
         options.clock = clock.clock();
         engine::Engine engine = engine::Engine::open(path, options);
         const std::string before = engine.source_of("clinic");
         std::filesystem::rename(before, before + ".moved");
         REQUIRE(engine.relocate("clinic", before + ".moved", "curator", "moved").changed);
       }},
  };
  std::vector<LedgerState> replicas = replica_states();
  replicas.push_back({.name = "files taken from under it", .prepare = nothing, .enter = replace_files});
  replicas.push_back(shorter_than_remembered());
  replicas.push_back(recovered_from_elsewhere());
  replicas.push_back(old_replica_untold());
  replicas.push_back({"sealed", [](const std::string& path, const SharedClock& clock) {
                        (void)ledger::Ledger::seal(path, "curator", "moved", {.clock = clock.clock()});
                        remove_siblings(path);
                      }});
  replicas.push_back({"checkpoints without their key", want_checkpoints});
  states.insert(states.end() - 1, std::make_move_iterator(replicas.begin()),
                std::make_move_iterator(replicas.end()));
  return states;
}

}  // namespace epsilog::test
