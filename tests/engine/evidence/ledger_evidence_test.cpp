// Checkpoints of a ledger: what is signed, what is refused, and what two of them show of each other.
#include "epsilog/engine/ledger_evidence.hpp"

#include "clinic.hpp"
#include "epsilog/engine/witness.hpp"
#include "epsilog/ledger/ledger.hpp"
#include "in_threads.hpp"
#include "refused_for.hpp"
#include "support/catch.hpp"
#include "tampering.hpp"

using namespace epsilog;
using namespace epsilog::test;
using namespace engine;
using ledger::TreeHead;

namespace {

/// A ledger with decisions, and its key.
struct Evident {
  Clinic clinic{"epsilon: 1000"};
  std::string id = clinic.report.ledger_id;
  std::string key = clinic.folder.path("log.key");
  engine::VerifierKey vkey = engine::generate_key(key, engine::ledger_origin(id));

  void ask(int times, const std::string& of = "") const {
    engine::Engine engine = engine::Engine::open(of.empty() ? clinic.ledger() : of);
    for (int i = 0; i < times; ++i) static_cast<void>(release(engine, request("count", "0.1")));
  }
  [[nodiscard]] ledger::Snapshot view(const std::string& of = "") const {
    return ledger::Ledger::open_read_only(of.empty() ? clinic.ledger() : of).snapshot();
  }
  [[nodiscard]] Checkpoint sign(const std::string& of = "") const {
    KeyFile file(key);
    ledger::Snapshot snapshot = view(of);
    return engine::sign_checkpoint(snapshot, file);
  }
  [[nodiscard]] Checkpoint sign_from(const std::vector<Checkpoint>& notes) const {
    KeyFile file(key);
    ledger::Snapshot snapshot = view();
    return engine::sign_checkpoint(snapshot, file, notes);
  }
  [[nodiscard]] std::string copy(const std::string& name) const {
    std::filesystem::copy_file(clinic.ledger(), clinic.folder.path(name));
    return clinic.folder.path(name);
  }
  /// Forgets what was signed, as a key without care would.
  void forget() const {
    const std::string state = clinic.folder.write("log.key.state", engine::state_text({.key = vkey}));
    std::filesystem::permissions(state, std::filesystem::perms(0600));
  }
};

bool contained(ledger::Snapshot&& view, const Checkpoint& checkpoint) {
  return refused_for<NotVerified>([&] {
           engine::require_contained(view, checkpoint);
           return 0;
         })
      .empty();
}

}  // namespace

TEST_CASE("audit checkpoint: it says size and root of the tree, is signed, and the next one extends it",
          "[evidence][ledger]") {
  const Evident one;
  TreeHead seen{.size = 0, .root = ledger::empty_root()};
  for (int round = 0; round < 4; ++round) {
    one.ask(round * 3);
    const Checkpoint checkpoint = one.sign();
    CHECK(checkpoint.tree == one.view().tree());
    CHECK(engine::parse_checkpoint(engine::note_text(checkpoint.note)) == checkpoint);
    CHECK(engine::verify_attestation(checkpoint, {.log = one.vkey}).signed_by_log);
    ledger::Snapshot view = one.view();
    require_extends(seen, engine::prove_consistency(view, seen.size, checkpoint));
    seen = checkpoint.tree;
    CHECK(one.sign() == checkpoint);  // nothing came since: the same note
  }
}

TEST_CASE("audit prove: every line of a checkpoint is proved, and no line after it", "[evidence][ledger]") {
  const Evident one;
  one.ask(5);
  const Checkpoint checkpoint = one.sign();
  one.ask(3);
  ledger::Snapshot view = one.view();
  std::vector<std::string> lines;
  view.each_line(0, [&](std::string_view line) { lines.emplace_back(line); });
  REQUIRE(lines.size() > checkpoint.tree.size);
  for (std::uint64_t i = 0; i < checkpoint.tree.size; ++i) {
    const engine::ProvedLine proved = engine::prove_line(view, i, checkpoint);
    CHECK(proved.line == lines[i]);
    require_included(lines[i], engine::parse_inclusion(engine::inclusion_text(proved.proof)));
  }
  CHECK_THAT(
      refused_for<NotFound>([&] { return engine::prove_line(view, checkpoint.tree.size, checkpoint); }),
      says("sign a newer one"));
}

