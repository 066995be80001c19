// Heads to test the reader with: good ones, and what makes each of them bad.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/case_table.hpp"

namespace epsilog::test {

/// Requests that are whole, some with a body, each another way to be good.
inline const std::vector<std::string>& good_requests() {
  static const std::vector<std::string> kRequests = [] {
    std::vector<std::string> requests;
    for (CaseRow& row : case_table(EPSILOG_SOURCE_DIR "/tests/serve/http/good_requests.tsv"))
      requests.push_back(std::move(row.at(0)));
    return requests;
  }();
  return kRequests;
}

}  // namespace epsilog::test
