#include "epsilog/engine/signed_note.hpp"

#include <sodium.h>

#include <algorithm>
#include <optional>

#include "epsilog/engine/utf8.hpp"
#include "epsilog/ledger/base64.hpp"
#include "epsilog/ledger/digest.hpp"
#include "text_lines.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kDash = "\xe2\x80\x94 ";  // U+2014, space
constexpr std::size_t kSignatureBytes = crypto_sign_BYTES;
constexpr std::size_t kTimeBytes = 8;
constexpr char32_t kByteOrderMark = 0xFEFF;

/// White_Space of Unicode 15.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

/// Cc of Unicode.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

std::string key_material(const VerifierKey& key) {
  return static_cast<char>(key.type) + std::string(key.public_key.begin(), key.public_key.end());
}

std::string hex_of(const KeyId& id) {
  return ledger::hex_text(id);
}

/// Of the text before the signatures the line feed of the empty line is cut.
void require_text(std::string_view note, std::size_t first_line) {
  if (note.size() > kNoteBytesMax) {
    throw NotVerified("note: is longer than " + std::to_string(kNoteBytesMax) + " bytes");
  }
  std::size_t line = first_line;
  for (std::size_t at = 0; at < note.size();) {
    const CodePoint one = code_point_at(note, at);
    const std::string where = "note: line " + std::to_string(line);
    if (one.bytes == 0) throw NotVerified(where + " is not UTF-8");
    if (at == 0 && one.value == kByteOrderMark) {
      throw NotVerified(where +
                        " begins with a byte order mark (U+FEFF), which the signed text does not have: an " +
                        "editor or a mail program added it. Take it off: sed '1s/^\\xef\\xbb\\xbf//' FILE");
    }
    if (note.substr(at, 2) == "\r\n") {
      throw NotVerified(where +
                        " ends with CR LF, and the signed text with LF alone: a mail program or an editor " +
                        "changed the ends of lines. Put them back: tr -d '\\r' < FILE");
    }
    if (one.value < 0x20 && one.value != '\n') throw NotVerified(where + " has a control character");
    if (one.value == '\n') ++line;
    at += one.bytes;
  }
}

/// Whether signatures end the text, and empty lines follow them.
bool has_trailing_lines(std::string_view note) {
  const std::size_t last = note.find_last_not_of('\n');
  if (last == std::string_view::npos || note.size() - last <= 2) return false;
  const std::size_t before = note.rfind('\n', last);
  return note.substr(before == std::string_view::npos ? 0 : before + 1).starts_with(kDash);
}

NoteSignature parse_signature(TextLines& lines) {
  const std::string_view line = lines.after(kDash);
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) lines.fail("has no signature after a name");
  NoteSignature signature;
  signature.name = line.substr(0, space);
  if (!is_key_name(signature.name)) lines.fail("has no name of a key");
  const auto bytes = ledger::base64_bytes(line.substr(space + 1));
  if (!bytes || bytes->size() <= signature.id.size()) {
    lines.fail("has no signature in base64 after the name");
  }
  std::copy_n(bytes->begin(), signature.id.size(), signature.id.begin());
  signature.signature = bytes->substr(signature.id.size());
  return signature;
}

bool verifies(const VerifierKey& key, std::string_view message, std::string_view signature) {
  return crypto_sign_verify_detached(reinterpret_cast<const unsigned char*>(signature.data()),
                                     reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                     key.public_key.data()) == 0;
}

bool is_signature_of(const VerifierKey& key, const std::string& text, std::string_view signature) {
  if (key.type == SignatureType::ed25519) {
    return signature.size() == kSignatureBytes && verifies(key, text, signature);
  }
  if (signature.size() != kTimeBytes + kSignatureBytes) return false;
  std::uint64_t seconds = 0;
  for (const char byte : signature.substr(0, kTimeBytes)) {
    seconds = (seconds << 8U) | static_cast<unsigned char>(byte);
  }
  return seconds <= INT64_MAX && verifies(key, cosigned_message(text, seconds), signature.substr(kTimeBytes));
}

}  // namespace