TEST_CASE("audit consistency: of each two sizes the older is shown to be the beginning",
          "[evidence][ledger]") {
  const Evident one;
  one.ask(6);
  const Checkpoint checkpoint = one.sign();
  ledger::Snapshot view = one.view();
  for (std::uint64_t size = 0; size <= checkpoint.tree.size; ++size) {
    const ConsistencyText proof = engine::prove_consistency(view, size, checkpoint);
    require_extends(view.tree(size), engine::parse_consistency(engine::consistency_text(proof)));
  }
  CHECK_THROWS_AS(engine::prove_consistency(view, checkpoint.tree.size + 1, checkpoint), NotVerified);
}

TEST_CASE("forks: no proof joins two checkpoints that are both beyond the fork, and one up to it is in both",
          "[evidence][ledger][forks]") {
  const Evident one;
  one.ask(3);
  const Checkpoint before = one.sign();
  const std::string fork = one.copy("fork.ledger");
  one.ask(4);
  one.ask(2, fork);
  const Checkpoint here = one.sign();
  one.forget();
  const Checkpoint there = one.sign(fork);
  REQUIRE(there.tree.size < here.tree.size);
  REQUIRE(before.tree.size < there.tree.size);

  CHECK(contained(one.view(), here));
  CHECK(contained(one.view(fork), there));
  CHECK_FALSE(contained(one.view(), there));
  CHECK_FALSE(contained(one.view(fork), here));
  // Whatever either ledger can prove between the two sizes shows nothing of the other's tree.
  const ledger::TreeHead forked = there.tree;
  ledger::Snapshot view = one.view();
  const ConsistencyText proof = engine::prove_consistency(view, forked.size, here);
  CHECK_THROWS_AS(require_extends(forked, proof), NotVerified);
  // The control: what was signed before the fork is the beginning of both.
  for (const auto& [path, newer] : {std::pair(std::string(), here), std::pair(fork, there)}) {
    CHECK(contained(one.view(path), before));
    ledger::Snapshot side = one.view(path);
    require_extends(before.tree, engine::prove_consistency(side, before.tree.size, newer));
  }
}

TEST_CASE("forks: a key that remembers signs one side alone, in either order", "[evidence][ledger][forks]") {
  const Evident one;
  one.ask(3);
  static_cast<void>(one.sign());
  const std::string fork = one.copy("fork.ledger");
  one.ask(2);
  one.ask(4, fork);
  static_cast<void>(one.sign());
  CHECK_THAT(refused_for<NotVerified>([&] { return one.sign(fork); }),
             says("are not those that this key signed") || says("are not those of the checkpoint"));
}

TEST_CASE("audit checkpoint: a ledger that was put back is not signed, and the state stays",
          "[evidence][ledger]") {
  const Evident one;
  one.ask(2);
  const std::string old = one.copy("old.ledger");
  one.ask(2);
  const Checkpoint newest = one.sign();
  CHECK_THAT(refused_for<NotVerified>([&] { return one.sign(old); }),
             says("was put back to an earlier time") && says("nothing was signed"));
  CHECK(one.sign() == newest);
  // As long as what was signed, and not the same.
  one.ask(2, old);
  CHECK_THROWS_AS(one.sign(old), NotVerified);
  CHECK(one.sign() == newest);
}

