// Checkpoints and proofs as texts: the published ones, and what differs from them.
#include "epsilog/engine/proof_text.hpp"

#include "checked_rows.hpp"
#include "epsilog/engine/signing_key.hpp"
#include "published_notes.hpp"
#include "refused_for.hpp"
#include "support/catch.hpp"

using namespace epsilog::engine;
using namespace epsilog::test;
using epsilog::InvalidParameter;
using epsilog::ledger::TreeHead;

namespace {

const std::string kProofTexts = EPSILOG_SOURCE_DIR "/tests/engine/evidence/proof_texts.tsv";
const std::string kHash = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
const std::string kLine =
    "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/"
    "Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";
const std::string kCheckpoint = "example.com/behind-the-sofa\n20852163\n" + kHash + "\n\n" + kLine;

std::string checkpoint_refused(const std::string& text) {
  return refused_for<NotVerified>([&] { return parse_checkpoint(text); });
}
std::string inclusion_refused(const std::string& text) {
  return refused_for<NotVerified>([&] { return parse_inclusion(text); });
}
std::string consistency_refused(const std::string& text) {
  return refused_for<NotVerified>([&] { return parse_consistency(text); });
}

/// A tree of three lines, as docs/record_format.md has it, signed by a key of its own.
struct SignedLog {
  SigningKey key = SigningKey::generate("epsilog/0123456789abcdef0123456789abcdef", SignatureType::ed25519);
  std::vector<std::string> lines{"{\"index\":0}", "{\"index\":1}", "{\"index\":2}"};
  std::vector<epsilog::ledger::Hash> leaves{epsilog::ledger::leaf_hash(lines[0]),
                                            epsilog::ledger::leaf_hash(lines[1]),
                                            epsilog::ledger::leaf_hash(lines[2])};
  [[nodiscard]] TreeHead head() const {
    return {.size = 3,
            .root = epsilog::ledger::node_hash(epsilog::ledger::node_hash(leaves[0], leaves[1]), leaves[2])};
  }
  [[nodiscard]] Checkpoint checkpoint() const {
    Checkpoint made{.origin = key.verifier().name, .tree = head(), .note = {}};
    made.note.text = checkpoint_text(made.origin, made.tree);
    made.note.signatures.push_back(key.sign(made.note.text));
    return made;
  }
  [[nodiscard]] InclusionText second() const {
    return {.index = 1, .hashes = {leaves[0], leaves[2]}, .checkpoint = checkpoint()};
  }
};

}  // namespace

TEST_CASE("checkpoint: the published ones are read", "[evidence][checkpoint][vectors]") {
  for (const std::string& text : {kCosignedCheckpoint, kGoNote}) {
    const Checkpoint checkpoint = parse_checkpoint(text);
    CHECK(checkpoint_text(checkpoint.origin, checkpoint.tree) == checkpoint.note.text);
    CHECK(note_text(checkpoint.note) == text);
  }
  CHECK(parse_checkpoint(kCosignedCheckpoint).origin == "example.com/behind-the-sofa");
  CHECK(parse_checkpoint(kCosignedCheckpoint).tree.size == 20'852'163);
}

TEST_CASE("checkpoint: each part is demanded, and the line named", "[evidence][checkpoint][negative]") {
  check_parts(kProofTexts, "checkpoint",
              [](const CaseRow& row) { return checkpoint_refused(row[1] + "\n" + kLine); });
}

