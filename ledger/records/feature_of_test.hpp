// A feature that a test knows. No program has one, so no program includes this.
#pragma once

#include <string>

namespace epsilog::ledger {

/// Makes this process know a feature while this lives. Thread-safety: yes.
class FeatureOfTest final {
 public:
  explicit FeatureOfTest(std::string name);
  FeatureOfTest(const FeatureOfTest&) = delete;
  FeatureOfTest& operator=(const FeatureOfTest&) = delete;
  ~FeatureOfTest();

 private:
  const std::string name_;
};

}  // namespace epsilog::ledger
