// Signed notes, keys and cosignatures: the published ones, and what differs from them.
#include "epsilog/engine/signed_note.hpp"

#include "checked_rows.hpp"
#include "epsilog/engine/signing_key.hpp"
#include "epsilog/engine/utf8.hpp"
#include "published_notes.hpp"
#include "refused_for.hpp"
#include "support/catch.hpp"

using namespace epsilog::engine;
using namespace epsilog::test;

namespace {

std::vector<bool> signed_by_one(const std::string& note, const std::string& key) {
  return signed_by(parse_note(note), std::vector{parse_verifier_key(key)});
}

std::string note_refused(const std::string& note) {
  return refused_for<NotVerified>([&] { return parse_note(note); });
}

const std::string kNoteTexts = EPSILOG_SOURCE_DIR "/tests/engine/evidence/note_texts.tsv";
const std::string kSignature =
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=";

}  // namespace

TEST_CASE("signed note: those that others published are read, written and verified",
          "[evidence][note][vectors]") {
  CHECK(signed_by_one(kNote, kNoteKey) == std::vector{true});
  CHECK(signed_by_one(kGoNote, kGoKey) == std::vector{true});
  CHECK(signed_by_one(kSigsumFirst.substr(7), kSigsumKey) == std::vector{true});
  for (const std::string& note : {kNote, kNoteWithEmptyLines, kCosignedCheckpoint, kGoNote}) {
    CHECK(note_text(parse_note(note)) == note);
  }
  CHECK(parse_note(kNoteWithEmptyLines).text.ends_with("\n\ned è subito sera.\n"));
  CHECK(signed_by_one(kNote, kGoKey) == std::vector{false});
}

TEST_CASE("signed note: a verifier key is read as it is written", "[evidence][note][vectors]") {
  // The last is of a witness that runs (remora.n621.de).
  for (const char* key : {kNoteKey, kGoKey, kSigsumKey, kWitnessKey,
                          "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2"}) {
    CHECK(parse_verifier_key(key).text() == key);
  }
}

TEST_CASE("signed note: what is no verifier key is refused, and says why", "[evidence][note][negative]") {
  check_parts(kNoteTexts, "key", [](const CaseRow& row) {
    return refused_for<epsilog::InvalidParameter>([&] { return parse_verifier_key(row[1]); });
  });
}

TEST_CASE("signed note: one that differs in any bit is no note, or not by the key",
          "[evidence][note][negative]") {
  const std::string note = kNote;
  const std::vector<VerifierKey> keys{parse_verifier_key(kNoteKey)};
  std::size_t verified = 0;
  each_flipped(note, [&](const std::string& flipped, const std::string& which) {
    CAPTURE(which);
    try {
      const SignedNote read = parse_note(flipped);
      CHECK(note_text(read) == flipped);
      if (signed_by(read, keys).front()) ++verified;
    } catch (const NotVerified&) {
    }
  });
  CHECK(verified == 0);
}

TEST_CASE("signed note: each part is demanded, and the line named", "[evidence][note][negative]") {
  check_parts(kNoteTexts, "note", [](const CaseRow& row) { return note_refused(row[1]); });
  const std::string line = "— example.com/foo " + kSignature + "\n";
  std::string many = "text\n\n";
  for (std::size_t i = 0; i < kSignaturesMax; ++i) many += line;
  CHECK(note_refused(many).empty());
  CHECK_THAT(note_refused(many + line), says("one too many"));
  CHECK_THAT(note_refused(std::string(kNoteBytesMax, 'a') + "\n\n" + line), says("is longer than"));
}

TEST_CASE("signed note: the name of a key has no control character, the second set of them included",
          "[evidence][note][negative]") {
  for (char32_t c = 1; c < 0x100; ++c) {
    std::string name = "a";
    if (c < 0x80) {
      name += static_cast<char>(c);
    } else {
      name += {static_cast<char>(0xc0U | (c >> 6U)), static_cast<char>(0x80U | (c & 0x3fU))};
    }
    CAPTURE(static_cast<unsigned>(c));
    const bool may = c > 0x20 && c != 0x7f && !(c >= 0x80 && c <= 0xa0) && c != '+';
    CHECK(is_key_name(name + "b") == may);
  }
}

TEST_CASE("signed note: what mail does to one is refused, and the cause named",
          "[evidence][note][negative]") {
  const std::string line = "— example.com/foo " + kSignature + "\n";
  const std::string note = "text\nmore\n\n" + line;
  CHECK(note_refused(note).empty());
  std::string windows;
  for (const char c : note) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK_THAT(note_refused(windows), says("line 1 ends with CR LF") && says("tr -d"));
  CHECK_THAT(note_refused("text\nmore\r\n\n" + line), says("line 2 ends with CR LF"));
  CHECK_THAT(note_refused("\xef\xbb\xbf" + note), says("line 1 begins with a byte order mark"));
  CHECK(note_refused("text\n\xef\xbb\xbfmore\n\n" + line).empty());  // part of the text elsewhere
  for (const char* blank : {"\n", "\n\n", "\n\n\n"}) {
    CHECK_THAT(note_refused(note + blank), says("line 5 is empty") && says("Delete them"));
  }
}

