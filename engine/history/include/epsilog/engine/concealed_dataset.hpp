// A dataset that is not there for the principal who asks.
#pragma once

#include <string>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::engine {

/// Says in one wording that no dataset of that name is declared, and that the principal may not ask it: which
/// of the two it is, is not told. Nothing is recorded.
class ConcealedDataset final : public NotFound {
 public:
  explicit ConcealedDataset(const std::string& dataset, const std::string& place = "")
      : NotFound(place + "dataset '" + dataset + "': there is none of that name for you"),
        dataset_(dataset) {}
  [[nodiscard]] const std::string& dataset() const noexcept { return dataset_; }

 private:
  std::string dataset_;
};

}  // namespace epsilog::engine
