// The body of a request for a plan, a forecast, a release or a reservation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "body_object.hpp"
#include "caller.hpp"
#include "epsilog/engine/request.hpp"
#include "message.hpp"

namespace epsilog::serve {

enum class RequestKind { plan, forecast, release, reservation };

/// At most so many of them are told of one request.
inline constexpr std::size_t kAlphasMax = 16;

struct ParsedRequest {
  engine::Request request;
  std::vector<accounting::Rational> alphas;
  std::optional<std::int64_t> count;          ///< of a forecast: so many releases
  std::optional<engine::Accuracy> accuracy;   ///< of a forecast: so accurate a one
  std::optional<std::int64_t> assumed_count;  ///< of a plan and of a forecast: of so many rows
};

/// Throws  BadBody, InvalidParameter: what is wrong with the body; HttpProblem: the key is missing where
///         budget is spent, or is not the one of the header. engine::ConcealedDataset, whatever else is
///         wrong, where the caller may not ask the dataset; but for what bears a key, which may be a retry:
///         the engine says that of it.
[[nodiscard]] ParsedRequest parse_request(std::string_view body, const RequestHead& head,
                                          const Caller& caller, RequestKind kind);
/// The same of a body that was read; `header_key` is the Idempotency-Key, nullptr without.
[[nodiscard]] ParsedRequest parse_request(BodyObject& body, const std::string* header_key,
                                          const Caller& caller, RequestKind kind);

}  // namespace epsilog::serve
