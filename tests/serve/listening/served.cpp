#include "served.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

namespace epsilog::test {
namespace {

constexpr int kPatience = 10'000;  // milliseconds; nothing here asserts a time

const char* name(serve::BodyFault::Kind kind) {
  switch (kind) {
    case serve::BodyFault::Kind::too_slow:
      return "too_slow";
    case serve::BodyFault::Kind::broken_off:
      return "broken_off";
    case serve::BodyFault::Kind::stopped:
      return "stopped";
  }
  return "";
}

serve::Response text(std::string body) {
  serve::Response response;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

std::string read_all(serve::Body& body) {
  std::string all;
  std::array<char, 7> piece{};
  while (const std::size_t count = body.read(piece)) all.append(piece.data(), count);
  return all;
}

}  // namespace

serve::Response StubService::answer(const serve::RequestHead& head, const serve::Peer& peer,
                                    serve::Body& body) {
  {
    const std::lock_guard lock(mutex_);
    ++begun_;
    changed_.notify_all();
  }
  std::string what = head.method + ' ' + head.path;
  serve::Response response;
  try {
    response = answered(head, peer, body);
  } catch (const serve::BodyFault& fault) {
    bool begun = false;
    try {
      begun = body.wait_for_first_byte();
    } catch (const serve::BodyFault& again) {
      if (again.kind() != fault.kind()) what += " but";
    }
    what += std::string(begun ? " begun " : " ") + name(fault.kind());
    response = text(name(fault.kind()));
    response.status = 400;
  }
  const std::lock_guard lock(mutex_);
  finished_.push_back(what);
  changed_.notify_all();
  return response;
}

serve::Response StubService::answered(const serve::RequestHead& head, const serve::Peer& peer,
                                      serve::Body& body) {
  if (head.path == "/throw") throw std::runtime_error("a service that throws");
  if (head.path == "/large") return text(std::string(std::size_t{16} << 20U, 'x'));
  if (head.path == "/ignore") return text("ignored");
  if (head.path == "/begun")
    return text(body.wait_for_first_byte() && body.wait_for_first_byte() ? "begun" : "empty");
  if (head.path == "/uid") return text(std::to_string(peer.uid) + (peer.curator ? " curator" : ""));
  if (head.path == "/hold") {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return released_; });
  }
  serve::Response response = text(head.method + ' ' + head.path + ' ' + read_all(body));
  response.close = head.path == "/last";
  if (head.path == "/later") response.pause = std::chrono::hours(1);
  if (head.path == "/split") response.headers = {{"x-split", "a\r\nx-b: c"}};
  return response;
}

serve::Response StubService::problem_response(int status, std::string_view code, std::string_view message) {
  serve::Response response = text(std::string(code) + ": " + std::string(message));
  response.status = status;
  return response;
}

void StubService::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

bool StubService::wait_until_begun(std::size_t requests) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(kPatience), [&] { return begun_ >= requests; });
}

bool StubService::wait_until_finished(std::size_t requests) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(kPatience),
                           [&] { return finished_.size() >= requests; });
}

std::vector<std::string> StubService::finished() {
  const std::lock_guard lock(mutex_);
  return finished_;
}

Client::Client(const std::string& path)
    : Client(serve::Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), path) {}

Client::Client(serve::Descriptor socket, const std::string& path) : socket_(std::move(socket)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("cannot connect to " + path);
  }
}

bool Client::send(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t count = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Client::end_sending() const {
  ::shutdown(socket_.get(), SHUT_WR);
}

bool Client::receive() {
  pollfd waited{socket_.get(), POLLIN, 0};
  if (::poll(&waited, 1, kPatience) <= 0) throw std::runtime_error("nothing comes: \"" + received_ + '"');
  std::array<char, 65536> bytes{};
  const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (count <= 0) return false;  // a reset ends it as well
  received_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

Answer Client::read(std::string_view method) {
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (receive()) continue;
    if (!received_.empty()) throw std::runtime_error("an answer breaks off: " + received_);
    return {};
  }
  Answer answer;
  const std::string head = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  if (!head.starts_with("HTTP/1.1 ")) throw std::runtime_error("no answer: " + head);
  answer.status = std::stoi(head.substr(9, 3));
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const std::size_t line_end = head.find("\r\n", at);
    const std::string line = head.substr(at, line_end - at);
    const std::size_t colon = line.find(": ");
    if (!answer.headers.emplace(line.substr(0, colon), line.substr(colon + 2)).second) {
      throw std::runtime_error("a header twice: " + head);
    }
    at = line_end + 2;
  }
  const auto length = answer.headers.find("Content-Length");
  const std::size_t bytes =
      length == answer.headers.end() || method == "HEAD" ? 0 : std::stoul(length->second);
  while (received_.size() < bytes) {
    if (!receive()) throw std::runtime_error("a body breaks off");
  }
  answer.body = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return answer;
}

std::string Client::rest() {
  while (receive()) {
  }
  return std::exchange(received_, {});
}

Answer Client::ask(std::string_view request, std::string_view method) {
  send(request);
  return read(method);
}

std::string get(std::string_view path, std::string_view headers) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) + "\r\n";
}

std::string post(std::string_view path, std::string_view body, std::string_view headers) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(headers) + "\r\n" + std::string(body);
}

serve::ConnectionLimits patient() {
  using std::chrono::seconds;
  serve::ConnectionLimits limits;
  limits.head = limits.body = limits.idle = limits.write = limits.linger = seconds(60);
  return limits;
}

Served::Served(const serve::ConnectionLimits& limits, mode_t mode)
    : server(std::make_unique<serve::Server>(service, limits)) {
  server->listen(serve::bound_socket(path(), mode), false);
  server->listen(serve::bound_socket(folder_.path("curator"), 0600), true);
  thread_ = std::thread([this] { server->run(stop_.fd()); });
}

Served::~Served() {
  service.release();
  stop();
}

void Served::stop() {
  stop_.ring();
  if (thread_.joinable()) thread_.join();
}

}  // namespace epsilog::test
