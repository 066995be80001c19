// Clients of a server on a Unix socket, in one thread: each asks again as soon as it was answered.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace epsilog::bench {

/// A connection that asks and waits.
class HttpClient final {
 public:
  /// Throws  if nobody listens there.
  explicit HttpClient(const std::string& socket);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  HttpClient(HttpClient&& other) noexcept;
  ~HttpClient();

  void send(const std::string& request);
  /// Reads what has come, without waiting where `wait` is false. Whether an answer is whole by then: it is
  /// taken then.
  /// Throws  unless it is of 2xx, or if the connection ends.
  bool heard(bool wait);
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// The last answer, head and body.
  [[nodiscard]] const std::string& answer() const { return answer_; }

 private:
  int descriptor_ = -1;
  std::string arrived_;
  std::string answer_;
};

/// Answers a second, of `clients` connections that ask `count` requests in all; request(i) is the ith.
[[nodiscard]] double rate_of_clients(const std::string& socket, std::size_t clients, std::size_t count,
                                     const std::function<std::string(std::size_t)>& request);

}  // namespace epsilog::bench
