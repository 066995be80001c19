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

TEST_CASE("a socket's name: one that nobody listens on is replaced, and nothing else", "[serve][socket]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("s");
  Descriptor bound(bound_socket(path, 0600));
  CHECK(refusal(path) == "socket " + path + ": somebody listens there");
  bound.close();
  CHECK(refusal(path).empty());

  folder.write("file", "kept");
  CHECK(refusal(folder.path("file")) ==
        "socket " + folder.path("file") + ": something that is no socket is there");
  std::filesystem::create_directory(folder.path("folder"));
  CHECK(refusal(folder.path("folder")).ends_with("something that is no socket is there"));
  std::filesystem::create_symlink(path, folder.path("link"));
  CHECK(refusal(folder.path("link")).ends_with("something that is no socket is there"));
  CHECK(std::filesystem::is_symlink(folder.path("link")));
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK(refusal(folder.path("pipe")).ends_with("something that is no socket is there"));
  CHECK(std::filesystem::file_size(folder.path("file")) == 4);
}

TEST_CASE("a socket's name: one that cannot be made is told with its path", "[serve][socket]") {
  const test::TemporaryFolder folder;
  CHECK(refusal(folder.path("none/s"))
            .starts_with("socket " + folder.path("none/s") + ": its directory cannot be opened"));
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
  const Descriptor lock(::open(folder.path("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(::flock(lock.get(), LOCK_EX) == 0);  // as whoever binds holds it
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
  CHECK(second == "socket " + path + ": somebody listens there");
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
