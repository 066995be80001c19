// A server on sockets in a temporary folder, a service whose answers are told by the path, and clients.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>

#include "descriptor.hpp"
#include "server.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace epsilog::test {

/// Answers to paths:
///   /echo    "METHOD /echo BODY", the body read by pieces of 7 bytes
///   /begun   whether the body has begun, which is not read
///   /ignore  its body is not read
///   /hold    waits until `release()`, then as /echo
///   /large   16 MiB
///   /last    says that it is the last answer
///   /later   as /echo, held back for an hour
///   /split   a header with a line end
///   /throw   throws
///   /uid     "UID" of the peer, and " curator"
/// A body that has a fault is answered with 400 and the kind of the fault; begun or not is told as well.
class StubService final : public serve::Service {
 public:
  serve::Response answer(const serve::RequestHead& head, const serve::Peer& peer, serve::Body& body) override;
  serve::Response problem_response(int status, std::string_view code, std::string_view message) override;

  void release();
  /// Waits until so many requests were taken up; false if they are not within ten seconds.
  bool wait_until_begun(std::size_t requests);
  bool wait_until_finished(std::size_t requests);
  /// "METHOD PATH" of each request that was finished, and the kind of a fault.
  std::vector<std::string> finished();

 private:
  serve::Response answered(const serve::RequestHead& head, const serve::Peer& peer, serve::Body& body);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false;
  std::size_t begun_ = 0;
  std::vector<std::string> finished_;
};

struct Answer {
  int status = 0;  ///< 0: the connection ended instead
  std::map<std::string, std::string> headers;
  std::string body;
};

/// The other end of a connection. Whatever it waits for it gives up after ten seconds.
class Client final {
 public:
  explicit Client(const std::string& path);
  /// Takes a socket that is connected.
  explicit Client(serve::Descriptor socket) : socket_(std::move(socket)) {}
  /// Takes a socket that is not connected yet.
  Client(serve::Descriptor socket, const std::string& path);

  /// Sends all of it; false if the connection is closed.
  bool send(std::string_view text) const;
  void end_sending() const;
  /// Reads one answer.
  /// Throws  std::runtime_error if it is malformed, breaks off or does not come.
  Answer read(std::string_view method = "GET");
  /// What still comes until the connection ends, by whatever means.
  /// Throws  std::runtime_error if it does not end.
  std::string rest();
  /// Sends and reads.
  Answer ask(std::string_view request, std::string_view method = "GET");
  void close() { socket_.close(); }

 private:
  bool receive();

  serve::Descriptor socket_;
  std::string received_;
};

[[nodiscard]] std::string get(std::string_view path, std::string_view headers = "");
[[nodiscard]] std::string post(std::string_view path, std::string_view body, std::string_view headers = "");

/// Limits with which no test waits for a deadline that it is not about.
[[nodiscard]] serve::ConnectionLimits patient();

class Served final {
 public:
  explicit Served(const serve::ConnectionLimits& limits = patient(), mode_t mode = 0600);
  ~Served();
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  /// Returns  when run() has returned.
  void stop();
  [[nodiscard]] Client connect() const { return Client(path()); }
  [[nodiscard]] Client connect_curator() const { return Client(folder_.path("curator")); }
  [[nodiscard]] std::string path() const { return folder_.path("socket"); }
  [[nodiscard]] std::string folder() const { return folder_.path(""); }

  StubService service;
  std::unique_ptr<serve::Server> server;

 private:
  TemporaryFolder folder_;
  serve::Bell stop_;
  std::thread thread_;
};

}  // namespace epsilog::test