TEST_CASE("checkpoint: several in one text have one empty line between them", "[evidence][checkpoint]") {
  const std::string go = kGoNote;
  const std::string cosigned = kCosignedCheckpoint;
  const std::vector<Checkpoint> read = parse_checkpoints(go + "\n" + cosigned + "\n" + go);
  REQUIRE(read.size() == 3);
  CHECK(read[0] == parse_checkpoint(go));
  CHECK(read[1] == parse_checkpoint(cosigned));
  CHECK(read[2] == read[0]);
  CHECK(parse_checkpoints(go) == std::vector{read[0]});
  for (const std::string& text : {std::string(), std::string("\n"), go + cosigned, go + "\n\n" + cosigned,
                                  go + "\n", go + "\n" + cosigned + "\n", "\n" + go}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_checkpoints(text), NotVerified);
  }
  CHECK_THAT(refused_for([&] { return parse_checkpoints(go + "\n" + go + "\n\n"); }),
             says("line 12 is empty, and nothing follows it"));
  CHECK_THAT(refused_for([&] { return parse_checkpoints(go + "\ngo.sum\n01\n" + kHash + "\n\n" + kLine); }),
             says("line 8 has a number with leading zeroes"));
}

TEST_CASE("checkpoint: a ledger's origin is its id", "[evidence][checkpoint]") {
  CHECK(ledger_origin("0123456789abcdef0123456789abcdef") == "epsilog/0123456789abcdef0123456789abcdef");
  CHECK(is_ledger_origin("epsilog/0123456789abcdef0123456789abcdef"));
  for (const char* other :
       {"epsilog/0123456789abcdef0123456789abcde", "epsilog/0123456789ABCDEF0123456789abcdef",
        "example/0123456789abcdef0123456789abcdef", "epsilog/",
        "epsilog/0123456789abcdef0123456789abcdef0"}) {
    CHECK_FALSE(is_ledger_origin(other));
  }
}

TEST_CASE("checkpoint: who signed it is told by the keys that are given alone", "[evidence][checkpoint]") {
  const SignedLog log;
  Checkpoint checkpoint = log.checkpoint();
  const SigningKey one = SigningKey::generate("w.example/1", SignatureType::cosignature);
  const SigningKey two = SigningKey::generate("w.example/2", SignatureType::cosignature);
  const VerifierKey own = log.key.verifier();
  CHECK_FALSE(verify_attestation(checkpoint, {}).signed_by_log);
  CHECK(verify_attestation(checkpoint, {.log = own}).signed_by_log);
  const TrustedKeys both{.log = own, .witnesses = {one.verifier(), two.verifier()}, .required = 1};
  CHECK_THAT(refused_for<NotVerified>([&] { return verify_attestation(checkpoint, both); }),
             says("is cosigned by 0 of the witnesses, and 1 are required"));
  checkpoint.note.signatures.push_back(two.sign(checkpoint.note.text, 7));
  CHECK(verify_attestation(checkpoint, both).witnesses == std::vector<std::string>{"w.example/2"});
  // The same witness twice is one witness.
  checkpoint.note.signatures.push_back(two.sign(checkpoint.note.text, 8));
  TrustedKeys two_of_two = both;
  two_of_two.required = 2;
  CHECK_THAT(refused_for<NotVerified>([&] { return verify_attestation(checkpoint, two_of_two); }),
             says("is cosigned by 1 of the witnesses, and 2 are required"));

  const SigningKey stranger = SigningKey::generate(own.name, SignatureType::ed25519);
  CHECK_THAT(
      refused_for<NotVerified>([&] { return verify_attestation(checkpoint, {.log = stranger.verifier()}); }),
      says("is not signed by the key that is given"));
  VerifierKey renamed = own;
  renamed.name = "epsilog/other";
  CHECK_THAT(refused_for<NotVerified>([&] { return verify_attestation(checkpoint, {.log = renamed}); }),
             says("its origin is not the name of the key"));
}

