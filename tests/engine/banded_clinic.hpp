// The clinic with columns that are derived for tables.
#pragma once

#include <string>

#include "clinic.hpp"

namespace epsilog::test {

/// The clinic's policy with columns of bands of ages and costs.
inline std::string banded(const std::string& budget, const std::string& more = "") {
  std::string text = clinic_policy(budget, more);
  const std::string before = "    queries:";
  return text.insert(text.find(before),
                     "      band: {from: age, bins: [0, 40, 111]}\n"
                     "      dear: {from: cost, bins: [0, 100, 5001]}\n");
}

struct BandedClinic {
  explicit BandedClinic(const std::string& budget, const std::string& more = "") {
    folder.write("visits.csv", kVisits);
    folder.write("policy.yaml", banded(budget, more));
    (void)engine::Engine::init(folder.path("policy.yaml"), ledger(), "curator");
  }
  [[nodiscard]] std::string ledger() const { return folder.path("clinic.ledger"); }
  [[nodiscard]] engine::Engine open() const { return engine::Engine::open(ledger()); }
  TemporaryFolder folder;
};

}  // namespace epsilog::test
