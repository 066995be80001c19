#include "epsilog/engine/ledger_evidence.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace epsilog::engine {
namespace {

std::string lines_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " line" : " lines");
}

/// Of notes that are said to be the key's.
/// Throws  NotVerified.
void require_own(const Checkpoint& checkpoint, const VerifierKey& key) {
  static_cast<void>(verify_attestation(checkpoint, {.log = key}));
}

/// Appends the lines from the end of the edge on to it. At the sizes of `marks` its root must be theirs.
void hash_lines(ledger::Snapshot& ledger, RightEdge& edge,
                const std::map<std::uint64_t, ledger::Hash>& marks) {
  const auto check = [&] {
    const auto mark = marks.find(edge.size());
    if (mark == marks.end() || edge.head().root == mark->second) return;
    throw NotVerified("the first " + lines_text(edge.size()) +
                      " of the ledger are not those of the checkpoint of that size; nothing was signed");
  };
  check();
  ledger.each_line(static_cast<std::int64_t>(edge.size()), [&](std::string_view line) {
    edge.append(ledger::leaf_hash(line));
    check();
  });
}

/// Throws  KeyUnusable: the ledger says that the key signs no more.
void require_not_retired(ledger::Snapshot& ledger, const KeyFile& key) {
  const std::string verifier_key = key.key().verifier().text();
  std::optional<ledger::KeyEvent> last;
  ledger.each_key_event([&](const ledger::KeyEvent& event) {
    if (event.verifier_key == verifier_key) last = event;
  });
  if (!last || !last->retired) return;
  throw KeyUnusable(key.file() + " is retired: the ledger says since " + last->at + ", by " + last->by +
                    ", that it signs no more (" + last->why + "); nothing was signed");
}

bool has_state(const KeyFile& key) {
  try {
    static_cast<void>(key.state());
    return true;
  } catch (const KeyUnusable&) {
    return false;
  }
}

/// The largest size and every mark on the way; from no lines.
std::map<std::uint64_t, ledger::Hash> marks_of(std::span<const Checkpoint> notes, const KeyFile& key) {
  if (has_state(key)) {
    throw InvalidParameter("--state-from: the state of " + key.file() +
                           " is there and can be read; the key goes on from what it says");
  }
  std::map<std::uint64_t, ledger::Hash> marks;
  for (const Checkpoint& note : notes) {
    require_own(note, key.key().verifier());
    if (!marks.emplace(note.tree.size, note.tree.root).second && marks[note.tree.size] != note.tree.root) {
      throw NotVerified("two of the checkpoints have size " + std::to_string(note.tree.size) +
                        " and different roots: this key signed two histories");
    }
  }
  return marks;
}

}  // namespace

Checkpoint sign_checkpoint(ledger::Snapshot& ledger, KeyFile& key, std::span<const Checkpoint> state_from) {
  const VerifierKey& verifier = key.key().verifier();
  const std::string origin = ledger_origin(ledger.ledger_id());
  if (verifier.name != origin) {
    throw KeyUnusable(key.file() + " is the key of " + verifier.name + ", and the ledger is " + origin);
  }
  require_not_retired(ledger, key);
  SigningState state{.key = verifier};
  std::map<std::uint64_t, ledger::Hash> marks;
  RightEdge edge;
  if (state_from.empty()) {
    state = key.state();
    const SignedTree last = state.of(origin);
    edge = RightEdge(last.tree.size, last.edge);
    marks.emplace(last.tree.size, last.tree.root);
  } else {
    marks = marks_of(state_from, key);
  }
  const ledger::TreeHead tree = ledger.tree();
  const std::uint64_t signed_size = marks.rbegin()->first;
  if (tree.size < signed_size) {
    throw NotVerified("the ledger has " + lines_text(tree.size) + ", and this key signed " +
                      std::to_string(signed_size) +
                      ": it was put back to an earlier time, or is another copy; nothing was signed");
  }
  hash_lines(ledger, edge, marks);
  if (edge.head() != tree) {
    throw NotVerified(
        "the lines of the ledger are not those that this key signed and those since: their root "
        "is not the ledger's; nothing was signed");
  }
  const SignedTree signing{.tree = tree, .edge = edge.hashes()};
  if (!state_from.empty() || state.of(origin) != signing) {
    state.signed_trees.insert_or_assign(origin, signing);
    key.store(state);
  }
  Checkpoint checkpoint{.origin = origin, .tree = tree, .note = {.text = checkpoint_text(origin, tree)}};
  checkpoint.note.signatures.push_back(key.key().sign(checkpoint.note.text));
  return checkpoint;
}

void require_contained(ledger::Snapshot& ledger, const Checkpoint& checkpoint) {
  const std::string origin = ledger_origin(ledger.ledger_id());
  if (checkpoint.origin != origin) {
    throw NotVerified("the checkpoint is of " + checkpoint.origin + ", and the ledger is " + origin);
  }
  const std::uint64_t size = ledger.tree().size;
  if (checkpoint.tree.size > size) {
    throw NotVerified("the ledger has " + lines_text(size) + " and the checkpoint " +
                      std::to_string(checkpoint.tree.size) +
                      ": it was put back to an earlier time, or is another copy");
  }
  if (ledger.tree(checkpoint.tree.size) != checkpoint.tree) {
    throw NotVerified(
        "the first " + lines_text(checkpoint.tree.size) +
        " of the ledger are not those of the checkpoint: it was written anew, or is another copy");
  }
}

ProvedLine prove_line(ledger::Snapshot& ledger, std::uint64_t index, const Checkpoint& checkpoint) {
  require_contained(ledger, checkpoint);
  if (index >= checkpoint.tree.size) {
    throw NotFound("it is line " + std::to_string(index) + ", and the checkpoint has " +
                   lines_text(checkpoint.tree.size) + ", numbered from 0: sign a newer one");
  }
  ProvedLine proved{.line = {},
                    .proof = {.index = index,
                              .hashes = ledger.inclusion_proof(index, checkpoint.tree.size),
                              .checkpoint = checkpoint}};
  const auto number = static_cast<std::int64_t>(index);
  ledger.each_line(number, number + 1, [&proved](std::string_view line) { proved.line = line; });
  require_included(proved.line, proved.proof);
  return proved;
}

ConsistencyText prove_consistency(ledger::Snapshot& ledger, std::uint64_t old_size, const Checkpoint& newer) {
  require_contained(ledger, newer);
  if (old_size > newer.tree.size) {
    throw NotVerified("the older checkpoint has " + lines_text(old_size) + ", and the newer one " +
                      std::to_string(newer.tree.size));
  }
  ConsistencyText proof{.old_size = old_size,
                        .hashes = ledger.consistency_proof(old_size, newer.tree.size),
                        .checkpoint = newer};
  require_extends(ledger.tree(old_size), proof);
  return proof;
}

}  // namespace epsilog::engine
