// A key in a file, and what it has signed in FILE.state beside it.
//
// The state is what keeps a key from signing two notes that contradict each other. It is written, and on the
// disk, before a note is handed out; whoever signs holds the key file locked from reading the state to
// writing it. Without a state nothing is signed: a key that has forgotten what it signed could be made to
// sign something else.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "epsilog/engine/signing_key.hpp"
#include "epsilog/engine/signing_state.hpp"

namespace epsilog::engine {

/// There is no key or state there that may be used: absent, not of this user alone, damaged, or of something
/// else. Nothing was signed; trying again does not help.
class KeyUnusable : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "key_unusable"; }
};

/// What was signed could not be kept, or somebody else signs: nothing was signed. The same call may succeed
/// later.
class KeyIo : public Error {
 public:
  using Error::Error;
  [[nodiscard]] std::string_view code() const noexcept override { return "key_io"; }
};

/// Somebody else signs with it, and did so for as long as it was waited for.
class KeyBusy : public KeyIo {
 public:
  using KeyIo::KeyIo;
  [[nodiscard]] std::string_view code() const noexcept override { return "key_busy"; }
};

/// Makes the two files, 0600, and overwrites nothing. A name as ledgers have it (checkpoint.hpp) is that of a
/// ledger's key, another that of a witness's. Durable when it returns.
/// Throws  KeyUnusable, KeyIo, EntropyUnavailable, InvalidParameter as SigningKey::generate.
VerifierKey generate_key(const std::string& file, const std::string& name);

/// A key that is locked: nobody else signs with it.
/// Thread-safety: one owner.
class KeyFile final {
 public:
  /// Waits so long for others who sign with it.
  /// Throws  KeyUnusable, KeyBusy, KeyIo.
  explicit KeyFile(const std::string& file,
                   std::chrono::milliseconds wait = std::chrono::milliseconds(30'000));
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;
  ~KeyFile();

  [[nodiscard]] const SigningKey& key() const { return *key_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Throws  KeyUnusable: it is missing, cannot be read or is another key's; it says how to go on.
  [[nodiscard]] SigningState state() const;
  /// Durable when it returns: whatever happens then, the state is as it was or this.
  /// Throws  KeyIo, and the state is one of the two.
  void store(const SigningState& state);

 private:
  std::string file_;
  int descriptor_ = -1;
  std::unique_ptr<SigningKey> key_;
};

}  // namespace epsilog::engine
