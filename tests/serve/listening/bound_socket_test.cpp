// Sockets with a name: their modes, and whom they replace.
#include "bound_socket.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptor.hpp"
#include "epsilog/accounting/errors.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace epsilog;
using serve::bound_socket;
using serve::Descriptor;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_mode;
}

std::string refusal(const std::string& path) {
  try {
    const Descriptor bound(bound_socket(path, 0600));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string examined(const std::string& path) {
  try {
    serve::examine_socket(path);
    return "";
  } catch (const serve::SocketError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a socket's name: it has its mode whatever the umask is", "[serve][socket]") {
  const test::TemporaryFolder folder;
  for (const mode_t umask : {0000U, 0022U, 0077U, 0777U}) {
    for (const mode_t mode : {0600U, 0660U, 0666U}) {
      const mode_t before = ::umask(umask);
      const Descriptor bound(bound_socket(folder.path("s"), mode));
      ::umask(before);
      CHECK(mode_of(folder.path("s")) == (S_IFSOCK | mode));
      CHECK((::fcntl(bound.get(), F_GETFD) & FD_CLOEXEC) != 0);
    }
  }
}

TEST_CASE("a socket's name: one that no program listens on is replaced, and nothing else",
          "[serve][socket]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("s");
  Descriptor bound(bound_socket(path, 0600));
  CHECK(refusal(path) == "socket " + path + ": another program listens there");
  bound.close();
  CHECK(refusal(path).empty());

  folder.write("file", "kept");
  CHECK(refusal(folder.path("file")) == "socket " + folder.path("file") + ": what is there is not a socket");
  std::filesystem::create_directory(folder.path("folder"));
  CHECK(refusal(folder.path("folder")).ends_with("what is there is not a socket"));
  std::filesystem::create_symlink(path, folder.path("link"));
  CHECK(refusal(folder.path("link")).ends_with("what is there is not a socket"));
  CHECK(std::filesystem::is_symlink(folder.path("link")));
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK(refusal(folder.path("pipe")).ends_with("what is there is not a socket"));
  CHECK(std::filesystem::file_size(folder.path("file")) == 4);
}

TEST_CASE("a socket's name: one that cannot be made is told with its path", "[serve][socket]") {
  const test::TemporaryFolder folder;
  CHECK(refusal(folder.path("none/s"))
            .starts_with("socket " + folder.path("none/s") + ": its folder cannot be opened"));
  CHECK(refusal("").ends_with("the name of a socket has 1 to 107 bytes"));
  std::string path = folder.path("");
  path += std::string(107 - path.size(), 's');
  CHECK(refusal(path).empty());
  CHECK(refusal(path + "s").ends_with("the name of a socket has 1 to 107 bytes"));
  CHECK(!refusal(folder.path(std::string("a\0b", 3))).empty());  // not "a"
}

TEST_CASE("a socket's name: one that is about to be listened on is not taken for one left behind",
          "[serve][socket]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("s");
  const Descriptor lock(::open(serve::lock_of_socket(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::flock(lock.get(), LOCK_EX) == 0);  // as a process that binds holds it
  const Descriptor first(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(first.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  std::string second;
  std::thread other([&] { second = refusal(path); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  REQUIRE(::listen(first.get(), 1) == 0);
  REQUIRE(::flock(lock.get(), LOCK_UN) == 0);
  other.join();
  CHECK(second == "socket " + path + ": another program listens there");
}

TEST_CASE("a socket's name: a process that may only read its folder cannot keep it from being bound",
          "[serve][socket]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("s");
  for (const int locked : {LOCK_SH, LOCK_EX}) {
    const Descriptor reader(::open(folder.path("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(reader.get(), locked) == 0);
    const auto begun = std::chrono::steady_clock::now();
    CHECK(refusal(path).empty());
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(2));
  }
  // The lock is a file that nobody else may open.
  CHECK(mode_of(serve::lock_of_socket(path)) == (S_IFREG | 0600));
  CHECK(std::filesystem::file_size(serve::lock_of_socket(path)) == 0);
}

TEST_CASE("a socket's name: what another program or user put at its lock is refused and stays as it was",
          "[serve][socket]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("s"), lock = serve::lock_of_socket(path);
  folder.write("s.lock", "kept");
  CHECK(refusal(path).starts_with("socket " + path + ": its lock " + lock + " is not an empty file"));
  CHECK(examined(path) == refusal(path));
  CHECK(std::filesystem::file_size(lock) == 4);
  std::filesystem::remove(lock);
  std::filesystem::create_symlink(folder.path("elsewhere"), lock);
  CHECK(refusal(path).find("is not an empty file") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder.path("elsewhere")));
  std::filesystem::remove(lock);
  if (::geteuid() != 0) return;
  folder.write("s.lock", "");
  REQUIRE(::chown(lock.c_str(), 4711, static_cast<gid_t>(-1)) == 0);
  CHECK(refusal(path).find("belongs to user 4711") != std::string::npos);
  CHECK(examined(path) == refusal(path));
  std::filesystem::remove(lock);
  Descriptor bound(bound_socket(path, 0600));
  bound.close();
  REQUIRE(::lchown(path.c_str(), 4711, static_cast<gid_t>(-1)) == 0);
  CHECK(refusal(path).find("belongs to user 4711") != std::string::npos);
  CHECK(examined(path) == refusal(path));
  CHECK(std::filesystem::is_socket(path));
}

TEST_CASE("a socket's name: an examination finds what binding would, and changes nothing",
          "[serve][socket]") {
  const test::TemporaryFolder folder;
  folder.write("file", "kept");
  std::filesystem::create_directory(folder.path("folder"));
  std::filesystem::create_symlink(folder.path("none"), folder.path("link"));
  Descriptor left(bound_socket(folder.path("left"), 0600));
  left.close();
  const Descriptor heard(bound_socket(folder.path("heard"), 0600));
  std::filesystem::remove(serve::lock_of_socket(folder.path("left")));
  for (const std::string name : {"", "new", "file", "folder", "link", "left", "heard", "none/s", "file/s"}) {
    CAPTURE(name);
    const std::string path = name.empty() ? "" : folder.path(name);
    const std::string found = examined(path);
    CHECK_FALSE(std::filesystem::exists(serve::lock_of_socket(folder.path("new"))));
    CHECK_FALSE(std::filesystem::exists(serve::lock_of_socket(folder.path("left"))));
    CHECK(std::filesystem::is_socket(folder.path("left")));
    CHECK(found.empty() == (name == "new" || name == "left"));
    if (!found.empty()) CHECK(refusal(path) == found);
  }
  const Descriptor lock(::open(serve::lock_of_socket(folder.path("heard")).c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
  CHECK(examined(folder.path("heard")).find("another process holds its lock") != std::string::npos);
}

TEST_CASE("a socket's name: of many who want it one has it", "[serve][socket]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("s");
  for (int round = 0; round < 20; ++round) {
    std::vector<Descriptor> bound(4);
    std::atomic<int> had = 0;
    std::vector<std::thread> threads;
    for (Descriptor& mine : bound) {
      threads.emplace_back([&] {
        try {
          mine = Descriptor(bound_socket(path, 0600));
          ++had;
        } catch (const Error&) {
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(had == 1);
  }
}
