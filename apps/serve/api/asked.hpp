// The body of a request for a plan, a forecast, a release or a reservation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caller.hpp"
#include "epsilog/engine/request.hpp"
#include "message.hpp"

namespace epsilog::serve {

enum class Asking { plan, forecast, release, reservation };

struct Asked {
  engine::Request request;
  std::vector<accounting::Rational> alphas;
  std::optional<std::int64_t> count;         ///< of a forecast: so many releases
  std::optional<engine::Accuracy> accuracy;  ///< of a forecast: so accurate a one
};

/// Throws  BadBody, InvalidParameter: what is wrong with the body; Refused: the key is missing where budget
/// is spent,
///         or is not the one of the header.
[[nodiscard]] Asked asked(std::string_view body, const RequestHead& head, const Caller& caller,
                          Asking asking);

}  // namespace epsilog::serve