TEST_CASE("checkpoint: keys that cannot say what is asked of them are refused",
          "[evidence][checkpoint][negative]") {
  const SigningKey log = SigningKey::generate("log", SignatureType::ed25519);
  const SigningKey witness = SigningKey::generate("w", SignatureType::cosignature);
  VerifierKey both = log.verifier();
  both.type = SignatureType::cosignature;
  const auto refused = [](const TrustedKeys& keys) {
    return refused_for<InvalidParameter>([&] { require_sound(keys); });
  };
  CHECK(refused({.log = log.verifier(), .witnesses = {witness.verifier()}, .required = 1}).empty());
  CHECK_THAT(refused({.log = witness.verifier()}), says("it signs no checkpoints"));
  CHECK_THAT(refused({.witnesses = {log.verifier()}}), says("is no witness's"));
  CHECK_THAT(refused({.witnesses = {witness.verifier(), witness.verifier()}}), says("named twice"));
  CHECK_THAT(refused({.log = log.verifier(), .witnesses = {both}}), says("named twice"));
  CHECK_THAT(refused({.witnesses = {witness.verifier()}, .required = 2}), says("of 1 witnesses no 2"));
}

TEST_CASE("inclusion proof: what is read is written again, and proves its line alone", "[evidence][proof]") {
  const SignedLog log;
  const InclusionText proof = log.second();
  const std::string text = inclusion_text(proof);
  CHECK(text.starts_with("c2sp.org/tlog-proof@v1\nindex 1\n"));
  CHECK(parse_inclusion(text) == proof);
  require_included(log.lines[1], proof);
  CHECK_THROWS_AS(require_included(log.lines[0], proof), NotVerified);
  CHECK_THROWS_AS(require_included(log.lines[1] + " ", proof), NotVerified);
  InclusionText with_extra = proof;
  with_extra.extra = std::string("\0\xff\n", 3);
  CHECK(parse_inclusion(inclusion_text(with_extra)) == with_extra);
  InclusionText beyond = proof;
  beyond.index = 3;
  CHECK_THROWS_AS(require_included(log.lines[1], beyond), NotVerified);
}

TEST_CASE("inclusion proof: the form of the examples of C2SP tlog-proof", "[evidence][proof][vectors]") {
  // The forms of the tests of transparency-dev/formats (proof/tlog_proof_test.go), with a checkpoint in its
  // place.
  const std::string one = "Zx0dm7yXvgzBIXeIiGwTSCyj4LcrRSWWTFZTYPvckK8=";
  CHECK(parse_inclusion("c2sp.org/tlog-proof@v1\nindex 0\n\n" + kCheckpoint).hashes.empty());
  CHECK(parse_inclusion("c2sp.org/tlog-proof@v1\nindex 5\n" + kHash + "\n" + kHash + "\n\n" + kCheckpoint)
            .hashes.size() == 2);
  CHECK(parse_inclusion("c2sp.org/tlog-proof@v1\nextra ZXh0cmEgaW5mb3JtYXRpb24=\nindex 10\n" + kHash +
                        "\n\n" + kCheckpoint)
            .extra == "extra information");
  check_parts(kProofTexts, "inclusion",
              [](const CaseRow& row) { return inclusion_refused(row[1] + kCheckpoint); });
  CHECK_THAT(inclusion_refused("c2sp.org/tlog-proof@v1\nindex 0\n" + kHash + "\n"),
             says("line 4 is missing"));
  std::string many = "c2sp.org/tlog-proof@v1\nindex 0\n";
  for (int i = 0; i < 63; ++i) many += one + "\n";
  CHECK(inclusion_refused(many + "\n" + kCheckpoint).empty());
  CHECK_THAT(inclusion_refused(many + one + "\n\n" + kCheckpoint), says("line 66 is one hash more"));
  // Lines of the checkpoint are counted from the first of the whole.
  CHECK_THAT(inclusion_refused("c2sp.org/tlog-proof@v1\nindex 0\n\no\n01\n" + kHash + "\n\n" + kLine),
             says("line 5 has a number with leading zeroes"));
}

