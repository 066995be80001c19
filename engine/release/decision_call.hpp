// One call of release(), release_many(), reserve() or submit(), from its requests to its answers.
//
//   prepare_ahead  -> record_in_group(), if its turn comes soon       what is decided already is left to prepare
//   prepare        -> the answer on record, or record_in_group()      again when the world changed under it
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "group.hpp"

namespace epsilog::engine {

/// Thread-safety: one owner at a time. It arrives when it is made (answer_tick.hpp).
class DecisionCall final {
 public:
  /// Requires  `requests`, `bits` and `alphas` outlive this; no bits if every request is a reservation.
  /// Throws    InvalidParameter in a forked child.
  DecisionCall(EngineState& state, std::span<const Request> requests, mechanisms::BitSource* bits,
               std::span<const Rational> alphas);

  /// Without a look at the ledger; false where that does not do, and nothing has happened.
  [[nodiscard]] bool prepare_ahead();
  /// By the ledger as it stands; reads sources, and the bits that will be drawn from.
  /// Ensures  the answer, if there is one request, and it is decided already.
  /// Throws   as Engine::release().
  [[nodiscard]] std::optional<Answer> prepare(const Progress& progress);

  /// Requires  it is prepared, and no earlier member is in the line.
  [[nodiscard]] std::unique_ptr<GroupMember> member();
  /// What the group made of the member, as answers; none if it has to be prepared again.
  /// Requires  its fate is not lacks_bits.
  /// Throws    what it failed with.
  [[nodiscard]] std::optional<std::vector<Answer>> take_answers(GroupMember& member);
  /// Reads what the last draw lacked.
  /// Throws  what the source throws.
  void supply_more() { bits_.supply_more(); }

 private:
  void supply();
  void answer_step(PreparedRequest& step, const Progress& progress);
  [[nodiscard]] std::vector<Answer> answers(GroupMember& member);

  EngineState& state_;
  std::span<const Request> requests_;
  SuppliedBits bits_;  // the same for every attempt
  std::span<const Rational> alphas_;
  std::vector<PreparedRequest> steps_;
  ReplayHandling replays_ = ReplayHandling::allowed;
  const CommitQueue::Deadline arrived_ = CommitQueue::Clock::now();
  bool read_data_ = false;
};

/// Goes the whole way, waiting for each turn.
/// Throws  as Engine::release_many().
[[nodiscard]] std::vector<Answer> decide_requests(EngineState& state, std::span<const Request> requests,
                                                  mechanisms::BitSource* bits,
                                                  std::span<const Rational> alphas, const Progress& progress);
/// The same from where a group left it: after a draw that lacked bits, or else to be prepared anew.
[[nodiscard]] std::vector<Answer> resume_decision(EngineState& state, DecisionCall& call, bool lacks_bits);

}  // namespace epsilog::engine