TEST_CASE("signed note: a signature in the name of a known key must be its own, and others are passed over",
          "[evidence][note][negative]") {
  SignedNote note = parse_note(kNote);
  const std::vector<VerifierKey> keys{parse_verifier_key(kNoteKey)};
  NoteSignature stranger = note.signatures.front();
  stranger.id[0] ^= 1U;
  note.signatures.push_back(stranger);
  CHECK(signed_by(note, keys) == std::vector{true});
  NoteSignature forged = note.signatures.front();
  forged.signature.back() = static_cast<char>(forged.signature.back() ^ 1);
  note.signatures.push_back(forged);
  CHECK_THAT(refused_for<NotVerified>([&] { return signed_by(note, keys); }),
             says("in the name of example.com/foo is not by its key 530d903a"));
  // A cosignature is no signature of the note, though name and bytes of the key are the same.
  VerifierKey other = keys.front();
  other.type = SignatureType::cosignature;
  CHECK(signed_by(parse_note(kNote), std::vector{other}) == std::vector{false});
}

TEST_CASE("cosignature: what is signed, and how its line looks, are the published ones",
          "[evidence][cosignature][vectors]") {
  const SignedNote cosigned = parse_note(kCosignedCheckpoint);
  CHECK(cosigned_message(cosigned.text, kWitnessSecond) ==
        "cosignature/v1\n"
        "time 1679315147\n"
        "example.com/behind-the-sofa\n"
        "20852163\n"
        "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n");
  const std::string& published = cosigned.signatures[1].signature;
  CHECK(published.size() == 72);
  CHECK(published.substr(0, 8) == std::string("\0\0\0\0\x64\x18\x50\xcb", 8));

  SignedNote note = parse_note(kSigsumFirst.substr(7));
  const SigningKey witness = SigningKey::parse(kWitnessSecret);
  CHECK(witness.verifier().text() == kWitnessKey);
  CHECK(witness.text() == kWitnessSecret);
  note.signatures = {witness.sign(note.text, kWitnessSecond)};
  CHECK(note_text(note) == note.text + "\n" + kWitnessLine);
  CHECK(signed_by(note, std::vector{witness.verifier()}) == std::vector{true});
}

TEST_CASE("cosignature: one that differs in any bit of its bytes or its text is not by the key",
          "[evidence][cosignature][negative]") {
  SignedNote note = parse_note(kSigsumFirst.substr(7));
  const std::vector<VerifierKey> keys{parse_verifier_key(kWitnessKey)};
  note.signatures = {SigningKey::parse(kWitnessSecret).sign(note.text, kWitnessSecond)};
  const std::string signature = note.signatures.front().signature;
  const auto verified = [&]() -> bool {
    try {
      return signed_by(note, keys).front();
    } catch (const NotVerified&) {
      return false;
    }
  };
  REQUIRE(verified());
  std::size_t accepted = 0;
  each_flipped(signature, [&](const std::string& flipped, const std::string&) {
    note.signatures.front().signature = flipped;
    accepted += verified() ? 1 : 0;
  });
  note.signatures.front().signature = signature.substr(0, 71);
  accepted += verified() ? 1 : 0;
  note.signatures.front().signature = signature;
  each_flipped(note.text, [&](const std::string& flipped, const std::string&) {
    SignedNote other = note;
    std::swap(other.text, note.text);
    note.text = flipped;
    accepted += verified() ? 1 : 0;
    std::swap(other.text, note.text);
  });
  CHECK(verified());
  CHECK(accepted == 0);
}

TEST_CASE("signing key: a new one signs what its verifier key verifies, and is written as it is read",
          "[evidence][key]") {
  for (const SignatureType type : {SignatureType::ed25519, SignatureType::cosignature}) {
    const SigningKey key = SigningKey::generate("example.com/k", type);
    CHECK(SigningKey::generate("example.com/k", type).text() != key.text());
    const SigningKey again = SigningKey::parse(key.text());
    CHECK(again.verifier() == key.verifier());
    SignedNote note{.text = "text\n"};
    note.signatures.push_back(again.sign(note.text, 5));
    CHECK(signed_by(note, std::vector{key.verifier()}) == std::vector{true});
  }
  CHECK_THROWS_AS(SigningKey::generate("a b", SignatureType::ed25519), epsilog::InvalidParameter);
}

TEST_CASE("signing key: one that differs in any bit is refused", "[evidence][key][negative]") {
  each_flipped(kWitnessSecret, [&](const std::string& flipped, const std::string& which) {
    CAPTURE(which);
    CHECK_THROWS_AS(SigningKey::parse(flipped), NotVerified);
  });
}
