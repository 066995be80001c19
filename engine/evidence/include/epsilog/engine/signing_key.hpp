// A key that signs notes: a name and an Ed25519 key pair.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "epsilog/engine/signed_note.hpp"

namespace epsilog::engine {

/// Thread-safety: distinct objects may be used concurrently; const functions of one too.
class SigningKey final {
 public:
  /// Throws  EntropyUnavailable; InvalidParameter unless is_key_name(name).
  [[nodiscard]] static SigningKey generate(const std::string& name, SignatureType type);
  /// The inverse of text().
  /// Throws  NotVerified.
  [[nodiscard]] static SigningKey parse(std::string_view text);
  SigningKey(SigningKey&& other) noexcept;
  SigningKey& operator=(SigningKey&&) = delete;
  ~SigningKey();  ///< nothing secret is left in memory

  [[nodiscard]] const VerifierKey& verifier() const noexcept { return verifier_; }
  /// "PRIVATE+KEY+" name "+" key id "+" base64(type || seed), and a line feed: as programs of Go have it
  /// (golang.org/x/mod/sumdb/note), which sign with it too.
  [[nodiscard]] std::string text() const;
  /// Of a key for cosignatures, at that second; else `seconds` says nothing.
  [[nodiscard]] NoteSignature sign(std::string_view text, std::uint64_t seconds = 0) const;

 private:
  using Seed = std::array<unsigned char, 32>;
  SigningKey(std::string name, SignatureType type, const Seed& seed);

  VerifierKey verifier_;
  Seed seed_;
};

}  // namespace epsilog::engine
