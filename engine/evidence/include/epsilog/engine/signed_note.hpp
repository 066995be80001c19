// Signed notes and verifier keys, as C2SP signed-note has them: a text, and who signed it.
//
//   note      text, ended by a line feed; an empty line; one signature line or more        "Format"
//   signature "— " name " " base64(key id || signature)                                    "Signatures"
//   key       name "+" 8 hex digits of the key id "+" base64(type || public key)           "Verifier keys"
//   key id    the first 4 bytes of SHA-256(name || 0x0A || type || public key)             "Signatures"
//
// Of the types two are known here: Ed25519 over the text, and the timestamped cosignature/v1 of C2SP
// tlog-cosignature, "Ed25519 signed message".
// Thread-safety: values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epsilog/engine/not_verified.hpp"

namespace epsilog::engine {

enum class SignatureType : std::uint8_t {
  ed25519 = 0x01,      ///< of the text of the note
  cosignature = 0x04,  ///< cosignature/v1: of the text and the second in which it was signed
};

/// At most so many signatures are read of a note; the specification demands 16.
inline constexpr std::size_t kSignaturesMax = 100;
/// A longer note is not read.
inline constexpr std::size_t kNoteBytesMax = 1'000'000;

/// Names a key in a signature line; short, and no proof of anything.
using KeyId = std::array<unsigned char, 4>;

struct VerifierKey {
  std::string name;
  SignatureType type = SignatureType::ed25519;
  std::array<unsigned char, 32> public_key{};

  [[nodiscard]] KeyId id() const;
  [[nodiscard]] std::string text() const;

  friend bool operator==(const VerifierKey&, const VerifierKey&) = default;
};

/// Throws  InvalidParameter saying what is wrong: no key of the two types, or with an id that is not its own.
[[nodiscard]] VerifierKey parse_verifier_key(std::string_view text);
/// Whether it may be the name of a key: UTF-8 that is not empty, no space of Unicode, no control character
/// and no plus.
[[nodiscard]] bool is_key_name(std::string_view name);

struct NoteSignature {
  std::string name;
  KeyId id{};
  std::string signature;  ///< bytes, without the key id

  friend bool operator==(const NoteSignature&, const NoteSignature&) = default;
};

struct SignedNote {
  std::string text;  ///< ends with a line feed
  std::vector<NoteSignature> signatures = {};

  friend bool operator==(const SignedNote&, const SignedNote&) = default;
};

/// A whole note and nothing after it. `first_line` is the number of its first line in what it stands in.
/// Ensures  note_text() of it is `note`, to the byte.
/// Throws   NotVerified.
[[nodiscard]] SignedNote parse_note(std::string_view note, std::size_t first_line = 1);
/// Refuses a text, of one note or of several, that has empty lines after its last signature, as mail adds
/// them.
/// Throws  NotVerified naming the first of them.
void require_no_trailing_lines(std::string_view notes, std::size_t first_line = 1);
[[nodiscard]] std::string note_text(const SignedNote& note);

/// For each of the keys whether it signed. What keys signed that are not given says nothing.
/// Throws  NotVerified if a line of the name and id of one of the keys is no signature by it.
[[nodiscard]] std::vector<bool> signed_by(const SignedNote& note, std::span<const VerifierKey> keys);

/// What a cosignature of that second signs.
[[nodiscard]] std::string cosigned_message(std::string_view text, std::uint64_t seconds);

}  // namespace epsilog::engine