TEST_CASE("audit checkpoint: without a state it goes on from a checkpoint, after all lines were hashed again",
          "[evidence][ledger][state]") {
  const Evident one;
  one.ask(2);
  const Checkpoint first = one.sign();
  one.ask(2);
  const Checkpoint second = one.sign();
  one.ask(1);
  CHECK_THAT(refused_for<InvalidParameter>([&] { return one.sign_from({second}); }), says("can be read"));
  std::filesystem::remove(one.key + ".state");
  CHECK_THAT(refused_for<KeyUnusable>([&] { return one.sign(); }), says("--state-from"));
  Checkpoint other = second;
  other.note.signatures.front().signature[5] ^= 1;
  CHECK_THROWS_AS(one.sign_from({other}), NotVerified);
  CHECK_FALSE(std::filesystem::exists(one.key + ".state"));
  const Checkpoint third = one.sign_from({first, second});
  CHECK(third.tree == one.view().tree());
  CHECK(one.sign() == third);
}

TEST_CASE("audit checkpoint: with a checkpoint that the ledger does not have it goes on from nowhere",
          "[evidence][ledger][state][negative]") {
  const Evident one;
  one.ask(2);
  const std::string fork = one.copy("fork.ledger");
  one.ask(3);
  one.ask(2, fork);
  const Checkpoint of_fork = one.sign(fork);
  std::filesystem::remove(one.key + ".state");
  CHECK_THAT(refused_for<NotVerified>([&] { return one.sign_from({of_fork}); }),
             says("are not those of the checkpoint of that size"));
  one.ask(9, fork);
  one.forget();
  const Checkpoint beyond = one.sign(fork);
  std::filesystem::remove(one.key + ".state");
  CHECK_THAT(refused_for<NotVerified>([&] { return one.sign_from({beyond}); }), says("was put back"));
  CHECK_FALSE(std::filesystem::exists(one.key + ".state"));
}

TEST_CASE("audit checkpoint: a key of another ledger, and a witness's, sign nothing of this one",
          "[evidence][ledger][negative]") {
  const Evident one;
  const Evident other;
  CHECK_THAT(refused_for<KeyUnusable>([&] { return one.sign(other.clinic.ledger()); }),
             says("and the ledger is epsilog/" + other.id));
}

TEST_CASE("audit checkpoint: a changed row, leaf or node is not signed", "[evidence][ledger][negative]") {
  const std::vector<std::string> changes{
      "UPDATE movement SET spent = spent + 1 WHERE seq = 3",
      "UPDATE log SET leaf = zeroblob(32) WHERE line_index = (SELECT max(line_index) FROM log)",
      "UPDATE log SET blind = zeroblob(16) WHERE line_index = (SELECT max(line_index) FROM log)",
  };
  for (const std::string& change : changes) {
    CAPTURE(change);
    const Evident one;
    one.ask(2);
    static_cast<void>(one.sign());
    one.ask(2);
    const std::string state = engine::state_text(KeyFile(one.key).state());
    tamper(one.clinic.ledger(), change);
    CHECK_FALSE(refused_for<Error>([&] { return one.sign(); }).empty());
    CHECK(engine::state_text(KeyFile(one.key).state()) == state);
  }
}

TEST_CASE("audit checkpoint: many at once give notes that are consistent", "[evidence][ledger]") {
  const Evident one;
  one.ask(2);
  std::vector<Checkpoint> made(6);
  in_threads(static_cast<int>(made.size()), [&](int i) {
    Checkpoint& checkpoint = made[static_cast<std::size_t>(i)];
    one.ask(1);
    checkpoint = one.sign();
  });
  for (const Checkpoint& checkpoint : made) {
    CHECK(engine::verify_attestation(checkpoint, {.log = one.vkey}).signed_by_log);
    CHECK(contained(one.view(), checkpoint));
  }
}

