// A dataset of many blocks whose answers are handed in: a release of it debits each block and the lifetime,
// since nobody can tell which rows it used.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "epsilog/engine/date.hpp"
#include "epsilog/engine/engine.hpp"
#include "place.hpp"

namespace epsilog::bench {

/// policy.yaml and visits.csv. 0 blocks: a dataset without.
inline void write_policy_of_blocks(const Folder& folder, std::int64_t blocks) {
  std::ofstream(folder.file("visits.csv")) << "day\n2024-01-01\n";
  std::ofstream policy(folder.file("policy.yaml"));
  policy << "version: 1\ndatasets:\n  clinic:\n    source: {csv: visits.csv}\n    unit: row\n"
            "    rows: {max: 100000}\n    neighbours: add-remove\n    budget: {epsilon: 100000}\n"
            "    lifetime: {epsilon: 1000000}\n    columns: {day: {type: date}}\n"
            "    queries: {score: {bounds: [0, 1000], sensitivity: 1}}\n"
            "    release: {score: {mechanism: discrete_laplace, grid: 1}}\n";
  if (blocks > 0) {
    policy << "    blocks: {by: day, per: day, from: 2024-01-01, to: "
           << engine::date_text(19'723 + blocks - 1) << "}\n";  // 2024-01-01 is day 19723
  }
}

/// The request for its score.
inline engine::Request score_of_blocks() {
  engine::Request request;
  request.dataset = "clinic";
  request.question = engine::parse_question("value:score", std::nullopt, std::nullopt);
  request.epsilon = accounting::Rational(1, 1000);
  request.principal = "bench";
  request.supplied = "500";
  return request;
}

}  // namespace epsilog::bench
