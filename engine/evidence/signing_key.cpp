#include "epsilog/engine/signing_key.hpp"

#include <sodium.h>
#include <sys/random.h>

#include <cerrno>
#include <utility>

#include "epsilog/ledger/base64.hpp"
#include "epsilog/ledger/digest.hpp"

namespace epsilog::engine {
namespace {

constexpr std::string_view kPrivate = "PRIVATE+KEY+";

/// An expanded key that is gone when it was used.
class SecretKey {
 public:
  SecretKey(const unsigned char* seed, unsigned char* public_key) {
    crypto_sign_seed_keypair(public_key, bytes_.data(), seed);
  }
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey() { sodium_memzero(bytes_.data(), bytes_.size()); }
  [[nodiscard]] const unsigned char* data() const { return bytes_.data(); }

 private:
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> bytes_{};
};

std::string eight_bytes(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (std::size_t i = bytes.size(); i-- > 0; value >>= 8U) bytes[i] = static_cast<char>(value & 0xffU);
  return bytes;
}

}  // namespace

SigningKey::SigningKey(std::string name, SignatureType type, const Seed& seed) : seed_(seed) {
  verifier_.name = std::move(name);
  verifier_.type = type;
  const SecretKey secret(seed_.data(), verifier_.public_key.data());
}

SigningKey::SigningKey(SigningKey&& other) noexcept
    : verifier_(std::move(other.verifier_)), seed_(other.seed_) {
  sodium_memzero(other.seed_.data(), other.seed_.size());
}

SigningKey::~SigningKey() {
  sodium_memzero(seed_.data(), seed_.size());
}

SigningKey SigningKey::generate(const std::string& name, SignatureType type) {
  if (!is_key_name(name)) {
    throw InvalidParameter("the name of a key is not empty and has no space, control character or plus");
  }
  // libsodium would end the process where there is no randomness.
  Seed seed{};
  ssize_t had = 0;
  do {
    had = getrandom(seed.data(), seed.size(), 0);
  } while (had < 0 && errno == EINTR);
  if (had != static_cast<ssize_t>(seed.size())) {
    throw EntropyUnavailable("the operating system gave no randomness for a key");
  }
  SigningKey key(name, type, seed);
  sodium_memzero(seed.data(), seed.size());
  return key;
}

SigningKey SigningKey::parse(std::string_view text) {
  if (!text.starts_with(kPrivate) || !text.ends_with('\n')) {
    throw NotVerified("key: is not one line that begins with " + std::string(kPrivate));
  }
  text.remove_prefix(kPrivate.size());
  text.remove_suffix(1);
  const std::size_t first = text.find('+');
  const std::size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
  if (second == std::string_view::npos) throw NotVerified("key: is not NAME+HASH+KEY");
  const std::string name(text.substr(0, first));
  auto material = ledger::base64_bytes(text.substr(second + 1));
  Seed seed{};
  if (!material || material->size() != 1 + seed.size())
    throw NotVerified("key: has no Ed25519 key in base64");
  const auto type = static_cast<SignatureType>(material->front());
  if (type != SignatureType::ed25519 && type != SignatureType::cosignature) {
    throw NotVerified("key: is neither of type 1, Ed25519, nor 4, cosignature/v1");
  }
  std::copy(material->begin() + 1, material->end(), seed.begin());
  sodium_memzero(material->data(), material->size());
  if (!is_key_name(name)) throw NotVerified("key: its name is empty, or has a space or control character");
  SigningKey key(name, type, seed);
  sodium_memzero(seed.data(), seed.size());
  if (text.substr(first + 1, second - first - 1) != ledger::hex_text(key.verifier().id())) {
    throw NotVerified("key: its id is not that of its name and key");
  }
  return key;
}

std::string SigningKey::text() const {
  std::string material = static_cast<char>(verifier_.type) + std::string(seed_.begin(), seed_.end());
  std::string text = std::string(kPrivate) + verifier_.name + '+' + ledger::hex_text(verifier_.id()) + '+' +
                     ledger::base64_text(material) + '\n';
  sodium_memzero(material.data(), material.size());
  return text;
}

NoteSignature SigningKey::sign(std::string_view text, std::uint64_t seconds) const {
  const bool timed = verifier_.type == SignatureType::cosignature;
  const std::string message = timed ? cosigned_message(text, seconds) : std::string(text);
  std::array<unsigned char, 32> ignored{};
  const SecretKey secret(seed_.data(), ignored.data());
  std::string signature(crypto_sign_BYTES, '\0');
  crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr,
                       reinterpret_cast<const unsigned char*>(message.data()), message.size(), secret.data());
  return {.name = verifier_.name,
          .id = verifier_.id(),
          .signature = timed ? eight_bytes(seconds) + signature : signature};
}

}  // namespace epsilog::engine