TEST_CASE("cosign: a witness goes on from what it cosigned, and from nothing else", "[evidence][witness]") {
  const Evident one;
  const std::string file = one.clinic.folder.path("witness.key");
  const engine::VerifierKey witness = engine::generate_key(file, "w.example/1");
  const auto cosigned = [&](const Checkpoint& checkpoint, const ConsistencyText& proof,
                            const engine::VerifierKey& log) {
    KeyFile key(file);
    return engine::cosign(checkpoint, proof, log, key, 1'700'000'000);
  };
  const auto proof_from = [&](std::uint64_t size, const Checkpoint& checkpoint, const std::string& of = "") {
    ledger::Snapshot view = one.view(of);
    return engine::prove_consistency(view, size, checkpoint);
  };
  const auto refused = [&](const Checkpoint& checkpoint, const ConsistencyText& proof) {
    return refused_for<NotVerified>([&] { return cosigned(checkpoint, proof, one.vkey); });
  };
  one.ask(2);
  const Checkpoint first = one.sign();
  CHECK_THAT(refused(first, proof_from(1, first)), says("is from size 1, and one from size 0 is needed"));
  const Checkpoint seen = cosigned(first, proof_from(0, first), one.vkey);
  CHECK(engine::verify_attestation(seen, {.log = one.vkey, .witnesses = {witness}, .required = 1})
            .witnesses.size() == 1);
  CHECK(seen.note.signatures.size() == 2);
  // Again, from the same size: one cosignature, not two.
  CHECK(cosigned(seen, proof_from(first.tree.size, first), one.vkey).note.signatures.size() == 2);
  CHECK_THAT(refused(first, proof_from(0, first)), says("is from size 0"));

  const std::string fork = one.copy("fork.ledger");
  one.ask(3);
  one.ask(4, fork);
  const Checkpoint second = one.sign();
  static_cast<void>(cosigned(second, proof_from(first.tree.size, second), one.vkey));
  one.forget();
  const Checkpoint forked = one.sign(fork);
  // No proof that the fork can give leads from what the witness cosigned last.
  for (std::uint64_t size = 0; size <= forked.tree.size; ++size) {
    CHECK_FALSE(refused(forked, proof_from(size, forked, fork)).empty());
  }
  ConsistencyText of_other = proof_from(second.tree.size, second);
  CHECK_THAT(refused(forked, of_other), says("is of another checkpoint"));
  of_other.checkpoint = forked;
  CHECK_FALSE(refused(forked, of_other).empty());

  const Evident stranger;
  CHECK_THROWS_AS(cosigned(second, proof_from(second.tree.size, second), stranger.vkey), NotVerified);
  CHECK_THAT(refused_for<KeyUnusable>([&] {
               KeyFile key(one.key);
               return engine::cosign(second, proof_from(second.tree.size, second), one.vkey, key, 1);
             }),
             says("it cosigns nothing"));
}

TEST_CASE("cosign: without a state a witness goes on from what it cosigned", "[evidence][witness][state]") {
  const Evident one;
  const std::string file = one.clinic.folder.path("witness.key");
  static_cast<void>(engine::generate_key(file, "w.example/1"));
  one.ask(2);
  const Checkpoint first = one.sign();
  ledger::Snapshot view = one.view();
  const ConsistencyText from_nothing = engine::prove_consistency(view, 0, first);
  const ConsistencyText from_first = engine::prove_consistency(view, first.tree.size, first);
  const auto with = [&](const ConsistencyText& proof, const std::vector<Checkpoint>& state_from) {
    KeyFile key(file);
    return engine::cosign(first, proof, one.vkey, key, 1'700'000'000, state_from);
  };
  const Checkpoint cosigned = with(from_nothing, {});
  CHECK_THROWS_AS(with(from_first, {cosigned}), InvalidParameter);
  std::filesystem::remove(file + ".state");
  CHECK_THROWS_AS(with(from_first, {}), KeyUnusable);
  CHECK_THROWS_AS(with(from_first, {first}), NotVerified);  // it did not cosign that one
  CHECK_THROWS_AS(with(from_nothing, {cosigned}), NotVerified);
  CHECK_FALSE(std::filesystem::exists(file + ".state"));
  CHECK(with(from_first, {cosigned}).note == cosigned.note);
}
