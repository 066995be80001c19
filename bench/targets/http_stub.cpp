#include "http_stub.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bare_groups.hpp"

namespace epsilog::bench {
namespace {

struct StubRequest {
  std::string method;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// The next request of a connection. False at its end.
bool read_request(int connection, std::string& arrived, StubRequest& request) {
  const auto more = [&] {
    std::array<char, 16'384> piece;
    const ssize_t got = ::recv(connection, piece.data(), piece.size(), 0);
    if (got > 0) arrived.append(piece.data(), static_cast<std::size_t>(got));
    return got > 0;
  };
  std::size_t end = 0;
  while ((end = arrived.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return false;
  }
  request = {};
  request.method = arrived.substr(0, arrived.find(' '));
  std::size_t length = 0;
  for (std::size_t at = arrived.find("\r\n") + 2; at < end;) {
    const std::size_t line_end = arrived.find("\r\n", at);
    const std::size_t colon = arrived.find(':', at);
    if (colon >= line_end) return false;
    auto& [name, value] = request.headers.emplace_back(arrived.substr(at, colon - at),
                                                       arrived.substr(colon + 2, line_end - colon - 2));
    if (name == "Content-Length") std::from_chars(value.data(), value.data() + value.size(), length);
    at = line_end + 2;
  }
  while (arrived.size() < end + 4 + length) {
    if (!more()) return false;
  }
  request.body = arrived.substr(end + 4, length);
  arrived.erase(0, end + 4 + length);
  return true;
}

}  // namespace

void serve_stub(const std::string& socket, const StubAnswers& answers) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) throw std::runtime_error("the path of a socket is too long");
  std::memcpy(address.sun_path, socket.c_str(), socket.size());
  BareGroups groups(answers.ledger, answers.line);
  const std::string answer = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: " +
                             std::to_string(answers.body.size()) + "\r\n\r\n" + answers.body;
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listening, 1'024) != 0) {
    throw std::runtime_error("cannot listen at " + socket);
  }
  for (;;) {
    const int connection = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    std::thread([connection, &groups, &answer] {
      std::string arrived;
      StubRequest request;
      while (read_request(connection, arrived, request)) {
        if (request.method == "POST") groups.release();
        if (::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
      }
      ::close(connection);
    }).detach();
  }
}

}  // namespace epsilog::bench
