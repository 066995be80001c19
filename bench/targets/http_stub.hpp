// The floor of a daemon: a server that parses, queues, syncs and answers, and does nothing else.
#pragma once

#include <string>

namespace epsilog::bench {

struct StubAnswers {
  std::string ledger;  ///< that bare rows are put into, one transaction for all who wait
  std::string line;    ///< of a release there
  std::string body;    ///< of each answer
};

/// Serves for ever, a thread for each connection. A request is split into its first line, its headers and a
/// body of Content-Length bytes; a POST is answered when its rows are durable, anything else at once.
[[noreturn]] void serve_stub(const std::string& socket, const StubAnswers& answers);

}  // namespace epsilog::bench
