#include "epsilog/engine/key_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "epsilog/engine/checkpoint.hpp"

namespace epsilog::engine {
namespace {

/// More is no key or state of ours: a witness of thousands of ledgers has less.
constexpr std::size_t kFileBytesMax = 16'000'000;

std::string why() {
  return std::strerror(errno);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

std::string state_file(const std::string& file) {
  return file + ".state";
}

int open_again(const char* path, int flags, mode_t mode = 0) {
  int number = -1;
  do {
    number = open(path, flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return number;
}

/// Throws  KeyIo.
void write_whole(int descriptor, const std::string& text, const std::string& file) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t some = write(descriptor, text.data() + done, text.size() - done);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) throw KeyIo("cannot write " + file + ": " + why() + "; nothing was signed");
    done += static_cast<std::size_t>(some);
  }
  if (fsync(descriptor) != 0) throw KeyIo("cannot sync " + file + ": " + why() + "; nothing was signed");
}

void sync_folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const Descriptor descriptor(open_again(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (descriptor.number() < 0 || fsync(descriptor.number()) != 0) {
    throw KeyIo("cannot sync the folder of " + file + ": " + why() + "; nothing was signed");
  }
}

/// A new file of that content, 0600 and durable, but for its name.
/// Throws  KeyUnusable (something is there), KeyIo; nothing is left.
void write_new(const std::string& file, const std::string& text) {
  const Descriptor descriptor(open_again(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (descriptor.number() < 0) {
    const std::string message = "cannot make " + file + ": " + why();
    if (errno == EEXIST) throw KeyUnusable(message + "; nothing is overwritten");
    throw KeyIo(message + "; nothing was signed");
  }
  try {
    write_whole(descriptor.number(), text, file);
  } catch (...) {
    unlink(file.c_str());
    throw;
  }
}

/// Throws  KeyUnusable.
std::string read_whole(int descriptor, const std::string& file) {
  struct stat about {};
  if (fstat(descriptor, &about) != 0) throw KeyUnusable("cannot read " + file + ": " + why());
  if (!S_ISREG(about.st_mode)) throw KeyUnusable(file + " is not a regular file");
  if (about.st_nlink != 1) throw KeyUnusable(file + " has several names: each would have a state of its own");
  if ((about.st_mode & 077U) != 0) {
    throw KeyUnusable(file + " is open to others: make it yours alone with chmod 600");
  }
  std::string text;
  std::string part(65'536, '\0');
  for (ssize_t some = 1; some != 0;) {
    some = read(descriptor, part.data(), part.size());
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) throw KeyUnusable("cannot read " + file + ": " + why());
    text.append(part, 0, static_cast<std::size_t>(some));
    if (text.size() > kFileBytesMax) throw KeyUnusable(file + " is too long to be one");
  }
  return text;
}

/// Throws  KeyBusy when the time is over.
void lock(int descriptor, const std::string& file, std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kStep(10);
  const auto end = std::chrono::steady_clock::now() + wait;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) throw KeyIo("cannot lock " + file + ": " + why());
    if (std::chrono::steady_clock::now() >= end) {
      throw KeyBusy(file + ": somebody else signs with this key; nothing was signed");
    }
    std::this_thread::sleep_for(kStep);
  }
}

}  // namespace

VerifierKey generate_key(const std::string& file, const std::string& name) {
  const SigningKey key = SigningKey::generate(
      name, is_ledger_origin(name) ? SignatureType::ed25519 : SignatureType::cosignature);
  write_new(file, key.text());
  try {
    write_new(state_file(file), state_text({.key = key.verifier()}));
  } catch (...) {
    unlink(file.c_str());
    throw;
  }
  sync_folder_of(file);
  return key.verifier();
}

KeyFile::KeyFile(const std::string& file, std::chrono::milliseconds wait) : file_(file) {
  Descriptor opened(open_again(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
  if (opened.number() < 0) throw KeyUnusable("cannot open the key " + file + ": " + why());
  try {
    key_ = std::make_unique<SigningKey>(SigningKey::parse(read_whole(opened.number(), file)));
  } catch (const NotVerified& error) {
    throw KeyUnusable(file + ": " + error.what());
  }
  lock(opened.number(), file, wait);
  descriptor_ = opened.release();
}

KeyFile::~KeyFile() {
  close(descriptor_);
}

SigningState KeyFile::state() const {
  constexpr const char* kAdvice =
      "; nothing is signed without it: --state-from CHECKPOINT goes on from the newest checkpoint that this "
      "key signed";
  const std::string name = state_file(file_);
  const Descriptor opened(open_again(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
  if (opened.number() < 0) {
    throw KeyUnusable("cannot open " + name + ", which says what the key has signed: " + why() + kAdvice);
  }
  SigningState state;
  try {
    state = parse_state(read_whole(opened.number(), name));
  } catch (const NotVerified& error) {
    throw KeyUnusable(name + " is damaged: " + error.what() + kAdvice);
  }
  if (state.key != key_->verifier()) {
    throw KeyUnusable(name + " is of another key, " + state.key.text() + kAdvice);
  }
  return state;
}

void KeyFile::store(const SigningState& state) {
  EPSILOG_INVARIANT(state.key == key_->verifier());
  const std::string name = state_file(file_);
  const std::string fresh = name + ".new";
  if (unlink(fresh.c_str()) != 0 && errno != ENOENT) {  // of one who was killed
    throw KeyIo("cannot remove " + fresh + ": " + why() + "; nothing was signed");
  }
  write_new(fresh, state_text(state));
  if (std::rename(fresh.c_str(), name.c_str()) != 0) {
    const std::string message = "cannot replace " + name + ": " + why() + "; nothing was signed";
    unlink(fresh.c_str());
    throw KeyIo(message);
  }
  sync_folder_of(name);
}

}  // namespace epsilog::engine
