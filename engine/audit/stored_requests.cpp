#include "stored_requests.hpp"

#include "epsilog/ledger/digest.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kTextsMax = 1'000;
constexpr std::size_t kLengthMax = 2'048;

StoredRequests::Read read_again(const std::string& text) {
  StoredRequests::Read read;
  read.stored = parse_stored_request(text);
  read.canonical = canonical_request(read.stored.request);
  if (!read.stored.conflicting_key.empty()) {
    Request request = read.stored.request;
    request.key = read.stored.conflicting_key;
    read.conflicting = conflicting_request(request);
  }
  return read;
}

}  // namespace

StoredRequests::Known& StoredRequests::known(const std::string& text) {
  if (text.size() > kLengthMax) return other_ = {ledger::sha256_hex(text), {}};
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  if (known_.size() >= kTextsMax) known_.clear();
  return known_.emplace(text, Known{ledger::sha256_hex(text), {}}).first->second;
}

const StoredRequests::Read& StoredRequests::read(const std::string& text) {
  Known& request = known(text);
  if (!request.read) request.read = read_again(text);
  return *request.read;
}

}  // namespace epsilog::engine
