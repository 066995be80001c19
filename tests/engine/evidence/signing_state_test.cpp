// What a key has signed: the text of it, its right edge, and the two files.
#include "epsilog/engine/signing_state.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "epsilog/engine/checkpoint.hpp"
#include "epsilog/engine/key_file.hpp"
#include "file_text.hpp"
#include "refused_for.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog::engine;
using namespace epsilog::test;
using namespace epsilog::ledger;
using namespace std::chrono_literals;

namespace {

const std::string kName = "epsilog/0123456789abcdef0123456789abcdef";

/// MTH of RFC 6962, section 2.1, over the leaves of the decimal numbers.
Hash root_of(std::uint64_t first, std::uint64_t last) {
  if (first == last) return epsilog::ledger::empty_root();
  if (last - first == 1) return leaf_hash(std::to_string(first));
  std::uint64_t left = 1;
  while (2 * left < last - first) left *= 2;
  return node_hash(root_of(first, first + left), root_of(first + left, last));
}

RightEdge edge_of(std::uint64_t size) {
  RightEdge edge;
  for (std::uint64_t i = 0; i < size; ++i) edge.append(leaf_hash(std::to_string(i)));
  return edge;
}

SigningState signed_state(const VerifierKey& key, std::uint64_t size) {
  const RightEdge edge = edge_of(size);
  SigningState state{.key = key};
  state.signed_trees[key.name] = {.tree = edge.head(), .edge = edge.hashes()};
  return state;
}

}  // namespace

TEST_CASE("right edge: the roots are those of the definition, and it goes on from what is kept",
          "[evidence][state]") {
  RightEdge edge;
  for (std::uint64_t size = 0; size <= 130; ++size) {
    CHECK(edge.head() == epsilog::ledger::TreeHead{.size = size, .root = root_of(0, size)});
    CHECK(RightEdge(edge.size(), edge.hashes()) == edge);
    edge.append(leaf_hash(std::to_string(size)));
  }
}

TEST_CASE("signing state: it is read as it is written", "[evidence][state]") {
  const VerifierKey log = SigningKey::generate(kName, SignatureType::ed25519).verifier();
  for (const std::uint64_t size : {0U, 1U, 2U, 3U, 7U, 64U, 100U}) {
    const SigningState state = signed_state(log, size);
    CHECK(parse_state(state_text(state)) == state);
  }
  SigningState witness{.key = SigningKey::generate("w", SignatureType::cosignature).verifier()};
  CHECK(parse_state(state_text(witness)) == witness);
  witness.signed_trees["b"] = {.tree = edge_of(5).head()};
  witness.signed_trees["a"] = {.tree = edge_of(3).head()};
  CHECK(parse_state(state_text(witness)) == witness);
  CHECK(witness.of("a").tree.size == 3);
  CHECK(witness.of("c").tree == edge_of(0).head());
}

TEST_CASE("signing state: one that differs in any bit is refused", "[evidence][state][negative]") {
  SigningState witness{.key = SigningKey::generate("w", SignatureType::cosignature).verifier()};
  witness.signed_trees["a"] = {.tree = edge_of(3).head()};
  const SigningState log = signed_state(SigningKey::generate(kName, SignatureType::ed25519).verifier(), 10);
  for (const SigningState& state : {witness, log}) {
    const std::string text = state_text(state);
    each_flipped(text, [&](const std::string& flipped, const std::string& which) {
      CAPTURE(which);
      CHECK_THROWS_AS(parse_state(flipped), NotVerified);
    });
    CHECK_THROWS_AS(parse_state(text.substr(0, text.size() - 1)), NotVerified);
    CHECK_THROWS_AS(parse_state(text + "\n"), NotVerified);
    CHECK_THROWS_AS(parse_state(text.substr(0, text.rfind("sum "))), NotVerified);
  }
  CHECK_THROWS_AS(parse_state(""), NotVerified);
}

TEST_CASE("signing state: an edge that is not that of size and root is refused whatever the sum says",
          "[evidence][state][negative]") {
  const VerifierKey log = SigningKey::generate(kName, SignatureType::ed25519).verifier();
  const auto refused = [&](const std::function<void(SignedTree&)>& change) {
    SigningState state = signed_state(log, 10);
    change(state.signed_trees[kName]);
    return refused_for<NotVerified>([&] { return parse_state(state_text(state)); });
  };
  CHECK(refused([](SignedTree&) {}).empty());
  CHECK_THAT(refused([](SignedTree& one) { one.edge.pop_back(); }), says("is not that of the size"));
  CHECK_THAT(refused([](SignedTree& one) { one.edge.clear(); }), says("is not that of the size"));
  CHECK_THAT(refused([](SignedTree& one) { one.tree.size = 11; }), says("is not that of the size"));
  CHECK_THAT(refused([](SignedTree& one) { one.edge[0][0] ^= 1U; }), says("is not that of the root"));
  CHECK_THAT(refused([](SignedTree& one) { one.tree.root[0] ^= 1U; }), says("is not that of the root"));
}

