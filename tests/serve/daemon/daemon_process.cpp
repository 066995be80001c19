#include "daemon_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "epsilog/engine/credentials.hpp"
#include "served_clinic.hpp"

namespace epsilog::test {

Connection::Connection(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Called by threads, in which no assertion is made.
  if (path.size() >= sizeof address.sun_path) throw std::length_error(path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

Connection::~Connection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Connection::send(const std::string& text) const {
  return open() &&
         ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::optional<Heard> Connection::hear() {
  const auto more = [&] {
    std::array<char, 65'536> piece;
    const ssize_t got = open() ? ::recv(descriptor_, piece.data(), piece.size(), 0) : 0;
    if (got > 0) heard_.append(piece.data(), static_cast<std::size_t>(got));
    return got > 0;
  };
  std::size_t end = 0;
  while ((end = heard_.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return std::nullopt;
  }
  Heard result;
  result.head = heard_.substr(0, end + 4);
  std::from_chars(result.head.data() + 9, result.head.data() + 12, result.status);
  std::size_t length = 0;
  for (const char* name : {"Content-Length: ", "content-length: "}) {
    const std::size_t at = result.head.find(name);
    if (at != std::string::npos) {
      std::from_chars(result.head.data() + at + 16, result.head.data() + result.head.size(), length);
    }
  }
  while (heard_.size() < end + 4 + length) {
    if (!more()) return std::nullopt;
  }
  result.text = heard_.substr(end + 4, length);
  result.body = nlohmann::json::parse(result.text, nullptr, false);
  heard_.erase(0, end + 4 + length);
  return result;
}

std::optional<Heard> Connection::ask(const std::string& method, const std::string& target,
                                     const std::string& body,
                                     const std::map<std::string, std::string>& headers) {
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  if (method != "GET") {
    text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  if (!send(text + "\r\n" + body)) return std::nullopt;
  return hear();
}

DaemonProcess::DaemonProcess(const std::filesystem::path& parent) : folder(parent) {
  folder.write("visits.csv", kServedRows);
  folder.write("policy.yaml", served_policy());
  static_cast<void>(engine::Engine::init(folder.path("policy.yaml"), ledger(), "carol"));
  ledger::Ledger opened = ledger::Ledger::open(ledger(), {});
  token = engine::new_token(opened, {.principal = "alice", .by = "carol", .why = "a test"}).token.text();
  configure("");
}

DaemonProcess::~DaemonProcess() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  static_cast<void>(ended());
}

void DaemonProcess::configure(const std::string& limits) {
  folder.write("serve.yaml", "ledger: " + ledger() + "\nsocket: " + ask_socket() +
                                 "\ncurator_socket: " + curator_socket() + "\nsources: [" +
                                 std::filesystem::path(ledger()).parent_path().string() + "]\n" + limits);
}

void DaemonProcess::start_as(uid_t user) {
  if (user != ::geteuid()) {
    const std::filesystem::path inside = std::filesystem::path(ledger()).parent_path();
    REQUIRE(::chown(inside.c_str(), user, static_cast<gid_t>(-1)) == 0);
    for (const auto& file : std::filesystem::directory_iterator(inside)) {
      REQUIRE(::chown(file.path().c_str(), user, static_cast<gid_t>(-1)) == 0);
    }
  }
  start_program(user);
}

void DaemonProcess::start() {
  start_program(::geteuid());
}

void DaemonProcess::start_program(uid_t user) {
  std::string program = EPSILOG_SERVE, option = "--config", file = folder.path("serve.yaml");
  if (file.back() == '/') file.pop_back();
  std::vector<char*> words = {program.data(), option.data(), file.data(), nullptr};
  const std::string log_file = folder.path("log");
  // Open before the user changes, who may have no way to where it was built.
  const int opened = ::open(program.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(opened >= 0);
  process_ = ::fork();
  REQUIRE(process_ >= 0);
  if (process_ == 0) {
    const rlimit limit{files, files};
    if (files > 0 && ::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(126);
    if (user != ::geteuid() && ::setuid(user) != 0) ::_exit(126);
    const int log = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(log, STDERR_FILENO);
    ::fexecve(opened, words.data(), environ);
    ::_exit(127);
  }
  ::close(opened);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < until) {
    if (Connection(ask_socket()).open()) return;
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) == process_) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  process_ = -1;
  FAIL("the daemon does not serve: " << log());
}

void DaemonProcess::signal(int number) const {
  ::kill(process_, number);
}

int DaemonProcess::ended() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string DaemonProcess::log() const {
  return read_file(folder.path("log"));
}

}  // namespace epsilog::test