TEST_CASE("inclusion proof: one that differs in any bit shows nothing", "[evidence][proof][negative]") {
  const SignedLog log;
  const std::string text = inclusion_text(log.second());
  const TrustedKeys keys{.log = log.key.verifier()};
  const auto shown = [&](const std::string& line, const std::string& proof_text) {
    try {
      const InclusionText proof = parse_inclusion(proof_text);
      static_cast<void>(verify_attestation(proof.checkpoint, keys));
      require_included(line, proof);
      return true;
    } catch (const NotVerified&) {
      return false;
    }
  };
  REQUIRE(shown(log.lines[1], text));
  std::size_t accepted = 0;
  each_flipped(text, [&](const std::string& flipped, const std::string& which) {
    CAPTURE(which);
    const bool accepts = shown(log.lines[1], flipped);
    CHECK_FALSE(accepts);
    accepted += accepts ? 1 : 0;
  });
  each_flipped(log.lines[1], [&](const std::string& flipped, const std::string&) {
    accepted += shown(flipped, text) ? 1 : 0;
  });
  CHECK(accepted == 0);
}

TEST_CASE("consistency proof: the bodies that others published are read and shown",
          "[evidence][proof][vectors]") {
  for (const std::string& body : {kAddCheckpoint, kSigsumFirst, kSigsumThird, kSigsumFifth}) {
    CHECK(consistency_text(parse_consistency(body)) == body);
  }
  const VerifierKey key = parse_verifier_key(kSigsumKey);
  TreeHead seen{.size = 0, .root = epsilog::ledger::empty_root()};
  for (const std::string& body : {kSigsumFirst, kSigsumThird, kSigsumFifth}) {
    const ConsistencyText proof = parse_consistency(body);
    CHECK(verify_attestation(proof.checkpoint, {.log = key}).signed_by_log);
    require_extends(seen, proof);
    seen = proof.checkpoint.tree;
  }
  CHECK_THAT(refused_for<NotVerified>([&] { require_extends(seen, parse_consistency(kSigsumFifth)); }),
             says("is from size 3, and one from size 5 is needed"));
}

TEST_CASE("consistency proof: those that the tests of litewitness refuse are refused",
          "[evidence][proof][vectors]") {
  const std::string third = kSigsumThird;
  const TreeHead first = parse_consistency(kSigsumFirst).checkpoint.tree;
  const auto shown = [&](const std::string& body) {
    return refused_for<NotVerified>([&] {
      const ConsistencyText proof = parse_consistency(body);
      static_cast<void>(verify_attestation(proof.checkpoint, {.log = parse_verifier_key(kSigsumKey)}));
      require_extends(first, proof);
      return 0;
    });
  };
  CHECK(shown(third).empty());
  const std::size_t hashes = third.find('\n') + 1;
  CHECK_THAT(shown("old 1\n" + third.substr(hashes + 90)), says("does not begin with that of size 1"));
  std::string other = third;
  other[hashes + 45 + 42] = 'B';
  other.replace(hashes + 45 + 41, 3, "BA=");
  CHECK_FALSE(shown(other).empty());
  other = third;
  other.replace(other.rfind("6go="), 4, "6gx=");
  CHECK_FALSE(shown(other).empty());
  other = third;
  for (std::size_t at = other.find("e562"); at != std::string::npos; at = other.find("e562")) {
    other.replace(at, 4, "e563");
  }
  CHECK_THAT(shown(other), says("its origin is not the name of the key"));
}

TEST_CASE("consistency proof: each part is demanded, and the line named", "[evidence][proof][negative]") {
  check_parts(kProofTexts, "consistency",
              [](const CaseRow& row) { return consistency_refused(row[1] + kCheckpoint); });
  CHECK_THAT(consistency_refused("old 1\n\n" + kCheckpoint + "\n" + kCheckpoint), says("line 6 is empty"));
  std::string many = "old 1\n";
  for (int i = 0; i < 63; ++i) many += kHash + "\n";
  CHECK(consistency_refused(many + "\n" + kCheckpoint).empty());
  CHECK_THAT(consistency_refused(many + kHash + "\n\n" + kCheckpoint), says("one hash more than 63"));
}