KeyId VerifierKey::id() const {
  const std::string hex = ledger::sha256_hex(name + '\n' + key_material(*this));
  KeyId id{};
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = static_cast<unsigned char>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

std::string VerifierKey::text() const {
  return name + '+' + hex_of(id()) + '+' + ledger::base64_text(key_material(*this));
}

bool is_key_name(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const CodePoint one = code_point_at(name, at);
    if (one.bytes == 0 || is_space(one.value) || one.value == '+' || is_control(one.value)) return false;
    at += one.bytes;
  }
  return !name.empty();
}

VerifierKey parse_verifier_key(std::string_view text) {
  const std::string shown = "verifier key '" + std::string(text) + "': ";
  const std::size_t first = text.find('+');
  const std::size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
  if (second == std::string_view::npos) throw InvalidParameter(shown + "is not NAME+HASH+KEY");
  VerifierKey key;
  key.name = text.substr(0, first);
  if (!is_key_name(key.name)) throw InvalidParameter(shown + "its name is empty, or has a space or control");
  const auto material = ledger::base64_bytes(text.substr(second + 1));
  if (!material || material->empty()) throw InvalidParameter(shown + "its last part is not base64");
  const auto type = static_cast<SignatureType>(material->front());
  if (type != SignatureType::ed25519 && type != SignatureType::cosignature) {
    throw InvalidParameter(shown + "is neither of type 1, Ed25519, nor 4, cosignature/v1");
  }
  key.type = type;
  if (material->size() != 1 + key.public_key.size()) {
    throw InvalidParameter(shown + "does not have the 32 bytes of an Ed25519 key");
  }
  std::copy(material->begin() + 1, material->end(), key.public_key.begin());
  if (text.substr(first + 1, second - first - 1) != hex_of(key.id())) {
    throw InvalidParameter(shown + "its second part is not the id of the key, " + hex_of(key.id()));
  }
  return key;
}

void require_no_trailing_lines(std::string_view notes, std::size_t first_line) {
  if (!has_trailing_lines(notes)) return;
  const std::size_t last = notes.find_last_not_of('\n');
  const auto lines = static_cast<std::size_t>(std::count(notes.begin(), notes.begin() + last, '\n'));
  throw NotVerified(
      "note: line " + std::to_string(first_line + lines + 1) +
      " is empty, and nothing follows it: a mail program or an editor added empty lines after the " +
      "signatures. Delete them");
}

SignedNote parse_note(std::string_view note, std::size_t first_line) {
  require_text(note, first_line);
  require_no_trailing_lines(note, first_line);
  SignedNote parsed;
  const std::size_t blank = note.rfind("\n\n");
  if (blank == std::string_view::npos) {
    throw NotVerified("note: no empty line separates a text from its signatures");
  }
  parsed.text = note.substr(0, blank + 1);
  const auto lines_before =
      static_cast<std::size_t>(std::count(note.begin(), note.begin() + blank + 2, '\n'));
  TextLines lines(note.substr(blank + 2), "note", first_line + lines_before);
  do {
    parsed.signatures.push_back(parse_signature(lines));
    if (parsed.signatures.size() > kSignaturesMax) {
      lines.fail("is signature " + std::to_string(kSignaturesMax + 1) + ", which is one too many");
    }
  } while (!lines.at_end());
  return parsed;
}

std::string note_text(const SignedNote& note) {
  std::string text = note.text + '\n';
  for (const NoteSignature& one : note.signatures) {
    const std::string bytes = std::string(one.id.begin(), one.id.end()) + one.signature;
    text += std::string(kDash) + one.name + ' ' + ledger::base64_text(bytes) + '\n';
  }
  return text;
}

std::vector<bool> signed_by(const SignedNote& note, std::span<const VerifierKey> keys) {
  std::vector<bool> found(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const VerifierKey& key = keys[i];
    const KeyId id = key.id();
    for (const NoteSignature& one : note.signatures) {
      if (one.name != key.name || one.id != id) continue;
      if (!is_signature_of(key, note.text, one.signature)) {
        throw NotVerified("note: the signature in the name of " + key.name + " is not by its key " +
                          hex_of(id));
      }
      found[i] = true;
    }
  }
  return found;
}

std::string cosigned_message(std::string_view text, std::uint64_t seconds) {
  return "cosignature/v1\ntime " + std::to_string(seconds) + '\n' + std::string(text);
}

}  // namespace epsilog::engine