TEST_CASE("key file: it is made for its owner alone, with an empty state, and overwrites nothing",
          "[evidence][key]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("key");
  const VerifierKey made = generate_key(file, kName);
  CHECK(made.type == SignatureType::ed25519);
  CHECK(generate_key(folder.path("w"), "w.example/1").type == SignatureType::cosignature);
  for (const char* name : {"key", "key.state", "w", "w.state"}) {
    struct stat about {};
    REQUIRE(stat(folder.path(name).c_str(), &about) == 0);
    CHECK((about.st_mode & 0777U) == 0600);
  }
  CHECK(SigningKey::parse(file_text(file)).verifier() == made);
  CHECK(file_text(file + ".state") == state_text({.key = made}));
  const std::string before = file_text(file);
  CHECK_THAT(refused_for<KeyUnusable>([&] { return generate_key(file, kName); }),
             says("nothing is overwritten"));
  CHECK(file_text(file) == before);
  // A state without a key is something too; and no key is left where the state could not be made.
  std::filesystem::remove(file);
  CHECK_THROWS_AS(generate_key(file, kName), KeyUnusable);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(file_text(file + ".state") == state_text({.key = made}));
}

TEST_CASE("key file: one that others may read, or of several names, is refused",
          "[evidence][key][negative]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("key");
  static_cast<void>(generate_key(file, kName));
  const auto refused = [&](const std::string& which) {
    return refused_for<KeyUnusable>([&] { return KeyFile(which).state(); });
  };
  CHECK(refused(file).empty());
  CHECK_THAT(refused(folder.path("none")), says("cannot open the key"));
  std::filesystem::create_symlink(file, folder.path("link"));
  CHECK_THAT(refused(folder.path("link")), says("cannot open the key"));
  chmod(file.c_str(), 0640);
  CHECK_THAT(refused(file), says("is open to others"));
  chmod(file.c_str(), 0600);
  std::filesystem::create_hard_link(file, folder.path("other"));
  CHECK_THAT(refused(file), says("has several names"));
  std::filesystem::remove(folder.path("other"));
  CHECK_THAT(refused(folder.path("")), says("is not a regular file"));
  folder.write("key", "PRIVATE+KEY+nothing\n");
  CHECK_THAT(refused(file), says("is not NAME+HASH+KEY"));
}

TEST_CASE("key file: a state that is missing, damaged or of another key is refused with what to do",
          "[evidence][key][negative]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("key");
  const VerifierKey key = generate_key(file, kName);
  static_cast<void>(generate_key(folder.path("other"), kName));
  const auto refused = [&] { return refused_for<KeyUnusable>([&] { return KeyFile(file).state(); }); };
  CHECK(refused().empty());
  const std::string state = file_text(file + ".state");
  folder.write("key.state", state.substr(0, state.size() / 2));
  CHECK_THAT(refused(), says("is damaged") && says("--state-from"));
  folder.write("key.state", file_text(folder.path("other.state")));
  CHECK_THAT(refused(), says("is of another key") && says("--state-from"));
  std::filesystem::remove(file + ".state");
  CHECK_THAT(refused(), says("cannot open") && says("--state-from"));
  std::filesystem::create_directory(file + ".state");
  CHECK_THAT(refused(), says("is not a regular file"));
}

TEST_CASE("key file: what is kept is there for the next, also after one who was killed", "[evidence][key]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("key");
  const VerifierKey key = generate_key(file, kName);
  const SigningState seven = signed_state(key, 7);
  folder.write("key.state.new", "half of");
  KeyFile(file).store(seven);
  CHECK(KeyFile(file).state() == seven);
  CHECK_FALSE(std::filesystem::exists(file + ".state.new"));
  struct stat about {};
  REQUIRE(stat((file + ".state").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777U) == 0600);
  // Nothing can be put in its place: the state is as it was.
  std::filesystem::create_directory(file + ".state.new");
  std::ofstream(file + ".state.new/x") << "x";
  CHECK_THAT(refused_for<KeyIo>([&] { KeyFile(file).store(signed_state(key, 8)); }),
             says("nothing was signed"));
  CHECK(KeyFile(file).state() == seven);
}

TEST_CASE("key file: on a full disk the state is as it was, and nothing is left of the new one",
          "[evidence][key][faults]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("key");
  const VerifierKey key = generate_key(file, kName);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{64, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string refused = refused_for<KeyIo>([&] { KeyFile(file).store(signed_state(key, 8)); });
  const std::string not_made = refused_for<KeyIo>([&] { return generate_key(folder.path("other"), kName); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(refused, says("cannot write") && says("nothing was signed"));
  CHECK_FALSE(not_made.empty());
  CHECK(KeyFile(file).state().signed_trees.empty());
  for (const char* left : {"key.state.new", "other", "other.state"}) {
    CHECK_FALSE(std::filesystem::exists(folder.path(left)));
  }
}

TEST_CASE("key file: one who signs keeps others from it", "[evidence][key]") {
  const TemporaryFolder folder;
  const std::string file = folder.path("key");
  static_cast<void>(generate_key(file, kName));
  {
    const KeyFile first(file);
    CHECK_THAT(refused_for<KeyIo>([&] { return KeyFile(file, 30ms).state(); }), says("somebody else signs"));
  }
  CHECK(KeyFile(file, 30ms).state().signed_trees.empty());
}
