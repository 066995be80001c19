// A request that was read, from who asks it to its answer.
//
//   route, Host, Origin, Content-Type   is it a request of ours at all               400 403 404 405 415 421
//   who asks                            exactly one identity                         401
//   admission                           how fast, how many                           429 503
//                                       of a uid, those that were not let in so far  429
//   who may                             the duty that the route wants                403
//   processor time                      of what changes nothing, a plan for example  429
//   the route                           reads the body, waits for a place, asks the engine; a new question
//                                       needs a refusal that the caller has left     429
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
  Api(const ApiContext& context, std::size_t refusals_per_hour, const CostLimits& costs = {})
      : context_(context), refusals_per_hour_(refusals_per_hour), costs_(costs) {}

  [[nodiscard]] Response answer(const RequestHead& head, const Peer& peer, Body& body) override;
  [[nodiscard]] Response problem_response(int status, std::string_view code,
                                          std::string_view message) override;

  void change(std::size_t refusals_per_hour) { refusals_per_hour_ = refusals_per_hour; }
  void change(const CostLimits& limits);

 private:
  /// Sets `let_in` once it is counted as a request of who asks.
  [[nodiscard]] Response dispatch(const Route& route, const std::string& id, const RequestHead& head,
                                  const Peer& peer, Body& body, bool& let_in);
  /// Throws  HttpProblem (401); (429) for a uid of which so many were not let in that this is decided without a
  /// look at the ledger.
  [[nodiscard]] Caller identify(const Route& route, const RequestHead& head, const Peer& peer);
  /// Counts a request that is not let in as one of its uid. Returns the answer, or 429 where there were too
  /// many.
  [[nodiscard]] Response turn_away(const Peer& peer, const HttpProblem& refused);
  /// Counts a question about a dataset that is not there for the caller as a refusal, and logs who asked,
  /// until the caller has no refusals left.
  void count_concealed(const Call& call, const engine::ConcealedDataset& none);

  ApiContext context_;
  std::atomic<std::size_t> refusals_per_hour_;
  Costs costs_;
};

}  // namespace epsilog::serve
