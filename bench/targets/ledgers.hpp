// The two ledgers of a row: one that the library writes to, and one for bare rows like its own.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "bare_ledger.hpp"
#include "epsilog/engine/engine.hpp"
#include "filled_ledger.hpp"
#include "place.hpp"

namespace epsilog::bench {

/// A keyed release under kFilledPolicy, of a plan that all share.
inline engine::Request keyed_release(std::int64_t number, const std::string& principal = "bench") {
  engine::Request request;
  request.dataset = "external";
  request.question = engine::parse_question("value:score", std::nullopt, std::nullopt);
  request.epsilon = accounting::Rational(1, 1000);
  request.principal = principal;
  request.key = "key " + std::to_string(number);
  request.supplied = "500";
  return request;
}

/// Throws  if it is refused.
inline void release_one(engine::Engine& engine, const engine::Request& request, mechanisms::BitSource& bits) {
  if (!engine.release(request, bits, {}).recorded.granted) throw std::runtime_error("a release was refused");
}

/// A new ledger in the folder under policy.yaml, with one release that bare rows can be like.
inline std::string ledger_with(const Folder& folder, const std::string& name, const engine::Request& first) {
  engine::Engine::init(folder.file("policy.yaml"), folder.file(name), "bench");
  engine::Engine engine = engine::Engine::open(folder.file(name));
  mechanisms::BufferedBits bits;
  release_one(engine, first, bits);
  return folder.file(name);
}

class Ledgers final {
 public:
  Ledgers() {
    std::ofstream(folder.file("policy.yaml")) << kFilledPolicy;
    path = ledger_with(folder, "ledger", keyed_release(0, "first"));
    bare = ledger_with(folder, "bare", keyed_release(0, "first"));
    line = last_line(bare);
  }

  Folder folder;
  std::string path;
  std::string bare;
  std::string line;  ///< of a release, for bare ones
};

}  // namespace epsilog::bench
