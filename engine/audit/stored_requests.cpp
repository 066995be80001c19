#include "stored_requests.hpp"

#include "epsilog/ledger/digest.hpp"

namespace epsilog::engine {
namespace {

constexpr std::size_t kTextsMax = 1'000;
constexpr std::size_t kLengthMax = 2'048;

StoredRequests::ParsedText read_again(const std::string& text) {
  StoredRequests::ParsedText read;
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

StoredRequests::CachedText& StoredRequests::cached(const std::string& text) {
  if (text.size() > kLengthMax) return other_ = {ledger::sha256_hex(text), {}};
  const auto found = cached_.find(text);
  if (found != cached_.end()) return found->second;
  if (cached_.size() >= kTextsMax) cached_.clear();
  return cached_.emplace(text, CachedText{ledger::sha256_hex(text), {}}).first->second;
}

const StoredRequests::ParsedText& StoredRequests::read(const std::string& text) {
  CachedText& request = cached(text);
  if (!request.read) request.read = read_again(text);
  return *request.read;
}

}  // namespace epsilog::engine
