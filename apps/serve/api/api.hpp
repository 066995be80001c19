// A request that was read, from who asks it to its answer.
//
//   route, Host, Origin, Content-Type   is it a request of ours at all               400 403 404 405 415 421
//   who asks                            exactly one identity                         401
//   admission                           how fast, how many, how many refusals        429 503
//   who may                             the duty that the route wants                403
//   the route                           reads the body, waits for a place, asks the engine
//
// Thread-safety: may be used from several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "call.hpp"
#include "epsilog/engine/concealed_dataset.hpp"
#include "route.hpp"
#include "service.hpp"

namespace epsilog::serve {

class Api final : public Service {
 public:
  Api(const Parts& parts, std::size_t refusals_per_hour)
      : parts_(parts), refusals_per_hour_(refusals_per_hour) {}

  [[nodiscard]] Response answer(const RequestHead& head, const Peer& peer, Body& body) override;
  [[nodiscard]] Response refusal(int status, std::string_view code, std::string_view message) override;

  void change(std::size_t refusals_per_hour) { refusals_per_hour_ = refusals_per_hour; }

 private:
  [[nodiscard]] Response routed(const Route& route, const std::string& id, const RequestHead& head,
                                const Peer& peer, Body& body);
  /// How often the caller may still be refused in this hour, once at least. Throws  Refused (429).
  [[nodiscard]] std::size_t refusals_left(const Caller& caller);

  /// A dataset that is not there for the caller: counts as a refusal, and the daemon's log says who asked.
  void count_concealed(const Call& call, const engine::ConcealedDataset& none);

  Parts parts_;
  std::atomic<std::size_t> refusals_per_hour_;
};

}  // namespace epsilog::serve
