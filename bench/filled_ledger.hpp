// A ledger with many decisions, made by the library in one folder: what reading and auditing are measured on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "epsilog/engine/engine.hpp"

namespace epsilog::bench {

inline constexpr const char* kFilledPolicy =
    "version: 1\n"
    "datasets:\n"
    "  external:\n"
    "    unit: row\n"
    "    neighbours: add-remove\n"
    "    budget: {epsilon: 2000000}\n"
    "    queries:\n"
    "      score: {bounds: [0, 1000], sensitivity: 1}\n"
    "      rate: {bounds: [0, 1], sensitivity: 1/1000}\n"
    "  small:\n"
    "    unit: row\n"
    "    neighbours: add-remove\n"
    "    budget: {epsilon: 1}\n"
    "    queries:\n"
    "      score: {bounds: [0, 1000], sensitivity: 1}\n";

/// Request `number`: a key of its own, one of eight questions; each 64th to a dataset that is soon used up.
inline engine::Request filled_request(std::int64_t number) {
  engine::Request request;
  request.dataset = number % 64 == 63 ? "small" : "external";
  const bool rate = number % 64 != 63 && number % 2 == 1;
  request.question = engine::parse_question(rate ? "value:rate" : "value:score", std::nullopt, std::nullopt);
  request.epsilon = accounting::Rational(1 + number / 2 % 4, 1000);
  request.principal = "analyst " + std::to_string(number % 16);
  request.key = "request " + std::to_string(number);
  request.supplied = rate ? "1/2" : "500";
  return request;
}

/// Ensures  `decisions` of them at least: each thousand grants and refusals in one transaction, and after it
///          one reservation that is posted and one that is given back.
inline void fill_ledger(const std::filesystem::path& ledger, std::int64_t decisions) {
  const std::filesystem::path policy = ledger.string() + ".yaml";
  std::ofstream(policy) << kFilledPolicy;
  engine::Engine::init(policy.string(), ledger.string(), "bench");
  engine::Engine engine = engine::Engine::open(ledger.string());
  mechanisms::BufferedBits bits;
  std::int64_t number = 0;
  for (std::int64_t recorded = 0; recorded < decisions;) {
    std::vector<engine::Request> requests;
    for (int i = 0; i < 1'000; ++i) requests.push_back(filled_request(number++));
    recorded += static_cast<std::int64_t>(engine.release_many(requests, bits, {}).size());
    for (const bool post : {true, false}) {
      engine::Request held = filled_request(number++);
      held.dataset = "external";
      const std::string value = *held.supplied;
      held.supplied = {};
      held.reservation = engine::ReservationKind::reserved;
      const std::string id = engine.reserve(held, {}).recorded.decision_id;
      static_cast<void>(post ? engine.commit(id, held.principal, value, bits, {})
                             : engine.cancel(id, held.principal));
      recorded += 2;
    }
  }
}

}  // namespace epsilog::bench
